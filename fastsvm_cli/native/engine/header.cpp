#include "engine/header.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "answers/predictions.h"
#include "exact/reference/reference.h"

namespace fastsvm {

namespace {

const std::vector<std::string> svm_types(svm_type_names.begin(), svm_type_names.end());
const std::vector<std::string> kernel_types(kernel_names.begin(), kernel_names.begin() + libsvm_kernels);
constexpr const char* linear_weights = "coef";  // ThunderSVM's sum of a linear kernel's vectors; not needed
constexpr std::size_t shown = 40;

std::string quoted(const std::string& word) { return "'" + word.substr(0, shown) + "'"; }

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

std::vector<std::string> kernel_needs(const std::string& kernel) {
    if (kernel == "polynomial") return {"degree", "gamma", "coef0"};
    if (kernel == "rbf") return {"gamma"};
    if (kernel == "sigmoid") return {"gamma", "coef0"};
    return {};
}

// Calls visit(words, line, offset after it) per line until it returns true. Throws ModelError, also at the text's end.
void each_line(std::string_view text, const std::string& last, std::size_t offset, std::int64_t line,
               const std::function<bool(std::vector<std::string>, std::int64_t, std::size_t)>& visit) {
    for (;; ++line) {
        const std::size_t stop = text.find('\n', offset);
        if (stop == std::string_view::npos)
            throw ModelError("the file ends inside the header, expected a line '" + last + "'", line);
        if (visit(line_words(text.substr(offset, stop - offset), line), line, stop + 1)) return;
        offset = stop + 1;
    }
}

[[noreturn]] void unknown_key(const std::string& key, std::int64_t line) {
    if (key[0] == '#') throw ModelError(comment_found, line);
    throw ModelError("unknown key " + quoted(key) + "; is this another program's model?", line);
}

using Occurrences = std::vector<std::pair<std::string, std::vector<KeyWords>>>;

std::vector<KeyWords>& occurrences_of(Occurrences& found, const std::string& key) {
    for (auto& [name, times] : found)
        if (name == key) return times;
    found.push_back({key, {}});
    return found.back().second;
}

// A field's value; null if the model lacks it.
template <class Value> const Value* given(const Value& value) { return &value; }
template <class Value> const Value* given(const std::optional<Value>& value) { return value ? &*value : nullptr; }

struct Assembly {
    const Occurrences& found_;
    std::int64_t end_line_;
    Header out_{};

    Header header() {
        for (const char* key : {"svm_type", "kernel_type", "nr_class", "total_sv", "rho"})
            require(times(key), key, std::string("the header ends without '") + key + "'");
        for (const auto& [key, all] : found_)
            for (const KeyWords& each : all) read(key, each);
        Header& out = out_;
        check_classes();
        check_counts();
        for (const std::string& key : kernel_needs(out.kernel_type))
            require(times(key), key,
                    "the header ends without '" + key + "', which the " + out.kernel_type + " kernel needs");
        require(out.degree >= 0 || out.kernel_type != "polynomial", "degree", "a negative degree found");
        require(out.total_sv >= 0, "total_sv", "a negative number of support vectors found");
        if (!out.classification()) {
            out.label.reset(), out.nr_sv.reset();  // as in models of RNAz; not used
            return out;
        }
        require(out.label.has_value(), "label", "the header ends without 'label'");
        require(out.nr_sv.has_value(), "nr_sv", "the header ends without 'nr_sv'");
        std::int64_t sum = 0;
        bool negative = false;
        for (int count : *out.nr_sv) sum += count, negative = negative || count < 0;
        require(!negative && sum == out.total_sv, "nr_sv",
                "nr_sv adds up to " + std::to_string(sum) + ", expected total_sv " + std::to_string(out.total_sv));
        require(out.nr_class > 1 || out.total_sv == 0, "nr_class",
                "support vectors found in a model of a single class");
        return out;
    }

    const std::vector<KeyWords>* times(const std::string& key) const {
        for (const auto& [name, all] : found_)
            if (name == key) return &all;
        return nullptr;
    }

    void require(bool good, const std::string& key, const std::string& why) const {
        const auto* all = times(key);
        if (!good) throw ModelError(why, all ? all->back().line : end_line_);
    }

    // The last occurrence of a key counts, but all must be valid.
    void read(const std::string& key, const KeyWords& found) {
        const auto if_named = [&](const auto& field) {
            if (key == field.key) read_words(key, found, out_.*field.member);
        };
        std::apply([&](const auto&... field) { (if_named(field), ...); }, header_fields);
    }

    // If nr_class changed, LIBSVM would read values by one and use them by the other.
    void check_classes() const {
        const std::string count = std::to_string(out_.nr_class);
        for (const KeyWords& each : *times("nr_class")) {
            const int number = whole_number(each.words[0], "nr_class", each.line);
            if (number != out_.nr_class)
                throw ModelError("nr_class " + std::to_string(number) + " found, and nr_class " + count + " after it",
                                 each.line);
        }
        if (out_.classification())
            require(out_.nr_class >= 1, "nr_class", "nr_class " + count + " found, expected 1 or more");
        else
            require(out_.nr_class == 2, "nr_class", "nr_class " + count + " found, expected 2 for " + out_.svm_type);
    }

    void check_counts() const {
        const std::int64_t k = out_.nr_class, pairs = k * (k - 1) / 2;
        const std::pair<const char*, std::int64_t> counts[] = {
            {"rho", pairs}, {"probA", pairs}, {"probB", pairs}, {"label", k}, {"nr_sv", k}, {"prob_density_marks", 10}};
        for (const auto& [key, count] : counts) {
            const auto* all = times(key);
            if (!all) continue;
            const std::string what = std::strcmp(key, "label") == 0 ? "labels" : std::string("values of '") + key + "'";
            for (const KeyWords& each : *all)
                if (static_cast<std::int64_t>(each.words.size()) != count)
                    throw ModelError(
                        std::to_string(each.words.size()) + " " + what + " found, expected " + std::to_string(count),
                        each.line);
        }
    }
};

}  // namespace

void read_words(const std::string& key, const KeyWords& found, std::string& out) {
    static const std::vector<std::string> any;
    out = one_word(found, key, key == "svm_type" ? svm_types : key == "kernel_type" ? kernel_types : any);
}
bool is_header_key(std::string_view word) {
    return std::find(header_keys.begin(), header_keys.end(), word) != header_keys.end();
}

std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> class_pairs(std::int64_t nr_class) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> out;
    for (std::int64_t i = 0; i < nr_class; ++i)
        for (std::int64_t j = i + 1; j < nr_class; ++j) out.emplace_back(out.size(), i, j);
    return out;
}

std::string key_line(const std::string& key, const std::string& words) {
    return key + (words.empty() ? "" : " ") + words + '\n';
}

std::string Header::lines() const {
    std::string out;
    const std::vector<std::string> needs = kernel_needs(kernel_type);
    const auto add = [&](const auto& field) {
        const std::string key = field.key;
        const bool of_kernel = key == "degree" || key == "gamma" || key == "coef0";
        if (of_kernel && std::find(needs.begin(), needs.end(), key) == needs.end()) return;
        if (const auto* const value = given(this->*field.member)) out += key_line(key, in_header(*value));
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, header_fields);
    return out;
}

std::vector<std::string> line_words(std::string_view line, std::int64_t number) {
    if (std::any_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) > 127; }))
        throw ModelError("a byte that is not ASCII found", number);
    if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    for (char c : line) {
        if (c == '\t' || (c >= ' ' && c <= '~')) continue;
        const char* const name = control_name(c);
        throw ModelError(std::string(name ? name : "a control character") +
                             " found inside a line, expected blanks or tabs between words",
                         number);
    }
    const std::vector<std::string_view> words = split_words(line, " \t");
    return {words.begin(), words.end()};
}

const std::string& one_word(const KeyWords& found, const std::string& key, const std::vector<std::string>& choices) {
    if (found.words.size() != 1)
        throw ModelError(std::to_string(found.words.size()) + " values of '" + key + "' found, expected 1", found.line);
    const std::string& word = found.words[0];
    if (!choices.empty() && std::find(choices.begin(), choices.end(), word) == choices.end())
        throw ModelError(key + " " + quoted(word) + " found, expected one of " + joined(choices), found.line);
    return word;
}

int whole_number(const std::string& word, const std::string& key, std::int64_t line) {
    const bool sign = word[0] == '+' || word[0] == '-';
    std::size_t at = sign ? 1 : 0;
    bool good = at < word.size() && std::all_of(word.begin() + static_cast<long>(at), word.end(), is_digit);
    std::int64_t number = 0;
    for (; good && at < word.size(); ++at) {
        number = number * 10 + (word[at] - '0');
        good = number <= std::int64_t{1} << 31;
    }
    if (word[0] == '-') number = -number;
    if (!good || number < -(std::int64_t{1} << 31) || number >= std::int64_t{1} << 31)
        throw ModelError(key + " " + quoted(word) + " found, expected a whole number", line);
    return static_cast<int>(number);
}

double real_number(const std::string& word, const std::string& key, std::int64_t line) {
    const std::string text = word + "\n";  // read_double needs a byte that cannot belong to a number
    double number = 0;
    NumberStatus status = NumberStatus::not_a_number;
    const char* const next = read_double(text.c_str(), &number, &status);
    if (status == NumberStatus::underflow) return word[0] == '-' ? -0.0 : 0.0;
    if (status != NumberStatus::ok || next != text.c_str() + word.size())
        throw ModelError(key + " " + quoted(word) + " found, expected a finite number", line);
    return number;
}

HeaderText read_libsvm_header(std::string_view text) {
    HeaderText out;
    Occurrences found;
    std::string latest;  // key
    const auto values = [&]() -> std::vector<std::string>& { return occurrences_of(found, latest).back().words; };
    each_line(text, "SV", 0, 1, [&](std::vector<std::string> words, std::int64_t line, std::size_t stop) {
        for (std::size_t at = 0; at < words.size(); ++at) {
            const std::string& word = words[at];
            if (word == "SV") {
                out.header = Assembly{found, line}.header();
                out.end = stop;
                out.line = line;
                return true;
            }
            if (is_header_key(word) || word == linear_weights) {
                latest = word;
                occurrences_of(found, word).push_back({{}, line});
            } else if (at == 0 && (latest.empty() || !values().empty()) && !std::strchr("+-.0123456789", word[0])) {
                unknown_key(word, line);
            } else if (!latest.empty()) {
                const bool of_plssvm = latest == "svm_type" && word == "c_svr";  // PLSSVM's name for it
                values().push_back(of_plssvm ? "epsilon_svr" : word);
            }
        }
        return false;
    });
    return out;
}

HeaderText read_compiled_header(std::string_view text, const std::string& last,
                                const std::vector<std::string>& own_keys, std::size_t offset, std::int64_t line) {
    HeaderText out;
    Occurrences found;
    each_line(text, last, offset, line, [&](std::vector<std::string> words, std::int64_t number, std::size_t stop) {
        if (words.empty()) throw ModelError("a blank line found, expected a key and its values", number);
        const std::string key = words[0];
        if (key == last) {
            out.header = Assembly{found, number}.header();
            out.end = stop;
            out.line = number;
            return true;
        }
        const bool twice = out.own.count(key) ||
                           std::any_of(found.begin(), found.end(), [&](const auto& each) { return each.first == key; });
        if (twice) throw ModelError("key " + quoted(key) + " found twice", number);
        words.erase(words.begin());
        if (std::find(own_keys.begin(), own_keys.end(), key) != own_keys.end())
            out.own[key] = {std::move(words), number};
        else if (is_header_key(key))
            found.push_back({key, {{std::move(words), number}}});
        else
            unknown_key(key, number);
        return false;
    });
    return out;
}

}  // namespace fastsvm
