"""fastsvm_cli.dask: lazy answers for Dask's collections, in this process, equal those for all rows at once."""

import pickle
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import fastsvm_cli
import fastsvm_cli.dask as lazy
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.sklearn import CompiledSVC


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture(scope="module")
def two(folder):
    """(path, exact=, object, X)"""
    X = load_svmlight_file(str(folder / "rings.test"), n_features=8)[0].toarray()[:1000]
    path, exact = str(folder / "rings.model.approx"), str(folder / "rings.model")
    return path, exact, fastsvm_cli.load(path, exact=exact), X


@pytest.fixture(scope="module")
def four(folder):
    X = load_svmlight_file(str(folder / "colors.test"), n_features=60)[0].toarray()[:300]
    path = str(folder / "colors.model")
    return path, None, fastsvm_cli.load(path), X


METHODS = [("two", "predict"), ("four", "decision_function"), ("four", "predict_proba")]


@pytest.fixture(params=METHODS, ids=lambda each: " ".join(each))
def answered(request):
    """(X, the object's answers, a function that answers a collection)"""
    name, method = request.param
    path, exact, fast, X = request.getfixturevalue(name)
    return X, getattr(fast, method)(X), lambda rows: getattr(lazy, method)(rows, path, exact=exact)


def test_a_worker_counts_the_bytes_of_both_models(two):
    _, _, fast, _ = two
    both = fast.model.nbytes + fast.exact.model.nbytes
    assert both > 8 * 1000 and both < sys.getsizeof(lazy.SentModel(fast)) < both + 1000


def same(found, expected):
    return found.dtype == expected.dtype and found.shape == expected.shape and (found == expected).all()


def test_arrays_are_answered_in_their_chunks_whatever_those_of_their_columns(answered):
    X, expected, ask = answered
    rows = (70, 130, len(X) - 200)
    for columns, scheduler in ((X.shape[1], "sync"), (3, "threads")):
        found = ask(da.from_array(X, chunks=(rows, columns)))
        assert found.shape == expected.shape and found.dtype == expected.dtype and found.chunks[0] == rows
        assert found._meta.ndim == expected.ndim and same(found.compute(scheduler=scheduler), expected)


def test_arrays_of_unknown_chunks_and_of_sparse_or_empty_ones(answered):
    X, expected, ask = answered
    array = da.from_array(X, chunks=(100, -1))
    sparse = array.map_blocks(scipy.sparse.csr_matrix, dtype=float, meta=scipy.sparse.csr_matrix((0, 0)))
    assert same(ask(sparse).compute(), expected)
    for least in (np.median(X[:, 0]), X[:100, 0].max()):  # the first block has no row above the last
        found = ask(array[array[:, 0] > least])
        assert np.isnan(found.chunks[0]).all() and same(found.compute(), expected[X[:, 0] > least])
    assert same(ask(array[:0]).compute(), expected[:0])


def test_frames_keep_index_and_divisions(answered):
    X, expected, ask = answered
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])], index=np.arange(len(X)) * 2 + 5)
    rows = dd.from_pandas(frame, npartitions=4)
    for partial in (rows, rows[rows.f0 > np.median(X[:, 0])], rows[rows.f0 > X[:300, 0].max()]):
        found, requested = ask(partial), partial.compute()
        assert found.divisions == partial.divisions
        answer = found.compute()
        assert same(answer.to_numpy(), expected[frame.index.isin(requested.index)])
        assert answer.index.equals(requested.index)
        if expected.ndim == 1:
            assert isinstance(answer, pd.Series) and found.dtype == answer.dtype
        else:
            assert list(found.columns) == list(answer.columns) == [1, 2, 3, 7]
            assert (found.dtypes == answer.dtypes).all()


def test_bags_of_lines_of_text(two, folder):
    path, exact, fast, X = two
    lines = (folder / "rings.test").read_bytes().splitlines(keepends=True)[:1000]
    for each in (lines, [line.decode().rstrip() for line in lines]):
        bag = db.from_sequence(each, npartitions=3)
        assert lazy.predict(bag, path, exact=exact).compute() == fast.predict(X).tolist()
    bare = db.from_sequence([line.partition(b" ")[2] for line in lines], npartitions=3)
    found = lazy.decision_function(bare, path, exact=exact, unlabelled=True).compute()
    assert found == fast.decision_function(X).tolist()
    # As in a file, unknown features count.
    far = db.from_sequence([b"1 1:0.5 900:2\n"], npartitions=1)
    (folder / "far").write_bytes(b"1 1:0.5 900:2\n")
    fastsvm_cli.predict_file(folder / "far", path, folder / "out", values=True)
    value = float((folder / "out").read_text().split()[1])
    (found,) = lazy.decision_function(far, path).compute()
    assert found in (value, -value)
    with pytest.raises(ValueError, match=r"partition 1, line 3: 'x' found"):
        lazy.predict(db.from_sequence([*lines[:5], b"1 x"], npartitions=2), path).compute()
    with pytest.raises(ValueError, match="partition 0: 2 lines in 1 elements found"):
        lazy.predict(db.from_sequence([b"1 1:1\n1 1:2"], npartitions=1), path).compute()


def test_empty_lines_are_rows_of_zeros_without_labels(two):
    path, exact, fast, X = two
    bag = db.from_sequence(["", "1:0.5", "\n", "", "2:-1", "\n"], npartitions=2)
    rows = np.zeros((6, X.shape[1]))
    rows[1, 0], rows[4, 1] = 0.5, -1
    assert lazy.predict(bag, path, exact=exact, unlabelled=True).compute() == fast.predict(rows).tolist()
    with pytest.raises(ValueError, match="partition 1, line 1: a blank line"):
        lazy.predict(bag, path, exact=exact).compute()


def test_nothing_is_computed_before_it_is_asked_for(two):
    path, _, _, X = two

    def fail(block):
        raise RuntimeError("computed")

    array = da.from_array(X, chunks=(100, 2)).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2).map_partitions(fail, meta=pd.DataFrame(X[:0]))
    bag = db.from_sequence([b"1 1:1"]).map(fail)
    for rows in (array, frame, bag, dask.delayed(fail)(X)):
        found = lazy.predict(rows, path)
        with pytest.raises(RuntimeError, match="computed"):
            found.compute()


def test_models_of_every_form(two):
    path, exact, fast, X = two
    rows, y = da.from_array(X, chunks=(300, -1)), np.where(X[:, 0] > 0.5, "far", "near")
    svc = SVC(gamma=0.5).fit(X[:200], y[:200])
    named = fastsvm_cli.compile(svc, "approx", degree=3)
    for model, expected in ((svc, svc), (named, named), (CompiledSVC(svc).fit(X[:200], y[:200]), svc)):
        assert same(lazy.predict(rows, model).compute(), expected.predict(X))
    for model in (fastsvm_cli.load_model(path), fastsvm_cli.load(path)):
        assert same(lazy.predict(rows, model, exact=exact).compute(), fast.predict(X))
    assert fast.n_threads is None  # the given object is unchanged
    names = lazy.predict(dd.from_pandas(pd.DataFrame(X), npartitions=2), named)
    assert names.dtype == names.compute().dtype and names.compute().tolist() == named.predict(X).tolist()
    matrix = lazy.predict(dask.delayed(scipy.sparse.csr_matrix)(X), path)
    assert same(matrix.compute(), fastsvm_cli.load(path).predict(X))


def test_the_model_is_one_object_for_all_tasks(two, monkeypatch):
    path, _, fast, X = two
    seen, answer = set(), FastSVM.predict
    monkeypatch.setattr(FastSVM, "predict", lambda self, rows: seen.add(id(self)) or answer(self, rows))
    found = lazy.predict(da.from_array(X, chunks=(50, -1)), path)
    for scheduler in ("sync", "threads"):
        found.compute(scheduler=scheduler)
    assert len(seen) == 1
    lazy.predict(dd.from_pandas(pd.DataFrame(X), npartitions=6), path).compute(scheduler="threads")
    assert len(seen) == 2
    # Another process reads it only once.
    text = pickle.dumps(lazy.SentModel(fast))
    assert pickle.loads(text) is pickle.loads(text)


def test_what_answers_alike_has_one_name(two):
    path, exact, fast, X = two
    alike = (fast, fastsvm_cli.load(path, exact=exact), pickle.loads(pickle.dumps(fast)))
    others = (fastsvm_cli.load(path), fastsvm_cli.load(exact), fastsvm_cli.load(path, n_features_in=9))
    assert len(set(map(dask.base.tokenize, alike))) == 1 and len(set(map(dask.base.tokenize, alike + others))) == 4
    rows = da.from_array(X, chunks=(100, -1))
    assert lazy.predict(rows, path).name == lazy.predict(rows, path).name != lazy.predict(rows, exact).name


def test_a_bad_row_is_found_in_its_block(two):
    path, _, _, X = two
    X = X.copy()
    X[512, 3] = np.nan
    with pytest.raises(ValueError, match=r"^block 5: Input X contains NaN\."):
        lazy.predict(da.from_array(X, chunks=(100, -1)), path).compute()
    with pytest.raises(ValueError, match=r"^partition of index 500 to 749: Input X contains NaN\."):
        lazy.predict(dd.from_pandas(pd.DataFrame(X), npartitions=4), path).compute()


def test_an_error_that_names_its_file_keeps_its_class():
    error = ModelFormatError("model", "it was changed")
    model = SimpleNamespace(fast=SimpleNamespace(predict=Mock(side_effect=error)))
    with pytest.raises(ModelFormatError) as caught:
        lazy._answer(None, model, "predict", "rows 0 to 9: ")
    assert caught.value is error
