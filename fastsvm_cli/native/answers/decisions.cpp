#include "answers/decisions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fastsvm {

namespace {
void check_rows(const Decisions& out, const std::vector<std::int64_t>& which) {
    for (std::int64_t row : which)
        if (row < 0 || row >= out.rows) throw std::out_of_range("row out of range");
}
}  // namespace

std::vector<std::int64_t> flagged_rows(const std::vector<char>& flags) {
    std::vector<std::int64_t> rows;
    for (std::size_t r = 0; r < flags.size(); ++r)
        if (flags[r]) rows.push_back(static_cast<std::int64_t>(r));
    return rows;
}

void Decisions::put(const std::vector<std::int64_t>& which, const Decisions& from) {
    if (labels_alone || from.labels_alone) throw std::invalid_argument("labels alone have no values");
    if (from.pairs != pairs || from.rows != static_cast<std::int64_t>(which.size()))
        throw std::invalid_argument("other rows or pairs");
    charge(which, from);
    for (std::size_t i = 0; i < which.size(); ++i) {
        const std::int64_t source = static_cast<std::int64_t>(i) * pairs, target = which[i] * pairs;
        std::copy_n(from.value.data() + source, pairs, value.data() + target);
        if (!with_radius) continue;
        if (from.with_radius)
            std::copy_n(from.radius.data() + source, pairs, radius.data() + target);
        else
            std::fill_n(radius.data() + target, pairs, 0.0);
    }
    reference_rows += from.reference_rows;
}

void Decisions::elect(const std::vector<std::int64_t>& which, const Decisions& from) {
    if (labels_alone || !from.labels_alone) throw std::invalid_argument("labels replace no values here");
    if (from.pairs != pairs) throw std::invalid_argument("other rows or pairs");
    charge(which, from);
    winner.resize(static_cast<std::size_t>(rows), -1);
    for (std::size_t i = 0; i < which.size(); ++i) {
        winner[static_cast<std::size_t>(which[i])] = from.winner[i];
        if (pairs != 1) continue;
        // svm-predict's value is on that side of zero, within this value's interval.
        double& own = value[static_cast<std::size_t>(which[i])];
        if ((own > 0) != (from.winner[i] == 0)) own = from.winner[i] == 0 ? std::numeric_limits<double>::min() : 0.0;
    }
    reference_rows += from.reference_rows;
}

void Decisions::map_values(double from, double scale, double to) {
    if (labels_alone) throw std::invalid_argument("labels alone have no values");
    // Each of the two values rounds three times: u (3.1 |y| + 2.1 |to|) for a result y, u half of epsilon.
    constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
    for (std::size_t i = 0; i < value.size(); ++i) {
        value[i] = to + (value[i] - from) * scale;
        if (with_radius && radius[i] != 0)
            radius[i] = radius[i] * scale * (1 + rounding) + rounding * (std::fabs(value[i]) + std::fabs(to)) +
                        std::numeric_limits<double>::min();
    }
}

void Decisions::charge(const std::vector<std::int64_t>& which, const Decisions& from) {
    if (from.rows != static_cast<std::int64_t>(which.size())) throw std::invalid_argument("other rows");
    check_rows(*this, which);
    for (std::size_t i = 0; i < which.size(); ++i) evaluations[which[i]] += from.evaluations[i];
}

void Decisions::count(std::int64_t more) {
    for (std::int64_t& own : evaluations) own += more;
}

std::int64_t Decisions::kernel_evaluations() const {
    return std::accumulate(evaluations.begin(), evaluations.end(), std::int64_t{0});
}

}  // namespace fastsvm
