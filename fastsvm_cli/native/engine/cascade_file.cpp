#include "engine/cascade_file.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

#include "engine/model_error.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "exact/votes.h"
#include "simd/loops.h"
#include "simd/packed.h"

namespace fastsvm {

namespace {

// Labels of the exact model for the rows that the stages leave. The first ones are evaluated in double precision, by
// the entries of sparse vectors, and by the reference sum: a layout of the vectors, and a trial of lower precision,
// take longer than few rows.
class LeftRows {
public:
    explicit LeftRows(std::shared_ptr<const ExactModel> exact) : exact_(std::move(exact)) {}

    // left: not empty. Sets their winners in `out`, and counts.
    void label(const Rows& rows, const std::vector<std::int64_t>& left, Decisions& out) const {
        const Rows part = select_rows(rows, left);
        Decisions found(exact_->pairs(), false, true);
        const bool first = seen_.fetch_add(part.rows, std::memory_order_relaxed) + part.rows <= first_rows;
        const SvmModel& model = exact_->svm_model();
        if (first && model.kernel.type == KernelType::rbf && model.pairs() == 1 && sparse(*model.vectors))
            label_first(part, found);
        else if (first)
            exact_->evaluator().labels_of_few(part, found);
        else
            exact_->decision_values(part, Precision(), found);
        for (std::size_t i = 0; i < left.size(); ++i) out.winner[static_cast<std::size_t>(left[i])] = found.winner[i];
        out.level_rows = found.level_rows;
        out.reference_rows = found.reference_rows;
    }

private:
    static constexpr std::int64_t first_rows = 512;

    static bool sparse(const Rows& vectors) {
        return 4 * vectors.indices.size() < vectors.rows * static_cast<std::int64_t>(used_indices(vectors).size());
    }

    void label_first(const Rows& rows, Decisions& out) const {
        std::call_once(once_, [&] { rounding_ = std::make_unique<const Rounding>(exact_->svm_model(), false, false); });
        out.resize(rows.rows);
        std::vector<std::int64_t> undecided;
        std::vector<double> sums;
        for (std::int64_t first = 0; first < rows.rows; first += panel) {
            const std::int64_t n = std::min<std::int64_t>(panel, rows.rows - first);
            values(rows, first, n, sums);
            elect(rows, first, n, sums, out, undecided);
        }
        out.level_rows[double_level] = rows.rows - static_cast<std::int64_t>(undecided.size());
        if (undecided.empty()) return;
        Decisions reference(out.pairs);
        exact_->reference_values(select_rows(rows, undecided), reference);
        Votes votes(classes());
        for (std::size_t i = 0; i < undecided.size(); ++i) {
            const double* value = reference.value.data() + static_cast<std::int64_t>(i) * out.pairs;
            votes.begin();
            for (int c = 0; c < classes(); ++c)
                for (int other = c + 1; other < classes(); ++other) votes.cast(c, other, *value++ > 0);
            out.winner[static_cast<std::size_t>(undecided[i])] = votes.elect();
        }
        out.reference_rows = out.level_rows[reference_level] = static_cast<std::int64_t>(undecided.size());
    }

    // Decision values of a panel of rows: (pairs, panel).
    void values(const Rows& rows, std::int64_t first, std::int64_t n, std::vector<double>& sums) const {
        const SvmModel& model = exact_->svm_model();
        const Rows& vectors = *model.vectors;
        std::vector<std::int64_t> order(panel, -1);
        std::iota(order.begin(), order.begin() + n, first);
        const Panels panels(model.kernel, rows, order);
        PreparedRow vector;
        double kernel[panel];
        std::vector<double> scratch;
        sums.assign(static_cast<std::size_t>(model.pairs()) * panel, 0.0);
        std::int64_t at = 0;
        for (std::int64_t c = 0; c < model.classes(); ++c)
            for (const std::int64_t last = at + model.nr_sv[static_cast<std::size_t>(c)]; at < last; ++at) {
                panels.take(vectors, at, vector);
                panels.kernel_values(vector, 0, panel, kernel, scratch);
                for_each_pair(model, c, [&](std::int64_t pair, std::int64_t column) {
                    loops().add_scaled(panel, vectors.leading[at * vectors.leading_count + column], kernel,
                                       sums.data() + pair * panel);
                });
            }
        for (std::int64_t pair = 0; pair < model.pairs(); ++pair)
            for (std::int64_t r = 0; r < n; ++r)
                sums[static_cast<std::size_t>(pair * panel + r)] -= model.rho[static_cast<std::size_t>(pair)];
    }

    void elect(const Rows& rows, std::int64_t first, std::int64_t n, const std::vector<double>& sums, Decisions& out,
               std::vector<std::int64_t>& undecided) const {
        Votes votes(classes());
        for (std::int64_t r = 0; r < n; ++r) {
            const Rounding::Row rounding = rounding_->row(rows, first + r, false);
            votes.begin();
            std::int64_t pair = 0;
            for (int c = 0; c < classes(); ++c)
                for (int other = c + 1; other < classes(); ++other, ++pair) {
                    const double value = sums[static_cast<std::size_t>(pair * panel + r)];
                    if (std::fabs(value) > rounding_->radius(pair, rounding, value))  // false for NaN
                        votes.cast(c, other, value > 0);
                    else
                        votes.leave_undecided(c, other);
                }
            const int winner = votes.elect();
            out.winner[static_cast<std::size_t>(first + r)] = winner;
            if (winner < 0) undecided.push_back(first + r);
        }
    }

    int classes() const { return static_cast<int>(std::max<std::int64_t>(exact_->svm_model().classes(), 2)); }

    const std::shared_ptr<const ExactModel> exact_;
    mutable std::atomic<std::int64_t> seen_{0};
    mutable std::once_flag once_;
    mutable std::unique_ptr<const Rounding> rounding_;
};

// Labels of the stages, and of the exact model for the rows that they leave. Everything else is the exact model's.
class CascadeModel : public Model {
public:
    CascadeModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Cascade> cascade)
        : Model(exact->header), exact_(std::move(exact)), left_rows_(exact_), cascade_(std::move(cascade)) {}

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
        if (!left.empty()) left_rows_.label(rows, left, out);
    }

private:
    const std::shared_ptr<const ExactModel> exact_;
    const LeftRows left_rows_;
    const std::shared_ptr<const Cascade> cascade_;
};

double between_0_and_1(const OwnKeys& own, const std::string& key) {
    const double number = own.real(key);
    if (!(number > 0 && number < 1))
        own.fail(key, key + " " + own.word(key).substr(0, 40) + " found, expected a number between 0 and 1");
    return number;
}

// expected: the least number of vectors.
CascadeStage read_stage(Body& body, std::int64_t pairs, std::int64_t d, std::int64_t least, std::int64_t chosen) {
    const std::size_t start = body.at;
    const std::vector<std::int64_t> numbers = body.record("stage", 2);
    const std::int64_t degree = numbers[0], vectors = numbers[1];
    if (degree > 3) body.fail("degree " + std::to_string(degree) + " found, expected 0 to 3", start);
    if (vectors < least || vectors > chosen)
        body.fail(std::to_string(vectors) + " vectors found, expected " + std::to_string(least) + " to " +
                      std::to_string(chosen),
                  start);
    // No more numbers than the file has bytes; the sizes of more features would overflow.
    constexpr std::int64_t many_features = 100000;
    const std::int64_t most = static_cast<std::int64_t>(body.text.size()) / pairs;
    std::int64_t terms = degree > 1 && d > many_features ? most + 1 : 0;
    for (int k = 0; terms <= most && k <= degree; ++k) terms += packed_size(k, d);
    if (terms > most || vectors > most) body.fail("a stage of more numbers found than the file has", start);
    CascadeStage out;
    out.degree = static_cast<int>(degree);
    out.vectors = vectors;
    out.threshold = body.numbers(1)[0];
    out.polynomial = body.numbers(pairs * terms, true);
    out.coefficients = body.numbers(pairs * vectors, true);
    return out;
}

}  // namespace

CascadeFile::CascadeFile(std::shared_ptr<const LibsvmFile> exact, std::string fingerprint, const Guarantee& guarantee,
                         CascadeStages parts)
    : WithExactFile(std::move(exact), std::move(fingerprint)), guarantee(guarantee), parts(std::move(parts)) {}

std::unique_ptr<CompiledFile> CascadeFile::read(std::string_view text) {
    WithExactText read =
        WithExactText::read(text, {"features", "budget", "confidence", "tested", "longest", "nr_chosen", "nr_stages"});
    const OwnKeys& own = read.file.own;
    Body& body = read.file.body;
    const Header& header = read.file.header;
    if (header.regression() || !header.pairs() || read.exact->serials())
        body.fail("a cascade of a model without classes, or of a precomputed kernel, found", 0);
    const std::vector<int> tested = own.wholes("tested", 2);
    if (tested[0] < 1 || tested[1] < 0 || tested[1] > tested[0])
        own.fail("tested", "tested rows and differing ones expected, as 7000 2");
    const Guarantee guarantee{between_0_and_1(own, "budget"), between_0_and_1(own, "confidence"), tested[0], tested[1]};
    CascadeStages parts;
    parts.features = read_ranges(own.words("features"), text.size());
    parts.longest = own.real("longest");
    const std::int64_t d = static_cast<std::int64_t>(parts.features.size()), chosen = own.whole("nr_chosen", 0);
    if (chosen && read.exact->kernel.type != KernelType::rbf)
        own.fail("nr_chosen", "vectors of a " + name_of(read.exact->kernel) + " kernel found, expected rbf");
    if (chosen && !SingleTiles::holds(read.exact->svm_model()))
        own.fail("nr_chosen", "vectors found, expected none with this gamma");
    body.record("chosen");
    parts.chosen = body.whole_numbers(chosen, header.total_sv);
    body.record("center");
    parts.center = body.numbers(d);
    std::int64_t least = 0;
    for (int i = 0, stages = own.whole("nr_stages", 1); i < stages; ++i) {
        parts.stages.push_back(read_stage(body, header.pairs(), d, least, chosen));
        least = parts.stages.back().vectors;
    }
    body.end("the stages that nr_stages announces");
    return std::make_unique<CascadeFile>(std::move(read.exact), own.word("fingerprint"), guarantee, std::move(parts));
}

std::size_t CascadeFile::bytes() const {
    std::size_t numbers = parts.center.size();
    for (const CascadeStage& stage : parts.stages) numbers += stage.polynomial.size() + stage.coefficients.size();
    return exact->bytes() + numbers * sizeof(double);
}

std::shared_ptr<Cascade> CascadeFile::cascade() const {
    return std::make_shared<Cascade>(exact->svm_model(), parts.chosen, parts.features, parts.center, parts.longest,
                                     parts.stages);
}

void CascadeFile::write(std::string& out) const {
    const std::string lines =
        features_line(parts.features) + "budget " + in_header(guarantee.budget) + "\nconfidence " +
        in_header(guarantee.confidence) + "\ntested " + std::to_string(guarantee.tested) + ' ' +
        std::to_string(guarantee.differing) + "\nlongest " + in_header(parts.longest) + "\nnr_chosen " +
        std::to_string(parts.chosen.size()) + "\nnr_stages " + std::to_string(parts.stages.size()) + '\n';
    write_vectors(out, lines);
    out += "chosen\n";
    add_whole_numbers(out, parts.chosen);
    out += "center\n";
    if (!parts.center.empty()) add_numbers(out, parts.center.data(), static_cast<std::int64_t>(parts.center.size()));
    const std::int64_t pairs = header.pairs();
    for (const CascadeStage& stage : parts.stages) {
        out += "stage " + std::to_string(stage.degree) + ' ' + std::to_string(stage.vectors) + '\n';
        add_numbers(out, &stage.threshold, 1);
        for (const std::vector<double>* numbers : {&stage.polynomial, &stage.coefficients}) {
            const std::int64_t each = static_cast<std::int64_t>(numbers->size()) / pairs;
            for (std::int64_t p = 0; each && p < pairs; ++p) add_numbers(out, numbers->data() + p * each, each, true);
        }
    }
}

std::shared_ptr<Model> CascadeFile::make_model() const {
    return std::make_shared<CascadeModel>(exact->exact_model(), cascade());
}

}  // namespace fastsvm
