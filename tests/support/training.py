"""LIBSVM trains a model: one thread, for many of them on a busy machine wait for each other."""

from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train
from threadpoolctl import threadpool_limits

from support.places import DATA


def train(path, rows, labels, options):
    """The model's path."""
    with threadpool_limits(1, user_api="openmp"):
        svm_save_model(str(path), svm_train(labels, rows, f"-q {options}"))
    return path


def train_on(path, source, options, count=None):
    """Likewise, on the first rows of a file of data/."""
    labels, rows = svm_read_problem(str(DATA / source))
    return train(path, rows[:count], labels[:count], options)
