"""All ways to keep or copy an object, read back: the answers are the same, or it is refused."""

import copy
import os
import pickle

import joblib
import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from support.fitting import fit, require_same, rows

NAMES = np.array(["x", "y", "z"])


def made(what):
    X, y = rows(classes=2 if what in ("two classes", "probabilities") else 3)
    if what == "regression":
        return fit(SVR(), X, X.sum(axis=1)), X
    if what == "one class":
        return fit(OneClassSVM(nu=0.2), X), X
    if what == "scaled regression":
        return fit(make_pipeline(StandardScaler(), SVR()), X, X.sum(axis=1)), X
    if what == "frame":
        X = pandas.DataFrame(X, columns=list("abcde"))
    estimator = {
        "scaled": make_pipeline(StandardScaler(), SVC()),
        "probabilities": SVC(probability=True, random_state=0),
        "more probabilities": SVC(probability=True, random_state=0),
        "calibrated": CalibratedClassifierCV(SVC(), ensemble=False),
        "break_ties": SVC(break_ties=True),
        "ovo": SVC(decision_function_shape="ovo"),
    }.get(what, SVC())
    return fit(estimator, X, NAMES[y] if what == "names" else y), X


#: What a model file does not hold: the argument that `save` names. None: `save` writes all.
LOST = {
    "two classes": None,
    "three classes": None,
    "regression": None,
    "one class": None,
    "more probabilities": None,
    "names": "classes",
    "scaled": "transform",
    "scaled regression": "transform",
    "calibrated": "calibrator",
    "break_ties": "break_ties",
    "ovo": "decision_function_shape",
    "frame": "feature_names_in",
    "probabilities": "sklearn",
}


def answers(fast, X):
    names = ("predict", "decision_function", "predict_proba", "predict_log_proba")
    return {name: getattr(fast, name)(X) for name in names if hasattr(fast, name)}


@pytest.mark.parametrize("what", LOST)
def test_all_that_is_kept(what, tmp_path):
    estimator, X = made(what)
    fast = fastsvm_cli.compile(estimator)
    expected = answers(fast, X)
    copies = [copy.copy, copy.deepcopy, clone, lambda it: pickle.loads(pickle.dumps(it))]
    joblib.dump(fast, tmp_path / "dumped")
    for again in [each(fast) for each in copies] + [joblib.load(tmp_path / "dumped")]:
        require_same(answers(again, X), expected)
    if LOST[what] is None:
        fast.save(os.fsencode(tmp_path / "model"))
        require_same(answers(fastsvm_cli.load(os.fsencode(tmp_path / "model"), n_features_in=5), X), expected)
        return
    with pytest.raises(ModelFormatError, match=f"FastSVM: {LOST[what]} found, .* use joblib.dump") as error:
        fast.save(tmp_path / "model")
    assert not (tmp_path / "model").exists() and "\n" not in str(error.value)
    drop = str(error.value).split("with ")[1]
    eval(f"fast.{drop}")  # the remedy
    fast.save(tmp_path / "model")
    X = np.asarray(X)
    require_same(answers(fastsvm_cli.load(tmp_path / "model", n_features_in=5), X), answers(fast, X))


@pytest.mark.parametrize("what", ["calibrated", "break_ties", "probabilities"])
def test_export_refuses_what_no_target_computes(what, tmp_path):
    fast = fastsvm_cli.compile(made(what)[0])
    with pytest.raises(ModelFormatError, match=f"{LOST[what]} found, which no target computes"):
        fast.export(tmp_path / "m.c")
    assert not list(tmp_path.iterdir())


def test_files_of_certified_models_with_their_exact_model(tmp_path):
    svc, X = made("three classes")
    fast = fastsvm_cli.compile(svc, "approx", degree=3, certify=True, exact=True)
    for write in (fast.save, fast.export):
        with pytest.raises(ModelFormatError, match="exact found"):
            write(tmp_path / "m.c")
    with pytest.raises(ModelFormatError, match="break_ties=True found, which LIBSVM does not know"):
        fastsvm_cli.to_libsvm(made("break_ties")[0], tmp_path / "m")
    fastsvm_cli.to_libsvm(svc, os.fsencode(tmp_path / "m"))
    for again in (os.fsencode(tmp_path / "m"), tmp_path / "m"):
        assert (fastsvm_cli.compile(again).set_params(n_features_in=5).predict(X) == svc.predict(X)).all()


def test_loads_reads_the_content_of_a_file(tmp_path):
    svc, X = made("three classes")
    fastsvm_cli.to_libsvm(svc, tmp_path / "m")
    text = (tmp_path / "m").read_bytes()
    for given in (text, text.decode(), memoryview(text)):
        fast = fastsvm_cli.loads(given, n_features_in=5, decision_function_shape="ovo")
        assert fast.decision_function(X).shape == (len(X), 3) and (fast.predict(X) == svc.predict(X)).all()
        assert fast.own_fingerprint == fastsvm_cli.load(tmp_path / "m").own_fingerprint
    with pytest.raises(ModelFormatError, match="of the letter:"):
        fastsvm_cli.loads("not a model", name="of the letter")
    with pytest.raises(TypeError, match="speed"):
        fastsvm_cli.loads(text, speed=9)


def test_a_class_without_weight_is_refused():
    X, y = rows()
    svc = SVC().fit(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))
    with pytest.raises(ModelFormatError, match="SVC: 2 classes found in the fitted model, expected its 3: fit it"):
        fastsvm_cli.compile(svc)
