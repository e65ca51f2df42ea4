#include "engine/maclaurin_file.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/body.h"
#include "engine/model_fault.h"
#include "simd/packed.h"

namespace fastsvm {

namespace {

// Checks the keys against each other. Returns the number of a certificate's truncation norms.
int read_keys(const CompiledFile& file, std::size_t size, MaclaurinFile& out) {
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
    out.raw_rows = own.raw_rows();
    out.single = own.word("precision", {"single", "double"}) == "single";
    out.fingerprint = own.word("fingerprint");
    out.features = read_ranges(own.words("features"), size);
    return gaussian ? out.highest_norm - out.degree + 1 : 0;
}

}  // namespace

MaclaurinFile read_maclaurin(std::string_view text) {
    CompiledFile file = read_compiled(
        text, "expansions", {"maclaurin_degree", "precision", "fingerprint", "features", "nr_centers", "nr_expansions"},
        {"certified", "longest_vector", raw_rows_key});
    MaclaurinFile out;
    Body& body = file.body;
    const int nr_centers = file.own.whole("nr_centers", 0), nr_expansions = file.own.whole("nr_expansions", 0);
    const int norms = read_keys(file, text.size(), out);
    const std::int64_t d = static_cast<std::int64_t>(out.features.size());
    std::int64_t size = 0;
    for (int k = 0; k <= out.degree; ++k) size += packed_size(k, d);
    for (int i = 0; i < nr_centers; ++i) {
        body.record("center");
        const std::size_t start = body.at;
        const double largest_norm = body.numbers(1)[0];
        if (largest_norm < 0) body.fail(short_number(largest_norm) + " found, expected a squared norm", start);
        out.centers.push_back({body.numbers(d), largest_norm});
    }
    std::set<std::int64_t> expanded;
    for (int i = 0; i < nr_expansions; ++i) {
        const std::size_t start = body.at;
        const std::vector<std::int64_t> places = body.record("expansion", 2);
        MaclaurinFile::Expansion each{places[0], places[1], {}, {}, 0};
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
        each.coefficients = body.numbers(each.rank ? 1 + d + each.rank * (1 + d) : size, out.single);
        expanded.insert(each.pair);
        out.expansions.push_back(std::move(each));
    }
    body.end();
    if (static_cast<std::int64_t>(expanded.size()) != file.header.pairs())
        body.fail("a decision function without an expansion found", text.size() - 1);
    out.header = std::move(file.header);
    return out;
}

}  // namespace fastsvm
