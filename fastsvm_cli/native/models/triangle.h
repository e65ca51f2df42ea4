// Triangle models: support vectors ordered by distance from a pivot (Acevedo-Rodriguez et al., "Computational load
// reduction in decision functions using support vector machines"). Format: FORMAT.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "answers/predictions.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "models/ordered.h"
#include "simd/parallel.h"

namespace fastsvm {

// Support vectors by distance from a pivot, and bounds on the rest of their sums, for RBF and exponential kernels (B17,
// B18 and B20 of PROOFS.md; equations of Acevedo-Rodriguez et al., see Triangle).
struct PivotList {
    // The vectors left at a stop.
    struct Rest {
        double nearest_low, nearest_high;  // pivot distance of the first one; 0 at the end
        double farthest_high;              // of the last one
    };
    // Bounds of one row's kernel values with the vectors left. shrink, grow: bounds of exp(-+gamma |z - pivot|), for
    // the exponential kernel.
    struct KernelBounds {
        double smallest, largest, shrink, grow;
    };
    // A pair's rest is in [low, high]; positive, negative: most that terms of either sign add.
    struct Left {
        double low, high, positive, negative;
    };

    // members: support vectors of the list. class_of: of each support vector. stops: numbers of vectors, 0 to all.
    PivotList(const SvmModel& model, std::int64_t pivot, std::vector<std::int64_t> members,
              const std::vector<std::int32_t>& class_of, const std::vector<std::int64_t>& stops);
    // Bounds for a row at a distance in [low, high] from the pivot. stop: an index.
    KernelBounds kernel_bounds(std::size_t stop, double low, double high) const;
    Left left(std::size_t stop, std::size_t pair, const KernelBounds& kernels) const;

    Kernel kernel;
    std::size_t pairs;
    std::vector<std::int64_t> order;  // support vectors
    std::vector<Rest> rest;           // (stops)
    // (stops, pairs): upper bounds of the sums of positive coefficients left, and of sizes of negative ones.
    std::vector<double> positive, negative;
    // The same, times exp(-gamma distance from the pivot); exponential kernel.
    std::vector<double> weighted_positive, weighted_negative;
    double certain = 1, weighted_certain = 1;  // factors that make lower bounds of these and the former (B20)
};

// Decision functions that stop early by the triangle inequality (Acevedo-Rodriguez, Maldonado-Bascon, Lafuente-Arroyo,
// Siegmann, Lopez-Ferreras, "Computational load reduction in decision functions using support vector machines"), for
// RBF and exponential kernels. Each pivot lists the other support vectors by distance. A row's sum begins with the
// pivots' terms, then follows the nearest pivot's list. Distances bound the rest (eqs. 10, 11; exponential kernel: also
// 16, 17):
//
//     f(z) = f_n(z) + (rest_low + rest_high) / 2  +-  (rest_high - rest_low) / 2.
class Triangle : public EarlyStop {
public:
    // pivots: indices of support vectors; throws std::out_of_range.
    Triangle(SvmModel model, std::vector<std::int64_t> pivots);
    Triangle(const Triangle&) = delete;
    ~Triangle() override;

    // Fills values and radii. Rows with the same nearest pivot go through its list in groups, each up to its decision,
    // which is checked at `stops_`. Returns the rows that rounding leaves undecided, increasing.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance, std::int64_t steps,
                                              Decisions& out) const override;

private:
    struct Lazy {  // a pivot's list, made at its first use
        std::once_flag once;
        std::optional<PivotList> list;
    };
    struct Visit;     // of a row: its nearest pivot, and the distance
    struct RowGroup;  // rows that go through a list side by side
    struct Block;     // memory of a thread
    const PivotList& list(std::size_t which) const;
    void meet_pivots(const Rows& rows, std::int64_t first, std::int64_t stop, Visit* visits, double* sums,
                     RowGroup& group) const;
    void follow(const Rows& rows, std::int64_t first, const PivotList& list, const std::int64_t* members,
                std::int64_t size, const Visit* visits, const double* sums, DecisionTest& decided, Decisions& out,
                std::vector<char>& open, RowGroup& group) const;
    void look_at(const PivotList& list, std::size_t stop, const DecisionTest& decided, RowGroup& group) const;
    void add(std::int64_t vector, const double* kernel_values, std::int64_t at, std::int64_t n, RowGroup& group) const;
    void bound(const PivotList& list, std::size_t stop, const Visit& visit, const double* sum, double* value,
               double* radius) const;
    void vectors_at(const std::int64_t* which, int count, RowsInPanels::Vectors& out) const;

    SvmModel model_;
    std::int64_t pairs_;
    std::vector<std::int64_t> pivots_;
    std::vector<char> is_pivot_;          // per support vector
    std::vector<char> new_pivot_;         // per pivot: not repeated
    std::vector<std::int32_t> class_of_;  // per support vector
    std::vector<std::int64_t> stops_;     // numbers of vectors: 0, .., all
    Panels panels_;                       // of no vectors: only the features' columns
    Rounding rounding_;
    std::vector<PreparedRow> vectors_;                  // support vectors
    std::vector<double> columns_;                       // (n, features), if products go by column
    mutable std::vector<std::unique_ptr<Lazy>> lists_;  // per pivot, built when first needed
    Pool<Block> blocks_;
};

// A LIBSVM model with the pivots of its lists.
class TriangleFile : public OrderedFile {
public:
    using OrderedFile::OrderedFile;

    std::vector<std::int64_t> pivots;  // rows of the vectors, one per list

    const char* kind() const override { return "triangle"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::string ordered_by() const override;

protected:
    std::shared_ptr<Model> make_model() const override;
};

// Why the triangle inequality gives no bound; "" if the kernel decreases with distance.
std::string why_no_triangle(const Kernel& kernel);

}  // namespace fastsvm
