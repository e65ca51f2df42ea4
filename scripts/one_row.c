/* one_row ROWS MODEL: microseconds of svm_predict for one row, the least mean of five passes over at most 1,000 rows.
 * benchmark.py builds it with LIBSVM and with libfastsvm. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "svm.h"

enum { rows_max = 1000, entries_max = 1 << 10, passes = 5 };
static struct svm_node rows[rows_max][entries_max];
static char line[1 << 20];

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char** words) {
    FILE* file = count == 3 ? fopen(words[1], "r") : NULL;
    struct svm_model* model = file ? svm_load_model(words[2]) : NULL;
    int n = 0, read;
    double least = 1e9, sum = 0;
    if (!model) return 1;
    for (; n < rows_max && fgets(line, sizeof line, file); ++n) {
        struct svm_node* node = rows[n];
        char* at = line;
        (void)strtod(at, &at);
        for (; sscanf(at, " %d:%lf%n", &node->index, &node->value, &read) == 2; at += read) ++node;
        node->index = -1;
    }
    for (int pass = 0; pass < passes; ++pass) {
        const double start = seconds();
        for (int row = 0; row < n; ++row) sum += svm_predict(model, rows[row]);
        const double taken = (seconds() - start) / n;
        if (taken < least) least = taken;
    }
    printf("%g %g\n", 1e6 * least, sum);
    return 0;
}
