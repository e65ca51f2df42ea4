#include "engine/answers.h"

#include <algorithm>
#include <numeric>

#include "engine/predictor.h"

namespace fastsvm {

namespace {

void count_rungs(const Decisions& decisions, Answer& answer) {
    for (std::size_t rung : {grid_rung, single_rung, double_rung}) answer.rung_rows[rung] += decisions.rung_rows[rung];
    answer.reference_rows += decisions.reference_rows;
}

}  // namespace

Answerer::Answerer(const Request& request)
    : request(request),
      decisions_(request.model->decisions(request.wanted, request.with_radius)),
      again_(request.model->pairs(), request.with_radius && !request.elects, request.elects) {}

bool Answerer::at_once(const Rows& rows) const { return decisions_.labels_alone || rows.rows * pairs() <= most_values; }

Answer Answerer::answer(std::shared_ptr<const Rows> rows) {
    Answer out;
    predictions(std::move(rows), out);
    out.lines = format(request.task(), out.predictions, request.values ? &decisions_ : nullptr, request.stopped,
                       request.evaluations ? decisions_.evaluations.data() : nullptr);
    return out;
}

void Answer::clear() {
    rows.reset();
    bad.clear();
    fault.reset();
    lines.clear();
    open_rows.clear();
    outside_rows.clear();
    outside = evaluated = kernel_evaluations = undecided = reference_rows = audited = audit_differing = 0;
    rung_rows = {};
}

void Answerer::predictions(std::shared_ptr<const Rows> rows, Answer& out) {
    out.clear();
    try {
        evaluate(*rows);
    } catch (const RowFault& fault) {
        if (request.around) {
            rows = evaluable(rows, out.bad);
        } else {  // earlier rows are answered
            out.fault = {rows->line_numbers({fault.row})[0], fault.what()};
            rows = std::make_shared<const Rows>(slice_rows(*rows, 0, fault.row));
            evaluate(*rows);
        }
    }
    out.rows = rows;
    out.outside = decisions_.outside;
    count_rungs(decisions_, out);
    if (request.stopped)
        out.undecided = static_cast<std::int64_t>(left_open(decisions_, false, request.open_tolerance).size());
    if (request.outside_rows && decisions_.outside) out.outside_rows = decisions_.outside_rows();
    if (request.exact || request.open_rows)
        out.open_rows = left_open(decisions_, request.probability, request.settled_within);
    if (request.open_rows && !request.stopped) out.undecided += static_cast<std::int64_t>(out.open_rows.size());
    std::optional<Predictions> elected;
    if (request.exact && !out.open_rows.empty()) elected = ask_exact(out);
    predict(request.task(), decisions_, request.probability, out.predictions);
    if (elected) out.predictions.put(out.open_rows, *elected);
    if (request.model->ordered) out.kernel_evaluations = decisions_.kernel_evaluations();
    if (request.audit) audit(out);
}

std::vector<std::int64_t> Answerer::left_open(const Decisions& decisions, bool probability, double tolerance) const {
    if (!decisions.with_radius) throw std::invalid_argument("decisions without radii settle nothing");
    return unsettled(request.task(), decisions, probability, tolerance);
}

void Answerer::evaluate(const Rows& rows) {
    // The last digits of values differ between the two ways; labels and probabilities print alike.
    const bool alike = !request.task().regression() && !request.values;
    const bool few = request.may_be_few && alike && request.model->too_few(rows.rows);
    if (few != few_)
        decisions_ = few ? Decisions(pairs(), request.with_radius)
                         : request.model->decisions(request.wanted, request.with_radius);
    few_ = few;
    if (few) {
        request.model->reference_values(rows, decisions_);
        decisions_.reference_rows = rows.rows;
    } else {
        request.model->decision_values(rows, request.wanted, decisions_);
    }
    request.model->answer(decisions_);
    if (!request.answer_within) return;
    const std::vector<std::int64_t> far = left_open(decisions_, false, *request.answer_within);
    if (far.empty()) return;
    Decisions again(pairs());
    request.model->reference_values(select_rows(rows, far), again);
    again.reference_rows = static_cast<std::int64_t>(far.size());
    request.model->answer(again);
    decisions_.put(far, again);
}

// Windows double while no row fails: each row is tried only a few times. Finally evaluates the returned rows together.
std::shared_ptr<const Rows> Answerer::evaluable(const std::shared_ptr<const Rows>& rows, std::vector<RowProblem>& bad) {
    std::vector<std::int64_t> good;
    for (std::int64_t at = 0, window = 1; at < rows->rows;) {
        std::vector<std::int64_t> some(static_cast<std::size_t>(std::min(window, rows->rows - at)));
        std::iota(some.begin(), some.end(), at);
        try {
            evaluate(select_rows(*rows, some));
            good.insert(good.end(), some.begin(), some.end());
            at += static_cast<std::int64_t>(some.size());
            window *= 2;
        } catch (const RowFault& fault) {
            good.insert(good.end(), some.begin(), some.begin() + fault.row);
            bad.emplace_back(at + fault.row, fault.what());
            at += fault.row + 1;
            window = 1;
        }
    }
    auto out = std::make_shared<const Rows>(select_rows(*rows, good));
    evaluate(*out);
    return out;
}

// Compares the sampled rows' labels with the exact model's. Models that cannot evaluate every row are exact, and not
// audited: the rows have their line numbers.
void Answerer::audit(Answer& answer) {
    const std::vector<std::int64_t> rows = request.audit->sampled(*answer.rows);
    if (rows.empty()) return;
    if (!exact_) {
        Question question;
        question.model = request.audit->model();
        question.probability = request.probability;
        question.may_be_few = true;
        exact_ = std::make_shared<const Predictor>(std::move(question));
    }
    Answer exact;
    exact_->answerer()->predictions(std::make_shared<const Rows>(select_rows(*answer.rows, rows)), exact);
    answer.audited = static_cast<std::int64_t>(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        answer.audit_differing +=
            answer.predictions.label[static_cast<std::size_t>(rows[i])] != exact.predictions.label[i];
}

// Replaces open rows' decision values by the exact model's, or returns its labels if they suffice.
std::optional<Predictions> Answerer::ask_exact(Answer& answer) {
    const std::vector<std::int64_t>& rows = answer.open_rows;
    const std::shared_ptr<const Model> exact = request.exact->model();
    const Rows part = select_rows(*answer.rows, rows);
    answer.evaluated = static_cast<std::int64_t>(rows.size());
    if (request.elects) {
        exact->decision_values(part, Wanted(), again_);
        again_.count(exact->header.total_sv);
        decisions_.charge(rows, again_);
        count_rungs(again_, answer);
        Predictions elected;
        predict(request.task(), again_, false, elected);
        return elected;
    }
    exact->decision_values(part, request.wanted, again_);
    request.model->answer(again_);
    again_.count(exact->header.total_sv);
    decisions_.put(rows, again_);
    count_rungs(again_, answer);
    // Rounding leaves these rows open: use LIBSVM's order of operations.
    std::vector<std::int64_t> open_still, of_chunk;
    for (std::int64_t row : left_open(again_, request.probability, request.exact->tolerance))
        if (again_.radius[static_cast<std::size_t>(row * pairs())] > 0) {
            open_still.push_back(row);
            of_chunk.push_back(rows[static_cast<std::size_t>(row)]);
        }
    answer.reference_rows += static_cast<std::int64_t>(open_still.size());
    if (!open_still.empty()) {
        exact->reference_values(select_rows(part, open_still), again_);
        request.model->answer(again_);
        again_.count(exact->header.total_sv);
        decisions_.put(of_chunk, again_);
    }
    return std::nullopt;
}

}  // namespace fastsvm
