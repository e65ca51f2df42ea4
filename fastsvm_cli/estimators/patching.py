"""Replacement of scikit-learn's SVM prediction by the exact engine.

It replaces the six functions of sklearn.svm._base that call its LIBSVM, and the check of their rows, which takes most
of the time of one row. Two functions of CalibratedClassifierCV, whose labels may depend on a value's last digits, turn
it off.

Labels decided without svm-predict's own sum hold for a sum in any order (B5 and B26 of PROOFS.md); scikit-learn's
function answers the other rows.
"""

import logging
import weakref
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.estimators.fitted_svm import read_svm
from fastsvm_cli.estimators.rows import chunk_of
from fastsvm_cli.estimators.sklearn_numbers import KERNELS, Classes, nearly_equal
from fastsvm_cli.models import LABELS, Precision
from fastsvm_cli.prediction import threads_here
from fastsvm_cli.text.read_rows import MOST_VALUES

#: Minimum kernel values per call, or products in them: for fewer, scikit-learn is as fast.
LEAST_VALUES, LEAST_PRODUCTS = 1000, 50_000
#: Minimum products for several threads.
SHARED_PRODUCTS = 4_000_000
#: Rows and kernel values before compilation, which costs as much.
ROWS_BEFORE, VALUES_BEFORE = 25, 10_000
#: Minimum rows left to scikit-learn before a share of a quarter turns the engine off.
MOST_LEFT = 100

MOST_ENTRIES = 1 << 18  # matrix entries per block of rows
_WHOLE, _PARTS = 4096, 16  # a larger array (bytes) is checked for changes by the sums of this many parts
#: Raised for unsupported rows and models.
_REFUSED = (FastsvmError, ValueError, MemoryError)

engines: "dict[int, Engine]" = {}  # by the id of the estimator
_originals: "dict[str, tuple[Any, Callable[..., Any]]]" = {}  # by name
_lock = allocate_lock()
switched_on, open_blocks = False, 0  # whether patch() is on; open blocks of patched()
off_blocks = 0  # of _off
_log = logging.getLogger("fastsvm_cli.patch")
_log.setLevel(logging.WARNING)
engine_threads: "int | None" = None


def patch(n_threads: "int | None" = None, verbose: bool = False) -> None:
    """Let fastsvm's exact engine answer for scikit-learn's fitted SVMs.

    No label changes. The methods are predict, decision_function, predict_proba, predict_log_proba and score_samples of
    SVC, NuSVC, SVR, NuSVR and OneClassSVM objects and their subclasses. A second call changes only the arguments. The
    command `python -m fastsvm_cli.patch script.py` patches a script.

    Parameters
    ----------
    n_threads : int, default=None
        Number of threads. None means all available CPUs.
    verbose : bool, default=False
        Whether to log a line per call, with the reason where scikit-learn's own code answers. The logger is
        "fastsvm_cli.patch", its level INFO; without a handler, lines go to standard error.

    Raises
    ------
    FastsvmError
        If this version of scikit-learn is not supported.

    Notes
    -----
    The engine compiles a model after 25 + 10,000 / n_vectors rows. Scikit-learn's own code answers

    - the rows before that
    - calls of fewer than 1,000 kernel values (rows times vectors) and fewer than 50,000 products (times features),
      which are not counted
    - callable and precomputed kernels
    - isotonic calibration
    - rows whose label depends on rounding

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import SVC
    >>> X, y = load_digits(return_X_y=True)
    >>> svc = SVC().fit(X, y)
    >>> own = svc.predict(X)
    >>> with patched():
    ...     bool((svc.predict(X) == own).all())
    True
    """
    _log.setLevel(logging.INFO if verbose else logging.WARNING)
    if verbose and not _log.hasHandlers():
        _log.addHandler(logging.StreamHandler())
    _count_patch(True, 0, n_threads)


def unpatch() -> None:
    """Undo `patch`. Open blocks of `patched` keep the patch until they end."""
    _count_patch(False, 0, engine_threads)


@contextmanager
def patched(n_threads: "int | None" = None) -> "Iterator[None]":
    """Patch during a block, on all threads of the process; `n_threads` and errors are those of `patch`.

    Blocks may nest and overlap.
    """
    before = engine_threads
    _count_patch(None, 1, n_threads)
    try:
        yield
    finally:
        _count_patch(None, -1, before)


def _count_patch(always: "bool | None", blocks: int, n_threads: "int | None") -> None:
    global switched_on, open_blocks, engine_threads
    with _lock:
        was = switched_on or open_blocks > 0
        always, blocks = switched_on if always is None else always, open_blocks + blocks
        if not was and (always or blocks):
            replaced = _replaced()
            _originals.update({name: (owner, vars(owner)[name]) for owner, name, _ in replaced})
            for owner, name, by in replaced:
                setattr(owner, name, by(name, _originals[name][1]))
        elif was and not (always or blocks):
            for name, (owner, own) in _originals.items():
                setattr(owner, name, own)
            engines.clear()
        switched_on, open_blocks, engine_threads = always, blocks, n_threads


def _replaced() -> "list[tuple[Any, str, Callable[..., Any]]]":
    """Return owner and name of all that is replaced, and what makes the replacement of name and original."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import _base

    found: list[tuple[Any, str, Callable[..., Any]]] = []
    for what in ("predict", "decision_function", "predict_proba"):
        for name in (f"_dense_{what}", f"_sparse_{what}"):
            owner = getattr(_base, "BaseSVC" if what == "predict_proba" else "BaseLibSVM", object)
            if name not in vars(owner):
                raise FastsvmError(
                    f"a scikit-learn without {name} found, expected 1.3 to 1.9: compile(svc) may know it"
                )
            found.append((owner, name, _answered))
    return [
        *found,
        (CalibratedClassifierCV, "fit", _fit_calibrated),
        (CalibratedClassifierCV, "predict_proba", _calibrated),
        (_base.BaseLibSVM, "_validate_for_predict", _checked),
        (_base, "_ovr_decision_function", _one_against_rest),
    ]


def _vectors_counted(estimator: Any) -> int:
    counts = estimator._n_support
    return counts.sum() if estimator._impl in ("c_svc", "nu_svc") else counts[0]


def _checked(_: str, own: "Callable[..., Any]") -> "Callable[..., Any]":
    # scikit-learn's check only changes the type of the usual rows, which takes little.

    @wraps(own)
    def validate(self: Any, X: Any) -> Any:
        known = vars(self)
        usual = (
            type(X) is np.ndarray
            and X.dtype.char in "dfli"
            and X.ndim == 2
            and X.flags.aligned
            and isinstance(self.kernel, str)
            and self.kernel in KERNELS
            and "feature_names_in_" not in known
            and not known.get("_sparse", True)
            and X.shape[1] == known.get("n_features_in_")
            and len(X)
            and "support_vectors_" in known
            and len(known["support_vectors_"]) == _vectors_counted(self)
            and np.isfinite(X).all()
        )
        return np.ascontiguousarray(X, np.float64) if usual else own(self, X)

    return validate


def _answered(name: str, own: "Callable[..., Any]") -> "Callable[..., Any]":
    precision = LABELS if name in ("_dense_predict", "_sparse_predict") else Precision.values()

    @wraps(own)
    def answer(self: Any, X: Any) -> np.ndarray:
        engine = _engine_of(self, X)
        open_rows: list[int] | np.ndarray
        if isinstance(engine, Engine):
            try:
                out, open_rows = engine.numbers(X, precision)
            except _REFUSED as error:
                engine = str(error)
        if isinstance(engine, str):
            _say(self, name, X, f"scikit-learn's own code: {engine}")
            return own(self, X)
        if name.endswith("proba"):
            out = engine.probabilities(self, out)
        elif precision is not LABELS and getattr(self, "break_ties", False) and out.shape[1] > 1:
            open_rows = np.union1d(open_rows, _ties(self, out)).astype(int)
        if len(open_rows):
            out[open_rows] = own(self, X[open_rows])
        _say(self, name, X, "fastsvm" + f", {len(open_rows)} rows by scikit-learn's own code" * bool(len(open_rows)))
        return out

    return answer


def _say(estimator: Any, name: str, X: Any, how: str) -> None:
    if _log.isEnabledFor(logging.INFO):
        method = name.removeprefix("_dense_").removeprefix("_sparse_")
        _log.info("%s.%s, %d rows: %s", type(estimator).__name__, method, X.shape[0], how)


def _ties(estimator: Any, values: np.ndarray) -> np.ndarray:
    # Rows of LIBSVM's values whose best class rounding may change
    from sklearn.utils.multiclass import _ovr_decision_function

    return np.flatnonzero(nearly_equal(_ovr_decision_function(values < 0, -values, len(estimator.classes_))))


def _fit_calibrated(_: str, own: "Callable[..., Any]") -> "Callable[..., Any]":
    @wraps(own)
    def fit(self: Any, *given: Any, **named: Any) -> Any:
        with _off(self.method == "isotonic"):
            return own(self, *given, **named)

    return fit


def _calibrated(_: str, own: "Callable[..., Any]") -> "Callable[..., Any]":
    # An isotonic map has steps at the values it was fitted to; other maps are smooth.

    @wraps(own)
    def predict_proba(self: Any, X: Any) -> np.ndarray:
        from sklearn.utils import _safe_indexing

        isotonic = any(each.method == "isotonic" for each in getattr(self, "calibrated_classifiers_", ()))
        with _off(isotonic):
            out = own(self, X)
        near = np.flatnonzero(nearly_equal(out))
        if len(near) and not isotonic:
            with _off():
                out[near] = own(self, _safe_indexing(X, near))
        return out

    return predict_proba


def _one_against_rest(_: str, own: "Callable[..., Any]") -> "Callable[..., Any]":
    of = cache(lambda count: Classes(list(range(count))))

    @wraps(own)
    def values(predictions: np.ndarray, confidences: np.ndarray, n_classes: int) -> np.ndarray:
        step = max(1, MOST_ENTRIES // n_classes**2)
        blocks = range(0, max(len(confidences), 1), step)
        return np.concatenate([of(n_classes).one_against_rest(-confidences[at : at + step]) for at in blocks])

    return values


@contextmanager
def _off(really: bool = True) -> "Iterator[None]":
    # On all threads: joblib's may do the work.
    global off_blocks
    with _lock:
        off_blocks += really
    try:
        yield
    finally:
        with _lock:
            off_blocks -= really


class Engine:
    """Compiled model of an estimator, and counters.

    arrays: the estimator's, held so that their ids are not reused. settings, sums: parameters and checksums, which
    reveal a change.
    """

    def __init__(self, estimator: Any, arrays: "list[np.ndarray]", settings: "list[Any]", sums: "list[bytes]"):
        key = id(estimator)
        self._estimator = weakref.ref(estimator, lambda _: engines.pop(key, None))
        self.arrays, self.settings, self.sums = arrays, settings, sums
        self.pays, self.why = False, "the first rows of a model, before it is compiled"
        self._own_result = self._answered = self._left = 0  # rows
        self._model: Any = None
        self._task: Any = None
        self._coupler: Any = None
        self._once = allocate_lock()  # held by the thread that compiles

    def count_rows(self, estimator: Any, rows: int, vectors: int) -> None:
        """Count rows; compile once that pays. Other threads do not wait."""
        self._own_result += rows
        if self._own_result < ROWS_BEFORE + VALUES_BEFORE / vectors or not self._once.acquire(blocking=False):
            return
        try:
            model = read_svm(estimator).model
        except _REFUSED as error:
            self.why = str(error)
            return
        if model.header.classification:
            labels = list(range(model.header.nr_class))  # as in scikit-learn's LIBSVM
            model = model.with_header(model.header.changed(label=labels))
        self._task, self._model, self.pays = model.header.task(), model, True

    def numbers(self, X: Any, precision: Precision) -> "tuple[np.ndarray, list[int]]":
        """Return labels (rows) or values (rows, pairs), and the rows that need svm-predict's own sum."""
        model, labels, rows = self._model, precision is LABELS, X.shape[0]
        out, open_rows = np.empty(rows if labels else (rows, model.pairs)), []
        step = max(1, min(MOST_ENTRIES // max(X.shape[1], 1), MOST_VALUES // max(model.pairs, 1)))
        decisions, predictions = model.decisions(precision), _native.Predictions()
        few = rows * model.header.total_sv * X.shape[1] < SHARED_PRODUCTS
        with threads_here(1 if few else engine_threads or 0):
            for first in range(0, rows, step):
                block = X if step >= rows else X[first : first + step]
                model.decision_values(chunk_of(block, "X"), decisions, precision)
                if labels:
                    _native.predict(self._task, decisions, False, predictions)
                out[first : first + step] = predictions.label if labels else decisions.value
                if decisions.reference_rows:
                    open_rows += (first + np.flatnonzero(decisions.evaluations)).tolist()
        self._answered, self._left = self._answered + rows, self._left + len(open_rows)
        self.pays = self._left < max(MOST_LEFT, self._answered // 4)
        self.why = "rounding decides the labels of a quarter of the model's rows"
        return out, open_rows

    def probabilities(self, estimator: Any, values: np.ndarray) -> np.ndarray:
        """Return the probabilities of decision values (rows, pairs), by scikit-learn's function.

        It gets an SVM with a vector per pair, and the decision values as its precomputed kernel.
        """
        if self._coupler is None:
            self._coupler = _coupler(len(estimator.classes_), estimator._probA, estimator._probB)
        return _originals["_dense_predict_proba"][1](self._coupler, values)


def _coupler(classes: int, a: np.ndarray, b: np.ndarray) -> Any:
    from sklearn.svm import SVC

    machine = SVC(kernel="precomputed")
    first, second = np.triu_indices(classes, 1)
    machine.support_, machine.support_vectors_ = np.arange(len(first), dtype=np.int32), np.empty((0, 0))
    machine._n_support = np.bincount(first, minlength=classes).astype(np.int32)
    machine._dual_coef_ = np.zeros((classes - 1, len(first)))
    machine._dual_coef_[second - 1, machine.support_] = 1.0
    machine._intercept_, machine._probA, machine._probB, machine._gamma = np.zeros(len(first)), a, b, 0.0
    return machine


def _engine_of(estimator: Any, X: Any) -> "Engine | str":
    if off_blocks:
        return "an isotonic calibration is fitted or asked, or a calibration's label is near a tie"
    kernel = estimator.kernel
    if not isinstance(kernel, str) or kernel not in KERNELS:
        return "a callable or precomputed kernel"
    rows, vectors = X.shape[0], len(estimator.support_)
    values = rows * vectors
    if values < LEAST_VALUES and values * X.shape[1] < LEAST_PRODUCTS:
        return f"a call of {values} kernel values, fewer than {LEAST_VALUES}"
    sv, coefficients = estimator.support_vectors_, estimator._dual_coef_
    others = estimator._intercept_, estimator._n_support, estimator._probA, estimator._probB
    if not estimator._sparse:
        arrays = [sv, coefficients, *others]
    elif X.has_canonical_format and getattr(sv, "has_canonical_format", False):
        arrays = [sv.data, sv.indices, sv.indptr, coefficients.data, *others]
    else:
        return "sparse entries twice, which the engine adds up and scikit-learn does not"
    for each in arrays:
        if not isinstance(each, np.ndarray) or each.dtype.char not in "dil" or not each.flags.c_contiguous:
            return "an attribute of another type"  # which scikit-learn reports
    settings = [kernel, estimator.degree, estimator.coef0, estimator._gamma, *map(id, arrays)]
    sums = [_sum(each) for each in arrays]
    engine = engines.get(id(estimator))
    if engine is None or engine.settings != settings or engine.sums != sums:
        engine = engines[id(estimator)] = Engine(estimator, arrays, settings, sums)
    if not engine.pays:
        engine.count_rows(estimator, rows, vectors)
    return engine if engine.pays else engine.why


def _sum(numbers: np.ndarray) -> bytes:
    if numbers.nbytes <= _WHOLE:
        return numbers.tobytes()
    words = numbers.reshape(-1).view(f"u{numbers.itemsize}")
    return np.add.reduceat(words, np.arange(0, len(words), -(-len(words) // _PARTS))).tobytes()
