#include "engine/exact_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/libsvm_file.h"
#include "exact/reference/reference.h"

namespace fastsvm {

ExactModel::ExactModel(Header header, SvmModel model) : Model(std::move(header)), model_(std::move(model)) {
    proves = true;  // near a threshold, the reference sum decides
}

const Exact& ExactModel::evaluator() const {
    std::call_once(once_, [&] { evaluator_ = std::make_unique<const Exact>(model_); });
    return *evaluator_;
}

bool ExactModel::too_few(std::int64_t rows) const {
    if (rows > few_rows || left_.load(std::memory_order_relaxed) < rows) return false;
    return left_.fetch_sub(rows, std::memory_order_relaxed) >= rows;
}

void ExactModel::require_serials(const Rows& rows) const {
    if (model_.kernel.type != KernelType::precomputed) return;
    const std::int64_t row = evaluator().without_serials(rows);
    if (row >= 0)
        throw RowError(row, "a row without the serials 0 to " + std::to_string(largest_serial(*model_.vectors)) +
                                " found, expected every one of them: the kernel is precomputed");
}

void ExactModel::decision_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    if (!model_.vectors->increasing) {
        reference_sums(model_, rows, out);
        out.reference_rows = rows.rows;
        return;
    }
    require_serials(rows);
    const bool precise = header.regression() || !precision.labels_alone();
    static const std::vector<Precision::Side> none;
    evaluator().decision_values(rows, precise, precision.sides ? *precision.sides : none, precision.odds, out);
}

void ExactModel::reference_values(const Rows& rows, Decisions& out) const {
    require_serials(rows);
    reference_sums(model_, rows, out);
}

Decisions ExactModel::decisions(const Precision& precision, bool with_radius) const {
    return Decisions(pairs(), with_radius,
                     elects() && precision.labels_alone() && !with_radius && model_.vectors->increasing);
}

namespace {

constexpr double rounded_up = 1 + 1e-9;

// Sum of |coefficient| per decision function.
std::vector<double> pair_weights(const SvmModel& model) {
    std::vector<double> out(static_cast<std::size_t>(model.pairs()));
    const Rows& vectors = *model.vectors;
    std::int64_t first = 0;
    for (std::int64_t c = 0; c < model.classes(); ++c) {
        const std::int64_t last = first + model.nr_sv[static_cast<std::size_t>(c)];
        for_each_pair(model, c, [&](std::int64_t pair, std::int64_t column) {
            double sum = 0;
            for (std::int64_t row = first; row < last; ++row)
                sum += std::fabs(vectors.leading[row * vectors.leading_count + column]);
            out[static_cast<std::size_t>(pair)] += sum;
        });
        first = last;
    }
    for (double& weight : out) weight *= rounded_up;
    return out;
}

}  // namespace

ReducedModel::ReducedModel(Header header, SvmModel model, Origin origin)
    : ExactModel(std::move(header), std::move(model)), origin_(std::move(origin)) {
    certified = true;
    const SvmModel& own = svm_model();
    own_ = {own.kernel.gamma, std::vector<double>(static_cast<std::size_t>(pairs())), pair_weights(own), own.rho, 0, 0};
    own_.count = static_cast<double>(own.total_sv());
    for (std::int64_t row = 0; row < own.total_sv(); ++row)
        own_.longest_vector =
            std::max(own_.longest_vector, static_cast<double>(own.vectors->end(row) - own.vectors->begin(row)));
    // This model's rho instead of the exact model's: they differ by less than the radius.
    origin_.gamma = own_.gamma;
    origin_.rho = own_.rho;
}

void ReducedModel::decision_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    ExactModel::decision_values(rows, precision, out);
    widen_radii(rows, out);
}

void ReducedModel::reference_values(const Rows& rows, Decisions& out) const {
    ExactModel::reference_values(rows, out);
    widen_radii(rows, out);
}

void ReducedModel::widen_radii(const Rows& rows, Decisions& out) const {
    if (!out.with_radius) return;
    // Adds svm-predict's rounding on this model: the reference sum's values have radius 0, but the reduced set's radius
    // starts from exact arithmetic.
    widen(rows, own_, out);
    widen(rows, origin_, out);
}

std::shared_ptr<const Model> plain(const std::shared_ptr<const Model>& model) {
    const auto* const reduced = dynamic_cast<const ReducedModel*>(model.get());
    return reduced ? std::make_shared<const ExactModel>(reduced->header, reduced->svm_model()) : model;
}

}  // namespace fastsvm
