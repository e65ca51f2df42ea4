"""fastsvm_cli.sklearn: estimators that train and compile, with scikit-learn's interface."""

import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

import fastsvm_cli
from fastsvm_cli.sklearn import CompiledOneClassSVM, CompiledSVC, CompiledSVR
from support.fitting import answers, fit, require_same, rows, size, trait


@pytest.mark.full(few=7)
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([CompiledSVC(), CompiledSVC(method="approx"), CompiledSVR(), CompiledOneClassSVM()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


#: Of traits.
CLASSES = dict.fromkeys(["SVC rbf 3", "SVC linear 3 sparse", "SVC rbf 2 sparse", "after robust"], CompiledSVC)
CLASSES |= {"SVR rbf 3": CompiledSVR, "OneClassSVM rbf 3": CompiledOneClassSVM}


@pytest.mark.parametrize("name", CLASSES)
def test_what_it_fits_answers_as_the_estimator(name):
    of = trait(name)
    fast = clone(CLASSES[name](clone(of.estimator), method="exact"))
    for unfitted in (fast, clone(fit(clone(fast), of.X, of.y))):
        with pytest.raises(NotFittedError):
            unfitted.predict(of.X)
    expected = answers(of.estimator, of.X)
    for each in (fit(fast, of.X, of.y), pickle.loads(pickle.dumps(fast))):
        require_same(answers(each, of.X), expected, 1e-9 * size(of.estimator, of.X))
    assert fast.n_features_in_ == of.X.shape[1] and isinstance(fast.compiled_, fastsvm_cli.FastSVM)
    if hasattr(of.estimator, "score"):
        assert fast.score(of.X, of.y) == pytest.approx(of.estimator.score(of.X, of.y), rel=1e-12)
    else:
        assert fast.offset_ == pytest.approx(of.estimator.offset_[0])
        assert (fast.fit_predict(of.X) == expected["predict"]).all()
    assert fast.agreement(of.X).share < 1e-9 and "Compiled" in fast._repr_html_()


@pytest.mark.parametrize(
    "fast, most",
    [
        (CompiledSVR(SVR(gamma=0.01), method="approx", options={"degree": 4}), 0.01),
        (CompiledOneClassSVM(OneClassSVM(gamma=0.01), method="order"), 0),
        (CompiledOneClassSVM(OneClassSVM(gamma=0.01), method="border"), 0.2),
    ],
    ids=["approx", "order", "border"],
)
def test_methods_that_change_answers(fast, most):
    X, _ = rows()
    assert fit(fast, X, X.sum(axis=1)).agreement(X).share <= most


def test_a_search_over_the_options_of_compiling():
    X, y = rows(n=150)
    grid = {"estimator__C": [0.1, 10], "options": [{"degree": 1}, {"degree": 3}], "method": ["approx"]}
    search = GridSearchCV(CompiledSVC(SVC(gamma=0.02)), grid, cv=3, error_score="raise").fit(X, y)
    assert set(search.best_params_) == set(grid) and len(search.cv_results_["params"]) == 4
    assert search.predict(X).shape == (len(X),)
    assert len(cross_val_score(CompiledSVC(method="approx"), X, y, cv=3, error_score="raise")) == 3
    pipeline = make_pipeline(StandardScaler(), CompiledSVC())
    assert cross_val_predict(pipeline, X, y, cv=3).shape == (len(X),)


def test_a_frame_goes_through_a_pipeline():
    X, y = rows()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    pipeline = make_pipeline(StandardScaler(), CompiledSVC()).set_output(transform="pandas").fit(frame, y)
    assert list(pipeline[-1].feature_names_in_) == list(pipeline[0].get_feature_names_out())
    assert (pipeline.predict(frame) == pipeline[-1].compiled_.predict(pipeline[0].transform(frame))).all()
    fast = fastsvm_cli.compile(make_pipeline(StandardScaler(), SVC()).fit(frame, y), "exact")
    assert list(fast.feature_names_in_) == list("abcde")


@pytest.mark.full
def test_the_rows_of_fit_choose_a_method():
    X, y = rows()
    fast = CompiledSVC(SVC(gamma=0.05), method="auto", options={"budget": 0.1, "time_limit": 5}).fit(X, y)
    assert fast.agreement(X).share <= 0.1 and fast.compiled_.attempts_


def test_weights_are_passed_on():
    X, y = rows(classes=2)
    weight = np.where(y == 0, 10.0, 0.1)
    fast = CompiledSVC(SVC(), method="exact").fit(X, y, sample_weight=weight)
    assert (fast.predict(X) == SVC().fit(X, y, sample_weight=weight).predict(X)).all()
