/* libsvm MODEL: a program of LIBSVM's. */
#include <svm.h>
int main(int count, char **words) { return !svm_load_model(words[count - 1]); }
