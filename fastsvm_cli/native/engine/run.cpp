#include "engine/run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "simd/parallel.h"

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
        bool done = false;
        std::exception_ptr failure;

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
        : predictor_(predictor), blocks_(blocks), threads_(get_threads()) {}
    ~WorkerThreads() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
        for (std::thread& helper : helpers_) helper.join();
    }
    WorkerThreads(const WorkerThreads&) = delete;

    int threads() const { return threads_; }
    // Uses all threads for this one job.
    void do_here(Job& job) { job.parse_and_answer(blocks_, predictor_); }
    void hand_out(Job& job) {
        if (!started_) start();
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            waiting_.push_back(&job);
        }
        changed_.notify_one();
    }
    void finish(const Job& job) {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!job.done) {
            if (waiting_.empty()) {
                changed_.wait_for(lock, between_stop_checks);
                lock.unlock();
                check_now_and_then();
                lock.lock();
                continue;
            }
            Job& other = *waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            check_now_and_then();
            const int before = set_threads_here(1);
            {
                const NoChecks none;  // exceptions would wait for the job's turn
                attempt(other);
            }
            set_threads_here(before);
            lock.lock();
            other.done = true;
        }
        if (job.failure) std::rethrow_exception(job.failure);
    }

private:
    void start() {
        started_ = true;
        helpers_.reserve(static_cast<std::size_t>(threads_));
        for (int i = 1; i < threads_; ++i) {
            try {
                helpers_.emplace_back([this] { help(); });
            } catch (const std::system_error&) {  // continue with the threads that started
                break;
            }
        }
    }
    void attempt(Job& job) const {
        try {
            job.parse_and_answer(blocks_, predictor_);
        } catch (...) {
            job.failure = std::current_exception();
        }
    }
    void help() {
        set_threads_here(1);
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
            if (closed_) return;
            Job& job = *waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            attempt(job);
            lock.lock();
            job.done = true;
            changed_.notify_all();
        }
    }

    const Predictor& predictor_;
    const LineBlocks& blocks_;
    const int threads_;
    bool started_ = false, closed_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job*> waiting_;  // not started
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
    std::vector<TextBytes> spare;                      // of finished blocks
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
            job->block.text.clear();
        }
        if (!blocks.next(job->block)) break;
        // The first job runs alone, so that lazy parts are built once.
        if (first || (pending.empty() && (worker_threads.threads() == 1 || !blocks.ready()))) {
            first = false;
            worker_threads.do_here(*job);
            count_block(*job);
            continue;
        }
        worker_threads.hand_out(*job);
        pending.push_back(std::move(job));
        // Enough work for all threads while this one reads or writes; no more, to save memory.
        while (!pending.empty() &&
               (pending.size() > 2 * static_cast<std::size_t>(worker_threads.threads()) || !blocks.ready()))
            count_first_block();
    }
    while (!pending.empty()) count_first_block();
}

}  // namespace fastsvm
