// The program fastsvm-predict, which replaces svm-predict in a pipeline, with models of any kind.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "files/file_error.h"
#include "files/stop.h"
#include "files/streams.h"
#include "program/options.h"
#include "program/prediction.h"
#include "simd/instruction_sets.h"

using namespace fastsvm;

namespace {

constexpr int wrong_usage = 2;

int predict_as(const Options& options) {
    try {
        select_instruction_set_of_environment();
    } catch (const std::invalid_argument& error) {
        say(2, std::string("Error: ") + error.what());
        return wrong_usage;
    }
    try {
        Prediction prediction(options);
        prediction.prepare();
        prediction.run();
        return 0;
    } catch (const ReaderGone&) {  // not an error
        return 0;
    } catch (const UsageError&) {
        throw;
    } catch (const std::bad_alloc&) {
        say(2, "Error: out of memory");
    } catch (const std::exception& error) {
        say(2, std::string("Error: ") + error.what());
    }
    return 1;
}

bool named_svm_predict(const std::string& program) { return program.substr(program.rfind('/') + 1) == "svm-predict"; }

}  // namespace

int main(int argc, char** argv) {
    hold_closed_descriptors();
    const StopSignals heeded;
    signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> words(argv + 1, argv + argc);
    int code = 0;
    if (argc > 0 && named_svm_predict(argv[0])) {
        try {
            code = predict_as(read_libsvm_options(words)) ? 1 : 0;
        } catch (const UsageError& error) {
            std::fputs(error.what(), stderr);
            std::fputs(libsvm_help_text, stdout);
            code = 1;
        }
    } else {
        try {
            const Options options = read_options(words);
            if (!options.quiet) announce_interruption();
            if (options.help)
                std::fputs(help_text, stdout);
            else if (options.version)
                std::fputs("fastsvm-predict " FASTSVM_VERSION "\n", stdout);
            else
                code = predict_as(options);
        } catch (const UsageError& error) {
            say(2, std::string("Error: ") + error.what() + "; see fastsvm-predict --help");
            code = wrong_usage;
        }
    }
    if (std::fflush(stdout) != 0 && !code) code = 1;
    _exit(code);  // without destructors
}
