/* one_row ROWS MODEL...: allocations of calls with one row of ROWS (LIBSVM text), after the first passes. GNU libc
 * only. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fastsvm.h>

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

enum { rows_max = 200, entries_max = 1 << 17, warm = 3, passes = 20 };
static int64_t starts[rows_max + 1], count;
static int32_t indices[entries_max];
static double values[entries_max], out[1 << 17], label;

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

int main(int argc, char **argv) {
    static const char *const questions[] = {"labels", "values", "probabilities"};
    if (argc < 3) return 2;
    read_rows(argv[1]);
    for (int m = 2; m < argc; ++m) {
        for (int q = 0; q < 3; ++q) {
            fastsvm_model *model;
            fastsvm_error error;
            fastsvm_info info;
            long before = 0;
            if (fastsvm_load(argv[m], &model, &error) != FASTSVM_OK) return fprintf(stderr, "%s\n", error.text), 1;
            fastsvm_describe(model, &info);
            for (int pass = 0; (q < 2 || info.has_probabilities) && pass < warm + passes; ++pass) {
                if (pass == warm) before = allocations;
                for (int64_t row = 0; row < count; ++row) {
                    const fastsvm_rows rows = {.count = 1, .starts = starts + row, .indices = indices, .values = values};
                    const fastsvm_status status = q == 0   ? fastsvm_predict(model, &rows, &label, &error)
                                                  : q == 1 ? fastsvm_values(model, &rows, out, NULL, &error)
                                                           : fastsvm_probabilities(model, &rows, out, &label, &error);
                    if (status != FASTSVM_OK) return fprintf(stderr, "%s\n", error.text), 1;
                }
            }
            if (q < 2 || info.has_probabilities)
                printf("%s %s allocations %ld\n", argv[m], questions[q], allocations - before);
            fastsvm_free(model);
        }
    }
    return 0;
}
