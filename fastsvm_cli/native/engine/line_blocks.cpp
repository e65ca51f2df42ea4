#include "engine/line_blocks.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "text/numbers.h"

namespace fastsvm {

namespace {
constexpr std::size_t buffer_bytes = 1 << 20;
// To save memory, blocks are shorter if scaling gives every row more features than this.
constexpr std::size_t shifted_in_block = 250;
constexpr std::size_t least_scaled_block = 1 << 12;
}  // namespace

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
    return lines_of(rows, first_line_ + filled_ + passed_, gaps_, filled_);
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

bool may_delimit(const std::string& text) {
    const char c = text.size() == 1 ? text[0] : '0';
    return static_cast<signed char>(c) >= 0 && !std::isalnum(c) &&
           std::string_view("+-.\n\r").find(c) == std::string_view::npos;
}

LineBlocks::LineBlocks(ByteStream stream, Reading how, Position& position, BadRows* bad_rows, ScaledEntries& scaled)
    : reading(std::move(how)),
      stream_(std::move(stream)),
      position_(position),
      bad_rows_(bad_rows),
      scaled_(scaled),
      lines_(position.lines),
      start_(position.offset) {}

std::string LineBlocks::too_long_line() const {
    return "a line of more than " + short_number(static_cast<double>(reading.longest) / 1e6) +
           " MB found, expected a row (predict --max-line allows longer ones)";
}

bool LineBlocks::next(LineBlock& out) {
    if (ended_) return false;
    Array<char>& text = out.text;
    std::swap(text, begun_);
    begun_.resize(0);
    out.too_long = 0;
    out.fields = position_.fields;
    out.most_errors = bad_rows_ ? bad_rows_->unnamed() : 0;
    std::size_t most = size;
    if (reading.scaling && reading.scaling->shifted().size() > shifted_in_block)
        most = std::max(least_scaled_block, most * shifted_in_block / reading.scaling->shifted().size());
    // At most a line's allowed length: only a block's first line, begun earlier, can be too long.
    most = std::max<std::size_t>(std::min(most, reading.longest), 1);
    std::size_t filled = static_cast<std::size_t>(text.size());
    bool passing = false;  // skipping the rest of a too-long line
    const auto finish = [&](std::size_t bytes, std::size_t read) {
        out.size = bytes;
        out.end = start_ += static_cast<std::int64_t>(read);
        out.begin = out.end - static_cast<std::int64_t>(read);
        out.first_line = lines_ + 1;
        lines_ += count_lines({text.data(), bytes});
        return true;
    };
    for (;;) {
        std::size_t scanned = filled;
        bool at_end = false;
        do {
            const std::size_t capacity = std::max<std::size_t>(most - (filled - scanned), 1);
            const std::int64_t needed = static_cast<std::int64_t>(filled + capacity + 1);  // with a last line end
            if (text.size() < needed) text.resize(std::max(needed, 2 * text.size()));
            const std::size_t got = stream_.read(text.data() + filled, capacity);
            filled += got;
            at_end = got == 0;
        } while (!at_end && filled - scanned < most && stream_.ready());
        // End of the line begun earlier.
        const std::size_t first = std::string_view(text.data(), filled).find('\n', scanned);
        if (!passing && std::min(first, filled) > reading.longest) {
            if (!bad_rows_) {
                ended_ = true;
                out.size = 0;
                out.error = {lines_ + 1, too_long_line()};
                return true;
            }
            ++out.too_long;
            ++lines_;
            passing = true;
        }
        if (passing) {
            const bool whole = first != std::string_view::npos;
            const std::size_t gone = whole ? first + 1 : filled;
            start_ += static_cast<std::int64_t>(gone);
            filled -= gone;
            std::memmove(text.data(), text.data() + gone, filled);
            scanned = 0;
            passing = !whole;
            if (!filled && (at_end || !passing)) {
                ended_ = at_end;
                return finish(0, 0);
            }
        }
        if (at_end) {
            ended_ = true;
            if (!filled) return false;
            const std::size_t read = filled;  // before a missing final line end is added
            if (text[filled - 1] != '\n') text[filled++] = '\n';
            return finish(filled, read);
        }
        const std::size_t last = std::string_view(text.data() + scanned, filled - scanned).rfind('\n');
        if (last == std::string_view::npos) continue;
        const std::size_t cut = scanned + last + 1;
        begun_.resize(static_cast<std::int64_t>(filled - cut));
        std::copy(text.data() + cut, text.data() + filled, begun_.data());
        return finish(cut, cut);
    }
}

void LineBlocks::parse(LineBlock& block) const {
    if (block.error) return;
    Format format;
    format.leading_count = reading.labelled;
    format.dense = reading.dense;
    format.delimiter = reading.delimiter;
    format.first_index = reading.first_index;
    format.svmlight = !reading.dense;
    format.scaling = reading.scaling.get();
    format.fields = block.fields;
    if (around()) {
        AroundResult read = parse_around({block.text.data(), block.size}, block.first_line, format, block.most_errors);
        block.rows = std::make_shared<const Rows>(std::move(read.rows));
        block.errors = std::move(read.errors);
        block.fields = read.fields;
        return;
    }
    ParseResult read = fastsvm::parse({block.text.data(), block.size}, block.first_line, format);
    block.rows = std::make_shared<const Rows>(std::move(read.rows));
    block.fields = read.fields;
    if (read.consumed < block.size) block.end = block.begin + static_cast<std::int64_t>(read.consumed);
    if (!read.error.empty()) block.error = {read.error_line, std::move(read.error)};
}

void LineBlocks::count_block(LineBlock& block) {
    if (!block.rows) return;
    std::vector<Gap> gaps = block.rows->gaps;
    if (block.too_long) {
        gaps.insert(gaps.begin(), Gap{0, block.too_long, block.too_long});
        std::vector<RowProblem> errors;
        for (std::int64_t line = block.first_line - block.too_long; line < block.first_line; ++line)
            if (errors.size() < block.most_errors) errors.emplace_back(line, too_long_line());
        block.errors.insert(block.errors.begin(), errors.begin(), errors.end());
    }
    std::int64_t rows = block.rows->rows, comments = 0, lines = 0;
    for (const Gap& gap : gaps) lines += gap.lines, comments += gap.lines - gap.bad;
    if (bad_rows_) bad_rows_->begin(position_.lines + 1, std::move(gaps), std::move(block.errors));
    scaled_.counts.add(block.rows->scaling);
    if (reading.scaling) scaled_.after += block.rows->indices.size();
    position_.offset = block.end;
    position_.fields = block.fields;
    position_.lines += rows + lines;
    position_.comments += comments;
}

}  // namespace fastsvm
