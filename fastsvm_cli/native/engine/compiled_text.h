// Reads the common parts of compiled model files. Readers throw ModelError with the line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/header.h"
#include "engine/model_file.h"
#include "text/rows.h"

namespace fastsvm {

// Key of models compiled from a LIBSVM model of raw rows: the fingerprint of the range file folded into that.
inline const std::string raw_rows_key = "raw_rows";

// The header's keys that belong to one kind of model. Readers check a key's words.
class OwnKeys {
public:
    explicit OwnKeys(std::map<std::string, KeyWords> found) : found_(std::move(found)) {}

    bool has(const std::string& key) const { return found_.count(key) > 0; }
    const KeyWords& words(const std::string& key) const { return found_.at(key); }
    // The only word; one of `choices`, if there are any.
    const std::string& word(const std::string& key, const std::vector<std::string>& choices = {}) const;
    // The only word: a whole number, from `least` to `most` if given.
    int whole(const std::string& key, std::optional<int> least = {}, std::optional<int> most = {}) const;
    double real(const std::string& key) const;
    // The scaling that raw_rows_key names, if the model has it.
    std::optional<FoldedScaling> folded() const;
    // All words, exactly `count`.
    std::vector<int> wholes(const std::string& key, std::int64_t count) const;
    std::vector<double> reals(const std::string& key, std::int64_t count) const;
    [[noreturn]] void fail(const std::string& key, const std::string& why) const;

private:
    const KeyWords& counted(const std::string& key, std::int64_t count) const;
    std::map<std::string, KeyWords> found_;
};

// The text after the header. Readers advance `at`.
class Body {
public:
    // text: the whole file; must outlive this.
    Body(std::string_view text, std::size_t at) : text(text), at(at) {}

    // Reads the header's support vectors, then `more` rows. any_order: see Format.
    Rows vectors(const Header& header, std::int64_t more = 0, bool any_order = false);
    // Reads the next `count` data rows.
    Rows rows(std::int64_t count);
    // Reads the next `count` numbers, which fill whole lines. single: they must be in single precision's range.
    std::vector<double> numbers(std::int64_t count, bool single = false);
    // As numbers(), each a whole number from 0 to limit - 1.
    std::vector<std::int64_t> whole_numbers(std::int64_t count, std::int64_t limit);
    // Reads the numbers of the next line, which has `word`, then `fields` whole numbers of 0 or more.
    std::vector<std::int64_t> record(const std::string& word, std::size_t fields = 0);
    // Whether the next line begins with this word.
    bool begins_with(const std::string& word) const;
    // Reads the last line, `end`. after: the part before it, for the message.
    void end(const std::string& after = "");
    [[noreturn]] void fail(const std::string& why, std::size_t where) const;
    std::int64_t line() const { return line_of(at); }
    std::int64_t line_of(std::size_t where) const;

    const std::string_view text;
    std::size_t at;
};

// A compiled model's text after the header was read.
struct CompiledText {
    Header header;
    OwnKeys own;
    Body body;
};

// Reads a compiled model's header up to the line `last`. text: from open_compiled. keys: required; optional: allowed.
CompiledText read_compiled(std::string_view text, const std::string& last, const std::vector<std::string>& keys,
                           const std::vector<std::string>& optional = {});

// Expands the line `features`: 1:3 7 -> 1 2 3 7. limit: bytes of the file, more than it has features.
std::vector<std::int32_t> read_ranges(const KeyWords& found, std::size_t limit);

// A number as printf's %g prints it.
std::string short_number(double number);

}  // namespace fastsvm
