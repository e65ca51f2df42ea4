// From decision values to what svm-predict prints: votes, labels, probabilities, lines, scores. Written once, for every
// model.
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

// Whether a row's intervals settle its answer: the label, or for regression the value to within `tolerance`.
class Settled {
public:
    // task: must outlive this.
    explicit Settled(const Task& task, double tolerance = 0);
    void within(double tolerance) { tolerance_ = tolerance; }
    // value, radius: (pairs)
    bool operator()(const double* value, const double* radius);
    // So that most looks at intervals that settle nothing cost a comparison. Of regression: a radius within the
    // tolerance. Else: the least number of pairs whose side of zero is certain. With k classes k - 1: w wins where it
    // has lo_w votes for certain, and every other class lacks k - 1 - lo_w.
    bool regression() const;
    double tolerance() const { return tolerance_; }
    std::int64_t least_certain() const { return std::max<std::int64_t>(1, static_cast<std::int64_t>(low_.size()) - 1); }

private:
    const Task& task_;
    double tolerance_;
    std::vector<int> low_, high_;  // votes that a class has for certain, and at most
};

// The part of a model's header that turns decision values into predictions.
struct Task {
    SvmType type = SvmType::c_svc;
    std::vector<int> labels;             // classification: per class
    std::vector<double> prob_a, prob_b;  // per pair, or empty
    std::vector<double> density_marks;   // one-class: 10, or empty

    bool classification() const { return type == SvmType::c_svc || type == SvmType::nu_svc; }
    bool regression() const { return type == SvmType::epsilon_svr || type == SvmType::nu_svr; }
    // For classification tasks.
    Odds odds() const { return {static_cast<int>(labels.size()), prob_a, prob_b}; }

    // What a thread needs at an answer.
    class Room {
    public:
        explicit Room(const Task& task) : settled(task), votes(task.labels.size()), odds_(task.odds()) {}
        Settled settled;
        std::vector<int> votes;  // of classes
        Coupling& coupling();    // of a task with probabilities

    private:
        const Odds odds_;
        std::optional<Coupling> coupling_;
    };
    Pool<Room> rooms{};
    Pool<std::vector<char>> flags{};  // of rows
    Pool<Room>::Lease room() const {
        return rooms.lease([this] { return std::make_unique<Room>(*this); });
    }
};

struct Predictions {
    std::int64_t rows = 0;
    int columns = 0;                  // probabilities per row, 0 without
    std::vector<double> label;        // (rows): class label, +1 / -1, or regression value
    std::vector<double> probability;  // (rows, columns)

    // Replaces the labels of these rows. Throws std::invalid_argument, std::out_of_range.
    void put(const std::vector<std::int64_t>& which, const Predictions& from);
};

// As svm_predict, or with `probability` as svm_predict_probability, of LIBSVM 3.37.
void predict(const Task& task, const Decisions& decisions, bool probability, Predictions& out);

// The rows whose answer the radii leave open, increasing. Without `probability`: the label, by svm-predict's votes
// (regression: a radius above `tolerance`). With it: the text of label and probabilities.
std::vector<std::int64_t> unsettled(const Task& task, const Decisions& decisions, bool probability, double tolerance);

// The lines svm-predict prints: the label (%.17g), probabilities (%g); then, with `values`, the decision values
// (shortest text), and their radii where it has them; then, with `odds`, where in the interval zero lies, as DeCoste's
// p+ of eq. (32); last, of those given, the kernel evaluations.
std::string format(const Task& task, const Predictions& predictions, const Decisions* values, bool odds,
                   const std::int64_t* evaluations = nullptr);

// svm-predict's running sums, in its order.
struct Score {
    std::int64_t correct = 0, total = 0;
    double error = 0, sump = 0, sumt = 0, sumpp = 0, sumtt = 0, sumpt = 0;
    void add(const Rows& rows, const Predictions& predictions);
};

// Rows whose own label is none that the task answers.
struct UnknownLabels {
    std::int64_t rows = 0;
    std::int64_t zeros = 0;  // those of them whose label is 0
};

// Of labelled rows. Regression has no such row.
UnknownLabels unknown_labels(const Task& task, const Rows& rows);

}  // namespace fastsvm
