#include "engine/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "simd/parallel.h"
#include "text/numbers.h"

namespace fastsvm {

namespace {

// Target time per block: long against handing it over, short against waiting for the last block.
constexpr double block_seconds = 0.01;
constexpr std::size_t least_block_bytes = 1 << 16;
// How often a waiting thread checks for a stop request.
constexpr std::chrono::milliseconds between_stop_checks{50};

}  // namespace

// Worker threads. The caller's thread helps instead of waiting.
class Run::WorkerThreads {
public:
    struct Job {
        LineBlock block;
        std::optional<Answer> answer;  // empty if its decision values are too many to keep
        double seconds = 0;
        std::future<void> ended;

        void parse_and_answer(const LineBlocks& blocks, const Predictor& predictor) {
            const auto start = std::chrono::steady_clock::now();
            blocks.parse(block);
            if (block.rows) {
                const auto worker = predictor.worker();
                if (worker->fits_in_memory(*block.rows)) answer = worker->answer(block.rows);
            }
            seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
    };

    WorkerThreads(const Predictor& predictor, const LineBlocks& blocks)
        : threads(get_threads()), predictor_(predictor), blocks_(blocks) {}
    ~WorkerThreads() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
        for (std::thread& helper : helpers_) helper.join();
    }
    WorkerThreads(const WorkerThreads&) = delete;

    const int threads;
    void hand_out(Job& job) {
        if (!started_) start();
        std::packaged_task<void()> work([this, &job] { job.parse_and_answer(blocks_, predictor_); });
        job.ended = work.get_future();
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            waiting_.push_back(std::move(work));
        }
        changed_.notify_one();
    }
    void finish(Job& job) {
        const auto has_ended = [&](auto time) { return job.ended.wait_for(time) == std::future_status::ready; };
        while (!has_ended(std::chrono::seconds(0))) {
            check_now_and_then();
            std::unique_lock<std::mutex> lock(mutex_);
            if (waiting_.empty()) {
                lock.unlock();
                has_ended(between_stop_checks);
                continue;
            }
            std::packaged_task<void()> other = next();
            lock.unlock();
            const int before = set_threads_here(1);
            {
                const NoChecks none;  // exceptions would wait for the job's turn
                other();
            }
            set_threads_here(before);
        }
        job.ended.get();
    }

private:
    void start() {
        started_ = true;
        helpers_.reserve(static_cast<std::size_t>(threads));
        for (int i = 1; i < threads; ++i) {
            try {
                helpers_.emplace_back([this] { help(); });
            } catch (const std::system_error&) {  // continue with the threads that started
                break;
            }
        }
    }
    std::packaged_task<void()> next() {
        std::packaged_task<void()> out = std::move(waiting_.front());
        waiting_.pop_front();
        return out;
    }
    void help() {
        set_threads_here(1);
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
            if (closed_) return;
            std::packaged_task<void()> work = next();
            lock.unlock();
            work();
            lock.lock();
        }
    }

    const Predictor& predictor_;
    const LineBlocks& blocks_;
    bool started_ = false, closed_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::packaged_task<void()>> waiting_;
    std::vector<std::thread> helpers_;
};

void FeatureCounts::add(const Rows& rows, std::int32_t most) {
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        if (rows.begin(row) == rows.end(row)) continue;
        const std::int32_t last = rows.indices[rows.end(row) - 1];
        beyond += last > most;
        zero += rows.indices[rows.begin(row)] == 0;
        largest = std::max(largest, last);
    }
}

void RunCounts::add(const Answer& answer, const ResolvedOptions& resolved) {
    rows += answer.rows->rows;
    features.add(*answer.rows, resolved.largest_feature);
    outside += answer.outside;
    evaluated += answer.evaluated;
    reference_rows += answer.reference_rows;
    kernel_evaluations += answer.kernel_evaluations;
    undecided += answer.undecided;
    audited += answer.audited;
    audit_differing += answer.audit_differing;
    for (std::size_t level = 0; level < level_rows.size(); ++level) level_rows[level] += answer.level_rows[level];
    if (!labelled) return;
    score.add(*answer.rows, answer.predictions);
    const UnknownLabels unknown = fastsvm::unknown_labels(resolved.model->task, *answer.rows);
    unknown_labels.rows += unknown.rows;
    unknown_labels.zeros += unknown.zeros;
}

Run::Run(const Predictor& predictor, Outputs outputs, RunCounts& run_counts, BadRows* bad_rows)
    : predictor_(predictor), outputs_(std::move(outputs)), run_counts_(run_counts), bad_rows_(bad_rows) {
    if (!bad_rows_ || !bad_rows_->nan) return;
    bad_rows_->filler.clear();
    for (std::int64_t column = 0; column < predictor_.resolved.columns(); ++column)
        bad_rows_->filler += column ? " nan" : "nan";
    bad_rows_->filler += '\n';
}

void Run::begin() {
    const std::string head = predictor_.resolved.head();
    if (head.empty()) return;
    if (outputs_.before_writing) outputs_.before_writing();
    outputs_.lines(head);
}

std::string Run::numbered(const Rows& rows, const std::vector<std::int64_t>& which) const {
    return format_rows(select_rows(rows, which), bad_rows_ ? bad_rows_->lines(which) : rows.line_numbers(which));
}

void Run::finish(const Answer& answer) {
    if (!answer.bad.empty()) bad_rows_->drop(answer.bad);
    run_counts_.add(answer, predictor_.resolved);
    if (outputs_.before_writing) outputs_.before_writing();
    if (outputs_.outside_rows && !answer.outside_rows.empty())
        outputs_.outside_rows(numbered(*answer.rows, answer.outside_rows));
    if (outputs_.open_rows && !answer.open_rows.empty()) outputs_.open_rows(numbered(*answer.rows, answer.open_rows));
    if (bad_rows_)
        bad_rows_->fill(answer.lines, answer.rows->rows, outputs_.lines);
    else
        outputs_.lines(answer.lines);
    if (answer.error) throw RunError(*answer.error);
    if (outputs_.after_chunk) outputs_.after_chunk();
}

void Run::answer(const std::shared_ptr<const Rows>& rows) {
    predictor_.worker()->answers(rows, [this](const Answer& answer) { finish(answer); });
}

void Run::answer(LineBlocks& blocks) {
    std::deque<std::unique_ptr<WorkerThreads::Job>> pending;
    std::vector<Array<char>> spare;                    // of finished blocks
    WorkerThreads worker_threads(predictor_, blocks);  // its threads must end before the data they use

    const auto count_block = [&](WorkerThreads::Job& job) {
        LineBlock& block = job.block;
        if (block.size >= least_block_bytes) {
            const double target = static_cast<double>(block.size) * block_seconds / std::max(job.seconds, 1e-9);
            blocks.size = static_cast<std::size_t>(
                std::clamp(target, static_cast<double>(least_block_bytes), static_cast<double>(block_bytes)));
        }
        blocks.count_block(block);
        if (block.rows && (block.rows->rows || predictor_.resolved.around)) {
            if (job.answer)
                finish(*job.answer);
            else
                answer(block.rows);
        }
        if (block.error) throw RunError(*block.error);
        spare.push_back(std::move(block.text));
    };
    const auto count_first_block = [&] {
        const auto job = std::move(pending.front());
        pending.pop_front();
        worker_threads.finish(*job);
        count_block(*job);
    };

    bool first = true;
    for (;;) {
        auto job = std::make_unique<WorkerThreads::Job>();
        if (!spare.empty()) {
            job->block.text = std::move(spare.back());
            spare.pop_back();
            job->block.text.resize(0);
        }
        if (!blocks.next(job->block)) break;
        // The first job runs alone, so that lazy parts are built once.
        if (first || (pending.empty() && (worker_threads.threads == 1 || !blocks.ready()))) {
            first = false;
            job->parse_and_answer(blocks, predictor_);  // on all threads
            count_block(*job);
            continue;
        }
        worker_threads.hand_out(*job);
        pending.push_back(std::move(job));
        // Enough work for all threads while this one reads or writes; no more, to save memory.
        while (!pending.empty() &&
               (pending.size() > 2 * static_cast<std::size_t>(worker_threads.threads) || !blocks.ready()))
            count_first_block();
    }
    while (!pending.empty()) count_first_block();
}

namespace {

std::string with_digits(double value, int digits = 6) {
    return std::isnan(value) ? "-nan" : short_number(value, digits);  // x86-64 gives 0 / 0 a sign, which printf shows
}

// "<some> of <rows> rows", with the percentage.
std::string of_rows(std::int64_t some, std::int64_t rows, int digits = 4) {
    std::string out = std::to_string(some) + " of " + std::to_string(rows) + " rows";
    if (rows) out += " (" + with_digits(100 * static_cast<double>(some) / static_cast<double>(rows), digits) + " %)";
    return out;
}

// The binomial P(X <= k), for whole numbers k and n.
double at_most(double k, double n, double p) {
    if (k > n * p) return 1 - at_most(n - k - 1, n, 1 - p);  // its terms decrease from the first
    double term = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
                           (n - k) * std::log1p(-p));
    double total = 0;
    for (; term > 1e-17 * total; --k) {
        total += term;
        term *= k * (1 - p) / ((n - k + 1) * p);
    }
    return total;
}

std::string percent(double share) { return with_digits(100 * share, 3) + " %"; }

std::string sampled(const RunCounts& run_counts) {
    return std::to_string(run_counts.audit_differing) + " of " + std::to_string(run_counts.audited) + " sampled ";
}

}  // namespace

std::vector<std::string> opening_lines(const ResolvedOptions& resolved) {
    const Header& printed = resolved.printed->header;
    if (!resolved.probability) {
        if (!printed.has_probability()) return {};
        return {"Model supports probability estimates, but disabled in prediction."};
    }
    if (!printed.regression()) return {};
    const double unit = resolved.model->labels_back ? resolved.model->labels_back->scale : 1;  // in raw labels
    return {"Prob. model for test data: target value = predicted value + z,",
            "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=" + with_digits((*printed.prob_a)[0] * unit)};
}

std::string opening_note(const ResolvedOptions& resolved) {
    const Header& printed = resolved.printed->header;
    if (!resolved.exact || !resolved.probability || !printed.classification() || printed.nr_class <= 2) return "";
    return "Note: a compiled model's radii hardly ever prove the printed digits of the probabilities of more than two"
           " classes: nearly every row is evaluated exactly.";
}

std::vector<double> scores(const Header& printed, const Score& score) {
    const double n = static_cast<double>(score.total);
    if (!printed.regression()) return {static_cast<double>(score.correct) / n};
    const double covariance = n * score.sumpt - score.sump * score.sumt;
    return {score.error / n,
            covariance * covariance /
                ((n * score.sumpp - score.sump * score.sump) * (n * score.sumtt - score.sumt * score.sumt))};
}

std::vector<std::string> score_lines(const Header& printed, const Score& score) {
    const std::vector<double> found = scores(printed, score);
    if (!printed.regression())
        return {"Accuracy = " + with_digits(found[0] * 100) + "% (" + std::to_string(score.correct) + "/" +
                std::to_string(score.total) + ") (classification)"};
    return {"Mean squared error = " + with_digits(found[0]) + " (regression)",
            "Squared correlation coefficient = " + with_digits(found[1]) + " (regression)"};
}

// Fewer rows may be all wrong, or lack any feature, by chance.
constexpr std::int64_t few_rows = 20;

std::string row_warning(const Header& header, const RunCounts& run_counts, bool zeros_count) {
    constexpr std::size_t shown = 6;
    const std::int64_t rows = run_counts.rows;
    const UnknownLabels& unknown = run_counts.unknown_labels;
    if (!rows) return "no row was predicted";
    // LIBSVM data without labels has an arbitrary number there, usually 0.
    if (2 * (unknown.rows - (zeros_count ? 0 : unknown.zeros)) <= rows) {
        const bool all_wrong = header.classification() && !run_counts.score.correct;
        return all_wrong && run_counts.score.total - unknown.rows >= few_rows
                   ? "no row gets its own label: they may be rows of another data set"
                   : "";
    }
    const std::vector<int> labels = header.classification() ? *header.label : std::vector<int>{1, -1};
    std::string words;
    for (std::size_t i = 0; i < std::min(shown, labels.size()); ++i)
        words += (words.empty() ? "" : ", ") + std::to_string(labels[i]);
    if (labels.size() > shown) words += ", ...";
    const std::string all = std::to_string(rows);
    if (unknown.rows == rows) return "none of the " + all + " rows has a label that the model answers (" + words + ")";
    return std::to_string(unknown.rows) + " of " + all + " rows have labels other than the model's (" + words + ")";
}

std::string feature_warning(const Header& header, const KnownFeatures& known, const RunCounts& run_counts) {
    // Most rows may lack any feature, if some of the vectors do.
    constexpr double nearly_all = 0.9;
    const FeatureCounts& found = run_counts.features;
    const bool constant = known.first && !known.largest;
    if (run_counts.rows < few_rows || header.kernel_type == "precomputed" || constant) return "";
    FeatureCounts of_vectors;
    if (known.vectors) of_vectors.add(*known.vectors, found.largest);
    const double many = known.vectors ? nearly_all * static_cast<double>(known.vectors->rows) : 0;
    const auto nearly_all_vectors = [&](std::int64_t some) { return some && static_cast<double>(some) >= many; };

    if (found.zero && known.first)
        return std::to_string(found.zero) + " of " + std::to_string(run_counts.rows) +
               " rows have a feature 0, which the model lacks: if they count features from 0, count them from 1"
               " (zero_based=False of scikit-learn's dump_svmlight_file)";
    if (!found.zero && known.vectors && nearly_all_vectors(of_vectors.zero))
        return "no row has a feature 0, which " + std::to_string(of_vectors.zero) + " of the model's " +
               std::to_string(known.vectors->rows) +
               " vectors have: if the rows count features from 1, count them from 0 (zero_based=True of scikit-learn's"
               " dump_svmlight_file)";
    if (2 * found.beyond > run_counts.rows)
        return std::to_string(found.beyond) + " of " + std::to_string(run_counts.rows) + " rows have features beyond " +
               std::to_string(known.largest) + ", the model's last: they may be rows of another data set";
    if (known.vectors && nearly_all_vectors(of_vectors.beyond))
        return "no row has a feature beyond " + std::to_string(found.largest) + ", and " +
               std::to_string(of_vectors.beyond) + " of the model's " + std::to_string(known.vectors->rows) +
               " vectors do: they may be rows of another data set";
    return "";
}

std::vector<std::string> scaling_warnings(const Scaling& scaling, const ScaledEntries& scaled,
                                          const std::string& name) {
    const ScalingCounts& counts = scaled.counts;
    std::vector<std::string> out;
    if (counts.unknown)
        out.push_back("Warning: " + std::to_string(counts.unknown) + (counts.unknown == 1 ? " value" : " values") +
                      " left out, of features that " + name +
                      " does not hold (the first: " + std::to_string(counts.unknown_index) + "), as svm-scale does.");
    if (scaled.after > counts.before && scaling.kind() == Scaling::Kind::range)
        out.push_back("Warning: scaling made the rows denser, " + std::to_string(scaled.after) +
                      " values that are not 0 instead of " + std::to_string(counts.before) +
                      ": if features are not negative and sparse, svm-scale -l 0 keeps them sparse.");
    return out;
}

std::vector<std::string> closing_notes(const ResolvedOptions& resolved, const RunCounts& run_counts,
                                       std::optional<std::int64_t> steps) {
    const Header& header = resolved.model->header;
    const std::int64_t rows = run_counts.rows, evaluated = run_counts.evaluated, undecided = run_counts.undecided;
    if (resolved.exact)
        return {"Proven: " + of_rows(rows - evaluated, rows) + "; " + std::to_string(evaluated) +
                " evaluated exactly, " + std::to_string(run_counts.reference_rows) + " of them by the reference sum."};
    if (resolved.model->ordered) {
        const std::int64_t evaluations = run_counts.kernel_evaluations, whole = rows * header.total_sv;
        std::string saved;
        if (whole)
            saved = " (" + with_digits(100 * (1 - static_cast<double>(evaluations) / static_cast<double>(whole)), 4) +
                    " % saved)";
        std::vector<std::string> out{"Kernel evaluations: " + std::to_string(evaluations) + " of " +
                                     std::to_string(whole) + saved + "."};
        if (steps && !header.regression())
            out.push_back("Decided: " + of_rows(rows - undecided, rows) + " after " + std::to_string(*steps) +
                          " points.");
        else if (header.regression() && !resolved.tolerance && !steps)
            out.emplace_back(
                "Note: values of a regression model are evaluated in full; --tolerance E stops each as soon as it is"
                " within E.");
        return out;
    }
    if (resolved.open_rows)
        return {"Proven: " + of_rows(rows - undecided, rows) + "; " + std::to_string(undecided) + " undecided."};
    if (!run_counts.outside || !resolved.model->judged_by_bound) return {};
    return {"Note: " + of_rows(run_counts.outside, rows, 3) +
            " are outside the bound of the expansion (Claesen et al., eq. 3.11): nothing is known of how near their"
            " values are to the exact model's. fastsvm bench tells how " +
            (header.regression() ? "far they are." : "many labels differ.")};
}

double upper_bound(double differing, double rows, double confidence) {
    if (differing >= rows) return 1;
    double low = 0, high = 1;
    for (double middle = 0.5; low < middle && middle < high; middle = (low + high) / 2)
        (at_most(differing, rows, middle) > 1 - confidence ? low : high) = middle;
    return high;
}

std::string audit_note(const RunCounts& run_counts, double most) {
    return "Audit: " + sampled(run_counts) + "labels differ from the exact model's; with " +
           with_digits(100 * audit_confidence) + " % confidence, at most " + percent(most) + " of all.";
}

std::string disagreement_error(const RunCounts& run_counts, double most, double limit) {
    return "up to " + percent(most) + " of the labels may differ from the exact model's (" + sampled(run_counts) +
           "ones do; " + with_digits(100 * audit_confidence) + " % confidence), more than " + percent(limit);
}

std::string json_number(double value) { return std::isfinite(value) ? repr_number(value) : "null"; }

}  // namespace fastsvm
