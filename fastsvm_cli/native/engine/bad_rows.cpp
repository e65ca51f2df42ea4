#include "engine/bad_rows.h"

#include <algorithm>

namespace fastsvm {

namespace {
constexpr std::size_t buffer_bytes = 1 << 20;
}

void BadRows::name(const RowProblem& problem) {
    named.push_back(problem);
    name_(problem);
}

void BadRows::restore(std::int64_t counted, const std::vector<RowProblem>& named_then) {
    count = counted;
    for (const RowProblem& problem : named_then) name(problem);
}

void BadRows::begin(std::int64_t first_line, std::vector<Gap> gaps, std::vector<RowProblem> errors) {
    first_line_ = first_line;
    gaps_ = std::move(gaps);
    errors_ = std::move(errors);
    filled_ = passed_ = 0;
    for (const Gap& gap : gaps_) count += gap.bad;
}

void BadRows::drop(const std::vector<RowProblem>& rows) {
    std::vector<Gap> merged;
    std::int64_t left_out = passed_;  // skipped lines before the row
    auto gap = gaps_.begin();
    std::int64_t before = 0;  // dropped rows before it
    for (const auto& [position, why] : rows) {
        const std::int64_t row = filled_ + position;
        for (; gap != gaps_.end() && gap->row <= row; ++gap) {
            merged.push_back({gap->row - before, gap->lines, gap->bad});
            left_out += gap->lines;
        }
        if (before < static_cast<std::int64_t>(most_named)) errors_.emplace_back(first_line_ + row + left_out, why);
        merged.push_back({row - before, 1, 1});
        ++before;
    }
    for (; gap != gaps_.end(); ++gap) merged.push_back({gap->row - before, gap->lines, gap->bad});
    count += before;
    gaps_ = std::move(merged);
}

std::vector<std::int64_t> BadRows::lines(const std::vector<std::int64_t>& rows) const {
    std::vector<std::int64_t> out;
    out.reserve(rows.size());
    std::int64_t left_out = passed_;
    auto gap = gaps_.begin();
    for (std::int64_t row : rows) {
        row += filled_;
        for (; gap != gaps_.end() && gap->row <= row; ++gap) left_out += gap->lines;
        out.push_back(first_line_ + row + left_out);
    }
    return out;
}

void BadRows::fill(const std::string& text, std::int64_t rows, const Write& write) {
    std::sort(errors_.begin(), errors_.end());
    const std::size_t names = std::min(unnamed(), errors_.size());
    for (std::size_t i = 0; i < names; ++i) name(errors_[i]);
    errors_.clear();
    const std::int64_t first = filled_;
    filled_ += rows;
    const auto beyond = std::find_if(gaps_.begin(), gaps_.end(), [this](const Gap& gap) { return gap.row > filled_; });
    const std::vector<Gap> here(gaps_.begin(), beyond);
    gaps_.erase(gaps_.begin(), beyond);
    for (const Gap& gap : here) passed_ += gap.lines;
    if (here.empty() || filler.empty()) return write(text);
    std::string buffer;
    std::size_t at = 0;         // offset in `text`
    std::int64_t done = first;  // rows before that offset
    for (const Gap& gap : here) {
        const std::size_t from = at;
        for (; done < gap.row; ++done) at = text.find('\n', at) + 1;
        buffer.append(text, from, at - from);
        for (std::int64_t left = gap.bad; left > 0; --left) {
            buffer += filler;
            if (buffer.size() < buffer_bytes) continue;
            write(buffer);
            buffer.clear();
        }
    }
    buffer.append(text, at, std::string::npos);
    write(buffer);
}

}  // namespace fastsvm
