"""fastsvm_cli.sklearn: estimators that train and compile, with scikit-learn's interface."""

import io
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.sklearn import CompiledOneClassSVM, CompiledSVC, CompiledSVR
from support.fitting import fit, rows

ESTIMATORS = [
    CompiledSVC(),
    CompiledSVC(method="approx"),
    CompiledSVR(),
    CompiledOneClassSVM(),
    CompiledSVC(make_pipeline(StandardScaler(), NuSVC(nu=0.2)), method="exact"),
]


@pytest.mark.full(few=7)
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS[:4])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_classifier(sparse):
    X, y = rows()
    X = scipy.sparse.csr_matrix(X) if sparse else X
    names = np.array(["x", "z", "y"])[y]
    svc = fit(SVC(gamma=0.05), X, names)
    fast = CompiledSVC(SVC(gamma=0.05), method="exact").fit(X, names)
    assert (fast.predict(X) == svc.predict(X)).all() and (fast.classes_ == svc.classes_).all()
    np.testing.assert_allclose(fast.decision_function(X), svc.decision_function(X))
    assert fast.score(X, names) == svc.score(X, names)
    assert not hasattr(fast, "predict_proba")
    assert fast.agreement(X).different == 0
    assert fast.n_features_in_ == 5 and isinstance(fast.compiled_, fastsvm_cli.FastSVM)


def test_probabilities_where_the_estimator_has_them():
    X, y = rows()
    fast = fit(CompiledSVC(SVC(probability=True, random_state=0)), X, y)
    assert fast.predict_proba(X).shape == (len(X), 3)
    np.testing.assert_allclose(fast.predict_log_proba(X), np.log(fast.predict_proba(X)))
    assert not hasattr(CompiledSVC(), "predict_proba")


def test_a_regressor_and_a_detector():
    X, _ = rows()
    target = X.sum(axis=1)
    fast = CompiledSVR(SVR(gamma=0.01), method="approx", options={"degree": 4}).fit(X, target)
    np.testing.assert_allclose(fast.predict(X), SVR(gamma=0.01).fit(X, target).predict(X), atol=0.01)
    svm = OneClassSVM(gamma=0.01).fit(X)
    fast = CompiledOneClassSVM(OneClassSVM(gamma=0.01), method="order").fit(X)
    assert (fast.predict(X) == svm.predict(X)).all() and (fast.fit_predict(X) == svm.predict(X)).all()
    np.testing.assert_allclose(fast.score_samples(X), svm.score_samples(X))
    assert fast.offset_ == pytest.approx(svm.offset_[0])
    fast = CompiledOneClassSVM(OneClassSVM(gamma=0.01), method="border").fit(X)
    assert fast.agreement(X).share < 0.2


def test_a_search_over_the_options_of_compiling():
    X, y = rows(n=150)
    grid = {"estimator__C": [0.1, 10], "options": [{"degree": 1}, {"degree": 3}], "method": ["approx"]}
    search = GridSearchCV(CompiledSVC(SVC(gamma=0.02)), grid, cv=3, error_score="raise").fit(X, y)
    assert set(search.best_params_) == set(grid) and len(search.cv_results_["params"]) == 4
    assert search.predict(X).shape == (len(X),)
    assert len(cross_val_score(CompiledSVC(method="approx"), X, y, cv=3, error_score="raise")) == 3
    pipeline = make_pipeline(StandardScaler(), CompiledSVC())
    assert cross_val_predict(pipeline, X, y, cv=3).shape == (len(X),)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_copies(estimator):
    X, y = rows()
    fast = clone(estimator).fit(X, y)
    other = clone(fast)
    assert other.get_params(deep=False)["method"] == estimator.method
    with pytest.raises(NotFittedError):
        other.predict(X)
    assert (pickle.loads(pickle.dumps(fast)).predict(X) == fast.predict(X)).all()
    file = io.BytesIO()
    joblib.dump(fast, file)
    file.seek(0)
    assert (joblib.load(file).predict(X) == fast.predict(X)).all()
    assert "Compiled" in fast._repr_html_()


def test_a_frame_goes_through_a_pipeline():
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    pipeline = make_pipeline(StandardScaler(), CompiledSVC()).set_output(transform="pandas").fit(frame, y)
    assert list(pipeline[-1].feature_names_in_) == list(pipeline[0].get_feature_names_out())
    assert (pipeline.predict(frame) == pipeline[-1].compiled_.predict(pipeline[0].transform(frame))).all()
    whole = make_pipeline(StandardScaler(), SVC()).fit(frame, y)
    fast = fastsvm_cli.compile(whole, "exact")
    assert list(fast.feature_names_in_) == list("abcde") and (fast.predict(frame) == whole.predict(frame)).all()
    with pytest.raises(ValueError, match="feature names"):
        fast.predict(frame.rename(columns={"a": "z"}))


def test_what_a_search_compiled_is_found():
    X, y = rows()
    search = GridSearchCV(CompiledSVC(SVC(gamma=0.05), method="approx"), {"estimator__C": [1, 10]}, cv=2).fit(X, y)
    assert (search.best_estimator_.compiled_.predict(X) == search.predict(X)).all()
    with pytest.raises(ModelFormatError, match=r"compiled already: .* after a search best_estimator_\.compiled_$"):
        fastsvm_cli.compile(search)
    with pytest.raises(ModelFormatError, match=r"FastSVM: it is compiled already$"):
        fastsvm_cli.compile(search.best_estimator_.compiled_)


@pytest.mark.full
def test_the_rows_of_fit_choose_a_method():
    X, y = rows()
    fast = CompiledSVC(SVC(gamma=0.05), method="auto", options={"budget": 0.1, "time_limit": 5}).fit(X, y)
    assert fast.agreement(X).share <= 0.1 and fast.compiled_.attempts_


def test_weights_are_passed_on_and_named_where_they_leave_one_class():
    X, y = rows(classes=2)
    weight = np.where(y == 0, 10.0, 0.1)
    fast = CompiledSVC(SVC(), method="exact").fit(X, y, sample_weight=weight)
    assert (fast.predict(X) == SVC().fit(X, y, sample_weight=weight).predict(X)).all()
    with pytest.raises(ValueError, match=r"\(fit was given sample_weight\)"):
        CompiledSVC().fit(X, y, sample_weight=(y == 0).astype(float))


def test_what_the_method_refuses_is_told_by_fit():
    X, y = rows()
    with pytest.raises(ModelFormatError, match="a sigmoid kernel found"):
        CompiledSVC(SVC(kernel="sigmoid"), method="approx").fit(X, y)
