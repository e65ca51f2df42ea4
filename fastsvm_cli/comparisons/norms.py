"""Norms of rows about their mean, and rows that a certified model proves, in bounded memory."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.models import Model, center_point
from fastsvm_cli.text.read_rows import smaller_chunks

# Bins of radii: from 2^-1080 on, so many an octave, a factor of 2.
_BINS, _OCTAVES, _LOWEST = 256, 2200, -1080


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


class ProvenRows:
    """Rows proven by a certified model, and the radii of all pairs of all rows, by size."""

    def __init__(self, model: Model):
        self.model = model
        self.rows = self.proven = 0
        self.largest = 0.0
        self._decisions = _native.Decisions(model.pairs, True)
        self._counts = np.zeros(_BINS * _OCTAVES, np.int64)

    def add(self, chunk: _native.Chunk) -> None:
        """Count the rows of a chunk."""
        header = self.model.header
        for part in smaller_chunks([chunk], self.model.pairs):
            self.model.decision_values(part, self._decisions)
            self.model.answer(self._decisions)
            radius = np.asarray(self._decisions.radius).ravel()
            at = np.ceil((np.log2(np.clip(radius, 2.0**-1000, 2.0**1000)) - _LOWEST) * _BINS).astype(int)
            self._counts += np.bincount(at, minlength=len(self._counts))
            self.largest = max(self.largest, largest(radius))
            self.rows += part.rows
            if not header.regression:
                self.proven += part.rows - len(_native.undecided_rows(header.task(), self._decisions))

    def quantile(self, share: float) -> "float | None":
        """Return the radius that this share of the radii does not exceed; None without radii."""
        counts = np.cumsum(self._counts)
        if not counts[-1]:
            return None
        at = int(np.searchsorted(counts, share * counts[-1]))  # its upper edge
        return min(float(2.0 ** (at / _BINS + _LOWEST)), self.largest)
