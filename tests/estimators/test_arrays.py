"""Rows in every form that a program may have them in."""

import numpy as np
import pandas
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

import fastsvm_cli
from fastsvm_cli.estimators import rows as row_blocks
from fastsvm_cli.estimators.rows import rows_of
from support.arrays import sparse_rows
from support.profiles import calm
from support.training import train


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A model of whole numbers from 0 to 3, rows, values."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 4, (120, 5))
    path = tmp_path_factory.mktemp("whole") / "model"
    rows = [{j + 1: float(v) for j, v in enumerate(row)} for row in x]
    y = np.where(x[:, 0] * x[:, 1] > 2, 3, np.where(x[:, 2] > 1, -1, 2))
    train(path, rows, y.tolist(), "-g 0.2 -c 3")
    fast = fastsvm_cli.load(path, decision_function_shape="ovo")
    x = rng.integers(0, 4, (50, 5))
    return fast, x, fast.decision_function(x.astype(float))


DTYPES = ["f8", "f4", "f2", ">f8", ">f4", "g", "i1", "u1", "<i2", ">i2", "i4", ">i4", "u4", "i8", "u8", "O", "U3"]
ORDERS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "unaligned, read-only": lambda X: np.frombuffer(b"?" + X.tobytes(), dtype="u1")[1:].view(X.dtype).reshape(X.shape),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_and_orders_of_memory(whole, dtype):
    fast, x, values = whole
    for order, change in ORDERS.items():
        if "unaligned" in order and dtype == "O":
            continue
        X = change(np.asarray(x).astype(dtype))
        before = X.copy()
        assert np.array_equal(fast.decision_function(X), values), order
        assert np.array_equal(X, before)


def _mixed(x):
    frame = pandas.DataFrame(x, columns=[f"f{j}" for j in range(5)])
    return frame.astype({"f1": "float32", "f2": "int8", "f3": "Int64", "f4": "uint8"}).astype({"f0": object})


#: Of whole numbers.
FORMS = {
    "list of rows": list,
    "tuple": tuple,
    "lists": np.ndarray.tolist,
    "frame": pandas.DataFrame,
    "frame of several types": _mixed,
    **{
        f"{form} {kind} {dtype}": lambda x, make=f"{form}_{kind}", dtype=dtype: getattr(scipy.sparse, make)(
            x.astype(dtype)
        )
        for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
        for kind, dtype in (("matrix", "f8"), ("array", "f4"), ("matrix", "i4"), ("array", "i8"), ("matrix", "u1"))
    },
}


def test_forms_of_rows(whole):
    fast, x, values = whole
    for form, make in FORMS.items():
        assert np.array_equal(fast.decision_function(make(x)), values), form
    expected = fast.decision_function((x > 1).astype(float))
    for truth in (x > 1, scipy.sparse.csr_array(x > 1), scipy.sparse.coo_matrix(x > 1)):
        assert np.array_equal(fast.decision_function(truth), expected)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("stored", [True, False])
def test_csr_that_is_not_sorted_and_has_duplicates(whole, index, stored):
    """stored: marked as canonical, but is not."""
    fast, x, values = whole
    data, indices = [], []
    rng = np.random.default_rng(0)
    for row in x:
        entries = [(j, part) for j, v in enumerate(row) for part in (float(v) - 1.5, 1.0, 0.5)]
        rng.shuffle(entries)
        indices += [int(j) for j, _ in entries]
        data += [part for _, part in entries]
    X = scipy.sparse.csr_matrix((data, indices, np.arange(0, len(data) + 1, 15)), shape=x.shape)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    if stored:
        X.has_sorted_indices = X.has_canonical_format = True
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    assert np.array_equal(fast.decision_function(X), values)
    assert all(map(np.array_equal, before, (X.data, X.indices, X.indptr)))


@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "u2", "f4", "i8"])
def test_duplicates_are_added_up_in_double_precision(dtype):
    # Single precision would round the sum of floats.
    parts = np.array({"?": [1, 1, 1, 1], "f4": [2**24, 1, 1, 3]}.get(dtype, [100, 100, 1, 3]), dtype)
    coo = scipy.sparse.coo_matrix((parts, ([0, 0, 0, 1], [2, 2, 0, 1])), shape=(2, 3))
    csr = scipy.sparse.csr_matrix((parts, [2, 2, 0, 1], [0, 3, 4]), shape=(2, 3))
    dense = np.zeros((2, 3))
    np.add.at(dense, (coo.row, coo.col), parts.astype(float))
    narrow = fastsvm_cli.compile(SVC(kernel="linear").fit(np.eye(3), [0, 1, 1]), "exact")
    for matrix in (coo, csr):
        assert np.array_equal(narrow.decision_function(matrix), narrow.decision_function(dense))


@calm()
@given(st.data())
def test_any_matrix_gives_what_its_rows_give_one_by_one(whole, data):
    fast, _, _ = whole
    entry = st.tuples(st.integers(0, 8), st.integers(0, 4), st.sampled_from([-1.5, -0.0, 0.0, 1.0, 0.1]))
    entries = sorted(data.draw(st.lists(entry, max_size=60)), key=lambda each: each[0])
    rows, columns, values = np.array(entries).reshape(-1, 3).T
    X = scipy.sparse.coo_matrix((values, (rows.astype(int), columns.astype(int))), shape=(9, 5))
    one = np.concatenate([fast.decision_function(row[None]) for row in X.toarray()])
    assert np.array_equal(fast.decision_function(X), one)
    raw = scipy.sparse.csr_matrix((values, columns.astype(np.int32), np.searchsorted(rows, np.arange(10))), (9, 5))
    # Sums of duplicates are rounded in their order.
    assert fast.decision_function(raw) == pytest.approx(one, abs=1e-12)


@pytest.fixture
def small_blocks(monkeypatch, all_threads):
    """Blocks of a few rows."""
    monkeypatch.setattr(row_blocks, "LEAST_ROWS", 7)
    monkeypatch.setattr(row_blocks, "MOST_ENTRIES", 200)
    monkeypatch.setattr(row_blocks, "ALONE_SECONDS", 0.0)


@pytest.mark.full
@pytest.mark.parametrize("name", ["rings.model.approx", "colors.model"])
def test_blocks_and_threads_change_nothing(folder, small_blocks, name):
    fast = fastsvm_cli.load(folder / name)
    X = sparse_rows(folder / f"{name.split('.')[0]}.test", fast.n_features_in_)[0][:150]
    for method in ("predict", "decision_function", "predict_proba", "radius", "proven"):
        if hasattr(fast, method):
            ask = getattr(fast, method)
            fast.n_threads = None
            one = np.concatenate([ask(X[at : at + 1]) for at in range(150)])
            for fast.n_threads in (None, 1, 3):
                for found in (ask(X), ask(X.toarray())):
                    assert found.dtype == one.dtype and np.array_equal(found, one), method


def test_an_error_in_a_later_block_ends_it(folder, small_blocks):
    fast = fastsvm_cli.load(folder / "rings.model")
    X = np.ones((500, 8))
    X[400, 1] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        fast.predict(X)
    X[400, 1] = 1
    assert len(fast.predict(X)) == 500


def test_a_csr_matrix_is_not_copied(whole):
    _, x, _ = whole
    X = scipy.sparse.csr_matrix(x.astype(float))
    chunk = rows_of(X, "it").chunk(3, 9, "it", 1)
    assert np.shares_memory(np.asarray(chunk.values), X.data)
    assert X.data.flags.writeable
