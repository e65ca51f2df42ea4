"""fastsvm_cli.compile: the commands, from Python, on fitted estimators."""

import os

import numpy as np
import pytest
from libsvm.svmutil import svm_predict, svm_save_model, svm_train
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from support import forked
from support.fitting import KINDS, fit, fitted, rows

#: (method, options, the command's options)
METHODS = [
    ("approx", {}, []),
    (
        "approx",
        {"degree": 3, "certify": True, "precision": "double"},
        ["--degree", "3", "--certify", "--precision", "double"],
    ),
    ("approx", {"center": "origin"}, ["--center", "origin"]),
    ("approx", {"centers": 4, "max_size": 5}, ["--centers", "4", "--max-size", "5"]),
    ("approx", {"rank": 2}, ["--rank", "2"]),
    ("reduce", {"vectors": 12}, ["--vectors", "12"]),
    ("reduce", {"ratio": np.float64(0.2), "no_finish": True}, ["--ratio", "0.2", "--no-finish"]),
    ("reduce", {"lossless": True}, ["--lossless"]),
    ("order", {"points": 10}, ["--points", "10"]),
    ("geometry", {"sequence": "sgma", "seed": 3}, ["--sequence", "sgma", "--seed", "3"]),
    ("triangle", {"lists": 2}, ["--method", "triangle", "--lists", "2"]),
    ("border", {"samples": 20, "sampling": "dense"}, ["--samples", "20", "--sampling", "dense"]),
]


@pytest.fixture(scope="module")
def svc():
    X, y = rows()
    return fit(SVC(gamma=0.05, C=3), X, y)


@pytest.mark.full(few=1)
@pytest.mark.parametrize(("method", "options", "words"), METHODS)
def test_the_same_file_as_of_the_command(svc, method, options, words, tmp_path):
    fast = fastsvm_cli.compile(svc, method, **options)
    fast.save(tmp_path / "ours")
    fastsvm_cli.to_libsvm(svc, tmp_path / "model")
    command = "order" if method in ("geometry", "triangle") else method
    forked.fastsvm([command, "-q", *words, tmp_path / "model", tmp_path / "theirs"], check=True)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    # its own options make the same file again
    fastsvm_cli.compile(svc, **fast.options).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.full(few=4)
@pytest.mark.parametrize("method", ["exact", "approx", "reduce", "order", "border"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_estimator(kind, method):
    X, y = rows()
    estimator = fitted(kind, X, y, gamma=0.01)
    options = {"reduce": {"ratio": 0.5}, "border": {"data": X, "samples": 50}}.get(method, {})
    if method == "border" and kind in ("SVR", "NuSVR"):
        with pytest.raises(ModelFormatError, match=f"{kind}: a model of type .* found, expected classes"):
            fastsvm_cli.compile(estimator, method, **options)
        return
    fast = fastsvm_cli.compile(estimator, method, **options)
    seen = fast.agreement(X, estimator)
    assert seen.rows == len(X) and seen.share <= (0.0 if method in ("exact", "order") and "R" not in kind else 0.1)


@pytest.mark.full
def test_rows_to_draw_and_measure_on(svc):
    X, y = rows()
    for data in ((X, y), X, X.tolist(), (X[:, :].astype(np.float32), y)):
        assert fastsvm_cli.compile(svc, "border", samples=30, data=data).agreement(X).share < 0.2
        assert fastsvm_cli.compile(svc, "reduce", target=0.02, data=data).agreement(X).share <= 0.02
    with pytest.raises(ValueError, match="class 7 found in y"):
        fastsvm_cli.compile(svc, "reduce", ratio=0.1, data=(X, np.full(len(X), 7)))
    with pytest.raises(ValueError, match="y of shape"):
        fastsvm_cli.compile(svc, "reduce", ratio=0.1, data=(X, y[1:]))
    with pytest.raises(ValueError, match="X has 4 features"):
        fastsvm_cli.compile(svc, "reduce", ratio=0.1, data=X[:, 1:])


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


@pytest.mark.full
def test_rows_are_scaled_for_a_method_that_draws_them():
    X, y = rows()
    X = X * [1, 10, 100, 1, 1] + [0, 5, 1000, 0, 0]
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    assert fastsvm_cli.compile(pipeline, "border", samples=200, data=(X, y)).agreement(X, pipeline).share < 0.2
    with pytest.raises(ValueError, match="the scalers are in front of the model"):
        fastsvm_cli.compile(pipeline, "border", data="rows.txt")


def test_every_label_is_the_exact_models_where_it_falls_back(svc):
    X, _ = rows(seed=1)
    fast = fastsvm_cli.compile(svc, "approx", degree=1, certify=True)
    assert 0 < fast.proven(X).sum() < len(X)
    with_exact = fastsvm_cli.compile(svc, "approx", degree=1, certify=True, exact=True)
    assert (with_exact.predict(X) == svc.predict(X)).all()
    svr = fitted("SVR", *rows(), gamma=0.05)
    near = fastsvm_cli.compile(svr, "approx", certify=True, exact=1e-3)
    assert np.max(abs(near.predict(X) - svr.predict(X))) <= 1e-3
    with pytest.raises(ValueError, match="exact= goes with a certified model"):
        fastsvm_cli.compile(svc, "approx", exact=True)


@pytest.mark.full
@pytest.mark.parametrize("method", ["approx", "reduce"])
@pytest.mark.parametrize("how", ["calibrated", "break_ties"])
def test_nothing_is_proven_of_labels_that_follow_values(how, method):
    """A radius proves signs, and so votes, but not which of two values is greater."""
    X, y = rows()
    svc = SVC(gamma=0.05, break_ties=how == "break_ties")
    estimator = CalibratedClassifierCV(svc, ensemble=False) if how == "calibrated" else svc
    fit(estimator, X, y)
    options = {"degree": 3, "certify": True} if method == "approx" else {"ratio": 0.3}
    fast = fastsvm_cli.compile(estimator, method, **options)
    assert not hasattr(fast, "proven") and fast.agreement(X, estimator).proven is None
    with pytest.raises(ValueError, match="exact= does not go with a calibrator or break_ties"):
        fastsvm_cli.compile(estimator, method, exact=True, **options)
    chosen = fastsvm_cli.compile(estimator, "auto", X=X, budget=0.0, time_limit=1)
    assert (chosen.predict(X) == estimator.predict(X)).all()
    assert not [each for each in chosen.attempts_ if "exact=True" in each["name"] and each["within"]]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"certify": np.True_, "precision": "half"}, ValueError, "'half' is not one of 'single', 'double'"),
        ({"method": "fast"}, ValueError, "method 'fast' found, expected exact, approx, cascade, reduce, order, border"),
        ({"colour": 3}, TypeError, "approx has no option 'colour'; its options are center, centers, certify, dask"),
        ({"degree": 9}, ValueError, "'degree': '9' found, expected a whole number from 1 to 4"),
        ({"degree": [2]}, ValueError, "degree of type list found, expected one value"),
        (
            {"method": "order", "gamma": 0},
            ValueError,
            "order: Invalid value for 'gamma': '0' found, expected a number above 0",
        ),
        ({"certify": "yes"}, ValueError, "certify='yes' found, expected True or False"),
        ({"rank": 2, "tolerance": 1e-3}, ValueError, "two ways to say the same thing"),
        (
            {"max_size": 1e-5},
            ModelFormatError,
            "SVC: the compiled model would take about .* beyond the limit of .* \\(max_size\\)",
        ),
        ({"method": "reduce"}, ValueError, "how many vectors. Say vectors=L, ratio=R or target=E"),
        ({"method": "border", "bandwidth": 1.0}, TypeError, "border has no option 'bandwidth'"),
        ({"method": "border", "samples": 5, "target": 0.1}, ValueError, "samples and target do not go together"),
        ({"method": "triangle", "points": 3}, ValueError, 'points goes with method="geometry"'),
        (
            {"method": "exact", "degree": 2},
            TypeError,
            "method=\"exact\" has no option 'degree': the exact model has no options; degree= is an option of approx",
        ),
        ({"certify": True, "exact": 0.1}, ValueError, "exact=0.1 found, expected True or False"),
        ({"budget": "0.5%"}, TypeError, 'budget= goes with method="auto" or method="cascade": approx has none'),
        ({"method": "auto"}, ValueError, "needs rows to measure on"),
        ({"method": "auto", "X": [[0.0] * 5], "degree": 2}, TypeError, "method=\"auto\" has no option 'degree'"),
        ({"method": "auto", "X": [[0.0] * 5], "budget": -0.1}, ValueError, "budget=-0.1 found, expected a share"),
        ({"method": "auto", "X": [[0.0] * 5], "budget": float("nan")}, ValueError, "budget=nan found"),
    ],
)
def test_options_are_the_commands(svc, options, error, words):
    with pytest.raises(error, match=words) as found:
        fastsvm_cli.compile(svc, **{"method": "approx", **options})
    assert "--" not in str(found.value)  # the parameters of Python


def test_what_the_message_about_exact_names_works():
    X, y = rows()
    svr = fitted("SVR", X, y, gamma=0.05)
    with pytest.raises(ValueError, match=r"exact=True found, expected the largest error .*, as exact=0\.1$"):
        fastsvm_cli.compile(svr, "approx", certify=True, exact=True)
    fast = fastsvm_cli.compile(svr, "approx", certify=True, exact=0.1)
    assert fast.tolerance == 0.1 and np.max(abs(fast.predict(X) - svr.predict(X))) <= 0.1


@pytest.mark.parametrize(
    ("kernel", "method", "options", "words"),
    [
        ("sigmoid", "approx", {}, "SVC: a sigmoid kernel found; approx compiles rbf, linear and polynomial kernels"),
        ("linear", "reduce", {"ratio": 0.1}, "SVC: "),
        ("sigmoid", "order", {}, "SVC: "),
        ("poly", "approx", {"degree": 2}, "SVC: a polynomial kernel of degree 3 found"),
    ],
)
def test_reasons_are_the_compilers(kernel, method, options, words):
    with pytest.raises(ModelFormatError, match=words):
        fastsvm_cli.compile(fitted("SVC", *rows(), kernel=kernel), method, **options)


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
