#include "engine/kind.h"

#include <algorithm>
#include <cctype>

#include "engine/checksum.h"
#include "engine/header.h"
#include "engine/model_fault.h"
#include "engine/words.h"

namespace fastsvm {

namespace {

bool is_header_key(std::string_view word) {
    return std::find(header_keys.begin(), header_keys.end(), word) != header_keys.end();
}

bool all_digits(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
}

ModelKind compiled_kind(std::string_view line, const std::vector<std::string_view>& words,
                        const std::vector<std::string>& kinds) {
    const std::string newest = std::to_string(carrying_version);
    if (words.size() != 3 || !all_digits(words[2]))
        throw ModelFault("'" + ascii(line.substr(0, 60)) + "' found, expected 'fastsvm_model <kind> <version>'", 1);
    const std::string version(words[2]), name(words[1]);
    if (version.size() > 9 || version[0] == '0')
        throw ModelFault("version '" + version.substr(0, 20) + "' found, expected 1 to " + newest, 1);
    if (std::stoi(version) > carrying_version)
        throw ModelFault("version " + version + " of the format found, this fastsvm reads up to " + newest +
                             ": a newer fastsvm wrote it",
                         1);
    if (name == "blocks")  // written before release 0.1.0
        throw ModelFault("a model of kind 'blocks' found, which is read no more: run fastsvm order again", 1);
    if (std::find(kinds.begin(), kinds.end(), name) == kinds.end()) {
        std::string known;
        for (const std::string& kind : kinds) known += (known.empty() ? "" : ", ") + kind;
        throw ModelFault("a model of kind '" + ascii(name.substr(0, 40)) + "' found, this fastsvm knows " + known, 1);
    }
    return {name, std::stoi(version)};
}

bool looks_like_data(std::string_view line, const std::vector<std::string_view>& words) {
    const std::size_t first = line.find_first_not_of(" \t\v\f\r");
    const bool comment = line[first] == '#' && line.substr(0, 2) != "#!";
    const bool pairs = std::any_of(words.begin(), words.end(), [](std::string_view word) {
        return word.find(':') != std::string_view::npos && all_digits(word.substr(0, word.find(':')));
    });
    std::string number(words[0].substr(std::min(words[0].find_first_not_of("+-"), words[0].size())));
    number.erase(std::remove(number.begin(), number.end(), '.'), number.end());
    return comment || pairs || all_digits(number);
}

}  // namespace

ModelKind model_kind(std::string_view text, const std::vector<std::string>& kinds) {
    const std::string_view start = text.substr(0, 200), line = start.substr(0, start.find('\n'));
    const std::vector<std::string_view> words = split_words(line), first = split_words(start);
    if (words.empty() && !first.empty() && is_header_key(first[0])) return {};  // LIBSVM skips blank lines
    if (text.empty()) throw ModelFault("the file is empty, expected a model");
    if (words.empty()) throw ModelFault("a blank line found, expected a model", 1);
    if (words[0] == "fastsvm_model") return compiled_kind(line, words, kinds);
    if (words[0] == "solver_type" || words[0] == "approximated")
        throw ModelFault(std::string(words[0] == "solver_type" ? "a LIBLINEAR" : "an ApproxSVM") +
                             " model found, expected a LIBSVM or fastsvm model",
                         1);
    if (is_header_key(words[0])) return {};  // LIBSVM accepts header keys in any order
    if (looks_like_data(line, words))
        throw ModelFault("this looks like a data file, expected a LIBSVM or fastsvm model", 1);
    std::string shown(line.substr(0, 40));
    for (char& c : shown)
        if (c < ' ' || c > '~') c = '?';
    throw ModelFault(
        "'" + shown + "' found, expected a LIBSVM model ('svm_type ...') or a fastsvm model ('fastsvm_model ...')", 1);
}

}  // namespace fastsvm
