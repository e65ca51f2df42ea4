#include "engine/maclaurin_file.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "engine/compiled_model.h"
#include "engine/compiled_text.h"
#include "engine/libsvm_file.h"
#include "engine/model_error.h"
#include "models/maclaurin.h"
#include "simd/packed.h"

namespace fastsvm {

namespace {

// Checks the keys against each other. Returns the number of a certificate's truncation norms.
int read_keys(const CompiledText& file, std::size_t size, MaclaurinFile::Keys& out) {
    const Header& header = file.header;
    const OwnKeys& own = file.own;
    const std::size_t behind = file.body.at - 1;  // the header's last line
    out.longest_vector = own.has("longest_vector") ? own.whole("longest_vector", 0) : 0;
    out.degree = own.whole("maclaurin_degree", 0, max_degree);
    const bool gaussian = header.kernel_type == "rbf";
    if (gaussian && !(header.gamma >= 0))
        file.body.fail("gamma " + short_number(header.gamma) + " found, expected 0 or more", behind);
    int kernel_degree = out.degree;
    if (header.kernel_type == "linear")
        kernel_degree = 1;
    else if (header.kernel_type == "polynomial")
        kernel_degree = header.degree;
    else if (!gaussian)
        file.body.fail("a " + header.kernel_type + " kernel found, which has no expansion", behind);
    if (kernel_degree != out.degree)
        own.fail("maclaurin_degree", "maclaurin_degree " + std::to_string(out.degree) + " found, expected " +
                                         std::to_string(kernel_degree) + ", the kernel's own");
    out.highest_norm = own.has("certified") ? own.whole("certified") : 0;
    if (out.highest_norm) own.whole("certified", std::max(out.degree, 1), out.degree + 16);
    if (out.highest_norm && !own.has("longest_vector"))
        file.body.fail("the header ends without 'longest_vector', which 'certified' needs", behind);
    out.single = own.word("precision", {"single", "double"}) == "single";
    out.features = read_ranges(own.words("features"), size);
    return gaussian ? out.highest_norm - out.degree + 1 : 0;
}

std::int64_t coefficients_of(int degree, std::int64_t d) {
    std::int64_t size = 0;
    for (int k = 0; k <= degree; ++k) size += packed_size(k, d);
    return size;
}

std::int64_t compressed(std::int64_t rank, std::int64_t d) { return 1 + d + rank * (1 + d); }

// Numbers per line; from degree 2, a line per first index.
std::vector<std::int64_t> line_lengths(int degree, std::int64_t rank, std::int64_t d) {
    std::vector<std::int64_t> out{1};
    if (degree >= 1 && d) out.push_back(d);
    if (rank) {
        out.push_back(rank);
        out.insert(out.end(), static_cast<std::size_t>(rank), d);
        return out;
    }
    for (int k = 2; k <= degree; ++k)
        for (std::int64_t j = 0; j < d; ++j) out.push_back(packed_size(k - 1, d - j));
    return out;
}

}  // namespace

MaclaurinFile::MaclaurinFile(Header header, std::string fingerprint, Keys keys, Centers centers, Expansions expansions,
                             std::optional<FoldedScaling> folded)
    : CompiledFile(std::move(header), std::move(fingerprint), std::move(folded)),
      keys(std::move(keys)),
      centers(std::move(centers)),
      expansions(std::move(expansions)) {
    if (this->keys.degree < 0 || this->keys.degree > max_degree)
        throw std::invalid_argument("a degree that no expansion has");
    const std::int64_t d = static_cast<std::int64_t>(this->keys.features.size());
    for (const auto& each : this->centers)
        if (static_cast<std::int64_t>(each->point.size()) != d)
            throw std::invalid_argument("a center has one number per feature");
    for (const auto& each : this->expansions)
        if (each->rank < 0 || (each->rank && this->keys.degree != 2) ||
            static_cast<std::int64_t>(each->coefficients.size()) !=
                (each->rank ? compressed(each->rank, d) : coefficients_of(this->keys.degree, d)))
            throw std::invalid_argument("wrong number of coefficients");
}

std::unique_ptr<CompiledFile> MaclaurinFile::read(std::string_view text) {
    CompiledText file = read_compiled(
        text, "expansions", {"maclaurin_degree", "precision", "fingerprint", "features", "nr_centers", "nr_expansions"},
        {"certified", "longest_vector", raw_rows_key});
    Keys out;
    Centers centers;
    Expansions expansions;
    Body& body = file.body;
    const int nr_centers = file.own.whole("nr_centers", 0), nr_expansions = file.own.whole("nr_expansions", 0);
    const int norms = read_keys(file, text.size(), out);
    const std::int64_t d = static_cast<std::int64_t>(out.features.size());
    const std::int64_t size = coefficients_of(out.degree, d);
    for (int i = 0; i < nr_centers; ++i) {
        body.record("center");
        const std::size_t start = body.at;
        const double largest_norm = body.numbers(1)[0];
        if (largest_norm < 0) body.fail(short_number(largest_norm) + " found, expected a squared norm", start);
        centers.push_back(std::make_shared<const Center>(Center{body.numbers(d), largest_norm}));
    }
    std::set<std::int64_t> expanded;
    for (int i = 0; i < nr_expansions; ++i) {
        const std::size_t start = body.at;
        const std::vector<std::int64_t> positions = body.record("expansion", 2);
        Expansion each{positions[0], positions[1], {}, {}, 0};
        if (each.pair >= file.header.pairs() || each.center >= nr_centers)
            body.fail("an expansion of pair " + std::to_string(each.pair) + " about center " +
                          std::to_string(each.center) + " found, expected pairs below " +
                          std::to_string(file.header.pairs()) + ", centers below " + std::to_string(nr_centers),
                      start);
        if (out.highest_norm) {
            body.record("certificate");
            const std::vector<double> numbers = body.numbers(norms + out.degree + 3);
            if (*std::min_element(numbers.begin(), numbers.end()) < 0)
                body.fail("a negative number found in a certificate", body.at - 1);
            each.certificate = Certificate{{numbers.begin(), numbers.begin() + norms},
                                           {numbers.begin() + norms, numbers.end() - 2},
                                           numbers[numbers.size() - 2],
                                           numbers.back()};
        }
        if (out.degree == 2 && body.begins_with("rank")) {
            each.rank = body.record("rank", 1)[0];
            if (each.rank < 1 || each.rank > d)
                body.fail("rank " + std::to_string(each.rank) + " found, expected 1 to " + std::to_string(d),
                          body.at - 1);
        }
        each.coefficients = body.numbers(each.rank ? compressed(each.rank, d) : size, out.single);
        expanded.insert(each.pair);
        expansions.push_back(std::make_shared<const Expansion>(std::move(each)));
    }
    body.end();
    if (static_cast<std::int64_t>(expanded.size()) != file.header.pairs())
        body.fail("a decision function without an expansion found", text.size() - 1);
    return std::make_unique<MaclaurinFile>(std::move(file.header), file.own.word("fingerprint"), std::move(out),
                                           std::move(centers), std::move(expansions), file.own.folded());
}

void MaclaurinFile::write(std::string& out) const {
    const std::int64_t d = static_cast<std::int64_t>(keys.features.size());
    out += "maclaurin_degree " + std::to_string(keys.degree) + "\nprecision " + (keys.single ? "single" : "double") +
           "\nfingerprint " + fingerprint + '\n' + features_line(keys.features) + raw_rows_line(folded) +
           "nr_centers " + std::to_string(centers.size()) + "\nnr_expansions " + std::to_string(expansions.size()) +
           '\n';
    if (certified())
        out += "certified " + std::to_string(keys.highest_norm) + "\nlongest_vector " +
               std::to_string(keys.longest_vector) + '\n';
    out += "expansions\n";
    for (const auto& center : centers) {
        out += "center\n";
        add_numbers(out, &center->largest_norm, 1);
        if (d) add_numbers(out, center->point.data(), d);
    }
    for (const auto& each : expansions) {
        out += "expansion " + std::to_string(each->pair) + ' ' + std::to_string(each->center) + '\n';
        if (each->certificate) {
            const Certificate& certificate = *each->certificate;
            std::vector<double> numbers = certificate.truncation;
            numbers.insert(numbers.end(), certificate.error.begin(), certificate.error.end());
            numbers.insert(numbers.end(), {certificate.weight, certificate.count});
            out += "certificate\n";
            add_numbers(out, numbers.data(), static_cast<std::int64_t>(numbers.size()));
        }
        if (each->rank) out += "rank " + std::to_string(each->rank) + '\n';
        const double* at = each->coefficients.data();
        for (std::int64_t length : line_lengths(keys.degree, each->rank, d)) {
            add_numbers(out, at, length, keys.single);
            at += length;
        }
    }
}

double MaclaurinFile::products() const {
    const std::int64_t d = static_cast<std::int64_t>(keys.features.size());
    const std::int64_t q = keys.longest_vector ? std::min<std::int64_t>(keys.longest_vector, d) : d;
    double out = 0;
    for (const auto& each : expansions)
        out += static_cast<double>(each->rank ? each->rank * q : coefficients_of(keys.degree, q));
    return out;
}

std::size_t MaclaurinFile::bytes() const {
    std::size_t out = 0;
    for (const auto& each : expansions) out += each->coefficients.size() * sizeof(double);
    return out;
}

std::shared_ptr<Model> MaclaurinFile::make_model() const {
    auto evaluator = std::make_shared<Maclaurin>(keys.features, bounded(), header.gamma, keys.degree, header.rho);
    for (const auto& center : centers) evaluator->add_center(center->point.data(), center->largest_norm);
    const std::int64_t d = evaluator->dimension();
    for (const auto& each : expansions) {
        const double* const p = each->coefficients.data();
        const Certificate* const certificate = each->certificate ? &*each->certificate : nullptr;
        if (each->rank)
            evaluator->add_compressed(each->pair, each->center, p, each->rank, p + 1 + d, p + 1 + d + each->rank,
                                      keys.single, certificate);
        else
            evaluator->add_expansion(each->pair, each->center, p, keys.single, certificate);
    }
    const Kernel linear{KernelType::polynomial, 1, 0, 1};
    evaluator->set_rounding(header.kernel_type == "linear" ? linear : kernel_of(header), keys.longest_vector);
    auto out = std::make_shared<CompiledModel<Maclaurin>>(header, evaluator);
    out->certified = certified();
    out->judged_by_bound = judged_by_bound();
    return out;
}

}  // namespace fastsvm
