#include "engine/model_file.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/carried.h"
#include "engine/checksum.h"
#include "engine/compiled_model.h"
#include "engine/exact_model.h"
#include "engine/kind.h"
#include "engine/model_fault.h"
#include "engine/ordered_model.h"
#include "exact/strips.h"
#include "models/border.h"
#include "models/density.h"
#include "models/maclaurin.h"

namespace fastsvm {

namespace {

std::shared_ptr<ExactModel> exact_of(const OrderedFile& file) {
    return std::make_shared<ExactModel>(file.header, svm_model_of(file.header, file.kernel, file.vectors));
}

// Whether scaling is folded into the LIBSVM model that it was compiled from.
template <class File> bool inherits(const File& file) { return file.raw_rows.has_value(); }
bool inherits(const DensityFile&) { return false; }

// Before the file is moved.
std::vector<std::int32_t> indices_of(const MaclaurinFile& file) { return file.features; }
std::vector<std::int32_t> indices_of(const BorderFile& file) { return file.features; }
std::vector<std::int32_t> indices_of(const DensityFile& file) { return used_indices(file.rows); }
std::vector<std::int32_t> indices_of(const OrderedFile& file) { return used_indices(*file.vectors); }

template <class File> std::shared_ptr<const Rows> vectors_of(const File& file) {
    if constexpr (std::is_base_of_v<OrderedFile, File>) return file.vectors;
    return nullptr;
}

KnownFeatures known_features(const std::vector<std::int32_t>& used, const Scaling* carried,
                             std::shared_ptr<const Rows> vectors) {
    const std::int32_t last = used.empty() ? 0 : used.back();
    return {first_index(used, carried), carried ? std::max(last, carried->max_index()) : last, std::move(vectors)};
}

template <class File> void take(File file, const std::vector<RangeText>& ranges, LoadedModel& out) {
    out.inherits = inherits(file);
    const std::vector<std::int32_t> indices = indices_of(file);
    const std::shared_ptr<const Rows> vectors = vectors_of(file);
    const std::string fingerprint = file.fingerprint;
    if (!ranges.empty()) {
        const Scaling scaling = read_carried(ranges);
        const ScaledModel asked{file.header.regression(), raw_rows_because(false, out.inherits), false, indices};
        if (const auto fault = carried_fault(scaling, asked, "its range")) throw ModelFault(fault->why);
        out.carried = std::make_shared<const Scaling>(scaling.features_alone());
        out.model = make_model(std::move(file));
        if (scaling.scales_labels()) out.model->labels_back = scaling.labels_back();
    } else {
        out.model = make_model(std::move(file));
    }
    out.features = known_features(indices, out.carried.get(), vectors);
    out.model->fingerprint = fingerprint;
}

}  // namespace

std::shared_ptr<Model> make_model(LibsvmFile file) {
    const SvmModel numbers = svm_model_of(file.header, kernel_of(file.header), std::move(file.vectors));
    if (!file.reduced) {
        auto out = std::make_shared<ExactModel>(std::move(file.header), numbers);
        if (file.folded) out->fingerprint = file.folded->fingerprint;
        return out;
    }
    auto out = std::make_shared<ReducedModel>(std::move(file.header), numbers, std::move(file.reduced->origin));
    out->fingerprint = file.reduced->fingerprint;
    return out;
}

std::shared_ptr<Model> make_model(MaclaurinFile file) {
    const Header& header = file.header;
    auto evaluator = std::make_shared<Maclaurin>(std::move(file.features), header.kernel_type == "rbf", header.gamma,
                                                 file.degree, header.rho);
    for (const MaclaurinFile::Center& center : file.centers)
        evaluator->add_center(center.point.data(), center.largest_norm);
    const std::int64_t d = evaluator->dimension();
    for (const MaclaurinFile::Expansion& each : file.expansions) {
        const double* const p = each.coefficients.data();
        const Certificate* const certificate = each.certificate ? &*each.certificate : nullptr;
        if (each.rank)
            evaluator->add_compressed(each.pair, each.center, p, each.rank, p + 1 + d, p + 1 + d + each.rank,
                                      file.single, certificate);
        else
            evaluator->add_expansion(each.pair, each.center, p, file.single, certificate);
    }
    const Kernel linear{KernelType::polynomial, 1, 0, 1};
    evaluator->set_rounding(header.kernel_type == "linear" ? linear : kernel_of(header), file.longest_vector);
    auto out = std::make_shared<CompiledModel<Maclaurin>>(header, evaluator);
    out->certified = file.highest_norm > 0;
    out->judged_by_bound = header.kernel_type == "rbf" && file.degree == 2 && !out->certified;
    return out;
}

std::shared_ptr<Model> make_model(BorderFile file) {
    auto evaluator = std::make_shared<Border>(std::move(file.features), file.local);
    for (const BorderFile::Samples& each : file.samples) evaluator->add_pair(each.level, each.count, each.rows.data());
    return std::make_shared<CompiledModel<Border>>(std::move(file.header), evaluator);
}

std::shared_ptr<Model> make_model(DensityFile file) {
    const std::vector<std::int64_t> nr_sv(file.header.nr_sv->begin(), file.header.nr_sv->end());
    auto evaluator = std::make_shared<const Density>(nr_sv, file.weight, file.rows);
    return std::make_shared<CompiledModel<Density>>(std::move(file.header), evaluator);
}

std::shared_ptr<Model> make_model(TriangleFile file) {
    const auto exact = exact_of(file);
    return std::make_shared<TriangleModel>(
        exact, std::make_shared<const Triangle>(exact->svm_model(), std::move(file.pivots)));
}

std::shared_ptr<Model> make_model(GeometryFile file) {
    const auto exact = exact_of(file);
    auto points = std::make_shared<const Rows>(select_rows(*file.all_vectors, file.points));
    return std::make_shared<GeometryModel>(
        exact, std::make_shared<const Geometry>(exact->svm_model(), std::move(points), std::move(file.b),
                                                std::move(file.squared_norm), std::move(file.b_error)));
}

LoadedModel load_model(std::string_view text) {
    const ModelKind kind = model_kind(text);
    LoadedModel out;
    out.kind = kind.version ? kind.name : "LIBSVM";
    if (!kind.version) {
        if (!own_line(text).empty()) check_own_line(text);
        LibsvmFile file = read_libsvm(text);
        out.serials = file.header.kernel_type == "precomputed";
        out.features = known_features(used_indices(*file.vectors), nullptr, file.vectors);
        out.folds = file.folded.has_value();
        out.inherits = file.reduced && file.reduced->raw_rows;
        out.notes = std::move(file.notes);
        out.model = make_model(std::move(file));
        return out;
    }
    const OpenedText opened = open_compiled(text, kind.version);
    if (kind.name == "maclaurin")
        take(read_maclaurin(opened.text), opened.ranges, out);
    else if (kind.name == "border")
        take(read_border(opened.text), opened.ranges, out);
    else if (kind.name == "density")
        take(read_density(opened.text), opened.ranges, out);
    else if (kind.name == "triangle")
        take(read_triangle(opened.text), opened.ranges, out);
    else
        take(read_geometry(opened.text), opened.ranges, out);
    return out;
}

std::shared_ptr<const Model> load_exact(std::string_view text) {
    if (model_kind(text).version)
        throw ModelFault("a compiled model found, expected the LIBSVM model it was made from");
    if (!own_line(text).empty()) check_own_line(text);
    LibsvmFile file = read_libsvm(text);
    file.reduced.reset();
    file.folded.reset();
    return make_model(std::move(file));
}

std::string raw_rows_because(bool carries, bool folds) {
    if (carries) return "because it carries a range file";
    return folds ? "because --scale is folded into it" : "";
}

std::string no_certificates(bool certified, bool folds, bool proves, bool compiled) {
    if (folds)
        return "--scale is folded into it: svm-predict's labels are of rows that svm-scale has rounded, which a model "
               "of"
               " raw rows proves nothing of";
    if (certified) return "";
    if (proves) return std::string(compiled ? "its" : "a LIBSVM model found, whose") + " labels are exact already";
    return "the model has no certificates: fastsvm approx --certify and fastsvm reduce make models that do";
}

}  // namespace fastsvm
