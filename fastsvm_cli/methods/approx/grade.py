"""Trials of approx for ``bound``: gamma / gamma_MAX, and what approx changes.

scripts/measure_grades.py measures the thresholds.
"""

from math import sqrt

from fastsvm_cli import _native
from fastsvm_cli._native import fingerprint
from fastsvm_cli.bounds import gamma_max
from fastsvm_cli.comparisons.agreement import LEAST_ROWS, Comparison, agreement, questionable_gain, spread
from fastsvm_cli.comparisons.norms import Mean, largest, squared_distances
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.approx.expansion import (
    coefficient_count,
    compile_maclaurin,
    file_bytes,
    own_degree,
    reason_against,
)
from fastsvm_cli.methods.method import FEW_TIMES as FEW_TIMES
from fastsvm_cli.models import ExactModel

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


class Trial:
    """approx at its default degree; no model if that takes over a second.

    slow: whether a row may take longer than with the exact model.
    """

    def __init__(self, source: ExactModel):
        header, features = source.header, len(_native.used_indices(source.vectors))
        self.source, self.model, self.slow = source, None, True
        if (
            not source.pairs
            or not header.total_sv
            or source.uncompilable is not None
            or reason_against(source) is not None
        ):
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
