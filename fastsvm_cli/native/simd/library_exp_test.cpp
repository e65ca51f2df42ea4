// Exponentials in lanes are those of this process's C library, bit for bit.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "simd/loops.h"

using namespace fastsvm;

namespace {

constexpr int drawn = 20000;

// All of e^x's range and beyond; both ends of rows of glibc's table; its other paths.
std::vector<double> hard_arguments() {
    std::mt19937_64 engine(2);
    const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); };
    std::vector<double> out{std::nan("")};
    for (double edge :
         {0.0, 5e-324, 0x1p-54, 0x1p-53, 512.0, 708.3, 708.4, 709.78, 745.13, 745.14, 746.0, 1024.0, 1e308, HUGE_VAL})
        for (double near : {std::nextafter(edge, 0), edge, std::nextafter(edge, HUGE_VAL)})
            out.insert(out.end(), {near, -near});
    for (int i = 0; i < drawn; ++i) {
        const double row =
            (std::floor(uniform(-95000, 95000)) + 0.5 * std::floor(uniform(-1, 2))) * (std::log(2.0) / 128);
        out.insert(out.end(), {row * (1 + std::floor(uniform(-1, 2)) * 0x1p-52), -uniform(0, 1), -uniform(0, 30),
                               uniform(-760, 720), std::copysign(std::pow(10, uniform(-20, 3)), uniform(-1, 1))});
    }
    while (out.size() % reference_lanes) out.push_back(0);
    return out;
}

std::vector<double> in_lanes(ExpLoop loop, std::vector<double> x) {
    loop(static_cast<std::int64_t>(x.size()), 1.0, x.data());
    return x;
}

int differing(const std::vector<double>& a, const std::vector<double>& b) {
    int out = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        out += std::memcmp(&a[i], &b[i], sizeof a[i]) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]));
    return out;
}

}  // namespace

TEST_CASE("exp: the chosen loop has the library's bits") {
    const ExpLoop loop = library_exp();
    MESSAGE("loop: ", std::string(!loop ? "none" : loop == loops().wide_reference->fused_exp ? "fused" : "plain"));
    if (!loop) return;
    const std::vector<double> x = hard_arguments();
    std::vector<double> expected = x;
    for (double& each : expected) each = std::exp(each);
    CHECK(differing(in_lanes(loop, x), expected) == 0);
}

TEST_CASE("exp: both loops are told apart") {
    const ReferenceLoops& loops_here = *loops().wide_reference;
    if (!loops_here.fused_exp || !loops_here.plain_exp) return;
    std::mt19937_64 engine(1);
    std::vector<double> x(100000);
    for (double& each : x) each = -30 * std::uniform_real_distribution<>()(engine);
    const std::vector<double> plain = in_lanes(loops_here.plain_exp, x), fused = in_lanes(loops_here.fused_exp, x);
    const int different = differing(plain, fused);
    CHECK(different > 0);  // at most one is this library's
    CHECK(different < 300);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::fabs(plain[i] / fused[i] - 1) < 3e-16);
}
