"""Norms of rows about their mean, and rows that a certified model proves, in bounded memory."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model, center_point
from fastsvm_cli.text.read_rows import smaller_chunks

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


class ProvenRows:
    """Rows proven by a certified model, and radii of all rows, or of each pair of every row."""

    def __init__(self, model: Model, bins: int = 32, each_pair: bool = False):
        self.model, self._each_pair = model, each_pair
        self.rows = self.proven = 0
        self.largest = 0.0
        self._decisions = _native.Decisions(model.pairs, True)
        self._all, self._proven = Histogram(bins), Histogram(bins)

    def add(self, chunk: _native.Chunk) -> None:
        """Count the rows of a chunk."""
        for part in smaller_chunks([chunk], self.model.pairs):
            self._add(part)

    def _add(self, chunk: _native.Chunk) -> None:
        header = self.model.header
        self.model.decision_values(chunk, self._decisions)
        self.model.answer(self._decisions)
        radius = np.asarray(self._decisions.radius)
        if self._each_pair:
            self._all.add(radius.ravel())
        radius = radius.max(axis=1) if radius.size else np.zeros(chunk.rows)
        decided = np.full(chunk.rows, not header.regression)
        if not header.regression:
            decided[_native.undecided_rows(header.task(), self._decisions)] = False
        self.rows += chunk.rows
        self.proven += int(decided.sum())
        self.largest = max(self.largest, float(radius.max(initial=0.0)))
        if not self._each_pair:
            self._all.add(radius)
        self._proven.add(radius[decided])

    @property
    def any(self) -> bool:
        """Whether there are radii."""
        return bool(self._all.counts.any())

    def quantile(self, share: float) -> float:
        """Return the radius that this share of the rows does not exceed."""
        return min(self._all.quantile(share), self.largest)

    def curve(self) -> "list[tuple[float, int, int]]":
        """Return increasing (radius, rows up to it, proven ones of these)."""
        at = np.flatnonzero(self._all.counts)
        every, proven = np.cumsum(self._all.counts)[at], np.cumsum(self._proven.counts)[at]
        edges = (min(self._all.upper_edge(int(each)), self.largest) for each in at)
        return [(radius, int(rows), int(those)) for radius, rows, those in zip(edges, every, proven)]
