// Many numbers as text: the bodies of compiled models.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fastsvm {

struct NumberLines {
    std::vector<double> numbers;
    std::size_t at = 0;  // offset after their line end; of a fault, where
    std::string fault;   // what was found instead, unless empty
};

// `count` numbers from text[offset:], blanks and line ends between them, the last one followed by a line end. single:
// of single precision, which none may exceed.
NumberLines read_numbers(const char* text, std::size_t size, std::int64_t offset, std::int64_t count, bool single);

// One line of shortest texts.
std::string format_numbers(const double* numbers, std::size_t count);
std::string format_numbers(const float* numbers, std::size_t count);

// The numbers in the precision that they are stored in. Returns whether all are finite.
bool round_to_stored(std::vector<double>& numbers, bool single);

}  // namespace fastsvm
