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
#include "program/help.h"
#include "program/prediction.h"
#include "program/request.h"
#include "simd/loops.h"

using namespace fastsvm;

namespace {

constexpr int wrong_usage = 2;

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
