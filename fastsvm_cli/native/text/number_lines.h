// Numbers in bodies of compiled models.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fastsvm {

struct NumberLines {
    std::vector<double> numbers;
    std::size_t at = 0;  // offset after their line end, or of the error
    std::string error;   // found instead; or empty
};

// `count` numbers from text[offset:], separated by blanks and line ends, then a line end. single: in single precision's
// range.
NumberLines read_numbers(const char* text, std::size_t size, std::int64_t offset, std::int64_t count, bool single);

// One line of shortest texts.
std::string format_numbers(const double* numbers, std::size_t count);
std::string format_numbers(const float* numbers, std::size_t count);

// Rounds to the stored precision. Returns whether all are finite.
bool round_to_stored(std::vector<double>& numbers, bool single);

}  // namespace fastsvm
