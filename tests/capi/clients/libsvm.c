/* libsvm MODEL: answers of LIBSVM's functions for rows on standard input, index:value words that need not be valid
 * LIBSVM text. Per row: the label; the values after their label; the probabilities after theirs. `own MODEL` rebuilds
 * the model from its text, as programs do that read one from memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svm.h"

static char line[1 << 16];

static struct svm_model *own(const char *path) {
    FILE *file = fopen(path, "r");
    struct svm_model *model = calloc(1, sizeof *model);
    static const char *types[] = {"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};
    static const char *kernels[] = {"linear", "polynomial", "rbf", "sigmoid", "precomputed"};
    char word[64];
    if (!file) exit(4);
    while (fscanf(file, "%63s", word) == 1 && strcmp(word, "SV") != 0) {
        const int classes = model->nr_class, pairs = classes * (classes - 1) / 2;
        double **reals = strcmp(word, "rho") == 0 ? &model->rho
                         : strcmp(word, "probA") == 0 ? &model->probA
                         : strcmp(word, "probB") == 0 ? &model->probB
                                                      : NULL;
        int **wholes = strcmp(word, "label") == 0 ? &model->label : strcmp(word, "nr_sv") == 0 ? &model->nSV : NULL;
        if (reals) {
            *reals = malloc(sizeof(double) * (size_t)pairs);
            for (int p = 0; p < pairs; ++p)
                if (fscanf(file, "%lf", *reals + p) != 1) exit(5);
        } else if (wholes) {
            *wholes = malloc(sizeof(int) * (size_t)classes);
            for (int c = 0; c < classes; ++c)
                if (fscanf(file, "%d", *wholes + c) != 1) exit(5);
        } else if (strcmp(word, "gamma") == 0) {
            if (fscanf(file, "%lf", &model->param.gamma) != 1) exit(5);
        } else if (strcmp(word, "coef0") == 0) {
            if (fscanf(file, "%lf", &model->param.coef0) != 1) exit(5);
        } else if (strcmp(word, "degree") == 0) {
            if (fscanf(file, "%d", &model->param.degree) != 1) exit(5);
        } else if (strcmp(word, "nr_class") == 0) {
            if (fscanf(file, "%d", &model->nr_class) != 1) exit(5);
        } else if (strcmp(word, "total_sv") == 0) {
            if (fscanf(file, "%d", &model->l) != 1) exit(5);
        } else {
            if (fscanf(file, "%63s", word) != 1) exit(5);
            for (int t = 0; t < 5; ++t) {
                if (strcmp(word, types[t]) == 0) model->param.svm_type = t;
                if (strcmp(word, kernels[t]) == 0) model->param.kernel_type = t;
            }
        }
    }
    model->free_sv = 1;
    model->SV = malloc(sizeof(struct svm_node *) * (size_t)model->l);
    model->sv_coef = malloc(sizeof(double *) * (size_t)(model->nr_class - 1));
    for (int c = 0; c < model->nr_class - 1; ++c) model->sv_coef[c] = malloc(sizeof(double) * (size_t)model->l);
    struct svm_node *node = malloc(sizeof(struct svm_node) * 65536);
    if (!fgets(line, sizeof line, file)) exit(5);
    for (int i = 0; i < model->l && fgets(line, sizeof line, file); ++i) {
        char *at = line;
        int read;
        for (int c = 0; c < model->nr_class - 1; ++c) model->sv_coef[c][i] = strtod(at, &at);
        model->SV[i] = node;
        for (; sscanf(at, " %d:%lf%n", &node->index, &node->value, &read) == 2; at += read) ++node;
        (node++)->index = -1;
    }
    fclose(file);
    return model;
}

int main(int argc, char **argv) {
    struct svm_node row[256];
    double values[64], probabilities[64];
    const int mine = argc > 2 && strcmp(argv[1], "own") == 0;
    struct svm_model *model = mine ? own(argv[2]) : svm_load_model(argv[1]);
    if (!model) return 3;
    const int classes = svm_get_nr_class(model), type = svm_get_svm_type(model);
    const int pairs = type == C_SVC || type == NU_SVC ? classes * (classes - 1) / 2 : 1;
    int labels[64];
    svm_get_labels(model, labels);
    printf("%d %d %d %d", type, classes, svm_get_nr_sv(model), svm_check_probability_model(model));
    for (int c = 0; (type == C_SVC || type == NU_SVC) && c < classes; ++c) printf(" %d", labels[c]);
    printf(" %.17g\n", svm_get_svr_probability(model));
    while (fgets(line, sizeof line, stdin)) {
        char *at = line, *end;
        int n = 0;
        for (;; ++n) {
            row[n].index = (int)strtol(at, &end, 10);
            if (end == at || *end != ':') break;
            row[n].value = strtod(end + 1, &at);
        }
        row[n].index = -1;
        printf("%.17g", svm_predict(model, row));
        printf(" %.17g", svm_predict_values(model, row, values));
        for (int p = 0; p < pairs; ++p) printf(" %.17g", values[p]);
        if (svm_check_probability_model(model) && type < EPSILON_SVR) {
            printf(" %.17g", svm_predict_probability(model, row, probabilities));
            for (int c = 0; c < classes; ++c) printf(" %.17g", probabilities[c]);
        }
        printf("\n");
    }
    svm_free_and_destroy_model(&model);
    return model != NULL;
}
