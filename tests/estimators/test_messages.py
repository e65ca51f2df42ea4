"""Exceptions for invalid rows: scikit-learn's types, and its words about the rows; patched, all its words."""

import numpy
import pandas
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import SVC, OneClassSVM

import fastsvm_cli
from fastsvm_cli.sklearn import patched
from support.fitting import fit, rows
from support.paths import TESTS


def holding(value):
    X = numpy.ones((3, 5))
    X[1, 1] = value
    return X


NAMES = {"numpy": numpy, "csr_matrix": csr_matrix, "holding": holding, "nan": numpy.nan, "inf": numpy.inf}
WRONG = (TESTS / "estimators" / "bad_arrays.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def svc():
    return fit(SVC(), *rows())


def _refused(ask, *given):
    with pytest.raises((ValueError, TypeError, AttributeError)) as found:
        ask(*given)
    return found.type, str(found.value)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize("expression", [line for line in WRONG if not line.startswith("#")])
def test_the_same_exception_in_the_same_words(svc, expression, method):
    wrong = eval(expression, dict(NAMES))
    kind, words = _refused(getattr(svc, method), wrong)
    with patched():
        assert _refused(getattr(svc, method), wrong) == (kind, words)
    if "csr" in expression:  # of a model fitted to sparse rows
        X, y = rows()
        kind, words = _refused(getattr(fit(SVC(), csr_matrix(X), y), method), wrong)
    found, printed = _refused(getattr(fastsvm_cli.compile(svc), method), wrong)
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
