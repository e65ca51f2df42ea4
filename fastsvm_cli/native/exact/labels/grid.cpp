#include "exact/labels/grid_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "exact/reference/rounding.h"

namespace fastsvm {

namespace {
// Rows' tables share this cache.
constexpr std::int64_t code_bytes_at_a_time = 16 << 10;

// Files have six digits or more: differences, and steps from them, err by less than this times the largest value.
constexpr double rounding_share = 2e-5;
constexpr std::int64_t sample_entries = 4096, sample_rows = 8;
constexpr std::int64_t most_outliers = 256;
constexpr int most_attempts = 16;
}  // namespace

GridCodes::GridCodes(const GridCodeLoops& loops, int bits, std::int64_t codes, std::int64_t padded)
    : loops_(loops), codes_(codes), metric_(bits == 1) {
    tabulate(bits);
    blocks_.assign(padded, codes);
    bases_.assign(padded, 2);
}

void GridCodes::tabulate(int bits) {
    const int mask = (1 << bits) - 1;
    for (int z = 0; z < kinds; ++z)
        for (int x = 0; x < kinds; ++x) {
            distance_[z][x] = 0;
            for (int shift = 0; shift < 4; shift += bits) {
                const int difference = ((z >> shift) & mask) - ((x >> shift) & mask);
                distance_[z][x] += difference * difference;
            }
        }
    std::int32_t most = 1;
    for (int u = 0; u < kinds; ++u)
        for (int z = 0; z < kinds; ++z) {
            Table& table = tables_[u][z];
            std::int32_t added[kinds];
            for (int x = 0; x < kinds; ++x) added[x] = distance_[z][x] - distance_[u][x];
            table.least = *std::min_element(added, added + kinds);
            for (int x = 0; x < kinds; ++x) {
                most = std::max(most, added[x] - table.least);
                table.added[x] = static_cast<unsigned char>(added[x] - table.least);
            }
        }
    run_ = 255 / most;
}

void GridCodes::put(std::int64_t s, const unsigned char* codes) {
    unsigned char* const to = blocks_.at(place(s), 0);
    for (std::int64_t c = 0; c < codes_; ++c) to[c * panel] = codes[c];
}

void GridCodes::finish(const std::vector<std::int64_t>& order) {
    const std::int64_t n = static_cast<std::int64_t>(order.size());
    const auto each = [&](auto meet) {  // skips padding
        for (std::int64_t s = 0; s < n; ++s)
            if (order[s] >= 0) meet(s, blocks_.at(place(s), 0));
    };
    std::vector<std::int64_t> met(static_cast<std::size_t>(codes_ * kinds), 0);
    each([&](std::int64_t, const unsigned char* codes) {
        for (std::int64_t c = 0; c < codes_; ++c) ++met[c * kinds + codes[c * panel]];
    });
    usual_.resize(static_cast<std::size_t>(codes_));
    farthest_.assign(static_cast<std::size_t>(codes_ * kinds), 0);
    for (std::int64_t c = 0; c < codes_; ++c) {
        const std::int64_t* const of = met.data() + c * kinds;
        usual_[c] = static_cast<unsigned char>(std::max_element(of, of + kinds) - of);
        const double all = static_cast<double>(std::accumulate(of, of + kinds, std::int64_t{0}));
        if (all > 0) unusual_ += 1 - static_cast<double>(of[usual_[c]]) / all;
        for (int z = 0; z < kinds; ++z)
            for (int x = 0; x < kinds; ++x)
                if (of[x]) farthest_[c * kinds + z] = std::max(farthest_[c * kinds + z], distance_[z][x]);
        usual_farthest_ += farthest_[c * kinds + usual_[c]];
    }
    each([&](std::int64_t s, const unsigned char* codes) {
        std::int64_t base = 0;
        for (std::int64_t c = 0; c < codes_; ++c) base += distance_[usual_[c]][codes[c * panel]];
        largest_base_ = std::max(largest_base_, base);
        unsigned char* const to = bases_.at(place(s), 0);
        to[0] = static_cast<unsigned char>(base & 0xff);
        to[panel] = static_cast<unsigned char>(base >> 8);
    });
}

void GridCodes::take(const unsigned char* codes, Rows& out) const {
    Rows::Row row{static_cast<std::int64_t>(out.at.size()), 0, 0, usual_farthest_};
    std::int64_t from_usual = 0;
    for (std::int64_t c = 0; c < codes_; ++c) {
        const unsigned char z = codes[c], u = usual_[c];
        if (z == u) continue;
        const Table& table = tables_[u][z];
        out.at.push_back(static_cast<std::int32_t>(c * panel));
        out.tables.insert(out.tables.end(), table.added, table.added + kinds);
        row.start += table.least;
        row.largest += farthest_[c * kinds + z] - farthest_[c * kinds + u];
        from_usual += distance_[u][z];
    }
    row.count = static_cast<std::int64_t>(out.at.size()) - row.first;
    if (metric_) {
        row.largest = std::min(row.largest, largest_base_ + from_usual);
    } else {
        const double roots = std::sqrt(static_cast<double>(largest_base_)) + std::sqrt(static_cast<double>(from_usual));
        row.largest = std::min(row.largest, static_cast<std::int64_t>(roots * roots * (1 + 1e-9)) + 1);
    }
    out.rows.push_back(row);
}

GridLookup GridCodes::lookup(const Rows::Row& row) const {
    return row.largest < 64    ? GridLookup::below_64
           : row.largest < 128 ? GridLookup::below_128
           : row.largest < 256 ? GridLookup::below_256
                               : GridLookup::short_polynomial;
}

// B32 and B34.
double GridCodes::lookup_error(GridLookup lookup) {
    return (lookup == GridLookup::short_polynomial ? 4 : 3.01) * single_unit;
}

std::int64_t GridCodes::panels_at_a_time() const {
    return std::max<std::int64_t>(1, code_bytes_at_a_time / (codes_ * panel * loops_.panels)) * loops_.panels;
}

GridCodeRow GridCodes::row(const Rows& rows, std::int64_t r) const {
    const Rows::Row& row = rows.rows[static_cast<std::size_t>(r)];
    return {row.count, rows.at.data() + row.first, rows.tables.data() + row.first * kinds, row.start};
}

GridCodePanels GridCodes::panels(std::int64_t from, std::int64_t to) const {
    return {(to - from) / panel, codes_, blocks_.at(from, 0), bases_.at(from, 0)};
}

void GridCodes::values(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                       const GridExponential& exponential, float* out) const {
    loops_.values(lookup(rows.rows[static_cast<std::size_t>(r)]), run_, row(rows, r), panels(from, to), exponential,
                  out);
}

void GridCodes::add_sums(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                         const GridExponential& exponential, const float* coef, double factor, double* sums) const {
    loops_.sums(lookup(rows.rows[static_cast<std::size_t>(r)]), run_, row(rows, r), panels(from, to), exponential, coef,
                factor, sums);
}

struct Grid::Sample {
    std::vector<double> differences;  // positive
    double largest_value = 0;
    struct Anchor {
        std::int32_t index;
        double value;
    };
    std::vector<Anchor> anchors;  // that are not zero

    // Takes some of the vectors. A column's anchor is zero if one of them has no entry or a zero there, else one of its
    // values.
    explicit Sample(const Rows& vectors) {
        const std::int64_t per_row = std::max<std::int64_t>(1, vectors.indices.size() / vectors.rows);
        const std::int64_t count = std::min(vectors.rows, std::max(sample_rows, sample_entries / per_row));
        std::vector<Anchor> entries;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t row = i * vectors.rows / count;
            for (std::int64_t e = vectors.begin(row); e < vectors.end(row); ++e)
                if (vectors.values[e] != 0) entries.push_back({vectors.indices[e], vectors.values[e]});
        }
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Anchor& a, const Anchor& b) { return a.index < b.index; });
        for (auto first = entries.begin(); first != entries.end();) {
            const auto last =
                std::find_if(first, entries.end(), [&](const Anchor& a) { return a.index != first->index; });
            const double anchor = last - first < count ? 0.0 : first->value;
            if (anchor != 0) anchors.push_back(*first);
            for (auto entry = first; entry != last; ++entry) {
                largest_value = std::max(largest_value, std::fabs(entry->value));
                if (entry->value != anchor) differences.push_back(std::fabs(entry->value - anchor));
            }
            first = last;
        }
    }
};

// Finds the largest step that divides all differences: the largest difference divided by a whole number.
bool Grid::fit(const Sample& sample) {
    std::vector<double> differences = sample.differences;
    std::sort(differences.begin(), differences.end());
    const double largest = differences.empty() ? 1.0 : differences.back();
    std::vector<double> distinct = differences;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::int32_t parts = 1; parts < most_levels; ++parts) {
        step_ = largest / parts;
        tolerance_ = std::min(step_ / 16, rounding_share * std::max(sample.largest_value, largest));
        const auto off = [&](double difference) {
            return std::fabs(difference - step_ * std::nearbyint(difference / step_));
        };
        if (!std::all_of(distinct.begin(), distinct.end(), [&](double v) { return off(v) <= tolerance_; })) continue;
        double squares = 0, products = 0, numbers = 0;
        for (double v : differences) {
            const double k = std::nearbyint(v / step_);
            squares += off(v) * off(v), products += k * v, numbers += k * k;
        }
        // If values are rounded, so is the largest: use least squares.
        if (!(std::sqrt(squares) <= 1e-14 * std::sqrt(numbers) * step_)) step_ = products / numbers;
        per_step_ = 1 / step_;
        return std::isfinite(per_step_) && std::isfinite(step_) && step_ > 0;
    }
    return false;
}

// Sets numbers and offsets. If vectors are off the grid, false; their differences are added to the sample.
bool Grid::cover(const Rows& vectors, const Features& features, Sample& sample) {
    const std::int64_t d = features.size();
    std::vector<std::int64_t> count(static_cast<std::size_t>(d), 0);
    std::vector<std::int32_t> least(static_cast<std::size_t>(d), std::numeric_limits<std::int32_t>::max());
    std::vector<std::int32_t> most(static_cast<std::size_t>(d), std::numeric_limits<std::int32_t>::min());
    for (Column& c : columns_) c = {c.anchor, 0, -1};  // for now, numbers count from the anchor
    std::int64_t outliers = 0;
    const auto outlier = [&](std::int64_t column, double value) {
        sample.differences.push_back(std::fabs(value - columns_[static_cast<std::size_t>(column)].anchor));
        sample.largest_value = std::max(sample.largest_value, std::fabs(value));
        return ++outliers >= most_outliers;
    };
    const auto meet = [&](std::int64_t column, std::int32_t number) {
        least[column] = std::min(least[column], number);
        most[column] = std::max(most[column], number);
    };
    const Quantizer quantizer = this->quantizer();
    std::int32_t number = 0;
    double off = 0, largest = 0;
    for (std::int64_t row = 0; row < vectors.rows; ++row) {
        double squares = 0;
        for (std::int64_t e = vectors.begin(row); e < vectors.end(row); ++e) {
            const std::int64_t column = features.column(vectors.indices[e]);
            ++count[column];
            if (quantizer.quantize(column, vectors.values[e], number, off)) {
                meet(column, number);
                squares += off * off;
            } else if (outlier(column, vectors.values[e])) {
                return false;
            }
        }
        largest = std::max(largest, squares);
    }
    std::vector<std::int32_t> zeros(static_cast<std::size_t>(d), -most_levels - 1);  // none
    zeros_off_ = 0;
    for (std::int64_t column = 0; column < d; ++column) {
        const bool on_grid = quantizer.quantize(column, 0.0, number, off);
        if (count[column] < vectors.rows) {  // some vector has a zero here
            if (on_grid)
                meet(column, number);
            else
                outlier(column, 0.0);
        } else if (!on_grid || off > 0x1p-40 * step_) {
            continue;  // rows without the entry are off the grid
        }
        zeros[column] = number;
        zeros_off_ += off * off;
    }
    if (outliers) return false;
    levels_ = 1;
    for (std::int64_t column = 0; column < d; ++column) levels_ = std::max(levels_, most[column] - least[column] + 1);
    const std::int32_t limit = levels_ > 2 ? most_levels : 2;
    numbers_ = 1;
    for (std::int64_t column = 0; column < d; ++column) {
        Column& c = columns_[static_cast<std::size_t>(column)];
        c.least = least[column];
        if (zeros[column] >= -most_levels) {
            // Rows may have zeros that no vector has.
            if (zeros[column] < c.least && most[column] - zeros[column] < limit) c.least = zeros[column];
            const std::int32_t zero = zeros[column] - c.least;
            if (zero >= 0 && zero < limit) c.zero = zero;
        }
        numbers_ = std::max({numbers_, most[column] - c.least + 1, c.zero + 1});
    }
    off_ = std::sqrt(largest) * (1 + 1e-9);
    return true;
}

bool Grid::possible(const Rows& vectors) { return vectors.rows > 0 && Grid().fit(Sample(vectors)); }

std::optional<Grid> Grid::of(const Rows& vectors, const Features& features) {
    if (vectors.rows == 0) return std::nullopt;
    Sample sample(vectors);
    Grid grid;
    grid.columns_.resize(static_cast<std::size_t>(features.size()));
    for (const Sample::Anchor& anchor : sample.anchors)
        grid.columns_[static_cast<std::size_t>(features.column(anchor.index))].anchor = anchor.value;
    // Failed attempts add differences that the step does not divide.
    for (int attempt = 0; attempt < most_attempts && grid.fit(sample); ++attempt) {
        if (!grid.cover(vectors, features, sample)) continue;
        if (grid.levels_ > most_levels) return std::nullopt;
        return grid;
    }
    return std::nullopt;
}

}  // namespace fastsvm
