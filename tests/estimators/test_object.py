"""The object of fastsvm_cli.load: methods, file, copies, use in scikit-learn."""

import copy
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.multiclass import _ovr_decision_function

import fastsvm_cli
from support.arrays import sparse_rows
from support.fitting import trait
from support.messages import cases
from support.paths import GOLDEN


@pytest.fixture(scope="module")
def colors(folder):
    fast = fastsvm_cli.load(folder / "colors.model")
    return fast, *sparse_rows(folder / "colors.test", fast.n_features_in_)


METHODS = ("predict", "decision_function", "predict_proba", "radius", "proven", "score_samples", "score")


@pytest.mark.parametrize("name, has", cases("methods of models"))
def test_a_model_has_the_methods_that_it_can_do(name, has):
    fast = fastsvm_cli.load(GOLDEN / name)
    found = {method for method in METHODS if hasattr(fast, method)}
    header = fast.model.header
    requested = set(has.split()) - ({"predict_proba"} if not header.has_probability else set())
    assert found == requested | ({"radius", "proven"} if fast.model.certified else set())
    for method in set(METHODS) - found:
        with pytest.raises(AttributeError, match=r"\w+ \w+ \w+"):
            getattr(fast, method)
    listed = dir(fast)
    assert {*found, "save", "n_features_in_", "model"} <= set(listed) and listed == sorted(listed)
    assert ("classes_" in listed) == header.classification and not [name for name in listed if name[0] == "_"]
    assert not (set(METHODS) - found) & set(listed)


def test_classes_and_labels(colors):
    fast, X, y = colors
    assert fast.classes_.tolist() == [1, 2, 3, 7] and fast.classes_.dtype == np.int64
    found = fast.predict(X)
    assert found.dtype == np.int64 and fast.score(X, y) == np.mean(found == y) > 0.5
    weights = np.arange(len(y))
    assert fast.score(X, y, weights) == pytest.approx(np.sum(weights * (found == y)) / weights.sum())


@pytest.mark.parametrize(
    "names", [["d", "a", "c", "b"], [2.5, 1.5, 3.5, 0.5], [True, 0, 3, 2], [b"z", b"y", b"x", b"w"]]
)
def test_classes_of_any_type(colors, names):
    """Names are in the order of the model's labels; classes_ are sorted, and every number follows its class."""
    fast, X, _ = colors
    named = fastsvm_cli.FastSVM(fast.model, classes=names)
    by_label = dict(zip(fast.model.header.label, np.asarray(names)))
    assert named.classes_.tolist() == sorted(names)
    assert np.array_equal(named.predict(X), [by_label[label] for label in fast.predict(X)])
    columns = [named.classes_.tolist().index(by_label[label]) for label in fast.classes_]
    assert np.array_equal(named.predict_proba(X)[:, columns], fast.predict_proba(X))
    assert named.decision_function(X)[:, columns] == pytest.approx(fast.decision_function(X), abs=1e-12)


def test_one_against_rest_is_scikit_learns(colors):
    fast, X, _ = colors
    pairwise = copy.copy(fast).set_params(decision_function_shape="ovo").decision_function(X)
    assert pairwise.shape == (X.shape[0], 6)
    assert np.array_equal(fast.decision_function(X), _ovr_decision_function(pairwise < 0, -pairwise, 4))
    # Values of zero are votes too, unlike in LIBSVM.
    rng = np.random.default_rng(1)
    odd = rng.choice([0.0, -0.0, 1.0, -1.0, 0.1, 1e300], (500, 6))
    assert np.array_equal(fast._classes.one_against_rest(odd), _ovr_decision_function(odd < 0, -odd, 4))


def test_regression_scores_as_scikit_learn_does():
    X, y, fast = trait("SVR rbf 3").X, trait("SVR rbf 3").y, fastsvm_cli.compile(trait("SVR rbf 3").estimator)
    weights, same = np.linspace(0, 1, len(y)), np.repeat(X[:1], 3, axis=0)
    assert fast.score(X, y, weights) == pytest.approx(r2_score(y, fast.predict(X), sample_weight=weights), abs=1e-12)
    assert fast.score(X, y[:, None]) == fast.score(X, y)
    for asked, truth in ((X, y), (X[:3], [7.0] * 3), (same, fast.predict(same))):
        assert fast.score(asked, truth) == pytest.approx(r2_score(truth, fast.predict(asked)), abs=1e-12)
    assert np.isnan(fast.score(X[:1], y[:1]))
    for wrong in (y[:-1], y[None], np.stack([y, y], axis=1)):
        with pytest.raises(ValueError, match="an answer for every row of X"):
            fast.score(X, wrong)


def test_the_exact_model_may_be_a_path_or_an_object(folder, colors):
    exact, X, _ = colors
    for behind in (folder / "colors.model", exact, str(folder / "colors.model")):
        fast = fastsvm_cli.load(folder / "colors.model.approx", exact=behind)
        assert np.array_equal(fast.predict(X), exact.predict(X)) and not fast.proven(X).all()
        np.testing.assert_allclose(fast.predict_proba(X), exact.predict_proba(X), rtol=1e-10, atol=0)


def test_scikit_learn_takes_it_for_what_it_is(folder, colors):
    fast, X, y = colors
    assert is_classifier(fast) and not is_regressor(fast)
    assert is_regressor(fastsvm_cli.load(GOLDEN / "epsilon_svr.model"))
    assert is_outlier_detector(fastsvm_cli.load(GOLDEN / "one_class.model"))
    scores = cross_val_score(fast, X, y, cv=4)
    assert np.mean(scores) == pytest.approx(fast.score(X, y), abs=1e-3)
    pipeline = make_pipeline(FunctionTransformer(), fast).fit(X, y)
    assert np.array_equal(pipeline.predict(X), fast.predict(X))
    assert "FastSVM" in fast._repr_html_() and "FastSVM" in pipeline._repr_html_()
    assert fast.fit(X, y) is fast


def test_parameters(folder, colors):
    fast, X, _ = colors
    assert fast.get_params()["decision_function_shape"] == "ovr"
    other = copy.copy(fast).set_params(n_threads=1, decision_function_shape="ovo")
    assert other.decision_function(X).shape[1] == 6 and fast.decision_function(X).shape[1] == 4
    swapped = copy.copy(fast).set_params(model=fastsvm_cli.load_model(str(folder / "rings.model")))
    assert swapped.classes_.tolist() == [-1, 1] and swapped.own_fingerprint != fast.own_fingerprint


def test_answers_add_no_attribute():
    """A copy runs over the attributes, perhaps while another thread asks for the first time."""
    of = trait("SVC rbf 3")
    fast = fastsvm_cli.compile(of.estimator, "approx", certify=True, exact=True)
    before = set(vars(fast))
    fast.predict(of.rows)
    fast.decision_function(of.rows)
    assert fast._own_code is not None
    assert set(vars(fast)) == before


def test_threads_share_an_object(tmp_path):
    """Also on a Python without a GIL, and from its first use on. Some predict, while others read and write files, and
    compile."""
    of, start = trait("SVC rbf 3"), threading.Barrier(8)
    first, fast = (fastsvm_cli.compile(of.estimator, "approx", certify=True, exact=True) for _ in range(2))
    fastsvm_cli.to_libsvm(of.estimator, tmp_path / "model")
    labels, values = first.predict(of.rows), first.decision_function(of.rows)
    forms = of.rows, scipy.sparse.csr_matrix(of.rows)

    def ask(number):
        if number < 8:
            start.wait()
        again = fastsvm_cli.compile(of.estimator) if number % 10 == 0 else fast
        if number % 10 == 1:
            fastsvm_cli.to_libsvm(of.estimator, tmp_path / f"{number}")
            assert (tmp_path / f"{number}").read_bytes() == (tmp_path / "model").read_bytes()
        few = slice(number % 7, None)
        rows = forms[number % 3 > 0][few]
        np.testing.assert_array_equal(again.predict(rows), labels[few])
        np.testing.assert_array_equal(fast.decision_function(rows), values[few])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads change in the middle of a call
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(600)))
    finally:
        sys.setswitchinterval(before)
