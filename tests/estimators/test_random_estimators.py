"""Random estimators: the exact method answers as scikit-learn does, whatever was fitted."""

import pickle

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import fastsvm_cli
from support.fitting import CLASSIFIERS, KERNELS, KINDS, SCALERS, SCALES, answers, fit, require_same, size
from support.profiles import seeded


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
    scalers = [
        SCALERS[each] for each in draw(st.lists(st.sampled_from(SCALES if sparse else sorted(SCALERS)), max_size=2))
    ]
    return (
        make_pipeline(*map(clone, scalers), KINDS[kind](**parameters)),
        scipy.sparse.csr_matrix(X) if sparse else X,
        y,
    )


@seeded(500)
@given(cases())
def test_answers_are_scikit_learns(case):
    estimator, X, y = case
    try:
        fit(estimator, X, y)
    except ValueError:  # an infeasible nu, or a fit that does not converge
        return
    fast = fastsvm_cli.compile(estimator, "exact")
    expected = answers(estimator, X)
    require_same(answers(fast, X), expected, 1e-9 * size(estimator, X))
    assert (pickle.loads(pickle.dumps(fast)).predict(X) == fast.predict(X)).all()
