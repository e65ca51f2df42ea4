/* libfastsvm: predictions of LIBSVM models and of the models that fastsvm compiles, from C.
 *
 * Functions return FASTSVM_OK or another fastsvm_status, and describe it in *error where error is not NULL. None of
 * them ends the process or prints, and no C++ exception passes them. Models are immutable: any number of threads may
 * use one at a time. A call runs on the thread that makes it. README.md tells more. */
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
    FASTSVM_MODEL = 2,    /* a file is no model, or is not the one that is needed */
    FASTSVM_ROW = 3,      /* the model cannot evaluate a row */
    FASTSVM_ARGUMENT = 4, /* an argument does not fit the model */
    FASTSVM_MEMORY = 5
} fastsvm_status;

typedef struct {
    fastsvm_status status;
    int64_t line;   /* of the model's file, 0: none */
    int64_t row;    /* from 0, -1: none */
    char text[488]; /* one line, in English, ends in 0; empty of FASTSVM_OK */
} fastsvm_error;

typedef struct fastsvm_model fastsvm_model;

/* The library's version, as "0.1.0". */
const char* fastsvm_version(void);

/* The instruction set that the core uses, as "avx2": the best of this processor, or the one that the environment's
 * FASTSVM_INSTRUCTIONS names when the first model is loaded; and another one. It is the only state that models share:
 * set it before the first model is loaded. */
const char* fastsvm_instructions(void);
fastsvm_status fastsvm_set_instructions(const char* name, fastsvm_error* error);

/* The model in a file, exact or compiled; or in memory, which is not needed afterwards. name: of the file, for
 * messages. */
fastsvm_status fastsvm_load(const char* path, fastsvm_model** model, fastsvm_error* error);
fastsvm_status fastsvm_load_memory(const void* text, size_t size, const char* name, fastsvm_model** model,
                                   fastsvm_error* error);

/* A certified model with the exact model that it was compiled from: rows whose label the radii leave open are evaluated
 * exactly, so that every label is svm-predict's. tolerance: the radius that a regression value may keep. Both models
 * may be freed afterwards. */
fastsvm_status fastsvm_with_exact(const fastsvm_model* certified, const fastsvm_model* exact, double tolerance,
                                  fastsvm_model** model, fastsvm_error* error);

/* No other thread may be using it. NULL is no model, and is left alone. */
void fastsvm_free(fastsvm_model* model);

/* What a model is. The texts live as long as it does. */
typedef struct {
    const char* kind;        /* "LIBSVM", or as `fastsvm_model kind` in its first line */
    const char* fingerprint; /* of the exact model's file; "" of an exact model */
    int svm_type;            /* 0 C-SVC, 1 nu-SVC, 2 one-class, 3 epsilon-SVR, 4 nu-SVR, as in svm.h */
    int classes;             /* 2 of one-class and regression models */
    int64_t pairs;           /* decision functions */
    int64_t vectors;         /* support vectors of the exact model */
    int has_labels;          /* classification */
    int has_probabilities;   /* fastsvm_probabilities answers */
    int certified;           /* has radii */
    int proves;              /* its labels are svm-predict's */
    int carries_range;       /* takes raw rows, and scales them */
} fastsvm_info;

void fastsvm_describe(const fastsvm_model* model, fastsvm_info* info); /* of NULL: nothing but zeros */
/* (classes) labels, in the model's order, which is also that of probabilities; of classification. */
fastsvm_status fastsvm_labels(const fastsvm_model* model, int* labels, fastsvm_error* error);

/* Rows, in one of three forms; what the other forms hold is NULL or 0. Feature j of LIBSVM text is column j - 1 of a
 * dense matrix, and an entry of 0 is no entry. Numbers are finite. Rows of a precomputed kernel are sparse, and have
 * the indices 0, 1, 2, ...: as LIBSVM's, their serial number and a kernel value for each training row. */
typedef struct {
    int64_t count;
    /* Dense: element (i, j) is doubles[i * stride + j], or floats[i * stride + j]. */
    const double* doubles;
    const float* floats;
    int64_t columns, stride;
    /* Sparse: row i has the entries starts[i], ..., starts[i + 1] - 1, of LIBSVM's indices, which increase from 0 on.
     * Without entries indices and values may be NULL. */
    const int64_t* starts;
    const int32_t* indices;
    const double* values;
} fastsvm_rows;

/* The three questions. A row that the model cannot evaluate, or that is none, ends the call with FASTSVM_ROW: the rows
 * before it are answered, and what was written of others means nothing. */

/* labels: (count): class labels, +1 or -1 of one-class models, values of regression. */
fastsvm_status fastsvm_predict(const fastsvm_model* model, const fastsvm_rows* rows, double* labels,
                               fastsvm_error* error);

/* values: (count, pairs), rho subtracted, in LIBSVM's order of pairs. radii: (count, pairs), bounds of how far each
 * value is from the exact model's; or NULL. */
fastsvm_status fastsvm_values(const fastsvm_model* model, const fastsvm_rows* rows, double* values, double* radii,
                              fastsvm_error* error);

/* probabilities: (count, classes), or (count, 2), normal and outlier, of one-class models. labels: (count), those of
 * the largest probability, as svm-predict -b 1 prints them; or NULL. */
fastsvm_status fastsvm_probabilities(const fastsvm_model* model, const fastsvm_rows* rows, double* probabilities,
                                     double* labels, fastsvm_error* error);

#ifdef __cplusplus
}
#endif
#endif
