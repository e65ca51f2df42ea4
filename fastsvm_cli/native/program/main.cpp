// fastsvm-predict: svm-predict's place in a pipeline, for all models.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/checksum.h"
#include "engine/kind.h"
#include "engine/model_fault.h"
#include "engine/model_file.h"
#include "engine/run.h"
#include "engine/sha256.h"
#include "engine/summary.h"
#include "files/file_fault.h"
#include "files/output.h"
#include "files/source.h"
#include "files/stop.h"
#include "files/streams.h"
#include "program/options.h"
#include "simd/instruction_sets.h"
#include "simd/parallel.h"

using namespace fastsvm;

namespace {

constexpr int wrong_usage = 2;

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Ignores failed writes.
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

// Stops reading if the start is not a model's.
std::string read_model_text(const std::string& path) {
    constexpr std::size_t start_bytes = 1 << 12;
    return Source(path).whole(start_bytes, [](const std::string& start) {
        const std::size_t first = start.find_first_not_of(" \t\v\f\r");
        // A LIBSVM model may begin with blank lines.
        if (start.empty() || (first != std::string::npos && start[first] != '\n')) model_kind(start);
    });
}

bool is_model_file(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    try {
        char start[200];
        std::size_t filled = 0;
        Source source(path);
        while (const std::size_t got = source.read(start + filled, sizeof start - filled)) filled += got;
        return looks_like_model({start, filled}, false);
    } catch (const FileFault&) {
        return false;
    }
}

template <class Work> auto of_model(const std::string& path, Work work) {
    try {
        return work();
    } catch (const ModelFault& fault) {
        const std::string line = fault.line ? ":" + std::to_string(fault.line) : "";
        throw Failure(display(path) + line + ": " + fault.what());
    }
}

// Throws UsageFault, Failure and FileFault.
class Prediction {
public:
    explicit Prediction(const Options& options) : options_(options) {
        for (const std::string& path : options.inputs())
            if ((path == "-" || path == "/dev/stdin" || path == "/dev/fd/0") && was_closed(0))
                throw FileFault(display(path), "it is closed");
        check_output(options.output, options.inputs());
        set_threads(options.threads);
        of_model(options.model_file, [&] {
            try {
                loaded_ = load_model(read_model_text(options.model_file));
            } catch (const DataFileFault& fault) {
                if (!is_model_file(options.test_file)) throw;
                throw ModelFault(std::string(fault.what()) + "; the test file comes before the model", fault.line);
            }
        });
        for (const ModelNote& note : loaded_.notes)
            warn("Warning: " + display(options.model_file) + ":" + std::to_string(note.line) + ": " + note.text);
        const Header& header = loaded_.model->header;
        if (options.probability && !header.has_probability())
            throw Failure(options.model_file +
                          ": the model has no probability estimates; train it with svm-train -b 1");
        Question question;
        question.model = loaded_.model;
        question.probability = options.probability;
        question.values = options.values;
        question.may_be_few = true;
        question.largest_feature = loaded_.features.largest;
        if (options.exact) question.exact = fallback();
        request_ = std::make_shared<const Request>(std::move(question));
        report_ = standard_descriptor(options.output) == 1 ? 2 : 1;
    }

    void run() {
        const Header& printed = request_->printed->header;
        const std::string note = options_.exact ? opening_note(printed, options_.probability) : "";
        if (!note.empty()) warn(note);
        const double unit = loaded_.model->labels_back ? loaded_.model->labels_back->scale : 1;
        for (const std::string& line : opening_lines(printed, options_.probability, unit)) tell(line);
        // Before any line is written.
        if (options_.exact && exact_fingerprint_ != loaded_.model->fingerprint)
            throw Failure(display(*options_.exact) + ": this is not the model that " + options_.model_file +
                          " was compiled from (their fingerprints differ)");
        const Tally tally = predict_rows();
        warn_and_tell(tally);
    }

private:
    std::shared_ptr<Fallback> fallback() {
        const Model& model = *loaded_.model;
        if (model.header.regression())
            throw UsageFault("--exact needs --tolerance for a regression model, which fastsvm predict has");
        const std::string why =
            no_certificates(model.certified, loaded_.folds, model.proves, !model.fingerprint.empty());
        if (!why.empty()) throw Failure(display(options_.model_file) + ": " + why);
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

    Tally predict_rows() {
        Output output(options_.output);
        Source source(options_.test_file);
        Reading reading;
        reading.scaling = loaded_.carried;
        Place place;
        LineBlocks blocks(
            {[&](char* room, std::size_t size) { return source.read(room, size); }, [&] { return source.ready(); }},
            reading, place, nullptr, scaled_);
        Outputs outputs;
        outputs.lines = [&](const std::string& lines) { output.write(lines.data(), lines.size()); };
        Tally tally;
        try {
            Run run(request_, outputs, tally, nullptr);
            run.begin();
            run.answer(blocks);
            output.finish();
            return tally;
        } catch (const DataFault& fault) {
            throw Failure(display(options_.test_file) + ":" + std::to_string(fault.line) + ": " + fault.what());
        }
    }

    void warn_and_tell(const Tally& tally) const {
        if (loaded_.carried)
            for (const std::string& line :
                 scaling_warnings(*loaded_.carried, scaled_, "the range in " + options_.model_file))
                warn(line);
        for (const std::string& doubt : {row_doubt(loaded_.model->header, tally.rows, tally.unknown_labels, false),
                                         feature_doubt(loaded_.model->header, loaded_.features, tally)})
            if (!doubt.empty()) warn("Warning: " + doubt + ".");
        for (const std::string& line : score_lines(request_->printed->header, tally.score)) tell(line);
        for (const std::string& line : closing_notes(*request_, tally)) warn(line);
    }

    void tell(const std::string& line) const {
        if (!options_.quiet) say(report_, line);
    }
    void warn(const std::string& line) const {
        if (!options_.quiet) say(2, line);
    }

    const Options& options_;
    LoadedModel loaded_;
    std::shared_ptr<const Request> request_;
    std::string exact_fingerprint_;
    ScaledEntries scaled_;
    int report_ = 1;
};

int predict_as(const Options& options) {
    try {
        select_instruction_set_of_environment();
    } catch (const std::invalid_argument& fault) {
        say(2, std::string("Error: ") + fault.what());
        return wrong_usage;
    }
    try {
        Prediction(options).run();
        return 0;
    } catch (const ReaderGone&) {  // not an error
        return 0;
    } catch (const UsageFault&) {
        throw;
    } catch (const std::bad_alloc&) {
        say(2, "Error: out of memory");
    } catch (const std::exception& fault) {
        say(2, std::string("Error: ") + fault.what());
    }
    return 1;
}

bool named_svm_predict(const std::string& program) { return program.substr(program.rfind('/') + 1) == "svm-predict"; }

}  // namespace

int main(int argc, char** argv) {
    hold_closed_descriptors();
    heed_stop_signals();
    signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> words(argv + 1, argv + argc);
    int code = 0;
    if (argc > 0 && named_svm_predict(argv[0])) {
        try {
            code = predict_as(read_libsvm_options(words)) ? 1 : 0;
        } catch (const UsageFault& fault) {
            std::fputs(fault.what(), stderr);
            std::fputs(libsvm_help_text, stdout);
            code = 1;
        }
    } else {
        try {
            const Options options = read_options(words);
            if (options.help)
                std::fputs(help_text, stdout);
            else if (options.version)
                std::fputs("fastsvm-predict " FASTSVM_VERSION "\n", stdout);
            else
                code = predict_as(options);
        } catch (const UsageFault& fault) {
            say(2, std::string("Error: ") + fault.what() + "; see fastsvm-predict --help");
            code = wrong_usage;
        }
    }
    if (std::fflush(stdout) != 0 && !code) code = 1;
    _exit(code);  // without destructors
}
