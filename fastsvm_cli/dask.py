"""Lazy predictions of Dask's arrays, dataframes, bags of LIBSVM lines and delayed matrices.

>>> import dask.array
>>> rows = dask.array.from_array(X, chunks=(1000, 8))  # X: (6000, 8)
>>> labels = fastsvm_cli.dask.predict(rows, "rings.model.approx", exact="rings.model")
>>> labels.dtype, labels.numblocks, labels[:5].compute()
(dtype('int64'), (6,), array([-1, -1,  1, -1, -1]))

The model goes to the workers once. Needs Dask: `pip install 'fastsvm[dask]'`.
"""

import os
import pickle
import sys
import threading
from collections.abc import Iterable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from scipy.sparse import csr_matrix

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError, MissingPackageError
from fastsvm_cli.estimators.compile import compile
from fastsvm_cli.estimators.files import as_fast
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.estimators.rows import ParsedRows
from fastsvm_cli.models import Model

try:
    import dask
except ImportError:
    raise MissingPackageError("dask", "it is not installed: pip install 'fastsvm[dask]'") from None

__all__ = ["decision_function", "predict", "predict_proba"]

#: Most zeros in a dense sample row.
_MOST_ZEROS = 1 << 20


def predict(
    collection: Any, model: Any, *, exact: Any = None, tolerance: "float | None" = None, unlabelled: bool = False
) -> Any:
    """Predict the rows of a Dask collection lazily, as `FastSVM.predict`.

    Parameters
    ----------
    collection : dask array, dataframe, bag or Delayed
        One of:

        - an array of shape (n_samples, n_features), of dense or sparse blocks, whose sizes may be unknown
        - a dataframe, whose column names are checked
        - a bag of LIBSVM lines, text or bytes
        - a Delayed of anything that `FastSVM.predict` takes
    model : str, bytes, os.PathLike, FastSVM, Model or estimator
        The path of a model file, which the calling process reads, a model, an estimator of fastsvm_cli.sklearn, or
        anything that `compile` takes. A task uses one thread, unless the model's `n_threads` is set.
    exact : str, bytes, os.PathLike, Model or FastSVM, default=None
        The exact model that answers the rows whose label is not proven, as in `load`.
    tolerance : float, default=None
        For regression: the largest error of a value, as in `load`.
    unlabelled : bool, default=False
        Whether the lines of a bag have no labels.

    Returns
    -------
    y : dask array, series, bag or Delayed
        The answers, lazily: for an array, an array of shape (n_samples,) with the same chunks of rows; for a dataframe,
        a series with the same index and divisions; for a bag, a bag of labels; for a Delayed, a Delayed.

    Raises
    ------
    ModelFormatError, FileError
        If the model cannot be used or read, as in `load` and `compile`.
    TypeError
        If `collection` is of another type, or `unlabelled` is set for another collection than a bag.
    ValueError
        If the columns are wrong, or the lines of a bag are for a model with scaling in front of it. When the result is
        computed, if rows are invalid; the message then names the block or partition.
    """
    return _ask(collection, "predict", _fast(model, exact, tolerance), unlabelled)


def decision_function(collection: Any, model: Any, *, exact: Any = None, unlabelled: bool = False) -> Any:
    """Compute the decision values of a Dask collection lazily, as `FastSVM.decision_function`.

    The parameters and errors are those of `predict`; a regression model also raises AttributeError. The result has the
    type that `predict` returns; a dataframe with several values a row gives a dataframe.
    """
    return _ask(collection, "decision_function", _fast(model, exact), unlabelled)


def predict_proba(collection: Any, model: Any, *, exact: Any = None, unlabelled: bool = False) -> Any:
    """Compute the class probabilities of a Dask collection lazily, as `FastSVM.predict_proba`.

    The parameters and errors are those of `predict`; a model without probabilities also raises AttributeError. The
    result has the type that `predict` returns; a dataframe gives a dataframe with a column per class.
    """
    return _ask(collection, "predict_proba", _fast(model, exact), unlabelled)


def _fast(model: Any, exact: Any, tolerance: "float | None" = None) -> FastSVM:
    model = getattr(model, "compiled_", model)
    if not isinstance(model, (str, bytes, os.PathLike, Model, FastSVM)):
        model = compile(model, "exact")
    fast = as_fast(model, exact, tolerance)
    if fast.n_threads is None:
        fast.n_threads = 1
    return fast


def _ask(collection: Any, method: str, fast: FastSVM, unlabelled: bool) -> Any:
    for module, name, answer in (
        ("dask.array", "Array", _of_array),
        ("dask.dataframe", "DataFrame", _of_frame),
        ("dask.bag", "Bag", partial(_of_bag, labelled=not unlabelled)),
        ("dask.delayed", "Delayed", _of_delayed),
    ):
        # A collection's module is loaded already.
        if isinstance(collection, getattr(sys.modules.get(module), name, ())):
            if unlabelled and name != "Bag":
                raise TypeError("unlabelled= is about the lines of a bag")
            return answer(collection, method, fast)
    raise TypeError(
        f"{type(collection).__name__} found, expected a dask array, dataframe, bag or delayed matrix"
        " (fastsvm_cli.load(model) takes arrays and frames)"
    )


# ---- the model


class SentModel:
    """Model for tasks, unpickled once per process."""

    def __init__(self, fast: FastSVM):
        self.fast, self.token = fast, dask.base.tokenize(fast)

    def __reduce__(self):
        return _arrived, (self.token, pickle.dumps(self.fast, pickle.HIGHEST_PROTOCOL))

    def __dask_tokenize__(self):
        return "fastsvm", self.token

    def __sizeof__(self) -> int:  # for the worker's memory accounting
        exact = self.fast.exact
        models = [self.fast.model, *([exact.model] if exact is not None else [])]
        return object.__sizeof__(self) + sum(model.nbytes for model in models)


#: Models in use in this process, and the last one received, likely to be used again.
_here: "WeakValueDictionary[str, SentModel]" = WeakValueDictionary()
_last: "list[SentModel]" = []
_lock = threading.Lock()


def _arrived(token: str, text: bytes) -> SentModel:
    with _lock:
        found = _here.get(token)
        if found is None:
            found = SentModel(pickle.loads(text))
            found.token = token
            _here[token] = found
        _last[:] = [found]
        return found


#: Futures of models sent to a client's workers, while a collection uses them.
_sent: "WeakKeyDictionary[Any, WeakValueDictionary[str, Any]]" = WeakKeyDictionary()


def _sent_model(fast: FastSVM) -> Any:
    model, client = SentModel(fast), _client()
    if client is None:
        return dask.delayed(model, name=f"fastsvm-model-{model.token}", traverse=False)
    sent = _sent.setdefault(client, WeakValueDictionary())
    future = sent.get(model.token)
    if future is None or future.status != "finished":  # a client can be restarted
        future = sent[model.token] = client.scatter(model, broadcast=True, hash=True)
    return future


def _client() -> Any:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if not isinstance(client, distributed.Client) or client.asynchronous or not client.nthreads():
        return None
    return client


# ---- the collections


def _answer(rows: Any, model: SentModel, method: str, where: str = "") -> np.ndarray:
    try:
        return getattr(model.fast, method)(rows)
    except FastsvmError:  # of a file: it names it
        raise
    except ValueError as error:
        raise ValueError(f"{where}{error}") from None


def _zeros(columns: int, dtype: "np.dtype | type" = np.float64) -> np.ndarray | csr_matrix:
    if columns <= _MOST_ZEROS:
        return np.zeros((1, columns), dtype=dtype)
    return csr_matrix((1, columns))


def _of_array(X: Any, method: str, fast: FastSVM) -> Any:
    if X.ndim != 2:
        fast.predict(np.zeros((1,) * X.ndim))  # raises the right error
    columns = X.shape[1]
    known = columns == columns  # else NaN
    rows = _zeros(columns, X.dtype) if known else _zeros(max(fast.n_features_in_, 1))
    empty = getattr(fast, method)(rows)[:0]  # checks the columns
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    shape: dict[str, Any] = {"chunks": (X.chunks[0], empty.shape[1:])} if empty.ndim > 1 else {"drop_axis": 1}
    how = {"model": _sent_model(fast), "method": method, "empty": empty}
    return X.map_blocks(_answer_block, **how, dtype=empty.dtype, meta=empty, **shape)


def _answer_block(
    X: Any, model: SentModel, method: str, empty: np.ndarray, block_id: "tuple[int, ...]" = ()
) -> np.ndarray:
    return _answer(X, model, method, f"block {block_id[0]}: ") if X.shape[0] else empty


def _of_frame(X: Any, method: str, fast: FastSVM) -> Any:
    import pandas

    row = pandas.DataFrame(np.zeros((1, len(X.columns))), columns=X.columns)
    empty = getattr(fast, method)(row)[:0]  # checks the columns
    names = _names(method, fast) if empty.ndim > 1 else None
    meta = _as_frame(empty, X._meta.index[:0], names)
    return X.map_partitions(_answer_frame, _sent_model(fast), method, empty, names, meta=meta)


def _names(method: str, fast: FastSVM) -> "list[Any] | None":
    if not fast.model.header.classification:
        return ["normal", "outlier"]
    ovo = method == "decision_function" and fast.decision_function_shape == "ovo" and len(fast.classes_) > 2
    return None if ovo else fast.classes_.tolist()


def _as_frame(values: np.ndarray, index: Any, names: "list[Any] | None") -> Any:
    import pandas

    kind = pandas.Series if values.ndim == 1 else pandas.DataFrame
    return kind(values, index=index, **({"columns": names} if names is not None else {}))


def _answer_frame(X: Any, model: SentModel, method: str, empty: np.ndarray, names: "list[Any] | None") -> Any:
    if len(X):
        empty = _answer(X, model, method, f"partition of index {X.index[0]!r} to {X.index[-1]!r}: ")
    return _as_frame(empty, X.index, names)


def _of_bag(X: Any, method: str, fast: FastSVM, labelled: bool) -> Any:
    if fast.transform is not None:
        raise ValueError("the model has scaling in front of it, which lines of text do not pass through")
    getattr(fast, method)  # raises AttributeError if missing
    from dask.bag import from_sequence

    numbers = from_sequence(range(X.npartitions), npartitions=X.npartitions)
    return X.map_partitions(_answer_lines, numbers, model=_sent_model(fast), method=method, labelled=labelled)


def _answer_lines(
    lines: "Iterable[str | bytes]", number: "Iterable[int]", model: SentModel, method: str, labelled: bool
) -> "list[Any]":
    text, count = bytearray(), 0
    for line in lines:
        count += 1
        row = line.encode() if isinstance(line, str) else line
        text += row if row.endswith(b"\n") else row + b"\n"  # keeps empty lines, which are rows without labels
    if not count:
        return []
    where = f"partition {next(iter(number))}"
    chunk, error, _, _ = _native.parse(bytes(text), leading_count=int(labelled))
    if error is not None:
        raise ValueError(f"{where}, line {error[0]}: {error[1]}")
    if chunk.rows != count:
        raise ValueError(f"{where}: {chunk.rows} lines in {count} elements found, expected one in each")
    return _answer(ParsedRows(chunk), model, method, f"{where}: ").tolist()


def _of_delayed(X: Any, method: str, fast: FastSVM) -> Any:
    getattr(fast, method)
    return dask.delayed(_answer, pure=True)(X, _sent_model(fast), method)
