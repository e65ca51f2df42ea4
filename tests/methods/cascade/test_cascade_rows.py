"""Rows that a cascade is calibrated on: those of each class, and the model's training rows. And its costs."""

import warnings
from importlib.util import find_spec, module_from_spec

import numpy as np
import pytest

import fastsvm_cli
from fastsvm_cli import FastsvmWarning, _native
from fastsvm_cli.errors import FileError, ModelFormatError
from fastsvm_cli.methods.cascade import stages
from fastsvm_cli.methods.cascade.calibration import calibrate
from fastsvm_cli.models import LABELS, load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.paths import DATA
from support.training import train_on

HOW = {"fingerprint": "f" * 32, "budget": 0.05, "confidence": 0.9, "job": 10**6}


@pytest.fixture(scope="module")
def rings(tmp_path_factory):
    """A model, and rows to calibrate on."""
    path = tmp_path_factory.mktemp("rings") / "rings.model"
    train_on(path, "rings.train", "-g 2 -c 1", 1000)
    rows = _native.Chunk.concatenate(list(read_chunks(str(DATA / "rings.test"))))
    return load_model(str(path)), rows.slice(0, 3000)


def winners(model, rows):
    decisions = model.decisions(LABELS)
    model.decision_values(rows, decisions, LABELS)
    return np.array(decisions.winner)


def test_the_budget_holds_for_the_tested_rows_of_each_class(rings):
    model, rows = rings
    how = {**HOW, "budget": 0.03, "each_class": True}
    found = calibrate(model, rows, "rows", **how)
    exact, its = winners(model, rows), winners(found.model, rows)
    for of_class in range(model.header.nr_class):
        assert (its != exact)[exact == of_class].mean() <= how["budget"]
    assert found.model.budget == how["budget"] and found.shares[-1] < 1


def test_classes_of_too_few_rows_are_named_with_the_number_needed(rings):
    model, rows = rings
    exact = winners(model, rows)
    few = np.sort(np.concatenate([np.flatnonzero(exact != 1), np.flatnonzero(exact == 1)[:30]])).tolist()
    label = model.header.label[1]
    words = rf"few rows of a class to test on found, \d+ of class {label}, expected 45 of each \(--each-class\)"
    with pytest.raises(FileError, match=words):
        calibrate(model, rows.select(few), "rows", each_class=True, **HOW)


@pytest.mark.full
def test_training_rows_are_told_of_and_a_few_copies_are_not(fastsvm, tmp_path):
    train_on(tmp_path / "model", "rings.train", "-g 2 -c 1", 1000)
    train, test = ((DATA / f"rings.{part}").read_text().splitlines(keepends=True)[:1000] for part in ("train", "test"))
    (tmp_path / "training").write_text("".join(train))
    (tmp_path / "copies").write_text("".join(test + train[::20]))
    words = ("--rows", "1000000", "--budget", "5%", "--data")
    done = fastsvm("cascade", "-q", *words, "training", "model", "out")
    assert "these seem to be the model's training rows" in done.err and done.err.count("\n") == 1
    assert fastsvm("cascade", "-q", *words, "copies", "model", "out").err == ""


def test_python_warns_of_training_rows():
    from sklearn.svm import SVC

    X = np.random.default_rng(1).normal(size=(1500, 3))
    svc = SVC(gamma=0.5).fit(X[:700], (X[:700] ** 2).sum(1) > 2)
    how = {"budget": 0.1, "rows": 10**6, "each_class": True}
    with pytest.warns(FastsvmWarning, match="the model's training rows"):
        fastsvm_cli.compile(svc, "cascade", data=X[:700], **how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (fastsvm_cli.compile(svc, "cascade", data=X[700:], **how).predict(X) == svc.predict(X)).mean() > 0.9


def test_a_cascade_is_refused_if_it_measures_as_slow_as_the_exact_model(rings, monkeypatch):
    model, rows = rings
    monkeypatch.setattr(stages, "seconds_of", lambda runs: [1.0] * len(runs))
    with pytest.raises(ModelFormatError, match="no cascade found that is faster than the exact model"):
        calibrate(model, rows, "rows", **HOW)


@pytest.mark.full
def test_the_clocks_unit_does_not_matter(rings, monkeypatch):
    model, rows = rings
    rows, how = rows.slice(0, 1500), {**HOW, "job": 10**12}  # reading is a constant
    expected, counted = calibrate(model, rows, "rows", **how).model.to_text(), stages.seconds_of
    for unit in (0.5, 2):
        monkeypatch.setattr(stages, "seconds_of", lambda runs, unit=unit: [unit * each for each in counted(runs)])
        assert calibrate(model, rows, "rows", **how).model.to_text() == expected


def test_the_clock_returns_the_seconds_of_every_run():
    spec = find_spec(stages.__name__)
    fresh = module_from_spec(spec)  # with its own clock
    spec.loader.exec_module(fresh)
    done = []
    seconds = fresh.seconds_of([(lambda: done.append("a"), 0.0), (lambda: done.append("b"), 0.0)])
    assert (
        len(seconds) == 2 and all(0 < each < float("inf") for each in seconds) and done == ["a", "b"] * (len(done) // 2)
    )
    fresh.thread_time = lambda: 1.0  # a fixed clock: times are divided
    assert fresh.seconds_of([(lambda: None, 0.0)]) == [1e-9]
