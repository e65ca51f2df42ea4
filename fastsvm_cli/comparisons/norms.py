"""Norms of rows about their mean, in bounded memory."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.models.base import center_point

_OCTAVES, _LOWEST = 2200, -1080  # from 2^-1080 on


class Mean:
    """Mean of rows: increasing LIBSVM indices, which may be huge, and values."""

    def __init__(self) -> None:
        self.rows = 0
        self.indices = np.empty(0, np.int32)  # (features), increasing
        self._gathered = np.empty((4, 0))  # (4, features): sum, least, largest, rows with an entry

    def add(self, chunk: _native.Chunk) -> "Mean":
        """Add the rows of a chunk, and return self."""
        self.rows += chunk.rows
        here, column = np.unique(np.asarray(chunk.indices), return_inverse=True)
        values = np.asarray(chunk.values)
        low, high = np.full(len(here), np.inf), np.full(len(here), -np.inf)
        np.minimum.at(low, column, values)
        np.maximum.at(high, column, values)
        both = np.union1d(self.indices, here)
        gathered = np.tile([[0.0], [np.inf], [-np.inf], [0.0]], (1, len(both)))
        gathered[:, np.searchsorted(both, self.indices)] = self._gathered
        at = np.searchsorted(both, here)
        gathered[0, at] += np.bincount(column, weights=values, minlength=len(here))
        gathered[1, at] = np.minimum(gathered[1, at], low)
        gathered[2, at] = np.maximum(gathered[2, at], high)
        gathered[3, at] += np.bincount(column, minlength=len(here))
        self.indices, self._gathered = both, gathered
        return self

    @property
    def point(self) -> np.ndarray:
        """Mean (features), rounded by center_point."""
        sums, low, high, count = self._gathered
        absent = count < self.rows
        return np.array(
            center_point(
                (sums / max(self.rows, 1)).tolist(),
                np.where(absent, np.minimum(low, 0), low).tolist(),
                np.where(absent, np.maximum(high, 0), high).tolist(),
            )
        )


def squared_distances(chunk: _native.Chunk, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return |z - m|^2, (rows), inf on overflow; m has `values` at the increasing LIBSVM `indices`."""
    norms = np.asarray(chunk.squared_norms)
    if not len(indices):
        return norms
    own, starts = np.asarray(chunk.indices), np.asarray(chunk.indptr)
    at = np.minimum(np.searchsorted(indices, own), len(indices) - 1)
    moved = np.where(indices[at] == own, values[at], 0.0)
    z = np.asarray(chunk.values)
    # |z - m|^2 = |m|^2 + sum over entries of (z_j - m_j)^2 - m_j^2 avoids cancellation of large norms.
    with np.errstate(over="ignore", invalid="ignore"):
        change = np.append((z - moved) ** 2 - moved**2, 0.0)
        change = np.add.reduceat(change, starts[:-1]) if chunk.rows else np.empty(0)
        change[starts[1:] == starts[:-1]] = 0.0  # reduceat gives empty rows the next row's first entry
        distances = change + values @ values
    return np.where(np.isnan(distances), np.inf, np.maximum(0.0, distances))


def largest(values: np.ndarray) -> float:
    """Return the largest value; 0 for none."""
    return float(np.max(values, initial=0.0))


class Histogram:
    """Histogram of sizes from 2^-1000 to 2^1000. bins: per octave, a factor of 2."""

    def __init__(self, bins: int):
        self._bins = bins
        self.counts = np.zeros(bins * _OCTAVES, np.int64)

    def add(self, sizes: np.ndarray) -> None:
        """Count these sizes."""
        at = np.ceil((np.log2(np.clip(sizes, 2.0**-1000, 2.0**1000)) - _LOWEST) * self._bins).astype(int)
        self.counts += np.bincount(at, minlength=len(self.counts))

    def upper_edge(self, at: int) -> float:
        """Return the upper edge of a bin."""
        return float(2.0 ** (at / self._bins + _LOWEST))

    def quantile(self, share: float) -> float:
        """Return the upper edge of the bin up to which this share lies."""
        return self.upper_edge(int(np.searchsorted(np.cumsum(self.counts), share * self.counts.sum())))
