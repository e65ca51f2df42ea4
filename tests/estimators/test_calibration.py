"""CalibratedClassifierCV around a support vector machine."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from support.fitting import fit, rows

VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
METHODS = ["sigmoid", "isotonic", *(["temperature"] if VERSION >= (1, 8) else [])]


@pytest.mark.full(few=5)
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_probabilities_and_labels_are_scikit_learns(method, classes, scaled, shape):
    X, y = rows(classes=classes)
    svc = SVC(decision_function_shape=shape)
    inner = make_pipeline(StandardScaler(), svc) if scaled else svc
    estimator = CalibratedClassifierCV(inner, method=method, ensemble=False, cv=3)
    fit(estimator, X, np.array(["z", "a", "m"])[y])
    fast = fastsvm_cli.compile(estimator, "exact")
    np.testing.assert_allclose(fast.predict_proba(X), estimator.predict_proba(X), rtol=0, atol=1e-9)
    assert (fast.predict(X) == estimator.predict(X)).all() and (fast.classes_ == estimator.classes_).all()
    again = pickle.loads(pickle.dumps(fast))
    assert (again.predict_proba(X) == fast.predict_proba(X)).all()


def test_far_from_the_data_isotonic_calibrators_are_clipped():
    X, y = rows(classes=2)
    estimator = CalibratedClassifierCV(SVC(kernel="linear"), method="isotonic", ensemble=False).fit(X, y)
    far = 100 * X
    found = fastsvm_cli.compile(estimator, "exact").predict_proba(far)
    np.testing.assert_allclose(found, estimator.predict_proba(far), rtol=0, atol=1e-9)


def test_a_classifier_that_was_fitted_before():
    X, y = rows()
    svc = fit(SVC(), X, y)
    if VERSION >= (1, 6):
        from sklearn.frozen import FrozenEstimator

        estimator = CalibratedClassifierCV(FrozenEstimator(svc), ensemble=False).fit(X, y)
    else:
        estimator = CalibratedClassifierCV(svc, cv="prefit").fit(X, y)
    fast = fastsvm_cli.compile(estimator, "exact")
    np.testing.assert_allclose(fast.predict_proba(X), estimator.predict_proba(X), rtol=0, atol=1e-9)


def test_what_is_refused(tmp_path):
    X, y = rows()
    with pytest.raises(ModelFormatError, match="5 classifiers found, expected 1: fit it with ensemble=False"):
        fastsvm_cli.compile(CalibratedClassifierCV(SVC(), ensemble=True, cv=5).fit(X, y))
    with pytest.raises(ModelFormatError, match="it is not fitted yet"):
        fastsvm_cli.compile(CalibratedClassifierCV(SVC(), ensemble=False))
    with pytest.raises(ModelFormatError, match="fastsvm cannot compile this"):
        fastsvm_cli.compile(CalibratedClassifierCV(LinearSVC(), ensemble=False).fit(X, y))
    with pytest.raises(ModelFormatError, match="calibrators found, which no LIBSVM model has"):
        fastsvm_cli.to_libsvm(CalibratedClassifierCV(SVC(), ensemble=False).fit(X, y), tmp_path / "model")
    assert not list(tmp_path.iterdir())
