#include "engine/cascade_file.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "engine/model_error.h"
#include "simd/packed.h"

namespace fastsvm {

namespace {

// Labels of the exact model for the rows that the stages leave. With one pair, these are near its border, where a proof
// of the label takes several times longer than the label: the sign of the first level's value decides, and the
// calibration counts it. With several, the first rows are evaluated in double precision: a layout of the vectors, and a
// trial of lower precision, take longer than few rows.
class LeftRows {
public:
    explicit LeftRows(std::shared_ptr<const ExactModel> exact) : exact_(std::move(exact)) {}

    // left: not empty. Sets their winners in `out`, and counts.
    void label(const Rows& rows, const std::vector<std::int64_t>& left, Decisions& out) const {
        const Rows part = select_rows(rows, left);
        Decisions found(exact_->pairs(), false, true);
        found.likely = exact_->pairs() == 1;
        if (!found.likely && seen_.fetch_add(part.rows, std::memory_order_relaxed) + part.rows <= first_rows)
            exact_->evaluator().labels_of_few(part, found);
        else
            exact_->decision_values(part, Precision(), found);
        for (std::size_t i = 0; i < left.size(); ++i) out.winner[static_cast<std::size_t>(left[i])] = found.winner[i];
        out.level_rows = found.level_rows;
        out.reference_rows = found.reference_rows;
    }

private:
    static constexpr std::int64_t first_rows = 512;

    const std::shared_ptr<const ExactModel> exact_;
    mutable std::atomic<std::int64_t> seen_{0};
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
