"""Conversion of matrices and frames to chunks, with scikit-learn's checks and messages; rows on several threads."""

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.errors import warn
from fastsvm_cli.methods.parallel import over_blocks
from fastsvm_cli.prediction import threads_here
from fastsvm_cli.text.read_rows import MOST_VALUES

if TYPE_CHECKING:
    from fastsvm_cli.estimators.fitted_svm import Fitted


#: Types that the core reads without conversion.
_NATIVE_TYPES = "dfilq"
_COPIED = 4096  # numbers: below, a copy takes less time than a view
_FEW = 64  # rows of a frame that is made a matrix at once, before its columns are looked at
BLOCK_ROWS = 1 << 14  # of labelled_chunks


class Rows:
    """Rows of X, in blocks. entries: approximate numbers per row. who: the caller's name in messages."""

    def __init__(self, matrix: Any):
        self._matrix = matrix
        self.rows, self.columns = matrix.shape
        self.entries = float(self.columns)

    def block(self, first: int, last: int, who: str):
        """Return rows first, ..., last - 1, dense of a native type or CSR."""
        raise NotImplementedError

    def chunk(self, first: int, last: int, who: str, first_index: int) -> _native.Chunk:
        """Return rows first, ..., last - 1 as the core's chunk."""
        return chunk_of(self.block(first, last, who), who, first_index)

    def floats(self, first: int, last: int, who: str):
        """Return rows first, ..., last - 1 as a block of finite floats."""
        block = self.block(first, last, who)
        if block.dtype.kind != "f":
            block = block.astype(np.float64)
        _refuse_numbers(block if isinstance(block, np.ndarray) else block.data, who)
        return block


class _Dense(Rows):
    def block(self, first: int, last: int, who: str) -> np.ndarray:
        return _readable(self._matrix if last - first == self.rows else self._matrix[first:last])


class _Frame(Rows):
    def block(self, first: int, last: int, who: str) -> np.ndarray:
        part = self._matrix.iloc[first:last]
        matrix = part.to_numpy()
        if matrix.dtype == object:  # mixed types, or missing values
            matrix = part.to_numpy(dtype=np.float64, na_value=np.nan)
        return _readable(matrix)


class _Sparse(Rows):
    """CSR matrix. The caller may have changed its arrays, which are checked."""

    def __init__(self, matrix: Any):
        super().__init__(matrix)
        self.entries = len(matrix.indices) / max(self.rows, 1)
        for name, found, expected in (
            ("indptr", len(matrix.indptr), self.rows + 1),
            ("indices", len(matrix.indices), len(matrix.data)),
        ):
            if found != expected:
                raise ValueError(f"{name}: {found} numbers found in the sparse matrix, expected {expected}")

    def block(self, first: int, last: int, who: str):
        _csr_chunk(self._matrix, first, last, who)  # SciPy would read out of bounds
        part = self._matrix[first:last]
        if part.dtype.char not in "df" or not part.dtype.isnative:
            part = part.astype(np.float64)
        return part

    def chunk(self, first: int, last: int, who: str, first_index: int) -> _native.Chunk:
        return _csr_chunk(self._matrix, first, last, who, first_index)


class ParsedRows(Rows):
    """Rows that the core has parsed already."""

    def __init__(self, chunk: _native.Chunk):
        self._chunk = chunk
        self.rows, self.columns = chunk.rows, chunk.max_index
        self.entries = len(chunk.values) / max(self.rows, 1)

    def chunk(self, first: int, last: int, who: str, first_index: int) -> _native.Chunk:
        """Return rows first, ..., last - 1."""
        return self._chunk.slice(first, last)


def rows_of(X, who: str) -> Rows:
    """Return the rows of X, a real matrix with a row and a column; errors are in scikit-learn's words."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.char in "df" and X.size:  # soon, for one row
        return _Dense(X)
    if isinstance(X, np.matrix):
        raise TypeError("np.matrix is not supported. Please convert to a numpy array with np.asarray.")
    if hasattr(X, "tocsr"):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D input, got input with shape {X.shape}.\nReshape your data.")
        _require_real(X.dtype, X)
        source: Rows = _Sparse(_as_csr(X))
    elif hasattr(X, "iloc") and hasattr(X, "columns"):
        if len(X) <= _FEW and (matrix := X.to_numpy()).dtype.kind in "fiu":
            source = _Dense(matrix)
        else:
            for name, dtype in zip(X.columns, X.dtypes):
                _require_real(dtype, X, f"column {name!r}")
            source = _Frame(X)
    else:
        matrix = np.asarray(X)
        if matrix is not X and matrix.dtype.kind in "OSU":  # for a message that quotes the value
            matrix = np.asarray(X, dtype=np.float64)
        _require_real(matrix.dtype, X)
        if matrix.ndim != 2:
            _refuse_dimensions(matrix, who)
        source = _Dense(matrix)
    for count, what in ((source.rows, "sample"), (source.columns, "feature")):
        if not count:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={(source.rows, source.columns)}) while a minimum of 1 is required"
                f" by {who}."
            )
    return source


def chunk_of(block, who: str, first_index: int = 1) -> _native.Chunk:
    """Return a block of finite rows, dense or CSR, as a chunk: column j is LIBSVM's feature j + first_index."""
    if not isinstance(block, np.ndarray):
        return _csr_chunk(block, 0, block.shape[0], who, first_index)
    block = _readable(block)
    try:
        return _native.Chunk.from_dense(
            None, block if block.size < _COPIED else _unchanging(block), first_index=first_index
        )
    except ValueError:
        _refuse_numbers(block, who)
        raise


def require_kernel_values(rows: Rows, expected: int, is_known: bool, who: str) -> None:
    """Refuse more columns than `expected` training rows, unless they are certainly kernel values.

    LIBSVM's rows begin with a serial, a whole number. is_known: whether the user gave `expected`.
    """
    first = rows.block(0, rows.rows, who)[:, :1]
    first = np.asarray(first if isinstance(first, np.ndarray) else first.toarray())
    if is_known:
        hint = " (without LIBSVM's column of serials: X[:, 1:])" * (rows.columns == expected + 1)
        raise ValueError(f"X has {rows.columns} features, but {who} is expecting {expected} features as input{hint}.")
    if (first == np.floor(first)).all():
        raise ValueError(
            f"X has {rows.columns} columns, the first of whole numbers, but the model knows {expected} training rows:"
            " pass kernel values alone, without LIBSVM's column of serials, and say n_features_in=, the number of"
            " training rows"
        )


def serial_chunk_of(block, who: str) -> _native.Chunk:
    """Return kernel values (rows, training rows) as LIBSVM's precomputed rows: 0:serial, then every value."""
    if not isinstance(block, np.ndarray):
        block = block.astype(np.float64).toarray()  # adds up duplicates
    rows, columns = block.shape
    values = np.empty((rows, columns + 1))
    values[:, 0], values[:, 1:] = np.arange(1, rows + 1), block
    _refuse_numbers(values, who)
    starts = np.arange(rows + 1, dtype=np.int64) * (columns + 1)
    indices = np.tile(np.arange(columns + 1, dtype=np.int32), rows)
    return _native.Chunk.from_csr(np.empty((rows, 0)), starts, indices, values.ravel())


def _as_csr(X):
    # SciPy would follow indices out of bounds.
    if X.format == "csr":
        return X
    if X.format in ("csc", "bsr"):
        type(X)((X.data, X.indices, X.indptr), shape=X.shape).check_format(full_check=True)
    elif X.format == "coo":
        for name, found, count in (("row", X.row, X.shape[0]), ("column", X.col, X.shape[1])):
            low, high = np.min(found, initial=0), np.max(found, initial=0)
            if low < 0 or high >= max(count, 1):
                raise ValueError(f"{name} {low if low < 0 else high} found, expected {name}s from 0 to {count - 1}")
        X = X.astype(np.float64)  # duplicates are added up in this type
    return X.tocsr()


def _csr_chunk(matrix, first: int, last: int, who: str, first_index: int = 1) -> _native.Chunk:
    starts = matrix.indptr[first : last + 1]
    begin, end = max(int(starts[0]), 0), max(int(starts[-1]), 0)
    indices, values = matrix.indices[begin:end], matrix.data[begin:end]
    if values.dtype.char not in _NATIVE_TYPES or not values.dtype.isnative:
        values = values.astype(np.float64)
    else:
        values = _unchanging(values)
    try:
        return _native.Chunk.from_columns(starts, indices, values, matrix.shape[1], first, first_index)
    except ValueError:
        _refuse_numbers(values, who)
        raise


def _unchanging(numbers: np.ndarray) -> np.ndarray:
    # A chunk may use a read-only array without a copy.
    numbers = numbers.view()
    numbers.flags.writeable = False
    return numbers


def _readable(matrix: np.ndarray) -> np.ndarray:
    if matrix.dtype.char in _NATIVE_TYPES and matrix.dtype.isnative:
        return matrix
    return matrix.astype(np.float64)


def _require_real(dtype: Any, X, where: str = "X") -> None:
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X}\n")
    if dtype.kind in "mM":
        raise TypeError(f"{where} of type {dtype} found, expected numbers: dates and times are none")


def _refuse_dimensions(matrix: np.ndarray, who: str) -> None:
    if matrix.ndim > 2:
        raise ValueError(f"Found array with dim {matrix.ndim}, while dim <= 2 is required by {who}.")
    what = "scalar" if matrix.ndim == 0 else "1D"
    raise ValueError(
        f"Expected 2D array, got {what} array instead:\narray={matrix}.\nReshape your data either using"
        " array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single"
        " sample."
    )


def _refuse_numbers(values: np.ndarray, who: str) -> None:
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    if np.isnan(values).any():
        raise ValueError(
            f"Input X contains NaN.\n{who} does not accept missing values encoded as NaN natively: impute them, or drop"
            " the samples that have some."
        )
    raise ValueError("Input X contains infinity or a value too large for dtype('float64').")


def check_names(X, names: "np.ndarray | None", who: str, fitted: bool = True) -> None:
    """Check column names as scikit-learn does: refuse wrong ones, warn of missing ones.

    fitted: whether no names mean that the training rows had none.
    """
    found = list(getattr(X, "columns", ()))
    strings = sum(isinstance(name, str) for name in found)
    if names is None:
        if strings and fitted:
            warn(f"X has feature names, but {who} was fitted without feature names")
    elif not strings:
        warn(f"X does not have valid feature names, but {who} was fitted with feature names")
    elif strings < len(found):
        kinds = sorted({type(name).__name__ for name in found})
        raise TypeError(f"Feature names are only supported if all input features have string names, but X has {kinds}.")
    elif found != list(names):
        lines = ["The feature names should match those that were passed during fit."]
        unexpected, missing = sorted(set(found) - set(names)), sorted(set(names) - set(found))
        for what, some in (("unseen at fit time", unexpected), ("seen at fit time, yet now missing", missing)):
            if some:
                shown = [f"- {name}" for name in some[:5]] + ["- ..."] * (len(some) > 5)
                lines += [f"Feature names {what}:", *shown]
        if not unexpected and not missing:
            lines.append("Feature names must be in the same order as they were in fit.")
        raise ValueError("\n".join(lines) + "\n")


def labelled_chunks(data: Any, found: "Fitted", who: str) -> "list[_native.Chunk]":
    """Return X or (X, y), checked against the model, as chunks of scaled rows with labels in front."""
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    rows = rows_of(X if found.prepare is None else found.prepare(X), who)
    if found.n_features_in not in (None, rows.columns):
        raise ValueError(f"X has {rows.columns} features, but {found.name} is expecting {found.n_features_in}")
    leading = np.empty((rows.rows, 0)) if y is None else _labels(np.asarray(y), found, rows.rows)[:, None]
    out = []
    for first in range(0, rows.rows, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, rows.rows)
        block = rows.block(first, last, who)
        if found.transform is not None:
            block = found.transform.apply(block)
        chunk = chunk_of(block, who, found.model.first_index)
        labels = np.ascontiguousarray(leading[first:last], dtype=np.float64)
        out.append(_native.Chunk.from_csr(labels, chunk.indptr, chunk.indices, chunk.values))
    return out


def _labels(y: np.ndarray, found: "Fitted", rows: int) -> np.ndarray:
    if y.shape != (rows,):
        raise ValueError(f"y of shape {y.shape} found, expected ({rows},), a number or class per row of X")
    if found.classes is None:
        return y.astype(np.float64)
    label = found.model.header.label or found.classes.tolist()
    known = dict(zip(found.classes.tolist(), label))
    try:
        return np.array([known[each] for each in y.tolist()], np.float64)
    except KeyError as unknown:
        raise ValueError(f"class {unknown} found in y, expected one of {found.classes.tolist()}") from None


#: Approximate numbers in a block: a few megabytes.
MOST_ENTRIES = 1 << 20
#: Minimum rows of a block, if memory allows: evaluation needs many at a time.
LEAST_ROWS = 256
#: Time per block: hides the overhead, yet threads end together and Ctrl-C acts soon.
BLOCK_SECONDS = 0.05
MOST_BLOCKS = 1 << 10
#: Minimum work for a second thread, which takes 0.1 ms to start.
ALONE_SECONDS = 0.002


def in_blocks(
    rows: Rows, values: int, threads: "int | None", answer: "Callable[[int, int], np.ndarray]"
) -> "np.ndarray":
    """Answer rows in blocks, on several threads, and return all blocks' results, (rows, ...).

    values: numbers held per row. threads: None: the calling thread's setting; 0: the process's. answer: returns the
    result of rows first, ..., last - 1, on any thread.
    """
    if rows.rows == 1:
        return answer(0, 1)
    most = max(1, min(int(MOST_ENTRIES / max(rows.entries, 1)), MOST_VALUES // values))
    with threads_here(threads):
        if rows.rows <= min(most, LEAST_ROWS):
            return answer(0, rows.rows)
        return _many(rows.rows, most, answer)


def _many(rows: int, most: int, answer: "Callable[[int, int], np.ndarray]") -> np.ndarray:
    start, size = perf_counter(), min(most, LEAST_ROWS)
    found = answer(0, size)
    seconds, rest, done = perf_counter() - start, rows - size, size
    out = np.empty((rows, *found.shape[1:]), dtype=found.dtype)
    out[:done] = found
    if rest <= most and rest * seconds < size * ALONE_SECONDS:
        size = rest
    else:  # the first rows may include one-time initialisation
        size = min(most, max(LEAST_ROWS, int(size * BLOCK_SECONDS / max(seconds, 1e-9)), rest // MOST_BLOCKS))
    if rest <= size:
        out[done:] = answer(done, rows)
        return out

    def some(block: slice) -> None:
        with threads_here(1):
            first, last = done + block.start, done + block.stop
            out[first:last] = answer(first, last)

    over_blocks(rest, size, some)
    return out
