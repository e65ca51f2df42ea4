#include "exact/labels/grid_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "exact/escalation.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"

namespace fastsvm {

namespace {

constexpr double tiny = 0x1p-126;
// No sum exceeds 32 bits (B30).
constexpr std::int64_t most_numbers = 4096, most_bits = GridCodes::most_distance;
// Bytes for words of zeros, beyond the vectors' entries.
constexpr std::int64_t free_bytes = 64 << 20, bytes_per_entry = 24;
// A larger table is slower than a polynomial.
constexpr std::int64_t most_tabulated = 1 << 14;
// Panels in the fastest cache while rows pass.
constexpr std::int64_t bytes_at_a_time = 24 << 10;
// Beyond exp(-88.03), K is 0 (B31).
constexpr double farthest = 88.03;
// Further off the grid, K has three digits, fewer than in single precision.
constexpr double most_off = 1e-3;

// B31: bound of K's relative change, for eta <= 1; larger eta are refused.
double moved(double gamma, double off) {
    const double eta = off * (2 * std::sqrt(gamma * farthest) + gamma * off);
    return eta + eta * eta;
}

// For a value that already has this relative error (B31).
void widen(double& error, double lookup_error) { error = (error + lookup_error * (1 + error)) * (1 + 1e-9); }

template <int per_word> void write_number(std::uint32_t* words, std::int64_t column, std::int32_t number) {
    if constexpr (per_word == 32) {
        const std::uint32_t at = static_cast<std::uint32_t>(column % 32);
        words[column / 32] = (words[column / 32] & ~(1u << at)) | static_cast<std::uint32_t>(number) << at;
    } else if constexpr (per_word == 16 || per_word == 8) {
        constexpr int features = per_word / 4, bits = 4 / features;
        unsigned char& code = reinterpret_cast<unsigned char*>(words)[column / features];
        const int shift = static_cast<int>(column % features) * bits;
        code = static_cast<unsigned char>((code & ~(((1 << bits) - 1) << shift)) | number << shift);
    } else if constexpr (per_word == 4) {
        reinterpret_cast<unsigned char*>(words)[column] = static_cast<unsigned char>(number);
    } else {
        const std::uint16_t half = static_cast<std::uint16_t>(number);
        std::memcpy(reinterpret_cast<char*>(words) + 2 * column, &half, sizeof half);
    }
}

}  // namespace

struct GridTiles::Taken : KernelTiles::Block {
    struct Tile {
        int rows;                       // an incomplete tile repeats its last row
        std::int64_t count, at, words;  // of words; where `at` and `words` begin
        std::int64_t row_numbers[16];   // row numbers
        std::int32_t norms[16];
        GridLookup lookup;
    };
    std::vector<double> error, factor;  // (n)
    GridCodes::Rows codes;
    std::vector<Tile> tiles;
    std::vector<std::int32_t> at;
    std::vector<std::uint32_t> words;
    // Scratch of `take`: rows on the grid; any: the words of a tile.
    std::vector<std::uint32_t> numbers, any;
    std::vector<std::int64_t> row_numbers;
    std::vector<std::int32_t> sum, squares;
};

std::unique_ptr<GridTiles> GridTiles::of(const SvmModel& model, const std::vector<std::int64_t>& order) {
    const Kernel& kernel = model.kernel;
    const Rows& vectors = *model.vectors;
    if (kernel.type != KernelType::rbf || !(kernel.gamma > 1e-100 && kernel.gamma < 1e100)) return nullptr;
    if (!Grid::possible(vectors)) return nullptr;
    Features features(used_indices(vectors));
    const std::int64_t d = features.size();
    if (d > most_bits) return nullptr;
    std::optional<Grid> grid = Grid::of(vectors, features);
    if (!grid || (grid->levels() > 2 && d > most_numbers)) return nullptr;
    const double exponent = kernel.gamma * grid->step() * grid->step();
    const double off = grid->off() + std::sqrt(grid->zeros_off());
    if (!(exponent > 1e-20 && exponent < 1e20) || !(moved(kernel.gamma, 2 * off) < most_off)) return nullptr;
    const std::int64_t per_word = place_in_words(*grid);
    const std::int64_t bytes = static_cast<std::int64_t>(order.size()) * ((d + per_word - 1) / per_word) * 4;
    if (bytes > std::max(free_bytes, bytes_per_entry * vectors.indices.size())) return nullptr;
    return std::unique_ptr<GridTiles>(new GridTiles(model, order, std::move(features), *std::move(grid)));
}

GridTiles::GridTiles(const SvmModel& model, const std::vector<std::int64_t>& order, Features features, Grid grid)
    : gamma_(model.kernel.gamma),
      loops_(*loops().grid),
      features_(std::move(features)),
      grid_(std::move(grid)),
      binary_(grid_.levels() <= 2),
      per_word_(place_in_words(grid_)),
      row_levels_(binary_          ? 2
                  : per_word_ == 8 ? 4
                                   : Grid::most_levels) {
    off_ = (grid_.off() + std::sqrt(grid_.zeros_off())) * (1 + 1e-9);
    lay_out(*model.vectors, order);
    tabulate();
}

double GridTiles::products() const { return codes_ ? codes_->unusual() : needed_ * per_word_; }

double GridTiles::cost() const {
    const LevelCosts& costs = level_costs();
    const LevelCost& cost = codes_ ? costs.codes : binary_ ? costs.bits : per_word_ == 4 ? costs.bytes : costs.halves;
    return cost.of(products());
}

// Codes if supported.
int GridTiles::place_in_words(const Grid& grid) {
    const GridLoops& loops = *fastsvm::loops().grid;
    const bool binary = grid.levels() <= 2;
    if (loops.codes && (binary || grid.numbers() <= 4)) return binary ? 16 : 8;
    return binary ? 32 : loops.numbers;
}

template <int per_word> bool GridTiles::write_numbers(const Rows& rows, std::int64_t row, Numbers& out) const {
    std::copy(zero_.begin(), zero_.end(), out.words);
    // Local copies, which stores to words cannot alias.
    Numbers now{out.words, zero_sum_, zero_squares_, 0, 0, 0};
    const Grid::Quantizer quantizer = grid_.quantizer();
    const std::int32_t* const indices = rows.indices.data();
    const double* const values = rows.values.data();
    const std::uint32_t levels = static_cast<std::uint32_t>(row_levels_);
    std::int64_t present = 0;
    for (std::int64_t e = rows.begin(row), end = rows.end(row); e < end; ++e) {
        const std::int64_t column = features_.column(indices[e]);
        const double value = values[e];
        if (column < 0) {
            now.outside += value * value;
            ++now.outsiders;
            continue;
        }
        std::int32_t number = 0;
        double off = 0;
        if (!quantizer.quantize(column, value, number, off) || static_cast<std::uint32_t>(number) >= levels)
            return false;
        now.off += off * off;
        std::int32_t zero = quantizer.zero(column);
        if (zero < 0) ++present, zero = 0;
        now.sum += number - zero;
        now.squares += number * number - zero * zero;
        write_number<per_word>(now.words, column, number);
    }
    out = now;
    return present == required_;
}

bool GridTiles::write(const Rows& rows, std::int64_t row, Numbers& out) const {
    switch (per_word_) {
        case 32: return write_numbers<32>(rows, row, out);
        case 16: return write_numbers<16>(rows, row, out);
        case 8: return write_numbers<8>(rows, row, out);
        case 4: return write_numbers<4>(rows, row, out);
        default: return write_numbers<2>(rows, row, out);
    }
}

void GridTiles::lay_out(const Rows& vectors, const std::vector<std::int64_t>& order) {
    const std::int64_t d = features_.size();
    const Grid::Quantizer quantizer = grid_.quantizer();
    words_ = std::max<std::int64_t>(1, (d + per_word_ - 1) / per_word_);
    zero_.assign(static_cast<std::size_t>(words_), 0);
    std::vector<std::uint32_t> words = zero_;
    for (std::int64_t c = 0; c < d; ++c) {
        std::int32_t zero = quantizer.zero(c);
        if (zero < 0) ++required_, zero = 0;
        zero_sum_ += zero, zero_squares_ += zero * zero;
        switch (per_word_) {
            case 32: write_number<32>(words.data(), c, zero); break;
            case 16: write_number<16>(words.data(), c, zero); break;
            case 8: write_number<8>(words.data(), c, zero); break;
            case 4: write_number<4>(words.data(), c, zero); break;
            default: write_number<2>(words.data(), c, zero);
        }
    }
    zero_ = words;
    padded_ = whole(static_cast<std::int64_t>(order.size()), panel);
    pack(vectors, order);
}

void GridTiles::pack(const Rows& vectors, const std::vector<std::int64_t>& order) {
    const std::int64_t n = static_cast<std::int64_t>(order.size());
    std::vector<std::uint32_t> words(static_cast<std::size_t>(words_));
    Numbers numbers{words.data(), 0, 0, 0, 0, 0};
    if (in_codes()) {
        const int per_code = per_word_ / 4;
        codes_.emplace(*loops_.codes, 4 / per_code,
                       std::max<std::int64_t>(1, (features_.size() + per_code - 1) / per_code), padded_);
        for (std::int64_t s = 0; s < n; ++s) {
            if (order[s] < 0) continue;
            write(vectors, order[s], numbers);
            codes_->put(s, reinterpret_cast<const unsigned char*>(words.data()));
        }
        codes_->finish(order);
        return;
    }
    norms_.assign(static_cast<std::size_t>(padded_), 0);
    blocks_.assign(padded_, words_, binary_ ? 0 : loops_.offset);
    std::vector<std::uint32_t> any(static_cast<std::size_t>(words_), 0);
    std::int64_t filled = 0, needed = 0, tiles = 0;
    for (std::int64_t s = 0; s < n; ++s) {
        if (order[s] < 0) continue;
        write(vectors, order[s], numbers);
        for (std::int64_t w = 0; w < words_; ++w) any[w] |= words[w];
        if (++filled % loops_.rows == 0 || filled == vectors.rows) {
            needed += words_ - std::count(any.begin(), any.end(), 0u);
            ++tiles;
            std::fill(any.begin(), any.end(), 0u);
        }
        norms_[s] = numbers.squares;
        largest_squares_ = std::max(largest_squares_, numbers.squares);
        std::uint32_t* const to = blocks_.at(s, 0);
        for (std::int64_t w = 0; w < words_; ++w) to[w * panel] ^= words[w];
    }
    if (tiles) needed_ = static_cast<double>(needed) / static_cast<double>(tiles);
}

void GridTiles::tabulate() {
    const double scale = gamma_ * grid_.step() * grid_.step();
    // Bits: every distance; codes: products of two factors; at least a register table.
    const std::int64_t size =
        in_codes() ? 256 : std::max<std::int64_t>(128, binary_ ? 32 * words_ + 1 : most_tabulated);
    table_.reserve(static_cast<std::size_t>(size));
    while (static_cast<std::int64_t>(table_.size()) < size && !complete_) {
        const double k = std::exp(-(scale * static_cast<double>(table_.size())));
        complete_ = k < tiny;
        table_.push_back(complete_ ? 0.0f : static_cast<float>(k));
    }
    if (table_.size() < 128) table_.resize(128, 0.0f);
    exponential_.table = table_.data();
    exponential_.last = static_cast<std::int32_t>(table_.size()) - 1;
    exponential_.exponent = scale * 1.4426950408889634;
    exponential_.high = static_cast<float>(exponential_.exponent);
    exponential_.low = static_cast<float>(exponential_.exponent - static_cast<double>(exponential_.high));
    const double nothing = 126 / exponential_.exponent * (1 + 1e-9);
    exponential_.nothing = nothing < 2147483646.0 ? static_cast<std::int32_t>(nothing) + 1 : 2147483647;
    if (!in_codes()) return;
    table_.resize(static_cast<std::size_t>(size), 0.0f);
    exponential_.table = table_.data();
    for (int i = 0; i < 16; ++i) exponential_.by_eight[i] = table_[8 * i], exponential_.by_sixteen[i] = table_[16 * i];
}

std::unique_ptr<KernelTiles::Block> GridTiles::block() const { return std::make_unique<Taken>(); }

void GridTiles::take(const Rows& rows, const std::int64_t* which, std::int64_t n, KernelTiles::Block& block) const {
    Taken& b = static_cast<Taken&>(block);
    b.error.assign(static_cast<std::size_t>(n), infinite);
    b.factor.assign(static_cast<std::size_t>(n), 1.0);
    b.numbers.resize(static_cast<std::size_t>(n * words_));
    b.row_numbers.clear(), b.sum.clear(), b.squares.clear();
    for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t taken = static_cast<std::int64_t>(b.row_numbers.size());
        Numbers row{b.numbers.data() + taken * words_, 0, 0, 0, 0, 0};
        if (!write(rows, which[r], row)) continue;
        const double off = off_ + std::sqrt(row.off + grid_.zeros_off()) * (1 + 1e-9);
        double error = moved(gamma_, off);
        if (row.outsiders) {
            const double k = std::exp(-(gamma_ * row.outside));
            b.factor[r] = k < tiny ? 0.0 : static_cast<double>(static_cast<float>(k));
            error += 2.01 * single_unit + 90.0 * static_cast<double>(row.outsiders + 10) * unit;  // B33
        }
        if (!(error < 0.5)) continue;
        b.error[r] = error;
        b.row_numbers.push_back(r), b.sum.push_back(row.sum), b.squares.push_back(row.squares);
    }
    if (in_codes())
        take_codes(b);
    else
        take_words(b);
}

void GridTiles::take_codes(Taken& b) const {
    b.codes.clear();
    for (std::size_t i = 0; i < b.row_numbers.size(); ++i) {
        codes_->take(reinterpret_cast<const unsigned char*>(b.numbers.data() + static_cast<std::int64_t>(i) * words_),
                     b.codes);
        widen(b.error[b.row_numbers[i]], GridCodes::lookup_error(codes_->lookup(b.codes.rows.back())));
    }
}

void GridTiles::take_words(Taken& b) const {
    b.tiles.clear(), b.at.clear(), b.words.clear();
    const std::int64_t on_grid = static_cast<std::int64_t>(b.row_numbers.size());
    for (std::int64_t first = 0; first < on_grid;) {
        // Incomplete tiles repeat their last row; a single row runs alone.
        const std::int64_t left = std::min<std::int64_t>(loops_.rows, on_grid - first);
        Taken::Tile tile{};
        tile.rows = left == 1 ? 1 : loops_.rows;
        double farthest_row = 0;
        const std::uint32_t* row[16];
        for (int i = 0; i < tile.rows; ++i) {
            const std::int64_t from = first + std::min<std::int64_t>(i, left - 1);
            tile.row_numbers[i] = b.row_numbers[from];
            tile.norms[i] = binary_ ? b.squares[from] : loops_.norm(b.sum[from], b.squares[from]);
            row[i] = b.numbers.data() + from * words_;
            farthest_row = std::max(farthest_row, static_cast<double>(b.squares[from]));
        }
        tile.at = static_cast<std::int64_t>(b.at.size()), tile.words = static_cast<std::int64_t>(b.words.size());
        b.any.assign(static_cast<std::size_t>(words_), 0);
        for (int i = 0; i < tile.rows; ++i)
            for (std::int64_t w = 0; w < words_; ++w) b.any[w] |= row[i][w];
        for (std::int64_t w = 0; w < words_; ++w)
            if (b.any[w]) b.at.push_back(static_cast<std::int32_t>(w));
        tile.count = static_cast<std::int64_t>(b.at.size()) - tile.at;
        b.words.resize(static_cast<std::size_t>(tile.words + tile.count * tile.rows));
        std::uint32_t* to = b.words.data() + tile.words;
        for (std::int64_t w = 0; w < tile.count; ++w)
            for (int i = 0; i < tile.rows; ++i) *to++ = row[i][b.at[tile.at + w]];

        // The largest D. Bits: all that are set; numbers: (|x| + |z|)^2.
        const double roots = std::sqrt(static_cast<double>(largest_squares_)) + std::sqrt(farthest_row);
        const double largest =
            binary_ ? static_cast<double>(largest_squares_) + farthest_row : roots * roots * (1 + 1e-9);
        tile.lookup = binary_ && largest < 32                               ? GridLookup::below_32
                      : binary_ && largest < 64                             ? GridLookup::below_64
                      : binary_ && largest < 128                            ? GridLookup::below_128
                      : binary_ || complete_ || largest < exponential_.last ? GridLookup::table
                                                                            : GridLookup::polynomial;
        const bool computed = tile.lookup == GridLookup::polynomial;
        for (std::int64_t i = 0; i < left; ++i)
            widen(b.error[b.row_numbers[first + i]], computed ? 4 * single_unit : 1.001 * single_unit);  // B34, B32
        b.tiles.push_back(tile);
        first += left;
    }
}

double GridTiles::relative_error(const KernelTiles::Block& block, std::int64_t r) const {
    return static_cast<const Taken&>(block).error[static_cast<std::size_t>(r)];
}

std::int64_t GridTiles::vectors_at_a_time() const {
    if (codes_) return codes_->panels_at_a_time() * panel;
    return std::max<std::int64_t>(1, bytes_at_a_time / (words_ * panel * 4)) * panel;
}

void GridTiles::add_sums(const KernelTiles::Block& block, std::int64_t n, std::int64_t from, std::int64_t to,
                         const float* coef, Aligned<float>& scratch, double* sums) const {
    const Taken& b = static_cast<const Taken&>(block);
    if (!codes_) return KernelTiles::add_sums(block, n, from, to, coef, scratch, sums);
    const std::int64_t together = vectors_at_a_time();
    for (std::int64_t s = from; s < to; s += together) {
        const std::int64_t end = std::min(to, s + together);
        for (std::size_t i = 0; i < b.row_numbers.size(); ++i)
            codes_->add_sums(b.codes, static_cast<std::int64_t>(i), s, end, exponential_, coef + (s - from),
                             b.factor[b.row_numbers[i]], sums + b.row_numbers[i] * lanes);
    }
}

void GridTiles::values(const KernelTiles::Block& block, std::int64_t from, std::int64_t to, float* out,
                       std::int64_t stride) const {
    const Taken& b = static_cast<const Taken&>(block);
    const std::int64_t together = vectors_at_a_time();
    for (std::int64_t s = from; s < to; s += together) {
        const std::int64_t end = std::min(to, s + together);
        for (std::size_t i = 0; codes_ && i < b.row_numbers.size(); ++i)
            codes_->values(b.codes, static_cast<std::int64_t>(i), s, end, exponential_,
                           out + b.row_numbers[i] * stride + (s - from));
        for (std::size_t t = 0; !codes_ && t < b.tiles.size(); ++t) {
            const Taken::Tile& tile = b.tiles[t];
            float* rows[16];
            for (int i = 0; i < tile.rows; ++i) rows[i] = out + tile.row_numbers[i] * stride + (s - from);
            const GridRows z{tile.count, b.at.data() + tile.at, b.words.data() + tile.words, tile.norms};
            const GridPanels x{(end - s) / panel, words_, blocks_.at(s, 0), norms_.data() + s};
            loops_.values(tile.rows, binary_, tile.lookup, z, x, exponential_, rows);
        }
    }
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(b.error.size()); ++r) {
        float* const row = out + r * stride;
        if (b.error[r] == infinite) {
            std::fill_n(row, to - from, 0.0f);
        } else if (b.factor[r] != 1) {
            const float factor = static_cast<float>(b.factor[r]);
            // Values below 2^-126 become 0: denormal products are slow.
            const float least = factor > 0 ? static_cast<float>(tiny / b.factor[r]) : 2.0f;
            for (std::int64_t s = 0; s < to - from; ++s) row[s] = row[s] < least ? 0.0f : row[s] * factor;
        }
    }
}

}  // namespace fastsvm
