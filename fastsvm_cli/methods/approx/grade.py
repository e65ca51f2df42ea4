"""The grade of a model for ``bound``: norms of rows, gamma / gamma_MAX, and a trial of approx.

scripts/measure_grades.py measures the thresholds.
"""

from math import sqrt

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import fingerprint
from fastsvm_cli.bounds import gamma_max
from fastsvm_cli.comparisons import LEAST_ROWS, Comparison, agreement, questionable_gain, spread
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods import refused_by_all
from fastsvm_cli.methods.approx.expansion import (
    coefficient_count,
    compile_maclaurin,
    file_bytes,
    own_degree,
    reason_against,
)
from fastsvm_cli.methods.method import FEW_TIMES
from fastsvm_cli.models import ExactModel, center_point

# Limits of a trial: products to compile, bytes, and products of the exact model on the rows.
_COMPILE, _BYTES, _EVALUATE = 1e9, 64e6, 4e8
#: Largest number of rows of a trial.
ROWS = 4000


def grade(ratio: float) -> str:
    """Return "below", "near" or "far" for gamma / gamma_MAX."""
    return "below" if ratio < 1 else "near" if ratio <= FEW_TIMES else "far"


def gamma_ratio(model: ExactModel) -> float:
    """Return gamma / gamma_MAX about the support vectors' mean, for rows as long as these; 0 without a gamma."""
    if model.header.kernel_type != "rbf" or not model.vectors.rows:
        return 0.0
    mean = Mean().add(model.vectors)
    norm = sqrt(largest(squared_distances(model.vectors, mean.indices, mean.point)))
    return model.header.gamma / gamma_max(norm, norm)


class Mean:
    """Mean of rows: increasing LIBSVM indices, which may be huge, and values."""

    def __init__(self) -> None:
        self.rows = 0
        self.indices = np.empty(0, np.int32)  # (features), increasing
        self._gathered = np.empty((4, 0))  # (4, features): sum, least, largest, rows with an entry

    def add(self, chunk: _native.Chunk) -> "Mean":
        """Add the rows of a chunk, and return self."""
        self.rows += chunk.rows
        both, at = np.unique(np.concatenate([self.indices, np.asarray(chunk.indices)]), return_inverse=True)
        before, column, values = at[: len(self.indices)], at[len(self.indices) :], np.asarray(chunk.values)
        gathered = np.tile([[0.0], [np.inf], [-np.inf], [0.0]], (1, len(both)))
        gathered[:, before] = self._gathered
        gathered[0] += np.bincount(column, weights=values, minlength=len(both))
        np.minimum.at(gathered[1], column, values)
        np.maximum.at(gathered[2], column, values)
        gathered[3] += np.bincount(column, minlength=len(both))
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


class Trial:
    """approx at its default degree; no model if that takes over a second.

    slow: whether a row may take longer than with the exact model.
    """

    def __init__(self, source: ExactModel):
        header, features = source.header, len(_native.used_indices(source.vectors))
        self.source, self.model, self.slow = source, None, True
        if refused_by_all(source) is not None or reason_against(source) is not None:
            return
        degree = own_degree(header)
        products = header.total_sv * coefficient_count(features, degree) * max(1, header.nr_class - 1)
        if file_bytes(header, features, degree) <= _BYTES and products <= _COMPILE:
            try:
                self.model = compile_maclaurin(source, fingerprint=fingerprint(b""))
            except ModelFormatError:  # its numbers overflow
                return
            self.slow = questionable_gain(self.model.products, source)

    def measure(self, rows: "_native.Chunk") -> "Comparison | None":
        """Return what approx changes on up to 4,000 evenly spread rows, fewer for large models."""
        if self.model is None or not rows.rows:
            return None
        most = int(max(LEAST_ROWS, _EVALUATE / max(1, len(self.source.vectors.indices))))
        return agreement(self.model, self.source, [spread(rows, min(most, ROWS))])
