// Cascades: cheap stages, calibrated on rows, before the exact model (comparisons.py). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/labels/kernel_tiles.h"
#include "exact/reference/reference.h"
#include "models/maclaurin.h"
#include "models/ordered.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

// A stage approximates the decision functions by a polynomial of the row and kernel values of a few vectors. Each
// function is in units of its own error, so that one threshold serves all.
struct CascadeStage {
    int degree = 0;                    // of the polynomial, 0 to 3
    std::int64_t vectors = 0;          // the first of the cascade's
    double threshold = 0;              // of the margin; rows above it stop here
    std::vector<double> polynomial;    // (pairs, coefficients): tensors about the cascade's center, as Polynomial's
    std::vector<double> coefficients;  // (pairs, vectors)
};

// Cheap stages that give most rows a label; the exact model answers the others. Labels are calibrated (a statistical
// bound, see comparisons.py), not proven: single precision, no radii.
class Cascade {
public:
    // chosen: the stages' vectors, of an RBF model. center: (features). longest: rows with a larger squared norm,
    // longer than any calibrated one, are left to the exact model. Throws std::invalid_argument.
    Cascade(const LibsvmFile& exact, const std::vector<std::int64_t>& chosen, std::vector<std::int32_t> features,
            std::vector<double> center, double longest, std::vector<CascadeStage> stages);
    ~Cascade();
    Cascade(const Cascade&) = delete;

    // Labels all rows. winner: (rows), an index of classes; -1: left to the exact model. stopped: (stages), rows
    // answered by each. Uses all threads. A row's answer depends on that row alone.
    void label(const Rows& rows, std::int32_t* winner, std::int64_t* stopped) const;
    // One stage's winner and margin of every row, whatever the thresholds: the least value of the winner's pairs, or
    // -infinity if no class was found that wins all its pairs, or if the row is longer than `longest`.
    void margins(const Rows& rows, std::size_t stage, std::int32_t* winner, double* margin) const;

    const std::vector<CascadeStage>& stages() const { return stages_; }

private:
    struct Prepared {
        std::unique_ptr<const Maclaurin> polynomial;  // of degree 2 or 3, or null
        // One pair: a constant and a weight per feature, in raw coordinates.
        double constant = 0;
        std::vector<double> linear;
        std::vector<float> coefficients;  // (pairs, length): of a row's terms
        std::vector<float> scores;        // (classes, length): sums over a class's pairs; several pairs only
        std::int64_t length = 0;
    };
    struct Block;
    void prepare(const CascadeStage& stage);
    void in_blocks(const Rows& rows, const Callable<Block&, std::int64_t, std::int64_t>& work) const;
    // Winners and margins of the block's rows.
    void evaluate(const Rows& rows, std::size_t stage, Block& block) const;
    void take_terms(const Rows& rows, std::int64_t vectors, Block& block) const;
    void value_of_pair(const Rows& rows, const Prepared& stage, Block& block) const;
    void elect(const Prepared& stage, Block& block) const;
    void first_candidates(const Prepared& stage, Block& block) const;

    std::int64_t classes_, pairs_;
    Features features_;
    std::vector<double> center_;
    double longest_;
    std::vector<CascadeStage> stages_;
    std::vector<Prepared> prepared_;
    std::unique_ptr<const SingleTiles> tiles_;
    // Terms of a row, in single precision. Several pairs: 1 and the features, padded; then kernel values.
    std::int64_t linear_ = 0, stride_ = 0;
    Pool<Block> blocks_;
};

// An exact model with the stages of a cascade, and their guarantee.
class CascadeFile : public WithExactFile {
public:
    using WithExactFile::WithExactFile;

    // At most `budget` of rows drawn like the tested ones get another label than the exact model's, with this
    // confidence.
    double budget = 0, confidence = 0;
    std::int64_t tested = 0, differing = 0;  // rows
    std::vector<std::int32_t> features;
    std::vector<double> center;        // (features)
    double longest = 0;                // squared norm; longer rows go to the exact model
    std::vector<std::int64_t> chosen;  // rows of the vectors
    std::vector<CascadeStage> stages;

    std::size_t bytes() const override;
    const char* kind() const override { return "cascade"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::shared_ptr<Cascade> cascade() const;

protected:
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm
