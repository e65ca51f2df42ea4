"""Chunks from arrays and other chunks: bit for bit those parsed from the same numbers as text."""

import gc

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli._native import Chunk
from support.messages import table
from support.profiles import calm

NUMBER = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -2.2250738585072009e-308, 1.7976931348623157e308, 0.1, 1.0]),
)
UP_TO_3 = st.integers(0, 3)


@st.composite
def csr(draw, leading_count=UP_TO_3):
    """(leading (rows, leading_count), indptr, indices, values)"""
    rows, count = draw(st.integers(0, 6)), draw(leading_count)
    index = st.one_of(st.integers(0, 9), st.integers(0, 2**31 - 1))
    indices = [sorted(draw(st.sets(index, max_size=6))) for _ in range(rows)]
    leading = np.array([[draw(NUMBER) for _ in range(count)] for _ in range(rows)], float).reshape(rows, count)
    entries = [i for row in indices for i in row]
    values = np.array([draw(NUMBER) for _ in entries], float)
    return leading, np.cumsum([0, *map(len, indices)]), np.array(entries, np.int32), values


def text_of(leading, indptr, indices, values):
    entries = [f"{index}:{value!r}" for index, value in zip(indices.tolist(), values.tolist())]
    rows = zip(leading.tolist(), indptr.tolist(), indptr[1:].tolist())
    return "".join(" ".join([*map(repr, before), *entries[a:b]]) + "\n" for before, a, b in rows).encode()


def parsed(text, **options):
    chunk, error, _, _ = _native.parse(text, **options)
    assert error is None, error
    return chunk


def assert_equal(one, other):
    """Bit for bit, with the same row ends."""
    for name in ("leading", "indptr", "indices", "values", "squared_norms"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours.shape, ours.format, bytes(ours)) == (theirs.shape, theirs.format, bytes(theirs)), name
    assert (one.rows, one.leading_count) == (other.rows, other.leading_count)


@calm()
@given(csr())
def test_sparse_arrays_give_the_chunk_that_their_text_gives(arrays):
    chunk = Chunk.from_csr(*arrays)
    expected = parsed(text_of(*arrays), leading_count=arrays[0].shape[1])
    assert_equal(chunk, expected)
    assert (chunk.max_index, chunk.first_line) == (expected.max_index, 1)
    leading, indptr, indices, values = arrays
    again = parsed(_native.format_rows(chunk), leading_count=chunk.leading_count)
    assert_equal(again, Chunk.from_csr(leading + 0.0, indptr, indices, values + 0.0))  # -0 is written as 0
    assert_equal(Chunk.from_csr(chunk.leading, chunk.indptr, chunk.indices, chunk.values), chunk)


@calm()
@given(st.integers(0, 5), st.integers(0, 4), st.booleans(), st.data())
def test_a_matrix_gives_the_chunk_that_its_text_gives(rows, d, labelled, data):
    x = np.array([[data.draw(NUMBER) for _ in range(d)] for _ in range(rows)], float).reshape(rows, d)
    y = np.array([data.draw(NUMBER) for _ in range(rows)], float).reshape(rows, 1)[:, : int(labelled)]
    chunk = Chunk.from_dense(y, x)
    assert chunk.max_index == d
    if labelled or d:
        lines = (",".join(map(repr, row)) + "\n" for row in np.hstack([y, x]).tolist())
        expected = parsed("".join(lines).encode(), leading_count=int(labelled), dense=True)
        assert_equal(chunk, expected)
        assert not rows or chunk.max_index == expected.max_index
    columns = np.array(sorted(data.draw(st.sets(st.integers(0, 2**31 - 1), min_size=d, max_size=d))), np.int32)
    stored = scipy.sparse.csr_matrix(x)
    stored.eliminate_zeros()
    expected = parsed(text_of(y, stored.indptr, columns[stored.indices], stored.data), leading_count=int(labelled))
    assert_equal(Chunk.from_dense(y, x, columns), expected)


@calm()
@given(st.integers(0, 2), st.data())
def test_chunks_in_a_row_are_the_chunk_that_their_texts_give(leading_count, data):
    parts = data.draw(st.lists(csr(st.just(leading_count)), min_size=1, max_size=4))
    chunk = Chunk.concatenate(Chunk.from_csr(*arrays) for arrays in parts)
    expected = parsed(b"".join(text_of(*arrays) for arrays in parts), leading_count=leading_count)
    assert_equal(chunk, expected)
    assert chunk.max_index == expected.max_index


def test_chunks_in_a_row_begin_where_the_first_does():
    """One leading number per row may stand in a row."""
    chunk = Chunk.from_csr(np.array([1.0, 2.0]), np.array([0, 0, 0]), np.array([]), np.array([]))
    assert_equal(chunk, parsed(b"1\n2\n"))
    text = b"1 1:2\n3 4:5\n6\n"
    whole = parsed(text, first_line=7)
    parts = [whole.slice(1, 3), whole.slice(0, 1)]
    chunk = Chunk.concatenate(parts)
    assert _native.format_rows(chunk) == b"3 4:5\n6\n1 1:2\n" and chunk.first_line == 8
    none = Chunk.concatenate([])
    assert (none.rows, none.leading_count, none.first_line, none.max_index) == (0, 1, 1, 0)


def read_only(numbers):
    out = numbers.view()
    out.flags.writeable = False
    return out


def test_read_only_arrays_are_shared_and_others_copied():
    leading, indptr = np.array([[1.0], [2.0]]), np.array([0, 1, 2])
    indices, values = np.array([1, 2], np.int32), np.array([0.5, 0.25])
    arrays = dict(leading=leading, indptr=indptr, indices=indices, values=values)
    shared = Chunk.from_csr(**{name: read_only(numbers) for name, numbers in arrays.items()})
    copied = Chunk.from_csr(**arrays)
    for name, numbers in arrays.items():
        assert np.shares_memory(np.asarray(getattr(shared, name)), numbers)
        assert not np.shares_memory(np.asarray(getattr(copied, name)), numbers)
    values[0], indices[0] = np.nan, -5
    assert _native.format_rows(copied) == b"1 1:0.5\n2 2:0.25\n"
    x = np.arange(1.0, 13.0).reshape(3, 4)
    frozen = read_only(x)
    assert np.shares_memory(Chunk.from_dense(None, frozen).values, x)
    for other in (x, frozen[:, ::2], frozen.astype("f4"), np.where(frozen == 5, 0, frozen)):
        assert not np.shares_memory(Chunk.from_dense(None, other).values, x)


def test_what_is_shared_stays_while_a_chunk_needs_it():
    chunk = parsed(b"1 1:2 3:4\n" * 5000)
    again = Chunk.from_csr(chunk.leading, chunk.indptr, chunk.indices, chunk.values)
    assert np.shares_memory(np.asarray(again.values), np.asarray(chunk.values))
    frozen = read_only(np.arange(1.0, 10001.0))
    values = Chunk.from_csr(chunk.leading, chunk.indptr, chunk.indices, frozen).values
    dense = Chunk.from_dense(None, frozen.reshape(-1, 4))
    del chunk, frozen
    gc.collect()
    assert again.values.tolist() == [2.0, 4.0] * 5000 and dense.leading_count == 0
    assert values.tolist() == dense.values.tolist() == list(range(1, 10001))


def test_many_rows_are_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(5)
    x = scipy.sparse.random(20000, 7, 0.5, "csr", rng=rng, data_rvs=rng.standard_normal)
    y = rng.integers(0, 3, 20000).astype(float)
    expected = parsed(text_of(y[:, None], x.indptr, x.indices + 1, x.data))
    worse = x.toarray()
    worse[[19000, 12345, 17000]] = np.inf
    wrong = x.indices + 1
    broken = np.flatnonzero(np.diff(x.indptr) > 1)[[12000, 4000, 9000]]
    wrong[x.indptr[broken] + 1] = wrong[x.indptr[broken]]
    for threads in (1, 2, 5):
        _native.set_threads(threads)
        assert_equal(Chunk.from_csr(y, x.indptr, x.indices + 1, x.data), expected)
        assert_equal(Chunk.from_dense(y, x.toarray()), expected)
        with pytest.raises(ValueError, match=r"^row 12345: a value inf found, expected a finite number$"):
            Chunk.from_dense(y, worse)
        why = f"^row {broken[1]}: index . found after index ., expected increasing indices$"
        with pytest.raises(ValueError, match=why):
            Chunk.from_csr(y, x.indptr, wrong, x.data)


def csr_of(leading=(1,), indptr=(0, 1), indices=(1,), values=(1,)):
    """By default a row of label 1 and 1:1."""
    types = (float, np.int64, np.int64, float)
    arrays = (leading, indptr, indices, values)
    return Chunk.from_csr(*(np.asarray(each, getattr(each, "dtype", kind)) for each, kind in zip(arrays, types)))


NAMES = {"csr": csr_of, "dense": Chunk.from_dense, "array": np.array, "nan": np.nan, "inf": np.inf}


@pytest.mark.parametrize("arrays, why", table("messages.txt", "refused chunks"))
def test_arrays_are_refused_as_text_would_be(arrays, why):
    with pytest.raises(ValueError) as caught:
        eval(arrays, NAMES)
    assert str(caught.value) == why


def test_chunks_of_different_data_make_none():
    labelled, unlabelled = parsed(b"1 1:2\n"), parsed(b"1:2\n", leading_count=0)
    why = "^a chunk of 0 leading numbers found after one of 1, expected the same in all$"
    with pytest.raises(ValueError, match=why):
        Chunk.concatenate([labelled, unlabelled])
    with pytest.raises(TypeError):
        Chunk.concatenate([labelled, None])
    with pytest.raises(TypeError):
        Chunk.from_csr([1.0], [0, 1], [1], [1.0])


@pytest.mark.parametrize(
    "kind, layout, zeros",
    [("f8", "C", 0), ("f8", "F", 0.4), ("f4", "C", 0.4), ("f4", "spread", 0), ("i8", "F", 0), ("i4", "spread", 0.4)],
)
def test_any_number_of_dense_rows_in_any_layout(kind, layout, zeros):
    """Squared norms are summed for several rows at a time."""
    rng = np.random.default_rng(5)
    for rows in (1, 2, 3, 7, 8, 9, 17):
        x = rng.integers(1, 1000, (rows, 13)) * (0.1 if kind[0] == "f" else 1)
        x[rng.random(x.shape) < zeros] = 0
        x = x.astype(kind)
        y = np.arange(rows, dtype=float)
        stored = scipy.sparse.csr_matrix(x.astype(float))
        expected = parsed(text_of(y[:, None], stored.indptr, stored.indices + 1, stored.data))
        given = np.repeat(x, 2, axis=1)[:, ::2] if layout == "spread" else np.array(x, order=layout)
        assert_equal(Chunk.from_dense(y, given), expected)
        for at in (0, 12) if kind[0] == "f" else ():
            given = given.copy()
            given[-1, at] = np.nan
            with pytest.raises(ValueError, match=rf"^row {rows - 1}: a value nan found"):
                Chunk.from_dense(y, given)
