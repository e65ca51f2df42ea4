// Records of a run: its JSON document, and the options that its lines depend on.
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/run.h"
#include "program/prediction.h"

namespace fastsvm {

std::optional<double> Prediction::most_disagreement() const {
    if (!request.audit) return std::nullopt;
    return upper_bound(static_cast<double>(run_counts.audit_differing), static_cast<double>(run_counts.audited),
                       audit_confidence);
}

std::string Prediction::document() const {
    const Model& model = *model_;
    const Header& printed = predictor_->resolved.printed->header;
    const bool proven = predictor_->resolved.exact != nullptr, open_rows = request.open_file.has_value();
    std::string out = "{";
    const auto member = [&](const std::string& name, const std::string& value) {
        out += (out.size() > 1 ? ", \"" : "\"") + name + "\": " + value;
    };
    const auto text = [&](const std::string& name, const std::string& value) { member(name, '"' + value + '"'); };
    const auto count = [&](const std::string& name, std::int64_t value) { member(name, std::to_string(value)); };
    const auto number = [&](const std::string& name, double value) { member(name, json_number(value)); };
    text("fastsvm", FASTSVM_VERSION);
    text("model_kind", loaded_.kind);
    text("model_fingerprint", fingerprint_);
    if (!loaded_.model->fingerprint.empty()) text("exact_fingerprint", loaded_.model->fingerprint);
    const RunCounts& r = run_counts;
    count("rows", r.rows);
    if (bad_rows) count("bad_rows", bad_rows->count);
    if (r.labelled) {
        const std::vector<double> found = scores(printed, r.score);
        number(printed.regression() ? "mean_squared_error" : "accuracy", found[0]);
        if (printed.regression())
            number("squared_correlation", found[1]);
        else
            count("correct", r.score.correct);
    }
    if (loaded_.file->bounded()) count("rows_outside_bound", r.outside);
    if (proven) {
        count("rows_proven", r.rows - r.evaluated);
        count("rows_evaluated", r.evaluated);
    } else if (open_rows) {
        count("rows_proven", r.rows - r.undecided);
    } else if (model.proves && !printed.regression()) {
        count("rows_proven", r.rows);
    }
    if (open_rows) count("rows_open", proven ? r.evaluated : r.undecided);
    if (model.proves || proven) count("rows_by_reference_sum", r.reference_rows);
    if ((model.proves && !model.ordered) || proven) {
        count("rows_by_grid", r.level_rows[grid_level]);
        count("rows_in_single_precision", r.level_rows[single_level]);
        count("rows_in_double_precision", r.level_rows[double_level]);
    }
    if (model.ordered) {
        const auto real = [](std::int64_t value) { return static_cast<double>(value); };
        count("kernel_evaluations", r.kernel_evaluations);
        count("kernel_evaluations_of_exact", r.rows * printed.total_sv);
        number("kernel_evaluations_per_row", real(r.kernel_evaluations) / real(r.rows));
    }
    if (request.steps) count("rows_decided", r.rows - r.undecided);
    if (const std::optional<double> most = most_disagreement()) {
        count("audited", r.audited);
        count("audit_differing", r.audit_differing);
        number("audit_upper", *most);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    number("seconds", seconds);
    number("rows_per_second", static_cast<double>(r.rows - rows_before_) / seconds);
    return out + "}";
}

namespace {

std::string quoted(const std::string& value) { return "'" + value + "'"; }

// An option's value.
struct Shown {
    const PredictOption& option;
    std::string operator()(bool value) const {
        return option.kind == PredictOption::zero_or_one ? std::to_string(value) : value ? "on" : "off";
    }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(std::uint64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return json_number(value); }
    std::string operator()(const std::string& value) const { return quoted(value); }
    std::string operator()(const std::optional<std::string>& file) const { return (*this)(file.has_value()); }
    template <class Number> std::string operator()(const std::optional<Number>& value) const {
        return value ? (*this)(*value) : "unset";
    }
};

}  // namespace

std::vector<std::pair<std::string, std::string>> Prediction::made_with() const {
    std::vector<std::pair<std::string, std::string>> out{{"fastsvm", quoted(FASTSVM_VERSION)},
                                                         {"model", quoted(fingerprint_)}};
    for (const PredictOption& option : predict_options) {
        const auto value = [&](auto member) { return Shown{option}(request.*member); };
        if (option.lines) out.emplace_back(option.spellings[0], std::visit(value, option.member));
    }
    out.emplace_back("--scale", scaling_digest_.empty() ? "unset" : quoted("a file of SHA-256 " + scaling_digest_));
    return out;
}

}  // namespace fastsvm
