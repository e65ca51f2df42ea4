"""Norms of rows about the origin and about a mean, over chunks: what `bound` reports. Memory does not grow with the rows."""

from typing import Iterable

import numpy as np

from fastsvm_cli import _native


class Mean:
    """The mean of rows, as sorted LIBSVM indices and their values: a huge index costs no dense vector."""

    def __init__(self):
        self.rows = 0
        self.indices = np.empty(0, np.int32)  # (features), increasing
        self._sums = np.empty(0)              # (features)

    def add(self, chunk: _native.Chunk) -> None:
        self.rows += chunk.rows
        here, place = np.unique(np.asarray(chunk.indices), return_inverse=True)
        sums = np.bincount(place, weights=np.asarray(chunk.values), minlength=len(here))
        both = np.union1d(self.indices, here)
        total = np.zeros(len(both))
        total[np.searchsorted(both, self.indices)] = self._sums
        total[np.searchsorted(both, here)] += sums
        self.indices, self._sums = both, total

    @property
    def values(self) -> np.ndarray:
        return self._sums / max(self.rows, 1)


def squared_distances(chunk: _native.Chunk, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """|z - m|^2 for the rows z of a chunk, (rows); m has `values` at the increasing LIBSVM `indices`, zero elsewhere."""
    norms = np.asarray(chunk.squared_norms)
    if not len(indices):
        return norms
    own, starts = np.asarray(chunk.indices), np.asarray(chunk.indptr)
    at = np.minimum(np.searchsorted(indices, own), len(indices) - 1)
    products = np.where(indices[at] == own, values[at], 0.0) * np.asarray(chunk.values)
    inner = np.diff(np.concatenate(([0.0], np.cumsum(products)))[starts])
    return np.maximum(0.0, norms - 2 * inner + values @ values)


class Survey:
    """What one pass over data gathers: rows, largest index, entries, the largest squared norm, the mean."""

    def __init__(self, chunks: Iterable[_native.Chunk]):
        self.rows = self.max_index = self.entries = 0
        self.largest = 0.0
        self.mean = Mean()
        for chunk in chunks:
            self.rows += chunk.rows
            self.max_index = max(self.max_index, chunk.max_index)
            self.entries += len(chunk.indices)
            self.largest = max(self.largest, float(np.max(np.asarray(chunk.squared_norms), initial=0.0)))
            self.mean.add(chunk)
