// values.cpp: decision values of sparse rows.
#include <cstdio>
#include <memory>
#include <vector>
#include <fastsvm.h>

int main(int argc, char** argv) {
    fastsvm_model* loaded;
    fastsvm_error error;
    if (argc != 2) return 2;
    if (fastsvm_load(argv[1], &loaded, &error)) return std::fprintf(stderr, "%s\n", error.text), 1;
    const std::unique_ptr<fastsvm_model, void (*)(fastsvm_model*)> model(loaded, fastsvm_free);

    const std::vector<int64_t> starts = {0, 3, 5};
    const std::vector<int32_t> indices = {1, 2, 3, 1, 2};  // as in LIBSVM's files: the first feature is 1
    const std::vector<double> entries = {0.5, -1, 2, -1, 0.25};
    fastsvm_rows rows = {};
    rows.count = 2;
    rows.starts = starts.data(), rows.indices = indices.data(), rows.values = entries.data();

    fastsvm_info info;
    fastsvm_describe(model.get(), &info);
    std::vector<double> values(rows.count * info.pairs);
    if (fastsvm_values(model.get(), &rows, values.data(), nullptr, &error))
        return std::fprintf(stderr, "%s\n", error.text), 1;
    for (std::size_t i = 0; i < values.size(); ++i)
        std::printf("%.17g%c", values[i], (i + 1) % info.pairs ? ' ' : '\n');
}
