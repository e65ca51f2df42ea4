"""Estimators of scikit-learn, fitted to little data. A trait is what is unusual about an estimator or its rows, by
name.

To add one, write a line or a function here: tests/estimators/test_estimator_table.py then tests it."""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas
import scipy.sparse
import sklearn
from sklearn import pipeline
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
KERNELS = ("rbf", "linear", "poly", "sigmoid")
KINDS = {"SVC": SVC, "NuSVC": NuSVC, "SVR": SVR, "NuSVR": NuSVR, "OneClassSVM": OneClassSVM}
CLASSIFIERS = ("SVC", "NuSVC")
METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples")
SCALERS = {
    "standard": StandardScaler(),
    "standard, mean only": StandardScaler(with_std=False),
    "standard, scale only": StandardScaler(with_mean=False),
    "standard, nothing": StandardScaler(with_mean=False, with_std=False),
    "min-max": MinMaxScaler(),
    "min-max, clipped": MinMaxScaler((-1, 2), clip=True),
    "max-abs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "robust, scale only": RobustScaler(with_centering=False),
    "robust, center only": RobustScaler(with_scaling=False),
}
#: Scalers of sparse rows.
SCALES = ("standard, scale only", "standard, nothing", "max-abs", "robust, scale only")
LABELS = {
    "int": np.array([3, -7, 11]),
    "text": np.array(["red", "green", "blue"]),
    "bool": np.array([False, True]),
    "whole": np.array([1.0, -1.0, 4.0]),
    "object": np.array(["one", "two", "three"], dtype=object),
    "large": np.array([2**40, 5, -(2**40)]),
    "largest": np.array([-(2**63), 5, 2**63 - 1]),
}


def rows(seed=0, n=90, d=5, classes=3):
    """(X, y): clusters with labels 0, 1, ...; some entries are 0."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y]
    X[rng.random(X.shape) < 0.2] = 0
    return X, y


def stretched(classes=3):
    """As `rows`; the columns have other places and scales."""
    X, y = rows(classes=classes)
    return X * [1, 2, 0.1, 30, 5] + [0, 1, 2, -3, 50], y


def halves():
    """(X, y): rows of zeros, and rows of which a single feature is not 0."""
    return np.repeat([[0.0] * 4, [0, 1.0, 0, 0]], 3, axis=0), np.repeat([0, 1], 3)


def fit(estimator, X, y=None):
    """Fit without warnings about deprecation and convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y)


def target(X, y):
    """Of a regression."""
    return np.asarray(X.sum(axis=1)).ravel() + np.unique(y, return_inverse=True)[1]


def fitted(kind, X, y, **parameters):
    """kind: of KINDS. A regressor's target depends on X and y."""
    if kind in CLASSIFIERS:
        parameters = {"nu": 0.2, **parameters} if kind == "NuSVC" else parameters
        return fit(KINDS[kind](**parameters), X, y)
    return fit(KINDS[kind](**parameters), X, target(X, y))


# ---- traits


@dataclass(frozen=True)
class Fitted:
    """estimator: fitted to X and y. rows: those to answer."""

    estimator: Any
    X: Any
    y: np.ndarray
    rows: Any

    @property
    def svm(self):
        """The support vector machine inside."""
        return inner(self.estimator)


def inner(estimator):
    if isinstance(estimator, CalibratedClassifierCV):
        return inner(estimator.calibrated_classifiers_[0].estimator)
    if isinstance(estimator, GridSearchCV):
        return inner(estimator.best_estimator_)
    if isinstance(estimator, pipeline.Pipeline):
        return inner(estimator[-1])
    return getattr(estimator, "estimator", estimator)  # FrozenEstimator


#: Functions that return (unfitted estimator, X, y, rows to answer or None for X).
TRAITS: "dict[str, Callable[[], tuple]]" = {}


@cache
def trait(name: str) -> Fitted:
    estimator, X, y, asked = TRAITS[name]()
    return Fitted(fit(estimator, X, y), X, y, X if asked is None else asked)


def _add(name, estimator, data=rows, *, names=None, sparse=False, ask=None, **how):
    """names: of the classes."""

    def make():
        X, y = data(**how)
        svm = estimator[-1] if isinstance(estimator, pipeline.Pipeline) else estimator
        truth = target(X, y) if isinstance(svm, (SVR, NuSVR)) else y if names is None else names[y]
        asked = None if ask is None else ask(X)
        return clone(estimator), scipy.sparse.csr_matrix(X) if sparse else X, truth, asked

    TRAITS[name] = make


for (_at, (_kind, _classes)), (_n, _kernel) in itertools.product(
    enumerate([*((kind, 3) for kind in KINDS), *((kind, 2) for kind in CLASSIFIERS)]), enumerate(KERNELS)
):
    _more = {"probability": True, "random_state": 0} if _kind in CLASSIFIERS else {}
    _more |= {"nu": 0.2} if _kind == "NuSVC" else {}
    _sparse = (_at + _n) % 2 == 1
    _add(
        f"{_kind} {_kernel} {_classes}" + " sparse" * _sparse,
        KINDS[_kind](kernel=_kernel, gamma=("scale", "auto", 0.3)[(_at + _n) % 3], coef0=0.5, **_more),
        classes=_classes,
        sparse=_sparse,
        names=np.array(["b", "a", "c"]) if _kind in CLASSIFIERS else None,
    )
for _classes in (2, 4):
    _add(f"ovo {_classes}", SVC(decision_function_shape="ovo"), classes=_classes)
    _add(f"break_ties {_classes}", SVC(break_ties=True), classes=_classes)
_add("balanced", SVC(class_weight="balanced"), classes=4)
_add("weights", SVC(class_weight={0: 3.0, 1: 0.5}, decision_function_shape="ovo"), sparse=True)
for _at, (_name, _labels) in enumerate(LABELS.items()):
    _add(f"{_name} labels", (SVC(), NuSVC(nu=0.2))[_at % 2], names=_labels, classes=len(_labels))
_add("frame", SVC(), lambda: (pandas.DataFrame(rows()[0], columns=list("abcde")), rows()[1]))
for _sparse in (False, True):
    _add("zeros" + " sparse" * _sparse, SVC(gamma=0.5), halves, sparse=_sparse)
    _add("no vectors" + " sparse" * _sparse, SVR(epsilon=100.0), sparse=_sparse)


class Subclass(SVC):
    """A user's class."""


_add("subclass", Subclass())
_grid = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=2)
_add("search", _grid)

# ---- scalers

for _at, (_name, _scaler) in enumerate(SCALERS.items()):
    _add(f"after {_name}", make_pipeline(_scaler, "passthrough", SVC(kernel=KERNELS[_at % 4])), stretched)
    if _name in SCALES:
        _add(f"after {_name}, sparse", make_pipeline(_scaler, SVC(kernel=KERNELS[_at % 4])), rows, sparse=True)
_add("three scalers", make_pipeline(MaxAbsScaler(), StandardScaler(), MinMaxScaler(), SVR()), stretched)
_nested = make_pipeline(StandardScaler(), make_pipeline(MinMaxScaler(), SVC(kernel="linear")))
_add("nested pipelines", _nested, stretched)
_add("far", make_pipeline(StandardScaler(with_std=False), SVC()), lambda: (rows()[0] + 1e9, rows()[1]))

# ---- calibration

CALIBRATIONS = ["sigmoid", "isotonic", *(["temperature"] if VERSION >= (1, 8) else [])]


def calibrated(svm, method="sigmoid", *, scaled=False):
    inside = make_pipeline(StandardScaler(with_mean=False), svm) if scaled else svm
    return CalibratedClassifierCV(inside, method=method, ensemble=False, cv=3)


for _at, (_method, _classes) in enumerate(itertools.product(CALIBRATIONS, (2, 3))):
    _svc = SVC(decision_function_shape=("ovr", "ovo")[_at // 2 % 2])
    _names = np.array(["z", "a", "m"])
    _add(f"calibrated {_method} {_classes}", calibrated(_svc, _method, scaled=_at % 2), names=_names, classes=_classes)
_add("far isotonic", calibrated(SVC(kernel="linear"), "isotonic"), classes=2, ask=lambda X: 100 * X)


def _prefit():
    X, y = rows()
    svc = fit(SVC(), X, y)
    if VERSION < (1, 6):
        return CalibratedClassifierCV(svc, cv="prefit"), X, y, None
    from sklearn.frozen import FrozenEstimator

    return CalibratedClassifierCV(FrozenEstimator(svc), ensemble=False), X, y, None


TRAITS["prefit"] = _prefit

# ---- labels that rounding decides


def tied(classes, seed, n=24):
    """(X, y, rows): whole numbers; every row is in every class."""
    d, top = (2, 4, 9)[seed % 3], (3, 5, 8)[seed % 3]
    found = np.random.default_rng(seed).integers(0, top, (n, d)).astype(float)
    return np.concatenate([found] * classes), np.repeat(np.arange(classes), n), found


def _tie(name, estimator, classes, seed, sparse=False):
    def make():
        form = scipy.sparse.csr_matrix if sparse else np.asarray
        X, y, asked = tied(classes, seed)
        return clone(estimator), form(X), y, form(asked)

    TRAITS[f"tied, {name}"] = make


_BEFORE_TIES = [None, *(SCALERS[name] for name in ("standard", "standard, mean only", "min-max", "robust"))]
for _at, (_scaler, _kernel) in enumerate(itertools.product(_BEFORE_TIES, KERNELS)):
    _svc = SVC(kernel=_kernel, gamma=(0.1, 0.5, "scale")[_at % 3], max_iter=5000)
    _name = f"{_kernel} after {_scaler}" if _scaler else _kernel
    _tie(_name, make_pipeline(_scaler, _svc) if _scaler else _svc, 2 + _at // 4 % 2, _at)
for _at in range(2):
    _tie(f"sparse {_at}", make_pipeline(MaxAbsScaler(), SVC()), 3, _at, sparse=True)
    _tie(f"one class {_at}", make_pipeline(StandardScaler(), OneClassSVM(nu=0.5)), 3, _at)
    _tie(f"break_ties {_at}", make_pipeline(StandardScaler(), SVC(break_ties=True)), 3, _at)


def _equal_votes(kernel, seed):
    """Classes with equal votes and values: each has the rows of another, their features rolled."""
    points = np.array(list(itertools.product(range(4), repeat=3)), dtype=float) / 3
    base = np.random.default_rng(seed).integers(0, 4, (8, 3)).astype(float)
    X, y = np.concatenate([np.roll(base, c, axis=1) for c in range(3)]), np.repeat(range(3), 8)
    return SVC(break_ties=True, kernel=kernel, gamma=0.3), X, y, points


for _at, _kernel in enumerate(("rbf", "linear", "sigmoid") * 2):
    TRAITS[f"equal votes, {_kernel} {_at}"] = lambda kernel=_kernel, seed=_at: _equal_votes(kernel, seed)


def symmetric(seed, classes):
    """(X, y): rows whose values are nearly equal for symmetry."""
    rng = np.random.default_rng(seed)
    X = np.array(list(itertools.product(range(3), repeat=5)), dtype=float)
    X = X[rng.permutation(len(X))[:200]]
    return X, ((X.sum(axis=1) + (rng.random(len(X)) < 0.3)) % classes).astype(int)


for _at, (_method, _classes, _sparse) in enumerate(itertools.product(("isotonic", "sigmoid"), (2, 3), (False, True))):
    for _seed in (_at, _at + 8):
        _svc = calibrated(SVC(gamma=(0.1, 0.5, "scale")[_seed % 3], max_iter=5000), _method, scaled=_seed >= 8)
        _name = f"symmetric, {_method} {_classes} {_seed}" + " sparse" * _sparse
        _add(_name, _svc, symmetric, seed=_seed, classes=_classes, sparse=_sparse)


# ---- answers


def answers(estimator, X, methods=METHODS):
    """{method: result}, for those methods that the estimator has"""
    return {name: getattr(estimator, name)(X) for name in methods if hasattr(estimator, name)}


def dense(X) -> np.ndarray:
    return X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)


def size(estimator, X) -> float:
    """A bound of the terms of a decision value: sum |a_i| times the largest kernel value; at least 1."""
    if isinstance(estimator, pipeline.Pipeline) and len(estimator) > 1:
        X = estimator[:-1].transform(X)
    svm = inner(estimator)
    X, vectors = map(dense, (X, svm.support_vectors_))
    products = np.max(np.linalg.norm(X, axis=1), initial=0) * np.max(np.linalg.norm(vectors, axis=1), initial=0)
    largest = {"linear": products, "poly": (svm._gamma * products + abs(svm.coef0)) ** svm.degree}.get(svm.kernel, 1.0)
    return max(1.0, largest) * max(1.0, float(abs(svm._dual_coef_).sum()))


def require_same(found, expected, within=1e-9, where=""):
    """Same types and shapes, equal labels, numbers up to rounding."""
    assert found.keys() == expected.keys(), where
    for name, own in expected.items():
        got = found[name]
        assert type(got) is type(own) and got.dtype == own.dtype and got.shape == own.shape and got.flags.writeable, (
            where
        )
        if name == "predict" and own.dtype != np.float64:
            assert (got == own).all(), where
        else:
            np.testing.assert_allclose(got, own, rtol=1e-9, atol=within, err_msg=f"{name}, {where}")
