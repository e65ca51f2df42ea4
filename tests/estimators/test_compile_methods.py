"""fastsvm_cli.compile: the commands, from Python, on fitted estimators."""

import os
import re

import numpy as np
import pytest
from libsvm.svmutil import svm_predict, svm_save_model, svm_train
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fastsvm_cli
from support import forked
from support.fitting import fit, fitted, rows
from support.messages import cases


def number(word):
    """As Python's options."""
    return True if not word else int(word) if word.isdigit() else np.float64(word) if word[0].isdigit() else word


@pytest.mark.full(few=1)
@pytest.mark.parametrize("line", cases("files of compile"))
def test_the_same_file_as_of_the_command(svc, line, tmp_path):
    command, *words = line.split()
    options = dict(re.findall(r"--([\w-]+)(?: ([^-]\S*))?", line))
    options = {name.replace("-", "_"): number(value) for name, value in options.items()}
    fast = fastsvm_cli.compile(svc, options.pop("method", command), **options)
    fast.save(tmp_path / "ours")
    fastsvm_cli.to_libsvm(svc, tmp_path / "model")
    forked.fastsvm([command, "-q", *words, tmp_path / "model", tmp_path / "theirs"], check=True)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    # its own options make the same file again
    fastsvm_cli.compile(svc, **fast.options).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.full
def test_rows_to_draw_and_measure_on(svc):
    X, y = rows()
    for data in ((X, y), X, X.tolist(), (X[:, :].astype(np.float32), y)):
        assert fastsvm_cli.compile(svc, "border", samples=30, data=data).agreement(X).share < 0.2
    assert fastsvm_cli.compile(svc, "reduce", target=0.02, data=X).agreement(X).share <= 0.02
    X = X * [1, 10, 100, 1, 1] + [0, 5, 1000, 0, 0]  # to be scaled
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    assert fastsvm_cli.compile(pipeline, "border", samples=200, data=(X, y)).agreement(X, pipeline).share < 0.2


@pytest.mark.full
def test_probabilities_of_a_reduced_set_are_fitted_to_labelled_rows_alone():
    X, y = rows(n=200)
    names = np.array(["a", "b", "c"])[y]
    svc = fit(SVC(probability=True, random_state=0), X, names)
    plain = fastsvm_cli.compile(svc, "reduce", ratio=0.1)
    unlabelled = fastsvm_cli.compile(svc, "reduce", ratio=0.1, data=X)
    labelled = fastsvm_cli.compile(svc, "reduce", ratio=0.1, data=(X, names))
    assert (plain.predict_proba(X) == unlabelled.predict_proba(X)).all()
    assert (plain.predict_proba(X) != labelled.predict_proba(X)).any()


def test_every_label_is_the_exact_models_where_it_falls_back(svc):
    X, _ = rows(seed=1)
    fast = fastsvm_cli.compile(svc, "approx", degree=1, certify=True)
    assert 0 < fast.proven(X).sum() < len(X)
    with_exact = fastsvm_cli.compile(svc, "approx", degree=1, certify=True, exact=True)
    assert (with_exact.predict(X) == svc.predict(X)).all()
    svr = fitted("SVR", *rows(), gamma=0.05)
    near = fastsvm_cli.compile(svr, "approx", certify=True, exact=1e-3)
    assert np.max(abs(near.predict(X) - svr.predict(X))) <= 1e-3


@pytest.mark.full
@pytest.mark.parametrize("how, method", [("calibrated", "approx"), ("break_ties", "reduce")])
def test_nothing_is_proven_of_labels_that_follow_values(how, method):
    """A radius proves signs, and so votes, but not which of two values is greater."""
    X, y = rows()
    svc = SVC(gamma=0.05, break_ties=how == "break_ties")
    estimator = CalibratedClassifierCV(svc, ensemble=False) if how == "calibrated" else svc
    fit(estimator, X, y)
    options = {"degree": 3, "certify": True} if method == "approx" else {"ratio": 0.3}
    fast = fastsvm_cli.compile(estimator, method, **options)
    assert not hasattr(fast, "proven") and fast.agreement(X, estimator).proven is None
    chosen = fastsvm_cli.compile(estimator, "auto", X=X, budget=0.0, time_limit=1)
    assert (chosen.predict(X) == estimator.predict(X)).all()
    assert not [each for each in chosen.attempts_ if "exact=True" in each["name"] and each["within"]]


def test_the_environment_of_a_python_program_is_its_own(svc):
    before = dict(os.environ)
    fastsvm_cli.compile(svc, "approx")
    assert dict(os.environ) == before


def test_models_of_libsvm_itself(tmp_path):
    X, y = rows()
    names = np.array([7, -2, 3])[y]  # LIBSVM keeps this order
    model = svm_train(names.tolist(), X.tolist(), "-q -g 0.1")
    expected = svm_predict([], X.tolist(), model, "-q")[0]
    svm_save_model(str(tmp_path / "model"), model)
    for form in (model, str(tmp_path / "model"), tmp_path / "model"):
        fast = fastsvm_cli.compile(form, "exact")
        assert fast.predict(X).tolist() == expected and fast.classes_.tolist() == [-2, 3, 7]
        assert fastsvm_cli.compile(form, "approx", degree=4).agreement(X).share < 0.1
    # a model compiled from a file accepts it as its exact model
    fastsvm_cli.compile(str(tmp_path / "model"), "approx", certify=True).save(tmp_path / "fast")
    loaded = fastsvm_cli.load(tmp_path / "fast", exact=tmp_path / "model")
    assert loaded.predict(X).tolist() == expected


def test_progress_is_told(svc):
    reported = []
    fastsvm_cli.compile(svc, "reduce", ratio=0.2, on_progress=lambda share, words="": reported.append(share))
    assert reported and all(0 <= share <= 1 for share in reported)
