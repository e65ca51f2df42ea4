"""scikit-learn's numbers: its order and signs, calibrated probabilities, and its own code.

LIBSVM orders classes by first rows, and a value is positive for the first of a pair. scikit-learn sorts classes; with
two, a positive value means the second.

Its LIBSVM of dense rows adds up products in the order of its BLAS, which no other code repeats bit for bit. Where a
value is within rounding of a threshold, only that code gives the estimator's label. Its LIBSVM of sparse rows adds up
as svm-predict does: the reference sum is its value.
"""

from inspect import unwrap
from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import ExactModel, Model, Precision

#: scikit-learn's class -> svm_type.
SVM_TYPES = {"SVC": "c_svc", "NuSVC": "nu_svc", "SVR": "epsilon_svr", "NuSVR": "nu_svr", "OneClassSVM": "one_class"}
#: scikit-learn's kernel -> kernel_type.
KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid"}


class Classes:
    """Classes of a model, and the conversion of its numbers to their order.

    labels: a model's. classes: sortable, in their order; None: the labels. classes_: sorted, as in scikit-learn.
    """

    def __init__(self, labels: "list[int]", classes=None):
        label = np.array(labels, dtype=np.int64)
        named = label if classes is None else np.asarray(classes)
        if named.shape != label.shape:
            raise ValueError(f"classes of shape {named.shape} found, expected {len(label)}, one for every label")
        if len(np.unique(named)) < len(np.unique(label)):
            raise ValueError(f"a class found twice in {named.tolist()}, expected one for every label")
        self._order = np.argsort(named, kind="stable")  # index in classes_ -> in header.label
        self.classes_ = named[self._order]
        by_label = np.argsort(label, kind="stable")
        self._labels, self._named = label[by_label], named[by_label]
        self._as_they_are = classes is None
        self._ranked = bool((self._labels == np.arange(len(label))).all())
        self._sorted = bool((self._order == np.arange(len(label))).all())
        k = len(label)
        # A pair of classes_, as a pair of labels; the sign is -1 where the labels' order is the other.
        first, second = (self._order[which] for which in np.triu_indices(k, 1))
        pair = np.zeros((k, k), dtype=np.intp)
        for number, i, j in _native.class_pairs(k):
            pair[i, j] = pair[j, i] = number
        self._columns, self._signs = pair[first, second], np.where(first < second, 1.0, -1.0)
        # (k - 1, k): each class's pairs, and the signs that make their values positive for it.
        others = np.array([[other for other in range(k) if other != own] for own in range(k)], dtype=np.intp).T
        self._step_pairs, self._step_signs = pair[np.arange(k), others], np.where(others > np.arange(k), 1.0, -1.0)

    def __len__(self) -> int:
        return len(self.classes_)

    def of(self, labels: np.ndarray) -> np.ndarray:
        """Return the classes of LIBSVM's labels, (n_samples,)."""
        if self._as_they_are:
            return labels.astype(np.int64)
        return self._named[labels.astype(np.intp) if self._ranked else np.searchsorted(self._labels, labels)]

    def pairwise(self, values: np.ndarray) -> np.ndarray:
        """Copy (rows, pairs) values to the pairs 0/1, 0/2, ..., 1/2, ... of classes_, positive for the first."""
        return values.copy() if self._sorted else values[:, self._columns] * self._signs

    def radii(self, radii: np.ndarray) -> np.ndarray:
        """Return radii of LIBSVM's pairs, (n_samples, pairs), in the order of scikit-learn's."""
        return radii.copy() if self._sorted else radii[:, self._columns]

    def probabilities(self, probabilities: np.ndarray) -> np.ndarray:
        """Return probabilities, (n_samples, n_classes), with columns as ``classes_``."""
        return probabilities.copy() if self._sorted else probabilities[:, self._order]

    def one_against_rest(self, pairwise: np.ndarray) -> np.ndarray:
        """Return "ovr" values (rows, nr_class), bit for bit sklearn.utils.multiclass._ovr_decision_function's."""
        if len(self) < 2:
            return np.zeros((len(pairwise), len(self)))
        own = pairwise[:, self._step_pairs] * self._step_signs  # (rows, k - 1, k)
        # A value of 0 is a vote for a pair's first class here, for the second in LIBSVM.
        votes = np.count_nonzero((own > 0) | ((own == 0) & (self._step_signs > 0)), axis=1)
        sums = np.add.accumulate(own, axis=1)[:, -1]  # in order: sum would add pairwise
        return votes + sums / (3 * (np.abs(sums) + 1))


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
        name, kernel = _key(SVM_TYPES, header.svm_type), _key(KERNELS, header.kernel_type)
        machine = getattr(svm, name)(kernel=kernel, degree=header.degree, coef0=header.coef0)
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


def _key(table: "dict[str, str]", value: str) -> str:
    return next(key for key, each in table.items() if each == value)


def deciding(model: Model, fallback: "Model | None") -> "ExactModel | None":
    """Return the exact model whose labels a model and its fallback promise, or None."""
    exact = model if fallback is None else fallback
    if exact.ordered and exact.proves:
        exact = getattr(exact, "exact", exact)
    return exact if type(exact) is ExactModel and exact.header.elects and exact.header.total_sv else None


#: Largest change of a probability that is rounding, and largest distance of two that may be equal but for rounding.
_STEP, _TIE = 1e-9, 1e-6


def nearly_equal(values: np.ndarray) -> np.ndarray:
    """Return (n) bool: whether the largest two of (n, columns), or one of (n) and 0, may be equal but for rounding."""
    if values.ndim == 1:
        return ~(abs(values) > _TIE)
    if values.shape[1] < 2:
        return np.zeros(len(values), dtype=bool)
    last = np.partition(values, -2, axis=1)
    return ~(last[:, -1] - last[:, -2] > _TIE)


class Sigmoid:
    """Platt's calibrator: the probability 1 / (1 + exp(a f + b)) of a decision value f."""

    def __init__(self, a: float, b: float):
        self.a, self.b = a, b

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities, (n)."""
        from scipy.special import expit

        return expit(-(self.a * values + self.b))


class Isotonic:
    """Calibrator by linear interpolation between increasing thresholds; outside, constant if "clip", else NaN."""

    def __init__(self, x: np.ndarray, y: np.ndarray, outside: str):
        self.x, self.y, self.outside = np.array(x, np.float64), np.array(y, np.float64), outside

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities, (n)."""
        if self.outside == "clip" or len(self.x) == 1:
            return np.interp(values, self.x, self.y)
        return np.interp(values, self.x, self.y, left=np.nan, right=np.nan)


class Temperature:
    """Calibrator by the softmax of beta f, where f are the decision values; of beta (-f, f) for two classes."""

    def __init__(self, beta: float):
        self.beta = beta

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities, (n, classes)."""
        logits = np.stack([-values, values], axis=1) if values.ndim == 1 else values
        scaled = self.beta * logits
        scaled = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return scaled / scaled.sum(axis=1, keepdims=True)


class Calibration:
    """Map from decision values to probabilities: one calibrator per column of values, or one Temperature."""

    def __init__(self, calibrators: "list[Any]", classes: int):
        self.calibrators, self.classes = calibrators, classes

    def probabilities(self, values: np.ndarray) -> np.ndarray:
        """Return (n, classes) probabilities of (n) or (n, columns) values."""
        first = self.calibrators[0]
        if isinstance(first, Temperature):
            out = first(values)
        else:
            out = np.zeros((len(values), self.classes))
            if values.ndim == 1:
                out[:, 1] = first(values)
                out[:, 0] = 1 - out[:, 1]
            else:
                for at, (column, calibrator) in enumerate(zip(values.T[: self.classes], self.calibrators)):
                    out[:, at] = calibrator(column)
                total = out.sum(axis=1, keepdims=True)
                # If all are 0, the classes are equally likely.
                out = np.divide(out, total, out=np.full_like(out, 1 / self.classes), where=total != 0)
        out[(1.0 < out) & (out <= 1.0 + 1e-5)] = 1.0
        return out

    def near(self, values: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Return whether values, (n) or (n, columns), have other probabilities or labels within tiny radii: (n)."""
        out = nearly_equal(self.probabilities(values))
        if isinstance(self.calibrators[0], Temperature):
            return out
        columns = [(values, radii)] if values.ndim == 1 else list(zip(values.T, np.broadcast_to(radii, values.shape).T))
        steps = np.zeros(len(values))
        sizes = np.zeros(len(values)) if len(columns) > 1 else np.ones(len(values))
        for (column, radius), calibrator in zip(columns[: self.classes], self.calibrators):
            steps = np.maximum(steps, abs(calibrator(column + radius) - calibrator(column - radius)))
            if len(columns) > 1:
                sizes += calibrator(column)
        # A plateau's probabilities are the same wherever the value is.
        return (out & (steps > 0)) | ~(steps <= _STEP * sizes)


def read_calibrator(calibrator: Any, name: str) -> Any:
    """Read one of scikit-learn's fitted calibrators, of a known kind."""
    kind = type(calibrator).__name__
    if kind == "_SigmoidCalibration":
        return Sigmoid(float(calibrator.a_), float(calibrator.b_))
    if kind == "IsotonicRegression":
        return Isotonic(calibrator.X_thresholds_, calibrator.y_thresholds_, calibrator.out_of_bounds)
    if kind == "_TemperatureScaling":
        return Temperature(float(np.ravel(calibrator.beta_)[0]))
    raise ModelFormatError(name, f"a calibrator of kind {kind} found, expected sigmoid, isotonic or temperature")
