"""The installed libfastsvm, called through ctypes."""

import ctypes
import os
import sys

import numpy as np

import fastsvm_cli

_NAME = "libfastsvm.0.dylib" if sys.platform == "darwin" else "libfastsvm.so.0"


class _Error(ctypes.Structure):
    _fields_ = (
        ("status", ctypes.c_int),
        ("line", ctypes.c_int64),
        ("row", ctypes.c_int64),
        ("text", ctypes.c_char * 488),
    )


class _Rows(ctypes.Structure):
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
    """A model file. pairs: of its decision values. Raises ValueError with the library's text."""

    def __init__(self, path, pairs):
        self._library = ctypes.CDLL(os.path.join(os.path.dirname(fastsvm_cli.__file__), "lib", _NAME))
        self._model, self._pairs = ctypes.c_void_p(), pairs
        self._call("load", os.fsencode(path), ctypes.byref(self._model))

    def __del__(self):
        self._library.fastsvm_free(self._model)

    def _call(self, name, *arguments):
        error = _Error()
        if getattr(self._library, f"fastsvm_{name}")(*arguments, ctypes.byref(error)):
            raise ValueError(error.text.decode())

    def dense(self, x):
        """(labels, values) of a matrix, float64 or float32, with unused numbers between its rows."""
        wide = np.full((len(x), x.shape[1] + 3), 7, dtype=x.dtype)
        wide[:, : x.shape[1]] = x
        kind = "doubles" if x.dtype == np.float64 else "floats"
        return self._answers(_Rows(count=len(x), columns=x.shape[1], stride=wide.shape[1], **{kind: wide.ctypes.data}))

    def sparse(self, starts, indices, values):
        """(labels, values) of rows with LIBSVM's indices."""
        kept = np.array(starts, np.int64), np.array(indices, np.int32), np.array(values, np.float64)
        places = dict(zip(("starts", "indices", "values"), (each.ctypes.data for each in kept)))
        return self._answers(_Rows(count=len(starts) - 1, **places))

    def _answers(self, rows):
        labels, values = np.empty(rows.count), np.empty((rows.count, self._pairs))
        self._call("predict", self._model, ctypes.byref(rows), labels.ctypes)
        self._call("values", self._model, ctypes.byref(rows), values.ctypes, None)
        return labels, values
