// Handles of the C interface: a model, and answerers with reused memory.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/answers.h"
#include "engine/load_model.h"
#include "simd/pool.h"
#include "text/rows.h"
#include "text/scale_rows.h"

namespace fastsvm {

// Rows in memory that is reused by later calls.
class RowBuffer {
public:
    // first: number of the first row.
    void begin(std::int64_t first);
    // For the next row's entries, by increasing index.
    struct Place {
        std::int32_t* index;
        double* value;
    };
    // Room for `most` entries, until end_row.
    Place row(std::size_t most);
    void end_row(std::size_t count);
    std::int64_t count() const { return static_cast<std::int64_t>(raw_.squared_norms.size()); }
    std::size_t entries() const { return static_cast<std::size_t>(raw_.starts.back()); }
    // The rows, scaled by a carried range file. If a scaled value is too large: the rows before it, and the fault.
    // Valid until the next begin().
    std::shared_ptr<const Rows> rows(const Scaling* scaling, std::optional<RowFault>& fault);

private:
    // Sizes: rows + 1, rows, at least entries.
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
};

enum class Asked { labels, values, probabilities };

struct Station {
    explicit Station(std::shared_ptr<const Request> request) : answerer(std::move(request)) {}
    Answerer answerer;
    RowBuffer rows;
    Answer answer;
};

class Handle {
public:
    explicit Handle(LoadedModel loaded, std::shared_ptr<Fallback> exact = nullptr)
        : loaded(std::move(loaded)), exact_(std::move(exact)) {}
    const LoadedModel loaded;

    const Header& header() const { return loaded.model->header; }
    const Scaling* carried() const { return loaded.carried.get(); }
    // A station that no other thread uses.
    Pool<Station>::Lease station(Asked asked) const;

private:
    struct Desk {
        std::once_flag opened;
        std::shared_ptr<const Request> request;
        Pool<Station> stations;
    };
    const std::shared_ptr<Fallback> exact_;  // or null
    mutable std::array<Desk, 3> desks_;      // by Asked
};

// The content of a file. Throws std::system_error.
std::string read_file(const char* path);

// Selects an instruction set. null: that of FASTSVM_INSTRUCTIONS, unless one was selected before. Throws
// std::invalid_argument.
void choose_instructions(const char* name);

}  // namespace fastsvm
