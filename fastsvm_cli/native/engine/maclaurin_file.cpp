#include "engine/maclaurin_file.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/compiled_model.h"
#include "engine/libsvm_file.h"
#include "engine/model_error.h"
#include "models/maclaurin.h"
#include "simd/packed.h"

namespace fastsvm {

namespace {

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

void MaclaurinFile::keys(Archive& archive) {
    archive.whole("maclaurin_degree", degree, 0, max_degree);
    archive.precision(single);
    archive.word("fingerprint", fingerprint);
    archive.features(features);
    archive.raw_rows(folded);
    archive.size("nr_centers", centers.size());
    archive.size("nr_expansions", expansions.size());
    if (archive.has("certified", certified())) archive.whole("certified", highest_norm);
    if (archive.has("longest_vector", certified())) archive.whole("longest_vector", longest_vector, 0);
    if (archive.reads()) check_keys(archive);
    if (archive.checks() && (degree < 0 || degree > max_degree))
        throw std::invalid_argument("a degree that no expansion has");
}

// Checks the lines of the header against each other.
void MaclaurinFile::check_keys(Archive& archive) const {
    if (bounded() && !(header.gamma >= 0))
        archive.fail_header("gamma " + short_number(header.gamma) + " found, expected 0 or more");
    int kernel_degree = degree;
    if (header.kernel_type == "linear")
        kernel_degree = 1;
    else if (header.kernel_type == "polynomial")
        kernel_degree = header.degree;
    else if (!bounded())
        archive.fail_header("a " + header.kernel_type + " kernel found, which has no expansion");
    if (kernel_degree != degree)
        archive.fail("maclaurin_degree", "maclaurin_degree " + std::to_string(degree) + " found, expected " +
                                             std::to_string(kernel_degree) + ", the kernel's own");
    if (!highest_norm) return;
    int number = highest_norm;
    archive.whole("certified", number, std::max(degree, 1), degree + 16);
    if (!archive.has("longest_vector", true))
        archive.fail_header("the header ends without 'longest_vector', which 'certified' needs");
}

void MaclaurinFile::body(Archive& archive) {
    archive.each("nr_centers", centers, [&](auto& center) { visit(archive, center); });
    std::set<std::int64_t> expanded;
    archive.each("nr_expansions", expansions, [&](auto& expansion) {
        visit(archive, expansion);
        expanded.insert(expansion.pair);
    });
    archive.end();
    if (archive.reads() && static_cast<std::int64_t>(expanded.size()) != header.pairs())
        archive.body().fail("a decision function without an expansion found", archive.at() - 1);
}

void MaclaurinFile::visit(Archive& archive, Center& center) const {
    archive.record("center");
    const std::size_t start = archive.at();
    archive.number(center.largest_norm);
    if (archive.reads() && center.largest_norm < 0)
        archive.body().fail(short_number(center.largest_norm) + " found, expected a squared norm", start);
    if (archive.checks() && center.point.size() != features.size())
        throw std::invalid_argument("a center has one number per feature");
    archive.numbers(center.point, 1, static_cast<std::int64_t>(features.size()));
}

void MaclaurinFile::visit(Archive& archive, Expansion& expansion) const {
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    auto& [pair, center, coefficients, certificate, rank] = expansion;
    const std::size_t start = archive.at();
    archive.record("expansion", {&pair, &center});
    if (archive.reads() && (pair >= header.pairs() || center >= archive.count("nr_centers")))
        archive.body().fail("an expansion of pair " + std::to_string(pair) + " about center " + std::to_string(center) +
                                " found, expected pairs below " + std::to_string(header.pairs()) + ", centers below " +
                                std::to_string(archive.count("nr_centers")),
                            start);
    if (archive.reads() ? certified() : certificate.has_value()) visit(archive, certificate);
    if (degree == 2 && archive.begins_with("rank", rank > 0)) {
        archive.record("rank", {&rank});
        if (archive.reads() && (rank < 1 || rank > d))
            archive.body().fail("rank " + std::to_string(rank) + " found, expected 1 to " + std::to_string(d),
                                archive.at() - 1);
    }
    const std::int64_t size = rank ? compressed(rank, d) : coefficients_of(degree, d);
    if (archive.checks() &&
        (rank < 0 || (rank && degree != 2) || static_cast<std::int64_t>(coefficients.size()) != size))
        throw std::invalid_argument("wrong number of coefficients");
    archive.numbers(coefficients, archive.writes() ? line_lengths(degree, rank, d) : std::vector{size}, single);
}

void MaclaurinFile::visit(Archive& archive, std::optional<Certificate>& certificate) const {
    if (archive.checks()) return;  // the evaluator refuses other sizes
    std::vector<double> numbers;
    if (certificate) {
        numbers = certificate->truncation;
        numbers.insert(numbers.end(), certificate->error.begin(), certificate->error.end());
        numbers.insert(numbers.end(), {certificate->weight, certificate->count});
    }
    const int norms = bounded() ? highest_norm - degree + 1 : 0;
    archive.record("certificate");
    archive.numbers(numbers, 1, archive.reads() ? norms + degree + 3 : static_cast<std::int64_t>(numbers.size()));
    if (!archive.reads()) return;
    if (*std::min_element(numbers.begin(), numbers.end()) < 0)
        archive.body().fail("a negative number found in a certificate", archive.at() - 1);
    certificate = Certificate{{numbers.begin(), numbers.begin() + norms},
                              {numbers.begin() + norms, numbers.end() - 2},
                              numbers[numbers.size() - 2],
                              numbers.back()};
}

double MaclaurinFile::products() const {
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    const std::int64_t q = longest_vector ? std::min<std::int64_t>(longest_vector, d) : d;
    double out = 0;
    for (const auto& each : expansions)
        out += static_cast<double>(each->rank ? each->rank * q : coefficients_of(degree, q));
    return out;
}

std::size_t MaclaurinFile::bytes() const {
    std::size_t out = 0;
    for (const auto& each : expansions) out += each->coefficients.size() * sizeof(double);
    return out;
}

std::shared_ptr<Model> MaclaurinFile::make_model() const {
    auto evaluator = std::make_shared<Maclaurin>(features, bounded(), header.gamma, degree, header.rho);
    for (const auto& center : centers) evaluator->add_center(center->point.data(), center->largest_norm);
    const std::int64_t d = evaluator->dimension();
    for (const auto& each : expansions) {
        const double* const p = each->coefficients.data();
        const Certificate* const certificate = each->certificate ? &*each->certificate : nullptr;
        if (each->rank)
            evaluator->add_compressed(each->pair, each->center, p, each->rank, p + 1 + d, p + 1 + d + each->rank,
                                      single, certificate);
        else
            evaluator->add_expansion(each->pair, each->center, p, single, certificate);
    }
    const Kernel linear{KernelType::polynomial, 1, 0, 1};
    evaluator->set_rounding(header.kernel_type == "linear" ? linear : kernel_of(header), longest_vector);
    auto out = std::make_shared<CompiledModel<Maclaurin>>(header, evaluator);
    out->certified = certified();
    out->judged_by_bound = judged_by_bound();
    return out;
}

}  // namespace fastsvm
