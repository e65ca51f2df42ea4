// Rows and random numbers for unit tests.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "text/numbers.h"
#include "text/parse.h"
#include "text/rows.h"

namespace fastsvm {

using Row = std::map<std::int32_t, double>;  // LIBSVM index to value
using Numbers = std::vector<double>;

// leading: of each row; empty: a label 0.
inline Rows rows_of(const std::vector<Row>& rows, const std::vector<Numbers>& leading = {}) {
    std::string text;
    const auto add = [&](double value) {
        char number[number_text_max];
        text.append(number, write_shortest(number, value)) += ' ';
    };
    Format format;
    format.leading_count = leading.empty() ? 1 : static_cast<int>(leading[0].size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (double a : leading.empty() ? Numbers{0.0} : leading[r]) add(a);
        for (const auto& [index, value] : rows[r]) text += std::to_string(index) + ':', add(value);
        text += '\n';
    }
    ParseResult result = parse(text, 1, format);
    REQUIRE(result.error == "");
    return std::move(result.rows);
}

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    double uniform(double low = 0, double high = 1) { return low + (high - low) * (engine_() >> 11) * 0x1p-53; }
    double normal() { return std::normal_distribution<>()(engine_); }
    // From 10^low to 10^high; the exponent is uniform.
    double size(double low, double high) { return std::pow(10.0, uniform(low, high)); }
    int below(std::int64_t n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
    bool chance(double p) { return uniform() < p; }
    double sign() { return chance(0.5) ? 1 : -1; }
    template <class T> T one_of(std::initializer_list<T> values) { return values.begin()[below(values.size())]; }
    // Normally distributed entries of `features` features, each there with this probability.
    Row row(int features, double density = 1, double scale = 1, double offset = 0) {
        Row out;
        for (int index = 1; index <= features; ++index)
            if (chance(density)) out[index] = offset + scale * normal();
        return out;
    }
    std::vector<Row> rows(int n, int features, double density = 1, double scale = 1, double offset = 0) {
        std::vector<Row> out;
        for (int r = 0; r < n; ++r) out.push_back(row(features, density, scale, offset));
        return out;
    }

private:
    std::mt19937_64 engine_;
};

// The indices 0, ..., n - 1.
inline std::vector<std::int64_t> all_of(std::size_t n) {
    std::vector<std::int64_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::int64_t>(i);
    return out;
}

}  // namespace fastsvm
