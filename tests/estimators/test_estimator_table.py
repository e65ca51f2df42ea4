"""The table of estimators: every trait x form of rows x wrapper gives scikit-learn's answers."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

import fastsvm_cli
from fastsvm_cli.estimators import patching
from fastsvm_cli.sklearn import patched
from support.fitting import KINDS, METHODS, TRAITS, answers, dense, require_same, size, trait

pytestmark = pytest.mark.filterwarnings("ignore")  # models are tiny; frames' columns have no names


def _strided(X):
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = dense(X)
    return wide[::2, ::2]


FORMS = {
    "float32": lambda X: dense(X).astype(np.float32),
    "Fortran": lambda X: np.asfortranarray(dense(X)),
    "strided": _strided,
    "list": lambda X: dense(X).tolist(),
    "frame": lambda X: pandas.DataFrame(dense(X)),
    "CSC": scipy.sparse.csc_matrix,
    "COO": scipy.sparse.coo_matrix,
    "CSR array": scipy.sparse.csr_array,
}
OF_SPARSE = ("CSC", "COO", "CSR array")


def joblibs(fast):
    file = io.BytesIO()
    joblib.dump(fast, file)
    file.seek(0)
    return joblib.load(file)


#: What keeps an object.
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": clone,
    "pickle": lambda fast: pickle.loads(pickle.dumps(fast)),
    "joblib": joblibs,
}


def forms(name):
    """{form: rows} that the estimator takes: as they are and in two more forms; in all for `ovo 4` and `weights`."""
    of = trait(name)
    takes = [form for form in FORMS if scipy.sparse.issparse(of.X) or form not in OF_SPARSE]
    if name not in ("ovo 4", "weights"):
        at = list(TRAITS).index(name)
        takes = [takes[at % len(takes)], takes[(at + 2) % len(takes)]]
    return {"as they are": of.rows, **{form: FORMS[form](of.rows) for form in takes if "frame" not in name}}


def within(of):
    """Rounding of a number."""
    return 1e-8 if isinstance(of.estimator, CalibratedClassifierCV) else 1e-9 * size(of.estimator, of.rows)


@pytest.mark.full(few=25)
@pytest.mark.parametrize("name", TRAITS)
def test_what_is_compiled_answers_as_the_estimator(name):
    of = trait(name)
    fast = fastsvm_cli.compile(of.estimator, "exact")
    assert fast.n_features_in_ == of.X.shape[1]
    if hasattr(of.estimator, "offset_"):
        assert fast.offset_ == pytest.approx(of.estimator.offset_[0])
    if scipy.sparse.issparse(of.X):  # the model is sparse too
        assert fast.sklearn == "sparse" and len(fast.model.vectors.indices) == of.svm.support_vectors_.nnz
    if hasattr(of.estimator, "classes_"):
        assert fast.classes_.dtype == of.estimator.classes_.dtype and (fast.classes_ == of.estimator.classes_).all()
    for form, rows in forms(name).items():
        expected = answers(of.estimator, rows)
        # A calibrated estimator of scikit-learn has no decision values.
        methods = expected if isinstance(of.estimator, CalibratedClassifierCV) else METHODS
        require_same(answers(fast, rows, methods), expected, within(of), form)
    expected = answers(fast, of.rows)
    for how, kept in COPIES.items():
        require_same(answers(kept(fast), of.rows), expected, 0, how)
    if of.estimator is of.svm and not scipy.sparse.issparse(of.X):  # which scikit-learn would refuse
        require_same(answers(fast, scipy.sparse.csr_matrix(of.rows)), expected, within(of), "CSR")


@pytest.mark.full(few=25)
@pytest.mark.parametrize("name", TRAITS)
def test_patched_scikit_learn_answers_as_before(name, calls, monkeypatch):
    monkeypatch.setattr(patching, "MOST_LEFT", 10**9)
    of, isotonic = trait(name), "isotonic" in name
    for form, rows in forms(name).items():
        expected = answers(of.estimator, rows)
        calls.clear()
        with patched():
            require_same(answers(of.estimator, rows), expected, within(of), form)
            assert bool(calls) == (len(of.svm.support_) > 0) or isotonic, form


def _written(name):
    """Whether a model file holds all of the estimator but the names of its classes."""
    return isinstance(TRAITS[name]()[0], tuple(KINDS.values())) and not name.startswith(("break_ties", "equal votes"))


@pytest.mark.full(few=16)
@pytest.mark.parametrize("name", [name for name in TRAITS if _written(name)])
def test_a_file_of_libsvm_holds_the_same_model(name, tmp_path):
    """Labels that rounding decides are svm-predict's there."""
    of = trait(name)
    classes = fastsvm_cli.to_libsvm(of.estimator, tmp_path / "model")
    text, how = (tmp_path / "model").read_bytes(), {"n_features_in": of.X.shape[1]}
    assert classes == fastsvm_cli.to_libsvm(of.estimator)
    assert text == fastsvm_cli.compile(of.estimator, "exact").model.to_text()
    if not hasattr(of.svm, "classes_"):
        fast = fastsvm_cli.load(tmp_path / "model", **how)
        assert classes == ({-1: -1, 1: 1} if hasattr(fast, "offset_") else {})
        np.testing.assert_allclose(fast.predict(of.rows), of.svm.predict(of.rows), rtol=1e-9, atol=within(of))
        return
    fast = fastsvm_cli.loads(text, decision_function_shape=of.svm.decision_function_shape, **how)
    own = of.svm.classes_
    whole = own.dtype.kind in "if" and abs(own.astype(float)).max() < 2**31
    assert fast.model.header.label == list(classes) == [int(each) if whole else at for at, each in enumerate(own)]
    assert list(classes.values()) == own.tolist()
    labels = np.array([classes[label] for label in fast.predict(of.rows).tolist()], own.dtype)
    assert name.startswith("tied") or (labels == of.svm.predict(of.rows)).all()
    found = fast.decision_function(of.rows)
    np.testing.assert_allclose(found, of.svm.decision_function(of.rows), rtol=1e-9, atol=within(of))


@pytest.mark.full(few=8)
@pytest.mark.parametrize("method", ["order", "approx"])
@pytest.mark.parametrize("name", [name for name in TRAITS if name.startswith("tied") and "sigmoid" not in name])
def test_models_with_proofs_keep_labels_that_rounding_decides(name, method):
    of = trait(name)
    if of.svm.kernel == "sigmoid" or getattr(of.svm, "break_ties", False):
        return
    how = {"certify": True, "exact": True} if method == "approx" else {}
    fast = fastsvm_cli.compile(of.estimator, method, on_progress=False, **how)
    assert (fast.predict(of.rows) == of.estimator.predict(of.rows)).all()
