// Kernel density estimates of variable bandwidth (Mills; models/density.h). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_file.h"

namespace fastsvm {

// The decision value is log(S_first / S_second): LIBSVM's sigmoid with A = -1 and B = 0 gives P(first | z) = S_first /
// (S_first + S_second). The paper's R(z) is tanh of half the decision value.
class DensityFile : public CompiledFile {
public:
    // weight: a pair's sum of kernel values; below the number of its rows. rows: the training rows with labels, by
    // class in the header's order, about another origin. Throws std::invalid_argument.
    DensityFile(Header header, std::string fingerprint, double weight, std::shared_ptr<const Rows> rows);
    // text: from open_compiled. Throws ModelError.
    static std::unique_ptr<CompiledFile> read(std::string_view text);

    const double weight;
    const std::shared_ptr<const Rows> rows;

    const char* kind() const override { return "density"; }
    std::vector<std::int32_t> used_indices() const override;
    std::size_t bytes() const override { return bytes_of(*rows); }
    std::string unbounded() const override {
        return "a density estimate found, whose gamma is another one for every row: it has no bound";
    }

protected:
    void write(std::string& out) const override;
    std::shared_ptr<Model> make_model() const override;
    std::int64_t own_max_index() const override { return rows->max_index; }
};

constexpr std::int64_t most_density_cells = std::int64_t{1} << 28;  // rows times features, a dense matrix
// Message for more cells than that.
std::string too_many_cells(std::int64_t rows, std::int64_t features);

}  // namespace fastsvm
