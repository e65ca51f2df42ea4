#pragma once
#include <string>
#include <vector>

namespace fastsvm {

// Those of this machine and build, fastest (the default) first: "baseline", "avx2", "avx512", "avx512_vnni" (with sums
// of byte products and bit counts).
std::vector<std::string> instruction_sets();
// False if this machine or build lacks it.
bool select_instruction_set(const char* name);
// Throws std::invalid_argument instead. where: source of the name, for the message.
void require_instruction_set(const char* name, const char* where);
// From FASTSVM_INSTRUCTIONS, if set; throws likewise.
void select_instruction_set_of_environment();

}  // namespace fastsvm
