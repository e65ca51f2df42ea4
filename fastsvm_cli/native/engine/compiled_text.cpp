#include "engine/compiled_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/model_error.h"
#include "engine/words.h"
#include "text/numbers.h"
#include "text/parse.h"

namespace fastsvm {

const std::string& OwnKeys::word(const std::string& key, const std::vector<std::string>& choices) const {
    return one_word(words(key), key, choices);
}

int OwnKeys::whole(const std::string& key, std::optional<int> least, std::optional<int> most) const {
    const int number = whole_number(word(key), key, words(key).line);
    if (least && (number < *least || (most && number > *most)))
        fail(key, key + " " + std::to_string(number) + " found, expected " + std::to_string(*least) +
                      (most ? " to " + std::to_string(*most) : " or more"));
    return number;
}

double OwnKeys::real(const std::string& key) const { return real_number(word(key), key, words(key).line); }

std::optional<FoldedScaling> OwnKeys::folded() const {
    if (!has(raw_rows_key)) return std::nullopt;
    return FoldedScaling{word(raw_rows_key), true};
}

const KeyWords& OwnKeys::counted(const std::string& key, std::int64_t count) const {
    const KeyWords& found = words(key);
    if (static_cast<std::int64_t>(found.words.size()) != count)
        fail(key,
             std::to_string(found.words.size()) + " values of '" + key + "' found, expected " + std::to_string(count));
    return found;
}

std::vector<int> OwnKeys::wholes(const std::string& key, std::int64_t count) const {
    std::vector<int> out;
    for (const std::string& word : counted(key, count).words) out.push_back(whole_number(word, key, words(key).line));
    return out;
}

std::vector<double> OwnKeys::reals(const std::string& key, std::int64_t count) const {
    std::vector<double> out;
    for (const std::string& word : counted(key, count).words) out.push_back(real_number(word, key, words(key).line));
    return out;
}

void OwnKeys::fail(const std::string& key, const std::string& why) const { throw ModelError(why, words(key).line); }

Rows Body::vectors(const Header& header, std::int64_t more, bool any_order) {
    // Only a missing final line end shows that the last row is cut off.
    const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
    const std::int64_t expected = header.total_sv + more, first_line = line();
    Format format;
    format.leading_count = static_cast<int>(header.nr_class - 1);
    format.leading_name = "a coefficient";
    format.plain_comments = true;
    format.any_order = any_order;
    format.max_rows = expected;
    ParseResult read = parse(text.data() + at, whole - at, first_line, format);
    if (!read.error.empty()) throw ModelError(read.error, read.error_line);
    if (read.rows.rows < expected)
        throw ModelError(
            read.rows.rows + 1 == expected && whole < text.size()
                ? "no line end found after the last support vector, which may be cut off, expected one: if the file is "
                  "whole, add it with echo >> FILE"
                : std::to_string(read.rows.rows) + " support vectors found, expected " + std::to_string(expected) +
                      (whole < text.size() ? ": the last one is cut off" : ": the file ends"),
            first_line + read.rows.rows);
    at += read.consumed;
    return std::move(read.rows);
}

Rows Body::rows(std::int64_t count) {
    const std::int64_t first_line = line();
    Format format;
    format.max_rows = count;
    ParseResult read = parse(text.data() + at, text.size() - at, first_line, format);
    at += read.consumed;
    // The line `end` among the rows means that rows are missing.
    if (read.rows.rows < count && (read.error.empty() || text.substr(at) == "end\n"))
        throw ModelError(std::to_string(read.rows.rows) + " rows found, expected " + std::to_string(count),
                         first_line + read.rows.rows);
    if (!read.error.empty()) throw ModelError(read.error, read.error_line);
    return std::move(read.rows);
}

std::vector<double> Body::numbers(std::int64_t count, bool single) {
    if (!count) return {};
    NumberLines read = read_numbers(text.data(), text.size(), static_cast<std::int64_t>(at), count, single);
    if (!read.error.empty()) fail(read.error + " among " + std::to_string(count) + " numbers", read.at);
    at = read.at;
    return std::move(read.numbers);
}

std::vector<std::int64_t> Body::whole_numbers(std::int64_t count, std::int64_t limit) {
    const std::size_t start = at;
    std::vector<std::int64_t> out;
    for (double number : numbers(count)) {
        if (!(number >= 0 && number < static_cast<double>(limit) && number == std::trunc(number)))
            fail(short_number(number) + " found, expected a whole number below " + std::to_string(limit), start);
        out.push_back(static_cast<std::int64_t>(number));
    }
    return out;
}

std::vector<std::int64_t> Body::record(const std::string& word, std::size_t fields) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, stop - at);
    const std::vector<std::string_view> words = split_words(line);
    const auto digits = [](std::string_view each) {
        return std::all_of(each.begin(), each.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (words.size() != fields + 1 || words[0] != word || !std::all_of(words.begin() + 1, words.end(), digits))
        fail("'" + ascii(line.substr(0, 40)) + "' found, expected '" + word + "'", at);
    at = std::min(stop + 1, text.size());
    std::vector<std::int64_t> out;
    for (std::size_t i = 1; i < words.size(); ++i)  // more digits are out of range
        out.push_back(std::stoll(std::string(words[i].substr(0, 10))));
    return out;
}

bool Body::begins_with(const std::string& word) const { return text.substr(at, word.size() + 1) == word + " "; }

void Body::end(const std::string& after) {
    if (!after.empty() && text.substr(at, 4) != "end\n") fail("text found after " + after, at);
    record("end");
    if (at != text.size()) fail("text found after 'end'", at);
}

void Body::fail(const std::string& why, std::size_t where) const { throw ModelError(why, line_of(where)); }

std::int64_t Body::line_of(std::size_t where) const {
    return count_lines(text.data(), std::min(where, text.size())) + 1;
}

CompiledText read_compiled(std::string_view text, const std::string& last, const std::vector<std::string>& keys,
                           const std::vector<std::string>& optional) {
    std::vector<std::string> own(keys);
    own.insert(own.end(), optional.begin(), optional.end());
    HeaderText read = read_compiled_header(text, last, own, text.find('\n') + 1, 2);
    for (const std::string& key : keys)
        if (!read.own.count(key)) throw ModelError("the header ends without '" + key + "'", read.line);
    return {std::move(read.header), OwnKeys(std::move(read.own)), Body(text, read.end)};
}

std::vector<std::int32_t> read_ranges(const KeyWords& found, std::size_t limit) {
    std::vector<std::int32_t> out;
    for (const std::string& word : found.words) {
        const std::size_t colon = word.find(':');
        const std::string last = colon == std::string::npos ? "" : word.substr(colon + 1);
        const std::int64_t low = whole_number(word.substr(0, colon), "features", found.line);
        const std::int64_t high = last.empty() ? low : whole_number(last, "features", found.line);
        const std::string quoted = "features '" + word.substr(0, 40) + "' found, ";
        if (low < 0 || high < low || (!out.empty() && low <= out.back()))
            throw ModelError(quoted + "expected increasing indices", found.line);
        if (static_cast<std::int64_t>(out.size()) + high - low >= static_cast<std::int64_t>(limit))
            throw ModelError(quoted + "more than the file has numbers for", found.line);
        for (std::int64_t index = low; index <= high; ++index) out.push_back(static_cast<std::int32_t>(index));
    }
    return out;
}

std::string short_number(double number) {
    char buffer[number_text_max];
    return std::string(buffer, write_g(buffer, number, 6));
}

}  // namespace fastsvm
