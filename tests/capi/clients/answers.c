/* answers MODEL ROWS QUESTION FORM [EXACT]: libfastsvm's answers for rows of LIBSVM text, one line per row, in full.
 * QUESTION: labels, values, radii (and values), probabilities. FORM: sparse, doubles, floats (both with a stride), one
 * (row by row), memory (the model from memory). Rows are asked three times: the first few are answered in another
 * way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fastsvm.h>

enum { columns_max = 64, stride = 70, rows_max = 1 << 14, entries_max = 1 << 20 };

static int64_t starts[rows_max + 1];
static int32_t indices[entries_max];
static double values[entries_max], doubles[rows_max * stride];
static float floats[rows_max * stride];
static char line[1 << 20];

static void check(fastsvm_status status, const fastsvm_error *error) {
    if (status == FASTSVM_OK) return;
    printf("error %d line %ld row %ld %s\n", (int)status, (long)error->line, (long)error->row, error->text);
    exit(3);
}

static int64_t read_rows(const char *path, int first_index) {
    FILE *file = fopen(path, "r");
    int64_t count = 0, entries = 0;
    if (!file) exit(4);
    while (count < rows_max && fgets(line, sizeof line, file)) {
        char *at = line;
        int read;
        (void)strtod(at, &at);
        while (sscanf(at, " %d:%lf%n", &indices[entries], &values[entries], &read) == 2) {
            const int column = indices[entries] - first_index;
            if (column >= 0 && column < columns_max) {
                doubles[count * stride + column] = values[entries];
                floats[count * stride + column] = (float)values[entries];
            }
            ++entries;
            at += read;
        }
        starts[++count] = entries;
    }
    fclose(file);
    return count;
}

static fastsvm_rows rows_of(const char *form, int64_t first, int64_t count) {
    fastsvm_rows rows = {0};
    rows.count = count;
    if (strcmp(form, "doubles") == 0 || strcmp(form, "floats") == 0) {
        rows.columns = columns_max;
        rows.stride = stride;
        if (form[0] == 'd') rows.doubles = doubles + first * stride;
        else rows.floats = floats + first * stride;
    } else {
        rows.starts = starts + first;
        rows.indices = indices;
        rows.values = values;
    }
    return rows;
}

static void load(const char *path, const char *form, fastsvm_model **model, fastsvm_error *error) {
    if (strcmp(form, "memory") == 0) {
        FILE *file = fopen(path, "rb");
        size_t size = file ? fread(line, 1, sizeof line, file) : 0;
        if (file) fclose(file);
        check(fastsvm_load_memory(line, size, path, model, error), error);
        memset(line, 'x', size);
    } else {
        check(fastsvm_load(path, model, error), error);
    }
}

int main(int argc, char **argv) {
    const char *question = argv[3], *form = argv[4];
    fastsvm_model *model;
    fastsvm_error error;
    fastsvm_info info;
    load(argv[1], form, &model, &error);
    if (argc > 5) {
        fastsvm_model *exact, *both;
        load(argv[5], form, &exact, &error);
        check(fastsvm_with_exact(model, exact, 0, &both, &error), &error);
        fastsvm_free(model);
        fastsvm_free(exact);
        model = both;
    }
    fastsvm_describe(model, &info);
    const int64_t count = read_rows(argv[2], info.first_index);
    const int64_t columns = question[0] == 'l' ? 1 : question[0] == 'p' ? info.classes + 1 : info.pairs;
    double *out = calloc((size_t)(count * columns + 1), sizeof(double));
    double *radii = calloc((size_t)(count * columns + 1), sizeof(double));
    const int one_by_one = strcmp(form, "one") == 0;
    const int64_t step = one_by_one ? 1 : count;
    for (int64_t at = 0; at < 3 * count; at += step) {
        const int64_t first = at % count;
        fastsvm_rows rows = rows_of(form, first, step);
        double *to = out + first * columns;
        if (question[0] == 'l') {
            check(fastsvm_predict(model, &rows, to, &error), &error);
        } else if (question[0] == 'p') {
            double *labels = out + count * info.classes; /* after the probabilities */
            check(fastsvm_probabilities(model, &rows, out + first * info.classes, labels + first, &error), &error);
        } else {
            check(fastsvm_values(model, &rows, to, question[0] == 'r' ? radii + first * columns : NULL, &error), &error);
        }
    }
    for (int64_t i = 0; i < count; ++i) {
        if (question[0] == 'p') printf("%.17g", out[count * info.classes + i]);
        for (int64_t j = 0; j < columns - (question[0] == 'p'); ++j)
            printf(j || question[0] == 'p' ? " %.17g" : "%.17g",
                   out[i * (question[0] == 'p' ? info.classes : columns) + j]);
        for (int64_t j = 0; question[0] == 'r' && j < columns; ++j) printf(" %.17g", radii[i * columns + j]);
        printf("\n");
    }
    free(out);
    free(radii);
    fastsvm_free(model);
    return 0;
}
