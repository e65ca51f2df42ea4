/* libfastsvm: predictions of LIBSVM models and of the models that fastsvm compiles, from C.
 *
 * Functions return FASTSVM_OK or another fastsvm_status, described in *error unless error is NULL. They never end the
 * process, print, or throw a C++ exception, and run on the calling thread only. Models are immutable: any number of
 * threads may use one at the same time. See README.md. */
#ifndef FASTSVM_H
#define FASTSVM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    FASTSVM_OK = 0,
    FASTSVM_FILE = 1,     /* the operating system refused a file */
    FASTSVM_MODEL = 2,    /* a file is not a model, or not the required one */
    FASTSVM_ROW = 3,      /* the model cannot evaluate a row */
    FASTSVM_ARGUMENT = 4, /* an argument does not fit the model */
    FASTSVM_MEMORY = 5
} fastsvm_status;

typedef struct {
    fastsvm_status status;
    int64_t line;   /* of the model's file; 0: none */
    int64_t row;    /* from 0; -1: none */
    char text[488]; /* one line, in English, ends in 0; empty with FASTSVM_OK */
} fastsvm_error;

typedef struct fastsvm_model fastsvm_model;

/* The library's version, such as "0.1.0". */
const char* fastsvm_version(void);

/* The instruction set of the core, such as "avx2". Default: FASTSVM_INSTRUCTIONS of the environment, read when the
 * first model is loaded, else the processor's best. Models share only this state: set it before any load. */
const char* fastsvm_instructions(void);
fastsvm_status fastsvm_set_instructions(const char* name, fastsvm_error* error);

/* Load a model, exact or compiled, from a file or from memory, which may be freed afterwards. name: of the file, for
 * messages. */
fastsvm_status fastsvm_load(const char* path, fastsvm_model** model, fastsvm_error* error);
fastsvm_status fastsvm_load_memory(const void* text, size_t size, const char* name, fastsvm_model** model,
                                   fastsvm_error* error);

/* Combine a certified model with the exact model that it was compiled from: rows whose label the radii leave open are
 * evaluated exactly, so that every label is svm-predict's. tolerance: regression values with radii up to this are kept.
 * Both models may be freed afterwards. */
fastsvm_status fastsvm_with_exact(const fastsvm_model* certified, const fastsvm_model* exact, double tolerance,
                                  fastsvm_model** model, fastsvm_error* error);

/* No other thread may be using the model. NULL is ignored. */
void fastsvm_free(fastsvm_model* model);

/* Properties of a model. The texts live as long as the model. */
typedef struct {
    const char* kind;        /* "LIBSVM", or as in its first line, `fastsvm_model kind` */
    const char* fingerprint; /* of the exact model's file; "" for an exact model */
    int svm_type;            /* 0 C-SVC, 1 nu-SVC, 2 one-class, 3 epsilon-SVR, 4 nu-SVR, as in svm.h */
    int classes;             /* 2 for one-class and regression models */
    int64_t pairs;           /* decision functions */
    int64_t vectors;         /* support vectors of the exact model */
    int has_labels;          /* classification */
    int has_probabilities;   /* fastsvm_probabilities works */
    int certified;           /* has radii */
    int proves;              /* its labels are svm-predict's */
    int carries_range;       /* takes raw rows and scales them */
} fastsvm_info;

void fastsvm_describe(const fastsvm_model* model, fastsvm_info* info); /* NULL: all zeros */
/* (classes) labels in the model's order, also that of probabilities; classification only. */
fastsvm_status fastsvm_labels(const fastsvm_model* model, int* labels, fastsvm_error* error);

/* Rows in one of three forms; members of the other forms are NULL or 0. Feature j of LIBSVM text is column j - 1 of a
 * dense matrix, where 0 means no entry. Numbers are finite. Rows of a precomputed kernel are sparse with the indices 0,
 * 1, 2, ...: their serial number, then a kernel value for each training row, as in LIBSVM. */
typedef struct {
    int64_t count;
    /* Dense: element (i, j) is doubles[i * stride + j] or floats[i * stride + j]. */
    const double* doubles;
    const float* floats;
    int64_t columns, stride;
    /* Sparse: row i has the entries starts[i], ..., starts[i + 1] - 1, with LIBSVM's indices, increasing from 0 on.
     * Without entries, indices and values may be NULL. */
    const int64_t* starts;
    const int32_t* indices;
    const double* values;
} fastsvm_rows;

/* Prediction. A malformed row, or one that the model cannot evaluate, ends the call with FASTSVM_ROW: only the rows
 * before it are answered, and other output is undefined. */

/* labels: (count): class labels; +1 or -1 of one-class models; values of regression. */
fastsvm_status fastsvm_predict(const fastsvm_model* model, const fastsvm_rows* rows, double* labels,
                               fastsvm_error* error);

/* values: (count, pairs), rho subtracted, in LIBSVM's order of pairs. radii: (count, pairs), bounds of the distance
 * from the exact model's values; or NULL. */
fastsvm_status fastsvm_values(const fastsvm_model* model, const fastsvm_rows* rows, double* values, double* radii,
                              fastsvm_error* error);

/* probabilities: (count, classes); for one-class models (count, 2), normal and outlier. labels: (count), those of the
 * largest probability, as svm-predict -b 1 prints them; or NULL. */
fastsvm_status fastsvm_probabilities(const fastsvm_model* model, const fastsvm_rows* rows, double* probabilities,
                                     double* labels, fastsvm_error* error);

#ifdef __cplusplus
}
#endif
#endif
