#include "engine/answers.h"

#include <cmath>
#include <numeric>

namespace fastsvm {

namespace {

// Thresholds of one decision function besides 0, with margins for later rounding: even odds, marks of a density.
std::vector<Precision::Side> thresholds(const Task& task, std::int64_t pairs) {
    std::vector<Precision::Side> out;
    const bool sigmoid = task.classification() && pairs == 1 && !task.prob_a.empty() && !task.prob_b.empty();
    if (sigmoid && task.prob_a[0] != 0) {
        // For |t| < 1e-15, 1 / (1 + e^t) and its complement round to about 1/2. t = a f + b rounds by a few ulps of b.
        const double a = task.prob_a[0], b = task.prob_b[0];
        out.emplace_back(-b / a, (1e-14 + 1e-15 * std::fabs(b)) / std::fabs(a));
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

void count_levels(const Decisions& decisions, Answer& answer) {
    for (std::size_t level : {grid_level, single_level, double_level})
        answer.level_rows[level] += decisions.level_rows[level];
    answer.reference_rows += decisions.reference_rows;
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

Worker::Worker(const ResolvedOptions& resolved)
    : resolved(resolved),
      decisions_(resolved.model->decisions(resolved.precision, resolved.with_radius)),
      again_(resolved.model->pairs(), resolved.with_radius && !resolved.elects, resolved.elects) {}

bool Worker::fits_in_memory(const Rows& rows) const {
    return decisions_.labels_alone || rows.rows * pairs() <= most_values;
}

Answer Worker::answer(std::shared_ptr<const Rows> rows) {
    Answer out;
    predictions(std::move(rows), out);
    out.lines = format(resolved.task(), out.predictions, resolved.values ? &decisions_ : nullptr, resolved.stopped,
                       resolved.evaluations ? decisions_.evaluations.data() : nullptr);
    return out;
}

void Answer::clear() {
    rows.reset();
    bad.clear();
    error.reset();
    lines.clear();
    open_rows.clear();
    outside_rows.clear();
    static_cast<RowCounts&>(*this) = RowCounts();
}

void Worker::predictions(std::shared_ptr<const Rows> rows, Answer& out) {
    out.clear();
    try {
        evaluate(*rows);
    } catch (const RowError& error) {
        if (resolved.around) {
            rows = evaluable(rows, out.bad);
        } else {  // earlier rows are answered
            out.error = {rows->line_numbers({error.row})[0], error.what()};
            rows = std::make_shared<const Rows>(slice_rows(*rows, 0, error.row));
            evaluate(*rows);
        }
    }
    out.rows = rows;
    out.outside = decisions_.outside;
    count_levels(decisions_, out);
    if (resolved.stopped)
        out.undecided = static_cast<std::int64_t>(
            undecided_rows(resolved.task(), decisions_, false, resolved.open_tolerance).size());
    if (resolved.outside_rows && decisions_.outside) out.outside_rows = decisions_.outside_rows();
    if (resolved.exact || resolved.open_rows)
        out.open_rows = undecided_rows(resolved.task(), decisions_, resolved.probability, resolved.decided_within);
    if (resolved.open_rows && !resolved.stopped) out.undecided += static_cast<std::int64_t>(out.open_rows.size());
    std::optional<Predictions> elected;
    if (resolved.exact && !out.open_rows.empty()) elected = ask_exact(out);
    predict(resolved.task(), decisions_, resolved.probability, out.predictions);
    if (elected) out.predictions.put(out.open_rows, *elected);
    if (resolved.model->ordered) out.kernel_evaluations = decisions_.kernel_evaluations();
    if (resolved.audit) audit(out);
}

void Worker::evaluate(const Rows& rows) {
    // The last digits of values differ between the two ways; labels and probabilities print alike.
    const bool alike = !resolved.task().regression() && !resolved.values;
    const bool few = resolved.may_be_few && alike && resolved.model->too_few(rows.rows);
    if (few != few_)
        decisions_ = few ? Decisions(pairs(), resolved.with_radius)
                         : resolved.model->decisions(resolved.precision, resolved.with_radius);
    few_ = few;
    if (few) {
        resolved.model->reference_values(rows, decisions_);
        decisions_.reference_rows = rows.rows;
    } else {
        resolved.model->decision_values(rows, resolved.precision, decisions_);
    }
    resolved.model->answer(decisions_);
    if (!resolved.answer_within) return;
    const std::vector<std::int64_t> far = undecided_rows(resolved.task(), decisions_, false, *resolved.answer_within);
    if (far.empty()) return;
    Decisions again(pairs());
    resolved.model->reference_values(select_rows(rows, far), again);
    again.reference_rows = static_cast<std::int64_t>(far.size());
    resolved.model->answer(again);
    decisions_.put(far, again);
}

// Windows double while no row fails: each row is tried only a few times. Finally evaluates the returned rows together.
std::shared_ptr<const Rows> Worker::evaluable(const std::shared_ptr<const Rows>& rows, std::vector<RowProblem>& bad) {
    std::vector<std::int64_t> good;
    for (std::int64_t at = 0, window = 1; at < rows->rows;) {
        std::vector<std::int64_t> some(static_cast<std::size_t>(std::min(window, rows->rows - at)));
        std::iota(some.begin(), some.end(), at);
        try {
            evaluate(select_rows(*rows, some));
            good.insert(good.end(), some.begin(), some.end());
            at += static_cast<std::int64_t>(some.size());
            window *= 2;
        } catch (const RowError& error) {
            good.insert(good.end(), some.begin(), some.begin() + error.row);
            bad.emplace_back(at + error.row, error.what());
            at += error.row + 1;
            window = 1;
        }
    }
    auto out = std::make_shared<const Rows>(select_rows(*rows, good));
    evaluate(*out);
    return out;
}

// Compares the sampled rows' labels with the exact model's. Models that cannot evaluate every row are exact, and not
// audited: the rows have their line numbers.
void Worker::audit(Answer& answer) {
    const std::vector<std::int64_t> rows = resolved.audit->sampled(*answer.rows);
    if (rows.empty()) return;
    if (!exact_) {
        AnswerOptions answer_options;
        answer_options.model = resolved.audit->model();
        answer_options.probability = resolved.probability;
        answer_options.may_be_few = true;
        exact_ = std::make_shared<const Predictor>(std::move(answer_options));
    }
    Answer exact;
    exact_->worker()->predictions(std::make_shared<const Rows>(select_rows(*answer.rows, rows)), exact);
    answer.audited = static_cast<std::int64_t>(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        answer.audit_differing +=
            answer.predictions.label[static_cast<std::size_t>(rows[i])] != exact.predictions.label[i];
}

// Replaces open rows' decision values by the exact model's, or returns its labels if they suffice.
std::optional<Predictions> Worker::ask_exact(Answer& answer) {
    const std::vector<std::int64_t>& rows = answer.open_rows;
    const std::shared_ptr<const Model> exact = resolved.exact->model();
    const Rows part = select_rows(*answer.rows, rows);
    answer.evaluated = static_cast<std::int64_t>(rows.size());
    if (resolved.elects) {
        exact->decision_values(part, Precision(), again_);
        again_.count(exact->header.total_sv);
        decisions_.charge(rows, again_);
        count_levels(again_, answer);
        Predictions elected;
        predict(resolved.task(), again_, false, elected);
        return elected;
    }
    exact->decision_values(part, resolved.precision, again_);
    resolved.model->answer(again_);
    again_.count(exact->header.total_sv);
    decisions_.put(rows, again_);
    count_levels(again_, answer);
    // Rounding leaves these rows open: use LIBSVM's order of operations.
    std::vector<std::int64_t> undecided_still, of_chunk;
    for (std::int64_t row : undecided_rows(resolved.task(), again_, resolved.probability, resolved.exact->tolerance))
        if (again_.radius[static_cast<std::size_t>(row * pairs())] > 0) {
            undecided_still.push_back(row);
            of_chunk.push_back(rows[static_cast<std::size_t>(row)]);
        }
    answer.reference_rows += static_cast<std::int64_t>(undecided_still.size());
    if (!undecided_still.empty()) {
        exact->reference_values(select_rows(part, undecided_still), again_);
        resolved.model->answer(again_);
        again_.count(exact->header.total_sv);
        decisions_.put(of_chunk, again_);
    }
    return std::nullopt;
}

}  // namespace fastsvm
