// From decision values to predictions and their lines.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

// Class probabilities from decision values of pairs, as in LIBSVM.

// A pair's sigmoid: its first class has the probability 1 / (1 + exp(A f + B)).
struct Odds {
    int classes = 2;
    std::vector<double> a, b;  // (pairs)
};

// Computes a row's class probabilities, and decides whether rounding could change what is printed. Reuses its memory:
// one object per thread.
class Coupling {
public:
    Coupling() = default;
    // odds: must outlive this.
    explicit Coupling(const Odds& odds) { take(odds); }
    // Replaces the odds, which must outlive this.
    void take(const Odds& odds);
    // Writes p, (classes), from value, (pairs). Two classes have their pair's probabilities. More classes couple theirs
    // by method 2 of Wu, Lin and Weng (2004), iterated as in LIBSVM.
    void probabilities(const double* value, double* p);
    // Iterates the probabilities of two classes as those of more, as scikit-learn's LIBSVM does. p: (2), from
    // probabilities().
    void iterate_pair(double* p);
    // Whether probabilities and label print alike for all svm-predict values within the radii (more than two classes:
    // B39 in PROOFS.md). value, radius: (pairs).
    bool decided(const double* value, const double* radius);

private:
    struct Errors;
    void make_q();
    template <class Watch> bool couple(Watch& watch);
    void couple_unwatched(double* p);
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * width_ + static_cast<std::size_t>(j); }

    const Odds* odds_ = nullptr;
    std::size_t classes_ = 0, width_ = 0;   // a "row" below: `width_` numbers, padded with zeros
    std::vector<double> r_, q_;             // (classes) rows: pair probabilities; iteration matrix
    std::vector<double> p_, qp_;            // one row
    std::vector<double> wrong_;             // (classes) rows: errors of r against svm-predict's
    std::vector<double> q_wrong_;           // (classes) rows: errors of q
    std::vector<double> q_diagonal_;        // one row
    std::vector<double> squares_;           // one row: twice each column's sum of squares in wrong_
    std::vector<double> relative_, noise_;  // one row each: errors of p and qp
};

// Rows decided per level of an exact model: grid, single precision, double precision, reference sum.
using LevelRows = std::array<std::int64_t, 4>;
constexpr std::size_t grid_level = 0, single_level = 1, double_level = 2, reference_level = 3;

// Indices of set flags, increasing.
std::vector<std::int64_t> flagged_rows(const std::vector<char>& flags);

// Decision values, or labels alone, of a chunk of rows, and the cost of computing them. A pair is a decision function:
// of the classes (i, j), i < j, in LIBSVM's order, or the only one.
struct Decisions {
    explicit Decisions(std::int64_t pairs, bool with_radius = false, bool labels_alone = false)
        : pairs(pairs), with_radius(with_radius), labels_alone(labels_alone) {
        if (with_radius && labels_alone) throw std::invalid_argument("labels alone have no radii");
    }
    // Begins a chunk of n rows, in the memory of the last one: resets the costs. The model then fills the arrays.
    void resize(std::int64_t n) {
        rows = n;
        if (labels_alone)
            winner.resize(static_cast<std::size_t>(n));
        else
            value.resize(static_cast<std::size_t>(n * pairs)), winner.clear();
        if (with_radius) radius.resize(static_cast<std::size_t>(n * pairs));
        is_outside.clear();
        evaluations.assign(static_cast<std::size_t>(n), 0);
        outside = reference_rows = 0;
        level_rows.fill(0);
    }
    // Replaces values and radii of the rows `which` by those of `from`, which has only these rows (radius 0 if it has
    // none), and adds its costs. Throws std::invalid_argument if shapes differ or values are missing, std::out_of_range
    // for an unknown row.
    void put(const std::vector<std::int64_t>& which, const Decisions& from);
    // Sets these rows' classes from `from`, which has only labels; they override values. With one pair, also moves the
    // value to the class's side of zero, where its radius stays valid. Throws as put().
    void elect(const std::vector<std::int64_t>& which, const Decisions& from);
    // The class of a row set by elect(), or -1.
    std::int32_t elected(std::int64_t row) const { return winner.empty() ? -1 : winner[static_cast<std::size_t>(row)]; }
    // Adds only kernel evaluations. Throws as put().
    void charge(const std::vector<std::int64_t>& which, const Decisions& from);
    // Maps every value y to to + (y - from) * scale, scale > 0; radii are scaled, and widened by the rounding. A radius
    // 0 stays 0. Throws std::invalid_argument for labels only.
    void map_values(double from, double scale, double to);
    // Adds `more` kernel evaluations to every row.
    void count(std::int64_t more);
    std::int64_t kernel_evaluations() const;  // of all rows
    std::vector<std::int64_t> outside_rows() const { return flagged_rows(is_outside); }

    std::int64_t pairs;
    // The caller requests radii, and the model has them.
    bool with_radius;
    // The caller requests only classes, and the model finds them without all values.
    bool labels_alone;
    // With labels_alone and one pair, the sign of the first level's value suffices: near zero, rounding may change it.
    bool likely = false;
    std::int64_t rows = 0;
    // (rows): index in the model's labels. With labels_alone, replaces values; otherwise -1 if not elected, empty if
    // none is.
    std::vector<std::int32_t> winner;
    // (rows, pairs), rho subtracted.
    std::vector<double> value;
    // (rows, pairs): bound on |value - svm-predict's|; empty without radii.
    std::vector<double> radius;
    // Number of rows outside the bound of Claesen et al., eq. (3.11), for at least one expansion.
    std::int64_t outside = 0;
    // (rows): outside that bound; empty if not counted.
    std::vector<char> is_outside;
    // Number of rows that the reference sum evaluated.
    std::int64_t reference_rows = 0;
    // Rows that each level decided; exact models alone count them.
    LevelRows level_rows{};
    // (rows): kernel evaluations, with repeats, of models that stop early.
    std::vector<std::int64_t> evaluations;
};

// Predictions from decision values: labels, probabilities, output lines and svm-predict's scores.

enum class SvmType { c_svc, nu_svc, one_class, epsilon_svr, nu_svr };  // LIBSVM's order
inline constexpr std::array svm_type_names{"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};

// LIBSVM's choice, the first class with most votes, or -1 if open (B21 of PROOFS.md). low, high: (classes), certain and
// possible votes.
inline int elected(int classes, const int* low, const int* high) {
    const int best = static_cast<int>(std::max_element(low, low + classes) - low);
    for (int c = 0; c < classes; ++c)
        if (c != best && !(low[best] > high[c] || (low[best] == high[c] && best < c))) return -1;
    return best;
}

// The votes of one row. Reuses its memory: one object per thread.
class Votes {
public:
    explicit Votes(int classes) : classes_(classes), low_(classes), high_(classes), met_(classes), won_(classes) {}

    // Class that svm-predict elects, or -1 if open after all candidates. meet(candidate, won) sets won[other] for
    // every other class: 1 if the candidate provably has the pair's vote, -1 if the other has it, 0 if open. likely:
    // the first candidate; the next ones have the most possible votes.
    template <class Meet> int winner(int likely, Meet meet) {
        begin_candidates();
        for (int candidate = likely; candidate >= 0; candidate = next_candidate()) {
            meet(candidate, won());
            if (const int found = count(candidate); found >= 0) return found;
        }
        return -1;
    }
    // Its steps, for several rows in turn: count() takes won() of a candidate, and returns the class or -1;
    // next_candidate() is -1 after the last.
    void begin_candidates() {
        std::fill(low_.begin(), low_.end(), 0);
        std::fill(high_.begin(), high_.end(), classes_ - 1);
        std::fill(met_.begin(), met_.end(), 0);
    }
    int* won() { return won_.data(); }
    int count(int candidate) {
        for (int other = 0; other < classes_; ++other) {
            if (other == candidate || met_[other]) continue;
            low_[candidate] += won_[other] > 0;
            low_[other] += won_[other] < 0;
            high_[candidate] -= won_[other] < 0;
            high_[other] -= won_[other] > 0;
        }
        met_[candidate] = 1;
        return elected(classes_, low_.data(), high_.data());
    }
    int next_candidate() const {
        int best = -1;
        for (int c = 0; c < classes_; ++c)
            if (!met_[c] && (best < 0 || high_[c] > high_[best] || (high_[c] == high_[best] && low_[c] > low_[best])))
                best = c;
        return best;
    }

    // The same from the values of all pairs, none undecided.
    int elect(const double* value) {
        const int classes = classes_;
        int* const votes = low_.data();
        std::fill_n(votes, classes, 0);
        for (int i = 0; i < classes; ++i)
            for (int j = i + 1; j < classes; ++j, ++value) {  // no branch: signs are unpredictable
                const int first = *value > 0;
                votes[i] += first;
                votes[j] += 1 - first;
            }
        return static_cast<int>(std::max_element(votes, votes + classes) - votes);
    }

private:
    int classes_;
    std::vector<int> low_, high_;
    std::vector<char> met_;
    std::vector<int> won_;
};

struct Task;

// Tests whether the intervals value +- radius decide a row's answer: the label, or a regression value to within
// `tolerance`. Reuses its memory: one object per thread.
class DecisionTest {
public:
    // task: must outlive this.
    explicit DecisionTest(const Task& task, double tolerance = 0);
    void within(double tolerance) { tolerance_ = tolerance; }
    // value, radius: (pairs)
    bool operator()(const double* value, const double* radius);
    // A cheap necessary condition. Regression: the radius is within the tolerance. Otherwise: at least least_certain()
    // pairs have a certain side of zero. Class w of k, with lo_w certain votes, wins only if every other class has
    // certainly lost k - 1 - lo_w pairs: together these are k - 1 pairs or more.
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
        explicit TaskScratch(const Task& task)
            : decided(task), votes(static_cast<int>(task.labels.size())), odds_(task.odds()) {}
        DecisionTest decided;
        Votes votes;
        Coupling& coupling();  // requires the task's probabilities

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

// Labels of a chunk's rows, and their probabilities if requested.
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

// Computes labels as svm_predict of LIBSVM 3.37 or, with `probability`, labels and probabilities as
// svm_predict_probability. Throws std::invalid_argument for probabilities of labels alone.
void predict(const Task& task, const Decisions& decisions, bool probability, Predictions& out);

// Returns the rows, increasing, whose answer the radii leave undecided: the label by svm-predict's votes (regression: a
// radius above `tolerance`) or, with `probability`, the text of label and probabilities. Throws std::invalid_argument
// without radii.
std::vector<std::int64_t> undecided_rows(const Task& task, const Decisions& decisions, bool probability,
                                         double tolerance);

// Formats svm-predict's lines: label (%.17g) and probabilities (%g). Then follow, if given, decision values (shortest
// text) and radii (three digits, rounded up); with `positive_share` and radii, zero's position in every interval,
// DeCoste's p+ of eq. (32); `evaluations`, (rows).
std::string format(const Task& task, const Predictions& predictions, const Decisions* values, bool positive_share,
                   const std::int64_t* evaluations = nullptr);

// svm-predict's running sums over labelled rows, added in its order, for its accuracy or errors.
struct Score {
    std::int64_t correct = 0, total = 0;
    double error = 0, sump = 0, sumt = 0, sumpp = 0, sumtt = 0, sumpt = 0;
    void add(const Rows& rows, const Predictions& predictions);
};

// Counts of rows whose label the task does not have.
struct UnknownLabels {
    std::int64_t rows = 0;
    std::int64_t zeros = 0;  // of these, with label 0
};

// Counts them among labelled rows; there are none for regression.
UnknownLabels unknown_labels(const Task& task, const Rows& rows);

}  // namespace fastsvm
