#include "program/prediction.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/checksum.h"
#include "files/output.h"
#include "files/source.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

// Reads a file of `contents`, or on the disk. It must not refer to the prediction, which the thread of --exact may
// outlive.
OpenFile opener(Prediction::Decompress decompress, Prediction::Contents contents) {
    const auto known = std::make_shared<const Prediction::Contents>(std::move(contents));
    return [decompress = std::move(decompress), known](const std::string& path) -> ByteStream {
        if (const auto found = known->find(path); found != known->end()) {
            const auto at = std::make_shared<std::size_t>(0);
            return {[known, &text = found->second, at](char* buffer, std::size_t size) {
                        const std::size_t got = text.copy(buffer, size, *at);
                        *at += got;
                        return got;
                    },
                    [] { return true; }};
        }
        const auto source = std::make_shared<Source>(path, !decompress, check_now);
        if (decompress && source->compressed()) {
            const auto [descriptor, begun] = source->release();
            return decompress(path, descriptor, begun);
        }
        return {[source](char* buffer, std::size_t size) { return source->read(buffer, size); },
                [source] { return source->ready(); }};
    };
}

// Whether an error leaves a previous file as it was.
bool replaced_at_end(const std::string& path) {
    struct stat status;
    return !standard_descriptor(path) && (stat(path.c_str(), &status) != 0 ? errno == ENOENT : S_ISREG(status.st_mode));
}

std::string quoted(const std::string& value) { return "'" + value + "'"; }

// An option's value.
struct Shown {
    const PredictOption& option;
    std::string operator()(bool value) const {
        return option.kind == PredictOption::zero_or_one ? std::to_string(value) : value ? "on" : "off";
    }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(std::uint64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return json_number(value); }
    std::string operator()(const std::string& value) const { return quoted(value); }
    std::string operator()(const std::optional<std::string>& file) const { return (*this)(file.has_value()); }
    template <class Number> std::string operator()(const std::optional<Number>& value) const {
        return value ? (*this)(*value) : "unset";
    }
};

}  // namespace

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

bool is_terminal(int descriptor) { return isatty(descriptor) != 0; }

bool is_model_file(const std::string& path, bool surely) {
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

void refuse_model_output(const std::string& path) {
    if (is_model_file(path, true))
        throw FileError(display_output(path),
                        "a model found, which the predictions would replace; name another output file, or remove it");
}

Prediction::Prediction(Request request, Decompress decompress, Contents contents)
    : request(std::move(request)),
      run_counts(!this->request.unlabelled),
      open_(opener(std::move(decompress), std::move(contents))) {}

Prediction::Prediction(Request request, std::shared_ptr<ModelFile> file, std::string fingerprint,
                       std::int32_t first_index, std::shared_ptr<Fallback> exact, Say warn)
    : request(std::move(request)),
      run_counts(!this->request.unlabelled),
      warn_(std::move(warn)),
      with_models_(true),
      loaded_(loaded_model(std::move(file))),
      exact_(std::move(exact)),
      fingerprint_(std::move(fingerprint)),
      first_index_(first_index) {}

// ---- files

std::string Prediction::read_text(const std::string& path) const {
    std::string out, buffer(1 << 16, 0);
    const ByteStream stream = open_(path);
    while (const std::size_t got = stream.read(&buffer[0], buffer.size())) out.append(buffer, 0, got);
    return out;
}

void Prediction::check_files() const {
    std::vector<std::string> inputs = request.inputs();
    if (request.dask) inputs.erase(inputs.begin());
    if (std::count(inputs.begin(), inputs.end(), "-") > 1)
        throw UsageError("only one of the files can be standard input.");
    for (const std::string& path : inputs)
        if ((path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0") && was_closed(0))
            throw FileError(display(path), "it is closed");
    std::vector<std::string> outputs = request.dask ? std::vector<std::string>() : request.outputs();
    for (const std::string& path : outputs) check_output(path, inputs);
    check_apart(outputs);
    for (const std::string& path : outputs) refuse_model_output(path);
    if (!request.as_json || report_ == 2) return;
    check_output("-", inputs);
    outputs.emplace_back("-");
    check_apart(outputs);
}

void Prediction::read_scaling() {
    if (!request.scale_file) return;
    const auto of_file = [this](const std::string& path, const auto& read) {
        std::string text = read_text(path);
        scaling_digest_ += fastsvm::fingerprint(text);
        if (!text.empty() && text.back() != '\n') text += '\n';  // the parsers need whole lines
        try {
            read(text);
        } catch (const ScalingFileError& error) {
            throw LineError(LineError::data, path, error.line, error.what());
        }
    };
    Scaling scaling;
    of_file(*request.scale_file, [&](const std::string& text) {
        scaling = Scaling::read(text);
        if (request.y_scale_file && scaling.kind() != Scaling::Kind::standard)
            throw ScalingFileError("a range file of svm-scale found, expected the scale file of write.svm", 1);
    });
    if (request.y_scale_file)
        of_file(*request.y_scale_file, [&](const std::string& text) { scaling.read_labels(text); });
    scaling_ = std::make_shared<const Scaling>(std::move(scaling));
    scaling_name_ = display(*request.scale_file);
}

void Prediction::load() {
    const std::string text = read_model_file(request.model_file, open_);
    loaded_ = of_model(request.model_file, [&] { return load_model(text); });
    if (request.resume || request.as_json || request.dask) fingerprint_ = fastsvm::fingerprint(text);
    for (const auto& [line, why] : loaded_.notes) warn(request.model_file + ":" + std::to_string(line) + ": " + why);
}

Reading Prediction::reading() const {
    return {!request.unlabelled,
            request.dense,
            request.delimiter.empty() ? ',' : request.delimiter[0],
            first_index_.value_or(loaded_.features.first),
            static_cast<std::size_t>(request.max_line),
            scaling_};
}

// ---- options and models

LineError Prediction::unfit(const std::string& why) const { return {LineError::model, request.model_file, 0, why}; }

bool Prediction::stops_within() const {
    return request.tolerance && model_->ordered && model_->header.regression() && !request.falls_back() &&
           !request.open_file;
}

void Prediction::check_options() {
    const Request& r = request;
    const ModelFile& file = *loaded_.file;
    const Header& header = loaded_.model->header;
    const bool serials = header.kernel_type == "precomputed" && !file.ordered();
    if (r.scale_file && !file.raw_rows().empty())
        throw UsageError(r.model_file + " takes raw rows, " + file.raw_rows() + ": give it no --scale.");
    if (r.scale_file && serials)
        throw UsageError("--scale does not go with a precomputed kernel, whose rows hold kernel values.");
    if (r.y_scale_file && !header.regression())
        throw UsageError("--y-scale is for regression models: there is nothing to scale about classes.");
    if (r.dense && serials)
        throw UsageError("--dense does not go with a precomputed kernel, whose rows hold serial numbers.");
    if (r.probability && !header.has_probability())
        throw unfit("the model has no probability estimates; train it with svm-train -b 1");
    model_ = r.steps ? file.stopped_after(*r.steps) : loaded_.model;
    if (!model_)
        throw UsageError("--steps goes with a model of fastsvm order --method geometry, which " + r.model_file +
                         " is not.");
    if (r.steps && r.probability) throw UsageError("--steps stops before the value that -b 1 needs.");
    if (r.evaluations && !file.ordered())
        throw UsageError("--evaluations goes with a model of fastsvm order, which " + r.model_file +
                         " is not: others evaluate as much for every row.");
    if (stops_within() && (r.steps || r.values || r.probability))
        throw UsageError("--tolerance stops a row early: it does not go with --steps, --values or -b 1.");
    if (r.open_file && r.probability && model_->proves && model_->certified && !r.falls_back())
        throw UsageError("--open-rows with -b 1 needs --exact: a reduced set has probability parameters of its own.");
    if (r.outside_file && !file.bounded())
        throw unfit("the model has no bound (eq. 3.11): only RBF expansions, from fastsvm approx, have one");
}

Fallback::Load Prediction::exact_loader() {
    const std::vector<std::string> outputs = request.outputs();
    const bool wait = request.resume || !std::all_of(outputs.begin(), outputs.end(), replaced_at_end);
    exact_file_->expect(loaded_.model->fingerprint, request.model_file, wait);
    return [this, file = exact_file_] {
        std::vector<ModelNote> notes;
        const std::string text = file->text();
        auto exact = of_model(file->path, [&] { return load_exact(text, &notes); });
        for (const auto& [line, why] : notes) warn(file->path + ":" + std::to_string(line) + ": " + why);
        return exact;
    };
}

std::shared_ptr<Audit> Prediction::audit() {
    if (!request.audit) return nullptr;
    const auto exact = loaded_.file->exact_model_file();
    if (model_->header.regression())
        throw unfit("a regression model found; --audit counts labels that differ, and a value is no label");
    if (loaded_.folds && !exact)
        throw unfit("--scale is folded into it: it takes raw rows, and the model that it was made from scaled ones");
    if (model_->proves && !model_->certified)
        throw unfit(no_certificates(false, false, true, !model_->fingerprint.empty()));
    Fallback::Load load;
    if (exact_file_)
        load = exact_loader();
    else if (exact)
        load = [exact] { return exact->model(); };
    else
        throw UsageError("--audit needs --exact MODEL, which " + request.model_file + " was compiled from.");
    return std::make_shared<Audit>(std::move(load), *request.audit, request.seed);
}

std::shared_ptr<Fallback> Prediction::fallback() {
    if (with_models_) return exact_;
    const double* const tolerance = request.tolerance && !stops_within() ? &*request.tolerance : nullptr;
    if (!request.falls_back() && !request.open_file) {
        if (tolerance)
            throw UsageError("--tolerance goes with --exact, --open-rows, or with an ordered regression model.");
        return nullptr;
    }
    const Model& model = *model_;
    if (model.header.regression() && !tolerance)
        throw UsageError(std::string(request.falls_back() ? "--exact" : "--open-rows") +
                         " needs --tolerance for a regression model: the largest radius a value may keep.");
    if (!model.header.regression() && tolerance)
        throw UsageError("--tolerance is for regression models; a label is proven or it is not.");
    const std::string why =
        no_certificates(model.certified, loaded_.folds, model.proves, !loaded_.model->fingerprint.empty());
    if (!why.empty()) throw unfit(why);
    if (!request.falls_back()) return nullptr;
    return std::make_shared<Fallback>(exact_loader(), tolerance ? *tolerance : 0);
}

void Prediction::prepare() {
    if (!request.dask)
        for (const std::string& path : request.outputs())
            if (standard_descriptor(path) == 1) report_ = 2;
    if (!with_models_) {
        check_files();
        if (!request.dask) set_threads(static_cast<int>(request.threads));
        read_scaling();
        if (request.exact_file)  // read beside the model
            exact_file_ = std::make_shared<ExactFile>(*request.exact_file, open_);
        load();
    }
    check_options();
    if (loaded_.embedded && !scaling_) {
        scaling_ = loaded_.embedded;
        scaling_name_ = "the range in " + request.model_file;
    }
    std::shared_ptr<Audit> sample = audit();
    exact_ = fallback();
    if (request.dask && exact_file_) exact_file_->check(true);  // its parts do not
    resolve(std::move(sample));
}

void Prediction::resolve(std::shared_ptr<Audit> sample) {
    AnswerOptions options;
    options.audit = std::move(sample);
    options.exact = exact_;
    options.model = model_;
    options.probability = request.probability;
    options.values = request.values;
    options.evaluations = request.evaluations;
    if (stops_within()) options.tolerance = request.tolerance;
    options.open_rows = request.open_file.has_value();
    if (options.open_rows && !request.falls_back()) options.open_tolerance = request.tolerance.value_or(0);
    options.outside_rows = request.outside_file.has_value();
    options.around = request.on_bad_row != "stop";
    // Else the sums of few rows would count as rows evaluated exactly, or in the document.
    options.may_be_few = !options.exact && !request.as_json && !request.dask && !with_models_;
    options.largest_feature = loaded_.features.largest;
    predictor_.emplace(std::move(options));
    if (predictor_->resolved.around)
        bad_rows.emplace(request.on_bad_row == "nan", [this](const RowProblem& problem) {
            if (!silent_) warn(LineError(LineError::data, request.test_file, problem.first, problem.second).what());
        });
}

std::unique_ptr<Prediction> Prediction::of_part(const std::string& name, std::uint64_t seed) const {
    Request part = request;
    part.test_file = name;
    auto out = std::make_unique<Prediction>(std::move(part));
    out->silent_ = true;
    out->loaded_ = loaded_;
    out->model_ = model_;
    out->exact_ = exact_;
    out->scaling_ = scaling_;
    const std::shared_ptr<Audit>& sample = predictor_->resolved.audit;
    out->resolve(sample ? std::make_shared<Audit>([sample] { return sample->model(); }, *request.audit, seed)
                        : nullptr);
    return out;
}

// ---- the run

void Prediction::begin() {
    if (request.test_file != "-" && !request.dask && access(request.test_file.c_str(), F_OK) != 0)
        throw system_error(display(request.test_file), errno);
    const std::string opening = opening_note(predictor_->resolved);
    if (!opening.empty()) note(opening);
    for (const std::string& line : opening_lines(predictor_->resolved)) tell(line);
    if (exact_file_) exact_file_->check(false);
}

void Prediction::run() {
    std::vector<std::unique_ptr<Output>> files;
    const auto writer = [&](const std::optional<std::string>& path) -> Outputs::Write {
        if (!path) return nullptr;
        Output* const file = files.emplace_back(std::make_unique<Output>(*path)).get();
        return [file](const std::string& lines) { file->write(lines.data(), lines.size()); };
    };
    Outputs outputs;
    outputs.lines = writer(request.output());
    outputs.open_rows = writer(request.open_file);
    outputs.outside_rows = writer(request.outside_file);
    answer(open_(request.test_file), std::move(outputs));
    for (const auto& file : files) file->finish();
}

void Prediction::answer(ByteStream stream, Outputs outputs, bool head) {
    rows_before_ = run_counts.rows;
    if (exact_file_) outputs.before_writing = [this] { exact_file_->check(false); };
    BadRows* const around = bad_rows ? &*bad_rows : nullptr;
    LineBlocks blocks(std::move(stream), reading(), position, around, scaled);
    blocks.size = block_size;
    try {
        Run rows(*predictor_, std::move(outputs), run_counts, around);
        if (head) rows.begin();
        rows.answer(blocks);
    } catch (const RunError& error) {
        throw LineError(LineError::data, request.test_file, error.line, error.what());
    }
    if (exact_file_) exact_file_->check(true);
    if (request.fail_on_empty && !run_counts.rows)
        throw FileError(display(request.test_file), "no row to predict found, expected some (--fail-on-empty)");
}

std::int64_t Prediction::fields(ByteStream stream) const {
    Position at;
    ScaledEntries none;
    BadRows around(false, [](const RowProblem&) {});
    LineBlocks blocks(std::move(stream), reading(), at, &around, none);
    for (LineBlock block; at.fields < 0 && blocks.next(block); block = LineBlock()) {
        blocks.parse(block);
        blocks.count_block(block);
    }
    return at.fields;
}

std::vector<std::string> Prediction::row_warnings() const {
    const bool in_python = with_models_, dense = request.dense;
    const std::string add = in_python ? "pass unlabelled=True" : "add --unlabelled";
    const std::string leave_out = in_python ? "leave unlabelled=True out" : "leave --unlabelled out";
    const std::string name = display(request.test_file);
    const std::int64_t fields = position.fields;
    const std::int64_t columns = loaded_.file->max_index() + 1 - loaded_.features.first;
    std::vector<std::string> out;
    if (dense && fields == static_cast<std::int64_t>(request.unlabelled) && columns > fields)
        out.push_back("no row of " + name + " contains the delimiter '" +
                      (request.delimiter == "\t" ? "\\t" : request.delimiter) + "'.");
    else if (dense && fields > columns)
        out.push_back("the rows of " + name + " have " + std::to_string(fields) + " features, and the model has " +
                      std::to_string(columns) +
                      (request.unlabelled ? "; if the first column is the label, " + leave_out : "") + ".");
    const std::string rows = row_warning(loaded_.model->header, run_counts, dense);
    if (!rows.empty())
        out.push_back(rows + (dense && run_counts.rows ? "; if the first column is no label, " + add : "") + ".");
    if (dense && fields > columns) return out;
    const std::string features = feature_warning(loaded_.model->header, loaded_.features, run_counts);
    if (!features.empty()) out.push_back(features + ".");
    return out;
}

// ---- records: the JSON document, and the options that the lines depend on

std::optional<double> Prediction::most_disagreement() const {
    if (!request.audit) return std::nullopt;
    return upper_bound(static_cast<double>(run_counts.audit_differing), static_cast<double>(run_counts.audited),
                       audit_confidence);
}

std::string Prediction::document() const {
    const Model& model = *model_;
    const Header& printed = predictor_->resolved.printed->header;
    const bool proven = predictor_->resolved.exact != nullptr, open_rows = request.open_file.has_value();
    std::string out = "{";
    const auto member = [&](const std::string& name, const std::string& value) {
        out += (out.size() > 1 ? ", \"" : "\"") + name + "\": " + value;
    };
    const auto text = [&](const std::string& name, const std::string& value) { member(name, '"' + value + '"'); };
    const auto count = [&](const std::string& name, std::int64_t value) { member(name, std::to_string(value)); };
    const auto number = [&](const std::string& name, double value) { member(name, json_number(value)); };
    text("fastsvm", FASTSVM_VERSION);
    text("model_kind", loaded_.kind);
    text("model_fingerprint", fingerprint_);
    if (!loaded_.model->fingerprint.empty()) text("exact_fingerprint", loaded_.model->fingerprint);
    const RunCounts& r = run_counts;
    count("rows", r.rows);
    if (bad_rows) count("bad_rows", bad_rows->count);
    if (r.labelled) {
        const std::vector<double> found = scores(printed, r.score);
        number(printed.regression() ? "mean_squared_error" : "accuracy", found[0]);
        if (printed.regression())
            number("squared_correlation", found[1]);
        else
            count("correct", r.score.correct);
    }
    if (loaded_.file->bounded()) count("rows_outside_bound", r.outside);
    if (proven) {
        count("rows_proven", r.rows - r.evaluated);
        count("rows_evaluated", r.evaluated);
    } else if (open_rows) {
        count("rows_proven", r.rows - r.undecided);
    } else if (model.proves && !printed.regression()) {
        count("rows_proven", r.rows);
    }
    if (open_rows) count("rows_open", proven ? r.evaluated : r.undecided);
    if (model.proves || proven) count("rows_by_reference_sum", r.reference_rows);
    if ((model.proves && !model.ordered) || proven) {
        count("rows_by_grid", r.level_rows[grid_level]);
        count("rows_in_single_precision", r.level_rows[single_level]);
        count("rows_in_double_precision", r.level_rows[double_level]);
    }
    if (model.ordered) {
        const auto real = [](std::int64_t value) { return static_cast<double>(value); };
        count("kernel_evaluations", r.kernel_evaluations);
        count("kernel_evaluations_of_exact", r.rows * printed.total_sv);
        number("kernel_evaluations_per_row", real(r.kernel_evaluations) / real(r.rows));
    }
    if (request.steps) count("rows_decided", r.rows - r.undecided);
    if (const std::optional<double> most = most_disagreement()) {
        count("audited", r.audited);
        count("audit_differing", r.audit_differing);
        number("audit_upper", *most);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    number("seconds", seconds);
    number("rows_per_second", static_cast<double>(r.rows - rows_before_) / seconds);
    return out + "}";
}

std::vector<std::pair<std::string, std::string>> Prediction::made_with() const {
    std::vector<std::pair<std::string, std::string>> out{{"fastsvm", quoted(FASTSVM_VERSION)},
                                                         {"model", quoted(fingerprint_)}};
    for (const PredictOption& option : predict_options) {
        const auto value = [&](auto member) { return Shown{option}(request.*member); };
        if (option.lines) out.emplace_back(option.spellings[0], std::visit(value, option.member));
    }
    out.emplace_back("--scale", scaling_digest_.empty() ? "unset" : quoted("a file of SHA-256 " + scaling_digest_));
    return out;
}

int Prediction::end() {
    if (scaling_)
        for (const std::string& line : scaling_warnings(*scaling_, scaled, scaling_name_)) warn(line.substr(9));
    for (const std::string& warning : row_warnings()) warn(warning);
    if (with_models_) return 0;
    const std::optional<double> most = most_disagreement();
    if (request.as_json) {
        if (report_ == 2) {
            say(2, document());
        } else {  // unlike a summary, it is a result
            const std::string line = document() + "\n";
            Output out("-");
            out.write(line.data(), line.size());
            out.finish();
        }
    } else {
        if (run_counts.labelled)
            for (const std::string& line : score_lines(predictor_->resolved.printed->header, run_counts.score))
                tell(line);
        if (bad_rows && bad_rows->count)
            note("Bad rows: " + std::to_string(bad_rows->count) + " of " +
                 std::to_string(bad_rows->count + run_counts.rows) + " lines, " +
                 (bad_rows->nan ? "each a line of nan." : "left out."));
        if (most) note(audit_note(run_counts, *most));
        for (const std::string& line : closing_notes(predictor_->resolved, run_counts, request.steps)) note(line);
    }
    if (!request.max_disagreement || !most || *most <= *request.max_disagreement) return 0;
    say(2, "Error: " + display(request.model_file) + ": " +
               disagreement_error(run_counts, *most, *request.max_disagreement) + " (--max-disagreement)");
    return 3;
}

void Prediction::tell(const std::string& line) const {
    if (!with_models_ && !request.quiet && !request.as_json) say(report_, line);
}
void Prediction::note(const std::string& line) const {
    if (!with_models_ && !request.quiet) say(2, line);
}
void Prediction::warn(const std::string& warning) const {
    if (warn_)
        warn_(warning);
    else
        note("Warning: " + warning);
}

}  // namespace fastsvm
