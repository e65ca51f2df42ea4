"""Data in memory and training by LIBSVM, for other scripts."""

import ctypes
import os
import sys
import tempfile

# LIBSVM's OpenMP threads change no result, and wait for each other on busy machines: minutes instead of a second.
os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse

try:
    from libsvm.svm import libsvm, svm_parameter, svm_problem
    from libsvm.svmutil import svm_load_model, svm_read_problem, svm_save_model, svm_train
except ImportError:
    sys.exit("Error: libsvm-official is not installed: pip install 'fastsvm[libsvm]'")

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.order.orders import with_vectors
from fastsvm_cli.models import parse_model
from fastsvm_cli.text.read_rows import read_bytes


def read_rows(path):
    chunk, error = _native.parse(read_bytes(path).rstrip() + b"\n")[:2]
    if error:
        sys.exit(f"Error: {path}:{error[0]}: {error[1]}")
    return chunk


def dense(chunk, d):
    """Return (rows, d); column j is feature j + 1."""
    out = np.zeros((chunk.rows, d))
    out[np.repeat(np.arange(chunk.rows), np.diff(np.asarray(chunk.indptr))), np.asarray(chunk.indices) - 1] = (
        np.asarray(chunk.values)
    )
    return out


def as_chunk(x, y):
    return _native.Chunk.from_dense(np.asarray(y, float), x)


def distances(x, z):
    return np.sqrt(np.maximum(0.0, (x * x).sum(1)[:, None] + (z * z).sum(1) - 2 * (x @ z.T)))


def kernel_matrix(kernel, x, z):
    if kernel.type == "rbf":
        return np.exp(-kernel.gamma * distances(x, z) ** 2)
    if kernel.type == "exponential":
        return np.exp(-kernel.gamma * distances(x, z))
    if kernel.type == "linear":
        return x @ z.T

    def power(t):
        return (kernel.gamma * t + kernel.coef0) ** kernel.degree

    return power(x @ z.T) / np.sqrt(power((x * x).sum(1))[:, None] * power((z * z).sum(1)))


class Trainer:
    """LIBSVM on rows x (n, d), with a kernel that is precomputed if LIBSVM lacks it. support: then, rows of the support
    vectors."""

    def __init__(self, x, kernel):
        self.x, self.kernel = x, kernel
        self.precomputed = kernel.type not in ("linear", "rbf")
        if self.precomputed:
            # Zeros are stored too: LIBSVM reads precomputed rows by position.
            n = len(x)
            rows = np.hstack([np.arange(1.0, n + 1)[:, None], kernel_matrix(kernel, x, x)])
            space = scipy.sparse.csr_matrix(
                (rows.ravel(), np.tile(np.arange(n + 1), n), np.arange(0, n * (n + 1) + 1, n + 1)), shape=(n, n + 1)
            )
        else:
            space = scipy.sparse.csr_matrix(x)
        self.problem = svm_problem(np.zeros(len(x)), space, isKernel=self.precomputed)

    def _set(self, y, c):
        np.ctypeslib.as_array(self.problem.y, (self.problem.l,))[:] = y
        return f"-q -c {c!r} -m 1000 " + (
            "-t 4" if self.precomputed else "-t 0" if self.kernel.type == "linear" else f"-t 2 -g {self.kernel.gamma!r}"
        )

    def cross_validate(self, y, c, seed, folds=5):
        """Return the accuracy. A seed fixes the folds."""
        parameter = svm_parameter(self._set(y, c))
        libsvm.svm_set_print_string_function(parameter.print_func)
        target = (ctypes.c_double * self.problem.l)()
        ctypes.CDLL(None).srand(seed)
        libsvm.svm_cross_validation(self.problem, parameter, folds, target)
        return float(np.mean(np.array(target) == y))

    def save(self, y, c, path):
        svm_save_model(path, svm_train(self.problem, self._set(y, c)))

    def train(self, y, c):
        """Return an exact fastsvm model."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            self.save(y, c, path)
            model = parse_model(read_bytes(path), path)
        if not self.precomputed:
            return model
        self.support = [int(serial) - 1 for serial in model.vectors.values]
        return with_vectors(model, [as_chunk(self.x, y)], "training rows", self.kernel)


def predicted(model, chunk):
    """Return (labels, decision values, kernel evaluations)."""
    decisions, predictions = _native.Decisions(model.pairs), _native.Predictions()
    model.decision_values(chunk, decisions)
    _native.predict(model.header.task(), decisions, False, predictions)
    return np.array(predictions.label), np.array(decisions.value), sum(decisions.evaluations)


def say(text):
    print(text, file=sys.stderr, flush=True)


__all__ = [
    "Kernel",
    "Trainer",
    "as_chunk",
    "dense",
    "distances",
    "kernel_matrix",
    "predicted",
    "read_rows",
    "say",
    "svm_load_model",
    "svm_problem",
    "svm_read_problem",
    "svm_save_model",
    "svm_train",
]
