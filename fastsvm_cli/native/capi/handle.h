// Handles of the C interface: a model, its predictors, and reused memory.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/answers.h"
#include "models/kind.h"
#include "simd/parallel.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

// Rows in memory that is reused by later calls.
class RowBuffer {
public:
    // Removes all rows. first: number of the next row.
    void begin(std::int64_t first);
    // Where the next row's entries go, by increasing index.
    struct Position {
        std::int32_t* index;
        double* value;
    };
    // Memory for up to `most` entries of the next row, valid until end_row.
    Position row(std::size_t most);
    // Ends this row, of `count` entries; squared_norm: their squares, in order.
    void end_row(std::size_t count, double squared_norm);
    // The indices first, first + 1, ..., `count` of them. Valid until the next call.
    const std::int32_t* consecutive(std::int32_t first, std::size_t count);
    std::int64_t count() const { return static_cast<std::int64_t>(raw_.squared_norms.size()); }
    std::size_t entries() const { return static_cast<std::size_t>(raw_.starts.back()); }
    // The rows, scaled by an embedded range file. If a scaled value is too large: the rows before it, and the error.
    // Valid until the next begin().
    std::shared_ptr<const Rows> rows(const Scaling* scaling, std::optional<RowError>& error);

private:
    // The numbers of Rows: rows + 1 starts, rows norms, and at least as many indices and values as entries.
    struct Numbers {
        std::vector<std::int64_t> starts{0};
        std::vector<double> squared_norms;
        std::vector<std::int32_t> indices;
        std::vector<double> values;
        void show(Rows& out) const;
    };
    Numbers raw_, scaled_;
    Rows rows_;
    ScaledRows found_;  // result of scaling into scaled_
    std::vector<std::int32_t> consecutive_;
};

enum class OutputKind { labels, values, probabilities };

// Memory that a later call reuses.
struct CallMemory {
    RowBuffer rows;
    Answer answer;
};

// A model with a predictor for each kind of output. Thread-safe.
struct Handle {
    explicit Handle(LoadedModel loaded, const std::shared_ptr<Fallback>& exact = nullptr);
    const LoadedModel loaded;
    const std::array<Predictor, 3> predictors;  // by OutputKind
    const Pool<CallMemory> memory;

    const Header& header() const { return loaded.model->header; }
    const Scaling* embedded() const { return loaded.embedded.get(); }
    Pool<Worker>::Lease worker(OutputKind output_kind) const {
        return predictors[static_cast<std::size_t>(output_kind)].worker();
    }
};

// Returns the content of a file. Throws std::system_error.
std::string read_file(const char* path);

// Selects an instruction set by its name. null: that of FASTSVM_INSTRUCTIONS, unless one was selected before. Throws
// std::invalid_argument.
void choose_instructions(const char* name);

}  // namespace fastsvm
