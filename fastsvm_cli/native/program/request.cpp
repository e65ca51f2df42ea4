#include "program/request.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

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
class Reader {
public:
    Reader(const PredictOption& option, const std::string& spelling, const std::string& word)
        : option_(option), spelling_(spelling), word_(word) {}

    void operator()(bool& out) const {
        if (word_ != "0" && word_ != "1") fail("0 or 1");
        out = word_ == "1";
    }
    void operator()(std::int64_t& out) const {
        if (option_.kind == PredictOption::megabytes) {
            const double bytes = read_number(word_) * 1e6;
            if (!(bytes > 0 && bytes < 9e18)) fail("a number above 0");
            out = std::max(static_cast<std::int64_t>(bytes), std::int64_t{1});
        } else {
            out = static_cast<std::int64_t>(
                std::min<std::uint64_t>(whole("a whole number of 0 or more"), std::numeric_limits<int>::max()));
        }
    }
    void operator()(std::uint64_t& out) const { out = whole("a whole number of 0 or more"); }
    void operator()(std::optional<std::int64_t>& out) const {
        if (!whole("a whole number of 1 or more")) fail("a whole number of 1 or more");
        (*this)(out.emplace());
    }
    void operator()(std::optional<double>& out) const {
        const bool share = option_.kind == PredictOption::share,
                   percent = share && !word_.empty() && word_.back() == '%';
        const double found = percent ? read_number(word_.substr(0, word_.size() - 1)) / 100 : read_number(word_);
        if (!(found >= 0 && found <= (share ? 1 : std::numeric_limits<double>::max())))
            fail(share ? "a share, as 0.005 or 0.5%" : "a number of 0 or more");
        out = found;
    }
    void operator()(std::optional<std::string>& out) const { out = word_; }
    void operator()(std::string& out) const {
        out = word_;
        if (option_.kind == PredictOption::bad_row) {
            if (word_ != "stop" && word_ != "skip" && word_ != "nan") fail("stop, skip or nan");
            return;
        }
        if (word_ == "\\t" || word_ == "tab") out = "\t";
        if (word_ == "space") out = " ";
        if (!may_delimit(out)) fail("one character that cannot be part of a number (or \\t)");
    }

private:
    std::uint64_t whole(const char* expected) const {
        if (!only(word_, "0123456789") || word_.size() > 18) fail(expected);
        return std::stoull(word_);
    }
    [[noreturn]] void fail(const std::string& expected) const {
        throw UsageError(spelling_ + ": '" + word_ + "' found, expected " + expected);
    }

    const PredictOption& option_;
    const std::string &spelling_, &word_;
};

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
        std::visit([&](auto member) { Reader(*option, spelling, value)(out.*member); }, option->member);
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
