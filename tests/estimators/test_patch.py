"""fastsvm_cli.sklearn.patch: scikit-learn's estimators give the same answers, even after changes."""

import copy
from operator import attrgetter

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, _base

from fastsvm_cli.sklearn import patched
from support.fitting import KERNELS, answers, fit, require_same, rows


@pytest.mark.full(few=1)
@pytest.mark.parametrize("seed", range(12))
def test_labels_that_rounding_decides_are_scikit_learns(calls, instruction_set, seed):
    """Thresholds at or near scikit-learn's own values."""
    rng, classes = np.random.default_rng(seed), (2, 3, 20)[seed % 3]
    X, y = rng.normal(size=(3 * classes + 30, 7)), np.arange(3 * classes + 30) % classes
    svc = fit(SVC(kernel=KERNELS[seed % 4], gamma=0.1, coef0=0.3, decision_function_shape="ovo"), X, y)
    svc._intercept_ = np.zeros(len(svc._intercept_))
    values = svc._dense_decision_function(X)
    svc._intercept_ = -values[rng.integers(len(X), size=values.shape[1]), np.arange(values.shape[1])]
    X = np.concatenate([X, *(np.nextafter(X, far) for far in (-np.inf, np.inf))])
    labels, signs = svc.predict(X), np.sign(svc.decision_function(X))
    with patched():
        for count in (len(X), 7):
            assert (svc.predict(X[:count]) == labels[:count]).all()
            assert (np.sign(svc.decision_function(X[:count])) == signs[:count]).all()
    assert calls


def test_rows_that_rounding_decides_go_to_scikit_learn(calls, monkeypatch):
    X, y = rows(classes=2)
    svc = fit(SVC(), X, y)
    svc._intercept_ = svc._intercept_ - svc._dense_decision_function(X[:5])[3]
    given, own = [], _base.BaseLibSVM._dense_predict
    monkeypatch.setattr(_base.BaseLibSVM, "_dense_predict", lambda self, X: given.append(X) or own(self, X))
    with patched():
        found = svc.predict(X)
    assert (given[0] == X[3]).all() and given[0].shape == (1, X.shape[1])
    assert (found == svc.predict(X)).all()


def test_a_model_of_ties_alone_goes_back_to_scikit_learn(calls):
    """Far from every vector all kernel values are 0."""
    X, y = rows()
    svc = fit(SVC(gamma=1e6), X, y)
    svc._intercept_ = np.zeros(3)
    with patched():
        for _ in range(5):
            svc.predict(X + 0.5)
    assert sum(calls) == 2 * len(X)


@pytest.mark.parametrize(
    "model",
    [
        GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1, 10]}, cv=3),
        GridSearchCV(SVR(), {"C": [0.1, 1]}, cv=2),
        CalibratedClassifierCV(SVC(), cv=3),
        CalibratedClassifierCV(SVC(), ensemble=False, method="isotonic", cv=3),
    ],
    ids=["search", "search of a regression", "calibrated", "isotonic"],
)
def test_what_fits_with_answers_is_fitted_as_before(calls, model):
    X, y = rows(n=300)
    own = fit(clone(model), X, y)
    expected = answers(own, X)
    calls.clear()
    with patched():
        trained = fit(clone(model), X, y)
        require_same(answers(trained, X), expected, 0 if not calls else 1e-9)
    assert bool(calls) == (getattr(model, "method", None) != "isotonic")
    if isinstance(model, GridSearchCV):
        np.testing.assert_allclose(trained.cv_results_["mean_test_score"], own.cv_results_["mean_test_score"])


def test_values_of_classes_are_the_same_bits():
    """From the same values of pairs: in blocks, with ties, and of no rows."""
    pairs = np.random.default_rng(0).choice([0.0, -0.0, 1.5, -1.0, 0.1, 1e300], (3000, 45))
    own = _base._ovr_decision_function
    for values in (pairs, pairs[:1], pairs[:0]):
        expected = own(values < 0, -values, 10)
        with patched():
            assert _base._ovr_decision_function is not own
            found = _base._ovr_decision_function(values < 0, -values, 10)
        assert np.array_equal(found, expected) and found.shape == expected.shape


def test_a_class_made_from_scikit_learns(calls):
    class Own(SVC):
        def predict(self, X):
            return super().predict(X)[::-1]

        def _dense_predict(self, X):
            return super()._dense_predict(X)

    X, y = rows()
    own = fit(Own(), X, y)
    expected = own.predict(X)
    with patched():
        assert (own.predict(X) == expected).all() and calls


# ---- changes are noticed


def changes():
    def halve(name):
        return lambda svc: setattr(svc, name, getattr(svc, name) * 0.5)

    def write(name, at=(slice(None),)):
        return lambda svc: attrgetter(name)(svc).__setitem__(at, attrgetter(name)(svc)[at] * 0.5)

    for name in ("support_vectors_", "_dual_coef_", "_intercept_", "_probA", "_probB"):
        yield f"{name} assigned", halve(name)
        yield f"{name} written to", write(name)
    yield "one number of support_vectors_", write("support_vectors_", (700, 3))
    yield "one coefficient", write("_dual_coef_", (0, 5))
    yield "dual_coef_, which is the same array", write("dual_coef_")
    yield "one number of sparse vectors", write("support_vectors_.data", 17)
    yield "one sparse coefficient", write("_dual_coef_.data", 3)
    yield "_gamma", halve("_gamma")
    for name, value in (("kernel", "linear"), ("kernel", "poly"), ("kernel", "sigmoid")):
        yield f"{name} {value}", lambda svc, name=name, value=value: setattr(svc, name, value)
    for name, value in (("degree", 2), ("coef0", 1.0)):
        yield name, lambda svc, name=name, value=value: (setattr(svc, "kernel", "poly"), setattr(svc, name, value))


CHANGES = dict(changes())


@pytest.fixture(scope="module")
def large():
    X, y = rows(n=1200)
    made = {"dense": X, "sparse": scipy.sparse.csr_matrix(X[:300])}
    svc = SVC(probability=True, random_state=0, C=0.01)
    return {form: (fit(clone(svc), each, y[: each.shape[0]]), X[:40]) for form, each in made.items()}


ASKED = [(what, "dense") for what in CHANGES if "sparse" not in what]
ASKED += [(what, "sparse") for what in CHANGES if what.startswith(("_gamma", "kernel")) or "assigned" in what]
ASKED += [(what, "sparse") for what in CHANGES if "sparse" in what]


@pytest.mark.parametrize("what, form", ASKED)
def test_a_change_is_noticed(calls, large, what, form):
    svc, X = copy.deepcopy(large[form])
    change = CHANGES[what]
    with patched():
        before = answers(svc, X)
        change(svc)
        after = answers(svc, X)
    assert any((before[name] != after[name]).any() for name in before)
    require_same(after, answers(svc, X))
    assert len(calls) >= 8


def test_a_new_fit_is_noticed(calls):
    X, y = rows()
    svc = fit(SVC(), X, y)
    sparse = scipy.sparse.csr_matrix(X)
    for estimator, forms in (
        (svc, [X, X[:, :4], sparse, X[::2]]),
        (make_pipeline(StandardScaler(), SVC()), [X, X[::2]]),
    ):
        with patched():
            for to in forms:
                labels = y if to.shape[0] == len(y) else y[::2]
                own = fit(clone(estimator), to, labels)
                assert (fit(estimator, to, labels).predict(to) == own.predict(to)).all()
