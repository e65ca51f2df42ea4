#include "program/options.h"

#include <algorithm>
#include <cstdlib>

namespace fastsvm {

const char* const help_text =
    "Usage: fastsvm-predict [options] test_file model_file [output_file]\n"
    "\n"
    "Predict rows with any model file, exact or compiled, as svm-predict does.\n"
    "A - as file is standard input, or standard output, which is also the default.\n"
    "\n"
    "Options:\n"
    "  -b, --probability 0|1\n"
    "                 Probability estimates (default 0).\n"
    "  -q, --quiet    No summary, no warnings.\n"
    "  --exact MODEL  Exact model of a certified one, for the rows whose label is not\n"
    "                 proven: every label is svm-predict's.\n"
    "  --values       Decision values after each label, with radii if there are any.\n"
    "  --threads N    Number of threads (default: all processors).\n"
    "  --version      Version.\n"
    "  --help         This text.\n"
    "\n"
    "fastsvm predict, of the Python package, has more options.\n";

const char* const libsvm_help_text =
    "Usage: svm-predict [options] test_file model_file output_file\n"
    "options:\n"
    "-b probability_estimates: whether to predict probability estimates, 0 or 1 (default 0); for one-class SVM only 0 "
    "is supported\n"
    "-q : quiet mode (no outputs)\n";

namespace {

// A whole number of 0 or more.
int number(const std::string& option, const std::string& word, int most) {
    const bool digits = !word.empty() && word.size() < (most == 1 ? 2 : 10) &&
                        word.find_first_not_of("0123456789") == std::string::npos;
    const int value = digits ? std::stoi(word) : -1;
    if (!digits || value > most)
        throw UsageError(option + ": '" + word + "' found, expected " +
                         (most == 1 ? "0 or 1" : "a whole number of 0 or more"));
    return value;
}

void take_files(const std::vector<std::string>& files, std::size_t least, Options& out) {
    if (files.size() < least)
        throw UsageError(files.empty() ? "name the files: test_file model_file [output_file]"
                                       : "name the model file, too: test_file model_file [output_file]");
    if (files.size() > 3) throw UsageError("'" + files[3] + "' found, expected three files at most");
    out.test_file = files[0];
    out.model_file = files[1];
    if (files.size() > 2) out.output = files[2];
}

}  // namespace

std::vector<std::string> Options::inputs() const {
    std::vector<std::string> out{test_file, model_file};
    if (exact) out.push_back(*exact);
    return out;
}

Options read_options(const std::vector<std::string>& words) {
    Options out;
    std::vector<std::string> files;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--") {
            files.insert(files.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
            break;
        }
        if (word.size() < 2 || word[0] != '-') {
            files.push_back(word);
            continue;
        }
        const std::size_t equals = word.compare(0, 2, "--") == 0 ? word.find('=') : std::string::npos;
        std::string name = word.substr(0, equals);
        const auto value = [&]() -> std::string {
            if (equals != std::string::npos) return word.substr(equals + 1);
            if (name == "-b" && word.size() > 2) return word.substr(2);
            if (at + 1 == words.size()) throw UsageError(name + " needs a value");
            return words[++at];
        };
        if (word[1] == 'b') name = "-b";
        if (name == "-b" || name == "--probability")
            out.probability = number(name, value(), 1) == 1;
        else if (name == "--exact")
            out.exact = value();
        else if (name == "--threads")
            out.threads = number("--threads", value(), 999'999'999);
        else if (equals != std::string::npos)
            throw UsageError("no such option: " + name + " (fastsvm predict has more)");
        else if (name == "-q" || name == "--quiet")
            out.quiet = true;
        else if (name == "--values")
            out.values = true;
        else if (name == "--help" || name == "-h")
            return out.help = true, out;
        else if (name == "--version" || name == "-V")
            return out.version = true, out;
        else
            throw UsageError("no such option: " + name + " (fastsvm predict has more)");
    }
    take_files(files, 2, out);
    if (std::count(files.begin(), files.begin() + 2, "-") + (out.exact == "-") > 1)
        throw UsageError("only one of the files can be standard input");
    return out;
}

Options read_libsvm_options(const std::vector<std::string>& words) {
    Options out;
    std::size_t at = 0;
    for (; at < words.size() && !words[at].empty() && words[at][0] == '-' && words[at] != "-"; ++at) {
        const char letter = words[at][1];
        if (letter == 'q') {
            out.quiet = true;
        } else if (letter == 'b') {
            out.probability = ++at < words.size() && std::atoi(words[at].c_str()) != 0;
        } else {
            throw UsageError(std::string("Unknown option: -") + letter + "\n");
        }
    }
    if (words.size() < at + 3) throw UsageError("");
    out.test_file = words[at];
    out.model_file = words[at + 1];
    out.output = words[at + 2];
    return out;
}

}  // namespace fastsvm
