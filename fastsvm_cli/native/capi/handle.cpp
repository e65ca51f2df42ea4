#include "capi/handle.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <system_error>
#include <utility>

#include "simd/loops.h"

namespace fastsvm {

namespace {

// The first numbers in another object's memory. Allocates nothing.
template <class T> Array<T> view_of(const std::vector<T>& numbers, std::size_t count) {
    static const T none{};
    const T* const data = numbers.empty() ? &none : numbers.data();
    return Array<T>(data, static_cast<std::int64_t>(count),
                    std::shared_ptr<const void>(std::shared_ptr<const void>(), data));
}

AnswerOptions answer_options_of(const LoadedModel& loaded, const std::shared_ptr<Fallback>& exact,
                                OutputKind output_kind) {
    AnswerOptions out;
    out.model = loaded.model;
    out.probability = output_kind == OutputKind::probabilities;
    out.values = output_kind == OutputKind::values;  // with radii if certified
    out.exact = exact;
    out.may_be_few = true;
    return out;
}

std::atomic<bool> instructions_chosen{false};

}  // namespace

void RowBuffer::begin(std::int64_t first) {
    raw_.squared_norms.clear();
    raw_.starts.assign(1, 0);
    rows_.max_index = 0;
    rows_.first_line = first;
}

RowBuffer::Position RowBuffer::row(std::size_t most) {
    const std::size_t held = entries();
    if (raw_.values.size() < held + most) {
        raw_.indices.resize(std::max(held + most, 2 * held));
        raw_.values.resize(raw_.indices.size());
    }
    return {raw_.indices.data() + held, raw_.values.data() + held};
}

const std::int32_t* RowBuffer::consecutive(std::int32_t first, std::size_t count) {
    if (consecutive_.size() < count || (count && consecutive_[0] != first)) {
        consecutive_.resize(count);
        std::iota(consecutive_.begin(), consecutive_.end(), first);
    }
    return consecutive_.data();
}

void RowBuffer::end_row(std::size_t count, double squared_norm) {
    const std::size_t held = entries();
    if (count) rows_.max_index = std::max(rows_.max_index, raw_.indices[held + count - 1]);
    raw_.starts.push_back(static_cast<std::int64_t>(held + count));
    raw_.squared_norms.push_back(squared_norm);
}

void RowBuffer::Numbers::show(Rows& out) const {
    const std::size_t entries = static_cast<std::size_t>(starts.back());
    out.rows = static_cast<std::int64_t>(starts.size()) - 1;
    out.leading_count = 0;
    out.leading = view_of(values, 0);
    out.indptr = view_of(starts, starts.size());
    out.indices = view_of(indices, entries);
    out.values = view_of(values, entries);
    out.squared_norms = view_of(squared_norms, squared_norms.size());
}

std::shared_ptr<const Rows> RowBuffer::rows(const Scaling* scaling, std::optional<RowError>& error) {
    raw_.show(rows_);
    if (scaling) {
        const std::size_t most = static_cast<std::size_t>(ScaledTarget::entries(*scaling, rows_));
        scaled_.starts.resize(raw_.starts.size());
        scaled_.squared_norms.resize(raw_.squared_norms.size());
        if (scaled_.values.size() < most) {
            scaled_.indices.resize(most);
            scaled_.values.resize(most);
        }
        scale_features(
            *scaling, rows_,
            {scaled_.starts.data(), scaled_.squared_norms.data(), scaled_.indices.data(), scaled_.values.data()},
            found_);
        if (!found_.error.empty()) {
            error = RowError(rows_.first_line + found_.error_row, found_.error);
            scaled_.starts.resize(static_cast<std::size_t>(found_.error_row + 1));
            scaled_.squared_norms.resize(static_cast<std::size_t>(found_.error_row));
        }
        scaled_.show(rows_);
        rows_.max_index = found_.rows.max_index;
    }
    return std::shared_ptr<const Rows>(std::shared_ptr<const Rows>(), &rows_);
}

Handle::Handle(LoadedModel found, const std::shared_ptr<Fallback>& exact)
    : loaded(std::move(found)),
      predictors{Predictor(answer_options_of(loaded, exact, OutputKind::labels)),
                 Predictor(answer_options_of(loaded, exact, OutputKind::values)),
                 Predictor(answer_options_of(loaded, exact, OutputKind::probabilities))} {}

std::string read_file(const char* path) {
    const auto fail = [] { throw std::system_error(errno, std::generic_category()); };
    std::FILE* const file = std::fopen(path, "rb");
    if (!file) fail();
    std::string out;
    try {
        for (std::size_t size = std::size_t{1} << 16;;) {
            const std::size_t held = out.size();
            out.resize(held + size);
            errno = 0;
            const std::size_t got = std::fread(&out[held], 1, size, file);
            out.resize(held + got);
            if (got < size && std::ferror(file)) fail();
            if (got < size) break;
            size = out.size();
        }
    } catch (...) {
        std::fclose(file);
        throw;
    }
    std::fclose(file);
    return out;
}

void choose_instructions(const char* name) {
    if (name)
        require_instruction_set(name, "name");
    else if (!instructions_chosen)
        select_instruction_set_of_environment();
    instructions_chosen = true;
}

}  // namespace fastsvm
