// Handles of the C interface: a model, its predictors, and reused memory.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "engine/answers.h"
#include "models/kind.h"
#include "simd/parallel.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

enum class OutputKind { labels, values, probabilities };

// Memory that a later call reuses.
struct CallMemory {
    // The rows given, scaled by an embedded range file. If a scaled value is too large: the rows before it, and the
    // error.
    std::shared_ptr<const Rows> rows(const Scaling* scaling, std::optional<RowError>& error);

    Rows given, scaled;
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
