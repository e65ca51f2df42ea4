"""Rows whose label depends on rounding: it is the estimator's, by scikit-learn's own code."""

import itertools
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, OneClassSVM

import fastsvm_cli
from fastsvm_cli.estimators import patching
from fastsvm_cli.sklearn import patched
from support.fitting import KERNELS, fit
from support.processes import outcome

SCALERS = {
    "none": None,
    "standard": StandardScaler(),
    "mean": StandardScaler(with_std=False),
    "min-max": MinMaxScaler(),
    "robust": RobustScaler(),
}


def tied(classes, seed, n=60):
    """(X, y, rows): whole numbers; every row is in every class."""
    d, top = (2, 4, 9)[seed % 3], (3, 5, 8)[seed % 3]
    rows = np.random.default_rng(seed).integers(0, top, (n, d)).astype(float)
    return np.concatenate([rows] * classes), np.repeat(np.arange(classes), n), rows


def behind(scaler, svc):
    return svc if scaler is None else make_pipeline(scaler, svc)


@pytest.mark.full(few=6)
@pytest.mark.filterwarnings("ignore::fastsvm_cli.FastsvmWarning")  # the models are tiny
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_no_label_of_tied_rows_changes(classes, scaler, kernel):
    """2,880 rows in all."""
    for seed in range(3):
        X, y, rows = tied(classes, seed, n=24)
        gamma = (0.1, 0.5, "scale")[seed]
        svc = fit(behind(SCALERS[scaler], SVC(kernel=kernel, gamma=gamma, max_iter=5000)), X, y)
        expected, values = svc.predict(rows), svc.decision_function(rows)
        for method in ("exact", "order", "approx"):
            if kernel == "sigmoid" and method != "exact":
                continue
            certified = {"certify": True, "exact": True} if method == "approx" else {}
            fast = fastsvm_cli.compile(svc, method, on_progress=False, **certified)
            assert (fast.predict(rows) == expected).all()
            if method == "exact":  # "ovr" values contain votes
                np.testing.assert_allclose(fast.decision_function(rows), values, rtol=1e-9, atol=1e-9)
                assert (pickle.loads(pickle.dumps(fast)).predict(rows) == expected).all()


@pytest.mark.parametrize("kind", ["sparse", "one class", "break_ties"])
def test_other_estimators_of_tied_rows(kind):
    for seed in range(4):
        X, y, rows = tied(3, seed)
        if kind == "sparse":
            X, rows, svc = scipy.sparse.csr_matrix(X), scipy.sparse.csr_matrix(rows), SVC()
            svc = make_pipeline(MaxAbsScaler(), svc)
        else:
            one = {"one class": OneClassSVM(nu=0.5), "break_ties": SVC(break_ties=True)}[kind]
            svc = make_pipeline(StandardScaler(), one)
        svc = fit(svc, X, y)
        fast = fastsvm_cli.compile(svc)
        assert fast.sklearn == ("sparse" if kind == "sparse" else "dense")
        assert (fast.predict(rows) == svc.predict(rows)).all()


def test_classes_with_equal_votes_and_values(calls):
    """Each class has the rows of another, their features rolled."""
    points = np.array(list(itertools.product(range(4), repeat=3)), dtype=float) / 3
    for seed in range(9):
        base = np.random.default_rng(seed).integers(0, 4, (8, 3)).astype(float)
        X, y = np.concatenate([np.roll(base, c, axis=1) for c in range(3)]), np.repeat(range(3), 8)
        svc = SVC(break_ties=True, kernel=("rbf", "linear", "sigmoid")[seed % 3], gamma=0.3).fit(X, y)
        expected = svc.predict(points)
        assert (fastsvm_cli.compile(svc).predict(points) == expected).all()
        with patched():
            assert (svc.predict(points) == expected).all()


def test_without_scikit_learn_svm_predict_decides(tmp_path):
    X, y, rows = tied(2, 1)
    fast = fastsvm_cli.compile(make_pipeline(StandardScaler(), SVC()).fit(X, y))
    (tmp_path / "fast.pkl").write_bytes(pickle.dumps((fast, rows)))
    code = (
        "import sys, pickle; sys.modules['sklearn'] = None\n"
        "fast, rows = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(*fast.predict(rows), *fast.set_params(sklearn=None).predict(rows))"
    )
    done = outcome([sys.executable, "-c", code, tmp_path / "fast.pkl"], cwd=tmp_path)
    found = done.stdout.split()
    assert done.returncode == 0 and len(found) == 2 * len(rows) and found[: len(rows)] == found[len(rows) :]


def grid(seed, classes):
    """Rows whose values are nearly equal for symmetry."""
    rng = np.random.default_rng(seed)
    X = np.array(list(itertools.product(range(3), repeat=5)), dtype=float)
    X = X[rng.permutation(len(X))[:200]]
    return X, ((X.sum(axis=1) + (rng.random(len(X)) < 0.3)) % classes).astype(int)


@pytest.mark.full(few=3)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_no_label_of_a_calibrated_classifier_changes(form, method, classes, monkeypatch):
    for name in ("LEAST_VALUES", "ROWS_BEFORE", "VALUES_BEFORE"):
        monkeypatch.setattr(patching, name, 0)
    monkeypatch.setattr(patching, "MOST_LEFT", 10**9)
    for seed in range(6):
        X, y = grid(seed, classes)
        X = form(X)
        gamma = (0.1, 0.5, "scale")[seed % 3]
        for inner in (SVC(gamma=gamma), make_pipeline(StandardScaler(with_mean=False), SVC(max_iter=5000))):
            estimator = fit(CalibratedClassifierCV(inner, method=method, ensemble=False, cv=3), X, y)
            labels, shares = estimator.predict(X), estimator.predict_proba(X)
            fast = fastsvm_cli.compile(estimator)
            assert (fast.predict(X) == labels).all()
            np.testing.assert_allclose(fast.predict_proba(X), shares, rtol=0, atol=1e-8)
            with patched():
                estimator.predict(X)
                assert (estimator.predict(X) == labels).all()
                np.testing.assert_allclose(estimator.predict_proba(X), shares, rtol=0, atol=1e-8)
                again = fit(CalibratedClassifierCV(inner, method=method, ensemble=False, cv=3), X, y)
            if method == "isotonic":
                assert (again.predict_proba(X) == shares).all()


def test_the_engine_is_off_for_one_thread_and_call_only(calls):
    X, y = grid(0, 2)
    estimator = fit(CalibratedClassifierCV(SVC(), method="isotonic", ensemble=False), X, y)
    svc = estimator.calibrated_classifiers_[0].estimator
    with patched():
        estimator.predict(X)
        assert not patching.engines
        svc.predict(X)
        assert len(patching.engines) == 1
        with pytest.raises(ValueError):
            estimator.predict_proba(X[:, :2])
        svc.predict(X)
    assert not patching.engines
