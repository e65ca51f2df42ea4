/* fastsvm_r.c: R's .C passes addresses; eight raw bytes hold the model's pointer. */
#include <string.h>
#include <fastsvm.h>

void r_load(char** path, unsigned char* handle, char** text) { /* text: of 488 characters */
    fastsvm_model* model = NULL;
    fastsvm_error error;
    fastsvm_load(path[0], &model, &error);
    memcpy(handle, &model, sizeof model);
    strcpy(text[0], error.text);
}

void r_predict(unsigned char* handle, double* columns, int* features, int* count, double* labels, char** text) {
    fastsvm_rows rows = {.count = *count, .doubles = columns, .columns = *features, .stride = *features};
    fastsvm_model* model;
    fastsvm_error error;
    memcpy(&model, handle, sizeof model);
    fastsvm_predict(model, &rows, labels, &error);
    strcpy(text[0], error.text);
}
