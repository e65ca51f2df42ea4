"""Exceptions for invalid rows: scikit-learn's types, and its words about the rows."""

import numpy as np
import pytest
import scipy.sparse

import fastsvm_cli
from support.training import train


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """SVC and an object, for the same two features."""
    from sklearn.svm import SVC

    x = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
    path = tmp_path_factory.mktemp("messages") / "m"
    train(path, [{1: a, 2: b} for a, b in x.tolist()], [1, 1, -1, -1], "-g 1")
    return SVC(gamma=1).fit(x, [1, 1, -1, -1]), fastsvm_cli.load(path)


def _with(value):
    X = np.ones((3, 2))
    X[1, 1] = value
    return X


WRONG = {
    "one dimension": np.ones(2),
    "a list of numbers": [1.0, 2.0],
    "no dimension": np.float64(3),
    "three dimensions": np.ones((2, 2, 2)),
    "too few features": np.ones((3, 1)),
    "too many features": np.ones((3, 5)),
    "too many sparse features": scipy.sparse.csr_matrix(np.ones((3, 5))),
    "no rows": np.ones((0, 2)),
    "no sparse rows": scipy.sparse.csr_matrix((0, 2)),
    "no columns": np.ones((3, 0)),
    "nan": _with(np.nan),
    "nan in single precision": _with(np.nan).astype("f4"),
    "nan in half precision": _with(np.nan).astype("f2"),
    "infinity": _with(np.inf),
    "minus infinity": _with(-np.inf),
    "nan and infinity": np.array([[np.inf, 1], [1, np.nan]]),
    "sparse nan": scipy.sparse.csr_matrix(_with(np.nan)),
    "sparse infinity": scipy.sparse.csr_matrix(_with(np.inf)),
    "nan among objects": _with(np.nan).astype(object),
    "complex numbers": np.ones((3, 2), dtype=complex),
    "sparse complex numbers": scipy.sparse.csr_matrix(np.ones((3, 2), dtype=complex)),
    "words": np.array([["a", "b"]]),
    "words in a list": [["a", "b"]],
    "a ragged list": [[1.0, 2.0], [1.0]],
    "numpy's matrix": np.matrix([[1.0, 2.0]]),
}


@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize("what", WRONG)
def test_the_same_exception_in_the_same_words(both, what, method):
    theirs, ours = both
    X = WRONG[what]
    with pytest.raises((ValueError, TypeError)) as expected:
        getattr(theirs, method)(X)
    with pytest.raises((ValueError, TypeError)) as found:
        getattr(ours, method)(X)
    assert found.type is expected.type
    printed, requested = (str(each.value).replace("FastSVM", "SVC") for each in (found, expected))
    # Advice, and the end of the message about too many features, differ; dimensions depend on the version.
    first = printed.split("\n")[0].split(" (the model file")[0].split(", while dim")[0]
    assert first.rstrip(".:") in requested, (printed, requested)


def test_a_model_file_may_name_fewer_features_than_the_data_had(both):
    _, fast = both
    with pytest.raises(ValueError, match=r"expecting 2 features as input\. \(.*n_features_in="):
        fast.predict(np.ones((1, 5)))
    wider = fastsvm_cli.FastSVM(fast.model, n_features_in=5)
    assert wider.predict([[1.0, 0, 0, 0, 0]]) == fast.predict([[1.0, 0]])
    with pytest.raises(ValueError, match=r"expecting 5 features as input\.$"):
        wider.predict(np.ones((1, 2)))
    with pytest.raises(ValueError, match="n_features_in=1 found, but the model knows a feature 2"):
        fastsvm_cli.FastSVM(fast.model, n_features_in=1)
