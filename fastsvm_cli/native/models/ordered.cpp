#include "models/ordered.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "engine/header.h"

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
std::string kernel_words(const Kernel& kernel) {
    if (kernel.type != KernelType::normalized_polynomial) return name_of(kernel) + ' ' + in_header(kernel.gamma);
    return name_of(kernel) + ' ' + in_header(kernel.degree) + ' ' + in_header(kernel.gamma) + ' ' +
           in_header(kernel.coef0);
}

}  // namespace

std::string name_of(const Kernel& kernel) { return kernel_names[static_cast<std::size_t>(kernel.type)]; }

WithExactFile::WithExactFile(std::shared_ptr<const LibsvmFile> given)
    : CompiledFile(given->header), exact(std::move(given)), kernel_(exact->kernel) {
    folded = exact->inheritance();
}

void WithExactFile::keys(Archive& archive) {
    if (archive.has("kernel", kernel_.type > KernelType::precomputed)) {
        if (const KeyWords* const found = archive.key("kernel", kernel_words(kernel_))) kernel_ = read_kernel(*found);
    } else if (archive.reads()) {
        kernel_ = kernel_of(header);
    }
    archive.field("fingerprint", fingerprint);
    archive.raw_rows(folded);
}

void WithExactFile::body(Archive& archive) { vectors(archive, 0); }

std::shared_ptr<const Rows> WithExactFile::vectors(Archive& archive, std::int64_t more) {
    if (!archive.reads()) {
        if (archive.writes()) archive.written() += format_rows(*exact->vectors);
        return nullptr;
    }
    const bool given = archive.has("kernel", false);
    if (given != (header.kernel_type == "precomputed"))
        archive.fail_header(given ? "a line 'kernel' found"
                                  : "the header ends without 'kernel', which a precomputed kernel needs");
    auto all_vectors = std::make_shared<const Rows>(archive.body().vectors(header, more));
    auto own = all_vectors;
    if (more) own = std::make_shared<const Rows>(slice_rows(*all_vectors, 0, header.total_sv));
    auto read = std::make_shared<LibsvmFile>(header, own, kernel_);
    read->folded = folded;
    exact = std::move(read);
    return all_vectors;
}

RowSlots::RowSlots(const Panels& vectors, std::int64_t pairs, std::int64_t slots)
    : slots(slots),
      rows(vectors),
      sums(static_cast<std::size_t>(pairs * slots)),
      sum(static_cast<std::size_t>(pairs)),
      radius(sum) {}

void RowSlots::gather(std::int64_t slot, double* out) const {
    for (std::size_t p = 0; p < sum.size(); ++p)
        out[p] = sums[p * static_cast<std::size_t>(slots) + static_cast<std::size_t>(slot)];
}

std::int64_t RowSlots::remove(std::int64_t slot) {
    const std::int64_t last = rows.size() - 1;
    rows.remove(slot);
    for (std::size_t p = 0; p < sums.size(); p += static_cast<std::size_t>(slots)) sums[p + slot] = sums[p + last];
    return last;
}

void RowSlots::look_at_all() {
    looked.resize(static_cast<std::size_t>(rows.size()));
    std::iota(looked.begin(), looked.end(), 0);
}

void begin_rows(const std::vector<double>& rho, std::int64_t first, std::int64_t stop, Decisions& out) {
    for (std::int64_t r = first; r < stop; ++r) {
        std::transform(rho.begin(), rho.end(), out.value.begin() + r * out.pairs, std::negate<>());
        if (out.with_radius) std::fill_n(out.radius.data() + r * out.pairs, out.pairs, infinite);
    }
}

OrderedModel::OrderedModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const EarlyStop> early)
    : Model(exact->header), early(std::move(early)), exact_(std::move(exact)) {
    proves = ordered = true;
}

void OrderedModel::decision_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    if (precision.in_full(header.regression())) return exact_values(rows, precision, out);
    const std::vector<std::int64_t> left = early->decision_values(rows, task, precision.tolerance.value_or(0), 0, out);
    if (left.empty()) return;
    const Rows part = select_rows(rows, left);
    if (!precision.tolerance && elects() && !out.with_radius) {
        // Labels only, from the cheapest sufficient level.
        Decisions winners(pairs(), false, true);
        exact_values(part, precision, winners);
        out.elect(left, winners);
        return;
    }
    Decisions again(pairs(), true);
    if (!precision.tolerance) {
        exact_values(part, precision, again);
    } else {
        exact_->evaluator().fast_values(part, again);
        // Rounding leaves these rows open: use LIBSVM's order of operations.
        std::vector<std::int64_t> far;
        for (std::int64_t row = 0; row < part.rows; ++row)
            if (!(again.radius[static_cast<std::size_t>(row * pairs())] <= *precision.tolerance)) far.push_back(row);
        if (!far.empty()) {
            Decisions only(pairs());
            reference_values(select_rows(part, far), only);
            only.reference_rows = static_cast<std::int64_t>(far.size());
            again.put(far, only);
        }
        again.count(header.total_sv);
    }
    out.put(left, again);
}

void OrderedModel::reference_values(const Rows& rows, Decisions& out) const {
    exact_->reference_values(rows, out);
    out.count(header.total_sv);
}

void OrderedModel::exact_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    exact_->decision_values(rows, precision, out);
    out.count(header.total_sv);
}

}  // namespace fastsvm
