"""Exceptions for invalid rows: scikit-learn's types, and its words about the rows; patched, all its words."""

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.svm import SVC, OneClassSVM

import fastsvm_cli
from fastsvm_cli.sklearn import patched
from support.fitting import fit, rows


def _with(value):
    X = np.ones((3, 5))
    X[1, 1] = value
    return X


WRONG = {
    "one dimension": np.ones(5),
    "a list of numbers": [1.0, 2.0],
    "no dimension": np.float64(3),
    "three dimensions": np.ones((2, 2, 2)),
    "too few features": np.ones((3, 1)),
    "too many features": np.ones((3, 6)),
    "too many sparse features": scipy.sparse.csr_matrix(np.ones((3, 6))),
    "no rows": np.ones((0, 5)),
    "no sparse rows": scipy.sparse.csr_matrix((0, 5)),
    "no columns": np.ones((3, 0)),
    "nan": _with(np.nan),
    "nan in single precision": _with(np.nan).astype("f4"),
    "nan in half precision": _with(np.nan).astype("f2"),
    "infinity": _with(np.inf),
    "minus infinity": _with(-np.inf),
    "nan and infinity": np.array([[np.inf, 1, 1, 1, 1], [1, np.nan, 1, 1, 1]]),
    "sparse nan": scipy.sparse.csr_matrix(_with(np.nan)),
    "sparse infinity": scipy.sparse.csr_matrix(_with(np.inf)),
    "nan among objects": _with(np.nan).astype(object),
    "complex numbers": np.ones((3, 5), dtype=complex),
    "sparse complex numbers": scipy.sparse.csr_matrix(np.ones((3, 5), dtype=complex)),
    "words": np.array([list("abcde")]),
    "words in a list": [["a", "b"]],
    "a ragged list": [[1.0, 2.0], [1.0]],
    "numpy's matrix": np.matrix(np.ones((1, 5))),
}


@pytest.fixture(scope="module")
def svc():
    return fit(SVC(), *rows())


def _refused(ask, *given):
    with pytest.raises((ValueError, TypeError, AttributeError)) as found:
        ask(*given)
    return found.type, str(found.value)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize("what", WRONG)
def test_the_same_exception_in_the_same_words(svc, what, method):
    kind, words = _refused(getattr(svc, method), WRONG[what])
    with patched():
        assert _refused(getattr(svc, method), WRONG[what]) == (kind, words)
    if "sparse" in what:  # of a model fitted to sparse rows
        X, y = rows()
        kind, words = _refused(getattr(fit(SVC(), scipy.sparse.csr_matrix(X), y), method), WRONG[what])
    found, printed = _refused(getattr(fastsvm_cli.compile(svc), method), WRONG[what])
    # Advice, and the end of the message about too many features, differ; dimensions depend on the version.
    first = printed.split("\n")[0].split(" (the model file")[0].split(", while dim")[0]
    assert found is kind and first.replace("FastSVM", "SVC").rstrip(".:") in words, (printed, words)


FRAME = pandas.DataFrame(rows()[0], columns=list("abcde"))


@pytest.mark.parametrize("columns", [list("abced"), list("abcdf"), list("abcd"), ["a", "b", "c", "d", "z"]])
def test_names_of_columns(columns):
    svc = fit(SVC(), FRAME, rows()[1])
    fast, wrong = fastsvm_cli.compile(svc), FRAME.iloc[:, : len(columns)].set_axis(columns, axis=1)
    expected = _refused(svc.predict, wrong)
    assert _refused(fast.predict, wrong) == expected
    with patched():
        assert _refused(svc.predict, wrong) == expected


def test_estimators_that_cannot_answer_are_scikit_learns_to_refuse(svc):
    X, y = rows()
    silent = fit(SVC(), X, y)
    silent.probability = True
    ties = fit(SVC(break_ties=True, decision_function_shape="ovo"), X, y)
    cases = [(SVC().predict, X), (OneClassSVM().decision_function, X), (ties.predict, X)]
    cases += [(lambda X: svc.predict_proba(X), X), (lambda X: silent.predict_proba(X), X)]
    expected = [_refused(*case) for case in cases]
    with patched():
        svc.predict(X)
        assert [_refused(*case) for case in cases] == expected
