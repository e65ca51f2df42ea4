"""Arrays as native chunks for compilers."""

from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.estimators.fitted import Fitted
from fastsvm_cli.estimators.rows import chunk_of, rows_of

BLOCK_ROWS = 1 << 14


def labelled_chunks(data: Any, found: Fitted, who: str) -> "list[_native.Chunk]":
    """Return X or (X, y) as chunks of scaled rows, labels in front. Raise ValueError."""
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    rows = rows_of(X, who, found.feature_names)
    if found.n_features not in (None, rows.columns):
        raise ValueError(f"X has {rows.columns} features, but {found.name} is expecting {found.n_features}")
    leading = np.empty((rows.rows, 0)) if y is None else _labels(np.asarray(y), found, rows.rows)[:, None]
    out = []
    for first in range(0, rows.rows, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, rows.rows)
        block = rows.block(first, last, who)
        if found.scaling is not None:
            block = found.scaling.apply(block)
        chunk = chunk_of(block, who, found.model.first_index)
        labels = np.ascontiguousarray(leading[first:last], dtype=np.float64)
        out.append(_native.Chunk.from_csr(labels, chunk.indptr, chunk.indices, chunk.values))
    return out


def _labels(y: np.ndarray, found: Fitted, rows: int) -> np.ndarray:
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
