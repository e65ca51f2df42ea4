// LIBSVM's functions for prediction (fastsvm_libsvm.h).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include "capi/fastsvm_libsvm.h"
#include "capi/handle.h"
#include "engine/libsvm_file.h"
#include "exact/reference/reference.h"
#include "simd/loops.h"
#include "simd/parallel.h"

using namespace fastsvm;

int libsvm_version = LIBSVM_VERSION;

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t density_marks = 10;

bool classifies(const svm_model& model) { return model.param.svm_type == C_SVC || model.param.svm_type == NU_SVC; }

std::size_t pairs_of(const svm_model& model) {
    const std::size_t classes = static_cast<std::size_t>(model.nr_class);
    return classifies(model) ? classes * (classes - 1) / 2 : 1;
}

// Handle of a model from svm_load_model (SV is null); null for a model that the program filled in.
const Handle* handle_of(const svm_model& model) {
    return model.SV ? nullptr : static_cast<const Handle*>(model.fastsvm);
}

template <class T> T* copied(const std::vector<T>& numbers) {
    T* const out = static_cast<T*>(std::malloc(numbers.size() * sizeof(T) + 1));
    if (!out) throw std::bad_alloc();
    if (!numbers.empty()) std::memcpy(out, numbers.data(), numbers.size() * sizeof(T));
    return out;
}
template <class T> T* copied(const std::optional<std::vector<T>>& numbers) {
    return numbers ? copied(*numbers) : nullptr;
}

void show(const Header& header, svm_model& out) {
    out.param.svm_type = static_cast<int>(task_of(header).type);
    out.param.kernel_type = static_cast<int>(kernel_of(header).type);
    out.param.degree = header.degree;
    out.param.gamma = header.gamma;
    out.param.coef0 = header.coef0;
    out.nr_class = static_cast<int>(header.nr_class);
    out.l = static_cast<int>(header.total_sv);
    out.rho = copied(header.rho);
    out.probA = copied(header.prob_a);
    out.probB = copied(header.prob_b);
    out.prob_density_marks = copied(header.prob_density_marks);
    out.label = copied(header.label);
    out.nSV = copied(header.nr_sv);
    out.free_sv = 1;
}

// The model of the text that read() returns, or null.
template <class Read> svm_model* loaded(Read read) {
    try {
        choose_instructions(nullptr);
    } catch (...) {  // an invalid name cannot be reported
    }
    svm_model* out = nullptr;
    try {
        auto handle = std::make_unique<Handle>(load_model(read()));
        out = static_cast<svm_model*>(std::calloc(1, sizeof(svm_model)));
        if (!out) return nullptr;
        show(handle->header(), *out);
        out->fastsvm = handle.release();
        return out;
    } catch (...) {  // as in LIBSVM
        svm_free_and_destroy_model(&out);
        return nullptr;
    }
}

std::size_t length(const svm_node* x) {
    std::size_t n = 0;
    while (x[n].index != -1) ++n;
    return n;
}

// Takes the nodes up to index -1. serials: of a precomputed kernel, whose values LIBSVM finds by position. Returns
// whether text could hold the row: finite numbers, increasing indices of 0 or more.
bool take(const svm_node* x, bool serials, Rows& out) {
    const std::int64_t n = static_cast<std::int64_t>(length(x));
    out.reset(1, n, 0);
    out.indptr[1] = n;
    for (std::int64_t e = 0; e < n; ++e) {
        out.indices[e] = serials ? static_cast<int>(e) : x[e].index;
        out.values[e] = x[e].value;
    }
    out.find_max_index();
    return out.complete(0) || serials;
}

// Decision values of a row that no text could hold, by LIBSVM's operations; NaN unless the model is LIBSVM's.
Decisions unsound(const Model& model, const Rows& row) {
    Decisions out(model.pairs());
    out.resize(1);
    std::fill(out.value.begin(), out.value.end(), undefined);
    const std::int64_t which = 0;
    if (const auto* const exact = dynamic_cast<const ExactModel*>(&model))
        reference_sums(exact->svm_model(), row, &which, 1, out.value.data());
    return out;
}

// First step of LIBSVM's kernels, by its loop: |x - y|^2, or x.y.
double beginning(bool of_distances, const svm_node* x, const svm_node* y) {
    double sum = 0;
    while (x->index != -1 && y->index != -1) {
        if (x->index == y->index) {
            const double d = x->value - y->value;
            sum += of_distances ? d * d : x->value * y->value;
            ++x, ++y;
        } else {
            const svm_node*& lower = x->index > y->index ? y : x;
            if (of_distances) sum += lower->value * lower->value;
            ++lower;
        }
    }
    for (const svm_node* rest : {x, y})
        for (; of_distances && rest->index != -1; ++rest) sum += rest->value * rest->value;
    return sum;
}

// Decision values of a model that the program filled in, read in place because it may change between calls. This file
// is compiled without contraction.
Decisions of_program(const svm_model& model, const svm_node* x) {
    const Kernel kernel{static_cast<KernelType>(model.param.kernel_type), model.param.gamma, model.param.coef0,
                        model.param.degree};
    SvmModel numbers{kernel, false, {model.l}, std::vector<double>(model.rho, model.rho + pairs_of(model)), nullptr};
    if (classifies(model)) numbers.nr_sv.assign(model.nSV, model.nSV + model.nr_class);
    const bool serials = kernel.type == KernelType::precomputed;
    const std::size_t known = serials ? length(x) : 0;
    Decisions out(numbers.pairs());
    out.resize(1);
    std::fill(out.value.begin(), out.value.end(), 0.0);
    constexpr std::int64_t part = 4 * reference_lanes;
    std::int64_t first = 0;
    for (std::int64_t c = 0; c < numbers.classes(); ++c) {
        const std::int64_t stop = first + numbers.nr_sv[static_cast<std::size_t>(c)];
        for (std::int64_t n; first < stop; first += n) {
            n = std::min(part, stop - first);
            double values[part] = {};
            for (std::int64_t t = 0; t < n; ++t) {
                const svm_node* const vector = model.SV[first + t];
                if (serials)
                    values[t] = vector->value >= 0 && vector->value < static_cast<double>(known)
                                    ? x[static_cast<std::size_t>(vector->value)].value
                                    : undefined;
                else
                    values[t] = beginning(kernel.of_distances(), x, vector);
            }
            if (!serials) reference_kernel_from(kernel, 1, part, n, values);
            for_each_pair(numbers, c, [&](std::int64_t pair, std::int64_t column) {
                const double* const coef = model.sv_coef[column] + first;
                double& sum = out.value[static_cast<std::size_t>(pair)];
                for (std::int64_t t = 0; t < n; ++t) sum += coef[t] * values[t];
            });
        }
    }
    for (std::size_t p = 0; p < numbers.rho.size(); ++p) out.value[p] -= numbers.rho[p];
    return out;
}

Task task_of(const svm_model& model) {
    const auto numbers = [](const double* from, std::size_t count) {
        return from ? std::vector<double>(from, from + count) : std::vector<double>();
    };
    Task out;
    out.type = static_cast<SvmType>(model.param.svm_type);
    if (classifies(model)) out.labels.assign(model.label, model.label + model.nr_class);
    out.prob_a = numbers(model.probA, pairs_of(model));
    out.prob_b = numbers(model.probB, model.probA ? pairs_of(model) : 0);
    if (model.param.svm_type == ONE_CLASS) out.density_marks = numbers(model.prob_density_marks, density_marks);
    return out;
}

// Calls use(predictions, decisions) for one row, on this thread only. Returns its label, or none without an answer.
template <class Use>
std::optional<double> answer(const svm_model* model, const svm_node* x, OutputKind output_kind, Use use) noexcept {
    const int threads_before = set_threads_here(1);
    std::optional<double> label;
    const auto answer_as = [&](const Task& task, const Decisions& found) {
        Predictions predictions;
        predict(task, found, output_kind == OutputKind::probabilities, predictions);
        use(predictions, found);
        label = predictions.label[0];
    };
    std::optional<RowError> row_error;
    try {
        const Handle* const handle = handle_of(*model);
        if (handle) {
            const auto memory = handle->memory.lease();
            if (take(x, handle->loaded.serials, memory->given)) {
                const auto worker = handle->worker(output_kind);
                worker->predictions(memory->rows(handle->embedded(), row_error), memory->answer);
                if (!row_error && !memory->answer.error) {
                    use(memory->answer.predictions, worker->decisions());
                    label = memory->answer.predictions.label[0];
                }
            } else {
                const Model& mine = *handle->loaded.model;
                answer_as(mine.task, unsound(mine, memory->given));
            }
        } else if (model->SV || !model->l) {
            answer_as(task_of(*model), of_program(*model, x));
        }  // else its content was freed
    } catch (...) {  // LIBSVM has no error result
        label.reset();
    }
    set_threads_here(threads_before);
    return label;
}

}  // namespace

svm_model* svm_load_model(const char* model_file_name) {
    return loaded([&] { return read_file(model_file_name); });
}

svm_model* svm_parse_model_from_buffer(const char* model_buffer, unsigned int length) {
    const bool ended = length && !model_buffer[length - 1];  // VMAF counts the terminating 0
    return loaded([&] { return std::string_view(model_buffer, length - ended); });
}

int svm_get_svm_type(const svm_model* model) { return model->param.svm_type; }
int svm_get_nr_class(const svm_model* model) { return model->nr_class; }
int svm_get_nr_sv(const svm_model* model) { return model->l; }

void svm_get_labels(const svm_model* model, int* label) {
    if (model->label) std::memcpy(label, model->label, static_cast<std::size_t>(model->nr_class) * sizeof(int));
}

void svm_get_sv_indices(const svm_model* model, int* sv_indices) {
    if (model->sv_indices) std::memcpy(sv_indices, model->sv_indices, static_cast<std::size_t>(model->l) * sizeof(int));
}

double svm_get_svr_probability(const svm_model* model) {
    return model->param.svm_type >= EPSILON_SVR && model->probA ? model->probA[0] : 0;
}

double svm_predict_values(const svm_model* model, const svm_node* x, double* dec_values) {
    const auto label = answer(model, x, OutputKind::values, [&](const Predictions&, const Decisions& found) {
        std::copy_n(found.value.begin(), found.pairs, dec_values);
    });
    if (!label) std::fill_n(dec_values, pairs_of(*model), undefined);
    return label.value_or(undefined);
}

double svm_predict(const svm_model* model, const svm_node* x) {
    return answer(model, x, OutputKind::labels, [](const Predictions&, const Decisions&) {}).value_or(undefined);
}

double svm_predict_probability(const svm_model* model, const svm_node* x, double* prob_estimates) {
    if (model->param.svm_type >= EPSILON_SVR || !svm_check_probability_model(model)) return svm_predict(model, x);
    const auto label = answer(model, x, OutputKind::probabilities, [&](const Predictions& found, const Decisions&) {
        std::copy(found.probability.begin(), found.probability.end(), prob_estimates);
    });
    if (!label) std::fill_n(prob_estimates, model->nr_class, undefined);
    return label.value_or(undefined);
}

void svm_free_model_content(svm_model* model_ptr) {
    svm_model& model = *model_ptr;
    delete handle_of(model);
    model.fastsvm = nullptr;
    if (model.SV && model.free_sv && model.l > 0) std::free(model.SV[0]);
    for (int i = 0; model.sv_coef && i < model.nr_class - 1; ++i) std::free(model.sv_coef[i]);
    const auto release = [](auto*& memory) {
        std::free(memory);
        memory = nullptr;
    };
    release(model.SV), release(model.sv_coef), release(model.sv_indices);
    release(model.rho), release(model.probA), release(model.probB), release(model.prob_density_marks);
    release(model.label), release(model.nSV);
}

void svm_free_and_destroy_model(svm_model** model_ptr_ptr) {
    if (!model_ptr_ptr || !*model_ptr_ptr) return;
    svm_free_model_content(*model_ptr_ptr);
    std::free(*model_ptr_ptr);
    *model_ptr_ptr = nullptr;
}

void svm_destroy_param(svm_parameter* param) {
    std::free(param->weight_label);
    std::free(param->weight);
}

int svm_check_probability_model(const svm_model* model) {
    if (classifies(*model)) return model->probA && model->probB;
    return model->param.svm_type == ONE_CLASS ? model->prob_density_marks != nullptr : model->probA != nullptr;
}

void svm_set_print_string_function(void (*)(const char*)) {}  // nothing is printed
