#include "exact/labels/grid_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "exact/reference/units.h"

namespace fastsvm {

namespace {
// Rows' tables share this cache.
constexpr std::int64_t code_bytes_at_a_time = 16 << 10;
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

}  // namespace fastsvm
