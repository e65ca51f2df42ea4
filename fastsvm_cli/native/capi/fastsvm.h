/* libfastsvm: predictions of LIBSVM models and of models compiled by fastsvm, from C. See README.md.
 *
 * Functions return a fastsvm_status, and describe it in *error unless error is NULL. They run on the calling thread
 * only; they never end the process, print, or throw a C++ exception. Models are immutable: several threads may use one
 * at the same time. */
#ifndef FASTSVM_H
#define FASTSVM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    FASTSVM_OK = 0,
    FASTSVM_FILE = 1,     /* a file cannot be read */
    FASTSVM_MODEL = 2,    /* a file is not a model, or not the required one */
    FASTSVM_ROW = 3,      /* the model cannot evaluate a row */
    FASTSVM_ARGUMENT = 4, /* an argument does not fit the model */
    FASTSVM_MEMORY = 5
} fastsvm_status;

typedef struct {
    fastsvm_status status;
    int64_t line;   /* line of the model's file; 0: none */
    int64_t row;    /* row number from 0; -1: none */
    char text[488]; /* one line of English, ending in 0; empty with FASTSVM_OK */
} fastsvm_error;

typedef struct fastsvm_model fastsvm_model;

/* The library's version, such as "0.1.0". */
const char* fastsvm_version(void);

/* The instruction set of the core, such as "avx2". The default is the environment's FASTSVM_INSTRUCTIONS, read when the
 * first model is loaded, or the processor's best. Models share only this state: set it before loading any. */
const char* fastsvm_instructions(void);
fastsvm_status fastsvm_set_instructions(const char* name, fastsvm_error* error);

/* Load an exact or compiled model from a file, or from memory that may be freed afterwards. name: of the file, for
 * messages. */
fastsvm_status fastsvm_load(const char* path, fastsvm_model** model, fastsvm_error* error);
fastsvm_status fastsvm_load_memory(const void* text, size_t size, const char* name, fastsvm_model** model,
                                   fastsvm_error* error);

/* Combine a certified model with the exact model that it was compiled from. Rows whose label the radii leave undecided
 * are evaluated exactly: every label is svm-predict's. tolerance: largest radius of a regression value that is not
 * evaluated exactly. Both models may be freed afterwards. */
fastsvm_status fastsvm_with_exact(const fastsvm_model* certified, const fastsvm_model* exact, double tolerance,
                                  fastsvm_model** model, fastsvm_error* error);

/* Free a model, which no other thread may be using. NULL is ignored. */
void fastsvm_free(fastsvm_model* model);

/* Properties of a model. The texts are valid as long as the model. */
typedef struct {
    const char* kind;        /* "LIBSVM", or from its first line, `fastsvm_model kind` */
    const char* fingerprint; /* of the exact model's file; "" for an exact model */
    int svm_type;            /* 0 C-SVC, 1 nu-SVC, 2 one-class, 3 epsilon-SVR, 4 nu-SVR, as in svm.h */
    int classes;             /* 2 for one-class and regression models */
    int64_t pairs;           /* number of decision functions */
    int64_t vectors;         /* number of support vectors of the exact model */
    int has_labels;          /* fastsvm_labels works: classification */
    int has_probabilities;   /* fastsvm_probabilities works */
    int certified;           /* it has radii */
    int proves;              /* its labels are svm-predict's */
    int carries_range;       /* it takes raw rows and scales them */
    int first_index;         /* LIBSVM feature of column 0 of dense rows: 0 if the model has a feature 0, else 1 */
} fastsvm_info;

void fastsvm_describe(const fastsvm_model* model, fastsvm_info* info); /* model NULL: zeros, empty texts */
/* labels: (classes), in the model's order, which probabilities follow. Classification only. */
fastsvm_status fastsvm_labels(const fastsvm_model* model, int* labels, fastsvm_error* error);

/* Rows in one of three forms: doubles, floats, or sparse. Members of the other forms are NULL or 0. Numbers are finite.
 * Column j of a dense matrix is feature j + first_index of LIBSVM text (fastsvm_info); 0 means no entry. Rows of a
 * precomputed kernel are sparse, as in LIBSVM: index 0 has the serial number, and 1, 2, ... the kernel values of the
 * training rows. */
typedef struct {
    int64_t count;
    /* Dense: element (i, j) is doubles[i * stride + j] or floats[i * stride + j]. */
    const double* doubles;
    const float* floats;
    int64_t columns, stride;
    /* Sparse: row i has the entries starts[i], ..., starts[i + 1] - 1. LIBSVM's indices, 0 or more, increase within a
     * row. Without entries, indices and values may be NULL. */
    const int64_t* starts;
    const int32_t* indices;
    const double* values;
} fastsvm_rows;

/* Prediction. A row that is malformed, or that the model cannot evaluate, ends the call with FASTSVM_ROW: the rows
 * before it are answered; the other output is undefined. */

/* labels: (count): class labels, +1 or -1 of one-class models, or regression values. */
fastsvm_status fastsvm_predict(const fastsvm_model* model, const fastsvm_rows* rows, double* labels,
                               fastsvm_error* error);

/* values: (count, pairs), with rho subtracted, in LIBSVM's order of pairs. radii: (count, pairs), bounds on the
 * distance from the exact model's values; or NULL. */
fastsvm_status fastsvm_values(const fastsvm_model* model, const fastsvm_rows* rows, double* values, double* radii,
                              fastsvm_error* error);

/* probabilities: (count, classes); of one-class models (count, 2), normal and outlier. labels: (count), of the largest
 * probability, as svm-predict -b 1 prints; or NULL. */
fastsvm_status fastsvm_probabilities(const fastsvm_model* model, const fastsvm_rows* rows, double* probabilities,
                                     double* labels, fastsvm_error* error);

#ifdef __cplusplus
}
#endif
#endif
