#include "models/cascade.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "engine/header.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr int candidates_tried = 3;  // for the winner, before a row of many classes is left open

constexpr std::int64_t cascade_rows = 512;

// A worker's own calls start no threads.
class OneThread {
public:
    OneThread() : before_(set_threads_here(1)) {}
    ~OneThread() { set_threads_here(before_); }
    OneThread(const OneThread&) = delete;

private:
    const int before_;
};

}  // namespace

struct Cascade::Block {
    std::vector<std::int64_t> live;    // row numbers
    std::vector<std::int32_t> winner;  // (live)
    std::vector<double> margin;        // (live)
    Aligned<float> terms;              // (live, stride)
    bool has_linear = false;
    std::int64_t known = 0;  // kernel values among the terms
    Decisions base{1};       // (live, pairs): polynomials of degree 2 and 3
    double base_of(std::int64_t row, std::int64_t pair) const {
        return base.value[static_cast<std::size_t>(row * base.pairs + pair)];
    }
    // Rows to elect, by candidate; scratch.
    std::vector<std::int64_t> waiting, candidate, order, ends;
    std::vector<std::int64_t> lengths, starts, zeros;
    std::vector<double> sums;
};

Cascade::~Cascade() = default;

Cascade::Cascade(const LibsvmFile& exact, const std::vector<std::int64_t>& chosen, std::vector<std::int32_t> features,
                 std::vector<double> center, double longest, std::vector<CascadeStage> stages)
    : classes_(std::max<std::int64_t>(exact.header.nr_class, 2)),
      pairs_(exact.header.pairs()),
      features_(std::move(features)),
      center_(std::move(center)),
      longest_(longest),
      stages_(std::move(stages)) {
    if (static_cast<std::int64_t>(center_.size()) != features_.size())
        throw std::invalid_argument("a center has one number per feature");
    std::int64_t most = 0;
    if (pairs_ > 1) linear_ = whole(1 + features_.size(), lanes);
    stride_ = linear_;
    for (const CascadeStage& stage : stages_) {
        if (stage.vectors < most || stage.vectors > static_cast<std::int64_t>(chosen.size()))
            throw std::invalid_argument("a stage has the vectors of the one before it, and more");
        most = stage.vectors;
        prepare(stage);
    }
    if (!most) return;
    SvmModel vectors = exact.svm_model();
    vectors.vectors = std::make_shared<const Rows>(select_rows(*exact.vectors, chosen));
    if (!SingleTiles::holds(vectors)) throw std::invalid_argument("kernel values of another kernel than RBF");
    const std::vector<std::int64_t> order = in_order(static_cast<std::int64_t>(chosen.size()));
    stride_ += static_cast<std::int64_t>(order.size());
    tiles_ = std::make_unique<const SingleTiles>(vectors, order);
}

void Cascade::prepare(const CascadeStage& stage) {
    const std::int64_t d = features_.size();
    const std::int64_t each = packed_size(stage.degree, d + 1);
    if (stage.degree < 0 || stage.degree > 3 || static_cast<std::int64_t>(stage.polynomial.size()) != pairs_ * each ||
        static_cast<std::int64_t>(stage.coefficients.size()) != pairs_ * stage.vectors)
        throw std::invalid_argument("wrong number of coefficients");
    Prepared out;
    if (stage.degree >= 2) {
        auto polynomial = std::make_unique<Maclaurin>(features_.indices(), false, 0.0, stage.degree,
                                                      std::vector<double>(static_cast<std::size_t>(pairs_), 0.0));
        polynomial->add_center(center_.data(), 0.0);
        for (std::int64_t p = 0; p < pairs_; ++p)
            polynomial->add_expansion(p, 0, stage.polynomial.data() + p * each, 0, true, nullptr);
        out.polynomial = std::move(polynomial);
    }
    const std::int64_t weights = stage.degree == 1 ? d : 0;
    out.length = linear_ + stage.vectors;
    out.coefficients.resize(static_cast<std::size_t>(pairs_ * out.length));
    for (std::int64_t p = 0; p < pairs_; ++p) {
        const double* const from = stage.polynomial.data() + p * each;
        float* const to = out.coefficients.data() + p * out.length;
        double constant = stage.degree < 2 ? from[0] : 0;
        for (std::int64_t j = 0; j < weights; ++j) constant -= from[1 + j] * center_[j];
        if (linear_) {
            to[0] = static_cast<float>(constant);
            for (std::int64_t j = 0; j < weights; ++j) to[1 + j] = static_cast<float>(from[1 + j]);
        } else {
            out.constant = constant;
            out.linear.assign(from + 1, from + 1 + weights);
        }
        for (std::int64_t s = 0; s < stage.vectors; ++s)
            to[linear_ + s] = static_cast<float>(stage.coefficients[p * stage.vectors + s]);
    }
    if (pairs_ > 1) {
        out.scores.assign(static_cast<std::size_t>(classes_ * out.length), 0.0F);
        for (std::int64_t c = 0; c < classes_; ++c)
            for (std::int64_t other = 0; other < classes_; ++other) {
                if (other == c) continue;
                const float* const from = out.coefficients.data() + pair_of(classes_, c, other) * out.length;
                float* const to = out.scores.data() + c * out.length;
                for (std::int64_t i = 0; i < out.length; ++i) to[i] += c < other ? from[i] : -from[i];
            }
    }
    prepared_.push_back(std::move(out));
}

// Features, unless there is one pair, and the first kernel values, of all live rows.
void Cascade::take_terms(const Rows& rows, std::int64_t vectors, Block& block) const {
    const std::int64_t n = static_cast<std::int64_t>(block.live.size());
    block.terms.resize(static_cast<std::size_t>(n * stride_));
    if (linear_ && !block.has_linear)
        for (std::int64_t r = 0; r < n; ++r) {
            float* const out = block.terms.data() + r * stride_;
            std::fill_n(out, linear_, 0.0F);
            out[0] = 1;
            for (std::int64_t e = rows.begin(block.live[r]); e < rows.end(block.live[r]); ++e)
                if (const std::int32_t column = features_.column(rows.indices[e]); column >= 0)
                    out[1 + column] = static_cast<float>(rows.values[e]);
        }
    block.has_linear = true;
    if (vectors <= block.known) return;
    const auto taken = tiles_->leased_block();
    const std::int64_t from = block.known / panel * panel, to = whole(vectors, panel);
    for (std::int64_t r = 0; r < n; r += rows_at_once) {
        tiles_->take(rows, block.live.data() + r, std::min(rows_at_once, n - r), *taken);
        tiles_->values(*taken, from, to, block.terms.data() + r * stride_ + linear_ + from, stride_);
    }
    block.known = vectors;
}

void Cascade::value_of_pair(const Rows& rows, const Prepared& stage, Block& block) const {
    const std::int64_t n = static_cast<std::int64_t>(block.live.size()), zero = 0;
    for (std::int64_t r = 0; r < n; ++r) {
        double value = stage.constant;
        if (stage.polynomial) value += block.base_of(r, 0);
        if (!stage.linear.empty())
            for (std::int64_t e = rows.begin(block.live[r]); e < rows.end(block.live[r]); ++e)
                if (const std::int32_t column = features_.column(rows.indices[e]); column >= 0)
                    value += rows.values[e] * stage.linear[column];
        if (stage.length) {
            const float* const terms = block.terms.data() + r * stride_;
            double sums[product_rows];
            loops().products->products(1, 1, &stage.length, stage.coefficients.data(), &zero, &terms, &zero, sums);
            value += sums[0];
        }
        block.winner[r] = value > 0 ? 0 : 1;
        block.margin[r] = std::fabs(value) < infinite ? std::fabs(value) : -infinite;
    }
}

// The class with the largest sum of its pairs' values, of every row.
void Cascade::first_candidates(const Prepared& stage, Block& block) const {
    const std::int64_t n = static_cast<std::int64_t>(block.live.size());
    std::iota(block.starts.begin(), block.starts.end(), std::int64_t{0});
    for (std::int64_t& start : block.starts) start *= stage.length;
    for (std::int64_t first = 0; first < n; first += product_rows) {
        const int together = static_cast<int>(std::min<std::int64_t>(product_rows, n - first));
        const float* terms[product_rows];
        for (int k = 0; k < together; ++k) terms[k] = block.terms.data() + (first + k) * stride_;
        loops().products->products(together, classes_, block.lengths.data(), stage.scores.data(), block.starts.data(),
                                   terms, block.zeros.data(), block.sums.data());
        for (int k = 0; k < together; ++k) {
            double most = -infinite;
            std::int64_t& candidate = block.candidate[first + k];
            candidate = 0;
            for (std::int64_t c = 0; c < classes_; ++c) {
                double score = block.sums[c * product_rows + k];
                for (std::int64_t other = 0; stage.polynomial && other < classes_; ++other) {
                    if (other == c) continue;
                    const double value = block.base_of(first + k, pair_of(classes_, c, other));
                    score += c < other ? value : -value;
                }
                if (score > most) most = score, candidate = c;
            }
        }
    }
}

// Looks for the class that wins all of its pairs.
void Cascade::elect(const Prepared& stage, Block& block) const {
    const std::int64_t n = static_cast<std::int64_t>(block.live.size()), others = classes_ - 1;
    block.candidate.resize(static_cast<std::size_t>(n));
    block.waiting.resize(static_cast<std::size_t>(n));
    std::iota(block.waiting.begin(), block.waiting.end(), std::int64_t{0});
    block.lengths.assign(static_cast<std::size_t>(classes_), stage.length);
    block.zeros.assign(static_cast<std::size_t>(classes_), 0);
    block.starts.resize(static_cast<std::size_t>(classes_));
    block.sums.resize(static_cast<std::size_t>(classes_ * product_rows));
    first_candidates(stage, block);
    for (std::int64_t r = 0; r < n; ++r) {
        block.winner[r] = static_cast<std::int32_t>(block.candidate[r]);
        block.margin[r] = -infinite;
    }
    for (int attempt = 0; attempt < candidates_tried && !block.waiting.empty(); ++attempt) {
        // Rows of one candidate share its coefficients.
        block.ends.assign(static_cast<std::size_t>(classes_), 0);
        for (const std::int64_t row : block.waiting) ++block.ends[block.candidate[row]];
        std::partial_sum(block.ends.begin(), block.ends.end(), block.ends.begin());
        block.order.resize(block.waiting.size());
        for (std::size_t at = block.waiting.size(); at-- > 0;)
            block.order[--block.ends[block.candidate[block.waiting[at]]]] = block.waiting[at];
        block.waiting.clear();
        for (std::size_t at = 0; at < block.order.size();) {
            const std::int64_t candidate = block.candidate[block.order[at]];
            const float* terms[product_rows];
            int together = 0;
            while (together < product_rows && at + together < block.order.size() &&
                   block.candidate[block.order[at + together]] == candidate) {
                terms[together] = block.terms.data() + block.order[at + together] * stride_;
                ++together;
            }
            for (std::int64_t i = 0; i < others; ++i)
                block.starts[i] = pair_of(classes_, candidate, i + (i >= candidate)) * stage.length;
            loops().products->products(together, others, block.lengths.data(), stage.coefficients.data(),
                                       block.starts.data(), terms, block.zeros.data(), block.sums.data());
            for (int k = 0; k < together; ++k) {
                const std::int64_t row = block.order[at + k];
                double least = infinite;
                std::int64_t strongest = candidate;
                for (std::int64_t i = 0; i < others; ++i) {
                    const std::int64_t other = i + (i >= candidate);
                    double value = block.sums[i * product_rows + k];
                    if (stage.polynomial) value += block.base_of(row, pair_of(classes_, candidate, other));
                    const double own = candidate < other ? value : -value;
                    if (!(own >= least)) least = own, strongest = other;  // NaN is least
                }
                if (least > 0 && least < infinite) {
                    block.winner[row] = static_cast<std::int32_t>(candidate);
                    block.margin[row] = least;
                } else if (least <= 0) {
                    block.candidate[row] = strongest;
                    block.waiting.push_back(row);
                }
            }
            at += static_cast<std::size_t>(together);
        }
    }
}

void Cascade::evaluate(const Rows& rows, std::size_t stage, Block& block) const {
    const Prepared& its = prepared_[stage];
    block.winner.resize(block.live.size());
    block.margin.resize(block.live.size());
    if (stride_) take_terms(rows, stages_[stage].vectors, block);
    if (its.polynomial) {
        block.base.pairs = pairs_;
        its.polynomial->decision_values(select_rows(rows, block.live), block.base);
    }
    pairs_ == 1 ? value_of_pair(rows, its, block) : elect(its, block);
}

// On all threads: work(block, first, last) for blocks of rows, with no terms yet.
void Cascade::in_blocks(const Rows& rows, const Callable<Block&, std::int64_t, std::int64_t>& work) const {
    parallel_workers(rows.rows, cascade_rows, [&](Parts& parts) {
        const auto block = blocks_.lease();
        const OneThread alone;
        for (std::int64_t first, last; parts.next(first, last);) {
            block->known = 0;
            block->has_linear = false;
            work(*block, first, last);
        }
    });
}

void Cascade::label(const Rows& rows, std::int32_t* winner, std::int64_t* stopped) const {
    std::vector<std::atomic<std::int64_t>> counts(stages_.size());
    in_blocks(rows, [&](Block& block, std::int64_t first, std::int64_t last) {
        std::fill(winner + first, winner + last, -1);
        block.live.clear();
        for (std::int64_t row = first; row < last; ++row)
            if (rows.squared_norms[row] <= longest_) block.live.push_back(row);
        for (std::size_t stage = 0; stage < stages_.size() && !block.live.empty(); ++stage) {
            evaluate(rows, stage, block);
            std::size_t left = 0;
            for (std::size_t r = 0; r < block.live.size(); ++r) {
                if (block.margin[r] > stages_[stage].threshold) {
                    winner[block.live[r]] = block.winner[r];
                    continue;
                }
                if (stride_ && left < r)
                    std::copy_n(block.terms.data() + static_cast<std::int64_t>(r) * stride_, linear_ + block.known,
                                block.terms.data() + static_cast<std::int64_t>(left) * stride_);
                block.live[left++] = block.live[r];
            }
            counts[stage] += static_cast<std::int64_t>(block.live.size() - left);
            block.live.resize(left);
        }
    });
    std::copy(counts.begin(), counts.end(), stopped);
}

void Cascade::margins(const Rows& rows, std::size_t stage, std::int32_t* winner, double* margin) const {
    if (stage >= stages_.size()) throw std::out_of_range("an unknown stage");
    in_blocks(rows, [&](Block& block, std::int64_t first, std::int64_t last) {
        block.live.resize(static_cast<std::size_t>(last - first));
        std::iota(block.live.begin(), block.live.end(), first);
        evaluate(rows, stage, block);
        for (std::int64_t r = 0; r < last - first; ++r) {
            winner[first + r] = block.winner[r];
            margin[first + r] = rows.squared_norms[first + r] <= longest_ ? block.margin[r] : -infinite;
        }
    });
}

namespace {

// Labels of the stages, and of the exact model for the rows that they leave. Everything else is the exact model's.
class CascadeModel : public Model {
public:
    CascadeModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Cascade> cascade)
        : Model(exact->header), exact_(std::move(exact)), cascade_(std::move(cascade)) {}

    Decisions decisions(const Precision& precision, bool with_radius) const override {
        return exact_->decisions(precision, with_radius);
    }
    void decision_values(const Rows& rows, const Precision& precision, Decisions& out) const override {
        if (!out.labels_alone) return exact_->decision_values(rows, precision, out);
        out.resize(rows.rows);
        std::vector<std::int64_t> stopped(cascade_->stages().size()), left;
        cascade_->label(rows, out.winner.data(), stopped.data());
        for (std::int64_t row = 0; row < rows.rows; ++row)
            if (out.winner[static_cast<std::size_t>(row)] < 0) left.push_back(row);
        if (!left.empty()) label_left(rows, left, out);
    }

private:
    // With one pair, these rows are near its border, where a proof of the label takes several times longer than the
    // label: the sign of the first level's value decides, and the calibration counts it. With several, the first rows
    // are evaluated in double precision: a layout of the vectors, and a trial of lower precision, take longer than few
    // rows.
    void label_left(const Rows& rows, const std::vector<std::int64_t>& left, Decisions& out) const {
        const Rows part = select_rows(rows, left);
        Decisions found(pairs(), false, true);
        found.likely = pairs() == 1;
        if (!found.likely && seen_.fetch_add(part.rows, std::memory_order_relaxed) + part.rows <= first_rows)
            exact_->evaluator().labels_of_few(part, found);
        else
            exact_->decision_values(part, Precision(), found);
        for (std::size_t i = 0; i < left.size(); ++i) out.winner[static_cast<std::size_t>(left[i])] = found.winner[i];
        out.level_rows = found.level_rows;
        out.reference_rows = found.reference_rows;
    }

    static constexpr std::int64_t first_rows = 512;

    const std::shared_ptr<const ExactModel> exact_;
    const std::shared_ptr<const Cascade> cascade_;
    mutable std::atomic<std::int64_t> seen_{0};
};

void between_0_and_1(Archive& archive, const std::string& key, double& number) {
    archive.field(key, number);
    if (archive.reads() && !(number > 0 && number < 1))
        archive.fail(key, key + " " + archive.key(key, "")->words[0].substr(0, 40) +
                              " found, expected a number between 0 and 1");
}

// least: number of vectors.
void visit(Archive& archive, CascadeStage& stage, std::int64_t pairs, std::int64_t d, std::int64_t least) {
    const std::size_t start = archive.at();
    std::int64_t degree = stage.degree, terms = 0;
    archive.record("stage", {&degree, &stage.vectors});
    if (archive.reads()) {
        const Body& body = archive.body();
        const std::int64_t chosen = archive.count("nr_chosen");
        if (degree > 3) body.fail("degree " + std::to_string(degree) + " found, expected 0 to 3", start);
        if (stage.vectors < least || stage.vectors > chosen)
            body.fail(std::to_string(stage.vectors) + " vectors found, expected " + std::to_string(least) + " to " +
                          std::to_string(chosen),
                      start);
        // No more numbers than the file has bytes; the sizes of more features would overflow.
        constexpr std::int64_t many_features = 100000;
        const std::int64_t most = static_cast<std::int64_t>(body.text.size()) / pairs;
        terms = degree > 1 && d > many_features ? most + 1 : packed_size(static_cast<int>(degree), d + 1);
        if (terms > most || stage.vectors > most) body.fail("a stage of more numbers found than the file has", start);
        stage.degree = static_cast<int>(degree);
    } else {
        terms = static_cast<std::int64_t>(stage.polynomial.size()) / std::max<std::int64_t>(pairs, 1);
    }
    archive.number(stage.threshold);
    archive.numbers(stage.polynomial, pairs, terms, true);
    archive.numbers(stage.coefficients, pairs, stage.vectors, true);
}

}  // namespace

void CascadeFile::keys(Archive& archive) {
    WithExactFile::keys(archive);
    archive.features(features);
    between_0_and_1(archive, "budget", budget);
    between_0_and_1(archive, "confidence", confidence);
    std::vector<std::int64_t> counts;
    if (!archive.reads()) counts = {tested, differing};
    archive.field("tested", counts, 2);
    if (archive.reads()) {
        tested = counts[0], differing = counts[1];
        if (tested < 1 || differing < 0 || differing > tested)
            archive.fail("tested", "tested rows and differing ones expected, as 7000 2");
    }
    archive.field("longest", longest);
    archive.size("nr_chosen", chosen.size());
    archive.size("nr_stages", stages.size(), 1);
}

void CascadeFile::body(Archive& archive) {
    WithExactFile::body(archive);
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    if (archive.reads()) {
        if (header.regression() || !header.pairs() || exact->serials())
            archive.body().fail("a cascade of a model without classes, or of a precomputed kernel, found", 0);
        if (archive.count("nr_chosen") && exact->kernel.type != KernelType::rbf)
            archive.fail("nr_chosen", "vectors of a " + name_of(exact->kernel) + " kernel found, expected rbf");
        if (archive.count("nr_chosen") && !SingleTiles::holds(exact->svm_model()))
            archive.fail("nr_chosen", "vectors found, expected none with this gamma");
    }
    archive.record("chosen");
    archive.whole_numbers(chosen, archive.count("nr_chosen"), header.total_sv);
    archive.record("center");
    archive.numbers(center, 1, d);
    std::int64_t least = 0;
    archive.each("nr_stages", stages, [&](CascadeStage& stage) {
        visit(archive, stage, header.pairs(), d, least);
        least = stage.vectors;
    });
    archive.end("the stages that nr_stages announces");
}

std::size_t CascadeFile::bytes() const {
    std::size_t numbers = center.size();
    for (const CascadeStage& stage : stages) numbers += stage.polynomial.size() + stage.coefficients.size();
    return exact->bytes() + numbers * sizeof(double);
}

std::shared_ptr<Cascade> CascadeFile::cascade() const {
    return std::make_shared<Cascade>(*exact, chosen, features, center, longest, stages);
}

std::shared_ptr<Model> CascadeFile::make_model() const {
    return std::make_shared<CascadeModel>(exact->exact_model(), cascade());
}

}  // namespace fastsvm
