// Prints the status, the bits and the length in bytes of the number in each line of standard input.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "text/numbers.h"

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        line += '\n';
        double value = 0;
        fastsvm::NumberStatus status{};
        const char* const end = fastsvm::read_double(line.c_str(), &value, &status);
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        std::printf("%d %016" PRIx64 " %td\n", static_cast<int>(status), bits, end - line.c_str());
    }
}
