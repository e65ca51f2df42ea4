#include "engine/answer_options.h"

#include <cmath>
#include <numeric>

namespace fastsvm {

namespace {

// Thresholds of one decision function besides 0, with margins for later rounding: even odds, marks of a density.
std::vector<Precision::Side> thresholds(const Task& task, std::int64_t pairs) {
    std::vector<Precision::Side> out;
    if (task.classification()) {
        if (pairs == 1 && !task.prob_a.empty() && !task.prob_b.empty() && task.prob_a[0] != 0) {
            // For |t| < 1e-15, 1 / (1 + e^t) and its complement round to about 1/2. t = a f + b rounds by a few ulps of
            // b.
            const double a = task.prob_a[0], b = task.prob_b[0];
            out.emplace_back(-b / a, (1e-14 + 1e-15 * std::fabs(b)) / std::fabs(a));
        }
    } else if (task.type == SvmType::one_class) {
        for (double mark : task.density_marks) out.emplace_back(mark, 0.0);
    }
    return out;
}

// Steele, Lea and Flood's SplitMix64.
std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}

}  // namespace

std::vector<std::int64_t> Audit::sampled(const Rows& rows) const {
    constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
    const std::uint64_t start = mixed(seed_ + step);
    std::vector<std::int64_t> every(static_cast<std::size_t>(rows.rows)), out;
    std::iota(every.begin(), every.end(), std::int64_t{0});
    const std::vector<std::int64_t> lines = rows.line_numbers(every);
    for (const std::int64_t row : every) {
        const std::uint64_t hash = mixed(start + step * static_cast<std::uint64_t>(lines[row]));
        if (static_cast<double>(hash >> 11) * 0x1p-53 < share_) out.push_back(row);
    }
    return out;
}

ResolvedOptions::ResolvedOptions(AnswerOptions answer_options) : AnswerOptions(std::move(answer_options)) {
    printed = exact && probability && model->proves && model->certified ? exact->model() : model;
    if (model->labels_back) answer_within = tolerance;
    with_radius = (model->certified && (values || exact || model->ordered || open_rows)) || answer_within;
    elects = exact && printed->elects() && !probability && !values;
    stopped = model->ordered && !model->proves;
    decided_within = exact ? exact->tolerance : open_tolerance;
    if (tolerance) {
        precision.tolerance = model->before(*tolerance);
    } else if (probability) {
        precision.sides = thresholds(task(), printed->pairs());
        if (task().classification() && printed->pairs() && !task().prob_a.empty() && !task().prob_b.empty())
            precision.odds = task().odds();
    } else if (values) {
        precision.sides.emplace();
    }
}

std::string ResolvedOptions::head() const {
    if (!probability || task().regression()) return "";
    if (!task().classification()) return "label normal outlier\n";
    std::string out = "labels";
    for (int label : task().labels) out += " " + std::to_string(label);
    return out + "\n";
}

std::int64_t ResolvedOptions::columns() const {
    const std::int64_t of_probabilities = !probability || task().regression() ? 0
                                          : task().classification() ? static_cast<std::int64_t>(task().labels.size())
                                                                    : 2;
    const std::int64_t of_each_pair = 1 + model->certified * (1 + stopped);
    return 1 + of_probabilities + values * model->pairs() * of_each_pair + evaluations;
}

}  // namespace fastsvm
