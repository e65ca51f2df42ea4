// Kernel values of the levels grid and single precision are within their proven error (B22 to B24, B30 to B34 of
// PROOFS.md).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "exact/labels/grid_tiles.h"
#include "exact/labels/kernel_tiles.h"
#include "exact/reference/models_test.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"

using namespace fastsvm;

namespace {

SvmModel model_of(const std::vector<Row>& vectors, double gamma, KernelType kernel = KernelType::rbf) {
    Random random(1);
    return Machine(random, {kernel, gamma, 0, 3}, vectors, {static_cast<std::int64_t>(vectors.size())}).model();
}

struct TileValues {
    std::vector<std::vector<float>> of;  // rows
    Numbers errors;                      // relative, of each row
};

template <class Tiles>
TileValues tile_values(const Tiles& tiles, const Rows& rows, const std::vector<std::int64_t>& which, std::int64_t from,
                       std::int64_t to) {
    const auto block = tiles.block();
    const std::int64_t n = static_cast<std::int64_t>(which.size()), width = to - from;
    std::vector<float> values(static_cast<std::size_t>(n * width));
    tiles.take(rows, which.data(), n, *block);
    tiles.values(*block, from, to, values.data(), width);
    TileValues out;
    for (std::int64_t r = 0; r < n; ++r) {
        out.of.emplace_back(values.begin() + r * width, values.begin() + (r + 1) * width);
        out.errors.push_back(tiles.relative_error(*block, r));
    }
    return out;
}

// All values, of which those of rows with a finite error keep to it. order: of the vectors in the tiles.
template <class Tiles>
TileValues checked_values(const Tiles& tiles, double gamma, const std::vector<Row>& vectors,
                          const std::vector<Row>& rows, const std::vector<std::int64_t>& order) {
    TileValues out = tile_values(tiles, rows_of(rows), all_of(rows.size()), 0,
                                 whole(static_cast<std::int64_t>(order.size()), panel));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (!std::isfinite(out.errors[r])) continue;
        for (std::size_t s = 0; s < order.size(); ++s) {
            const float value = out.of[r][s];
            REQUIRE(std::isfinite(value));
            if (order[s] < 0) continue;
            const long double exact = std::exp(-gamma * squared_distance(vectors[order[s]], rows[r]));
            INFO(r, " ", s, " ", value, " ", static_cast<double>(exact));
            CHECK(std::fabs(value - exact) <= exact * (out.errors[r] + 1e-13L) + 0x1p-126L);
        }
    }
    return out;
}

TileValues checked(const std::vector<Row>& vectors, double gamma, const std::vector<Row>& rows) {
    const std::vector<std::int64_t> order = all_of(vectors.size());
    const auto tiles = GridTiles::of(model_of(vectors, gamma), order);
    REQUIRE(tiles);
    return checked_values(*tiles, gamma, vectors, rows, order);
}

double six_digits(double x) { return std::strtod(std::to_string(x).c_str(), nullptr); }

// Grids by the value of level k in column c.
struct Levels {
    std::string name;
    int count;
    double (*value)(int k, int c);
};
const Levels grids[] = {
    {"binary", 2, [](int k, int) { return 1.0 * k; }},
    {"one step of three", 2, [](int k, int) { return 3.0 * k; }},
    {"plus and minus one", 2, [](int k, int) { return 2.0 * k - 1; }},
    {"ternary", 3, [](int k, int) { return k - 1.0; }},
    {"bytes", 256, [](int k, int) { return 1.0 * k; }},
    {"bytes to one", 256, [](int k, int) { return six_digits(k / 255.0); }},
    {"thirds", 4, [](int k, int) { return six_digits(k / 3.0); }},
    {"sixteen levels", 16, [](int k, int) { return six_digits(-1 + k / 7.5); }},
    {"offsets", 16, [](int k, int c) { return c + 0.25 * k; }},
    {"offsets in digits", 5, [](int k, int c) { return six_digits(c % 7 / 3.0 + k / 3.0); }},
    {"two levels in digits", 2, [](int k, int) { return six_digits(k / 7.0); }},
};

Row constant(int features, double value) {
    Row out;
    for (int c = 1; c <= features; ++c) out[c] = value;
    return out;
}

// level: of all features; -1: any.
Row point(Random& random, const Levels& grid, int features, double density, int level = -1) {
    Row out;
    for (int c = 1; c <= features; ++c) {
        const int k = level >= 0 ? level : random.chance(density) ? random.below(grid.count) : 0;
        if (const double value = grid.value(k, c)) out[c] = value;
    }
    return out;
}

std::vector<Row> points(Random& random, const Levels& grid, int n, int features, double density) {
    std::vector<Row> out;
    for (int i = 0; i < n; ++i) out.push_back(point(random, grid, features, density));
    return out;
}

// A gamma that gives kernel values of any size.
double any_gamma(Random& random, const std::vector<Row>& vectors, const std::vector<Row>& rows) {
    long double sum = 0;
    for (const Row& x : vectors) sum += squared_distance(x, rows[0]);
    return random.size(-3, 2.2) / std::max(static_cast<double>(sum) / static_cast<double>(vectors.size()), 1e-3);
}

// Values of a part of rows and vectors are about the same, and sums are of the values.
void check_parts(Random& random, const GridTiles& tiles, const std::vector<Row>& given, const TileValues& all) {
    const Rows rows = rows_of(given);
    const std::int64_t size = static_cast<std::int64_t>(all.of[0].size());
    for (int trial = 0; trial < 3; ++trial) {
        const std::int64_t from = panel * random.below(size / panel);
        const std::int64_t to = from + panel * (1 + random.below((size - from) / panel));
        std::vector<std::int64_t> which = all_of(given.size());
        which.erase(which.begin(), which.begin() + random.below(rows.rows));
        const TileValues part = tile_values(tiles, rows, which, from, to);
        std::vector<float> coef(static_cast<std::size_t>(to - from));
        for (float& a : coef) a = static_cast<float>(random.uniform());
        const auto block = tiles.block();
        Numbers sums(which.size() * lanes);
        Aligned<float> scratch;
        tiles.take(rows, which.data(), static_cast<std::int64_t>(which.size()), *block);
        tiles.add_sums(*block, static_cast<std::int64_t>(which.size()), from, to, coef.data(), scratch, sums.data());
        for (std::size_t i = 0; i < which.size(); ++i) {
            double sum = 0, expected = 0;
            for (int lane = 0; lane < lanes; ++lane) sum += sums[i * lanes + static_cast<std::size_t>(lane)];
            CHECK(std::isfinite(sum));
            if (!std::isfinite(part.errors[i])) continue;
            for (std::size_t s = 0; s < coef.size(); ++s) {
                const float value = all.of[static_cast<std::size_t>(which[i])][static_cast<std::size_t>(from) + s];
                CHECK(std::fabs(part.of[i][s] - value) <= 8 * single_unit * value + 0x1p-126);
                expected += static_cast<double>(coef[s]) * part.of[i][s];
            }
            CHECK(std::fabs(sum - expected) <= 6 * single_unit * expected + 400 * 0x1p-126);
        }
    }
}

// Single precision must hold an ordinary model, with small errors.
void check(const std::string& name, double gamma, const std::vector<Row>& vectors, const std::vector<Row>& rows,
           bool ordinary = true) {
    INFO(name);
    const std::vector<std::int64_t> order = in_order(static_cast<std::int64_t>(vectors.size()));
    const SingleTiles tiles(model_of(vectors, gamma), order);
    const double most = name == "far offset" ? infinite : 1e-3;
    for (double error : checked_values(tiles, gamma, vectors, rows, order).errors)
        if (ordinary) CHECK(error < most);
}

}  // namespace

TEST_CASE("grid: values are within their error, on every grid, near it and beyond") {
    Random random(2);
    enum { nothing, one_ulp, off, outside, another_grid, changes };
    for (const Levels& grid : grids)
        for (int features : {1, 5, 31, 33, 64, 65, 130, 780})
            for (double density : {0.05, 0.5, 1.0}) {
                if (features == 780 && density != 0.5) continue;
                const int change = random.chance(0.4) ? nothing : random.below(changes);
                INFO(grid.name, " ", features, " ", density, " ", change);
                std::vector<Row> vectors = points(random, grid, 1 + random.below(150), features, density);
                // The vectors show all levels: rows have no smaller steps.
                for (int k = 0; change == nothing && k < grid.count; ++k)
                    vectors.push_back(point(random, grid, features, 1, k));
                std::vector<Row> rows = points(random, grid, 8, features, density);
                if (change == one_ulp) vectors[0][1] = std::nextafter(vectors[0][1], 9);
                for (std::size_t r = 0; r < rows.size(); r += 2) {
                    const int index = 1 + random.below(features);
                    if (change == one_ulp) rows[r][index] = std::nextafter(rows[r][index], 9);
                    if (change == off) rows[r][index] += random.size(-9, 1);
                    if (change == outside) rows[r][features + index] = random.size(-6, 3);
                    if (change == another_grid) rows[r][index] = (random.below(900) - 300) / 7.0;
                }
                rows.push_back(vectors.back());
                const double gamma = any_gamma(random, vectors, rows);
                std::vector<std::int64_t> order = in_order(static_cast<std::int64_t>(vectors.size()));
                if (random.chance(0.5)) std::reverse(order.begin(), order.end());  // the padding first
                const auto tiles = GridTiles::of(model_of(vectors, gamma), order);
                if (change != nothing && !tiles) continue;
                REQUIRE(tiles);
                const TileValues values = checked_values(*tiles, gamma, vectors, rows, order);
                check_parts(random, *tiles, rows, values);
                if (change != nothing) continue;
                CHECK(tiles->binary() == (grid.count == 2));
                for (double error : values.errors) CHECK(error < (tiles->off() > 0 ? infinite : 5 * single_unit));
            }
}

TEST_CASE("grid: rows off the grid, and entries that no vector has") {
    const auto finite = [](const std::vector<Row>& vectors, const std::vector<Row>& rows) {
        std::vector<bool> out;
        for (double error : checked(vectors, 0.5, rows).errors) out.push_back(std::isfinite(error));
        return out;
    };
    CHECK(finite({{{1, 1}, {2, 0}, {3, 1}}, {{1, 0}, {2, 1}}},
                 {{{1, 1}}, {{1, 0.5}}, {{2, 2}}, {{3, -1}}, {{1, 1e300}}, {{3, 1.001}}, {}}) ==
          std::vector<bool>{true, false, false, false, false, false, true});
    // Zero is on the grid of the first column, but not of the second: 0.5, 1.5.
    CHECK(finite({{{1, 1}, {2, 0.5}, {3, 3}}, {{1, 2}, {2, 1.5}}, {{1, 3}, {2, 0.5}}},
                 {{{2, 0.5}}, {{1, 1}}, {{1, 1}, {2, 1.5}}}) == std::vector<bool>{true, false, true});
    // Entries that no vector has count in the distance.
    const std::vector<Row> rows{{{1, 1}, {7, 0.3}}, {{5, 1e-9}}, {{9, 20}}, {{9, 1e200}}, {{2, 1}, {6, 9.3}}, {}};
    CHECK(finite({{{1, 1}}, {{2, 1}}, {}}, rows) == std::vector<bool>(6, true));
}

TEST_CASE("grid: wide bits and large distances are counted to the last") {
    Random random(4);
    constexpr int bits = 5000, bytes = 4096;
    std::vector<Row> vectors{{}, constant(bits, 1)};
    for (int k : {1, 40, 2500, 4999}) {
        vectors.emplace_back();
        while (static_cast<int>(vectors.back().size()) < k) vectors.back()[1 + random.below(bits)] = 1;
    }
    std::vector<Row> rows = vectors;
    rows.push_back({{3, 1}, {4000, 1}});
    for (std::size_t count : {rows.size(), std::size_t{1}}) {
        rows.resize(count);
        for (double error : checked(vectors, 1e-3, rows).errors) CHECK(error < 5 * single_unit);
    }
    const double gamma = 20.0 / (255.0 * 255 * bytes);
    vectors = {{}, constant(bytes, 255), {{1, 1}}};
    CHECK(checked(vectors, gamma, vectors).of[0][1] == doctest::Approx(std::exp(-20.0)).epsilon(5e-7));
}

TEST_CASE("grid: every distance, to the edges of tables and to nothing") {
    // Bits, and four levels whose features add 9 each: D = 0, 1, ... to where exp is computed in another way.
    for (int largest : {1, 31, 32, 63, 64, 127, 128, 254, 255, 256, 300})
        for (double feature : {1.0, 3.0}) {
            std::vector<Row> vectors{{{1, feature}}, {{1, 1}}};
            for (int d = 0; d <= largest; ++d)
                vectors.push_back(constant(d / static_cast<int>(feature * feature), feature));
            for (double gamma : {1e-6, 0.01, 60.0 / largest, 88.0 / largest, 2.0})
                for (double error : checked(vectors, gamma, {{}, {{1, feature}}, vectors.back()}).errors)
                    CHECK(error < 5 * single_unit);
        }
    // Sums of four squares are all distances; no table reaches the end.
    Random random(6);
    std::vector<Row> vectors = points(random, grids[4], 64, 4, 1), rows{vectors[0], {}};
    vectors.push_back(constant(4, 255));
    for (Row row : vectors) {
        for (auto& [index, value] : row) value = std::clamp(value + random.below(5) - 2, 0.0, 255.0);
        rows.push_back(row);
    }
    for (int last : {60000, 100000, 150000}) {
        const double gamma = 127 * std::log(2.0) / last;
        const TileValues values = checked(vectors, gamma, rows);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            CHECK(values.errors[r] < 5 * single_unit);
            for (std::size_t s = 0; s < vectors.size(); ++s) {
                const long double exact = std::exp(-gamma * squared_distance(vectors[s], rows[r]));
                if (exact < 0x1p-127L) CHECK(values.of[r][s] == 0);
            }
        }
    }
}

TEST_CASE("grid: what is on no grid is known as such") {
    const auto found = [](const std::vector<Row>& vectors, double gamma = 0.5, KernelType kernel = KernelType::rbf) {
        return GridTiles::of(model_of(vectors, gamma, kernel), in_order(static_cast<std::int64_t>(vectors.size())));
    };
    const std::vector<Row> bits{{{1, 1}}, {{1, 0}}};
    CHECK(found(bits));
    CHECK_FALSE(found({}));
    CHECK_FALSE(found({{{1, 0.1234}}, {{1, 0.7654}}, {{1, 3.14159}}, {{1, 2.71828}}}));
    CHECK_FALSE(found({{{1, 0}, {2, 1}}, {{1, 300}}}));  // more than 256 levels
    CHECK_FALSE(found(bits, 0.5, KernelType::linear));
    CHECK_FALSE(found(bits, 0.5, KernelType::exponential));
    CHECK_FALSE(found(bits, 0));
    CHECK_FALSE(found(bits, 1e-300));
    for (double huge : {1e200, 1e308}) CHECK_FALSE(found({{{1, huge}}, {{1, -huge}}}, 1));
    CHECK_FALSE(found({{{1, 0.333333}}, {{1, 0.666667}}, {{1, 1}}}, 1e9));  // six digits are too few
    Row wide, sparse;
    for (int c = 1; c < 4098; ++c) wide[c] = c % 3;
    CHECK_FALSE(found({wide, {}}));
    Random random(5);
    std::vector<Row> mostly_zeros;
    for (int i = 0; i < 40000; ++i) mostly_zeros.push_back({{1 + random.below(60000), 1}});
    CHECK_FALSE(found(mostly_zeros));
    // Only the last vectors show the step.
    std::vector<Row> refined;
    for (int i = 0; i < 9000; ++i) refined.push_back({{1, i % 2}});
    refined.insert(refined.end(), {{{1, 0.5}}, {{1, 1 / 6.0}}});
    const auto tiles = found(refined);
    REQUIRE(tiles);
    CHECK(tiles->step() == doctest::Approx(1 / 6.0));
    CHECK_FALSE(tiles->binary());
}

TEST_CASE("single precision: values are as close as is proven") {
    Random random(3);
    check("narrow", 0.5, random.rows(33, 7), random.rows(9, 7));
    check("wide", 0.01, random.rows(33, 130), random.rows(7, 130));
    check("one feature", 2, random.rows(5, 1), random.rows(13, 1));
    check("flat", 1e-8, random.rows(20, 7), random.rows(9, 7));
    check("far offset", 0.2, random.rows(20, 7, 1, 1, 1e6), random.rows(9, 7, 1, 1, 1e6));
    check("exponents of all sizes", 20, random.rows(40, 2), random.rows(20, 2));
    check("sparse", 0.05, random.rows(40, 130, 0.1), random.rows(7, 130, 0.1));
    check("huge gamma", 1e6, random.rows(20, 7, 1, 1e-3), random.rows(9, 7, 1, 1e-3));
    check("next to nothing", 1, {{{1, 1e-160}}, {{1, 1e-30}}, {{2, 1e-42}}}, {{{1, 1e-30}}, {{1, 1e-200}}, {}});
    check("beyond single precision", 1, {{{1, 1e25}}, {{1, -1e25}}, {{2, 1}}}, {{{1, 1e25}}, {{1, 1e300}}}, false);
    std::vector<Row> vectors = random.rows(20, 7), rows = random.rows(7, 7);
    for (Row& row : rows) row[500] = 0.75, row[600] = -1.5;
    check("features that no vector has", 0.3, vectors, rows);
    for (Row& row : rows) row = {{1, 1e-3}, {500, random.uniform(1, 12)}};
    check("hardly any others", 0.3, random.rows(20, 7, 1, 1e-2), rows);
    vectors[3] = {{1, 4e4}, {2, -3e4}};  // errors are those of the largest norm
    check("an outlier", 1e-6, vectors, {random.row(7), {{1, 3.9e4}, {2, -3e4}}}, false);
    const Row near = random.row(7);
    rows = {near, near};
    for (auto& [index, value] : rows[1]) value *= 1 + 1e-9;
    vectors.assign(20, near);
    for (std::size_t k = 0; k < vectors.size(); ++k)
        for (auto& [index, value] : vectors[k]) value = std::nextafter(value, value + static_cast<double>(k % 3) - 1);
    check("an ulp apart", 1e3, vectors, rows);
    // Scaled by the root of gamma log2(e), vectors are slightly longer than 8, where rounding is largest.
    vectors.clear(), rows.clear();
    for (int i = 0; i < 20; ++i) {
        const double longer = 8 / std::sqrt(0.5 / std::log(2.0)) * (1 + random.uniform(0, 0.01));
        vectors.insert(vectors.end(), {{{1, longer}}, {{1, -longer}}});
        rows.push_back({{1, random.uniform(-0.01, 0.01)}});
    }
    check("lengths that round most", 0.5, vectors, rows);
}

TEST_CASE("single precision: powers of two have the error of their polynomial") {
    // Every exponent from 0 to 130, with exact distances: only the power is wrong.
    const std::vector<Row> vectors{{{1, 0}}, {{2, 0}}};
    std::vector<Row> rows;
    for (int k = 0; k < 2920; ++k) rows.push_back({{1, k / 256.0}});
    const SingleTiles tiles(model_of(vectors, std::log(2.0)), in_order(2));
    const TileValues values = tile_values(tiles, rows_of(rows), all_of(rows.size()), 0, panel);
    for (int k = 0; k < 2920; ++k) {
        const long double exponent = k * k / 65536.0L, exact = std::exp2(-exponent);
        const float value = values.of[static_cast<std::size_t>(k)][0];
        if (exponent <= 126)
            CHECK(std::fabs(value - exact) <= (2.3 * 0x1p-24 + 1e-12) * exact);
        else
            CHECK(value == 0x1p-126f);
        CHECK(values.errors[static_cast<std::size_t>(k)] >= 2.3 * 0x1p-24);
    }
    CHECK_FALSE(SingleTiles::holds(model_of({{{1, 1}}}, 1, KernelType::polynomial)));
}
