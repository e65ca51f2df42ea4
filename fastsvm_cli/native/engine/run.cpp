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
#include "text/parse.h"

namespace fastsvm {

namespace {

// How long a thread should work on a block: long enough that handing it over does not count, short enough that the last
// block of a file does not keep one thread busy while the others have nothing left to do.
constexpr double block_seconds = 0.01;
constexpr std::size_t least_block_bytes = 1 << 16;

struct Job {
    LineBlock block;
    std::shared_ptr<const Rows> rows;
    std::string fault;  // of the first line after the rows
    std::int64_t fault_line = 0;
    std::optional<Answer> answer;  // none where its decision values are too many to be held while it waits for its turn
    double seconds = 0;
    bool done = false;
    std::exception_ptr failure;
};

class Work {
public:
    explicit Work(const Scaling* scaling) {
        format_.svmlight = true;
        format_.scaling = scaling;
    }
    void parse_and_answer(Job& job, Answerer& answerer) const {
        const auto start = std::chrono::steady_clock::now();
        ParseResult read = parse(job.block.text.data(), job.block.size, job.block.first_line, format_);
        job.rows = std::make_shared<const Rows>(std::move(read.rows));
        job.fault = std::move(read.fault);
        job.fault_line = read.fault_line;
        if (answerer.at_once(*job.rows)) job.answer = answerer.answer(job.rows);
        job.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

private:
    Format format_;
};

// Threads that do jobs; each has an answerer of its own. The caller's thread helps where it would wait.
class Crew {
public:
    Crew(std::shared_ptr<const Request> request, const Work& work, int threads)
        : request_(std::move(request)), work_(work), threads_(threads), mine_(request_) {}
    ~Crew() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
        for (std::thread& helper : helpers_) helper.join();
    }
    Crew(const Crew&) = delete;

    Answerer& mine() { return mine_; }
    // With all threads for the one job.
    void do_here(Job& job) { work_.parse_and_answer(job, mine_); }
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
                changed_.wait(lock);
                continue;
            }
            Job& other = *waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            const int before = set_threads_here(1);
            attempt(other, mine_);
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
            } catch (const std::system_error&) {  // no thread to be had: those that there are do the work
                break;
            }
        }
    }
    void attempt(Job& job, Answerer& answerer) const {
        try {
            work_.parse_and_answer(job, answerer);
        } catch (...) {
            job.failure = std::current_exception();
        }
    }
    void help() {
        set_threads_here(1);
        std::optional<Answerer> own;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
            if (closed_) return;
            Job& job = *waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            try {
                if (!own) own.emplace(request_);
                work_.parse_and_answer(job, *own);
            } catch (...) {
                job.failure = std::current_exception();
            }
            lock.lock();
            job.done = true;
            changed_.notify_all();
        }
    }

    const std::shared_ptr<const Request> request_;
    const Work& work_;
    const int threads_;
    Answerer mine_;
    bool started_ = false, closed_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job*> waiting_;  // not begun
    std::vector<std::thread> helpers_;
};

}  // namespace

void Tally::add(const Answer& answer, const Task& task) {
    rows += answer.rows->rows;
    outside += answer.outside;
    evaluated += answer.evaluated;
    reference_rows += answer.reference_rows;
    kernel_evaluations += answer.kernel_evaluations;
    undecided += answer.undecided;
    for (std::size_t rung = 0; rung < rung_rows.size(); ++rung) rung_rows[rung] += answer.rung_rows[rung];
    score.add(*answer.rows, answer.predictions);
    const UnknownLabels unknown = fastsvm::unknown_labels(task, *answer.rows);
    unknown_labels.rows += unknown.rows;
    unknown_labels.zeros += unknown.zeros;
}

Tally run(const std::shared_ptr<const Request>& request, LineBlocks& blocks, const Scaling* scaling,
          const std::function<void(const std::string&)>& write) {
    Tally tally;
    const Work work(scaling);
    const int threads = get_threads();
    std::deque<std::unique_ptr<Job>> pending;
    std::vector<std::vector<char>> spare;  // texts of blocks that are done
    Crew crew(request, work, threads);     // its threads end before what they work on does

    const auto take = [&](const Answer& answer) {
        tally.add(answer, request->model->task);
        write(answer.lines);
        if (answer.fault) throw DataFault(answer.fault->first, answer.fault->second);
    };
    const auto finish = [&](Job& job) {
        if (job.block.size >= least_block_bytes) {
            const double wanted = static_cast<double>(job.block.size) * block_seconds / std::max(job.seconds, 1e-9);
            blocks.size = static_cast<std::size_t>(
                std::clamp(wanted, static_cast<double>(least_block_bytes), static_cast<double>(block_bytes)));
        }
        tally.scaling.add(job.rows->scaling);
        tally.entries += job.rows->indices.size();
        if (job.answer)
            take(*job.answer);
        else
            crew.mine().answers(job.rows, take);
        if (!job.fault.empty()) throw DataFault(job.fault_line, job.fault);
        if (job.block.too_long) throw DataFault(job.block.first_line, too_long_line());
        spare.push_back(std::move(job.block.text));
    };
    const auto finish_first = [&] {
        const std::unique_ptr<Job> job = std::move(pending.front());
        pending.pop_front();
        crew.finish(*job);
        finish(*job);
    };

    write(request->head());
    bool first = true;
    for (;;) {
        auto job = std::make_unique<Job>();
        if (!spare.empty()) {
            job->block.text = std::move(spare.back());
            spare.pop_back();
            job->block.text.clear();
        }
        if (!blocks.next(job->block)) break;
        // The first job is done before any other, so that what is made when it is first needed is made once.
        if (first || (pending.empty() && (threads == 1 || !blocks.ready()))) {
            first = false;
            crew.do_here(*job);
            finish(*job);
            continue;
        }
        crew.hand_out(*job);
        pending.push_back(std::move(job));
        // Enough for all threads while this one reads, or writes; no more, for the sake of memory.
        while (!pending.empty() && (pending.size() > 2 * static_cast<std::size_t>(threads) || !blocks.ready()))
            finish_first();
    }
    while (!pending.empty()) finish_first();
    return tally;
}

}  // namespace fastsvm
