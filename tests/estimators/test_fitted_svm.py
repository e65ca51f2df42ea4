"""Fitted estimators of scikit-learn as LIBSVM models: same values."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.fitted_svm import read_svm
from support.fitting import CLASSIFIERS, KERNELS, KINDS, fit, fitted, pairwise, rows, scale
from support.paths import FASTSVM

LABELS = {
    "int": np.array([3, -7, 11]),
    "text": np.array(["red", "green", "blue"]),
    "bool": np.array([False, True]),
    "whole": np.array([1.0, -1.0, 4.0]),
    "object": np.array(["one", "two", "three"], dtype=object),
    "large": np.array([2**40, 5, -(2**40)]),
    "largest": np.array([-(2**63), 5, 2**63 - 1]),
}


def _values(model, X):
    X = X.toarray() if scipy.sparse.issparse(X) else X
    decisions = fastsvm_cli.Decisions(model.pairs)
    chunk = fastsvm_cli.Chunk.from_dense(np.zeros(len(X)), X)
    model.decision_values(chunk, decisions, fastsvm_cli.Wanted.values())
    return np.array(decisions.value)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("kind", "classes"), [*((kind, 3) for kind in KINDS), *((kind, 2) for kind in CLASSIFIERS)])
def test_values_are_scikit_learns(kind, kernel, gamma, form, classes, tmp_path):
    X, y = rows(classes=classes)
    if form == "sparse":
        X = scipy.sparse.csr_matrix(X)
    estimator = fitted(kind, X, y, kernel=kernel, gamma=gamma, coef0=0.5)
    model = read_svm(estimator).model
    assert np.max(abs(_values(model, X) - pairwise(estimator, X))) <= 1e-9 * scale(model)

    path = str(tmp_path / "model")  # also through a file
    fastsvm_cli.to_libsvm(estimator, path)
    written = fastsvm_cli.load_model(path)
    assert (_values(written, X) == _values(model, X)).all()
    assert written.header.lines() == model.header.lines()


@pytest.mark.parametrize("weight", [None, "balanced", {0: 3.0, 1: 0.5}])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_what_is_compiled_answers_as_the_estimator(weight, shape, ties, classes):
    if ties and shape == "ovo":
        pytest.skip("scikit-learn has no such estimator")
    X, y = rows(classes=classes)
    svc = fit(SVC(class_weight=weight, decision_function_shape=shape, break_ties=ties), X, y)
    fast = fastsvm_cli.compile(svc, "exact")
    assert (fast.predict(X) == svc.predict(X)).all()
    np.testing.assert_allclose(fast.decision_function(X), svc.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.full(few=3)
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_any_labels(kind, labels, tmp_path):
    names = LABELS[labels]
    X, y = rows(classes=len(names))
    estimator = fitted(kind, X, names[y])
    mapping = fastsvm_cli.to_libsvm(estimator, tmp_path / "model")
    assert list(mapping.values()) == estimator.classes_.tolist()
    header = fastsvm_cli.load_model(str(tmp_path / "model")).header
    assert header.label == list(mapping)
    whole = labels in ("int", "whole")
    assert header.label == ([int(each) for each in estimator.classes_] if whole else list(range(len(names))))

    fast = fastsvm_cli.compile(estimator, "exact")
    assert fast.classes_.dtype == estimator.classes_.dtype
    found = fast.predict(X)
    assert found.dtype == estimator.predict(X).dtype and (found == estimator.predict(X)).all()

    # The file's labels map to these classes.
    pairs = (" ".join(f"{j + 1}:{float(value)!r}" for j, value in enumerate(row)) for row in X)
    (tmp_path / "rows").write_text("".join(f"0 {line}\n" for line in pairs))
    words = [FASTSVM, "predict", "-q", tmp_path / "rows", tmp_path / "model", tmp_path / "out"]
    subprocess.run(list(map(str, words)), check=True)
    reported = [mapping[int(line)] for line in (tmp_path / "out").read_text().split()]
    assert reported == estimator.predict(X).tolist()


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_probabilities(kind, classes, form):
    X, y = rows(classes=classes)
    X = scipy.sparse.csr_matrix(X) if form == "sparse" else X
    estimator = fitted(kind, X, np.array(["b", "a", "c"])[y], probability=True, random_state=0)
    fast = fastsvm_cli.compile(estimator, "exact")
    np.testing.assert_allclose(fast.predict_proba(X), estimator.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast.predict_log_proba(X), estimator.predict_log_proba(X), rtol=0, atol=1e-9)
    if classes == 2:  # scikit-learn couples two classes iteratively, and stops about 0.005 early; svm-predict does not
        fast.set_params(sklearn=None)
        first = 1 / (1 + np.exp(-estimator._probA * estimator.decision_function(X) + estimator._probB))
        np.testing.assert_allclose(fast.predict_proba(X), np.stack([first, 1 - first], axis=1), rtol=0, atol=1e-12)
    assert not hasattr(fastsvm_cli.compile(fitted(kind, X, y), "exact"), "predict_proba")


def test_vectors_that_are_zero_and_features_without_a_vector():
    X = np.zeros((6, 4))
    X[3:, 1] = 1
    for form in (np.array, scipy.sparse.csr_matrix):
        svc = fit(SVC(gamma=0.5), form(X), [0, 0, 0, 1, 1, 1])
        model = read_svm(svc).model
        assert np.max(abs(_values(model, X) - pairwise(svc, form(X)))) <= 1e-12 * scale(model)
        assert fastsvm_cli.compile(svc, "exact").n_features_in_ == 4


def test_a_regression_without_support_vectors():
    X, _ = rows()
    for form in (np.array, scipy.sparse.csr_matrix):
        svr = fit(SVR(epsilon=10.0), form(X), np.full(len(X), 3.0))
        assert svr.support_vectors_.shape[0] == 0
        assert (fastsvm_cli.compile(svr, "exact").predict(X) == 3.0).all()


def test_one_class_models_have_an_offset():
    X, _ = rows()
    svm = OneClassSVM(nu=0.3).fit(X)
    fast = fastsvm_cli.compile(svm, "exact")
    assert fast.offset_ == pytest.approx(svm.offset_[0])
    np.testing.assert_allclose(fast.score_samples(X), svm.score_samples(X))
    assert (fast.predict(X) == svm.predict(X)).all()
    assert fastsvm_cli.to_libsvm(svm) == {-1: -1, 1: 1}


def test_nothing_is_written_without_a_path_and_a_regression_has_no_labels():
    X, y = rows()
    assert fastsvm_cli.to_libsvm(fitted("SVR", X, y)) == {}
    assert fastsvm_cli.to_libsvm(fitted("SVC", X, y)) == {0: 0, 1: 1, 2: 2}


def test_a_class_made_from_an_estimator_and_a_search():
    class Own(SVC):
        pass

    X, y = rows()
    own = fit(Own(), X, y)
    assert (fastsvm_cli.compile(own, "exact").predict(X) == own.predict(X)).all()
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=2).fit(X, y)
    assert (fastsvm_cli.compile(search, "exact").predict(X) == search.predict(X)).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: SVC(), "it is not fitted yet"),
        (lambda X, y: SVC(kernel="precomputed").fit(X @ X.T, y), "a precomputed kernel found"),
        (lambda X, y: SVC(kernel=lambda a, b: a @ b.T).fit(X, y), "a kernel that is a Python function found"),
        (lambda X, y: LinearSVC().fit(X, y), "fastsvm cannot compile this"),
        (lambda X, y: SVC, "a class found"),
        (lambda X, y: GridSearchCV(SVC(), {"C": [1]}), "a search without a best estimator"),
        (lambda X, y: make_pipeline(StandardScaler(), LinearSVC()).fit(X, y), "fastsvm cannot compile this"),
        (lambda X, y: 7, "fastsvm cannot compile this"),
        (lambda X, y: Pipeline([("svc", SVC().fit(X, y)), ("last", "passthrough")]), "fastsvm cannot compile this"),
    ],
)
def test_what_is_refused_in_one_sentence(make, words):
    made = make(*rows())
    for use in (fastsvm_cli.to_libsvm, fastsvm_cli.compile):
        with pytest.raises(ModelFormatError, match=words) as error:
            use(made)
        assert "\n" not in str(error.value)


def test_the_core_never_sees_scikit_learn(tmp_path):
    """A program that uses only a pickled object does not load it either."""
    code = (
        "import sys, fastsvm_cli\n"
        "assert not {'numpy', 'sklearn', 'scipy'} & set(sys.modules)\n"
        "import pickle, numpy\n"
        "from fastsvm_cli.estimators import export, compile\n"
        "fast = pickle.load(sys.stdin.buffer)\n"
        "assert set(fast.predict(numpy.zeros((3, 5)))) <= set(fast.classes_)\n"
        "assert 'sklearn' not in sys.modules\n"
    )
    X, y = rows()
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, np.array(["a", "b", "c"])[y])
    text = pickle.dumps(fastsvm_cli.compile(pipeline))
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
