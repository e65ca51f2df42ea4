"""Rows as programs hold them (arrays, sparse matrices, frames, lists) as blocks of rows and native chunks. The demands
on them, and the words for what is wrong, are scikit-learn's."""

import numpy as np

from fastsvm_cli import _native

#: Types that the core reads where they lie.
_NATIVE_TYPES = "dfilq"
_NO_LABEL = np.empty((1, 0))


class Rows:
    """rows: how many. columns: features of each. entries: numbers that a row holds, about, for the size of blocks."""

    rows: int
    columns: int
    entries: float

    def block(self, first: int, last: int):
        """Rows first, ..., last - 1: a matrix (rows, columns) of float64, float32, int64 or int32, or a CSR one."""
        raise NotImplementedError

    def chunk(self, first: int, last: int, who: str) -> _native.Chunk:
        """The same as a chunk. who: asks for them, in messages. Raises ValueError for NaN and infinity."""
        return chunk_of(self.block(first, last), who)

    def floats(self, first: int, last: int, who: str):
        """As block, of float64 or float32, all finite: raises ValueError as chunk."""
        block = self.block(first, last)
        if block.dtype.kind != "f":
            block = block.astype(np.float64)
        _refuse_numbers(block if isinstance(block, np.ndarray) else block.data, who)
        return block


class _Dense(Rows):
    def __init__(self, matrix: np.ndarray):
        self._matrix = matrix
        self.rows, self.columns = matrix.shape
        self.entries = float(self.columns)

    def block(self, first: int, last: int) -> np.ndarray:
        return _readable(self._matrix[first:last])


class _Frame(Rows):
    def __init__(self, frame):
        self._frame = frame
        self.rows, self.columns = frame.shape
        self.entries = float(self.columns)

    def block(self, first: int, last: int) -> np.ndarray:
        part = self._frame.iloc[first:last]
        try:
            matrix = part.to_numpy()
            if matrix.dtype == object:  # types that differ, or missing values of the frame's own
                matrix = part.to_numpy(dtype=np.float64, na_value=np.nan)
        except TypeError as error:
            raise ValueError(str(error)) from None
        return _readable(matrix)


class _Sparse(Rows):
    def __init__(self, matrix):
        self._matrix = matrix
        self.rows, self.columns = matrix.shape
        self.entries = matrix.nnz / max(self.rows, 1)

    def block(self, first: int, last: int):
        part = self._matrix[first:last]
        if part.dtype.char not in "df" or not part.dtype.isnative:
            part = part.astype(np.float64)
        return part

    def chunk(self, first: int, last: int, who: str) -> _native.Chunk:
        return _csr_chunk(self._matrix, first, last, who)


class ParsedRows(Rows):
    """Rows of text, as they were parsed: with what features their lines have."""

    def __init__(self, chunk: _native.Chunk):
        self._chunk = chunk
        self.rows, self.columns = chunk.rows, chunk.max_index
        self.entries = len(chunk.values) / max(self.rows, 1)

    def chunk(self, first: int, last: int, who: str) -> _native.Chunk:
        return self._chunk.slice(first, last)


def rows_of(X, who: str, names: "np.ndarray | None" = None) -> Rows:
    """What predict(X) was given. who: asks for it, in messages. names: of the features, which a frame must have.

    Raises ValueError and TypeError in scikit-learn's words for what is no matrix of real numbers with a row and a
    column at least.
    """
    if isinstance(X, np.matrix):
        raise TypeError("np.matrix is not supported. Please convert to a numpy array with np.asarray.")
    if hasattr(X, "tocsr"):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D input, got input with shape {X.shape}.\nReshape your data.")
        _demand_real(X.dtype, X)
        source: Rows = _Sparse(X if X.format == "csr" else X.tocsr())
    elif hasattr(X, "iloc") and hasattr(X, "columns"):
        if names is not None:
            _demand_names(X, names, who)
        source = _Frame(X)
    else:
        matrix = np.asarray(X)
        if matrix is not X and matrix.dtype.kind in "OSU":  # so that what is no number is named as it was given
            matrix = np.asarray(X, dtype=np.float64)
        _demand_real(matrix.dtype, X)
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


def chunk_of(block, who: str) -> _native.Chunk:
    """A chunk of a block, column j as LIBSVM's feature j + 1. who: as of rows_of. Raises ValueError for NaN and
    infinity."""
    if not isinstance(block, np.ndarray):
        return _csr_chunk(block, 0, block.shape[0], who)
    block = _readable(block)
    try:
        return _native.Chunk.from_dense(_no_labels(len(block)), block)
    except ValueError:
        _refuse_numbers(block, who)
        raise


def serial_chunk_of(block, who: str) -> _native.Chunk:
    """A chunk of a block of kernel values (rows, training rows), as rows of LIBSVM's precomputed kernel: 0:serial, then
    every value, zeros too."""
    if not isinstance(block, np.ndarray):
        block = block.toarray()
    rows, columns = block.shape
    values = np.empty((rows, columns + 1))
    values[:, 0], values[:, 1:] = np.arange(1, rows + 1), block
    _refuse_numbers(values, who)
    starts = np.arange(rows + 1, dtype=np.int64) * (columns + 1)
    indices = np.tile(np.arange(columns + 1, dtype=np.int32), rows)
    return _native.Chunk.from_csr(_no_labels(rows), starts, indices, values.ravel())


def _csr_chunk(matrix, first: int, last: int, who: str) -> _native.Chunk:
    starts = matrix.indptr[first : last + 1]
    begin, end = starts[0], starts[-1]
    indices, values = matrix.indices[begin:end], matrix.data[begin:end]
    if values.dtype.char not in _NATIVE_TYPES or not values.dtype.isnative:
        values = values.astype(np.float64)
    else:
        values = values.view()
        values.flags.writeable = False  # so that the chunk holds these very numbers, not a copy
    try:
        return _native.Chunk.from_csr(_no_labels(last - first), starts - begin, _lasting(indices + 1), values)
    except ValueError:
        _refuse_numbers(values, who)
        part = matrix[first:last].copy()
        # Whatever the matrix says of itself: a row's indices do not increase.
        part.has_sorted_indices = part.has_canonical_format = False
        part.sum_duplicates()
        values = part.data.astype(np.float64)
        _refuse_numbers(values, who)  # a sum can overflow
        return _native.Chunk.from_csr(_no_labels(last - first), part.indptr, part.indices + 1, values)


def _lasting(array: np.ndarray) -> np.ndarray:
    """The same numbers, which nobody will change."""
    array.flags.writeable = False
    return array


def _no_labels(rows: int) -> np.ndarray:
    return _NO_LABEL if rows == 1 else np.empty((rows, 0))


def _readable(matrix: np.ndarray) -> np.ndarray:
    """As the core reads it; other types (bool, small or unsigned whole numbers, half precision, objects, another order
    of bytes) as float64."""
    if matrix.dtype.char in _NATIVE_TYPES and matrix.dtype.isnative:
        return matrix
    return matrix.astype(np.float64)


def _demand_real(dtype: np.dtype, X) -> None:
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X}\n")


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
    """Raise ValueError where some are not finite."""
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    if np.isnan(values).any():
        raise ValueError(
            f"Input X contains NaN.\n{who} does not accept missing values encoded as NaN natively: impute them, or drop"
            " the samples that have some."
        )
    raise ValueError("Input X contains infinity or a value too large for dtype('float64').")


def _demand_names(frame, names: np.ndarray, who: str) -> None:
    """A frame whose columns have names, all of them text, must have the names that the model was fitted with."""
    found = list(frame.columns)
    if found == list(names) or not all(isinstance(name, str) for name in found):
        return
    lines = ["The feature names should match those that were passed during fit."]
    unexpected, missing = sorted(set(found) - set(names)), sorted(set(names) - set(found))
    for what, some in (("unseen at fit time", unexpected), ("seen at fit time, yet now missing", missing)):
        if some:
            shown = [f"- {name}" for name in some[:5]] + ["- ..."] * (len(some) > 5)
            lines += [f"Feature names {what}:", *shown]
    if not unexpected and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise ValueError("\n".join(lines) + "\n")
