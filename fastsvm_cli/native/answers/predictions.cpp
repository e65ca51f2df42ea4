#include "answers/predictions.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "simd/parallel.h"
#include "text/numbers.h"

namespace fastsvm {

namespace {

double one_class_probability(const std::vector<double>& marks, double value) {
    const int nr_marks = static_cast<int>(marks.size());
    if (value < marks[0]) return 0.001;
    if (value > marks[static_cast<std::size_t>(nr_marks) - 1]) return 0.999;
    for (int i = 1; i < nr_marks; ++i)
        if (value < marks[static_cast<std::size_t>(i)]) return static_cast<double>(i) / nr_marks;
    return 0;
}

bool votes_decided(int k, const double* value, const double* radius, std::vector<int>& low, std::vector<int>& high) {
    std::fill(low.begin(), low.end(), 0);
    std::fill(high.begin(), high.end(), 0);
    for (int i = 0; i < k; ++i)
        for (int j = i + 1; j < k; ++j, ++value, ++radius) {
            const bool first = *value > *radius,
                       second = -*value >= *radius;  // LIBSVM votes for the first class if > 0, else for the second
            low[static_cast<std::size_t>(i)] += first;
            low[static_cast<std::size_t>(j)] += second;
            high[static_cast<std::size_t>(i)] += !second;
            high[static_cast<std::size_t>(j)] += !first;
        }
    return elected(k, low.data(), high.data()) >= 0;
}

// Three digits, rounded up: the printed number is also a bound.
char* write_radius(char* p, double radius) {
    char* const end = write_g(p, radius, 3);
    if (!(radius > 0) || std::isinf(radius)) return end;
    double printed;
    NumberStatus status;
    *end = '\n';
    read_double(p, &printed, &status);
    return status == NumberStatus::ok && printed >= radius ? end : write_g(p, radius * 1.01, 3);
}

// A blank and a number each.
char* write_numbers(char* p, std::int64_t count, const double* numbers, char* (*write)(char*, double)) {
    for (std::int64_t j = 0; j < count; ++j) {
        *p++ = ' ';
        p = write(p, numbers[j]);
    }
    return p;
}

}  // namespace

std::vector<std::int64_t> flagged_rows(const std::vector<char>& flags) {
    std::vector<std::int64_t> rows;
    for (std::size_t r = 0; r < flags.size(); ++r)
        if (flags[r]) rows.push_back(static_cast<std::int64_t>(r));
    return rows;
}

void Decisions::put(const std::vector<std::int64_t>& which, const Decisions& from) {
    if (labels_alone || from.labels_alone) throw std::invalid_argument("labels alone have no values");
    if (from.pairs != pairs || from.rows != static_cast<std::int64_t>(which.size()))
        throw std::invalid_argument("other rows or pairs");
    charge(which, from);
    for (std::size_t i = 0; i < which.size(); ++i) {
        const std::int64_t source = static_cast<std::int64_t>(i) * pairs, target = which[i] * pairs;
        std::copy_n(from.value.data() + source, pairs, value.data() + target);
        if (!with_radius) continue;
        if (from.with_radius)
            std::copy_n(from.radius.data() + source, pairs, radius.data() + target);
        else
            std::fill_n(radius.data() + target, pairs, 0.0);
    }
    reference_rows += from.reference_rows;
}

void Decisions::elect(const std::vector<std::int64_t>& which, const Decisions& from) {
    if (labels_alone || !from.labels_alone) throw std::invalid_argument("labels replace no values here");
    if (from.pairs != pairs) throw std::invalid_argument("other rows or pairs");
    charge(which, from);
    winner.resize(static_cast<std::size_t>(rows), -1);
    for (std::size_t i = 0; i < which.size(); ++i) {
        winner[static_cast<std::size_t>(which[i])] = from.winner[i];
        if (pairs != 1) continue;
        // svm-predict's value is on that side of zero, within this value's interval.
        double& own = value[static_cast<std::size_t>(which[i])];
        if ((own > 0) != (from.winner[i] == 0)) own = from.winner[i] == 0 ? std::numeric_limits<double>::min() : 0.0;
    }
    reference_rows += from.reference_rows;
}

void Decisions::map_values(double from, double scale, double to) {
    if (labels_alone) throw std::invalid_argument("labels alone have no values");
    // Each of the two values rounds three times: u (3.1 |y| + 2.1 |to|) for a result y, u half of epsilon.
    constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
    for (std::size_t i = 0; i < value.size(); ++i) {
        value[i] = to + (value[i] - from) * scale;
        if (with_radius && radius[i] != 0)
            radius[i] = radius[i] * scale * (1 + rounding) + rounding * (std::fabs(value[i]) + std::fabs(to)) +
                        std::numeric_limits<double>::min();
    }
}

void Decisions::charge(const std::vector<std::int64_t>& which, const Decisions& from) {
    if (from.rows != static_cast<std::int64_t>(which.size())) throw std::invalid_argument("other rows");
    for (std::int64_t row : which)
        if (row < 0 || row >= rows) throw std::out_of_range("row out of range");
    for (std::size_t i = 0; i < which.size(); ++i) evaluations[which[i]] += from.evaluations[i];
}

void Decisions::count(std::int64_t more) {
    for (std::int64_t& own : evaluations) own += more;
}

std::int64_t Decisions::kernel_evaluations() const {
    return std::accumulate(evaluations.begin(), evaluations.end(), std::int64_t{0});
}

// Compiled without contraction (CMakeLists.txt), to follow LIBSVM's operations one by one.

void Predictions::put(const std::vector<std::int64_t>& which, const Predictions& from) {
    if (columns || from.columns || from.rows != static_cast<std::int64_t>(which.size()))
        throw std::invalid_argument("other rows, or probabilities");
    for (std::size_t i = 0; i < which.size(); ++i) {
        if (which[i] < 0 || which[i] >= rows) throw std::out_of_range("row out of range");
        label[static_cast<std::size_t>(which[i])] = from.label[i];
    }
}

void Predictions::iterate_pairs() {
    if (columns != 2) throw std::invalid_argument("probabilities of other than two classes");
    const Odds two;
    Coupling coupling(two);
    for (std::int64_t row = 0; row < rows; ++row) coupling.iterate_pair(probability.data() + 2 * row);
}

void predict(const Task& task, const Decisions& decisions, bool probability, Predictions& out) {
    if (decisions.labels_alone && probability) throw std::invalid_argument("labels alone have no probabilities");
    const int k = static_cast<int>(task.labels.size());
    out.rows = decisions.rows;
    out.columns = !probability || task.regression() ? 0 : task.classification() ? k : 2;
    out.label.resize(static_cast<std::size_t>(out.rows));
    out.probability.resize(static_cast<std::size_t>(out.rows * out.columns));
    // Coupling costs k * k operations per row, or more.
    const std::int64_t grain = out.columns > 2 ? std::max(1, 4096 / (k * k)) : 4096;
    parallel_for(out.rows, grain, [&](std::int64_t first, std::int64_t last) {
        const auto task_scratch = task.task_scratch();
        Coupling* const coupling = out.columns && task.classification() ? &task_scratch->coupling() : nullptr;
        for (std::int64_t row = first; row < last; ++row) {
            const double* const value = decisions.value.data() + row * decisions.pairs;
            double* const p = out.probability.data() + row * out.columns;
            const std::int32_t elected = out.columns ? -1 : decisions.elected(row);
            if (elected >= 0 && task.type == SvmType::one_class) {
                out.label[row] = elected == 0 ? 1 : -1;
            } else if (elected >= 0) {
                out.label[row] = task.labels[static_cast<std::size_t>(elected)];
            } else if (task.regression()) {
                out.label[row] = value[0];
            } else if (task.type == SvmType::one_class) {
                out.label[row] = value[0] > 0 ? 1 : -1;
                if (out.columns) {
                    p[0] = one_class_probability(task.density_marks, value[0]);
                    p[1] = 1 - p[0];
                }
            } else if (out.columns) {
                coupling->probabilities(value, p);
                out.label[row] = task.labels[static_cast<std::size_t>(std::max_element(p, p + k) - p)];
            } else {
                out.label[row] = task.labels[static_cast<std::size_t>(task_scratch->votes.elect(value))];
            }
        }
    });
}

DecisionTest::DecisionTest(const Task& task, double tolerance)
    : task_(task), tolerance_(tolerance), low_(task.labels.size()), high_(task.labels.size()) {}

bool DecisionTest::regression() const { return task_.regression(); }

Coupling& Task::TaskScratch::coupling() {
    if (!coupling_) coupling_.emplace(odds_);
    return *coupling_;
}

bool DecisionTest::operator()(const double* value, const double* radius) {
    if (task_.regression()) return radius[0] <= tolerance_;
    if (task_.type == SvmType::one_class || task_.labels.size() == 2)
        return value[0] > radius[0] || -value[0] >= radius[0];
    return votes_decided(static_cast<int>(task_.labels.size()), value, radius, low_, high_);
}

std::vector<std::int64_t> undecided_rows(const Task& task, const Decisions& decisions, bool probability,
                                         double tolerance) {
    if (!decisions.with_radius) throw std::invalid_argument("decisions without radii decide no row");
    const bool printed = probability && task.classification() && task.labels.size() >= 2;
    const auto flags = task.flags.lease();
    std::vector<char>& open = *flags;
    open.resize(static_cast<std::size_t>(decisions.rows));
    parallel_for(decisions.rows, printed ? 64 : 4096, [&](std::int64_t first, std::int64_t last) {
        const auto task_scratch = task.task_scratch();
        DecisionTest& label = task_scratch->decided;
        label.within(tolerance);
        Coupling* const coupling = printed ? &task_scratch->coupling() : nullptr;
        for (std::int64_t row = first; row < last; ++row) {
            const double* const value = decisions.value.data() + row * decisions.pairs;
            const double* const radius = decisions.radius.data() + row * decisions.pairs;
            bool decided = coupling ? coupling->decided(value, radius) : label(value, radius);
            if (probability && task.type == SvmType::one_class)
                for (double mark : task.density_marks) decided &= std::fabs(value[0] - mark) > radius[0];
            open[static_cast<std::size_t>(row)] = !decided;
        }
    });
    return flagged_rows(open);
}

std::string format(const Task& task, const Predictions& predictions, const Decisions* values, bool positive_share,
                   const std::int64_t* evaluations) {
    // Rows formatted at a time: enough to repay a thread.
    const std::int64_t grain =
        std::max<std::int64_t>(1, 8192 / (2 + predictions.columns + (values ? 2 * values->pairs : 0)));
    const std::int64_t parts = (predictions.rows + grain - 1) / grain;
    std::vector<std::string> texts(static_cast<std::size_t>(parts));
    const std::int64_t pairs = values ? values->pairs : 0;
    const bool radii = values && values->with_radius;
    const std::size_t line_max = static_cast<std::size_t>(number_text_max + 1) *
                                     static_cast<std::size_t>(2 + predictions.columns + (radii ? 3 : 1) * pairs) +
                                 1;
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t part = first; part < last; ++part) {
            std::string& text = texts[static_cast<std::size_t>(part)];
            std::vector<char> line(line_max);
            const std::int64_t stop = std::min(predictions.rows, (part + 1) * grain);
            for (std::int64_t row = part * grain; row < stop; ++row) {
                char* p = line.data();
                const double label = predictions.label[static_cast<std::size_t>(row)];
                // Most labels have one digit.
                if (!task.regression() && std::fabs(label) < 10) {
                    if (label < 0) *p++ = '-';
                    *p++ = static_cast<char>('0' + static_cast<int>(std::fabs(label)));
                } else {
                    p = write_g(p, label, 17);
                }
                const double* const probability = predictions.probability.data() + row * predictions.columns;
                const double* const value = values ? values->value.data() + row * pairs : nullptr;
                const double* const radius = radii ? values->radius.data() + row * pairs : nullptr;
                p = write_numbers(p, predictions.columns, probability,
                                  [](char* at, double x) { return write_g(at, x, 6); });
                p = write_numbers(p, pairs, value, write_shortest);
                p = write_numbers(p, radii ? pairs : 0, radius, write_radius);
                for (std::int64_t j = 0; positive_share && radii && j < pairs; ++j) {
                    const double above = std::max(value[j] + radius[j], 0.0),
                                 below = std::max(radius[j] - value[j], 0.0);
                    *p++ = ' ';
                    const bool known = radius[j] < std::numeric_limits<double>::infinity();
                    p = write_g(p, !known ? 0.5 : above > 0 ? above / (above + below) : 0.0, 6);
                }
                if (evaluations) {
                    *p++ = ' ';
                    p = std::to_chars(p, p + number_text_max, evaluations[row]).ptr;
                }
                *p++ = '\n';
                text.append(line.data(), static_cast<std::size_t>(p - line.data()));
            }
        }
    });
    if (texts.size() == 1) return std::move(texts[0]);
    std::string all;
    std::size_t size = 0;
    for (const std::string& text : texts) size += text.size();
    all.reserve(size);
    for (const std::string& text : texts) all += text;
    return all;
}

void Score::add(const Rows& rows, const Predictions& predictions) {
    for (std::int64_t row = 0; row < predictions.rows; ++row) {
        const double p = predictions.label[static_cast<std::size_t>(row)], t = rows.leading[row * rows.leading_count];
        if (p == t) ++correct;
        error += (p - t) * (p - t);
        sump += p;
        sumt += t;
        sumpp += p * p;
        sumtt += t * t;
        sumpt += p * t;
        ++total;
    }
}

UnknownLabels unknown_labels(const Task& task, const Rows& rows) {
    UnknownLabels found;
    if (task.regression() || rows.leading_count == 0) return found;
    const std::vector<int> answers = task.classification() ? task.labels : std::vector<int>{1, -1};
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        const double label = rows.leading[row * rows.leading_count];
        if (std::find(answers.begin(), answers.end(), label) != answers.end()) continue;
        ++found.rows;
        found.zeros += label == 0;
    }
    return found;
}

}  // namespace fastsvm
