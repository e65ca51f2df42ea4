"""Warnings of fastsvm_cli.compile: changed labels, and models slower than the exact one."""

import warnings

import numpy as np
import pandas
import pytest
from sklearn.svm import SVC, SVR

import fastsvm_cli
from fastsvm_cli import FastsvmWarning, comparisons
from fastsvm_cli.sklearn import CompiledSVC, patch, unpatch
from support.fitting import fit, rows
from support.messages import cases


@pytest.fixture
def clock(monkeypatch):
    """Run times by kind of model."""
    seconds = {}
    monkeypatch.setattr(comparisons, "_seconds", lambda model, *_: seconds.get(model.kind, seconds["exact"]))
    seconds.update(exact=1.0, maclaurin=0.1)
    return seconds


@pytest.fixture(scope="module")
def svc():
    X, y = rows()
    return fit(SVC(gamma=0.3, C=3), X, y)


def _output_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


def test_no_label_changes_unless_a_method_is_named(svc):
    X, _ = rows(n=400, seed=5)
    assert (fastsvm_cli.compile(svc, "approx").predict(X) != svc.predict(X)).any()
    assert not _output_of(lambda: fastsvm_cli.compile(svc))
    assert (fastsvm_cli.compile(svc).predict(X) == svc.predict(X)).all()
    assert fastsvm_cli.compile(svc).options == {"method": "exact"}
    assert CompiledSVC().method == "exact"


@pytest.mark.parametrize(("options", "words"), cases("labels that change"))
def test_labels_that_change_are_told_where_it_was_called(svc, clock, options, words):
    (printed,) = _output_of(lambda: fastsvm_cli.compile(svc, **options))
    assert printed.category is FastsvmWarning and printed.filename == __file__
    vectors, made = svc.support_vectors_, []
    _output_of(lambda: made.append(fastsvm_cli.compile(svc, **options)))
    share = np.mean(made[0].predict(vectors) != svc.predict(vectors))
    text = str(printed.message)
    assert f'method="{options["method"]}" changes {100 * share:.3g} % of the labels of {len(vectors)} support' in text
    assert "try " in text and words in text and text.endswith('or method="exact", which changes none')


def test_what_changes_few_labels_or_as_many_as_asked_for_is_not_told(svc, clock):
    for method, options in (
        ("approx", {"degree": 4, "centers": 16}),
        ("order", {}),
        ("approx", {"certify": True, "exact": True}),
        ("reduce", {"target": 0.3}),
    ):
        assert not _output_of(lambda method=method, how=options: fastsvm_cli.compile(svc, method, **how)), options


def test_values_of_a_regression_that_are_off(clock):
    X, _ = rows()
    svr = SVR(gamma=2.0).fit(X, X.sum(axis=1))
    (printed,) = _output_of(lambda: fastsvm_cli.compile(svr, "approx", degree=1))
    assert "of their spread" in str(printed.message)


def test_a_model_that_is_slower_than_the_exact_one(svc, clock, monkeypatch):
    clock.update(exact=1.0, triangle=2.5, geometry=2.5)
    for options in ({"method": "triangle"}, {"method": "approx", "degree": 4, "centers": 16}):
        name = fastsvm_cli.compile(svc, **options).model.kind
        clock[name] = 2.5
        (printed,) = _output_of(lambda: fastsvm_cli.compile(svc, **options))
        assert printed.category is FastsvmWarning and printed.filename == __file__
        assert f'method="{options["method"]}" takes 2.5 times as long as method="exact"' in str(printed.message)
        clock[name] = 0.5
        assert not _output_of(lambda: fastsvm_cli.compile(svc, **options))


@pytest.mark.full
@pytest.mark.parametrize("budget", [1.0, 0.005])
def test_auto_measures_instead(svc, budget):
    """Also where the rows are too few to show that reduce meets the budget."""
    X, _ = rows()
    options = dict(X=X, budget=budget, time_limit=2.0, on_progress=False)
    assert not _output_of(lambda: fastsvm_cli.compile(svc, "auto", **options))


FRAME = pandas.DataFrame(rows()[0], columns=list("abcde"))
NAMES = "X does not have valid feature names, but {} was fitted with feature names"


def _named(X, y):
    return SVC(gamma=0.1, probability=True).fit(X, y)


def test_an_array_without_the_names_of_a_frame_is_warned_of_as_in_scikit_learn():
    X, y = rows()
    own = _named(FRAME, y)
    makers = {
        "SVC": lambda: _patched(own),
        "FastSVM": lambda: fastsvm_cli.compile(own),
        "CompiledSVC": lambda: CompiledSVC(SVC(probability=True)).fit(FRAME, y),
    }
    for name, make in makers.items():
        fast = make()
        for ask in (fast.predict, fast.decision_function, fast.predict_proba):
            (printed,) = _output_of(lambda: ask(X))
            assert issubclass(printed.category, UserWarning) and str(printed.message) == NAMES.format(name)
            assert name == "SVC" or printed.filename == __file__
            assert not _output_of(lambda: ask(FRAME))
    unpatch()


def _patched(own):
    patch()
    own.predict(pandas.concat([FRAME] * 50))
    return own


@pytest.mark.parametrize(
    "options", [{"method": "reduce", "ratio": 0.5, "data": True}, {"method": "auto", "X": True}], ids=str
)
def test_the_names_of_rows_that_compile_takes_are_checked_once(options):
    X, y = rows()
    own = _named(FRAME, y)
    given = {name: X if name in ("data", "X") else value for name, value in options.items()}
    found = [str(each.message) for each in _output_of(lambda: fastsvm_cli.compile(own, **given, on_progress=False))]
    assert found.count(NAMES.format("SVC")) == 1
    given = {name: FRAME if name in ("data", "X") else value for name, value in options.items()}
    found = [str(each.message) for each in _output_of(lambda: fastsvm_cli.compile(own, **given, on_progress=False))]
    assert not [each for each in found if "feature names" in each]
    given = {name: FRAME[list("abdce")] if name in ("data", "X") else value for name, value in options.items()}
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        fastsvm_cli.compile(own, **given, on_progress=False)


def test_names_that_the_training_rows_did_not_have():
    X, y = rows()
    fast = fastsvm_cli.compile(_named(X, y))
    (printed,) = _output_of(lambda: fast.predict(FRAME))
    assert str(printed.message) == "X has feature names, but FastSVM was fitted without feature names"
    model = fastsvm_cli.FastSVM(fast.model)  # of unknown rows
    assert not _output_of(lambda: model.predict(FRAME)) and not _output_of(lambda: fast.predict(X))
