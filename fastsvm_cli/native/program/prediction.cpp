#include "program/prediction.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/checksum.h"
#include "engine/header.h"
#include "engine/sha256.h"
#include "files/file_error.h"
#include "files/output.h"
#include "files/source.h"
#include "files/streams.h"
#include "models/kind.h"
#include "simd/parallel.h"

namespace fastsvm {

void say(int descriptor, const std::string& line) {
    std::string text;
    for (char c : line) text += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
    text += '\n';
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t some = write(descriptor, text.data() + done, text.size() - done);
        if (some < 0) return;
        done += static_cast<std::size_t>(some);
    }
}

namespace {

// Stops reading if the start is not a model's.
std::string read_model_text(const std::string& path) {
    constexpr std::size_t start_bytes = 1 << 12;
    return Source(path).whole(start_bytes, [](const std::string& start) {
        const std::size_t first = start.find_first_not_of(" \t\v\f\r");
        // A LIBSVM model may begin with blank lines.
        if (start.empty() || (first != std::string::npos && start[first] != '\n')) model_kind(start);
    });
}

// surely: whether the first word must be one that only a model begins with.
bool is_model_file(const std::string& path, bool surely = false) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    try {
        char start[200];
        std::size_t filled = 0;
        Source source(path);
        while (const std::size_t got = source.read(start + filled, sizeof start - filled)) filled += got;
        return looks_like_model({start, filled}, surely);
    } catch (const FileError&) {
        return false;
    }
}

template <class Work> auto of_model(const std::string& path, Work work) {
    try {
        return work();
    } catch (const ModelError& error) {
        throw LineError(LineError::model, path, error.line, error.what());
    }
}

constexpr off_t longest_line_read = off_t{1} << 30;  // MAX_MODEL_LINE of text/read_rows.py
constexpr off_t largest_exact = off_t{1} << 24;      // Python reads larger ones beside the rows

// Whether Python can read it again.
bool is_plain_file(const std::string& path, off_t most) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > most) return false;
    try {
        return !Source(path, false).compressed();
    } catch (const FileError&) {
        return false;
    }
}

std::string place_of(const std::string& path, std::int64_t line) {
    return display(path) + (line ? ":" + std::to_string(line) : "");
}

}  // namespace

void refuse_model_output(const std::string& path) {
    if (is_model_file(path, true))
        throw FileError(display_output(path),
                        "a model found, which the predictions would replace; name another output file, or remove it");
}

std::optional<Options> read_shared_options(const std::vector<std::string>& words) {
    const auto printable = [](unsigned char c) { return c >= ' ' && c < 127; };  // else Python escapes it
    for (const std::string& word : words)
        if (!std::all_of(word.begin(), word.end(), printable)) return std::nullopt;
    Options options;
    try {
        options = read_options(words);
    } catch (const UsageError&) {
        return std::nullopt;
    }
    const bool bar = !options.quiet && isatty(2);
    if (options.help || options.version || bar || !is_plain_file(options.model_file, longest_line_read) ||
        (options.exact && !is_plain_file(*options.exact, largest_exact)))
        return std::nullopt;
    return options;
}

LineError::LineError(File file, const std::string& path, std::int64_t line, const std::string& why)
    : std::runtime_error(place_of(path, line) + ": " + why), file(file), path(path), why(why), line(line) {}

Prediction::Prediction(const Options& options, Decompress decompress)
    : options_(options), decompress_(std::move(decompress)) {
    for (const std::string& path : options.inputs())
        if ((path == "-" || path == "/dev/stdin" || path == "/dev/fd/0") && was_closed(0))
            throw FileError(display(path), "it is closed");
    check_output(options.output, options.inputs());
    refuse_model_output(options.output);
    set_threads(options.threads);
    of_model(options.model_file, [&] {
        try {
            loaded_ = load_model(read_model_text(options.model_file));
        } catch (const DataFileError& error) {
            if (!is_model_file(options.test_file)) throw;
            throw ModelError(std::string(error.what()) + "; the test file comes before the model", error.line);
        }
    });
}

void Prediction::prepare() {
    const Options& options = options_;
    for (const ModelNote& note : loaded_.notes)
        warn("Warning: " + display(options.model_file) + ":" + std::to_string(note.line) + ": " + note.text);
    const Header& header = loaded_.model->header;
    if (options.probability && !header.has_probability())
        throw std::runtime_error(options.model_file +
                                 ": the model has no probability estimates; train it with svm-train -b 1");
    AnswerOptions answer_options;
    answer_options.model = loaded_.model;
    answer_options.probability = options.probability;
    answer_options.values = options.values;
    answer_options.may_be_few = !options.exact;  // else its sums would count as rows evaluated exactly
    answer_options.largest_feature = loaded_.features.largest;
    if (options.exact) answer_options.exact = fallback();
    predictor_.emplace(std::move(answer_options));
    report_ = standard_descriptor(options.output) == 1 ? 2 : 1;
}

void Prediction::run() {
    // A missing file is named before anything else is printed.
    if (options_.test_file != "-" && access(options_.test_file.c_str(), F_OK) != 0)
        throw system_error(display(options_.test_file), errno);
    const std::string note = opening_note(predictor_->resolved);
    if (!note.empty()) warn(note);
    for (const std::string& line : opening_lines(predictor_->resolved)) tell(line);
    check_exact();  // before any line is written
    const RunCounts run_counts = predict_rows();
    warn_and_tell(run_counts);
}

void Prediction::check_exact() const {
    if (options_.exact && exact_fingerprint_ != loaded_.model->fingerprint)
        throw std::runtime_error(display(*options_.exact) + ": this is not the model that " + options_.model_file +
                                 " was compiled from (their fingerprints differ)");
}

std::shared_ptr<Fallback> Prediction::fallback() {
    const Model& model = *loaded_.model;
    if (model.header.regression())
        throw UsageError("--exact needs --tolerance for a regression model, which fastsvm predict has");
    const std::string why = no_certificates(model.certified, loaded_.folds, model.proves, !model.fingerprint.empty());
    if (!why.empty()) throw std::runtime_error(display(options_.model_file) + ": " + why);
    // The exact model is built when a row needs it.
    const std::string& path = *options_.exact;
    auto text = std::make_shared<std::string>(of_model(path, [&] { return read_model_text(path); }));
    exact_fingerprint_ = fingerprint(*text);
    return std::make_shared<Fallback>(
        [text, path] {
            return of_model(path, [&] {
                auto exact = load_exact(*text);
                text->clear();
                text->shrink_to_fit();
                return exact;
            });
        },
        0);
}

RunCounts Prediction::predict_rows() {
    Output output(options_.output);
    Source source(options_.test_file, !decompress_);
    ByteStream stream{[&](char* buffer, std::size_t size) { return source.read(buffer, size); },
                      [&] { return source.ready(); }};
    if (decompress_ && source.compressed()) {
        const auto [descriptor, begun] = source.release();
        stream = decompress_(options_.test_file, descriptor, begun);
    }
    Reading reading;
    reading.scaling = loaded_.embedded;
    Position position;
    LineBlocks blocks(std::move(stream), reading, position, nullptr, scaled_);
    Outputs outputs;
    outputs.lines = [&](const std::string& lines) { output.write(lines.data(), lines.size()); };
    RunCounts run_counts;
    try {
        Run run(*predictor_, outputs, run_counts, nullptr);
        run.begin();
        run.answer(blocks);
        output.finish();
        return run_counts;
    } catch (const RunError& error) {
        throw LineError(LineError::data, options_.test_file, error.line, error.what());
    }
}

void Prediction::warn_and_tell(const RunCounts& run_counts) const {
    if (loaded_.embedded)
        for (const std::string& line :
             scaling_warnings(*loaded_.embedded, scaled_, "the range in " + options_.model_file))
            warn(line);
    for (const std::string& warning : {row_warning(loaded_.model->header, run_counts, false),
                                       feature_warning(loaded_.model->header, loaded_.features, run_counts)})
        if (!warning.empty()) warn("Warning: " + warning + ".");
    for (const std::string& line : score_lines(predictor_->resolved.printed->header, run_counts.score)) tell(line);
    for (const std::string& line : closing_notes(predictor_->resolved, run_counts)) warn(line);
}

void Prediction::tell(const std::string& line) const {
    if (!options_.quiet) say(report_, line);
}
void Prediction::warn(const std::string& line) const {
    if (!options_.quiet) say(2, line);
}

}  // namespace fastsvm
