// The functions of fastsvm.h, and the handles.
#include "capi/fastsvm.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "capi/handle.h"
#include "engine/checksum.h"
#include "engine/header.h"
#include "engine/libsvm_file.h"
#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/parse.h"

namespace fastsvm {

namespace {

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

std::shared_ptr<const Rows> CallMemory::rows(const Scaling* scaling, std::optional<RowError>& error) {
    const auto refused = scaling ? scale_rows(*scaling, given, scaled) : std::nullopt;
    if (refused) error = RowError(given.first_line + refused->first, refused->second);
    return std::shared_ptr<const Rows>(std::shared_ptr<const Rows>(), scaling ? &scaled : &given);
}

Handle::Handle(LoadedModel found, const std::shared_ptr<Fallback>& exact)
    : loaded(std::move(found)),
      predictors{Predictor(answer_options_of(loaded, exact, OutputKind::labels)),
                 Predictor(answer_options_of(loaded, exact, OutputKind::values)),
                 Predictor(answer_options_of(loaded, exact, OutputKind::probabilities))} {}

std::string read_file(const char* path) {
    const auto fail = [] { throw std::system_error(errno, std::generic_category()); };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), std::fclose);
    if (!file) fail();
    std::string out;
    for (std::size_t got = 0, size = std::size_t{1} << 16;; size = out.size()) {
        out.resize(out.size() + size);
        errno = 0;
        got = std::fread(&out[out.size() - size], 1, size, file.get());
        out.resize(out.size() - size + got);
        if (got < size && std::ferror(file.get())) fail();
        if (got < size) return out;
    }
}

void choose_instructions(const char* name) {
    if (name)
        require_instruction_set(name, "name");
    else if (!instructions_chosen)
        select_instruction_set_of_environment();
    instructions_chosen = true;
}

}  // namespace fastsvm

using namespace fastsvm;

struct fastsvm_model : Handle {
    fastsvm_model(LoadedModel loaded, std::string own_fingerprint, const std::shared_ptr<Fallback>& exact = nullptr)
        : Handle(std::move(loaded), exact), own_fingerprint(std::move(own_fingerprint)) {}
    const std::string own_fingerprint;  // of its own file
};

namespace {

struct ArgumentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Reports `before` and `text`. Allocates nothing: memory may be exhausted.
fastsvm_status report(fastsvm_error* error, fastsvm_status status, const char* before, const char* text,
                      std::int64_t line = 0, std::int64_t row = -1) {
    if (error) {
        error->status = status;
        error->line = line;
        error->row = row;
        std::snprintf(error->text, sizeof error->text, "%s%s", before, text);
    }
    return status;
}

// Runs `work` on this thread only, and returns exceptions as a status. name: of a file, or null.
template <class Work> fastsvm_status guarded(fastsvm_error* error, const char* name, Work work) noexcept {
    const int threads_before = set_threads_here(1);
    fastsvm_status status = FASTSVM_OK;
    char before[sizeof error->text];
    try {
        work();
        report(error, FASTSVM_OK, "", "");
    } catch (const ModelError& row_error) {
        std::snprintf(before, sizeof before, row_error.line ? "%s:%lld: " : "%s: ", name ? name : "model",
                      static_cast<long long>(row_error.line));
        status = report(error, FASTSVM_MODEL, before, row_error.what(), row_error.line);
    } catch (const RowError& row_error) {
        std::snprintf(before, sizeof before, "row %lld: ", static_cast<long long>(row_error.row));
        status = report(error, FASTSVM_ROW, before, row_error.what(), 0, row_error.row);
    } catch (const std::system_error& row_error) {
        std::snprintf(before, sizeof before, "%s: ", name ? name : "file");
        status = report(error, FASTSVM_FILE, before, std::strerror(row_error.code().value()));
    } catch (const std::bad_alloc&) {
        status = report(error, FASTSVM_MEMORY, "", "out of memory");
    } catch (const std::length_error&) {
        status = report(error, FASTSVM_MEMORY, "", "out of memory");
    } catch (const std::exception& row_error) {
        status = report(error, FASTSVM_ARGUMENT, "", row_error.what());
    } catch (...) {
        status = report(error, FASTSVM_ARGUMENT, "", "an unknown failure");
    }
    set_threads_here(threads_before);
    return status;
}

fastsvm_model* new_model(std::string_view text) { return new fastsvm_model(load_model(text), fingerprint(text)); }

void require(bool good, const char* why) {
    if (!good) throw ArgumentError(why);
}

// Maximum rows, and approximate numbers, processed at a time.
constexpr std::int64_t most_rows = 4096, most_numbers = std::int64_t{1} << 18;

// Takes rows first, ..., last - 1, or those before an invalid one, whose error it returns.
std::optional<RowError> take_dense(const fastsvm_rows& rows, std::int32_t first_index, std::int64_t first,
                                   std::int64_t last, Rows& out) {
    MatrixView matrix, none;
    const std::int64_t size = rows.doubles ? sizeof(double) : sizeof(float);
    const void* const data = rows.doubles ? static_cast<const void*>(rows.doubles) : rows.floats;
    matrix.type = rows.doubles ? NumberType::float64 : NumberType::float32;
    matrix.columns = rows.columns;
    matrix.row_stride = rows.stride * size, matrix.column_stride = size;
    matrix.data = static_cast<const char*>(data) + first * matrix.row_stride;
    none.columns = 0;
    const auto take = [&](std::int64_t count) {
        matrix.rows = none.rows = count;
        rows_from_dense(none, matrix, nullptr, first_index, out);
    };
    try {
        take(last - first);
    } catch (const ArrayRowError& error) {
        take(error.row);
        return RowError(first + error.row, error.why);
    }
    return std::nullopt;
}

std::optional<RowError> take_sparse(const fastsvm_rows& rows, std::int64_t first, std::int64_t last, Rows& out) {
    const std::int64_t base = rows.starts[first];
    out.reset(last - first, rows.starts[last] - base, 0);
    std::copy(rows.indices + base, rows.indices + rows.starts[last], out.indices.data());
    std::copy(rows.values + base, rows.values + rows.starts[last], out.values.data());
    for (std::int64_t i = first; i < last; ++i) {
        out.indptr[i - first + 1] = rows.starts[i + 1] - base;
        if (out.complete(i - first)) continue;
        RowError error(i, out.error(i - first));
        out.truncate(i - first);
        return error;
    }
    out.find_max_index();
    return std::nullopt;
}

// The end of a part of the rows from `first` on: at least one row.
std::int64_t end_of_part(const fastsvm_rows& rows, std::int64_t first, std::int64_t pairs) {
    std::int64_t most = std::min(std::clamp<std::int64_t>(most_values / pairs, 1, most_rows), rows.count - first);
    if (!rows.starts)
        return first + std::clamp<std::int64_t>(most_numbers / std::max<std::int64_t>(rows.columns, 1), 1, most);
    std::int64_t last = first;
    for (; last < first + most && rows.starts[last] - rows.starts[first] < most_numbers; ++last) {
        const std::int64_t begin = rows.starts[last], end = rows.starts[last + 1];
        require(begin >= 0 && begin <= end, "rows.starts decreases, or is negative");
        require(begin == end || (rows.indices && rows.values), "rows.indices or rows.values is NULL");
    }
    return last;
}

void check(const fastsvm_model& model, const fastsvm_rows& rows) {
    const int forms = (rows.doubles != nullptr) + (rows.floats != nullptr) + (rows.starts != nullptr);
    require(rows.count >= 0, "rows.count is negative");
    require(forms == 1 || (forms == 0 && rows.count == 0), "give rows in one form: doubles, floats or starts");
    if (rows.starts || forms == 0) return;
    require(!model.loaded.serials, "dense rows do not go with a precomputed kernel");
    require(rows.columns >= 0 && rows.columns < std::numeric_limits<std::int32_t>::max(),
            "rows.columns is negative or above 2147483646");
    require(rows.count <= 1 || rows.stride >= rows.columns, "rows.stride is less than rows.columns");
}

// Predicts rows part by part: use(predictions, decisions, number of the first row). Throws RowError after the rows
// before an invalid one.
template <class Use> void ask(const fastsvm_model& model, const fastsvm_rows& rows, OutputKind output_kind, Use use) {
    check(model, rows);
    const auto worker = model.worker(output_kind);
    const auto memory = model.memory.lease();
    Answer& answer = memory->answer;
    std::optional<RowError> row_error;
    for (std::int64_t first = 0, last; first < rows.count && !row_error; first = last) {
        last = end_of_part(rows, first, std::max<std::int64_t>(1, model.header().pairs()));
        row_error = rows.starts ? take_sparse(rows, first, last, memory->given)
                                : take_dense(rows, model.loaded.features.first, first, last, memory->given);
        memory->given.first_line = first;
        worker->predictions(memory->rows(model.embedded(), row_error), answer);
        if (answer.error) row_error = RowError(answer.error->first, answer.error->second);
        if (answer.predictions.rows) use(answer.predictions, worker->decisions(), first);
    }
    if (row_error) throw *row_error;
}

}  // namespace

const char* fastsvm_version(void) { return FASTSVM_VERSION; }

const char* fastsvm_instructions(void) {
    fastsvm_error ignored;  // loading a model reports an invalid name
    guarded(&ignored, nullptr, [] { choose_instructions(nullptr); });
    return loops().name;
}

fastsvm_status fastsvm_set_instructions(const char* name, fastsvm_error* error) {
    return guarded(error, nullptr, [&] {
        require(name, "name is NULL");
        choose_instructions(name);
    });
}

fastsvm_status fastsvm_load(const char* path, fastsvm_model** model, fastsvm_error* error) {
    return guarded(error, path, [&] {
        require(path && model, "path or model is NULL");
        *model = nullptr;
        choose_instructions(nullptr);
        *model = new_model(read_file(path));
    });
}

fastsvm_status fastsvm_load_memory(const void* text, size_t size, const char* name, fastsvm_model** model,
                                   fastsvm_error* error) {
    return guarded(error, name, [&] {
        require((text || !size) && model, "text or model is NULL");
        *model = nullptr;
        choose_instructions(nullptr);
        *model = new_model({static_cast<const char*>(text), size});
    });
}

fastsvm_status fastsvm_with_exact(const fastsvm_model* certified, const fastsvm_model* exact, double tolerance,
                                  fastsvm_model** model, fastsvm_error* error) {
    return guarded(error, nullptr, [&] {
        require(certified && exact && model, "a model, or the pointer to the new one, is NULL");
        *model = nullptr;
        const Model& mine = *certified->loaded.model;
        const std::string why =
            no_certificates(mine.certified, certified->loaded.folds, mine.proves, !mine.fingerprint.empty());
        if (!why.empty()) throw ModelError(why);
        if (mine.fingerprint != exact->own_fingerprint)
            throw ModelError("this is not the model that the other was compiled from (their fingerprints differ)");
        require(tolerance >= 0, "tolerance is negative");
        auto behind = std::make_shared<Fallback>([found = plain(exact->loaded.model)] { return found; }, tolerance);
        *model = new fastsvm_model(certified->loaded, certified->own_fingerprint, behind);
    });
}

void fastsvm_free(fastsvm_model* model) { delete model; }

void fastsvm_describe(const fastsvm_model* model, fastsvm_info* info) {
    if (!info) return;
    *info = {};
    info->kind = info->fingerprint = "";
    if (!model) return;
    const Header& header = model->header();
    const Model& mine = *model->loaded.model;
    *info = {model->loaded.kind.c_str(),
             mine.fingerprint.c_str(),
             static_cast<int>(mine.task.type),
             static_cast<int>(header.nr_class),
             header.pairs(),
             header.total_sv,
             header.classification(),
             header.has_probability() && !header.regression(),
             mine.certified,
             mine.proves,
             model->loaded.embedded != nullptr,
             model->loaded.features.first};
}

fastsvm_status fastsvm_labels(const fastsvm_model* model, int* labels, fastsvm_error* error) {
    return guarded(error, nullptr, [&] {
        require(model && labels, "model or labels is NULL");
        require(model->header().classification(), "the model has no classes, and so no labels");
        std::copy(model->header().label->begin(), model->header().label->end(), labels);
    });
}

fastsvm_status fastsvm_predict(const fastsvm_model* model, const fastsvm_rows* rows, double* labels,
                               fastsvm_error* error) {
    return guarded(error, nullptr, [&] {
        require(model && rows && labels, "model, rows or labels is NULL");
        ask(*model, *rows, OutputKind::labels, [&](const Predictions& found, const Decisions&, std::int64_t first) {
            std::copy(found.label.begin(), found.label.end(), labels + first);
        });
    });
}

fastsvm_status fastsvm_values(const fastsvm_model* model, const fastsvm_rows* rows, double* values, double* radii,
                              fastsvm_error* error) {
    return guarded(error, nullptr, [&] {
        require(model && rows && values, "model, rows or values is NULL");
        require(!radii || model->loaded.model->certified, "radii requested from a model without certificates");
        ask(*model, *rows, OutputKind::values, [&](const Predictions&, const Decisions& found, std::int64_t first) {
            const std::size_t some = static_cast<std::size_t>(found.rows * found.pairs);
            std::copy_n(found.value.begin(), some, values + first * found.pairs);
            if (radii) std::copy_n(found.radius.begin(), some, radii + first * found.pairs);
        });
    });
}

fastsvm_status fastsvm_probabilities(const fastsvm_model* model, const fastsvm_rows* rows, double* probabilities,
                                     double* labels, fastsvm_error* error) {
    return guarded(error, nullptr, [&] {
        require(model && rows && probabilities, "model, rows or probabilities is NULL");
        require(model->header().has_probability() && !model->header().regression(),
                "probabilities requested from a model without them");
        ask(*model, *rows, OutputKind::probabilities,
            [&](const Predictions& found, const Decisions&, std::int64_t first) {
                std::copy(found.probability.begin(), found.probability.end(), probabilities + first * found.columns);
                if (labels) std::copy(found.label.begin(), found.label.end(), labels + first);
            });
    });
}
