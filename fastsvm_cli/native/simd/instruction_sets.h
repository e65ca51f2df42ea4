// Which build of the hot loops runs (loops.h).
#pragma once
#include <string>
#include <vector>

namespace fastsvm {

// Those that this machine and build have, the fastest first, which runs unless another is selected: "baseline", "avx2",
// "avx512", "avx512_vnni" (avx512's, and what adds up products of bytes and counts bits in one instruction).
std::vector<std::string> instruction_sets();
// False when this machine or build lacks it.
bool select_instruction_set(const char* name);
// Throws std::invalid_argument instead. where: the name was found, for the message.
void demand_instruction_set(const char* name, const char* where);
// The one that FASTSVM_INSTRUCTIONS names, if it is set. Throws likewise.
void select_instruction_set_of_environment();

}  // namespace fastsvm
