#include "engine/ordered_file.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/body.h"
#include "engine/libsvm_file.h"
#include "engine/model_fault.h"

namespace fastsvm {

namespace {

std::string name_of(const Kernel& kernel) { return kernel_names[static_cast<std::size_t>(kernel.type)]; }

Kernel read_kernel(const KeyWords& found) {
    const std::vector<std::string>& words = found.words;
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    const std::string quoted = "kernel '" + line.substr(0, 40) + "' found, expected ";
    const bool exponential = words.size() == 2 && words[0] == "exponential";
    if (!exponential && !(words.size() == 4 && words[0] == "normalized_polynomial"))
        throw ModelFault(quoted + "exponential gamma or normalized_polynomial degree gamma coef0", found.line);
    Kernel out;
    if (exponential) {
        out = {KernelType::exponential, real_number(words[1], "gamma", found.line), 0, 0};
        if (!out.semidefinite()) throw ModelFault(quoted + "gamma 0 or more", found.line);
        return out;
    }
    out.type = KernelType::normalized_polynomial;
    out.degree = whole_number(words[1], "degree", found.line);
    out.gamma = real_number(words[2], "gamma", found.line);
    out.coef0 = real_number(words[3], "coef0", found.line);
    if (!out.semidefinite() || out.coef0 <= 0 || out.degree < 0)
        throw ModelFault(quoted + "gamma 0 or more, coef0 above 0", found.line);
    return out;
}

// Reads the common part of both kinds: header and vectors.
CompiledFile read_ordered(std::string_view text, const std::vector<std::string>& own_keys, OrderedFile& out) {
    std::vector<std::string> keys{"fingerprint"};
    keys.insert(keys.end(), own_keys.begin(), own_keys.end());
    CompiledFile file = read_compiled(text, "SV", keys, {"kernel", raw_rows_key});
    const OwnKeys& own = file.own;
    const int folded = own.has("nr_folded") ? own.whole("nr_folded", 0) : 0;
    out.fingerprint = own.word("fingerprint");
    const bool given = own.has("kernel");
    out.kernel = given ? read_kernel(own.words("kernel")) : kernel_of(file.header);
    if (given != (file.header.kernel_type == "precomputed"))
        file.body.fail(
            given ? "a line 'kernel' found" : "the header ends without 'kernel', which a precomputed kernel needs",
            file.body.at - 1);
    out.all_vectors = std::make_shared<const Rows>(file.body.vectors(file.header, folded));
    out.vectors = out.all_vectors;
    if (folded) {
        std::vector<std::int64_t> own_rows(static_cast<std::size_t>(file.header.total_sv));
        std::iota(own_rows.begin(), own_rows.end(), std::int64_t{0});
        out.vectors = std::make_shared<const Rows>(select_rows(*out.all_vectors, own_rows));
    }
    out.raw_rows = own.raw_rows();
    out.header = file.header;
    return file;
}

}  // namespace

std::string triangle_refusal(const Kernel& kernel) {
    if (kernel.type == KernelType::precomputed) return without_vectors;
    if (kernel.of_distances() && kernel.gamma >= 0) return "";
    return "a " + name_of(kernel) + " kernel" + (kernel.gamma < 0 ? " with negative gamma" : "") +
           " found, expected one that falls with the distance, rbf or exponential: the triangle inequality says nothing"
           " of others";
}

TriangleFile read_triangle(std::string_view text) {
    TriangleFile out;
    CompiledFile file = read_ordered(text, {"nr_lists"}, out);
    if (const std::string why = triangle_refusal(out.kernel); !why.empty()) throw ModelFault(why);
    file.body.record("pivots");
    out.pivots = file.body.whole_numbers(file.own.whole("nr_lists", 0), out.header.total_sv);
    file.body.end();
    return out;
}

GeometryFile read_geometry(std::string_view text) {
    GeometryFile out;
    CompiledFile file = read_ordered(text, {"nr_folded", "nr_points", "sequence"}, out);
    if (!out.kernel.semidefinite())
        throw ModelFault("a " + name_of(out.kernel) + " kernel found that is not an inner product");
    const int count = file.own.whole("nr_points", 0);
    file.body.record("points");
    out.points = file.body.whole_numbers(count, out.all_vectors->rows);
    const std::size_t start = file.body.at;
    out.squared_norm = file.body.numbers(out.header.pairs());
    out.b_error = file.body.numbers(out.header.pairs());
    const auto negative = [](double x) { return x < 0; };
    if (std::any_of(out.squared_norm.begin(), out.squared_norm.end(), negative) ||
        std::any_of(out.b_error.begin(), out.b_error.end(), negative))
        file.body.fail("a negative number found, expected squared norms and errors", start);
    out.b = file.body.numbers(count * out.header.pairs());
    file.body.end();
    out.sequence = file.own.word("sequence");
    return out;
}

}  // namespace fastsvm
