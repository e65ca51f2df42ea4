#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "answers/coupling.h"
#include "answers/decisions.h"
#include "simd/pool.h"
#include "text/rows.h"

namespace fastsvm {

enum class SvmType { c_svc, nu_svc, one_class, epsilon_svr, nu_svr };  // LIBSVM's order
inline constexpr std::array svm_type_names{"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};

struct Task;

// Whether intervals decide a row's answer: the label, or a regression value to within `tolerance`.
class DecisionTest {
public:
    // task: must outlive this.
    explicit DecisionTest(const Task& task, double tolerance = 0);
    void within(double tolerance) { tolerance_ = tolerance; }
    // value, radius: (pairs)
    bool operator()(const double* value, const double* radius);
    // Cheap necessary condition. Regression: a radius within the tolerance. Otherwise: this many pairs with a certain
    // side of zero. Class w of k wins with lo_w certain votes if every other class lacks k - 1 - lo_w: k - 1 pairs.
    bool regression() const;
    double tolerance() const { return tolerance_; }
    std::int64_t least_certain() const { return std::max<std::int64_t>(1, static_cast<std::int64_t>(low_.size()) - 1); }

private:
    const Task& task_;
    double tolerance_;
    std::vector<int> low_, high_;  // certain and possible votes per class
};

// The part of a header that turns decision values into predictions.
struct Task {
    SvmType type = SvmType::c_svc;
    std::vector<int> labels;             // per class; or empty
    std::vector<double> prob_a, prob_b;  // per pair; or empty
    std::vector<double> density_marks;   // one-class: 10; or empty

    bool classification() const { return type == SvmType::c_svc || type == SvmType::nu_svc; }
    bool regression() const { return type == SvmType::epsilon_svr || type == SvmType::nu_svr; }
    // Classification only.
    Odds odds() const { return {static_cast<int>(labels.size()), prob_a, prob_b}; }

    // A thread's scratch memory.
    class TaskScratch {
    public:
        explicit TaskScratch(const Task& task) : decided(task), votes(task.labels.size()), odds_(task.odds()) {}
        DecisionTest decided;
        std::vector<int> votes;  // (classes)
        Coupling& coupling();    // if the task has probabilities

    private:
        const Odds odds_;
        std::optional<Coupling> coupling_;
    };
    Pool<TaskScratch> scratch_pool{};
    Pool<std::vector<char>> flags{};  // (rows)
    Pool<TaskScratch>::Lease task_scratch() const {
        return scratch_pool.lease([this] { return std::make_unique<TaskScratch>(*this); });
    }
};

struct Predictions {
    std::int64_t rows = 0;
    int columns = 0;                  // probabilities per row; 0 if none
    std::vector<double> label;        // (rows): class label, +1 or -1, or regression value
    std::vector<double> probability;  // (rows, columns)

    // Replaces the labels of these rows. Throws std::invalid_argument, std::out_of_range.
    void put(const std::vector<std::int64_t>& which, const Predictions& from);
    // Probabilities of two classes: Coupling::iterate_pair. Throws std::invalid_argument for others.
    void iterate_pairs();
};

// As svm_predict, or svm_predict_probability, of LIBSVM 3.37.
void predict(const Task& task, const Decisions& decisions, bool probability, Predictions& out);

// Undecided rows by the radii, increasing: their label, by svm-predict's votes (regression: a radius above
// `tolerance`), or, with `probability`, the text of label and probabilities.
std::vector<std::int64_t> undecided_rows(const Task& task, const Decisions& decisions, bool probability,
                                         double tolerance);

// svm-predict's lines: label (%.17g), probabilities (%g). Then, if given, decision values (shortest text) and radii;
// `odds`: zero's position in the interval, DeCoste's p+ of eq. (32); `evaluations`.
std::string format(const Task& task, const Predictions& predictions, const Decisions* values, bool odds,
                   const std::int64_t* evaluations = nullptr);

// svm-predict's running sums, in its order.
struct Score {
    std::int64_t correct = 0, total = 0;
    double error = 0, sump = 0, sumt = 0, sumpp = 0, sumtt = 0, sumpt = 0;
    void add(const Rows& rows, const Predictions& predictions);
};

// Rows whose label the task does not have.
struct UnknownLabels {
    std::int64_t rows = 0;
    std::int64_t zeros = 0;  // of these, with label 0
};

// Labelled rows only; none for regression.
UnknownLabels unknown_labels(const Task& task, const Rows& rows);

}  // namespace fastsvm
