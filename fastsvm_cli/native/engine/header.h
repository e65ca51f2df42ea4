// The header of a model file: `key value...` lines, as in LIBSVM; errors and words of model files. Readers throw
// ModelError.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "text/numbers.h"

namespace fastsvm {

// An error in a model file, or in numbers given for one. line: number of the invalid line, or 0 for the whole file.
struct ModelError : std::invalid_argument {
    explicit ModelError(const std::string& why, std::int64_t line = 0) : std::invalid_argument(why), line(line) {}
    std::int64_t line;
};

// The file has rows of data instead of a model.
struct DataFileError : ModelError {
    using ModelError::ModelError;
};

// LIBSVM's keys before the support vectors, which compiled models have too.
struct Header {
    std::string svm_type, kernel_type;
    int degree = 0;  // 0 if the kernel has none; so are gamma and coef0
    double gamma = 0, coef0 = 0;
    std::int64_t nr_class = 0, total_sv = 0;
    std::vector<double> rho;                       // (pairs)
    std::optional<std::vector<int>> label, nr_sv;  // (nr_class), classification only
    std::optional<std::vector<double>> prob_a, prob_b, prob_density_marks;

    bool classification() const { return svm_type == "c_svc" || svm_type == "nu_svc"; }
    bool regression() const { return svm_type == "epsilon_svr" || svm_type == "nu_svr"; }
    // Whether the prediction is one of at least two labels.
    bool elects() const { return (classification() && nr_class > 1) || svm_type == "one_class"; }
    // As LIBSVM's svm_check_probability_model.
    bool has_probability() const {
        return classification()          ? prob_a && prob_b
               : svm_type == "one_class" ? prob_density_marks.has_value()
                                         : prob_a.has_value();
    }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho.size()); }
    // The header's text, up to the line after it.
    std::string lines() const;
};

// Words after a key, and their line number.
struct KeyWords {
    std::vector<std::string> words;
    std::int64_t line = 0;
};

// A header as it was read, and where it ends.
struct HeaderText {
    Header header;
    std::map<std::string, KeyWords> own;  // keys beyond LIBSVM's
    std::size_t end = 0;                  // offset after the last line
    std::int64_t line = 0;                // number of the last line
};

// Reads a header as svm_load_model: words, regardless of line ends; the last occurrence of a key counts. Accepts
// ThunderSVM's key `coef` and PLSSVM's svm_type c_svr.
HeaderText read_libsvm_header(std::string_view text);

// Reads a compiled model's header from `offset` up to the line `last`. Keys are unique. own_keys: the kind's.
HeaderText read_compiled_header(std::string_view text, const std::string& last,
                                const std::vector<std::string>& own_keys, std::size_t offset, std::int64_t line);

// LIBSVM's reader takes comments after the word SV only.
inline constexpr char comment_found[] =
    "a comment found, which LIBSVM's reader refuses too: grep -v '^#' leaves such lines out";

// A key, and the member that holds its words.
template <class Member> struct HeaderField {
    const char* key;
    Member Header::* member;
};
template <class Member> HeaderField(const char*, Member Header::*) -> HeaderField<Member>;

// In LIBSVM's order, as headers are written. Readers, the writer and Python's class follow this table.
inline constexpr std::tuple header_fields{
    HeaderField{"svm_type", &Header::svm_type}, HeaderField{"kernel_type", &Header::kernel_type},
    HeaderField{"degree", &Header::degree},     HeaderField{"gamma", &Header::gamma},
    HeaderField{"coef0", &Header::coef0},       HeaderField{"nr_class", &Header::nr_class},
    HeaderField{"total_sv", &Header::total_sv}, HeaderField{"rho", &Header::rho},
    HeaderField{"label", &Header::label},       HeaderField{"probA", &Header::prob_a},
    HeaderField{"probB", &Header::prob_b},      HeaderField{"prob_density_marks", &Header::prob_density_marks},
    HeaderField{"nr_sv", &Header::nr_sv}};
inline constexpr std::array header_keys =
    std::apply([](const auto&... field) { return std::array{field.key...}; }, header_fields);
bool is_header_key(std::string_view word);

// The text of a value in a header.
inline std::string in_header(double number) { return repr_number(number); }
inline std::string in_header(std::int64_t number) { return std::to_string(number); }
inline std::string in_header(int number) { return std::to_string(number); }
inline std::string in_header(const std::string& word) { return word; }
template <class Number> std::string in_header(const std::vector<Number>& numbers) {
    std::string out;
    for (const Number& number : numbers) out += (out.empty() ? "" : " ") + in_header(number);
    return out;
}
// The line `key words`.
std::string key_line(const std::string& key, const std::string& words);

// (pair, i, j) for classes i < j, in LIBSVM's order. A positive value votes for i.
std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> class_pairs(std::int64_t nr_class);

// Words of a line, without its end.
std::vector<std::string> line_words(std::string_view line, std::int64_t number);

// A word as a 32-bit whole number; as a finite number.
int whole_number(const std::string& word, const std::string& key, std::int64_t line);
double real_number(const std::string& word, const std::string& key, std::int64_t line);
// The only word; one of `choices`, if there are any.
const std::string& one_word(const KeyWords& found, const std::string& key,
                            const std::vector<std::string>& choices = {});

// Reads a key's words as a value of this type: one word, or one per number.
void read_words(const std::string& key, const KeyWords& found, std::string& out);
template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
void read_words(const std::string& key, const KeyWords& found, Number& out) {
    const std::string& word = one_word(found, key);
    if constexpr (std::is_integral_v<Number>)
        out = whole_number(word, key, found.line);
    else
        out = real_number(word, key, found.line);
}
template <class Number> void read_words(const std::string& key, const KeyWords& found, std::vector<Number>& out) {
    out.clear();
    out.reserve(found.words.size());
    for (const std::string& word : found.words) read_words(key, {{word}, found.line}, out.emplace_back());
}
template <class Value> void read_words(const std::string& key, const KeyWords& found, std::optional<Value>& out) {
    read_words(key, found, out.emplace());
}

inline bool only_digits(std::string_view word) {
    return word.find_first_not_of("0123456789") == std::string_view::npos;
}

// U+FFFD for each byte that is not ASCII, ? for unprintable ones.
inline std::string ascii(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (static_cast<unsigned char>(c) > 127)
            out += "\xef\xbf\xbd";
        else
            out += c < ' ' || c == 127 ? '?' : c;
    }
    return out;
}

}  // namespace fastsvm
