// Models that hold the exact one: cascades, and ordered models, whose support vectors have an order that lets a row
// stop once the rest cannot change its answer. See FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/libsvm_file.h"
#include "engine/model.h"
#include "exact/values/panels.h"

namespace fastsvm {

// A compiled model whose file has the exact model's vectors.
class WithExactFile : public CompiledFile {
public:
    // To read the exact model.
    using CompiledFile::CompiledFile;
    explicit WithExactFile(std::shared_ptr<const LibsvmFile> exact);

    std::shared_ptr<const LibsvmFile> exact;

    const char* body_word() const override { return "SV"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;

    std::shared_ptr<const Rows> support_vectors() const override { return exact->vectors; }
    std::shared_ptr<const ModelFile> exact_model_file() const override { return exact; }
    std::vector<std::int32_t> used_indices() const override { return exact->used_indices(); }
    std::size_t bytes() const override { return exact->bytes(); }

protected:
    // The support vectors, and rows of the same form after them. Returns all that were read.
    std::shared_ptr<const Rows> vectors(Archive& archive, std::int64_t more);

private:
    Kernel kernel_;  // the exact model's
};

// A LIBSVM model, and an order of kernel evaluations: a row stops when the rest of its sum cannot change the answer.
class OrderedFile : public WithExactFile {
public:
    using WithExactFile::WithExactFile;
    virtual std::string ordered_by() const = 0;  // a description

    bool proves() const override { return true; }
    bool ordered() const override { return true; }
};

inline constexpr const char* without_vectors =
    "a precomputed kernel found: name its vectors with --vectors and its kernel with --kernel";
// A kernel's name in model files.
std::string name_of(const Kernel& kernel);

// Decision functions whose sums stop early, by a bound of their rest.
class EarlyStop {
public:
    virtual ~EarlyStop() = default;
    // Fills values and radii of decided rows (regression: within `tolerance`), and counts evaluations. steps: as in
    // Geometry. Returns the undecided rows, increasing.
    virtual std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance,
                                                      std::int64_t steps, Decisions& out) const = 0;
};

// Rows side by side, a slot each, and their sums so far. Memory of a thread.
struct RowSlots {
    RowSlots(const Panels& vectors, std::int64_t pairs, std::int64_t slots);
    // Copies a row's sums to (pairs).
    void gather(std::int64_t slot, double* out) const;
    // Removes a row; the last row takes its slot. Returns the slot that it had.
    std::int64_t remove(std::int64_t slot);
    void look_at_all();

    std::int64_t slots;
    RowsInPanels rows;
    Aligned<double> sums;              // (pairs, slots)
    std::vector<double> sum, radius;   // (pairs), for one row
    std::vector<std::int64_t> looked;  // slots whose interval may decide the answer
};

// Begins the rows first, ..., stop - 1: no terms, and no bound.
void begin_rows(const std::vector<double>& rho, std::int64_t first, std::int64_t stop, Decisions& out);

// Evaluation counts include repeated kernel evaluations: undecided rows are evaluated again in full and, if rounding
// leaves them open, in LIBSVM's order of operations.
class OrderedModel : public Model {
public:
    OrderedModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const EarlyStop> early);
    void decision_values(const Rows& rows, const Precision& precision, Decisions& out) const override;
    void reference_values(const Rows& rows, Decisions& out) const override;

    const std::shared_ptr<const EarlyStop> early;

private:
    void exact_values(const Rows& rows, const Precision& precision, Decisions& out) const;
    const std::shared_ptr<const ExactModel> exact_;
};

}  // namespace fastsvm
