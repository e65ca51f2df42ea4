#include "models/kind.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/checksum.h"
#include "engine/header.h"
#include "engine/libsvm_file.h"
#include "engine/model.h"
#include "models/border.h"
#include "models/cascade.h"
#include "models/geometry.h"
#include "models/maclaurin.h"
#include "models/triangle.h"
#include "text/parse.h"

namespace fastsvm {

namespace {

template <class File> std::unique_ptr<CompiledFile> made(Header header) {
    return std::make_unique<File>(std::move(header));
}

// Another program's model: how it begins, what its start holds, and what follows from that.
struct OtherModel {
    std::string_view begins, holds;
    const char *name, *remedy;
};

constexpr char load_and_write[] =
    "; in Python, fastsvm_cli.to_libsvm(joblib.load(path), out) writes a fitted SVC or SVR as one";
constexpr char from_r[] = "; in R, e1071's write.svm(model, svm.file, scale.file) writes one";
constexpr char train_again[] = "; svm-train makes one of the same training rows";

constexpr OtherModel other_models[] = {
    {"solver_type ", "", "a LIBLINEAR model", ""},
    {"approximated ", "", "an ApproxSVM model", ""},
    {"SVM-light Version ", "", "an SVM-light model", train_again},
    {"%YAML:1.0", "", "an OpenCV model", train_again},  // other programs write "%YAML 1.0"
    {"<?xml", "opencv", "an OpenCV model", train_again},
    {"{", "opencv", "an OpenCV model", train_again},
    {"<?xml", "<PMML", "a PMML model", train_again},
    {"{", "\"learner\"", "an XGBoost model", ""},
    {"{L", "learner", "an XGBoost model", ""},
    {"binf", "", "an XGBoost model", ""},
    {"tree\nversion=", "", "a LightGBM model", ""},
    {"CBM1", "", "a CatBoost model", ""},
    {"\x08", "", "protobuf data (an ONNX model?)", train_again},
    {"\x89HDF", "", "an HDF5 file", ""},
    {"\x93NUMPY", "", "an array of NumPy", ""},
    {"MATLAB 5.0 ", "", "a MATLAB file", ""},
    {"\x80", "", "a pickled Python object", load_and_write},  // in no text
    {"ccopy_reg\n", "", "a pickled Python object", load_and_write},
    {"\x78\x01", "", "zlib data (a compressed file of joblib?)", load_and_write},
    {"\x78\x5e", "", "zlib data (a compressed file of joblib?)", load_and_write},
    {"\x78\x9c", "", "zlib data (a compressed file of joblib?)", load_and_write},
    {"\x78\xda", "", "zlib data (a compressed file of joblib?)", load_and_write},
    {{"X\n\0\0", 4}, "", "an R object of saveRDS", from_r},
    {"RDX2\n", "", "R objects of save", from_r},
    {"RDX3\n", "", "R objects of save", from_r},
};

// nullptr: none is known to begin so.
const OtherModel* other_model(std::string_view start) {
    const auto found = std::find_if(std::begin(other_models), std::end(other_models), [&](const OtherModel& each) {
        return start.substr(0, each.begins.size()) == each.begins && start.find(each.holds) != std::string_view::npos;
    });
    return found == std::end(other_models) ? nullptr : found;
}

// Whether comments, then a model, are at the start.
bool is_commented_model(std::string_view start) {
    bool comments = false;
    while (!start.empty()) {
        const std::string_view line = start.substr(0, start.find('\n'));
        const std::vector<std::string_view> words = split_words(line);
        if (!words.empty() && words[0][0] != '#')
            return comments && (words[0] == "fastsvm_model" || is_header_key(words[0]));
        comments = comments || !words.empty();
        start.remove_prefix(std::min(line.size() + 1, start.size()));
    }
    return false;
}

ModelKind compiled_kind(std::string_view line, const std::vector<std::string_view>& words) {
    const std::string newest = std::to_string(embedding_version);
    if (words.size() != 3 || !only_digits(words[2]))
        throw ModelError("'" + ascii(line.substr(0, 60)) + "' found, expected 'fastsvm_model <kind> <version>'", 1);
    const std::string version(words[2]), name(words[1]);
    if (version.size() > 9 || version[0] == '0')
        throw ModelError("version '" + version.substr(0, 20) + "' found, expected " + std::to_string(format_version) +
                             " to " + newest,
                         1);
    if (std::stoi(version) > embedding_version)
        throw ModelError("version " + version + " of the format found, this fastsvm reads up to " + newest +
                             ": a newer fastsvm wrote it",
                         1);
    if (std::stoi(version) < format_version)
        throw ModelError("version " + version + " of the format found, " + too_old, 1);
    const auto named = [&](const CompiledKind& kind) { return kind.name == name; };
    if (std::none_of(compiled_kinds.begin(), compiled_kinds.end(), named)) {
        std::string known;
        for (const CompiledKind& kind : compiled_kinds) (known += known.empty() ? "" : ", ") += kind.name;
        throw ModelError("a model of kind '" + ascii(name.substr(0, 40)) + "' found, this fastsvm knows " + known, 1);
    }
    return {name, std::stoi(version)};
}

bool looks_like_data(std::string_view line, const std::vector<std::string_view>& words) {
    const std::size_t first = line.find_first_not_of(" \t\v\f\r");
    const bool comment = line[first] == '#' && line.substr(0, 2) != "#!";
    const bool pairs = std::any_of(words.begin(), words.end(), [](std::string_view word) {
        const std::size_t colon = word.find(':');
        return colon != std::string_view::npos && colon && only_digits(word.substr(0, colon));
    });
    std::string number(words[0].substr(std::min(words[0].find_first_not_of("+-"), words[0].size())));
    number.erase(std::remove(number.begin(), number.end(), '.'), number.end());
    return comment || pairs || (!number.empty() && only_digits(number));
}

// text: from open_compiled.
std::unique_ptr<CompiledFile> read_compiled(const CompiledKind& kind, std::string_view text) {
    Archive keys(Archive::Work::collect);
    const std::unique_ptr<CompiledFile> empty = kind.made({});
    empty->keys(keys);
    Archive archive(text, empty->body_word(), keys);
    std::unique_ptr<CompiledFile> out = kind.made(archive.header());
    out->keys(archive);
    out->body(archive);
    return out;
}

// Throws ModelError if no model begins so.
void check_start(const std::string& start) {
    const std::size_t first = start.find_first_not_of(" \t\v\f\r");
    // A LIBSVM model may begin with blank lines.
    if (start.empty() || (first != std::string::npos && start[first] != '\n')) model_kind(start);
}

}  // namespace

const std::vector<CompiledKind> compiled_kinds{
    {"maclaurin", made<MaclaurinFile>}, {"border", made<BorderFile>},     {"density", made<DensityFile>},
    {"triangle", made<TriangleFile>},   {"geometry", made<GeometryFile>}, {"cascade", made<CascadeFile>},
};

ModelKind model_kind(std::string_view text) {
    constexpr std::size_t looked_at = 4096;
    const std::string_view start = text.substr(0, 200), line = start.substr(0, start.find('\n'));
    const std::vector<std::string_view> words = split_words(line), first = split_words(start);
    if (words.empty() && !first.empty() && is_header_key(first[0])) return {};  // LIBSVM skips blank lines
    if (text.empty()) throw ModelError("the file is empty, expected a model");
    if (is_commented_model(text.substr(0, looked_at))) throw ModelError(comment_found, 1);
    if (words.empty()) throw ModelError("a blank line found, expected a model", 1);
    if (words[0] == "fastsvm_model") return compiled_kind(line, words);
    if (const OtherModel* const other = other_model(text.substr(0, looked_at)))
        throw ModelError(std::string(other->name) + " found, expected a LIBSVM or fastsvm model" + other->remedy, 1);
    if (is_header_key(words[0])) return {};  // LIBSVM accepts header keys in any order
    if (looks_like_data(line, words))
        throw DataFileError("this looks like a data file, expected a LIBSVM or fastsvm model", 1);
    std::string shown(line.substr(0, 40));
    for (char& c : shown)
        if (c < ' ' || c > '~') c = '?';
    throw ModelError(
        "'" + shown + "' found, expected a LIBSVM model ('svm_type ...') or a fastsvm model ('fastsvm_model ...')", 1);
}

std::unique_ptr<ModelFile> read_model(std::string_view text) {
    const ModelKind kind = model_kind(text);
    if (!kind.version) return LibsvmFile::read(text);
    OpenedText opened = open_compiled(text, kind.version);
    const auto found = std::find_if(compiled_kinds.begin(), compiled_kinds.end(),
                                    [&](const CompiledKind& each) { return each.name == kind.name; });
    std::unique_ptr<CompiledFile> out = read_compiled(*found, opened.text);
    if (opened.ranges.empty()) return out;
    EmbeddedRange embedded{{}, std::make_shared<const Scaling>(read_embedded(opened.ranges))};
    if (const auto error = embedding_error(*embedded.scaling, out.get(), "its range")) throw ModelError(error->why);
    for (RangeText& range : opened.ranges) embedded.texts.push_back(std::move(range.text));
    out->embed(std::move(embedded));
    return out;
}

bool looks_like_model(std::string_view start, bool dense) {
    const std::vector<std::string_view> words = split_words(start.substr(0, 200));
    if (words.empty()) return false;
    if (dense) return words[0] == "svm_type" || words[0] == "fastsvm_model";
    return words[0] == "fastsvm_model" || is_header_key(words[0]) || other_model(start);
}

void read_model_content(const ByteStream& stream, const std::function<void(const char*, std::size_t)>& take) {
    constexpr std::size_t start_bytes = 1 << 12, piece = 1 << 20;
    constexpr std::size_t longest = 1 << 30;  // LIBSVM's buffer, whose size is an int, doubles: it reads no longer line
    const std::unique_ptr<char[]> buffer(new char[piece]);  // not initialized
    std::string start;
    std::size_t length = 0;  // of the line so far
    std::int64_t line = 1;
    const auto next = [&](const char* data, std::size_t size) {
        const std::size_t last = std::string_view(data, size).rfind('\n');
        length = last == std::string_view::npos ? length + size : size - last - 1;
        if (length > longest) throw ModelError("a line of more than 1024 MiB found, expected a model", line);
        line += count_lines({data, size});
        take(data, size);
    };
    bool looked = false;
    while (const std::size_t got = stream.read(buffer.get(), looked ? piece : start_bytes - start.size())) {
        if (looked) {
            next(buffer.get(), got);
            continue;
        }
        start.append(buffer.get(), got);
        looked = start.size() == start_bytes;
        if (looked) check_start(start), next(start.data(), start.size());
    }
    if (!looked) check_start(start), next(start.data(), start.size());
}

LoadedModel load_model(std::string_view text) { return loaded_model(read_model(text)); }

LoadedModel loaded_model(std::shared_ptr<ModelFile> file) {
    LoadedModel out;
    out.kind = file->kind();
    out.serials = file->serials();
    out.folds = file->folded && !file->folded->inherited;
    out.notes = file->notes;
    out.model = file->model();
    if (file->embedded().scaling)
        out.embedded = std::make_shared<const Scaling>(file->embedded().scaling->features_alone());
    const std::int64_t largest = out.serials ? 0 : file->max_index();
    out.features = {file->first_index(), static_cast<std::int32_t>(largest), file->support_vectors()};
    out.file = std::move(file);
    return out;
}

std::shared_ptr<const Model> load_exact(std::string_view text, std::vector<ModelNote>* notes) {
    if (model_kind(text).version)
        throw ModelError("a compiled model found, expected the LIBSVM model it was made from");
    const auto file = LibsvmFile::read(text);
    if (notes) *notes = file->notes;
    return file->plain()->model();
}

std::string no_certificates(bool certified, bool folds, bool proves, bool compiled) {
    if (folds)
        return "--scale is folded into it: svm-predict's labels are of rows that svm-scale has rounded, which a model "
               "of raw rows proves nothing of";
    if (certified) return "";
    if (proves) return std::string(compiled ? "its" : "a LIBSVM model found, whose") + " labels are exact already";
    return "the model has no certificates: fastsvm approx --certify and fastsvm reduce make models that do";
}

}  // namespace fastsvm
