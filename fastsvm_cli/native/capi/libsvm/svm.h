/* For programs that include "svm.h": see fastsvm_libsvm.h. */
#include <fastsvm_libsvm.h>
