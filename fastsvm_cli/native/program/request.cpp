#include "program/request.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <type_traits>

namespace fastsvm {

const std::vector<PredictOption> predict_options{
    {"probability", {"-b", "--probability"}, PredictOption::zero_or_one, &Request::probability, true},
    {"quiet", {"-q", "--quiet"}, PredictOption::flag, &Request::quiet},
    {"values", {"--values"}, PredictOption::flag, &Request::values, true},
    {"evaluations", {"--evaluations"}, PredictOption::flag, &Request::evaluations, true},
    {"exact_file", {"--exact"}, PredictOption::text, &Request::exact_file, true},
    {"tolerance", {"--tolerance"}, PredictOption::number, &Request::tolerance, true},
    {"steps", {"--steps"}, PredictOption::count, &Request::steps, true},
    {"audit", {"--audit"}, PredictOption::share, &Request::audit, true},
    {"max_disagreement", {"--max-disagreement"}, PredictOption::share, &Request::max_disagreement},
    {"seed", {"--seed"}, PredictOption::whole, &Request::seed, true},
    {"as_json", {"--json"}, PredictOption::flag, &Request::as_json},
    {"on_bad_row", {"--on-bad-row"}, PredictOption::bad_row, &Request::on_bad_row},
    {"fail_on_empty", {"--fail-on-empty"}, PredictOption::flag, &Request::fail_on_empty},
    {"resume", {"--resume"}, PredictOption::flag, &Request::resume},
    {"open_file", {"--open-rows"}, PredictOption::text, &Request::open_file},
    {"outside_file", {"--outside-rows"}, PredictOption::text, &Request::outside_file},
    {"scale_file", {"--scale"}, PredictOption::text, &Request::scale_file},
    {"y_scale_file", {"--y-scale"}, PredictOption::text, &Request::y_scale_file},
    {"dense", {"--dense"}, PredictOption::flag, &Request::dense, true},
    {"delimiter", {"--delim"}, PredictOption::character, &Request::delimiter, true},
    {"unlabelled", {"--unlabelled"}, PredictOption::flag, &Request::unlabelled, true},
    {"max_line", {"--max-line"}, PredictOption::megabytes, &Request::max_line},
    {"dask", {"--dask"}, PredictOption::text, &Request::dask},
    {"block", {"--block"}, PredictOption::megabytes, &Request::block},
    {"threads", {"--threads"}, PredictOption::whole, &Request::threads},
};

namespace {

bool only(const std::string& word, const char* characters) {
    return !word.empty() && word.find_first_not_of(characters) == std::string::npos;
}

// The number that the whole word is, or NaN.
double read_number(const std::string& word) {
    if (!only(word, "0123456789.eE+-")) return std::numeric_limits<double>::quiet_NaN();
    char* end = nullptr;
    const double out = std::strtod(word.c_str(), &end);
    return *end ? std::numeric_limits<double>::quiet_NaN() : out;
}

// Stores an option's value.
template <class Value>
void store(const PredictOption& option, const std::string& spelling, const std::string& word, Value& out) {
    const auto require = [&](bool good, const std::string& expected) {
        if (!good) throw UsageError(spelling + ": '" + word + "' found, expected " + expected);
    };
    const auto whole = [&](const char* expected, std::uint64_t least = 0) -> std::uint64_t {
        require(only(word, "0123456789") && word.size() <= 18 && std::stoull(word) >= least, expected);
        return std::stoull(word);
    };
    constexpr std::uint64_t most = std::numeric_limits<int>::max();
    if constexpr (std::is_same_v<Value, bool>) {
        require(word == "0" || word == "1", "0 or 1");
        out = word == "1";
    } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
        out = whole("a whole number of 0 or more");
    } else if constexpr (std::is_same_v<Value, std::optional<std::int64_t>>) {
        out = static_cast<std::int64_t>(std::min(whole("a whole number of 1 or more", 1), most));
    } else if constexpr (std::is_same_v<Value, std::int64_t>) {
        if (option.kind == PredictOption::megabytes) {
            const double bytes = read_number(word) * 1e6;
            require(bytes > 0 && bytes < 9e18, "a number above 0");
            out = std::max(static_cast<std::int64_t>(bytes), std::int64_t{1});
        } else {
            out = static_cast<std::int64_t>(std::min(whole("a whole number of 0 or more"), most));
        }
    } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
        const bool share = option.kind == PredictOption::share, percent = share && !word.empty() && word.back() == '%';
        const double found = percent ? read_number(word.substr(0, word.size() - 1)) / 100 : read_number(word);
        require(found >= 0 && found <= (share ? 1 : std::numeric_limits<double>::max()),
                share ? "a share, as 0.005 or 0.5%" : "a number of 0 or more");
        out = found;
    } else {
        out = word;
    }
    if (option.kind == PredictOption::bad_row)
        require(word == "stop" || word == "skip" || word == "nan", "stop, skip or nan");
    if constexpr (std::is_same_v<Value, std::string>)
        if (option.kind == PredictOption::character) {
            if (word == "\\t" || word == "tab") out = "\t";
            if (word == "space") out = " ";
            require(may_delimit(out), "one character that cannot be part of a number (or \\t)");
        }
}

void take_files(const std::vector<std::string>& files, Request& out) {
    if (files.size() < 2)
        throw UsageError(files.empty() ? "name the files: test_file model_file [output_file]"
                                       : "name the model file, too: test_file model_file [output_file]");
    if (files.size() > 3) throw UsageError("'" + files[3] + "' found, expected three files at most");
    out.test_file = files[0];
    out.model_file = files[1];
    if (files.size() > 2) out.output_file = files[2];
}

const PredictOption* option_of(const std::string& spelling) {
    for (const PredictOption& option : predict_options)
        if (std::count(option.spellings.begin(), option.spellings.end(), spelling)) return &option;
    return nullptr;
}

}  // namespace

std::vector<std::string> Request::outputs() const {
    std::vector<std::string> out{output()};
    for (const auto& each : {open_file, outside_file})
        if (each) out.push_back(*each);
    return out;
}

std::vector<std::string> Request::inputs() const {
    std::vector<std::string> out{test_file, model_file};
    for (const auto& each : {exact_file, scale_file, y_scale_file})
        if (each) out.push_back(*each);
    return out;
}

void Request::check() const {
    const std::string beside = outside_file && !open_file ? "--outside-rows" : "--open-rows";
    const bool rows_beside = open_file || outside_file;
    if (test_file == "-" && model_file == "-")
        throw UsageError("TEST_FILE and MODEL_FILE cannot both be standard input.");
    if (!dense && given.count("delimiter"))
        throw UsageError("--delim goes with --dense: other rows are index:value pairs with blanks between them.");
    if (y_scale_file && !scale_file) throw UsageError("--y-scale goes with --scale: write.svm writes both files.");
    if (y_scale_file && unlabelled)
        throw UsageError("--y-scale scales labels: it does not go with --unlabelled, whose rows have none.");
    if (!audit && given.count("max_disagreement")) throw UsageError("--max-disagreement goes with --audit.");
    if (!audit && given.count("seed")) throw UsageError("--seed goes with --audit.");
    if (!dask && given.count("block")) throw UsageError("--block goes with --dask, which cuts the data into blocks.");
    if (resume && !dask && rows_beside)
        throw UsageError("--resume keeps the lines of OUTPUT_FILE alone: it does not go with " + beside + ".");
    if (!dask) return;
    if (resume) throw UsageError("--dask does not go with --resume: run again, it does what is missing by itself.");
    if (rows_beside) throw UsageError("--dask does not go with " + beside + ": workers write parts, and nothing else.");
    if (fail_on_empty)
        throw UsageError("--dask does not go with --fail-on-empty: it writes parts before it counts rows.");
    if (test_file == "-") throw UsageError("--dask reads files, which every worker can open, and no standard input.");
    if (output() == "-") throw UsageError("--dask needs OUTPUT_FILE: the directory, or URL, where the parts go.");
}

Request read_request(const std::vector<std::string>& words, bool* help, bool* version) {
    Request out;
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
        if (word == "--help" || word == "-h") return *help = true, out;
        if (word == "--version" || word == "-V") return *version = true, out;
        const bool short_with_value = word[1] == 'b' && word.size() > 2;
        const std::size_t equals = word[1] == '-' ? word.find('=') : std::string::npos;
        const std::string spelling = short_with_value ? "-b" : word.substr(0, equals);
        const PredictOption* const option = option_of(spelling);
        if (!option || (option->kind == PredictOption::flag && equals != std::string::npos))
            throw UsageError("no such option: " + spelling);
        out.given.insert(option->name);
        if (option->kind == PredictOption::flag) {
            out.*std::get<bool Request::*>(option->member) = true;
            continue;
        }
        const bool next = !short_with_value && equals == std::string::npos;
        if (next && at + 1 == words.size()) throw UsageError(spelling + " needs a value");
        const std::string value = next ? words[++at] : short_with_value ? word.substr(2) : word.substr(equals + 1);
        std::visit([&](auto member) { store(*option, spelling, value, out.*member); }, option->member);
    }
    take_files(files, out);
    return out;
}

Request read_libsvm_request(const std::vector<std::string>& words) {
    Request out;
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
    out.output_file = words[at + 2];
    return out;
}

}  // namespace fastsvm
