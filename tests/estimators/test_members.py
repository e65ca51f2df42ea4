"""Pipelines with scikit-learn's own steps, and meta-estimators: scikit-learn's labels, with compiled members."""

import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import fastsvm_cli
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.estimators.members import CompiledEstimator
from fastsvm_cli.sklearn import CompiledOneClassSVM, CompiledSVC
from support.fitting import METHODS, TRAITS, fit

pytestmark = pytest.mark.filterwarnings("ignore")

LIKELY = SVC(probability=True, random_state=0)
REDUCED = make_pipeline(PCA(2), SVC())
PARTS = ColumnTransformer([("all", StandardScaler(), [0, 1]), ("one", OneHotEncoder(handle_unknown="ignore"), [3])])
TWO, VALUES = (
    [("a", SVC()), ("b", REDUCED)],
    [("a", SVR()), ("b", make_pipeline(PCA(2), SVR())), ("c", LinearRegression())],
)
IRIS = {
    "PCA": REDUCED,
    "PCA between scalers": make_pipeline(StandardScaler(), PCA(2), StandardScaler(), LIKELY),
    "select": make_pipeline(SelectKBest(k=2), StandardScaler(), SVC()),
    "select by an SVM": make_pipeline(SelectFromModel(SVC(kernel="linear")), SVC()),
    "impute": make_pipeline(SimpleImputer(), SVC(decision_function_shape="ovo")),
    "function": make_pipeline(FunctionTransformer(np.square), SVC()),
    "columns": make_pipeline(PARTS, SVC()),
    "search": GridSearchCV(REDUCED, {"svc__C": [1, 10]}, cv=2),
    "search of one against rest": GridSearchCV(OneVsRestClassifier(SVC()), {"estimator__C": [1, 10]}, cv=2),
    "one against rest": OneVsRestClassifier(SVC()),
    "one against rest, probable": OneVsRestClassifier(LIKELY),
    "one against rest, after scalers": make_pipeline(StandardScaler(), OneVsRestClassifier(REDUCED)),
    "one against one": OneVsOneClassifier(SVC()),
    "output code": OutputCodeClassifier(SVC(), random_state=0),
    "bagging": BaggingClassifier(SVC(), max_features=0.5, random_state=0),
    "bagging, probable": BaggingClassifier(LIKELY, 5, random_state=0),
    "boosting": AdaBoostClassifier(LIKELY, n_estimators=3, random_state=0),
    "votes": VotingClassifier([*TWO, ("c", LogisticRegression())]),
    "soft votes": VotingClassifier([("a", LIKELY), ("b", make_pipeline(PCA(2), LIKELY))], voting="soft"),
    "stack": StackingClassifier(TWO),
    "stack that ends with an SVM": StackingClassifier(TWO, final_estimator=SVC()),
    "calibrated": CalibratedClassifierCV(SVC()),
    "calibrated, isotonic": CalibratedClassifierCV(SVC(), method="isotonic"),
    "calibrated steps": CalibratedClassifierCV(REDUCED),
    "eliminated": RFE(SVC(kernel="linear"), n_features_to_select=2),
    "compiled before": VotingClassifier([("a", SVC()), ("b", CompiledSVC())]),
}
DIGITS = ("PCA", "one against rest", "one against one", "bagging", "votes", "calibrated")
DIABETES = {
    "target": TransformedTargetRegressor(SVR(C=10), func=np.log, inverse_func=np.exp),
    "target of steps": make_pipeline(
        PCA(4), TransformedTargetRegressor(make_pipeline(PCA(3), SVR()), transformer=StandardScaler())
    ),
    "bagged values": BaggingRegressor(SVR(), random_state=0),
    "mean values": VotingRegressor(VALUES),
    "stacked values": StackingRegressor(VALUES, final_estimator=SVR()),
    "several values": MultiOutputRegressor(SVR()),
    "chain of values": RegressorChain(SVR()),
}
SEVERAL = {
    "several classes": MultiOutputClassifier(SVC()),
    "several calibrated": MultiOutputClassifier(CalibratedClassifierCV(SVC(), cv=3)),
    "chain": ClassifierChain(SVC()),
    "several labels": OneVsRestClassifier(SVC()),
}
NAMES = np.array(["setosa", "versicolor", "virginica"])


def cases():
    X, y = load_iris(return_X_y=True)
    for name, estimator in IRIS.items():
        yield name, estimator, X, y if name.startswith("output") else NAMES[y]
    for name, estimator in SEVERAL.items():
        yield name, estimator, X, np.stack([y == 0, y > 0], axis=1).astype(int)
    yield "one class", make_pipeline(PCA(3), OneClassSVM()), X, None
    X, y = load_digits(return_X_y=True)
    for name in DIGITS:
        yield f"{name}, digits", IRIS[name], X[:500], y[:500]
    X, y = load_diabetes(return_X_y=True)
    for name, estimator in DIABETES.items():
        yield (
            name,
            estimator,
            X,
            np.stack([y, X[:, 0]], axis=1) if name.endswith("of values") or "several" in name else y,
        )


CASES = {name: case for name, *case in cases()}


def answers(estimator, X):
    """{method: array}; chains of classifiers have methods that fail."""
    out = {}
    for name in METHODS:
        try:
            found = getattr(estimator, name)(X)
        except AttributeError:
            continue
        out[name] = np.concatenate(found, axis=1) if isinstance(found, list) else found
    return out


def members(fast):
    """The FastSVMs in an estimator or list."""
    if isinstance(fast, (list, tuple)):
        return [found for each in fast for found in members(each)]
    if isinstance(fast, fastsvm_cli.FastSVM):
        return [fast]
    inside = getattr(fast, "fast", fast)
    known = vars(inside) if hasattr(inside, "predict") or hasattr(inside, "calibrators") else {}
    asked = ("steps",) if hasattr(inside, "predict") else ("estimator",)
    return [each for name in known if name.endswith("_") or name in asked for each in members(known[name])]


@pytest.mark.full(few=12)
@pytest.mark.parametrize("name", CASES)
def test_answers_are_scikit_learns(name):
    estimator, X, y = CASES[name]
    own = fit(clone(estimator), X, y)
    fast, expected = fastsvm_cli.compile(own, n_threads=1), answers(own, X)
    assert members(fast) and is_classifier(fast) == is_classifier(own)
    for how in (lambda: fast, lambda: pickle.loads(pickle.dumps(fast)), lambda: clone(fast).fit(X, y)):
        found = answers(how(), X)
        assert found.keys() == expected.keys()
        for method, values in expected.items():
            assert found[method].dtype == values.dtype and found[method].shape == values.shape
            if method == "predict" and values.dtype.kind != "f":
                assert (found[method] == values).all()
            else:
                np.testing.assert_allclose(found[method], values, rtol=1e-8, atol=1e-9)
    if hasattr(own, "score"):
        assert fast.score(X, y) == pytest.approx(own.score(X, y), rel=1e-9)
    if expected["predict"].ndim == 1:
        assert fast.agreement(X).share <= 1e-9
    assert "FastSVM" in repr(fast) or "FastSVM" not in repr(fast.fast)
    assert fast._repr_html_()


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", [name for name in TRAITS if name.startswith(("equal votes", "tied, rbf"))])
@pytest.mark.parametrize("whole", [OneVsRestClassifier, OneVsOneClassifier, CalibratedClassifierCV])
def test_labels_that_rounding_decides(name, whole):
    svc, X, y, rows = TRAITS[name]()
    own = fit(whole(clone(svc)), X, y)
    rows = X if rows is None else rows
    assert (fastsvm_cli.compile(own).predict(rows) == own.predict(rows)).all()


def test_scalers_after_other_steps_run_in_the_compiled_model():
    X, y = load_iris(return_X_y=True)
    fast = fastsvm_cli.compile(make_pipeline(PCA(2), StandardScaler(), SVC()).fit(X, y))
    assert isinstance(fast, CompiledEstimator) and len(fast.steps) == 2 and fast[-1].transform is not None
    assert isinstance(fastsvm_cli.compile(make_pipeline(StandardScaler(), SVC()).fit(X, y)), fastsvm_cli.FastSVM)


def test_names_of_columns_are_checked():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for estimator in (make_pipeline(PCA(2), SVC()), VotingClassifier(TWO)):
        fast = fastsvm_cli.compile(estimator.fit(X, y))
        assert list(fast.feature_names_in_) == list(X.columns) and (fast.predict(X) == estimator.predict(X)).all()
        with pytest.raises(ValueError, match="feature names"):
            fast.predict(X.rename(columns={X.columns[0]: "other"}))
        with pytest.warns(UserWarning, match="valid feature names"):
            fast.predict(X.to_numpy())


def test_rows_pass_the_steps_on_their_way_to_a_method():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(PCA(3), SVC()).fit(X, y)
    for data in (X, (X, y), pandas.DataFrame(X)):
        fast = fastsvm_cli.compile(pipe, "border", samples=100, data=data, on_progress=False)
        assert fast.agreement(X).share < 0.2 and fast[-1].options["method"] == "border"
    assert fastsvm_cli.compile(pipe, "auto", X=X, budget=0.1, time_limit=0.1)[-1].attempts_


def test_text_goes_through_a_pipeline():
    X, y = ["one cat", "a dog ran", "a cat and a dog", "birds fly"] * 8, ["cat", "dog", "cat", "bird"] * 8
    own = make_pipeline(TfidfVectorizer(), MaxAbsScaler(), SVC()).fit(X, y)
    fast = fastsvm_cli.compile(own)
    assert (fast.predict(X) == own.predict(X)).all() and fast.score(X, y) == own.score(X, y)
    assert CompiledSVC(own).fit(X, y).agreement(X).different == 0
    fast = fastsvm_cli.compile(own, "auto", X=X, time_limit=0.1, budget=0)
    assert fast[-1].attempts_ and (fast.predict(X) == own.predict(X)).all()


def test_options_reach_every_member():
    X, y = load_iris(return_X_y=True)
    fast = fastsvm_cli.compile(VotingClassifier(TWO).fit(X, y), "approx", degree=3, n_threads=1, on_progress=False)
    assert [(each.options["degree"], each.n_threads) for each in members(fast.estimators_)] == [(3, 1)] * 2
    with pytest.raises(FastsvmError, match="sigmoid"):
        fastsvm_cli.compile(VotingClassifier([("a", SVC(kernel="sigmoid")), *TWO[1:]]).fit(X, y), "approx")


def test_members_that_cannot_be_compiled_stay_scikit_learns():
    X, y = load_iris(return_X_y=True)
    own = VotingClassifier([("a", SVC()), ("b", SVC(kernel=lambda a, b: a @ b.T))]).fit(X, y)
    fast = fastsvm_cli.compile(own)
    assert len(members(fast)) == 1 and (fast.predict(X) == own.predict(X)).all()
    steps = CalibratedClassifierCV(REDUCED, method="isotonic", ensemble=False).fit(X, y)
    with pytest.raises(FastsvmError, match="PCA: not a scaler"):
        fastsvm_cli.compile(steps)


def test_estimators_that_train_take_them():
    X, y = load_iris(return_X_y=True)
    for own in (REDUCED, OneVsRestClassifier(SVC())):
        fast = CompiledSVC(own).fit(X, y)
        assert (fast.predict(X) == fast.estimator_.predict(X)).all() and fast.agreement(X).different == 0
    fast = CompiledOneClassSVM(make_pipeline(PCA(2), OneClassSVM())).fit(X)
    assert fast.offset_ == pytest.approx(fast.estimator_[-1].offset_[0])
