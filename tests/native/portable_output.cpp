// Writes standard input to the named file, whole or not at all.
#include <cstdio>

#include "files/output.h"
#include "files/source.h"

int main(int, char** arguments) {
    try {
        fastsvm::Output output(arguments[1]);
        char data[4096];
        while (const std::size_t size = std::fread(data, 1, sizeof data, stdin)) output.write(data, size);
        output.finish();
    } catch (const fastsvm::FileError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
