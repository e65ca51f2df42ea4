"""Random parameters and rows: the exact method answers as scikit-learn does, whatever was fitted."""

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import fastsvm_cli
from support.fitting import CLASSIFIERS, KERNELS, KINDS, SCALERS, SCALES, answers, fit, require_same, size
from support.profiles import seeded

PARAMETERS = {
    "kernel": st.sampled_from(KERNELS),
    "gamma": st.sampled_from(["scale", "auto", 0.01, 1.0, 5.0]),
    "coef0": st.sampled_from([0.0, 1.0, -0.5]),
    "degree": st.integers(1, 4),
    "max_iter": st.just(2000),  # some kernels do not converge
}
OF_CLASSES = {"decision_function_shape": st.sampled_from(["ovr", "ovo"]), "break_ties": st.booleans()}
MORE = {"SVC": {"C": st.sampled_from([0.01, 1.0, 100.0]), "class_weight": st.sampled_from([None, "balanced"])}}
MORE["SVR"] = MORE["NuSVR"] = {"C": MORE["SVC"]["C"]}
NAMES = st.sampled_from([[0, 1, 2, 3], ["d", "a", "c", "b"], [5, -5, 7, 0], [2.0, -1.0, 0.0, 9.0]])
#: Mean distance of the classes; share of zeros; whether columns have other scales.
SHAPES = st.tuples(st.sampled_from([0, 1, 3]), st.sampled_from([0, 0.5, 0.95]), st.booleans())


@seeded(120)
@given(kind=st.sampled_from(sorted(KINDS)), seed=st.integers(0, 2**32 - 1), shape=SHAPES, data=st.data())
def test_answers_are_scikit_learns(kind, seed, shape, data):
    classifies, sparse = kind in CLASSIFIERS, data.draw(st.booleans())
    parameters = data.draw(st.fixed_dictionaries(PARAMETERS | MORE.get(kind, {}) | (OF_CLASSES if classifies else {})))
    parameters |= {"nu": 0.1} if kind == "NuSVC" else {}
    if parameters.get("decision_function_shape") == "ovo":
        parameters["break_ties"] = False
    rng, (apart, zeros, scaled) = np.random.default_rng(seed), shape
    n, d, classes = rng.integers(8, 31), rng.integers(1, 7), rng.integers(2, 5)
    y = np.arange(n) % classes
    X = (rng.normal(size=(n, d)) + apart * rng.normal(size=(classes, d))[y]) * (rng.random((n, d)) >= zeros)
    X *= 10.0 ** rng.integers(-2, 3, d) if scaled else 1
    y = np.array(data.draw(NAMES))[y] if classifies else X.sum(axis=1) + rng.normal(size=n)
    X = scipy.sparse.csr_matrix(X) if sparse else X
    scalers = data.draw(st.lists(st.sampled_from(SCALES if sparse else sorted(SCALERS)), max_size=2))
    estimator = make_pipeline(*(clone(SCALERS[each]) for each in scalers), KINDS[kind](**parameters))
    try:
        fit(estimator, X, y)
    except ValueError:  # an infeasible nu, or a fit that does not converge
        return
    require_same(answers(fastsvm_cli.compile(estimator, "exact"), X), answers(estimator, X), 1e-9 * size(estimator, X))
