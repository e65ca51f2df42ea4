#include "engine/libsvm_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/checksum.h"
#include "exact/values/panels.h"

namespace fastsvm {

ExactModel::ExactModel(Header header, SvmModel model) : Model(std::move(header)), model_(std::move(model)) {
    proves = true;  // near a threshold, the reference sum decides
}

const Exact& ExactModel::evaluator() const {
    std::call_once(once_, [&] { evaluator_ = std::make_unique<const Exact>(model_); });
    return *evaluator_;
}

bool ExactModel::too_few(std::int64_t rows) const {
    if (rows > few_rows || left_.load(std::memory_order_relaxed) < rows) return false;
    return left_.fetch_sub(rows, std::memory_order_relaxed) >= rows;
}

void ExactModel::require_serials(const Rows& rows) const {
    if (model_.kernel.type != KernelType::precomputed) return;
    const std::int64_t largest = largest_serial(*model_.vectors);
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const std::int64_t count = rows.end(r) - rows.begin(r);
        if ((model_.total_sv() && count <= largest) || (count && rows.indices[rows.end(r) - 1] != count - 1))
            throw RowError(r, "a row without the serials 0 to " + std::to_string(largest) +
                                  " found, expected every one of them: the kernel is precomputed");
    }
}

void ExactModel::decision_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    if (!model_.vectors->increasing) {
        reference_sums(model_, rows, out);
        out.reference_rows = rows.rows;
        return;
    }
    require_serials(rows);
    const bool precise = header.regression() || !precision.labels_alone();
    static const std::vector<Precision::Side> none;
    evaluator().decision_values(rows, precise, precision.sides ? *precision.sides : none, precision.odds, out);
}

void ExactModel::reference_values(const Rows& rows, Decisions& out) const {
    require_serials(rows);
    reference_sums(model_, rows, out);
}

Decisions ExactModel::decisions(const Precision& precision, bool with_radius) const {
    return Decisions(pairs(), with_radius,
                     elects() && precision.labels_alone() && !with_radius && model_.vectors->increasing);
}

namespace {

constexpr double rounded_up = 1 + 1e-9;

// Sum of |coefficient| per decision function.
std::vector<double> pair_weights(const SvmModel& model) {
    std::vector<double> out(static_cast<std::size_t>(model.pairs()));
    const Rows& vectors = *model.vectors;
    std::int64_t first = 0;
    for (std::int64_t c = 0; c < model.classes(); ++c) {
        const std::int64_t last = first + model.nr_sv[static_cast<std::size_t>(c)];
        for_each_pair(model, c, [&](std::int64_t pair, std::int64_t column) {
            double sum = 0;
            for (std::int64_t row = first; row < last; ++row)
                sum += std::fabs(vectors.leading[row * vectors.leading_count + column]);
            out[static_cast<std::size_t>(pair)] += sum;
        });
        first = last;
    }
    for (double& weight : out) weight *= rounded_up;
    return out;
}

}  // namespace

ReducedModel::ReducedModel(Header header, SvmModel model, Origin origin)
    : ExactModel(std::move(header), std::move(model)), origin_(std::move(origin)) {
    certified = true;
    const SvmModel& own = svm_model();
    own_ = {own.kernel.gamma, std::vector<double>(static_cast<std::size_t>(pairs())), pair_weights(own), own.rho, 0, 0};
    own_.count = static_cast<double>(own.total_sv());
    for (std::int64_t row = 0; row < own.total_sv(); ++row)
        own_.longest_vector =
            std::max(own_.longest_vector, static_cast<double>(own.vectors->end(row) - own.vectors->begin(row)));
    // This model's rho instead of the exact model's: they differ by less than the radius.
    origin_.gamma = own_.gamma;
    origin_.rho = own_.rho;
}

void ReducedModel::decision_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    ExactModel::decision_values(rows, precision, out);
    widen_radii(rows, out);
}

void ReducedModel::reference_values(const Rows& rows, Decisions& out) const {
    ExactModel::reference_values(rows, out);
    widen_radii(rows, out);
}

void ReducedModel::widen_radii(const Rows& rows, Decisions& out) const {
    if (!out.with_radius) return;
    // Adds svm-predict's rounding on this model: the reference sum's values have radius 0, but the reduced set's radius
    // starts from exact arithmetic.
    widen(rows, own_, out);
    widen(rows, origin_, out);
}

std::shared_ptr<const Model> plain(const std::shared_ptr<const Model>& model) {
    const auto* const reduced = dynamic_cast<const ReducedModel*>(model.get());
    return reduced ? std::make_shared<const ExactModel>(reduced->header, reduced->svm_model()) : model;
}

namespace {

std::string text_after_vectors(const Header& header) {
    return "text found after the " + std::to_string(header.total_sv) + " support vectors that total_sv announces";
}

// Whether the text after the vectors has a beginning or the fingerprints of fastsvm's own lines, which damage may have
// changed: without them a reduced set would be another program's model. Other programs may write one checksum.
bool looks_like_own_line(std::string_view text) {
    const std::vector<std::string_view> words = split_words(text);
    const auto begins = [&](std::string_view own) {
        return !words.empty() && own.substr(0, words[0].size()) == words[0];
    };
    return begins(reduced_word) || begins(folded_word) ||
           std::count_if(words.begin(), words.end(), [](std::string_view word) {
               return word.size() == fingerprint_digits &&
                      word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
           }) > 1;
}

// Whether the last line, without its line end, cannot be cut off: `SV`, or the serial of a precomputed kernel's vector
// and a blank.
bool lacks_only_line_end(std::string_view text, bool precomputed) {
    return ends_with(text, "\nSV") || (precomputed && text.back() == ' ');
}

// LIBSVM's serial is a vector's first value, truncated, whatever its index and the other entries.
Rows serials_of(const Rows& vectors, std::int64_t first_line) {
    Rows out(vectors.rows, vectors.rows, vectors.leading_count);
    std::copy_n(vectors.leading.data(), out.leading.size(), out.leading.data());
    for (std::int64_t row = 0; row < vectors.rows; ++row) {
        const bool empty = vectors.begin(row) == vectors.end(row);
        const double value = empty ? -1 : vectors.values[vectors.begin(row)];
        if (!(value > -1 && value < 2147483648.0))
            throw ModelError("a support vector without a serial found, expected 0:serial: the kernel is precomputed",
                             first_line + row);
        out.indptr[row + 1] = row + 1;
        out.indices[row] = 0;
        out.values[row] = static_cast<double>(static_cast<std::int64_t>(value));
        out.squared_norms[row] = out.values[row] * out.values[row];
    }
    return out;
}

std::string line_name(const char* word) { return std::string("the line '") + word + "'"; }

// Words of fastsvm's line, of the written version.
std::vector<std::string> own_words(std::string_view line, const char* first, std::int64_t number) {
    std::vector<std::string> words = line_words(line, number);
    const std::string version = words.size() > 1 ? words[1] : "", written = std::to_string(format_version);
    if (version == "1") throw ModelError("version 1 of " + line_name(first) + " found, " + too_old, number);
    if (version != written)
        throw ModelError(
            "version '" + version.substr(0, 20) + "' of " + line_name(first) + " found, this fastsvm reads " + written,
            number);
    return words;
}

void read_reduced(std::string_view line, std::int64_t number, LibsvmFile& out) {
    const std::vector<std::string> words = own_words(line, reduced_word, number);
    const std::string name = line_name(reduced_word);
    // Position of the mark raw_rows, if any, or of the checksum.
    const std::int64_t pairs = out.header.pairs();
    const std::size_t raw_at = static_cast<std::size_t>(5 + 2 * pairs);
    if (words.size() == raw_at + 3 && words[raw_at] == raw_rows_key)
        out.folded = {words[raw_at + 1], true};
    else if (words.size() != raw_at + 1)
        throw ModelError(
            std::to_string(words.size()) + " words in " + name + " found, expected " + std::to_string(raw_at + 1),
            number);
    const int count = whole_number(words[3], reduced_word, number),
              longest = whole_number(words[4], reduced_word, number);
    std::vector<double> numbers;
    for (std::size_t at = 5; at < raw_at; ++at) numbers.push_back(real_number(words[at], reduced_word, number));
    if (count < 0 || longest < 0 || std::any_of(numbers.begin(), numbers.end(), [](double x) { return x < 0; }))
        throw ModelError("a negative number in " + name + " found", number);
    out.fingerprint = words[2];
    out.origin = Origin{0,
                        {numbers.begin(), numbers.begin() + pairs},
                        {numbers.begin() + pairs, numbers.end()},
                        {},
                        static_cast<double>(count),
                        static_cast<double>(longest)};
}

void read_folded(std::string_view line, std::int64_t number, LibsvmFile& out) {
    const std::vector<std::string> words = own_words(line, folded_word, number);
    const std::string name = line_name(folded_word);
    if (words.size() != 5)
        throw ModelError(std::to_string(words.size()) + " words in " + name + " found, expected 5", number);
    if (out.serials())  // rows hold kernel values; serials were not read
        throw ModelError(name + " found after a model with a precomputed kernel, which no scaling is folded into",
                         number);
    out.fingerprint = words[2];
    out.folded = FoldedScaling{words[3]};
}

}  // namespace

LibsvmFile::LibsvmFile(Header header, std::shared_ptr<const Rows> vectors, const Kernel& kernel)
    : ModelFile(std::move(header)), vectors(std::move(vectors)), kernel(kernel) {}

std::unique_ptr<LibsvmFile> LibsvmFile::read(std::string_view text) {
    if (!own_line(text).empty()) check_own_line(text);
    std::string with_line_end;
    const auto end_line = [&] { text = with_line_end = std::string(text) + '\n'; };
    if (lacks_only_line_end(text, false)) end_line();
    HeaderText read = read_libsvm_header(text);
    const Header& header = read.header;
    std::vector<ModelNote> notes;
    bool cut = text.back() != '\n' && count_lines(text.substr(read.end)) + 1 == header.total_sv;
    if (cut) {
        cut = !lacks_only_line_end(text, header.kernel_type == "precomputed");
        end_line();
    }
    Body body(text, read.end);
    Rows vectors = body.vectors(header, 0, true);
    if (cut)
        notes.push_back({body.line() - 1, "no line end found after the last support vector, which may be cut off"});
    const std::int64_t first_line = body.line() - vectors.rows;
    const std::string_view rest = text.substr(body.at);
    const std::string own = own_line(text);
    if (own.empty()) {
        if (looks_like_own_line(rest))
            body.fail(text_after_vectors(header) + ": a line of fastsvm's that was changed", body.at);
        if (rest.find_first_not_of(blanks_and_line_ends) != std::string_view::npos)
            notes.push_back({body.line(), text_after_vectors(header) + "; it is ignored, as by LIBSVM"});
        if (header.kernel_type == "precomputed") vectors = serials_of(vectors, first_line);
        if (!vectors.increasing) {
            std::int64_t unsorted = 0;
            while (vectors.error(unsorted).empty()) ++unsorted;
            notes.push_back({first_line + unsorted,
                             "indices of a support vector that do not increase found: rows are answered as by "
                             "svm-predict, slowly; with sorted indices the answers would differ"});
        }
    } else if (!body.begins_with(own) || rest.find('\n') + 1 != rest.size() || !vectors.increasing ||
               (own == reduced_word && header.kernel_type != "rbf")) {
        body.fail(text_after_vectors(header), body.at);
    }
    auto out =
        std::make_unique<LibsvmFile>(header, std::make_shared<const Rows>(std::move(vectors)), kernel_of(header));
    if (!own.empty()) (own == reduced_word ? read_reduced : read_folded)(rest, body.line(), *out);
    out->notes = std::move(notes);
    return out;
}

std::string LibsvmFile::to_text() const {
    std::string out = header.lines() + "SV\n" + format_rows(*vectors);
    if (!origin && (!folded || folded->inherited)) return out;
    out += std::string(origin ? reduced_word : folded_word) + ' ' + std::to_string(format_version) + ' ' + fingerprint;
    if (origin) {
        out += ' ' + std::to_string(static_cast<std::int64_t>(origin->count)) + ' ' +
               std::to_string(static_cast<std::int64_t>(origin->longest_vector));
        for (const std::vector<double>* numbers : {&origin->radius, &origin->weight})
            for (double number : *numbers) (out += ' ') += in_header(number);
        if (folded) out += ' ' + raw_rows_key;
    }
    if (folded) out += ' ' + folded->digest;
    add_checksum_to_own_line(out);
    return out;
}

SvmModel LibsvmFile::svm_model() const {
    SvmModel out{kernel, header.regression(), {header.total_sv}, header.rho, vectors};
    if (header.nr_sv) out.nr_sv.assign(header.nr_sv->begin(), header.nr_sv->end());
    return out;
}

std::vector<std::int32_t> LibsvmFile::used_indices() const { return fastsvm::used_indices(*vectors); }

std::int64_t LibsvmFile::own_max_index() const {
    return serials() ? largest_serial(*vectors) : ModelFile::own_max_index();
}

std::shared_ptr<Model> LibsvmFile::make_model() const {
    if (origin) return std::make_shared<ReducedModel>(header, svm_model(), *origin);
    return std::make_shared<ExactModel>(header, svm_model());
}

std::int64_t largest_serial(const Rows& vectors) {
    double largest = 0;
    for (std::int64_t at = 0; at < vectors.values.size(); ++at) largest = std::max(largest, vectors.values[at]);
    return static_cast<std::int64_t>(largest);
}

Kernel kernel_of(const Header& header) {
    const auto at = std::find(kernel_names.begin(), kernel_names.end(), header.kernel_type);
    return {static_cast<KernelType>(at - kernel_names.begin()), header.gamma, header.coef0, header.degree};
}

}  // namespace fastsvm
