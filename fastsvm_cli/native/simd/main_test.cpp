// The program of the core's unit tests, with the loops of FASTSVM_INSTRUCTIONS.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "simd/loops.h"

int main(int count, char** words) {
    fastsvm::select_instruction_set_of_environment();
    return doctest::Context(count, words).run();
}
