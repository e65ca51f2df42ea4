"""Errors of Python's interface: the table refusals.txt."""

import os
import re

import numpy
import pandas
import pytest
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR

import fastsvm_cli
from fastsvm_cli.errors import FastsvmError, ModelFormatError
from support.fitting import rows
from support.paths import GOLDEN, TESTS
from zoo.traits import specimen

OURS = (FastsvmError, ModelFormatError)
ERRORS = {
    each.__name__: each
    for each in (*OURS, NotFittedError, FileNotFoundError, ImportError, ValueError, TypeError, AttributeError)
}
LINES = (TESTS / "estimators" / "refusals.txt").read_text().splitlines()
#: The names that the table imports.
IMPORTED: dict = {}
exec("\n".join(line for line in LINES if line.startswith(("import ", "from "))), IMPORTED)
USES = {
    "[estimators that compile and to_libsvm refuse]": ["compile({})", "to_libsvm({})"],
    "[rows of three columns]": ["three.predict({})", "three_scaled.decision_function({})"],
}
THREE = numpy.random.default_rng(0).random((600, 3))  # several blocks


def broken(array, at, value, dtype=numpy.int32, form="csr"):
    """A sparse matrix with `value` at some places of an array, or without these places."""
    matrix = getattr(scipy.sparse, f"{form}_matrix")(THREE)
    changed = getattr(matrix, array)
    changed = changed[: at.start] if value is None else changed.astype(dtype)
    if value is not None:
        changed[at] = value
    if dtype is numpy.int64:
        matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    setattr(matrix, array, changed)
    return matrix


@pytest.fixture(scope="module")
def names(folder):
    """The names that an expression of the table may use."""
    X, y = rows()
    svc = SVC(gamma=0.05, C=3).fit(X, y)
    (folder / "feature_0.model").write_bytes(specimen("feature_0").model)
    return {
        **IMPORTED,
        "X": X,
        "y": y,
        "svc": svc,
        "svr": SVR().fit(X, y),
        "scaled": make_pipeline(StandardScaler(), SVC()).fit(X, y),
        "steps": make_pipeline(Normalizer(), SVC()).fit(X, y),
        "rest": OneVsRestClassifier(SVC()).fit(X, y),
        "calibrated": CalibratedClassifierCV(SVC(), ensemble=False).fit(X, y),
        "named": SVC().fit(pandas.DataFrame(X, columns=list("abcde")), y),
        "certified": fastsvm_cli.compile(svc, "approx", certify=True, exact=True),
        **{name: str(folder / f"{name}.model") for name in ("rings", "colors", "feature_0")},
        "rows": str(folder / "rings.test"),
        "golden": str(GOLDEN),
        "broken": broken,
        "dates": pandas.to_datetime(["2020-01-01", "2021-01-01"]),
        "three": fastsvm_cli.compile(SVC().fit(THREE, THREE[:, 0] > 0.5)),
        "three_scaled": fastsvm_cli.compile(make_pipeline(MaxAbsScaler(), SVC()).fit(THREE, THREE[:, 0] > 0.5)),
    }


def table():
    section = ""
    for line in LINES:
        if line.startswith("["):
            section = line
        elif " => " in line and line[0] != "#":
            expression, error, words = re.fullmatch(r"(.*) => (\w+): (.*)", line).groups()
            yield from ((use.format(expression), error, words) for use in USES.get(section, ["{}"]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression, error, words", [pytest.param(*each, id=each[0]) for each in table()])
def test_what_is_refused_in_one_sentence_and_leaves_nothing(names, tmp_path, monkeypatch, expression, error, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ERRORS[error], match=".*".join(map(re.escape, words.split("...")))) as found:
        eval(expression, dict(names))
    assert not os.listdir()
    if expression.startswith(("compile", "to_libsvm", "Compiled")):
        assert "\n" not in str(found.value) and "--" not in str(found.value)  # the parameters of Python
