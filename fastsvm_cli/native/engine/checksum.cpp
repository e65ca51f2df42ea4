#include "engine/checksum.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/header.h"
#include "engine/sha256.h"
#include "text/parse.h"

namespace fastsvm {

namespace {

constexpr std::string_view last_line = "end\n";
constexpr std::array<const char*, 2> range_words{"range", "y_range"};
const std::string changed =
    "the checksum does not fit the content: the file was changed after fastsvm wrote it; compile the model again";

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string with_line_feeds(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = std::min(text.find("\r\n", at), text.size());
        out.append(text.substr(at, next - at));
        at = next + (next < text.size() ? 1 : 0);
    }
    return out;
}

std::int64_t line_at(std::string_view text, std::size_t at) { return count_lines(text.data(), at) + 1; }

// Offset of the last line, with or without line end.
std::size_t start_of_last_line(std::string_view text) {
    return text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;  // npos + 1 is 0
}

void take_ranges(OpenedText& out) {
    std::string& text = out.text;
    const std::size_t at = text.rfind(std::string("\n") + range_words[0] + " ") + 1;
    if (!at)
        throw ModelError("a model of version " + std::to_string(embedding_version) +
                         " without a range found, expected one after its body");
    std::int64_t number = line_at(text, at);
    const std::string_view rest(text.data() + at, text.size() - last_line.size() - at);
    std::vector<std::string_view> lines;
    for (std::size_t begin = 0; begin < rest.size();) {
        const std::size_t stop = rest.find('\n', begin);  // all lines are complete
        lines.push_back(rest.substr(begin, stop - begin));
        begin = stop + 1;
    }
    std::size_t next = 0;
    for (const char* word : range_words) {
        if (next == lines.size() && !out.ranges.empty()) break;
        const std::string_view first = next < lines.size() ? lines[next] : std::string_view();
        const std::vector<std::string_view> words = split_words(first);
        const bool counts =
            words.size() == 2 && words[1].size() < 10 &&
            std::all_of(words[1].begin(), words[1].end(), [](unsigned char c) { return std::isdigit(c); });
        const std::size_t count = counts ? std::stoul(std::string(words[1])) : 0;
        if (!counts || words[0] != word || count >= lines.size() - next)
            throw ModelError("'" + ascii(first.substr(0, 40)) + "' found, expected '" + word + "' and its lines",
                             number);
        std::string range;
        for (std::size_t line = next + 1; line <= next + count; ++line) range.append(lines[line]) += '\n';
        out.ranges.push_back({std::move(range), number + 1});
        number += static_cast<std::int64_t>(count) + 1;
        next += count + 1;
    }
    if (next < lines.size()) throw ModelError("text found after the lines of the range", number);
    text.resize(at);
    text += last_line;
}

}  // namespace

OpenedText open_compiled(std::string_view given, int version) {
    OpenedText out;
    out.text = given.find('\r') == std::string_view::npos ? std::string(given) : with_line_feeds(given);
    std::string& text = out.text;
    if (!ends_with(text, "\nend\n"))
        throw ModelError("the last line is not 'end': the file is cut off, or has been added to");
    const std::size_t before_end = text.size() - last_line.size();
    const std::size_t content = before_end < 2 ? 0 : text.rfind('\n', before_end - 2) + 1;
    const std::string_view checked(text.data(), content);
    if (text.compare(content, std::string::npos, "checksum " + fingerprint(checked) + "\nend\n") != 0)
        throw ModelError(changed);
    text.resize(content);
    text += last_line;
    for (char byte : {'\r', '\v', '\f'}) {  // the kinds' readers would accept these as blanks
        const std::size_t at = text.find(byte);
        if (at == std::string::npos) continue;
        const std::size_t begin = text.rfind('\n', at) + 1;
        line_words(std::string_view(text).substr(begin, text.find('\n', at) - begin), line_at(text, at));
    }
    if (version == embedding_version) take_ranges(out);
    return out;
}

std::string first_line(const std::string& kind, bool embeds) {
    return "fastsvm_model " + kind + ' ' + std::to_string(embeds ? embedding_version : format_version) + '\n';
}

void add_checksum(std::string& text, const std::vector<std::string>& embedded) {
    for (std::size_t i = 0; i < embedded.size(); ++i) {
        const std::int64_t lines = count_lines(embedded[i].data(), embedded[i].size());
        text += range_words.at(i) + (' ' + std::to_string(lines)) + '\n' + embedded[i];
    }
    text += "checksum " + fingerprint(text) + '\n' + std::string(last_line);
}

void add_checksum_to_own_line(std::string& text) {
    text += ' ';
    text += fingerprint(text) + '\n';
}

std::string own_line(std::string_view text) {
    const std::string_view line = text.substr(start_of_last_line(text));
    for (const char* word : {reduced_word, folded_word})
        if (line.substr(0, std::string_view(word).size() + 1) == std::string(word) + " ") return word;
    return "";
}

void check_own_line(std::string_view text) {
    const std::size_t start = start_of_last_line(text);
    const std::vector<std::string_view> words = split_words(text.substr(start, 80));
    if (words.size() < 2 || words[1] != std::to_string(format_version)) return;
    const std::string counted = with_line_feeds(text);
    const std::size_t word = counted.rfind(' ') + 1;
    if (counted.compare(word, std::string::npos, fingerprint(std::string_view(counted).substr(0, word)) + "\n") != 0)
        throw ModelError(changed + ", or delete this line to use the file as a LIBSVM model and no more",
                         line_at(text, start));
}

}  // namespace fastsvm
