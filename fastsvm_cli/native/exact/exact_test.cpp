// Exact models against the reference sum: labels of every level, and values within their radii, on models built to
// break the proofs (B5, B25, B26, B37 of PROOFS.md).
#include "exact/exact.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

#include "exact/labels/grid_tiles.h"
#include "exact/reference/models_test.h"
#include "exact/reference/reference.h"
#include "exact/values/panels.h"

using namespace fastsvm;

namespace {

using Sizes = std::vector<std::int64_t>;

// svm-predict's class; of a one-class model, 1 for an outlier.
int elected(std::int64_t classes, const double* value) {
    if (classes == 1) return !(*value > 0);
    std::vector<int> votes(static_cast<std::size_t>(classes));
    for (std::size_t i = 0; i < votes.size(); ++i)
        for (std::size_t j = i + 1; j < votes.size(); ++j) ++votes[*value++ > 0 ? i : j];
    return static_cast<int>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

// Adds the rows that each level decided to `total`. Returns the radii.
Numbers check(const Machine& machine, const std::vector<Row>& given, LevelRows& total) {
    const SvmModel model = machine.model();
    const Rows rows = rows_of(given);
    const Exact exact(model);
    Decisions expected(model.pairs()), labels(model.pairs(), false, true), fast(model.pairs(), true), values = fast;
    reference_sums(model, rows, expected);
    exact.decision_values(rows, false, {}, std::nullopt, labels);
    exact.decision_values(rows, true, {}, std::nullopt, values);
    exact.fast_values(rows, fast);
    for (const Decisions* of : {&fast, &values})
        for (std::size_t i = 0; i < expected.value.size(); ++i) {
            const double found = of->value[i], radius = of->radius[i], correct = expected.value[i];
            INFO(found, " +- ", radius, " found, expected ", correct);
            const bool alike = found == correct || (std::isnan(found) && std::isnan(correct));
            CHECK((alike || std::isinf(radius) || std::fabs(found - correct) <= radius));
        }
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        const int correct = elected(model.classes(), expected.value.data() + row * model.pairs());
        INFO("row ", row);
        CHECK(labels.winner[static_cast<std::size_t>(row)] == correct);
        CHECK(elected(model.classes(), values.value.data() + row * model.pairs()) == correct);
    }
    CHECK(std::accumulate(labels.level_rows.begin(), labels.level_rows.end(), std::int64_t{0}) == rows.rows);
    CHECK(values.level_rows[grid_level] + values.level_rows[single_level] == 0);  // only labels alone use these
    for (std::size_t level = 0; level < total.size(); ++level) total[level] += labels.level_rows[level];
    return fast.radius;
}

LevelRows levels(const Machine& machine, const std::vector<Row>& rows) {
    LevelRows out{};
    check(machine, rows, out);
    return out;
}

// Offsets that make a row's values 0.
Numbers sums_at(const Machine& machine, const Row& row) {
    const SvmModel model = machine.model();
    Decisions out(model.pairs());
    reference_sums(model, rows_of({row}), out);
    for (std::size_t pair = 0; pair < machine.rho.size(); ++pair) out.value[pair] += machine.rho[pair];
    return out.value;
}

Machine machine_of(Random& random, const Sizes& nr_sv, int features, double gamma = 0.5) {
    const int n = static_cast<int>(std::accumulate(nr_sv.begin(), nr_sv.end(), std::int64_t{0}));
    return Machine(random, {KernelType::rbf, gamma, 0, 0}, random.rows(n, features), nr_sv);
}

// Few vectors per class; many, not multiples of the eight that are summed together; or few classes.
Sizes any_sizes(Random& random) {
    constexpr int shapes[][3] = {{16, 1, 1}, {20, 2, 2}, {31, 0, 4}, {64, 1, 1}, {18, 20, 32}, {9, 1, 40}, {5, 1, 96},
                                 {5, 0, 3},  {3, 1, 20}, {2, 1, 3},  {2, 0, 3},  {2, 20, 70},  {2, 5, 9},  {1, 1, 40}};
    const auto& [classes, least, most] = shapes[random.below(std::size(shapes))];
    Sizes out;
    for (int c = 0; c < classes; ++c) out.push_back(least + random.below(most - least + 1));
    ++out[static_cast<std::size_t>(random.below(classes))];
    return out;
}

enum Trait {
    any_gamma,
    any_kernel,
    far_away,
    small_scale,
    duplicates,
    sizes,
    tiny,
    ties,
    cancelling,
    zeros,
    empty,
    huge_rho,
    one_huge_rho,
    at_zero,
    near_zero,
    rivals,
    overflowing,
    beyond_single,
    traits
};

void check_hostile(Random& random, int trait, LevelRows& total) {
    const int features = random.one_of({1, 2, 5, 17});
    Machine machine = machine_of(random, any_sizes(random), features);
    std::vector<Row>& vectors = machine.vectors;
    const std::size_t n = vectors.size();
    double& gamma = machine.kernel.gamma;
    const double scale = trait == small_scale ? 1e-3 : trait == overflowing ? random.size(13, 25) : 1;
    const double offset = trait == far_away ? 1e6 : 0;
    vectors = random.rows(static_cast<int>(n), features, trait == empty ? 0 : 1, scale, offset);
    if (trait == any_gamma) gamma = random.size(-10, 6);
    if (trait == overflowing) gamma = random.size(-1, 3);
    if (trait == any_kernel) {
        using T = KernelType;
        const T type = random.one_of({T::linear, T::polynomial, T::sigmoid, T::exponential, T::normalized_polynomial});
        machine.kernel = {type, 0.1, 0.5, 1 + random.below(4)};
    }
    if (trait == sizes) machine.each_coef([&](double& a) { a *= random.size(-12, 12); });
    if (trait == tiny) machine.each_coef([&](double& a) { a *= random.size(-90, 0); });
    if (trait == ties) machine.each_coef([](double& a) { a = std::round(a); });
    if (trait == cancelling) machine.each_coef([](double& a) { a *= 1e9; });
    if (trait == zeros) machine.each_coef([&](double& a) { a *= random.chance(0.3); });
    for (std::size_t k = 0; k < n; ++k) {
        if (trait == duplicates || trait == ties) vectors[k] = vectors[k / 2 * 2];
        if (trait == cancelling) vectors[k] = vectors[0];
        if (trait == duplicates || trait == cancelling)
            for (auto& [index, value] : vectors[k]) value = std::nextafter(value, 9 * random.sign());
    }
    if (trait == beyond_single) {
        gamma = random.one_of({0.0, 1e-200, 1.0, 1e200});
        const double factor = random.one_of({0.0, 1e-200, 1.0, 1e150});
        machine.each_coef([&](double& a) { a *= factor; });
    }
    for (double& rho : machine.rho) {
        if (trait == ties || trait == overflowing) rho = 0;
        if (trait == huge_rho || (trait == one_huge_rho && &rho == &machine.rho.back())) rho *= random.size(0, 300);
    }

    std::vector<Row> rows = random.rows(12, features, 0.9, scale, offset);
    if (trait == rivals) rows[0] = vectors[0];
    for (int k = 0; k < 12; ++k) {
        rows.push_back(rows[0]);
        for (auto& [index, value] : rows.back()) value *= 1 + random.size(-16, -3);
        rows.push_back(vectors[static_cast<std::size_t>(random.below(n))]);
        if (k % 2) rows.back()[features + 5] = random.normal();
    }
    rows.insert(rows.end(), {{{1, 1e4 * random.normal()}}, {{features + 9, 1e30}}, {{1, 1e160}}, {}});
    if (trait == at_zero || trait == near_zero || trait == rivals) {
        machine.rho = sums_at(machine, rows[0]);
        const double off = trait == at_zero ? 0 : random.size(-16, -4);
        for (double& rho : machine.rho) rho *= 1 + off * random.one_of({-1, 0, 1});
        // Only the first two classes' own pair is near zero: they win all others.
        for (std::size_t pair = 1; pair < machine.rho.size() && trait == rivals; ++pair) machine.rho[pair] -= 5;
    }
    INFO("trait ", trait, ", ", machine.nr_sv.size(), " classes, ", n, " vectors, ", features, " features");
    check(machine, rows, total);
}

std::vector<Row> some_bits(Random& random, int n, int features, std::size_t ones) {
    std::vector<Row> out(static_cast<std::size_t>(n));
    for (Row& row : out)
        while (row.size() < ones) row[1 + random.below(features)] = 1;
    return out;
}

}  // namespace

TEST_CASE("exact: labels and values of hostile models are svm-predict's") {
    Random random(11);
    LevelRows total{};
    for (int trait = 0; trait < traits; ++trait)
        for (int trial = trait == near_zero || trait == rivals ? 80 : 20; trial > 0; --trial)
            check_hostile(random, trait, total);
    for (std::size_t level : {single_level, double_level, reference_level}) CHECK(total[level] > 50);
}

TEST_CASE("exact: nearly all rows of ordinary models are decided in single precision") {
    Random random(5);
    for (const Sizes& nr_sv : {Sizes(2, 100), Sizes(3, 66), Sizes(9, 22), Sizes(20, 2), Sizes(33, 1), Sizes(18, 25)}) {
        Machine machine = machine_of(random, nr_sv, 9, 0.2);
        // Bumps about the vectors of each class, as in trained models.
        for (std::size_t i = 0; i < machine.vectors.size(); ++i)
            for (std::size_t other = 0; other < machine.coef[i].size(); ++other)
                machine.coef[i][other] =
                    std::copysign(machine.coef[i][other],
                                  static_cast<std::int64_t>(i) / nr_sv[0] <= static_cast<std::int64_t>(other) ? 1 : -1);
        const LevelRows decided = levels(machine, random.rows(300, 9));
        CHECK(decided[single_level] > 285);
        CHECK(decided[reference_level] == 0);
    }
}

TEST_CASE("exact: one of many pairs close to nothing is decided by its own value") {
    // Rows with few undecided pairs stay on their level, except for values within rounding of 0.
    Random random(7);
    for (const auto& [nearest, farthest] : {std::pair(-10, -8), std::pair(-17, -16)}) {
        LevelRows total{};
        for (int trial = 0; trial < 12; ++trial) {
            Machine machine = machine_of(random, Sizes(24, 2), 3);
            const std::vector<Row> rows = random.rows(40, 3);
            for (std::size_t r = 0, pair = 3; r < rows.size(); ++r, pair += 6)
                machine.rho[pair] = sums_at(machine, rows[r])[pair] * (1 + random.size(nearest, farthest));
            check(machine, rows, total);
        }
        CHECK(total[single_level] > 0.9 * 12 * 40);
        CHECK((total[reference_level] > 0) == (nearest < -16));
    }
}

TEST_CASE("exact: radii of cancelling coefficients are by the row's own terms") {
    Random random(37);
    LevelRows total{};
    int decided = 0;  // a radius by all coefficients would leave them open
    for (int trial = 0; trial < 60; ++trial) {
        const int half = random.one_of({1, 2, 16, 32, 100, 350});
        Machine machine = machine_of(random, {half, half}, 1 + random.below(24), random.size(-6, 1));
        const double weight = random.size(-2, 9);
        double sum = 0;
        for (int i = 0; i < half; ++i) {
            sum += machine.coef[i][0] = weight * random.uniform();
            machine.coef[half + i][0] = -machine.coef[i][0];
        }
        machine.rho = {0};
        std::vector<Row> rows;
        for (int r = 0; r < 40; ++r) {
            rows.push_back(machine.vectors[static_cast<std::size_t>(random.below(2 * half))]);
            const double away = random.one_of({0.0, 1e-9, 0.1, 3.0});
            for (auto& [index, value] : rows.back()) value += away * random.normal();
        }
        for (double radius : check(machine, rows, total)) decided += radius < 2.1 * 2 * half * unit * 2 * sum / 3;
    }
    CHECK(decided > 300);
}

TEST_CASE("exact: the cheaper level decides, by the costs of the instruction set") {
    Random random(1);
    const auto machine_at = [&](const std::vector<Row>& vectors) {
        Machine out(random, {KernelType::rbf, 0.03, 0, 0}, vectors, Sizes{300, 300});
        for (std::size_t i = 0; i < 600; ++i) out.coef[i][0] = i < 300 ? 1 : -1;
        out.rho = {0};
        return out;
    };
    const Machine wide = machine_at(some_bits(random, 600, 1000, 20));
    const bool only_ones = GridTiles::of(wide.model(), in_order(600))->features_per_word() == 16;
    CHECK(levels(wide, some_bits(random, 90, 1000, 20))[only_ones ? grid_level : double_level] > 80);

    std::vector<Row> rows = some_bits(random, 90, 40, 20);
    for (std::size_t r = 0; r < rows.size(); r += 2)
        for (auto& [index, value] : rows[r]) value += 0.25;  // off the grid
    const LevelRows narrow = levels(machine_at(some_bits(random, 600, 40, 20)), rows);
    CHECK(std::max(narrow[grid_level], narrow[single_level]) <= 45);
    CHECK(narrow[grid_level] + narrow[single_level] > 80);
}

TEST_CASE("exact: values have the same bits in tiles and entry by entry") {
    Random random(5);
    const Machine machine = machine_of(random, {100, 100}, 50, 0.02);
    const Exact exact(machine.model());
    for (double density : {0.3, 0.5, 0.6, 0.7, 0.9}) {
        const std::vector<Row> sparse = random.rows(90, 50, density);
        std::vector<Row> full = sparse;  // by explicit zeros, to meet the vectors in tiles
        for (Row& row : full)
            for (int c = 1; c <= 50; ++c) row.emplace(c, 0);
        Decisions a(1), b(1);
        exact.fast_values(rows_of(sparse), a);
        exact.fast_values(rows_of(full), b);
        CHECK(a.value == b.value);
    }
}
