"""Random estimators: the exact method answers as scikit-learn does, whatever was fitted."""

import pickle

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import fastsvm_cli
from support.fitting import CLASSIFIERS, KERNELS, KINDS, fit, pairwise, scale
from support.profiles import seeded

SCALERS = [StandardScaler, MinMaxScaler, RobustScaler, lambda: MinMaxScaler(clip=True)]
SCALES = [MaxAbsScaler, lambda: StandardScaler(with_mean=False), lambda: RobustScaler(with_centering=False)]


@st.composite
def cases(draw):
    """(unfitted estimator, X, y)"""
    kind, kernel = draw(st.sampled_from(sorted(KINDS))), draw(st.sampled_from(KERNELS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.integers(2, 4))
    n, d = draw(st.integers(8, 30)), draw(st.integers(1, 6))
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d)) + draw(st.sampled_from([0, 1, 3])) * rng.normal(size=(classes, d))[y]
    X[rng.random(X.shape) < draw(st.sampled_from([0, 0.5, 0.95]))] = 0
    X *= 10.0 ** rng.integers(-2, 3, d) if draw(st.booleans()) else 1
    parameters = {
        "kernel": kernel,
        "gamma": draw(st.sampled_from(["scale", "auto", 0.01, 1.0, 5.0])),
        "coef0": draw(st.sampled_from([0.0, 1.0, -0.5])),
        "degree": draw(st.integers(1, 4)),
        "max_iter": 2000,  # some kernels do not converge
    }
    if kind in ("SVC", "SVR", "NuSVR"):
        parameters["C"] = draw(st.sampled_from([0.01, 1.0, 100.0]))
    if kind in CLASSIFIERS:
        parameters |= {
            "class_weight": draw(st.sampled_from([None, "balanced"])) if kind == "SVC" else None,
            "decision_function_shape": draw(st.sampled_from(["ovr", "ovo"])),
        }
        parameters |= {"nu": 0.1} if kind == "NuSVC" else {}
        parameters["break_ties"] = parameters["decision_function_shape"] == "ovr" and draw(st.booleans())
        names = draw(st.sampled_from([[0, 1, 2, 3], ["d", "a", "c", "b"], [5, -5, 7, 0], [2.0, -1.0, 0.0, 9.0]]))
        y = np.array(names)[y]
    else:
        y = X.sum(axis=1) + rng.normal(size=n)
    sparse = draw(st.booleans())
    scalers = [draw(st.sampled_from(SCALES if sparse else SCALERS + SCALES))() for _ in range(draw(st.integers(0, 2)))]
    return make_pipeline(*scalers, KINDS[kind](**parameters)), scipy.sparse.csr_matrix(X) if sparse else X, y


@seeded(500)
@given(cases())
def test_answers_are_scikit_learns(case):
    estimator, X, y = case
    try:
        fit(estimator, X, y)
    except ValueError:  # an infeasible nu, or a fit that does not converge
        return
    fast = fastsvm_cli.compile(estimator, "exact")
    inner = estimator[:-1].transform(X) if len(estimator) > 1 else X
    values = pairwise(estimator[-1], inner)
    # Bound on rounding, for unbounded kernels too.
    svm = estimator[-1]
    size = scale(fast.model) * max(1.0, _largest_kernel(svm, inner))
    found = _pairwise_of(fast, X)
    assert np.max(abs(found - values)) <= 1e-9 * size
    sure = (abs(values) > 1e-9 * size).all(axis=1)
    if getattr(svm, "break_ties", False):
        best = np.sort(np.atleast_2d(svm.decision_function(inner)), axis=-1)
        sure = sure & (best[:, -1] - best[:, -2] > 1e-6) if best.shape[0] == len(sure) else sure
    if hasattr(svm, "classes_"):
        assert (fast.predict(X)[sure] == estimator.predict(X)[sure]).all()
        assert fast.predict(X).dtype == estimator.predict(X).dtype
    again = pickle.loads(pickle.dumps(fast))
    assert (again.predict(X) == fast.predict(X)).all()


def _pairwise_of(fast, X):
    """(rows, pairs) values of a FastSVM, in LIBSVM's order and signs."""
    if fast.model.header.regression:
        return fast.predict(X)[:, None]
    fast = fast.__sklearn_clone__().set_params(decision_function_shape="ovo", break_ties=False)
    values = fast.decision_function(X)
    if fast.model.header.classification and values.ndim == 1:
        values = -values
    return values if values.ndim == 2 else values[:, None]


def _largest_kernel(svm, X):
    X = X.toarray() if scipy.sparse.issparse(X) else X
    vectors = svm.support_vectors_
    vectors = vectors.toarray() if scipy.sparse.issparse(vectors) else vectors
    products = np.max(np.linalg.norm(X, axis=1), initial=0) * np.max(np.linalg.norm(vectors, axis=1), initial=0)
    if svm.kernel == "linear":
        return products
    if svm.kernel == "poly":
        return (svm._gamma * products + abs(svm.coef0)) ** svm.degree
    return 1.0
