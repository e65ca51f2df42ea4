// The program fastsvm-predict, which replaces svm-predict in a pipeline, with models of any kind.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "files/output.h"
#include "files/source.h"
#include "program/prediction.h"
#include "program/request.h"
#include "simd/loops.h"

using namespace fastsvm;

namespace {

constexpr int wrong_usage = 2;

// scripts/update_reference.py writes it from the help of `fastsvm predict`.
constexpr const char* help_text = R"(Usage: fastsvm-predict [options] test_file model_file [output_file]

Predict rows with any model file, exact or compiled, as svm-predict does.
A - as file is standard input, or standard output, which is also the default.

Options:
  -b, --probability 0|1  Predict probabilities too (1), as svm-predict -b 1.
                         [default: 0]
  -q, --quiet            Print no summary, warnings or progress bar.
  --exact MODEL          LIBSVM model that MODEL_FILE was made from, by approx
                         --certify or reduce. It evaluates the rows whose label
                         is not proven, so that every label is svm-predict's.
  --threads N            Number of threads, 0 for all. [default: all available
                         processors]
  -h, --help             Show this message and exit.
  --version              Show the version and exit.

Output:
  --values             Append the decision values, one per pair of classes in
                       the order of the model's labels (1/2, 1/3, ..., 2/3,
                       ...), then the radii of a certified model.
  --evaluations        Append the number of kernel evaluations, repeated ones
                       included. For models of fastsvm order.
  --json               Print the summary as one line of JSON; on standard error
                       if the rows go to standard output.
  --open-rows FILE     Output file for rows whose label a certified model
                       leaves unproven, as LIBSVM data with line numbers (1
                       3:0.5 # 17); with --exact, these were evaluated exactly.
                       Rows of --unlabelled data get the label 0.
  --outside-rows FILE  Output file for rows outside the bound of an RBF
                       expansion (Claesen et al., eq. 3.11), in the same
                       format.

Early stops:
  --tolerance E  Largest error of a regression value. With --exact, rows with a
                 larger radius are evaluated exactly (with --open-rows,
                 written); with an ordered model, rows stop once proven within
                 E of svm-predict's value.
  --steps K      Number of points after which every row stops (fastsvm order
                 --method geometry). --values then prints value, radius and the
                 probability of a positive value (DeCoste, eq. 32). Labels may
                 differ from svm-predict's where the radius reaches beyond
                 zero.

Checks:
  --audit SHARE         Give this share of the rows (0.01 or 1%), a random
                        sample, to the exact model too, and count the labels
                        that differ. The output lines stay MODEL_FILE's.
                        --exact names the exact model, which then does only
                        this; a cascade contains its exact model.
  --max-disagreement P  With --audit: largest share of rows that may get
                        another label than the exact model's. If the upper
                        bound at 95 % confidence is larger, the exit code is 3.
  --seed S              Seed of the sample of --audit. [default: 0]
  --fail-on-empty       Exit with code 1 if no row is predicted, and leave
                        OUTPUT_FILE as it was.

Rows and scaling:
  --on-bad-row stop|skip|nan  Action on a malformed line, or on a row that the
                              model cannot evaluate: stop the run, skip the
                              row, or write a line of nan. skip and nan name
                              the first ten and count all. [default: stop]
  --scale RANGE_FILE          Range file of svm-scale, or scale file of
                              write.svm (R's e1071). Rows are scaled while they
                              are read; with a range file, to the same bytes as
                              svm-scale -r.
  --y-scale FILE              The y scale file that R's write.svm wrote beside
                              the scale file, for regression. It scales the
                              labels, so that the summary is in the unit of the
                              predictions.
  --dense                     Read delimited numbers: a label, then the values
                              of features 1, 2, ... or, if the model has a
                              feature 0, of 0, 1, ...
  --delim C                   Delimiter of --dense. A blank matches any run of
                              blanks; \t is a tab. [default: ,]
  --unlabelled                Read rows without labels.
  --max-line MB               Maximum length of a line; a longer one is
                              malformed. Takes a few times as much memory.
                              [default: 256]

Long jobs and clusters are fastsvm predict's, of the Python package.
)";

constexpr const char* libsvm_help_text =
    "Usage: svm-predict [options] test_file model_file output_file\n"
    "options:\n"
    "-b probability_estimates: whether to predict probability estimates, 0 or 1 (default 0); for one-class SVM only 0 "
    "is supported\n"
    "-q : quiet mode (no outputs)\n";

int fail(const std::string& why, int code = 1) {
    say(2, "Error: " + why);
    return code;
}

int predict_as(Request request) {
    try {
        select_instruction_set_of_environment();
    } catch (const std::invalid_argument& error) {
        return fail(error.what(), wrong_usage);
    }
    const std::string test_file = request.test_file;
    try {
        Prediction prediction(std::move(request));
        prediction.prepare();
        prediction.begin();
        prediction.run();
        return prediction.end();
    } catch (const ReaderGone&) {  // not an error
        return 0;
    } catch (const UsageError&) {
        throw;
    } catch (const LineError& error) {
        const bool swapped = error.rows && is_model_file(test_file);
        return fail(std::string(error.what()) + (swapped ? "; the test file comes before the model" : ""));
    } catch (const std::bad_alloc&) {
        return fail("out of memory");
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}

int predict_as_svm_predict(const std::vector<std::string>& words) {
    try {
        return predict_as(read_libsvm_request(words)) ? 1 : 0;
    } catch (const UsageError& error) {
        std::fputs(error.what(), stderr);
        std::fputs(libsvm_help_text, stdout);
        return 1;
    }
}

int predict(const std::vector<std::string>& words) {
    try {
        bool help = false, version = false;
        Request request = read_request(words, &help, &version);
        if (help || version) {
            std::fputs(help ? help_text : "fastsvm-predict " FASTSVM_VERSION "\n", stdout);
            return 0;
        }
        if (request.dask || request.resume)
            throw UsageError(std::string(request.dask ? "--dask" : "--resume") +
                             " is an option of fastsvm predict, of the Python package");
        request.check();
        if (!request.quiet) announce_interruption();
        return predict_as(std::move(request));
    } catch (const UsageError& error) {
        std::string why = error.what();
        if (why.back() == '.') why.pop_back();
        return fail(why + "; see fastsvm-predict --help", wrong_usage);
    }
}

bool named_svm_predict(const std::string& program) { return program.substr(program.rfind('/') + 1) == "svm-predict"; }

}  // namespace

int main(int argc, char** argv) {
    hold_closed_descriptors();
    const StopSignals heeded;
    signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> words(argv + 1, argv + argc);
    int code = argc > 0 && named_svm_predict(argv[0]) ? predict_as_svm_predict(words) : predict(words);
    if (std::fflush(stdout) != 0 && !code) code = 1;
    _exit(code);  // without destructors
}
