"""The installed libfastsvm, called through ctypes."""

import ctypes
import os
import sys
from pathlib import Path

import numpy as np
from libsvm.svm import libsvm

import fastsvm_cli

_NAME = "libfastsvm.0.dylib" if sys.platform == "darwin" else "libfastsvm.so.0"
PATH = os.path.join(os.path.dirname(fastsvm_cli.__file__), "lib", _NAME)


def library():
    return ctypes.CDLL(PATH)


def libsvm_functions():
    """The library with the types of LIBSVM's functions."""
    loaded = library()
    for name in vars(libsvm):
        if name.startswith(("svm_predict", "svm_get", "svm_load", "svm_check", "svm_free")) and hasattr(loaded, name):
            function, theirs = getattr(loaded, name), getattr(libsvm, name)
            function.argtypes, function.restype = theirs.argtypes, theirs.restype
    return loaded


class Error(ctypes.Structure):
    _fields_ = (
        ("status", ctypes.c_int),
        ("line", ctypes.c_int64),
        ("row", ctypes.c_int64),
        ("text", ctypes.c_char * 488),
    )


class Rows(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        ("doubles", ctypes.c_void_p),
        ("floats", ctypes.c_void_p),
        ("columns", ctypes.c_int64),
        ("stride", ctypes.c_int64),
        ("starts", ctypes.c_void_p),
        ("indices", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
    )


class CModel:
    """A model file. pairs: of its decision values. exact: the file of its exact model. memory: the library is given the
    files' bytes. Raises ValueError with the library's text."""

    def __init__(self, path, pairs, *, exact=None, memory=False):
        self._library = library()
        self._models, self._pairs = [], pairs
        for each in (path, exact):
            if each is not None:
                self._load(each, memory)
        if exact is not None:
            both = ctypes.c_void_p()
            self._call("with_exact", *self._models, ctypes.c_double(0), ctypes.byref(both))
            self._models.append(both)
        self._model = self._models[-1]

    def _load(self, path, memory):
        model = ctypes.c_void_p()
        if memory:
            text = Path(path).read_bytes()
            buffer = ctypes.create_string_buffer(text, len(text))
            self._call("load_memory", buffer, ctypes.c_size_t(len(text)), os.fsencode(path), ctypes.byref(model))
            ctypes.memset(buffer, ord("x"), len(text))  # the model does not need it any more
        else:
            self._call("load", os.fsencode(path), ctypes.byref(model))
        self._models.append(model)

    def __del__(self):
        for model in self._models:
            self._library.fastsvm_free(model)

    def _call(self, name, *arguments):
        error = Error()
        if getattr(self._library, f"fastsvm_{name}")(*arguments, ctypes.byref(error)):
            raise ValueError(error.text.decode())

    def dense(self, x):
        """(labels, values) of a matrix."""
        rows = dense_rows(x)
        return self.ask("labels", rows)[:, 0], self.ask("values", rows)

    def ask(self, output_kind, rows, classes=0):
        """labels: (n, 1). values: (n, pairs). radii: values, and their radii. probabilities: labels, and the classes'
        probabilities."""
        labels, values, radii, shares = (np.empty((rows.count, n)) for n in (1, self._pairs, self._pairs, classes))
        at = ctypes.byref(rows)
        if output_kind == "labels":
            self._call("predict", self._model, at, labels.ctypes)
            return labels
        if output_kind == "probabilities":
            self._call("probabilities", self._model, at, shares.ctypes, labels.ctypes)
            return np.hstack([labels, shares])
        self._call("values", self._model, at, values.ctypes, radii.ctypes if output_kind == "radii" else None)
        return np.hstack([values, radii]) if output_kind == "radii" else values


def dense_rows(x):
    """Rows of a matrix, float64 or float32, with unused numbers between them."""
    wide = np.full((len(x), x.shape[1] + 3), 7, dtype=x.dtype)
    wide[:, : x.shape[1]] = x
    kind = "doubles" if x.dtype == np.float64 else "floats"
    rows = Rows(count=len(x), columns=x.shape[1], stride=wide.shape[1], **{kind: wide.ctypes.data})
    rows.stored = wide
    return rows


def sparse_rows(starts, indices, values):
    """Rows with LIBSVM's indices. The first start may be any."""
    stored = np.array(starts, np.int64), np.array(indices, np.int32), np.array(values, np.float64)
    positions = dict(zip(("starts", "indices", "values"), (each.ctypes.data for each in stored)))
    rows = Rows(count=len(starts) - 1, **positions)
    rows.stored = stored
    return rows
