// Sums of doubles without rounding: they do not depend on the order of the terms, nor on how rows were cut into parts.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "answers/predictions.h"
#include "text/rows.h"

namespace fastsvm {

// A superaccumulator: one fixed-point number that spans all doubles (Kulisch; Neal, "Fast exact summation using small
// and large superaccumulators", 2015).
class ExactSum {
public:
    void add(double x);
    // The sum times 2^1074, as a little-endian number in two's complement; without the terms that are not finite.
    std::string digits() const;
    // The sum of the terms that are not finite, 0 without: an infinity, or not a number.
    double special() const { return special_; }

private:
    void carry();

    // Limb i counts multiples of 2^(32 i - 1074). A term adds less than 2^32 to a limb, so that 2^30 terms fit between
    // carries. The last two limbs take what more terms than any file has rows can carry.
    static constexpr std::size_t LIMBS = 70;
    std::array<std::int64_t, LIMBS> limbs_{};
    std::int64_t uncarried_ = 0;
    double special_ = 0;
};

// What the mean squared error and the squared correlation are made of, p the predictions and t the labels. Products are
// exact too (as two doubles each, unless they underflow), but for (p - t)^2, which is rounded as svm-predict rounds it.
struct RegressionSums {
    ExactSum error, sump, sumt, sumpp, sumtt, sumpt;
    void add(const Rows& rows, const Predictions& predictions);
};

}  // namespace fastsvm
