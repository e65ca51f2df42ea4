#include "answers/exact_sums.h"

#include <cmath>
#include <cstring>

namespace fastsvm {
namespace {

constexpr std::int64_t LIMB = std::int64_t{1} << 32;

void add_product(ExactSum& sum, double a, double b) {
    const double high = a * b;
    sum.add(high);
    if (std::isfinite(high)) sum.add(std::fma(a, b, -high));
}

}  // namespace

void ExactSum::add(double x) {
    if (!std::isfinite(x)) {
        special_ += x;
        return;
    }
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto exponent = static_cast<std::size_t>(bits >> 52 & 0x7ff);
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    if (exponent) mantissa |= std::uint64_t{1} << 52;
    const std::size_t shift = exponent ? exponent - 1 : 0;  // in units of 2^-1074
    const std::size_t limb = shift / 32, bit = shift % 32;
    const std::uint64_t low = mantissa << bit, high = bit ? mantissa >> (64 - bit) : 0;
    const std::int64_t sign = bits >> 63 ? -1 : 1;
    limbs_[limb] += sign * static_cast<std::int64_t>(low & 0xffffffff);
    limbs_[limb + 1] += sign * static_cast<std::int64_t>(low >> 32);
    limbs_[limb + 2] += sign * static_cast<std::int64_t>(high);
    if (++uncarried_ == std::int64_t{1} << 30) carry();
}

void ExactSum::carry() {
    for (std::size_t i = 0; i + 1 < LIMBS; ++i) {
        const std::int64_t over = limbs_[i] >> 32;  // towards minus infinity
        limbs_[i] -= over * LIMB;
        limbs_[i + 1] += over;
    }
    uncarried_ = 0;
}

std::string ExactSum::digits() const {
    ExactSum carried = *this;
    carried.carry();
    std::string out;
    out.reserve(LIMBS * 4 + 4);
    for (std::size_t i = 0; i < LIMBS; ++i)
        for (int byte = 0; byte < (i + 1 < LIMBS ? 4 : 8); ++byte)
            out += static_cast<char>(carried.limbs_[i] >> (8 * byte) & 0xff);
    return out;
}

void RegressionSums::add(const Rows& rows, const Predictions& predictions) {
    for (std::int64_t row = 0; row < predictions.rows; ++row) {
        const double p = predictions.label[static_cast<std::size_t>(row)], t = rows.leading[row * rows.leading_count];
        error.add((p - t) * (p - t));
        sump.add(p);
        sumt.add(t);
        add_product(sumpp, p, p);
        add_product(sumtt, t, t);
        add_product(sumpt, p, t);
    }
}

}  // namespace fastsvm
