// The instruction sets that the hot loops are compiled for: which ones this machine has, and which one is in use.
#pragma once
#include <string>
#include <vector>

namespace fastsvm {

// Names of those that this machine and build have, fastest (the default) first: "baseline", "avx2", "avx512",
// "avx512_vnni" (with sums of byte products and bit counts).
std::vector<std::string> instruction_sets();
// Selects one for all threads. Returns false if this machine or build lacks it.
bool select_instruction_set(const char* name);
// The same, but throws std::invalid_argument. where: source of the name, for the message.
void require_instruction_set(const char* name, const char* where);
// Selects the environment's FASTSVM_INSTRUCTIONS, if set; throws likewise.
void select_instruction_set_of_environment();

}  // namespace fastsvm
