/* hostile FOLDER TIMES: calls every function with invalid and with odd valid arguments, and models from several
 * threads. Then loads, asks and frees models TIMES times, and prints the process's memory in KB after the first hundred
 * and at the end. FOLDER: tests/golden. */
#include <math.h>
#include <pthread.h>
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

extern int signgam; /* libm's, which lgamma writes */

static const char *folder;
static fastsvm_error error;

static const char *path_of(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static fastsvm_model *loaded(const char *name) {
    fastsvm_model *model = NULL;
    if (fastsvm_load(path_of(name), &model, &error) != FASTSVM_OK) fprintf(stderr, "%d %s\n", (int)error.status, error.text);
    EXPECT(model && error.status == FASTSVM_OK && error.text[0] == 0 && error.row == -1);
    return model;
}

static int fails(fastsvm_status status, fastsvm_status expected, const char *word) {
    if (status == expected && error.status == expected && strstr(error.text, word)) return 1;
    fprintf(stderr, "%d %s\n", (int)status, error.text);
    return 0;
}

static void load_badly(void) {
    fastsvm_model *model = (fastsvm_model *)&error;
    EXPECT(fails(fastsvm_load("/nowhere/at all", &model, &error), FASTSVM_FILE, "/nowhere/at all: No such file"));
    EXPECT(model == NULL);
    EXPECT(fails(fastsvm_load(folder, &model, &error), FASTSVM_FILE, "directory"));
    EXPECT(fails(fastsvm_load(NULL, &model, &error), FASTSVM_ARGUMENT, "no path"));
    EXPECT(fails(fastsvm_load("x", NULL, &error), FASTSVM_ARGUMENT, "no path"));
    EXPECT(fastsvm_load("/nowhere", &model, NULL) == FASTSVM_FILE);
    EXPECT(fails(fastsvm_load(path_of("data"), &model, &error), FASTSVM_MODEL, "data file"));
    EXPECT(fails(fastsvm_load_memory(NULL, 5, "m", &model, &error), FASTSVM_ARGUMENT, "no text"));
    EXPECT(fails(fastsvm_load_memory(NULL, 0, "m", &model, &error), FASTSVM_MODEL, "m: "));
    EXPECT(fails(fastsvm_load_memory("svm_type c_svc\nkernel_type x\n", 29, NULL, &model, &error), FASTSVM_MODEL, "model:3: "));
    EXPECT(error.line == 3);
    {   /* a name longer than the message */
        char name[2000];
        memset(name, 'n', sizeof name);
        name[sizeof name - 1] = 0;
        EXPECT(fails(fastsvm_load_memory("", 0, name, &model, &error), FASTSVM_MODEL, "nnn"));
        EXPECT(strlen(error.text) == sizeof error.text - 1);
        EXPECT(fails(fastsvm_load(name, &model, &error), FASTSVM_FILE, "nnn"));
    }
    {   /* every truncated model is refused */
        FILE *file = fopen(path_of("version2/c_svc-certified.approx"), "rb");
        char text[1 << 16];
        const size_t size = fread(text, 1, sizeof text, file);
        fclose(file);
        for (size_t end = 0; end < size; end += 7)
            EXPECT(fails(fastsvm_load_memory(text, end, "m", &model, &error), FASTSVM_MODEL, "m") && !model);
    }
}

static void ask_badly(void) {
    fastsvm_model *model = loaded("c_svc.model"), *certified = loaded("version2/c_svc-certified.approx"),
                  *three = loaded("three_classes.model"), *regression = loaded("epsilon_svr.model"), *other = NULL;
    fastsvm_info info;
    double out[64], radii[64];
    int labels[8];
    fastsvm_rows none = {0}, rows;

    fastsvm_describe(NULL, &info);
    EXPECT(info.pairs == 0 && info.kind[0] == 0 && info.fingerprint[0] == 0);
    fastsvm_describe(model, NULL);
    fastsvm_describe(certified, &info);
    EXPECT(info.certified && !info.proves && info.classes == 2 && info.pairs == 1 && strcmp(info.kind, "maclaurin") == 0);
    EXPECT(strlen(info.fingerprint) == 32);
    fastsvm_free(NULL);

    EXPECT(fails(fastsvm_labels(NULL, labels, &error), FASTSVM_ARGUMENT, "no model"));
    EXPECT(fails(fastsvm_labels(model, NULL, &error), FASTSVM_ARGUMENT, "no place"));
    EXPECT(fails(fastsvm_labels(regression, labels, &error), FASTSVM_ARGUMENT, "no labels"));
    EXPECT(fastsvm_labels(three, labels, NULL) == FASTSVM_OK);

    EXPECT(fails(fastsvm_with_exact(certified, NULL, 0, &other, &error), FASTSVM_ARGUMENT, "no models"));
    EXPECT(fails(fastsvm_with_exact(certified, model, -1, &other, &error), FASTSVM_ARGUMENT, "below 0"));
    EXPECT(fails(fastsvm_with_exact(certified, model, NAN, &other, &error), FASTSVM_ARGUMENT, "below 0"));
    EXPECT(fails(fastsvm_with_exact(model, certified, 0, &other, &error), FASTSVM_MODEL, "exact already"));
    EXPECT(fails(fastsvm_with_exact(certified, three, 0, &other, &error), FASTSVM_MODEL, "fingerprints"));
    EXPECT(other == NULL);

    EXPECT(fails(fastsvm_set_instructions(NULL, &error), FASTSVM_ARGUMENT, "no name"));
    EXPECT(fails(fastsvm_set_instructions("avx1", &error), FASTSVM_ARGUMENT, "'avx1' found"));
    EXPECT(fastsvm_set_instructions(fastsvm_instructions(), &error) == FASTSVM_OK);

    EXPECT(fails(fastsvm_predict(NULL, &none, out, &error), FASTSVM_ARGUMENT, "no model"));
    EXPECT(fails(fastsvm_predict(model, NULL, out, &error), FASTSVM_ARGUMENT, "no rows"));
    EXPECT(fails(fastsvm_predict(model, &none, NULL, &error), FASTSVM_ARGUMENT, "no place"));
    EXPECT(fastsvm_predict(model, &none, out, &error) == FASTSVM_OK);
    EXPECT(fails(fastsvm_values(model, &none, out, radii, &error), FASTSVM_ARGUMENT, "certificates"));
    EXPECT(fails(fastsvm_probabilities(three, &none, out, NULL, &error), FASTSVM_ARGUMENT, "has none"));
    EXPECT(fails(fastsvm_probabilities(regression, &none, out, NULL, &error), FASTSVM_ARGUMENT, "has none"));

    rows = none;
    rows.count = 2;
    EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "or in none"));
    rows.count = -1;
    EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "fewer than 0"));

    {   /* dense */
        const double numbers[] = {1, 0, -0.0, 2, 9, 9, 3, 4, 5, 6, 9, 9};
        const double bad[] = {1, 2, 3, 4, NAN, 5};
        const float small[] = {1, 0, 0, 2, 9, 9, 3, 4, 5, 6, 9, 9}, large[] = {1, INFINITY};
        double of_doubles[2], of_floats[2], of_one;
        rows = none;
        rows.doubles = numbers, rows.count = 2, rows.columns = 4, rows.stride = 6;
        EXPECT(fastsvm_predict(model, &rows, of_doubles, &error) == FASTSVM_OK);
        rows.floats = small;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "more than one form"));
        rows.doubles = NULL;
        EXPECT(fastsvm_predict(model, &rows, of_floats, &error) == FASTSVM_OK);
        EXPECT(memcmp(of_doubles, of_floats, sizeof of_floats) == 0);
        rows.stride = 3;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "stride"));
        rows.count = 1, rows.stride = 0; /* ignored for a single row */
        EXPECT(fastsvm_predict(model, &rows, &of_one, &error) == FASTSVM_OK && of_one == of_doubles[0]);
        rows.columns = -1;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "columns"));
        rows.columns = INT64_MAX, rows.stride = INT64_MAX;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "columns"));
        rows.columns = 0, rows.stride = 0, rows.count = 3;
        EXPECT(fastsvm_predict(model, &rows, out, &error) == FASTSVM_OK && out[0] == out[1] && out[1] == out[2]);
        rows = none;
        rows.doubles = bad, rows.count = 3, rows.columns = rows.stride = 2;
        out[0] = out[1] = 77;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ROW, "row 2: ") && error.row == 2);
        EXPECT(out[0] != 77 && out[1] != 77); /* the rows before the bad one are answered */
        rows = none;
        rows.floats = large, rows.count = 1, rows.columns = rows.stride = 2;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ROW, "row 0: "));
    }
    {   /* sparse */
        const int64_t starts[] = {0, 0, 2, 2}, falling[] = {0, 2, 1, 2}, below[] = {-1, 0, 0, 0};
        int32_t indices[] = {1, 2147483647};
        double values[] = {0.5, 1e300};
        double empty[3];
        rows = none;
        rows.starts = starts, rows.indices = indices, rows.values = values, rows.count = 3;
        EXPECT(fastsvm_predict(model, &rows, out, &error) == FASTSVM_OK && out[0] == out[2]);
        signgam = 77;
        EXPECT(fastsvm_values(certified, &rows, out, radii, &error) == FASTSVM_OK);
        EXPECT(signgam == 77); /* would be shared by threads */
        EXPECT(!(radii[1] < INFINITY) || fabs(out[1]) <= 1e300);
        rows.starts = falling;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "starts that decrease"));
        rows.starts = below;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "starts that decrease"));
        rows.starts = starts;
        rows.indices = NULL;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ARGUMENT, "no indices"));
        rows.count = 1, rows.values = NULL; /* no entries */
        EXPECT(fastsvm_predict(model, &rows, empty, &error) == FASTSVM_OK);
        rows.count = 0;
        EXPECT(fastsvm_predict(model, &rows, empty, &error) == FASTSVM_OK);
        rows.count = 3, rows.indices = indices, rows.values = values;
        indices[1] = 1;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ROW, "index 1 found after index 1"));
        indices[1] = -7;
        EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ROW, "row 1: index -7"));
        indices[1] = 3;
        for (int k = 0; k < 3; ++k) {
            const double bad[] = {NAN, INFINITY, -INFINITY};
            values[1] = bad[k];
            EXPECT(fails(fastsvm_predict(model, &rows, out, &error), FASTSVM_ROW, "finite"));
        }
        values[1] = -1e308;
        EXPECT(fastsvm_predict(model, &rows, out, &error) == FASTSVM_OK);
    }
    {   /* precomputed kernels */
        fastsvm_model *precomputed = loaded("exponential.precomputed");
        const int64_t starts[] = {0, 25, 26};
        int32_t indices[26];
        double values[26];
        for (int k = 0; k < 26; ++k) indices[k] = k, values[k] = k ? 0.5 : 1;
        rows = none;
        rows.starts = starts, rows.indices = indices, rows.values = values, rows.count = 1;
        EXPECT(fastsvm_predict(precomputed, &rows, out, &error) == FASTSVM_OK);
        rows.count = 2;
        EXPECT(fails(fastsvm_predict(precomputed, &rows, out, &error), FASTSVM_ROW, "row 1: a row without the serials"));
        rows = none;
        rows.doubles = values, rows.count = 1, rows.columns = rows.stride = 25;
        EXPECT(fails(fastsvm_predict(precomputed, &rows, out, &error), FASTSVM_ARGUMENT, "precomputed"));
        fastsvm_free(precomputed);
    }
    fastsvm_free(model);
    fastsvm_free(certified);
    fastsvm_free(three);
    fastsvm_free(regression);
}

/* A model of one class, one without vectors, and one of three hundred classes. */
static void ask_odd_models(void) {
    static const char one[] = "svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 1\ntotal_sv 0\nrho\nlabel 3\nnr_sv 0\nSV\n";
    static const char empty[] =
        "svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 0\nrho 0.5\nlabel 3 4\nnr_sv 0 0\nSV\n";
    const double row[] = {1, 2};
    fastsvm_rows rows = {0};
    fastsvm_model *model;
    double out[1];
    rows.doubles = row, rows.count = 1, rows.columns = rows.stride = 2;
    EXPECT(fastsvm_load_memory(one, sizeof one - 1, "one", &model, &error) == FASTSVM_OK);
    EXPECT(fastsvm_predict(model, &rows, out, &error) == FASTSVM_OK && out[0] == 3);
    EXPECT(fastsvm_values(model, &rows, out, NULL, &error) == FASTSVM_OK);
    fastsvm_free(model);
    EXPECT(fastsvm_load_memory(empty, sizeof empty - 1, "empty", &model, &error) == FASTSVM_OK);
    EXPECT(fastsvm_predict(model, &rows, out, &error) == FASTSVM_OK && out[0] == 4);
    EXPECT(fastsvm_values(model, &rows, out, NULL, &error) == FASTSVM_OK && out[0] == -0.5);
    fastsvm_free(model);
    for (unsigned ended = 0; ended < 2; ++ended) { /* with the terminating 0, as VMAF passes it, and without */
        struct svm_model *libsvm = svm_parse_model_from_buffer(empty, (unsigned)sizeof empty - 1 + ended);
        EXPECT(libsvm && svm_get_nr_class(libsvm) == 2);
        svm_free_and_destroy_model(&libsvm);
    }
    {
        enum { classes = 300, pairs = classes * (classes - 1) / 2, room = 4 << 20 };
        char *text = malloc(room), *at = text;
        double *values = malloc(pairs * sizeof(double));
        at += sprintf(at, "svm_type c_svc\nkernel_type linear\nnr_class %d\ntotal_sv %d\nrho", classes, classes);
        for (int p = 0; p < pairs; ++p) at += sprintf(at, " 0");
        at += sprintf(at, "\nlabel");
        for (int c = 0; c < classes; ++c) at += sprintf(at, " %d", c);
        at += sprintf(at, "\nnr_sv");
        for (int c = 0; c < classes; ++c) at += sprintf(at, " 1");
        at += sprintf(at, "\nSV\n");
        for (int c = 0; c < classes; ++c) {
            for (int j = 0; j < classes - 1; ++j) at += sprintf(at, j < c ? "-1 " : "1 ");
            at += sprintf(at, "%d:1\n", c + 1);
        }
        EXPECT(at - text < room);
        EXPECT(fastsvm_load_memory(text, (size_t)(at - text), "classes", &model, &error) == FASTSVM_OK);
        for (int c = 0; c < classes; c += 37) {
            const int64_t starts[] = {0, 1};
            const int32_t index = c + 1;
            const double value = 1;
            fastsvm_rows sparse = {0};
            sparse.count = 1, sparse.starts = starts, sparse.indices = &index, sparse.values = &value;
            EXPECT(fastsvm_predict(model, &sparse, out, &error) == FASTSVM_OK && out[0] == c);
            EXPECT(fastsvm_values(model, &sparse, values, NULL, &error) == FASTSVM_OK);
        }
        fastsvm_free(model);
        free(values);
        free(text);
    }
}

static void ask_libsvm_badly(void) {
    struct svm_model *model = svm_load_model("/nowhere"), *copy;
    const struct svm_node end = {-1, 0}, unsorted[] = {{3, 1}, {1, 2}, {1, 3}, {-5, 1}, {-1, 0}},
                          odd[] = {{1, NAN}, {2, INFINITY}, {2147483647, 1e308}, {-1, 0}};
    double out[8];
    EXPECT(model == NULL);
    EXPECT(svm_load_model(path_of("data")) == NULL && svm_load_model(folder) == NULL);
    EXPECT(svm_parse_model_from_buffer("", 0) == NULL);
    svm_free_and_destroy_model(&model);
    svm_free_and_destroy_model(NULL);
    for (const char *const *name = (const char *const[]){"c_svc.model", "three_classes.model", "one_class.model",
                                                         "epsilon_svr.model", "version2/c_svc-certified.approx", "version2/c_svc.border",
                                                         "version2/three_classes-triangle.order", "version2/c_svc.reduced",
                                                         "exponential.precomputed", NULL};
         *name; ++name) {
        model = svm_load_model(path_of(*name));
        EXPECT(model && svm_get_nr_class(model) >= 2 && svm_get_nr_sv(model) > 0);
        for (const struct svm_node *const *row = (const struct svm_node *const[]){&end, unsorted, odd, NULL}; *row; ++row) {
            svm_predict(model, *row);
            svm_predict_values(model, *row, out);
            svm_predict_probability(model, *row, out);
        }
        svm_get_sv_indices(model, NULL);
        copy = model;
        svm_free_model_content(copy);
        EXPECT(isnan(svm_predict(model, &end)) && isnan(svm_predict_values(model, &end, out)) && isnan(out[0]));
        svm_free_model_content(copy);
        if (strstr(*name, "c_svc")) free(model); /* as programs do that filled in the struct */
        else svm_free_and_destroy_model(&model);
    }
}

static long resident(void) {
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    fclose(file);
    return pages * 4;
}

static void load_often(long times) {
    const double row[] = {0.3, -0.2, 1};
    fastsvm_rows rows = {0};
    double out[8];
    long before = 0;
    rows.doubles = row, rows.count = 1, rows.columns = rows.stride = 3;
    for (long i = 0; i < times; ++i) {
        fastsvm_model *model = loaded(i % 2 ? "version2/c_svc-certified.approx" : "c_svc.model");
        struct svm_model *libsvm;
        EXPECT(fastsvm_predict(model, &rows, out, &error) == FASTSVM_OK);
        EXPECT(fastsvm_probabilities(model, &rows, out, out + 2, &error) == FASTSVM_OK);
        fastsvm_free(model);
        if (i % 10 == 0) {
            const struct svm_node nodes[] = {{1, 0.3}, {-1, 0}};
            libsvm = svm_load_model(path_of("one_class.model"));
            svm_predict(libsvm, nodes);
            svm_free_and_destroy_model(&libsvm);
        }
        if (i == 100) before = resident();
    }
    printf("%ld %ld\n", before, resident());
}

struct shared {
    const fastsvm_model *model;
    double expected[3];
};

static void *ask_often(void *argument) {
    const struct shared *shared = argument;
    const double numbers[] = {0.3, -0.2, 1, 0, 0, 0, -5, 0.1, 7};
    fastsvm_rows rows = {0};
    rows.doubles = numbers, rows.count = 3, rows.columns = rows.stride = 3;
    for (int i = 0; i < 300; ++i) {
        double labels[3], values[3];
        fastsvm_error own;
        EXPECT(fastsvm_predict(shared->model, &rows, labels, &own) == FASTSVM_OK);
        EXPECT(fastsvm_values(shared->model, &rows, values, NULL, &own) == FASTSVM_OK);
        EXPECT(memcmp(labels, shared->expected, sizeof labels) == 0);
    }
    return NULL;
}

static void ask_side_by_side(void) {
    for (const char *const *name = (const char *const[]){"c_svc.model", "version2/c_svc-certified.approx", "version2/c_svc-geometry.order",
                                                         "version2/one_class-triangle.order", "version2/c_svc.border", NULL};
         *name; ++name) {
        pthread_t threads[8];
        fastsvm_model *model = loaded(*name), *again = loaded(*name);
        const double numbers[] = {0.3, -0.2, 1, 0, 0, 0, -5, 0.1, 7};
        fastsvm_rows rows = {0};
        struct shared shared = {again, {0}};
        rows.doubles = numbers, rows.count = 3, rows.columns = rows.stride = 3;
        EXPECT(fastsvm_predict(model, &rows, shared.expected, &error) == FASTSVM_OK);
        for (int t = 0; t < 8; ++t) EXPECT(pthread_create(&threads[t], NULL, ask_often, &shared) == 0);
        for (int t = 0; t < 8; ++t) pthread_join(threads[t], NULL);
        fastsvm_free(model);
        fastsvm_free(again);
    }
}

int main(int argc, char **argv) {
    EXPECT(argc == 3);
    folder = argv[1];
    load_badly();
    ask_badly();
    ask_odd_models();
    ask_libsvm_badly();
    ask_side_by_side();
    load_often(atol(argv[2]));
    return 0;
}
