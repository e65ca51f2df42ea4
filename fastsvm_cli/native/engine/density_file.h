// Kernel density estimates of variable bandwidth (Mills; models/density.h). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/model_file.h"

namespace fastsvm {

// The decision value is log(S_first / S_second): LIBSVM's sigmoid with A = -1 and B = 0 gives P(first | z) = S_first /
// (S_first + S_second). The paper's R(z) is tanh of half the decision value.
class DensityFile : public CompiledFile {
public:
    using CompiledFile::CompiledFile;

    double weight = 0;  // a pair's sum of kernel values; below the number of its rows
    // The training rows with labels, by class in the header's order, about another origin.
    std::shared_ptr<const Rows> rows;

    const char* kind() const override { return "density"; }
    const char* body_word() const override { return "rows"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::vector<std::int32_t> used_indices() const override;
    std::size_t bytes() const override { return bytes_of(*rows); }
    std::string unbounded() const override {
        return "a density estimate found, whose gamma is another one for every row: it has no bound";
    }

protected:
    std::shared_ptr<Model> make_model() const override;
    std::int64_t own_max_index() const override { return rows->max_index; }
};

constexpr std::int64_t most_density_cells = std::int64_t{1} << 28;  // rows times features, a dense matrix
// Message for more cells than that.
std::string too_many_cells(std::int64_t rows, std::int64_t features);

}  // namespace fastsvm
