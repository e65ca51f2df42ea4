// The hot loops, and the instruction sets that they are compiled for.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fastsvm {

// Names of those that this machine and build have, fastest (the default) first: "baseline", "avx2", "avx512",
// "avx512_vnni" (with sums of byte products and bit counts).
std::vector<std::string> instruction_sets();
// Selects one for all threads. Returns false if this machine or build lacks it.
bool select_instruction_set(const char* name);
// The same, but throws std::invalid_argument. where: source of the name, for the message.
void require_instruction_set(const char* name, const char* where);
// Selects the environment's FASTSVM_INSTRUCTIONS, if set; throws likewise.
void select_instruction_set_of_environment();

// The hot loops, compiled once per instruction set and chosen at run time.

constexpr int lanes = 8;          // rows, or support vectors, side by side
constexpr int panel = 4 * lanes;  // support vectors per panel

// Groups of `of` that hold n, and the places in them.
constexpr std::int64_t groups(std::int64_t n, std::int64_t of) { return (n + of - 1) / of; }
constexpr std::int64_t whole(std::int64_t n, std::int64_t of) { return groups(n, of) * of; }

// ---- packed polynomials, several rows or several polynomials side by side

// A homogeneous polynomial has a coefficient per monomial z_j1 ... z_jk, j1 <= ... <= jk, in lexicographic order.
// Degree k in d variables is, for j = 0..d-1, z_j times degree k - 1 in variables j..d-1: sub-block j.
constexpr int max_degree = 4;

// The number of monomials, C(d + k - 1, k); k up to max_degree. Those of all degrees up to k: packed_size(k, d + 1).
static inline std::int64_t packed_size(int k, std::int64_t d) {
    switch (k) {
        case 0: return 1;
        case 1: return d;
        case 2: return d * (d + 1) / 2;
        case 3: return d * (d + 1) / 2 * (d + 2) / 3;
        default: return d * (d + 1) / 2 * (d + 2) / 3 * (d + 3) / 4;
    }
}

// Offset of sub-block j.
static inline std::int64_t packed_offset(int k, std::int64_t d, std::int64_t j) {
    return packed_size(k, d) - packed_size(k, d - j);
}

// Adds the derivative of p (degree k in d variables) along m, (d), to `out`. With p = sum_j z_j q_j: D p = sum_j m_j
// q_j + z_j D q_j.
static inline void add_derivative(int k, std::int64_t d, const double* p, const double* m, double* out) {
    if (k == 1) {
        for (std::int64_t j = 0; j < d; ++j) out[0] += p[j] * m[j];
        return;
    }
    for (std::int64_t j = 0; j < d; ++j) {
        const double* const q = p + packed_offset(k, d, j);
        const std::int64_t length = packed_size(k - 1, d - j);
        double* const tail = out + packed_size(k - 1, d) - length;
        if (m[j] != 0)
            for (std::int64_t i = 0; i < length; ++i) tail[i] += m[j] * q[i];
        add_derivative(k - 1, d - j, q, m + j, out + packed_offset(k - 1, d, j));
    }
}

// Calls visit(position, orderings) per monomial; orderings: how many orders its factors have.
template <class Visit> void for_each_monomial(int k, std::int64_t d, Visit visit) {
    std::int64_t position = 0;
    const auto descend = [&](const auto& self, int left, std::int64_t from, std::int64_t last, int run,
                             double orderings) -> void {
        if (left == 0) return visit(position++, orderings);
        for (std::int64_t j = from; j < d; ++j) {
            const int length = j == last ? run + 1 : 1;
            self(self, left - 1, j, j, length, orderings * (k - left + 1) / length);
        }
    };
    descend(descend, k, 0, -1, 0, 1.0);
}

// Values of packed polynomials without constant term: the sum over k = 1..degree of levels[k - 1], the last
// in `top`; degree 1 to max_degree. A polynomial's bits for a row do not depend on others beside them, but differ
// between sparse and dense rows.
template <class Top> struct PolynomialLoops {
    // One row: count entries, columns increasing.
    double (*sparse)(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
                     const std::int32_t* columns, const double* x);
    // `lanes` rows: x is (d, lanes), out (lanes).
    void (*dense)(int degree, const double* const* levels, const Top* top, std::int64_t d, const double* x,
                  double* out);
    // `lanes` polynomials with interleaved coefficients: out (lanes).
    void (*sparse_panel)(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
                         const std::int32_t* columns, const double* x, double* out);
    // The same for the first `rows` of `lanes` rows: x is (d, lanes), out (rows, lanes).
    void (*dense_panel)(int degree, const double* const* levels, const Top* top, std::int64_t d, int rows,
                        const double* x, double* out);
};

// ---- the reference sum: each lane does LIBSVM's operations in LIBSVM's order on its own row, so its number is
// LIBSVM's to the last bit

// Values with `count` increasing indices. A group of rows has the union of its indices, and per index a value per lane,
// 0 if the row lacks it: a zero adds nothing.
struct LaneEntries {
    const std::int32_t* indices;
    const double* values;
    std::int64_t count;
};

// values[s] = exp(factor * values[s]) for s < n, a multiple of `reference_lanes`.
using ExpLoop = void (*)(std::int64_t n, double factor, double* values);

struct ReferenceLoops {
    // out[lane] = |x - y|^2, summed over the indices of either.
    void (*squared_distances)(const LaneEntries& rows, const LaneEntries& vector, double* out);
    // out[lane] = x.y, summed over the indices of both.
    void (*dots)(const LaneEntries& rows, const LaneEntries& vector, double* out);
    // sums[lane] += coef[t * stride] * values[t][lane], t = 0, 1, ..., count - 1, in order.
    void (*add_terms)(std::int64_t count, const double* coef, std::int64_t stride, const double* values, double* sums);
    // values[s] = (gamma * values[s] + coef0)^degree, by LIBSVM's powi, for s < n, a multiple of `reference_lanes`.
    void (*powers)(std::int64_t n, double gamma, double coef0, int degree, double* values);
    // glibc's exp (reference_lanes.cpp) without and with fused multiply-adds, or null.
    ExpLoop plain_exp, fused_exp;
};

// For |x| from exp_near on, glibc's exp takes other paths, perhaps fused differently: the loops call the library's exp
// there. Below exp_zero, e^x is 0.
constexpr double exp_near = 512, exp_zero = -746;

constexpr int reference_lanes = 8;
constexpr int narrow_group = 8, wide_group = 32;  // rows side by side

// ---- register tiles, a few rows by a panel of support vectors: each number is loaded once for all

constexpr int row_panel = 6;  // rows per tile; a panel is (d, panel)

// Bytes of a panel's columns that fit a first-level cache while panels pass.
constexpr int column_bytes = 20480;

struct TileLoops {
    // out[r * stride + s] = 2^-D, D = |z_r|^2 + |x_s|^2 - 2 z_r.x_s, at least 2^-126, for a panel's first `rows` and
    // `vectors` of a panel, or a few more. z: (d, row_panel), x: (d, panel); row_norms, norms: squares. With a call per
    // block of columns, `first` to `last`, `out` holds inner products in between.
    void (*single_powers)(int rows, std::int64_t vectors, std::int64_t d, bool first, bool last, const float* z,
                          const float* row_norms, const float* x, const float* norms, float* out, std::int64_t stride);
    // Adds partial sums of coef[s] times these numbers over `panels` panels to sums[r * lanes + ...] (B25). x: (panels,
    // d, panel), all columns.
    void (*single_sums)(int rows, std::int64_t panels, std::int64_t d, const float* z, const float* row_norms,
                        const float* x, const float* norms, const float* coef, double* sums);
    // out[r][s] = z_r.x_s likewise, in double precision, column by column.
    void (*double_dots)(int rows, std::int64_t d, bool first, const double* z, const double* x, double* const* out);
    // Adds partial sums of coef[s] exp(-gamma max(0, |z_r|^2 + |x_s|^2 - 2 z_r.x_s)) to sums, (rows, 2, lanes), with
    // the numbers of double_dots and rbf_from_dots. x: (panels, d, panel). The halves added, then totalled, give dot's
    // sum.
    void (*double_sums)(int rows, std::int64_t panels, std::int64_t d, double gamma, const double* z,
                        const double* row_norms, const double* x, const double* norms, const double* coef,
                        double* sums);
};

// ---- inner products in single precision whose sums are in double precision

constexpr int product_rows = 4;  // rows that share loaded coefficients

struct ProductLoops {
    // Adds partial sums of coef[s] * values[r * stride + s] over s < n, a multiple of eight, to sums[r * lanes + ...]
    // (B25).
    void (*add_products)(std::int64_t rows, std::int64_t n, const float* coef, const float* values, std::int64_t stride,
                         double* sums);
    // out[k * product_rows + r] = sum over s < n[k] of coef[coef_at[k] + s] * values[r][value_at[k] + s], likewise, for
    // one to product_rows rows; any n.
    void (*products)(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                     const std::int64_t* coef_at, const float* const* values, const std::int64_t* value_at,
                     double* out);
    // With coef[value_at[k] + s]; peaks[k * product_rows + r]: the largest of 0 and the values.
    void (*products_and_peaks)(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                               const float* const* values, const std::int64_t* value_at, double* out, float* peaks);
    // A centered row: out[place[c]] = factor (z[c] - center[c]) in single precision, for d columns. sums: of squares,
    // of squares times weights[c], of squared rounding errors.
    void (*center)(std::int64_t d, double factor, const double* z, const double* center, const double* weights,
                   const std::int32_t* place, float* out, double* sums);
};

// ---- RBF kernel values from whole numbers, for rows and vectors whose features take few values

// Rows and vectors are on one grid: |x - z|^2 is a whole number D times the squared step (B30 of PROOFS.md), and K =
// exp(-gamma step^2 D). Their numbers are in 32-bit words or in four-bit codes. A word holds 32 one-bit features, or a
// few numbers of 8 bits (16 if the machine cannot multiply and add the four bytes of a word). A code, in a byte of its
// own, holds four features of two levels or two of up to four.

// A few rows side by side, without the words that no sum needs.
struct GridRows {
    std::int64_t count;      // of words
    const std::int32_t* at;  // (count): index of each word in a vector
    const std::uint32_t* words;
    const std::int32_t* norms;  // (rows): for bits, the number set; for numbers, GridLoops::norm
};

// Vectors as words, in panels.
struct GridPanels {
    std::int64_t count;
    std::int64_t words;           // per vector
    const std::uint32_t* blocks;  // (count, words, panel)
    const std::int32_t* norms;    // (count, panel): sums of squares
};

// exp(-gamma step^2 D) for D = 0, 1, 2, ...
struct GridExponential {
    const float* table;  // values up to D = last; the last one also serves beyond
    std::int32_t last;
    double exponent;       // gamma step^2 / ln 2
    float high, low;       // whose sum is `exponent`
    std::int32_t nothing;  // computed values are 0 from this D on
    // Values at D = 0, 8, 16, ... and at D = 0, 16, 32, ...: those below D = 128 or 256 are products of one of these
    // and one of the table's first.
    float by_eight[16], by_sixteen[16];
};

// Where exp is from. below_n: the smallest table above D, for bits and codes (codes: a product of two numbers). table,
// polynomial: for words. short_polynomial: if GridExponential::nothing <= 2^24, for codes.
enum class GridLookup { below_32, below_64, below_128, below_256, table, polynomial, short_polynomial };

constexpr int codes_per_table = 16;

// A row for vectors in codes. D = base of the vector + start + a table number per unusual code of the row, modulo 2^16.
struct GridCodeRow {
    std::int64_t count;
    const std::int32_t* at;       // (count): positions of codes in a panel
    const unsigned char* tables;  // (count, codes_per_table)
    std::int32_t start;
};

// Vectors as codes, in panels with the vectors in the order of GridCodeLoops::position.
struct GridCodePanels {
    std::int64_t count;
    std::int64_t codes;           // per vector
    const unsigned char* blocks;  // (count, codes, panel)
    const unsigned char* bases;   // (count, 2, panel): low bytes, high bytes
};

// Loops for codes. One permutation of a row's table serves as many vectors as a register has bytes.
struct GridCodeLoops {
    int panels;  // best number of panels at a time
    // Where a panel has its vector s.
    int (*position)(int s);
    // out[s] = K for all vectors. below_n: D < n; short_polynomial: D < 2^16, and any `run` table numbers of the row
    // total at most 255.
    void (*values)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                   const GridExponential& exponential, float* out);
    // Adds factor times these values times coef[s] to sums[...], `lanes` partial sums (B25).
    void (*sums)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                 const GridExponential& exponential, const float* coef, double factor, double* sums);
};

// Loops for words, and for codes if the machine has them. D = |x|^2 + |z|^2 - 2 x.z, where x.z of bits is the number
// set in both: words that are 0 in all rows can be omitted.
struct GridLoops {
    int rows;              // rows side by side; the loops also take one
    int numbers;           // per word
    std::uint32_t offset;  // exclusive-ored into vectors' words, since the second factor is signed
    // |z|^2 less the share of `offset` in -2 x.z, from sums of numbers and squares.
    std::int32_t (*norm)(std::int32_t sum, std::int32_t squares);
    // out[r][s] = K for `rows` rows and all vectors. bits: whether words hold bits, not numbers.
    void (*values)(int rows, bool bits, GridLookup lookup, const GridRows& z, const GridPanels& x,
                   const GridExponential& exponential, float* const* out);
    const GridCodeLoops* codes;  // or null
};

// ---- LIBSVM text: lines, and plain index:value words

struct ByteCounts {
    std::int64_t lines, separators;
};

// Reading goes on while the output has a capacity for this many more words.
constexpr std::int64_t plain_words_at_once = 32;

// Where the words that are read go, and the state of their row.
struct PlainWords {
    std::int32_t* indices;
    double* values;
    std::int64_t capacity;  // words that fit `indices` and `values`
    std::int64_t last;      // the previous index; the next one must be larger
    double squared_norm;
    std::int64_t count;  // of words read
};

struct TextLoops {
    ByteCounts (*count)(const char* text, std::int64_t size, char separator);
    // Reads plain index:value words from p, one blank or tab after each: up to eight index digits and fifteen value
    // bytes, optional minus, decimal, no exponent. Values equal read_double's. Returns where it stopped: the row's LF,
    // a word that is not plain, or one less than 80 bytes before `end`; p if the machine has no loop.
    const char* (*read_plain)(const char* p, const char* end, PlainWords& words);
};

// ---- the table

constexpr int most_degrees = 20, most_terms = 120;

// Powers for degree_terms: degrees from..to, at most most_degrees, and `terms` more, at most most_terms. far: some |t|
// > 12. inverse_factorial[k]: 1 / k!.
struct DegreeSeries {
    int from, to, terms;
    bool far;
    double scale;
    double inverse_factorial[most_degrees + most_terms + 1];
};

struct Loops {
    const char* name;

    // Named by the precision of the highest degree's coefficients.
    const PolynomialLoops<float>* single_polynomials;
    const PolynomialLoops<double>* double_polynomials;

    // out[s] = sum_e x[e] * block[columns[e]][s] for one panel; block is (d, panel).
    void (*panel_dots)(const double* block, std::int64_t count, const std::int32_t* columns, const double* x,
                       double* out);
    // out[s] = outside + sum over d columns of (x[c] - block[c][s])^2.
    void (*panel_distances)(const double* block, std::int64_t d, const double* x, double outside, double* out);
    // out[v][s] = sum_c x[v][c * stride] rows[c][s], out (vectors, panel), for the first n rows of a panel, n a
    // multiple of `lanes`, and one, two or four vectors. Numbers do not depend on n.
    void (*tile_dots)(int vectors, std::int64_t n, std::int64_t count, const double* rows, const double* const* x,
                      std::int64_t stride, double* out);
    // panel_dots for the first n of a panel; numbers do not depend on n.
    void (*part_dots)(const double* block, std::int64_t n, std::int64_t count, const std::int32_t* columns,
                      const double* x, double* out);
    // out[r][s] = sum_i x[r][i] * block[i][s] for four rows and all columns of a block (count, panel).
    void (*panel_products)(const double* block, std::int64_t count, const double* const* x, double* const* out);
    // values[s] = exp(-gamma * max(0, norm + norms[s] - 2 values[s])); in these three, n is a multiple of lanes.
    void (*rbf_from_dots)(std::int64_t n, double gamma, double norm, const double* norms, double* values);
    // values[s] = exp(-gamma values[s]) for values >= 0
    void (*exp_of_norms)(std::int64_t n, double gamma, double* values);
    // values[s] = (gamma values[s] + coef0)^degree
    void (*polynomial_from_dots)(std::int64_t n, double gamma, double coef0, int degree, double* values);
    // For n support vectors (a multiple of lanes) and one x, with a = weight weights[s], t = scale dots[s]: adds a t^k
    // / k!, k = from..to, then the sum over k > to, to sums, (to - from + 2, lanes). For |t| > 12 that is bare bares[s]
    // exp(t - norm - norms[s]) less the terms up to `to`, with weight = bare exp(-norm), norm = gamma |x|^2; weights
    // likewise.
    void (*degree_terms)(std::int64_t n, const DegreeSeries& series, double weight, double bare, double norm,
                         const double* dots, const double* weights, const double* bares, const double* norms,
                         double* sums);
    double (*dot)(std::int64_t n, const double* a, const double* b);
    // out[p] += x * w[p]
    void (*add_scaled)(std::int64_t n, double x, const double* w, double* out);
    // For narrow_group and wide_group rows side by side.
    const ReferenceLoops* narrow_reference;
    const ReferenceLoops* wide_reference;
    const GridLoops* grid;
    // count[r] += 1 if (sums[r] - rho)^2 >= width rest[r], for n rows, a multiple of lanes.
    void (*count_certain)(std::int64_t n, double rho, double width, const double* rest, const double* sums,
                          double* count);
    // For n rows (a multiple of lanes) at low[r] to high[r] from a point, and vectors at nearest to farthest: near[r] =
    // max(0, nearest - high[r], low[r] - farthest), far[r] = farthest + high[r]; both squared if `squared`.
    void (*row_distances)(std::int64_t n, double nearest, double farthest, bool squared, const double* low,
                          const double* high, double* near, double* far);
    // count[r] += 1 if sums[r] - rho keeps its side of zero, whatever positive terms are added and negative ones
    // subtracted between smallest[r] and largest[r] times their weights; n rows, a multiple of lanes.
    void (*count_decided)(std::int64_t n, double rho, double positive, double negative, const double* largest,
                          const double* smallest, const double* sums, double* count);
    // Number of the n sums with (sums[p] - rho[p])^2 >= widths[p] rest.
    std::int64_t (*certain_sums)(std::int64_t n, const double* rho, const double* widths, double rest,
                                 const double* sums);
    const TileLoops* tiles;
    const ProductLoops* products;
    const TextLoops* text;
};

// The loops of the chosen instruction set.
const Loops& loops();

// exp of this process's C library, with the bits of svm-predict's sums. std::exp may be another one: zig's linker takes
// its own.
double libm_exp(double x);

// Returns a loop with the bits of libm_exp for the chosen instruction set, or null. It is found once per instruction
// set, by arguments that distinguish the variants of glibc's algorithm.
ExpLoop library_exp();

}  // namespace fastsvm
