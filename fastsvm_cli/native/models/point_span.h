// The span of chosen points in feature space: an orthonormal basis of it, and what decision functions have in it and
// beside it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "exact/strips.h"

namespace fastsvm {

// S_1..S_k are the points, K_S = L L' their kernel matrix, X = L^-1, and w = sum a_i phi(x_i) a decision function: its
// coordinates in the span are g = X <w, phi(S)>, and what lies beside it has the length |w_perp|, |w_perp|^2 = |w|^2 -
// |g|^2. The proof that covers rounding, X being what was computed, is in bounds.py, B10 to B14; its names are used
// here.
class PointSpan {
public:
    // What the first k points give, all upper bounds.
    struct Prefix {
        std::vector<double> perp, stray, g;  // (pairs): |w_perp|; what w_perp has in the span; |g|
        std::vector<double> widths;          // (pairs): perp^2, which tells where a look at the interval is no use
        double skew = 0;                     // |X K X' - I|
        double reach = 0, plain = 0;  // |v| and |v_1| of B12: |X| times the roots of K's diagonal, and times ones
    };
    // Decision functions by what is known of them. at_points: b, (k, pairs), <w, phi(S_i)>, each within point_errors
    // (pairs); squared_norms: (pairs), at least |w|^2.
    struct Functions {
        std::vector<double> at_points, squared_norms, point_errors;
        std::int64_t pairs() const { return static_cast<std::int64_t>(squared_norms.size()); }
    };
    // points: (k) rows; strips: the same, in order, which must outlive this. kernel_error: of a kernel value between
    // two points. stops: numbers of points, increasing, of which a Prefix is kept, as it is of the end of every strip.
    PointSpan(std::shared_ptr<const Rows> points, const Strips& strips, double kernel_error, Functions functions,
              std::vector<std::int64_t> stops);

    // Factored as far as rows ask for, strip by strip of points: most rows need few. Call this first, on any thread,
    // with the number of strips that the others are asked of.
    void prepare(std::int64_t strips) const;
    const Prefix& at_end_of(std::int64_t strip_number) const { return at_ends_[strip_number]; }
    const Prefix& at_stop(std::size_t stop) const { return at_stops_[stop]; }
    Prefix prefix(std::int64_t k) const;
    // The rows of X of one strip, transposed: ((strip_number + 1) strip, strip).
    const double* x(std::int64_t strip_number) const { return x_strips_[strip_number].data(); }
    // The coordinates g of one point: (pairs); those of the points behind it follow.
    const double* g(std::int64_t point) const { return g_.data() + point * pairs_; }

private:
    void factor(std::int64_t block) const;
    void measure(std::int64_t k, std::int64_t pair, Prefix& out) const;

    std::shared_ptr<const Rows> points_;
    const Strips& strips_;
    double kernel_error_;
    std::int64_t k_, pairs_;
    Functions of_;
    std::vector<std::int64_t> stops_;
    std::vector<std::int32_t> identity_;  // 0, 1, 2, ...

    mutable std::mutex lock_;
    mutable std::atomic<std::int64_t> ready_{0};        // strips
    mutable std::vector<std::vector<double>> l_;        // rows of L without the diagonal
    mutable std::vector<std::vector<double>> columns_;  // columns of L without the diagonal, each (k padded)
    mutable std::vector<std::vector<double>> kernel_;   // rows of K, up to the diagonal; with few pairs
    mutable std::vector<double> diagonal_;              // of L; infinite for a point in the span of those before it
    mutable std::vector<Aligned<double>> x_strips_;     // per strip: X transposed
    mutable std::vector<double> g_;                     // (k padded, pairs)
    mutable std::vector<double> g_squares_;             // (k, pairs): |g|^2 up to here
    mutable std::vector<double> reach_, plain_;         // (k): |v|^2 and |v_1|^2 up to here
    mutable std::vector<double> roots_;                 // (k): of K's diagonal
    mutable std::vector<Prefix> at_ends_, at_stops_;
};

}  // namespace fastsvm
