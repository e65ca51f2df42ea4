#include "engine/ordered_file.h"

#include <numeric>
#include <utility>

#include "engine/compiled_text.h"
#include "engine/model_error.h"

namespace fastsvm {

namespace {

Kernel read_kernel(const KeyWords& found) {
    const std::vector<std::string>& words = found.words;
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    const std::string quoted = "kernel '" + line.substr(0, 40) + "' found, expected ";
    const bool exponential = words.size() == 2 && words[0] == "exponential";
    if (!exponential && !(words.size() == 4 && words[0] == "normalized_polynomial"))
        throw ModelError(quoted + "exponential gamma or normalized_polynomial degree gamma coef0", found.line);
    Kernel out;
    if (exponential) {
        out = {KernelType::exponential, real_number(words[1], "gamma", found.line), 0, 0};
        if (!out.semidefinite()) throw ModelError(quoted + "gamma 0 or more", found.line);
        return out;
    }
    out.type = KernelType::normalized_polynomial;
    out.degree = whole_number(words[1], "degree", found.line);
    out.gamma = real_number(words[2], "gamma", found.line);
    out.coef0 = real_number(words[3], "coef0", found.line);
    if (!out.semidefinite() || out.coef0 <= 0 || out.degree < 0)
        throw ModelError(quoted + "gamma 0 or more, coef0 above 0", found.line);
    return out;
}

// The line `kernel` of a model with a precomputed kernel and known vectors.
std::string kernel_line(const Kernel& kernel) {
    std::string out = "kernel " + name_of(kernel) + ' ';
    if (kernel.type == KernelType::normalized_polynomial) out += in_header(kernel.degree) + ' ';
    out += in_header(kernel.gamma);
    if (kernel.type == KernelType::normalized_polynomial) out += ' ' + in_header(kernel.coef0);
    return out + '\n';
}

}  // namespace

std::string name_of(const Kernel& kernel) { return kernel_names[static_cast<std::size_t>(kernel.type)]; }

WithExactFile::WithExactFile(std::shared_ptr<const LibsvmFile> exact, std::string fingerprint)
    : CompiledFile(exact->header, std::move(fingerprint), exact->inheritance()), exact(std::move(exact)) {}

WithExactText WithExactText::read(std::string_view text, const std::vector<std::string>& own_keys) {
    std::vector<std::string> keys{"fingerprint"};
    keys.insert(keys.end(), own_keys.begin(), own_keys.end());
    CompiledText file = read_compiled(text, "SV", keys, {"kernel", raw_rows_key});
    const OwnKeys& own = file.own;
    const int folded = own.has("nr_folded") ? own.whole("nr_folded", 0) : 0;
    const bool given = own.has("kernel");
    const Kernel kernel = given ? read_kernel(own.words("kernel")) : kernel_of(file.header);
    if (given != (file.header.kernel_type == "precomputed"))
        file.body.fail(
            given ? "a line 'kernel' found" : "the header ends without 'kernel', which a precomputed kernel needs",
            file.body.at - 1);
    auto all_vectors = std::make_shared<const Rows>(file.body.vectors(file.header, folded));
    auto vectors = all_vectors;
    if (folded) {
        std::vector<std::int64_t> own_rows(static_cast<std::size_t>(file.header.total_sv));
        std::iota(own_rows.begin(), own_rows.end(), std::int64_t{0});
        vectors = std::make_shared<const Rows>(select_rows(*all_vectors, own_rows));
    }
    auto exact = std::make_shared<const LibsvmFile>(file.header, vectors, kernel, "", std::nullopt, own.folded());
    return {std::move(file), std::move(exact), std::move(all_vectors)};
}

void WithExactFile::write_vectors(std::string& out, const std::string& lines) const {
    if (exact->kernel.type > KernelType::precomputed) out += kernel_line(exact->kernel);
    out += "fingerprint " + fingerprint + '\n' + raw_rows_line(folded) + lines + "SV\n" + format_rows(*exact->vectors);
}

}  // namespace fastsvm
