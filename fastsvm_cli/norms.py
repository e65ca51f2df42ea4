"""Norms of rows about the origin and about a mean, chunk by chunk. Memory does not grow with the rows, nor with the largest index."""

import numpy as np

from fastsvm_cli import _native


class Mean:
    """The mean of rows, as increasing LIBSVM indices and their values: a huge index costs no dense vector."""

    def __init__(self):
        self.rows = 0
        self.indices = np.empty(0, np.int32)  # (features), increasing
        self._sums = np.empty(0)  # (features)

    def add(self, chunk: _native.Chunk) -> "Mean":
        self.rows += chunk.rows
        here, place = np.unique(np.asarray(chunk.indices), return_inverse=True)
        sums = np.bincount(place, weights=np.asarray(chunk.values), minlength=len(here))
        both = np.union1d(self.indices, here)
        total = np.zeros(len(both))
        total[np.searchsorted(both, self.indices)] = self._sums
        total[np.searchsorted(both, here)] += sums
        self.indices, self._sums = both, total
        return self

    @property
    def values(self) -> np.ndarray:
        return self._sums / max(self.rows, 1)


def center_point(mean: np.ndarray) -> np.ndarray:
    """A mean to four digits, (features): any centre will do, and a short one makes a short file."""
    return np.array([float(f"{value:.4g}") for value in mean])


def squared_distances(chunk: _native.Chunk, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """|z - m|^2 for the rows z of a chunk, (rows); m has `values` at the increasing LIBSVM `indices`, zero elsewhere."""
    norms = np.asarray(chunk.squared_norms)
    if not len(indices):
        return norms
    own, starts = np.asarray(chunk.indices), np.asarray(chunk.indptr)
    at = np.minimum(np.searchsorted(indices, own), len(indices) - 1)
    moved = np.where(indices[at] == own, values[at], 0.0)
    z = np.asarray(chunk.values)
    # |z - m|^2 = |m|^2 + sum over the row's entries of (z_j - m_j)^2 - m_j^2: no cancellation of two large norms.
    change = np.add.reduceat(np.append((z - moved) ** 2 - moved**2, 0.0), starts[:-1]) if chunk.rows else np.empty(0)
    change[starts[1:] == starts[:-1]] = 0.0  # reduceat gives an empty row its neighbour's first entry
    return np.maximum(0.0, change + values @ values)


def largest(values: np.ndarray) -> float:
    return float(np.max(values, initial=0.0))
