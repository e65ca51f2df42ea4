"""Sparse matrices with inconsistent arrays, and duplicates of types that cannot hold their sum."""

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC

import fastsvm_cli

ROWS, COLUMNS = 600, 3  # several blocks
X = np.random.default_rng(0).random((ROWS, COLUMNS))
Y = X[:, 0] > 0.5


@pytest.fixture(scope="module")
def models():
    plain = fastsvm_cli.compile(SVC().fit(X, Y), "exact")
    scaled = fastsvm_cli.compile(make_pipeline(MaxAbsScaler(), SVC()).fit(X, Y), "exact")
    assert scaled.transform is not None
    return plain, scaled


def _broken(array, at, value, dtype=np.int32):
    matrix = scipy.sparse.csr_matrix(X)
    changed = getattr(matrix, array).astype(dtype)
    changed[at] = value
    if dtype is np.int64:
        matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    setattr(matrix, array, changed)
    return matrix


@pytest.mark.parametrize(
    ("array", "at", "value", "dtype", "words"),
    [
        ("indptr", slice(301, None), 10**9, np.int32, "row 300: indptr 900 and 1000000000 found"),
        ("indptr", 301, 10**9, np.int32, "row 300: indptr 900 and 1000000000 found"),
        ("indptr", ROWS, 10**9, np.int32, "row 599: indptr 1797 and 1000000000 found"),
        ("indptr", 2, -5, np.int32, "row 1: indptr 3 and -5 found, expected numbers that do not fall"),
        ("indptr", 2, 12, np.int32, "row 2: indptr 12 and 9 found"),
        ("indptr", 0, 3, np.int32, "row 0: indptr 3 and 3 found, expected numbers that begin at 0"),
        ("indptr", 2, -(2**62), np.int64, "row 1: indptr 3 and -4611686018427387904 found"),
        ("indices", 1203, -1, np.int32, "row 401: column -1 found, expected columns from 0 to 2"),
        ("indices", 1204, 7, np.int32, "row 401: column 7 found"),
        ("indices", 1205, 2**31 - 1, np.int32, "row 401: column 2147483647 found"),
        ("indices", 1205, 2**40, np.int64, "row 401: column 1099511627776 found"),
        ("indices", slice(1203, 1206), [2, -7, 0], np.int32, "row 401: column -7 found"),
        ("indices", slice(1203, 1206), [2, 7 * 10**7, 0], np.int32, "row 401: column 70000000 found"),
    ],
)
def test_a_row_that_is_none_is_named(models, array, at, value, dtype, words):
    for ask in (models[0].predict, models[1].decision_function):
        with pytest.raises(ValueError, match=words):
            ask(_broken(array, at, value, dtype))


def test_arrays_of_other_lengths(models):
    for array, length, words in (
        ("indptr", -3, "indptr: 598 numbers found in the sparse matrix, expected 601"),
        ("data", -30, "indices: 1800 numbers found in the sparse matrix, expected 1770"),
    ):
        matrix = scipy.sparse.csr_matrix(X)
        setattr(matrix, array, getattr(matrix, array)[:length])
        for fast in models:
            with pytest.raises(ValueError, match=words):
                fast.predict(matrix)


def test_other_formats_that_point_outside(models):
    """SciPy would follow them during conversion to CSR."""
    for value in (10**7, -(10**7)):
        columns = scipy.sparse.csc_matrix(X)
        columns.indices = columns.indices.copy()
        columns.indices[5] = value
        entries = scipy.sparse.coo_matrix(X)
        entries.col = entries.col.copy()
        entries.col[5] = value
        for matrix, words in ((columns, "indices must be"), (entries, f"column {value} found")):
            with pytest.raises(ValueError, match=words):
                models[0].predict(matrix)


@pytest.mark.parametrize("dtype, form", [*zip(["i1", "u1", "?", "u2", "f4", "f4", "i8"], ["csr", "coo"] * 4)])
def test_duplicates_are_added_up_in_double_precision(dtype, form):
    parts = np.array([100, 100, 1, 3] if dtype != "?" else [1, 1, 1, 1], dtype)
    if dtype == "f4":
        parts = np.array([2**24, 1, 1, 3], dtype)  # single precision rounds their sum
    matrix = scipy.sparse.coo_matrix((parts, ([0, 0, 0, 1], [2, 2, 0, 1])), shape=(2, COLUMNS))
    if form == "csr":
        order = ([0, 2, 1, 3], [2, 0, 2, 1], [0, 3, 4])
        matrix = scipy.sparse.csr_matrix((parts[order[0]], order[1], order[2]), shape=(2, COLUMNS))
        matrix.data = parts[order[0]]
    dense = np.zeros((2, COLUMNS))
    np.add.at(dense, ([0, 0, 0, 1], [2, 2, 0, 1]), parts.astype(float))
    narrow = fastsvm_cli.compile(SVC(kernel="linear").fit(X, Y), "exact")
    assert np.array_equal(narrow.decision_function(matrix), narrow.decision_function(dense))


def test_a_sum_that_overflows(models):
    matrix = scipy.sparse.csr_matrix(([1.5e308, 1.5e308], [1, 1], [0, 2]), shape=(1, COLUMNS))
    with pytest.raises(ValueError, match="row 0: entries of one column found whose sum overflows"):
        models[0].predict(matrix)


_DATES = pandas.to_datetime(["2020-01-01", "2021-01-01"])


@pytest.mark.parametrize(
    ("frame", "error", "words"),
    [
        ({"a": [1 + 2j, 0], "b": [1.0, 2.0], "c": 0}, ValueError, "Complex data not supported"),
        ({"a": np.array([1 + 2j, 0], object), "b": [1.0, 2.0], "c": 0}, TypeError, "not 'complex'"),
        ({"a": _DATES, "b": [1.0, 2.0], "c": 0}, TypeError, r"column 'a' of type datetime64.* found"),
        ({"a": _DATES, "b": _DATES, "c": _DATES}, TypeError, "column 'a' of type datetime64"),
        ({"a": 0, "b": 1, "c": _DATES.tz_localize("UTC")}, TypeError, "column 'c' of type datetime64"),
        ({"a": 0, "b": _DATES - _DATES[0], "c": 0}, TypeError, "column 'b' of type timedelta64"),
        (np.array([_DATES] * 3).T.astype("M8[ns]"), TypeError, "X of type datetime64"),
    ],
)
def test_columns_that_are_no_real_numbers(models, frame, error, words):
    for fast in models:
        with pytest.raises(error, match=words):
            fast.predict(pandas.DataFrame(frame) if isinstance(frame, dict) else frame)
