// Decision functions that stop early by the triangle inequality (Acevedo-Rodriguez, Maldonado-Bascon, Lafuente-Arroyo,
// Siegmann, Lopez-Ferreras, "Computational load reduction in decision functions using support vector machines").
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "exact/rounding.h"
#include "exact/row_strips.h"
#include "exact/strips.h"
#include "exact/svm_model.h"
#include "models/pivot_list.h"
#include "simd/pool.h"

namespace fastsvm {

// Per pivot the support vectors in the order of their distance from it, without the pivots. A row's distance from every
// pivot gives the kernel values of these, and the nearest one: it takes that one's list, and adds up kernel values from
// its head. What is left of the list lies between bounds that the distances give (eqs. 10, 11; for the exponential
// kernel 16, 17 too), so that
//
//     f(z) = f_n(z) + (rest_low + rest_high) / 2  +-  (rest_high - rest_low) / 2.
//
// No kernel value is computed twice. Kernels: rbf and exponential.
class Triangle {
public:
    // pivots: support vectors. Throws std::out_of_range where one is none.
    Triangle(SvmModel model, std::vector<std::int64_t> pivots);
    Triangle(const Triangle&) = delete;
    ~Triangle();

    // Rows that take the same list pass along it side by side, and are left when their answer is settled, or the list
    // is at its end; after how many vectors they are looked at, `stops` says. Returns the rows that are not settled,
    // increasing: rounding alone leaves them open.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance,
                                              Decisions& out) const;
    std::int64_t pairs() const { return pairs_; }

private:
    struct Lazy {
        std::once_flag once;
        std::optional<PivotList> list;
    };
    struct Visit;
    struct RowGroup;
    struct Block;
    const PivotList& list(std::size_t which) const;
    void meet_pivots(const Rows& rows, std::int64_t first, std::int64_t stop, Visit* visits, double* sums,
                     RowGroup& group) const;
    void follow(const Rows& rows, std::int64_t first, const PivotList& list, const std::int64_t* members,
                std::int64_t size, const Visit* visits, const double* sums, Settled& settled, Decisions& out,
                std::vector<char>& open, RowGroup& group) const;
    void look_at(const PivotList& list, std::size_t stop, const Settled& settled, RowGroup& group) const;
    void add(std::int64_t vector, const double* kernel_values, std::int64_t at, std::int64_t n, RowGroup& group) const;
    void bound(const PivotList& list, std::size_t stop, const Visit& visit, const double* sum, double* value,
               double* radius) const;
    void vectors_at(const std::int64_t* which, int count, RowStrips::Vectors& out) const;

    SvmModel model_;
    std::int64_t pairs_;
    std::vector<std::int64_t> pivots_;
    std::vector<char> is_pivot_;          // per support vector
    std::vector<char> new_pivot_;         // per pivot: not named before
    std::vector<std::int32_t> class_of_;  // per support vector
    std::vector<std::int64_t> stops_;     // vectors of a list: 0, .., all of them
    Strips strips_;                       // empty: the features' columns
    Rounding rounding_;
    std::vector<StripRow> vectors_;                     // the support vectors
    std::vector<double> columns_;                       // (n, features), where products go column by column
    mutable std::vector<std::unique_ptr<Lazy>> lists_;  // of each pivot; made when a row first needs it
    Pool<Block> blocks_;
};

}  // namespace fastsvm
