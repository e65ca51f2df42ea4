"""scikit-learn's own code, for rows that rounding decides.

Its LIBSVM of dense rows adds up products in the order of its BLAS, which no other code repeats bit for bit. Where a
value is within rounding of a threshold, only that code gives the estimator's label. Its LIBSVM of sparse rows adds up
as svm-predict does: the reference sum is its value.
"""

from inspect import unwrap
from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.models.base import ExactModel, Model, Precision

#: As in scikit-learn, by svm_type and kernel_type.
_CLASSES = {"c_svc": "SVC", "nu_svc": "NuSVC", "one_class": "OneClassSVM"}
_KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid"}


class OwnCode:
    """The estimator of a model, made again from the model's numbers.

    sparse: whether it was fitted to sparse rows; if not, raises ImportError without scikit-learn.
    """

    def __init__(self, exact: ExactModel, columns: int, sparse: bool):
        self.exact, self._columns = exact, columns
        self._machine = None if sparse else self._estimator()

    def _estimator(self) -> Any:
        from sklearn import svm

        header, vectors = self.exact.header, self.exact.vectors
        self._label = np.array(header.label if header.classification else [], np.float64)
        machine = getattr(svm, _CLASSES[header.svm_type])(
            kernel=_KERNELS[header.kernel_type], degree=header.degree, coef0=header.coef0
        )
        machine.support_ = np.arange(header.total_sv, dtype=np.int32)
        machine.support_vectors_ = self._dense(vectors)
        machine._n_support = np.array(header.nr_sv or [header.total_sv] * 2, dtype=np.int32)
        machine._dual_coef_ = np.ascontiguousarray(np.asarray(vectors.leading).T)
        machine._intercept_ = -np.array(header.rho)
        machine._probA = machine._probB = np.empty(0)
        machine._gamma = header.gamma
        return machine

    def labels(self, chunk: _native.Chunk) -> np.ndarray:
        """Return the estimator's labels, (rows) float64. Only if it was fitted to dense rows."""
        found = self._asked("_dense_predict", chunk)
        return self._label[found.astype(np.intp)] if len(self._label) else found

    def values(self, chunk: _native.Chunk) -> np.ndarray:
        """Return the estimator's decision values, (rows, pairs), in LIBSVM's order and signs."""
        if self._machine is None:
            decisions = _native.Decisions(self.exact.pairs)
            self.exact.reference_values(chunk, decisions)
            return np.array(decisions.value)
        return self._asked("_dense_decision_function", chunk)

    def near(self, chunk: _native.Chunk, precision: Precision) -> np.ndarray:
        """Return the rows whose label (or, if wanted, a value's sign) depends on rounding, in any order of the sum."""
        decisions = self.exact.decisions(precision)
        self.exact.decision_values(chunk, decisions, precision)
        return np.flatnonzero(decisions.evaluations)

    def radii(self, chunk: _native.Chunk) -> np.ndarray:
        """Return (rows, pairs): bounds on the rounding of a value, in any order of the sum; 0 for rows of `near`."""
        precision = Precision.values()
        decisions = self.exact.decisions(precision, True)
        self.exact.decision_values(chunk, decisions, precision)
        return np.array(decisions.radius)

    def _asked(self, name: str, chunk: _native.Chunk) -> np.ndarray:
        function = unwrap(getattr(type(self._machine), name))  # also while patched
        return np.asarray(function(self._machine, self._dense(chunk)))

    def _dense(self, chunk: _native.Chunk) -> np.ndarray:
        out = np.zeros((chunk.rows, self._columns))
        out[np.repeat(np.arange(chunk.rows), np.diff(chunk.indptr)), np.asarray(chunk.indices) - 1] = chunk.values
        return out


def deciding(model: Model, fallback: "Model | None") -> "ExactModel | None":
    """Return the exact model whose labels a model and its fallback promise, or None."""
    exact = model if fallback is None else fallback
    if exact.ordered and exact.proves:
        exact = getattr(exact, "exact", exact)
    return exact if type(exact) is ExactModel and exact.header.elects and exact.header.total_sv else None
