"""Estimators of scikit-learn, fitted to little data."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

KERNELS = ("rbf", "linear", "poly", "sigmoid")
KINDS = {"SVC": SVC, "NuSVC": NuSVC, "SVR": SVR, "NuSVR": NuSVR, "OneClassSVM": OneClassSVM}
CLASSIFIERS = ("SVC", "NuSVC")
METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples")


def rows(seed=0, n=90, d=5, classes=3):
    """(X, y): clusters with labels 0, 1, ...; some entries are 0."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y]
    X[rng.random(X.shape) < 0.2] = 0
    return X, y


def fit(estimator, X, y=None):
    """Fit without warnings about deprecation and convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y)


def fitted(kind, X, y, **parameters):
    """kind: of KINDS. A regressor's target depends on X and y."""
    if kind in CLASSIFIERS:
        parameters = {"nu": 0.2, **parameters} if kind == "NuSVC" else parameters
        return fit(KINDS[kind](**parameters), X, y)
    target = np.asarray(X.sum(axis=1)).ravel() + np.unique(y, return_inverse=True)[1]
    return fit(KINDS[kind](**parameters), X, target)


def pairwise(estimator, X):
    """(rows, pairs) values of scikit-learn, in LIBSVM's order and signs."""
    if not hasattr(estimator, "decision_function"):
        return estimator.predict(X)[:, None]
    if not hasattr(estimator, "classes_"):
        return estimator.decision_function(X)[:, None]
    shape, estimator.decision_function_shape = estimator.decision_function_shape, "ovo"
    try:
        values = estimator.decision_function(X)
    finally:
        estimator.decision_function_shape = shape
    return -values[:, None] if values.ndim == 1 else values


def scale(model):
    """sum |a_i| of an ExactModel, at least 1."""
    return max(1.0, float(np.abs(np.asarray(model.vectors.leading)).sum()))


def answers(estimator, X):
    """{method: result}, for METHODS that the estimator has"""
    return {name: getattr(estimator, name)(X) for name in METHODS if hasattr(estimator, name)}


def require_same(found, expected):
    """Same types and shapes, equal labels, numbers up to rounding."""
    assert found.keys() == expected.keys()
    for name, own in expected.items():
        got = found[name]
        assert type(got) is type(own) and got.dtype == own.dtype and got.shape == own.shape and got.flags.writeable
        if name == "predict" and own.dtype != np.float64:
            assert (got == own).all()
        else:
            np.testing.assert_allclose(got, own, rtol=1e-9, atol=1e-9)
