// Evaluates triangle models (file: engine/triangle_file.h).
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "exact/reference/rounding.h"
#include "exact/reference/svm_model.h"
#include "exact/values/panels.h"
#include "exact/values/rows_in_panels.h"
#include "models/pivot_list.h"
#include "simd/pool.h"

namespace fastsvm {

// Decision functions that stop early by the triangle inequality (Acevedo-Rodriguez, Maldonado-Bascon, Lafuente-Arroyo,
// Siegmann, Lopez-Ferreras, "Computational load reduction in decision functions using support vector machines"), for
// RBF and exponential kernels. Each pivot lists the other support vectors by distance. A row's sum begins with the
// pivots' terms, then follows the nearest pivot's list. Distances bound the rest (eqs. 10, 11; exponential kernel: also
// 16, 17):
//
//     f(z) = f_n(z) + (rest_low + rest_high) / 2  +-  (rest_high - rest_low) / 2.
class Triangle {
public:
    // pivots: indices of support vectors; throws std::out_of_range.
    Triangle(SvmModel model, std::vector<std::int64_t> pivots);
    Triangle(const Triangle&) = delete;
    ~Triangle();

    // Fills values and radii. Rows with the same nearest pivot go through its list in groups, each up to its decision,
    // which is checked at `stops_`. Returns the rows that rounding leaves undecided, increasing.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance,
                                              Decisions& out) const;
    std::int64_t pairs() const { return pairs_; }

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

}  // namespace fastsvm
