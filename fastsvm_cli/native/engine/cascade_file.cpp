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

void between_0_and_1(Archive& archive, const std::string& key, double& number) {
    archive.real(key, number);
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
        terms = degree > 1 && d > many_features ? most + 1 : 0;
        for (int k = 0; terms <= most && k <= degree; ++k) terms += packed_size(k, d);
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
    archive.wholes("tested", counts, 2);
    if (archive.reads()) {
        tested = counts[0], differing = counts[1];
        if (tested < 1 || differing < 0 || differing > tested)
            archive.fail("tested", "tested rows and differing ones expected, as 7000 2");
    }
    archive.real("longest", longest);
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
    return std::make_shared<Cascade>(exact->svm_model(), chosen, features, center, longest, stages);
}

std::shared_ptr<Model> CascadeFile::make_model() const {
    return std::make_shared<CascadeModel>(exact->exact_model(), cascade());
}

}  // namespace fastsvm
