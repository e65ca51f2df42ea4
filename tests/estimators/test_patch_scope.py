"""fastsvm_cli.sklearn.patch on and off: what it stores and leaves to scikit-learn."""

import copy
import gc
import pickle
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC, _base

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.estimators import patching
from fastsvm_cli.sklearn import patch, patched, unpatch
from support.fitting import answers, fit, require_same, rows, trait
from support.processes import PATIENCE, outcome


@pytest.fixture(autouse=True)
def left_as_it_was():
    yield
    assert not patching.switched_on and not patching.open_blocks and not patching.engines


def test_nothing_is_pickled_cloned_or_left_in_the_estimator(calls):
    X, y = rows()
    svc = fit(SVC(), X, y)
    text, names = pickle.dumps(svc), set(vars(svc))
    with patched():
        expected = svc.predict(X)
        assert len(patching.engines) == 1
        assert pickle.dumps(svc) == text and set(vars(svc)) == names
        assert clone(svc).get_params() == svc.get_params()
        with pytest.raises(NotFittedError):
            clone(svc).predict(X)
        for make in (lambda: pickle.loads(text), lambda: copy.deepcopy(svc), lambda: copy.copy(svc)):
            other, engines = make(), [len(patching.engines)]
            assert (other.predict(X) == expected).all()
            engines.append(len(patching.engines))
            del other
            gc.collect(1)
            assert [*engines, len(patching.engines)] == [1, 2, 1]  # compiled on first use, and released with it
        svc = None
        gc.collect(1)
        assert not patching.engines


def test_it_is_compiled_once_whatever_the_threads(calls, monkeypatch):
    X, y = rows(n=400)
    svc = fit(SVC(probability=True, random_state=0), X, y)
    expected, compiled = answers(svc, X), []
    read, barrier, another = patching.read_svm, threading.Barrier(8), threading.Event()

    def slow(estimator):
        compiled.append(estimator)
        another.wait(PATIENCE)  # scikit-learn answers the other threads meanwhile
        return read(estimator)

    def work(_):
        barrier.wait()
        for _ in range(5):
            require_same(answers(svc, X), expected)
            another.set()

    monkeypatch.setattr(patching, "read_svm", slow)
    with patched(), ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(compiled) == 1 and calls


def test_the_threads_of_the_engine(calls, monkeypatch):
    X, y = rows(n=300)
    svc = fit(SVC(), X, y)
    seen, set_here = [], _native.set_threads_here
    monkeypatch.setattr(_native, "set_threads_here", lambda n: seen.append(n) or set_here(n))
    many = np.tile(X, (30, 1))
    with patched(n_threads=3):
        svc.predict(X[:5])
        svc.predict(many)
        with patched(n_threads=2):
            svc.predict(many)
        svc.predict(many)
    assert seen[::2] == [1, 3, 2, 3] and len(set(seen[1::2])) == 1


# ---- calls that scikit-learn answers itself


def test_small_calls_and_what_is_asked_little_stay_with_scikit_learn(answered):
    X, y = rows(n=200)
    svc = fit(SVC(C=0.1), X, y)
    vectors = len(svc.support_)
    few = -(-patching.LEAST_VALUES // vectors)
    with patched():
        for _ in range(50):
            svc.predict(X[: few - 1])
        assert not patching.engines
        for _ in range(few, int(np.ceil(25 + 10_000 / vectors)), few):
            svc.predict(X[:few])
            assert not answered
        svc.predict(X[:few])
        svc.predict(X[: few - 1])
        svc.decision_function(X[:few])
    assert answered == [few, few]
    answered.clear()
    X, y = rows(n=200, d=400)  # the products of a row count
    svc = fit(SVC(C=0.1), X, y)
    vectors = len(svc.support_)
    assert vectors < patching.LEAST_VALUES <= patching.LEAST_PRODUCTS <= 400 * vectors
    with patched():
        for _ in range(25 + 10_000 // vectors + 1):
            svc.predict(X[:1])
    assert answered == [1]


@pytest.mark.parametrize("name", ["SVC rbf 2 sparse", "NuSVC rbf 3 sparse", "SVR rbf 3", "NuSVR linear 3", "zeros"])
def test_usual_rows_are_checked_soon(name, monkeypatch):
    """Only of models fitted to dense rows."""
    of = trait(name)
    expected = answers(of.estimator, of.X)
    monkeypatch.setattr(_base.BaseLibSVM, "_validate_for_predict", None)  # calls of scikit-learn's own fail
    with patched():
        if scipy.sparse.issparse(of.X):
            with pytest.raises(TypeError, match="not callable"):
                of.estimator.predict(of.X)
        else:
            require_same(answers(of.estimator, of.X), expected)
            for kind in (np.float32, np.int64, np.int32):
                asked = np.asfortranarray(of.X).astype(kind)
                require_same(answers(of.estimator, asked), answers(of.estimator, asked.astype(float)))


def test_the_names_of_columns_are_checked():
    with patched(), pytest.warns(UserWarning, match="feature names"):
        trait("frame").estimator.predict(rows()[0])


def test_models_and_rows_that_it_does_not_know(calls):
    X, y = rows()
    sparse = fit(SVC(), scipy.sparse.csr_matrix(X), y)
    doubled = scipy.sparse.csr_matrix((np.ones(4), [0, 0, 1, 2], [0, 3, 4]), shape=(2, 5))
    cases = [(fit(SVC(kernel=lambda a, b: a @ b.T), X, y), X), (fit(SVC(kernel="precomputed"), X @ X.T, y), X @ X.T)]
    cases += [(sparse, doubled), (copy.copy(sparse), scipy.sparse.csr_matrix(X))]
    cases[-1][0].support_vectors_ = scipy.sparse.vstack([doubled, sparse.support_vectors_[2:]], format="csr")
    for estimator, asked in cases:
        expected = answers(estimator, asked)
        with patched():
            require_same(answers(estimator, asked), expected)
    assert not calls


def test_rows_that_the_engine_refuses(calls):
    """Values that are not finite, when scikit-learn does not check, or too large to square."""
    X, y = rows()
    svc = fit(SVC(), X, y)
    X[2:5, 1] = np.nan, np.inf, 1e200
    for at in (2, 3, 4):
        with sklearn.config_context(assume_finite=True), np.errstate(all="ignore"):
            expected = svc.predict(X[at:])
            with patched():
                assert (svc.predict(X[at:]) == expected).all()
    assert calls


def test_arrays_that_scikit_learn_refuses(calls):
    X, y = rows()
    svc = fit(SVC(), X, y)
    for name, value in (
        ("support_vectors_", svc.support_vectors_.astype(np.float32)),
        ("support_vectors_", svc.support_vectors_[:-1]),
        ("_dual_coef_", svc._dual_coef_.tolist()),
        ("_n_support", svc._n_support.astype(np.int64)[::-1]),
    ):
        changed = copy.copy(svc)
        setattr(changed, name, value)
        with pytest.raises((ValueError, TypeError)) as own:
            changed.predict(X)
        with patched(), pytest.raises(own.type, match=re.escape(str(own.value))):
            changed.predict(X)


def test_isotonic_calibration_turns_the_engine_off_for_the_call_only(calls):
    X, y = rows(classes=2)
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


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_on_threads_of_joblib(calls, method, ensemble):
    """They may fit the SVMs, and answer for a bag of some."""
    X, y = rows(n=150)
    for svm in (SVC(), BaggingClassifier(SVC(), 2, random_state=0, n_jobs=2)):
        with parallel_config("threading", n_jobs=2):
            own = fit(CalibratedClassifierCV(svm, method=method, ensemble=ensemble, cv=2, n_jobs=2), X, y)
            expected = answers(own, X)
            calls.clear()
            with patched():
                require_same(answers(fit(clone(own), X, y), X), expected, 0 if method == "isotonic" else 1e-9)
        assert bool(calls) == (method == "sigmoid")


# ---- what is said


def test_a_line_per_call(calls, caplog, monkeypatch, capsys):
    X, y = rows()
    svc, own = fit(SVC(), X, y), fit(SVC(kernel=lambda a, b: a @ b.T), X, y)
    monkeypatch.setattr(patching, "LEAST_VALUES", 100)
    monkeypatch.setattr(patching, "LEAST_PRODUCTS", 500)
    monkeypatch.setattr(patching, "ROWS_BEFORE", 100)
    patch(verbose=True)
    try:
        for each, asked in ((svc, X), (svc, X), (svc, X[:1]), (own, X)):
            each.predict(asked)
        patch()
        svc.predict(X)
    finally:
        unpatch()
    lines = [record.getMessage() for record in caplog.records if record.name == "fastsvm_cli.patch"]
    said = [line.split(": ", 1) for line in lines]
    assert [call for call, _ in said] == [f"SVC.predict, {count} rows" for count in (90, 90, 1, 90)]
    for (_, how), words in zip(
        said, ("the first rows", "fastsvm", "fewer than 100", "a callable or precomputed kernel")
    ):
        assert words in how and how.startswith("scikit-learn's own code: ") == (words != "fastsvm")


SCRIPT = """
import sys
import fastsvm_cli, fastsvm_cli.patch
from sklearn.datasets import load_iris
from sklearn.svm import SVC
assert __name__ == "__main__" and fastsvm_cli.estimators.patching.switched_on and callable(fastsvm_cli.patch)
X, y = load_iris(return_X_y=True)
print(sys.argv[1:], sys.path[0], SVC().fit(X, y).predict(X[:1]))
"""


@pytest.mark.full
def test_a_script_runs_patched(tmp_path):
    (tmp_path / "work.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "fastsvm_cli.patch", "-v", str(tmp_path / "work.py"), "a", "-b"]
    done = outcome(command, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == f"['a', '-b'] {tmp_path} [0]\n", done.stderr
    assert "SVC.predict, 1 rows: scikit-learn's own code: a call of" in done.stderr


# ---- on and off


def functions():
    owners = {"predict": _base.BaseLibSVM, "decision_function": _base.BaseLibSVM, "predict_proba": _base.BaseSVC}
    return [vars(owner)[f"_{form}_{name}"] for form in ("dense", "sparse") for name, owner in owners.items()]


def test_on_and_off_and_twice(calls):
    own = functions()
    unpatch()
    assert functions() == own
    patch()
    on = functions()
    assert not set(on) & set(own)
    trait("zeros").estimator.predict(trait("zeros").X)
    assert patching.engines
    patch(n_threads=1)
    assert functions() == on and patching.engine_threads == 1
    for _ in range(2):
        unpatch()
        assert all(each is before for each, before in zip(functions(), own)) and not patching.engines


def test_blocks_within_each_other_and_within_a_patch():
    own, seen = functions(), []
    with patched():
        with patched():
            seen.append(functions() == own)
        seen.append(functions() == own)
        patch()
    seen.append(functions() == own)
    with patched():
        unpatch()
        seen.append(functions() == own)
    assert functions() == own and not any(seen)
    with pytest.raises(ZeroDivisionError), patched():
        raise ZeroDivisionError
    assert functions() == own


def test_a_scikit_learn_that_is_not_known(monkeypatch):
    own = functions()
    monkeypatch.delattr(_base.BaseSVC, "_sparse_predict_proba")
    with pytest.raises(FastsvmError, match="without _sparse_predict_proba found, expected"):
        patch()
    assert not patching.switched_on
    monkeypatch.undo()
    assert functions() == own
