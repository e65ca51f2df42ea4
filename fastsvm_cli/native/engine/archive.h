// Visits the fields of compiled models: one description of a kind for reading, writing and checks. Readers throw
// ModelError with the line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/header.h"
#include "text/rows.h"

namespace fastsvm {

// Key of models compiled from a LIBSVM model of raw rows: the fingerprint of the range file folded into that.
inline const std::string raw_rows_key = "raw_rows";

// Scaling in a LIBSVM model that takes raw rows, as do models compiled from it.
struct FoldedScaling {
    std::string digest;      // fingerprint of the file of --scale
    bool inherited = false;  // of the LIBSVM model that this one was compiled from and whose labels it proves
};

// The text after a header. Readers advance `at`.
class Body {
public:
    // text: the whole file; must outlive this.
    Body(std::string_view text, std::size_t at) : text(text), at(at) {}

    // Reads the header's support vectors, then `more` rows. any_order: see Format.
    Rows vectors(const Header& header, std::int64_t more = 0, bool any_order = false);
    // Reads the numbers of the next line, which has `word`, then `fields` whole numbers of 0 or more.
    std::vector<std::int64_t> record(const std::string& word, std::size_t fields = 0);
    // Whether the next line begins with this word.
    bool begins_with(const std::string& word) const;
    [[noreturn]] void fail(const std::string& why, std::size_t where) const;
    std::int64_t line() const { return line_of(at); }
    std::int64_t line_of(std::size_t where) const;

    std::string_view text;
    std::size_t at;
};

// A kind names its fields in the order of its file: first the lines of the header, `key words`, then the body. For
// each, the archive does its work: it collects the header's keys, reads the field, writes it, or checks its size.
class Archive {
public:
    enum class Work { collect, read, write, check };
    explicit Archive(Work work) : work_(work) {}
    // To read. text: from open_compiled. Reads the header, which has the collected keys, up to the line `last`.
    Archive(std::string_view text, const std::string& last, const Archive& collected);

    bool reads() const { return work_ == Work::read; }
    bool writes() const { return work_ == Work::write; }
    bool checks() const { return work_ == Work::check; }
    const Header& header() const { return header_; }  // as it was read
    std::string& written() { return written_; }

    // Whether an optional line of the header follows. present: whether the fields have it.
    bool has(const std::string& key, bool present);
    // A line of the header. Returns the words that were read; null for other work.
    const KeyWords* key(const std::string& key, const std::string& words);
    // A word, a number or numbers.
    template <class Value> void field(const std::string& key, Value& value) {
        if (const KeyWords* const found = this->key(key, in_header(value))) read_words(key, *found, value);
    }
    // Exactly `count` numbers.
    template <class Number> void field(const std::string& key, std::vector<Number>& numbers, std::int64_t count) {
        if (reads()) check_count(key, count);
        field(key, numbers);
    }
    // A whole number, from `least` to `most` if given.
    void whole(const std::string& key, int& number, int least, std::optional<int> most = {});
    // The number of elements that follow in the body. size: of the field.
    void size(const std::string& key, std::size_t size, int least = 0);
    // The line `features`: 1:3 7 for 1 2 3 7.
    void features(std::vector<std::int32_t>& features);
    void precision(bool& single);
    // The scaling that raw_rows_key names, if any.
    void raw_rows(std::optional<FoldedScaling>& folded);

    // The number that `size` was given or read for this key; 0 without one.
    std::int64_t count(const std::string& key) const;
    // The elements that `size` counts: visit(element) for each.
    template <class T, class Visit> void each(const std::string& key, std::vector<T>& all, Visit visit) {
        if (!reads())
            for (T& element : all) visit(element);
        for (std::int64_t i = 0; reads() && i < count(key); ++i) visit(all.emplace_back());
    }
    template <class T, class Visit>
    void each(const std::string& key, std::vector<std::shared_ptr<T>>& all, Visit visit) {
        if (!reads())
            for (const std::shared_ptr<T>& element : all) visit(*element);
        for (std::int64_t i = 0; reads() && i < count(key); ++i) visit(*all.emplace_back(std::make_shared<T>()));
    }
    // A line: a word, and whole numbers of 0 or more.
    void record(const std::string& word, const std::vector<std::int64_t*>& numbers = {});
    // Whether an optional line follows that begins with this word. present: as in `has`.
    bool begins_with(const std::string& word, bool present) const;
    void number(double& number);
    // lines: of `per_line` numbers each. single: in single precision.
    void numbers(std::vector<double>& numbers, std::int64_t lines, std::int64_t per_line, bool single = false);
    // A line of this many numbers each.
    void numbers(std::vector<double>& numbers, const std::vector<std::int64_t>& lengths, bool single);
    // A line of whole numbers from 0 to limit - 1.
    void whole_numbers(std::vector<std::int64_t>& numbers, std::int64_t count, std::int64_t limit);
    // Data rows.
    void rows(std::shared_ptr<const Rows>& rows, std::int64_t count);
    // The body's end. after: the part before it, for the message.
    void end(const std::string& after = "");

    // Only to read. at: the position in the text.
    Body& body() { return *body_; }
    std::size_t at() const { return body_ ? body_->at : 0; }
    [[noreturn]] void fail(const std::string& key, const std::string& why) const;
    [[noreturn]] void fail_header(const std::string& why) const;  // in its last line

private:
    // Reads the next `count` numbers, which fill whole lines. single: they must be in single precision's range.
    std::vector<double> read(std::int64_t count, bool single = false);
    void check_count(const std::string& key, std::int64_t count) const;

    const Work work_;
    std::string written_;
    std::vector<std::string> required_, optional_;  // collected keys
    Header header_;
    std::map<std::string, KeyWords> own_;  // the header's keys that belong to the kind
    std::int64_t header_end_ = 0;          // number of the header's last line
    std::optional<Body> body_;
    std::map<std::string, std::int64_t> counts_;
};

}  // namespace fastsvm
