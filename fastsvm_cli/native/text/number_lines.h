// Reads and formats the numbers in bodies of compiled models.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fastsvm {

// The result of read_numbers().
struct NumberLines {
    std::vector<double> numbers;
    std::size_t at = 0;  // offset after their line end, or of the error
    std::string error;   // found instead; or empty
};

// Reads `count` numbers from text[offset:], separated by blanks and line ends, then a line end. single: they must be in
// single precision's range.
NumberLines read_numbers(const char* text, std::size_t size, std::int64_t offset, std::int64_t count, bool single);

// Formats one line of the shortest texts that read back equal.
std::string format_numbers(const double* numbers, std::size_t count);
std::string format_numbers(const float* numbers, std::size_t count);

// Rounds numbers to the stored precision, single or double. Returns whether all are finite.
bool round_to_stored(std::vector<double>& numbers, bool single);

}  // namespace fastsvm
