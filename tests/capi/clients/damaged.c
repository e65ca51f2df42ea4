/* damaged THREADS: reads models from standard input, each an unsigned 32-bit size and its bytes. Loads each from memory
 * by both interfaces, predicts odd rows in every way on THREADS threads, frees it, and prints the status of
 * loading. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fastsvm.h>
#include <svm.h>

#define EXPECT(condition)                                                        \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

/* Known and unknown features, an empty row, extreme numbers; the last row is one of a precomputed kernel. */
enum { serials = 40, rows_count = 6 };
static const int32_t row_indices[] = {1, 2, 4, 7, 8, 0, 1, 8, 1, 2, 2, 4, 1, 2147483647};
static const double row_values[] = {0.5, -0.25, 1, 0.125, -0.75, 1, 0.25, 1, 1e300, -1e300, 1e-300, 1e-320, 1e308, 1};
static const int64_t row_starts[rows_count + 1] = {0, 5, 5, 8, 10, 12, 14};
static int32_t serial_indices[serials];
static double serial_values[serials];
static const int64_t serial_starts[] = {0, serials};

struct task {
    const fastsvm_model *model;
    const struct svm_model *libsvm;
};

static int says(fastsvm_status status, const fastsvm_error *error) {
    const int has_text = error->text[0] != 0;
    return status == error->status && has_text == (status != FASTSVM_OK) && strlen(error->text) < sizeof error->text;
}

static void *ask(void *argument) {
    const struct task *task = argument;
    fastsvm_info info;
    fastsvm_error error;
    fastsvm_describe(task->model, &info);
    const size_t widest = (size_t)(info.pairs > info.classes ? info.pairs : info.classes) + 1;
    double *numbers = malloc(rows_count * widest * sizeof(double)), *radii = malloc(rows_count * widest * sizeof(double));
    double labels[rows_count];
    int *classes = malloc((size_t)(info.classes + 1) * sizeof(int));
    EXPECT(numbers && radii && classes);
    for (int form = 0; form < 2; ++form) {
        fastsvm_rows rows = {0};
        rows.count = form ? 1 : rows_count;
        rows.starts = form ? serial_starts : row_starts;
        rows.indices = form ? serial_indices : row_indices;
        rows.values = form ? serial_values : row_values;
        for (int round = 0; round < 3; ++round) { /* the first few rows are answered in another way */
            EXPECT(says(fastsvm_predict(task->model, &rows, labels, &error), &error));
            EXPECT(says(fastsvm_values(task->model, &rows, numbers, info.certified ? radii : NULL, &error), &error));
            EXPECT(says(fastsvm_probabilities(task->model, &rows, numbers, labels, &error), &error));
        }
    }
    EXPECT(says(fastsvm_labels(task->model, classes, &error), &error));
    if (task->libsvm) {
        const struct svm_node plain[] = {{1, 0.5}, {2, -1e300}, {7, 1e-320}, {-1, 0}}, odd[] = {{9, 1}, {2, 3}, {-1, 0}};
        const struct svm_node *const both[] = {plain, odd};
        for (int i = 0; i < 2; ++i) {
            svm_predict(task->libsvm, both[i]);
            svm_predict_values(task->libsvm, both[i], numbers);
            svm_predict_probability(task->libsvm, both[i], numbers);
        }
    }
    free(numbers);
    free(radii);
    free(classes);
    return NULL;
}

int main(int argc, char **argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t running[64];
    uint32_t size;
    EXPECT(threads >= 1 && threads <= 64);
    for (int j = 0; j < serials; ++j) serial_indices[j] = j, serial_values[j] = j ? 1.0 / (1 + j) : 1;
    while (fread(&size, sizeof size, 1, stdin) == 1) {
        char *text = malloc(size ? size : 1); /* exact size: a read past the end is found */
        fastsvm_model *model = NULL;
        fastsvm_error error;
        EXPECT(text && fread(text, 1, size, stdin) == size);
        const fastsvm_status status = fastsvm_load_memory(text, size, "model", &model, &error);
        EXPECT(says(status, &error) && (status == FASTSVM_OK) == (model != NULL));
        struct svm_model *libsvm = svm_parse_model_from_buffer(text, size);
        EXPECT((libsvm != NULL) == (model != NULL));
        free(text);
        if (model) {
            struct task task = {model, libsvm};
            for (int t = 0; t < threads; ++t) EXPECT(pthread_create(&running[t], NULL, ask, &task) == 0);
            for (int t = 0; t < threads; ++t) pthread_join(running[t], NULL);
        }
        fastsvm_free(model);
        svm_free_and_destroy_model(&libsvm);
        printf("%d\n", (int)status);
        fflush(stdout);
    }
    return 0;
}
