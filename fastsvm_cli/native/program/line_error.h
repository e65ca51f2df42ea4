// Errors of data and model files.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "engine/header.h"
#include "files/file_error.h"

namespace fastsvm {

// An error in a line of a file, or in the whole file (line 0).
struct LineError : std::runtime_error {
    enum File { data, model };
    LineError(File file, const std::string& path, std::int64_t line, const std::string& why)
        : std::runtime_error(display(path) + (line ? ":" + std::to_string(line) : "") + ": " + why),
          file(file),
          path(path),
          why(why),
          line(line) {}
    File file;
    std::string path, why;
    std::int64_t line;
    bool rows = false;  // the file has rows of data instead of a model
};

// Calls work(); its ModelError becomes a LineError of this file.
template <class Work> auto of_model(const std::string& path, Work work) {
    try {
        return work();
    } catch (const ModelError& error) {
        LineError found(LineError::model, path, error.line, error.what());
        found.rows = dynamic_cast<const DataFileError*>(&error) != nullptr;
        throw found;
    }
}

}  // namespace fastsvm
