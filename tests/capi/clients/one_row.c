/* one_row ROWS MODEL...: microseconds and allocations of calls with one row of ROWS (LIBSVM text): of the first call,
 * and the median after the first passes. -DLIBSVM: calls LIBSVM's functions, of LIBSVM or of libfastsvm. GNU libc
 * only. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef LIBSVM
#include "svm.h"
#else
#include <fastsvm.h>
#endif

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static long allocations;

void *malloc(size_t size) { return ++allocations, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return ++allocations, __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return ++allocations, __libc_realloc(old, size); }
void *aligned_alloc(size_t line, size_t size) { return ++allocations, __libc_memalign(line, size); }
int posix_memalign(void **out, size_t line, size_t size) {
    ++allocations;
    *out = __libc_memalign(line, size);
    return *out ? 0 : 12;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { rows_max = 200, entries_max = 1 << 17, warm = 3, passes = 20 };
static int64_t starts[rows_max + 1], count;
static int32_t indices[entries_max];
static double values[entries_max], times[passes * rows_max], out[1 << 17], label;

static void read_rows(const char *path) {
    FILE *file = fopen(path, "r");
    static char line[1 << 20];
    int64_t entries = 0;
    int read;
    while (file && count < rows_max && fgets(line, sizeof line, file)) {
        char *at = line;
        (void)strtod(at, &at);
        for (; sscanf(at, " %d:%lf%n", &indices[entries], &values[entries], &read) == 2; at += read) ++entries;
        starts[++count] = entries;
    }
    if (file) fclose(file);
}

#ifdef LIBSVM
static struct svm_model *model;
static int load(const char *path) { return (model = svm_load_model(path)) != NULL; }
static void release(void) { svm_free_and_destroy_model(&model); }
static int answers(const char *question) {
    const int classifies = svm_get_svm_type(model) < EPSILON_SVR;
    return question[0] != 'p' || (svm_check_probability_model(model) && classifies);
}
static void ask(const char *question, int64_t row) {
    static struct svm_node nodes[4096];
    int64_t n = 0;
    for (int64_t e = starts[row]; e < starts[row + 1]; ++e, ++n) nodes[n].index = indices[e], nodes[n].value = values[e];
    nodes[n].index = -1;
    if (question[0] == 'l') label = svm_predict(model, nodes);
    else if (question[0] == 'v') label = svm_predict_values(model, nodes, out);
    else label = svm_predict_probability(model, nodes, out);
}
#else
static fastsvm_model *model;
static fastsvm_error error;
static int load(const char *path) { return fastsvm_load(path, &model, &error) == FASTSVM_OK; }
static void release(void) { fastsvm_free(model); }
static int answers(const char *question) {
    fastsvm_info info;
    fastsvm_describe(model, &info);
    return question[0] != 'p' || info.has_probabilities;
}
static void ask(const char *question, int64_t row) {
    fastsvm_rows rows = {0};
    fastsvm_status status;
    rows.count = 1, rows.starts = starts + row, rows.indices = indices, rows.values = values;
    if (question[0] == 'l') status = fastsvm_predict(model, &rows, &label, &error);
    else if (question[0] == 'v') status = fastsvm_values(model, &rows, out, NULL, &error);
    else status = fastsvm_probabilities(model, &rows, out, &label, &error);
    if (status != FASTSVM_OK) exit((fprintf(stderr, "%s\n", error.text), 1));
}
#endif

int main(int argc, char **argv) {
    static const char *const questions[] = {"labels", "values", "probabilities"};
    if (argc < 3) return 2;
    read_rows(argv[1]);
    for (int m = 2; m < argc; ++m) {
        for (int q = 0; q < 3; ++q) {
            double first = 0;
            long before = 0;
            int n = 0;
            if (!load(argv[m])) return fprintf(stderr, "%s cannot be read\n", argv[m]), 1;
            for (int pass = 0; answers(questions[q]) && pass < warm + passes; ++pass) {
                if (pass == warm) before = allocations;
                for (int64_t row = 0; row < count; ++row) {
                    const double begin = now();
                    ask(questions[q], row);
                    const double taken = now() - begin;
                    if (pass == 0 && row == 0) first = taken;
                    if (pass >= warm) times[n++] = taken;
                }
            }
            const double each = n ? (double)(allocations - before) / n : 0;
            qsort(times, (size_t)n, sizeof times[0], by_size);
            if (n) printf("%s %s first %.1f median %.2f allocations %.2f\n", argv[m], questions[q], first, times[n / 2], each);
            release();
        }
    }
    return 0;
}
