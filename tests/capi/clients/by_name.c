/* by_name.c: LIBSVM's names. */
#include <stdio.h>
#include "svm.h"

int main(int argc, char** argv) {
    const struct svm_node rows[2][4] = {{{1, 0.5}, {2, -1}, {3, 2}, {-1, 0}}, {{1, -1}, {2, 0.25}, {-1, 0}}};
    struct svm_model* model = argc == 2 ? svm_load_model(argv[1]) : NULL;
    if (!model) return 1;
    for (int i = 0; i < 2; ++i) printf("%g\n", svm_predict(model, rows[i]));
    svm_free_and_destroy_model(&model);
    return 0;
}
