#include "engine/model.h"

#include <cmath>
#include <iterator>
#include <numeric>

namespace fastsvm {

namespace {

// Expands the words of the line `features`: 1:3 7 -> 1 2 3 7. limit: bytes of the file, more than it has features.
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

std::string ranges_of(const std::vector<std::int32_t>& features) {
    std::string out;
    for (std::size_t at = 0; at < features.size();) {
        const std::size_t first = at++;
        while (at < features.size() && features[at] == features[at - 1] + 1) ++at;
        (out += out.empty() ? "" : " ") += std::to_string(features[first]);
        if (at > first + 1) (out += ':') += std::to_string(features[at - 1]);
    }
    return out;
}

// Appends a line of numbers. count: at least 1.
void add_numbers(std::string& out, const double* numbers, std::int64_t count, bool single) {
    if (!single)
        out += format_numbers(numbers, static_cast<std::size_t>(count));
    else
        out += format_numbers(std::vector<float>(numbers, numbers + count).data(), static_cast<std::size_t>(count));
}

std::optional<EmbeddingError> label_error(const Scaling& scaling, bool regression) {
    const auto line = scaling.label_line();
    if (!line) return std::nullopt;
    if (!regression)
        return EmbeddingError{
            "the range file scales y, but this is a classification model: use a range file without y"};
    const Scaling::LabelsBack back = scaling.labels_back();
    const double numbers[] = {line->slope, line->offset, back.from, back.scale, back.to};
    if (!std::all_of(std::begin(numbers), std::end(numbers), [](double x) { return std::isfinite(x); }) ||
        line->slope == 0 || back.scale == 0)
        return EmbeddingError{"the range of y has equal ends, or ends too far apart, and cannot be undone"};
    return std::nullopt;
}

}  // namespace

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
    ParseResult read = parse(text.substr(at, whole - at), first_line, format);
    if (!read.error.empty()) throw ModelError(read.error, read.error_line);
    if (read.rows.rows < expected)
        throw ModelError(std::to_string(read.rows.rows) + " support vectors found, expected " +
                             std::to_string(expected) +
                             (whole < text.size() ? ": the last one is cut off" : ": the file ends"),
                         first_line + read.rows.rows);
    at += read.consumed;
    return std::move(read.rows);
}

std::vector<std::int64_t> Body::record(const std::string& word, std::size_t fields) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, stop - at);
    const std::vector<std::string_view> words = split_words(line);
    if (words.size() != fields + 1 || words[0] != word || !std::all_of(words.begin() + 1, words.end(), only_digits))
        fail("'" + ascii(line.substr(0, 40)) + "' found, expected '" + word + "'", at);
    at = std::min(stop + 1, text.size());
    std::vector<std::int64_t> out;
    for (std::size_t i = 1; i < words.size(); ++i)  // more digits are out of range
        out.push_back(std::stoll(std::string(words[i].substr(0, 10))));
    return out;
}

bool Body::begins_with(const std::string& word) const { return text.substr(at, word.size() + 1) == word + " "; }

void Body::fail(const std::string& why, std::size_t where) const { throw ModelError(why, line_at(text, where)); }

Archive::Archive(std::string_view text, const std::string& last, const Archive& collected) : work_(Work::read) {
    std::vector<std::string> keys = collected.required_;
    keys.insert(keys.end(), collected.optional_.begin(), collected.optional_.end());
    HeaderText read = read_compiled_header(text, last, keys, text.find('\n') + 1, 2);
    for (const std::string& key : collected.required_)
        if (!read.own.count(key)) throw ModelError("the header ends without '" + key + "'", read.line);
    header_ = std::move(read.header);
    own_ = std::move(read.own);
    header_end_ = read.line;
    body_.emplace(text, read.end);
}

bool Archive::has(const std::string& key, bool present) {
    if (work_ == Work::collect) optional_.push_back(key);
    return reads() ? own_.count(key) > 0 : present && work_ != Work::collect;
}

const KeyWords* Archive::key(const std::string& key, const std::string& words) {
    if (work_ == Work::collect) required_.push_back(key);
    if (writes()) written_ += key_line(key, words);
    return reads() ? &own_.at(key) : nullptr;
}

void Archive::whole(const std::string& key, int& number, int least, std::optional<int> most) {
    field(key, number);
    if (reads() && (number < least || (most && number > *most)))
        fail(key, key + " " + std::to_string(number) + " found, expected " + std::to_string(least) +
                      (most ? " to " + std::to_string(*most) : " or more"));
}

void Archive::check_count(const std::string& key, std::int64_t count) const {
    const std::size_t found = own_.at(key).words.size();
    if (static_cast<std::int64_t>(found) != count)
        fail(key, std::to_string(found) + " values of '" + key + "' found, expected " + std::to_string(count));
}

void Archive::size(const std::string& key, std::size_t size, int least) {
    int number = static_cast<int>(size);
    whole(key, number, least);
    counts_[key] = number;
}

std::int64_t Archive::count(const std::string& key) const {
    const auto found = counts_.find(key);
    return found == counts_.end() ? 0 : found->second;
}

void Archive::features(std::vector<std::int32_t>& features) {
    if (const KeyWords* const found = key("features", ranges_of(features)))
        features = read_ranges(*found, body_->text.size());
}

void Archive::precision(bool& single) {
    if (const KeyWords* const found = key("precision", single ? "single" : "double"))
        single = one_word(*found, "precision", {"single", "double"}) == "single";
}

void Archive::raw_rows(std::optional<FoldedScaling>& folded) {
    if (!has(raw_rows_key, folded.has_value())) return;
    if (const KeyWords* const found = key(raw_rows_key, folded ? folded->digest : ""))
        folded = {one_word(*found, raw_rows_key), true};
}

void Archive::record(const std::string& word, const std::vector<std::int64_t*>& numbers) {
    if (writes()) {
        written_ += word;
        for (const std::int64_t* const number : numbers) (written_ += ' ') += std::to_string(*number);
        written_ += '\n';
    }
    if (!reads()) return;
    const std::vector<std::int64_t> found = body_->record(word, numbers.size());
    for (std::size_t i = 0; i < found.size(); ++i) *numbers[i] = found[i];
}

bool Archive::begins_with(const std::string& word, bool present) const {
    return reads() ? body_->begins_with(word) : present;
}

std::vector<double> Archive::read(std::int64_t count, bool single) {
    if (!count) return {};
    NumberLines read = fastsvm::read_numbers(body_->text, static_cast<std::int64_t>(at()), count, single);
    if (!read.error.empty()) body_->fail(read.error + " among " + std::to_string(count) + " numbers", read.at);
    body_->at = read.at;
    return std::move(read.numbers);
}

void Archive::number(double& number) {
    std::vector<double> alone{number};
    numbers(alone, 1, 1);
    if (reads()) number = alone[0];
}

void Archive::numbers(std::vector<double>& numbers, std::int64_t lines, std::int64_t per_line, bool single) {
    const std::int64_t count = lines * per_line;
    if (reads()) numbers = this->read(count, single);
    if (checks() && static_cast<std::int64_t>(numbers.size()) != count)
        throw std::invalid_argument("wrong number of values");
    if (!writes()) return;
    for (std::int64_t at = 0; at < count; at += per_line) add_numbers(written_, numbers.data() + at, per_line, single);
}

void Archive::numbers(std::vector<double>& numbers, const std::vector<std::int64_t>& lengths, bool single) {
    const std::int64_t count = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    if (!writes()) return this->numbers(numbers, 1, count, single);
    const double* at = numbers.data();
    for (const std::int64_t length : lengths) add_numbers(written_, at, length, single), at += length;
}

void Archive::whole_numbers(std::vector<std::int64_t>& numbers, std::int64_t count, std::int64_t limit) {
    if (writes() && !numbers.empty()) written_ += in_header(numbers) + '\n';
    if (!reads()) return;
    const std::size_t start = at();
    for (const double number : read(count)) {
        if (!(number >= 0 && number < static_cast<double>(limit) && number == std::trunc(number)))
            body_->fail(short_number(number) + " found, expected a whole number below " + std::to_string(limit), start);
        numbers.push_back(static_cast<std::int64_t>(number));
    }
}

void Archive::rows(std::shared_ptr<const Rows>& rows, std::int64_t count) {
    if (writes()) written_ += format_rows(*rows);
    if (!reads()) return;
    const std::int64_t first_line = body_->line();
    const std::string_view rest = body_->text.substr(at());
    Format format;
    format.max_rows = count;
    ParseResult read = parse(rest, first_line, format);
    body_->at += read.consumed;
    // The line `end` among the rows means that rows are missing.
    if (read.rows.rows < count && (read.error.empty() || body_->text.substr(at()) == "end\n"))
        throw ModelError(std::to_string(read.rows.rows) + " rows found, expected " + std::to_string(count),
                         first_line + read.rows.rows);
    if (!read.error.empty()) throw ModelError(read.error, read.error_line);
    rows = std::make_shared<const Rows>(std::move(read.rows));
}

void Archive::end(const std::string& after) {
    if (!reads()) return;
    if (!after.empty() && body_->text.substr(at(), 4) != "end\n") body_->fail("text found after " + after, at());
    body_->record("end");
    if (at() != body_->text.size()) body_->fail("text found after 'end'", at());
}

void Archive::fail(const std::string& key, const std::string& why) const { throw ModelError(why, own_.at(key).line); }

void Archive::fail_header(const std::string& why) const { throw ModelError(why, header_end_); }

std::shared_ptr<Model> ModelFile::model() const {
    std::call_once(once_, [&] {
        model_ = make_model();
        model_->fingerprint = fingerprint;
        model_->labels_back = labels_back();
    });
    return model_;
}

void ModelFile::embed(EmbeddedRange embedded) {
    embedded_ = std::move(embedded);
    if (model_) model_->labels_back = labels_back();
}

std::optional<Scaling::LabelsBack> ModelFile::labels_back() const {
    if (!embedded_.scaling || !embedded_.scaling->scales_labels()) return std::nullopt;
    return embedded_.scaling->labels_back();
}

std::int64_t ModelFile::max_index() const {
    return std::max<std::int64_t>(own_max_index(), embedded_.scaling ? embedded_.scaling->max_index() : 0);
}

std::int64_t ModelFile::own_max_index() const {
    if (const auto vectors = support_vectors()) return vectors->max_index;
    const std::vector<std::int32_t> used = used_indices();
    return used.empty() ? 0 : used.back();
}

std::int32_t ModelFile::first_index() const {
    const std::vector<std::int32_t> used = used_indices();
    const bool has_0 = (!used.empty() && used.front() == 0) || (embedded_.scaling && embedded_.scaling->names(0));
    return has_0 ? 0 : 1;
}

std::string ModelFile::raw_rows() const {
    if (embedded_.scaling) return "because it embeds a range file";
    return folded ? "because --scale is folded into it" : "";
}

std::string ModelFile::unbounded() const {
    return std::string("a ") + kind() + " model found, which has no expansion to bound: name the exact model";
}

std::string CompiledFile::to_text() const {
    Archive archive(Archive::Work::write);
    archive.written() = first_line(kind(), !embedded().texts.empty()) + header.lines();
    auto& fields = const_cast<CompiledFile&>(*this);  // to write them changes none
    fields.keys(archive);
    archive.record(body_word());
    fields.body(archive);
    std::string out = std::move(archive.written());
    add_checksum(out, embedded().texts);
    return out;
}

void CompiledFile::check() {
    Archive archive(Archive::Work::check);
    keys(archive);
    body(archive);
}

std::size_t bytes_of(const Rows& rows) {
    return static_cast<std::size_t>(rows.values.size()) * sizeof(double) +
           static_cast<std::size_t>(rows.indices.size()) * sizeof(std::int32_t);
}

std::optional<EmbeddingError> embedding_error(const Scaling& scaling, const ModelFile* model, const std::string& name) {
    if (auto error = label_error(scaling, model && model->header.regression())) return error;
    if (!model) return std::nullopt;
    if (const std::string why = model->raw_rows(); !why.empty())
        return EmbeddingError{"it takes raw rows, " + why + ": give no --scale", true};
    if (model->serials())
        return EmbeddingError{"a precomputed kernel found, whose rows hold kernel values: no --scale", true};
    for (std::int32_t index : model->used_indices())
        if (!scaling.find(index))
            return EmbeddingError{"support vectors with feature " + std::to_string(index) + " found, which " + name +
                                      " does not hold: expected the file that its training rows were scaled with",
                                  true};
    return std::nullopt;
}

Scaling read_embedded(const std::vector<RangeText>& ranges) {
    std::int64_t first_line = ranges[0].first_line;
    try {
        Scaling out = Scaling::read(ranges[0].text);
        if (ranges.size() > 1) {
            first_line = ranges[1].first_line;
            if (out.kind() != Scaling::Kind::standard)
                throw ScalingFileError("a range file of svm-scale found, expected the scale file of write.svm", 1);
            out.read_labels(ranges[1].text);
        }
        return out;
    } catch (const ScalingFileError& error) {
        throw ModelError(error.what(), first_line + error.line - 1);
    }
}

}  // namespace fastsvm
