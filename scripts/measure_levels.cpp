// Measures the costs by which the exact evaluation chooses its levels: prints a row of
// fastsvm_cli/native/exact/escalation.cpp for every instruction set of the machine.
//
//     cmake -S fastsvm_cli/native -B build/levels && cmake --build build/levels --target fastsvm_static
//     g++ -std=c++17 -O2 -Ifastsvm_cli/native scripts/measure_levels.cpp build/levels/libfastsvm.a -pthread -ldl
//     ./a.out [SECONDS]
//
// Nanoseconds of a kernel value on each level, a constant and a cost per product (for the proof of coupled
// probabilities: per class), from two random models each. One thread, in memory, processor time, the least of the runs
// in SECONDS (10) per level.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/libsvm_file.h"
#include "exact/labels/grid_tiles.h"
#include "exact/labels/kernel_tiles.h"
#include "exact/values/panels.h"
#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/parse.h"

using namespace fastsvm;

namespace {

constexpr std::int64_t vectors = 4096, rows = 480;
double seconds = 10;

using Matrix = std::vector<double>;

// Values from 0 to 1, or whole numbers up to `levels`; this share of them is not 0.
Matrix made_up(std::int64_t n, std::int64_t d, double share, int levels = 0) {
    std::mt19937_64 random(static_cast<std::uint64_t>(n * 1000 + d));
    std::uniform_real_distribution<double> uniform;
    Matrix out(static_cast<std::size_t>(n * d));
    for (double& x : out) {
        x = levels ? static_cast<double>(1 + random() % static_cast<std::uint64_t>(levels)) : uniform(random);
        if (uniform(random) >= share) x = 0;
    }
    return out;
}

MatrixView view(const Matrix& of, std::int64_t n, std::int64_t d) {
    MatrixView out;
    out.data = reinterpret_cast<const char*>(of.data());
    out.rows = n, out.columns = d;
    out.row_stride = 8 * d, out.column_stride = 8;
    return out;
}

Rows rows_of(const Matrix& leading, const Matrix& of, std::int64_t n, std::int64_t d) {
    Rows out;
    rows_from_dense(view(leading, n, static_cast<std::int64_t>(leading.size()) / n), view(of, n, d), nullptr, 1, out);
    return out;
}

// An RBF model of random coefficients, and rows.
struct Case {
    Case(std::int64_t classes, std::int64_t d, double gamma, double share, int levels = 0)
        : chunk(rows_of(Matrix(rows, 0.0), made_up(rows, d, share, levels), rows, d)) {
        Header header;
        header.svm_type = "c_svc", header.kernel_type = "rbf", header.gamma = gamma;
        header.nr_class = classes, header.total_sv = vectors;
        header.rho.resize(static_cast<std::size_t>(classes * (classes - 1) / 2));
        header.label.emplace(), header.nr_sv.emplace();
        for (std::int64_t c = 0; c < classes; ++c) {
            header.label->push_back(static_cast<int>(c));
            header.nr_sv->push_back(static_cast<int>((c + 1) * vectors / classes - c * vectors / classes));
        }
        const Matrix coefficients = made_up(vectors, classes - 1, 1);
        const Rows held = rows_of(coefficients, made_up(vectors, d, share, levels), vectors, d);
        std::vector<std::int64_t> all = in_order(vectors);
        all.resize(vectors);
        file = std::make_unique<LibsvmFile>(header, std::make_shared<const Rows>(select_rows(held, all)),
                                            kernel_of(header));
    }
    Rows chunk;
    std::unique_ptr<LibsvmFile> file;
};

// `evaluations` kernel values of `products` each.
struct Point {
    std::function<void()> run;
    double products, evaluations = vectors * rows;

    double nanoseconds() const {
        run();
        double best = std::numeric_limits<double>::infinity();
        for (double total = 0; total < seconds / 2;) {
            const std::clock_t start = std::clock();
            run();
            const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            best = std::min(best, taken);
            total += std::max(taken, 1e-6);
        }
        return 1e9 * best / evaluations;
    }
};

void print(const char* level, const Point& few, const Point& many) {
    const double less = few.nanoseconds(), more = many.nanoseconds();
    const double product = std::max((more - less) / (many.products - few.products), 0.0);
    std::printf("  %s {%.2g, %.2g}", level, std::max(less - product * few.products, 0.0), product);
    std::fflush(stdout);
}

template <class Tiles> Point sums(std::shared_ptr<Case> of, std::shared_ptr<Tiles> tiles, double products) {
    return {[of, tiles] {
                const auto block = tiles->block();
                tiles->take(of->chunk, in_order(rows).data(), rows, *block);
                const std::vector<float> ones(vectors, 1.0F);
                std::vector<double> found(static_cast<std::size_t>(rows * lanes));
                Aligned<float> scratch;
                tiles->add_sums(*block, rows, 0, vectors, ones.data(), scratch, found.data());
            },
            products};
}

Point single(std::int64_t d) {
    const auto of = std::make_shared<Case>(2, d, 1.0 / static_cast<double>(d), 1);
    return sums(of, std::make_shared<SingleTiles>(of->file->svm_model(), in_order(vectors)), static_cast<double>(d));
}

// Also tells the features per word: the grid's cost is `codes`, `bits`, `bytes` or `halves`.
Point grid(std::int64_t d, int levels, double share, std::int64_t* features_per_word) {
    const auto of = std::make_shared<Case>(2, d, 1.0 / static_cast<double>(d * levels * levels), share, levels);
    const std::shared_ptr<GridTiles> tiles = GridTiles::of(of->file->svm_model(), in_order(vectors));
    *features_per_word = tiles->features_per_word();
    return sums(of, tiles, tiles->products());
}

// With `reference`, the reference sum.
Point values(std::int64_t classes, std::int64_t d, double share, double products, bool reference = false) {
    const auto of = std::make_shared<Case>(classes, d, 1 / (static_cast<double>(d) * share), share);
    const auto out = std::make_shared<Decisions>(of->file->header.pairs());
    return {[of, out, reference] {
                const auto model = of->file->exact_model();
                if (reference)
                    model->reference_values(of->chunk, *out);
                else
                    model->evaluator().fast_values(of->chunk, *out);
            },
            products};
}

// Rows of few entries, of a model whose vectors have them all.
Point entries(std::int64_t d, double count) {
    Point out = values(2, d, 1, count);
    const auto of = std::make_shared<Case>(2, d, 1 / static_cast<double>(d), 1);
    of->chunk = rows_of(Matrix(rows, 0.0), made_up(rows, d, count / static_cast<double>(d)), rows, d);
    const auto decisions = std::make_shared<Decisions>(1);
    out.run = [of, decisions] { of->file->exact_model()->evaluator().fast_values(of->chunk, *decisions); };
    return out;
}

// The proof that probabilities are svm-predict's.
Point proof(int classes) {
    const std::size_t pairs = static_cast<std::size_t>(classes * (classes - 1) / 2);
    const auto task = std::make_shared<Task>();
    for (int c = 0; c < classes; ++c) task->labels.push_back(c);
    task->prob_a.assign(pairs, -2.0), task->prob_b.assign(pairs, 0.0);
    const auto of = std::make_shared<Decisions>(static_cast<std::int64_t>(pairs), true);
    of->resize(rows);
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (double& each : of->value) each = normal(random);
    std::fill(of->radius.begin(), of->radius.end(), 1e-12);
    return {[task, of] { undecided_rows(*task, *of, true, 0); }, static_cast<double>(classes),
            static_cast<double>(classes) * rows};
}

}  // namespace

int main(int count, char** words) {
    if (count > 1) seconds = std::atof(words[1]);
    set_threads(1);
    for (const std::string& name : instruction_sets()) {
        select_instruction_set(name.c_str());
        std::printf("%s:", name.c_str());
        print("single", single(16), single(128));
        for (const int levels : {1, 200}) {
            std::int64_t few_in_word = 0, in_word = 0;
            const double share = levels == 1 ? 0.2 : 0.8;
            const Point few = grid(16, levels, share, &few_in_word), many = grid(128, levels, share, &in_word);
            print(in_word == 16 ? "codes" : in_word == 32 ? "bits" : in_word == 4 ? "bytes" : "halves", few, many);
        }
        print("tiles", values(2, 16, 1, 16), values(2, 128, 1, 128));
        print("entries", entries(128, 4), entries(128, 48));
        print("lists", values(2, 1000, 0.01, 0.1), values(2, 1000, 0.06, 3.6));
        print("several", values(6, 16, 1, 16), values(6, 128, 1, 128));
        print("reference", values(6, 16, 1, 16, true), values(6, 128, 1, 128, true));
        print("proof", proof(6), proof(26));
        std::printf("\n");
    }
}
