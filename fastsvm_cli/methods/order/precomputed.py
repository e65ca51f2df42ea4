"""Models of a precomputed kernel whose vectors and kernel the user names."""

from collections.abc import Iterable

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.models.base import ExactModel


def with_vectors(model: ExactModel, chunks: Iterable[_native.Chunk], path: str, kernel: Kernel) -> ExactModel:
    """Complete a precomputed-kernel model with its vectors, by serial numbers from 1, and kernel."""
    serials = [int(value) for value in model.vectors.values]
    needed, found, first = set(serials), [], 1
    position: dict[int, int] = {}  # serial number -> row of `found`
    for chunk in chunks:
        rows = [serial - first for serial in needed if first <= serial < first + chunk.rows]
        found.append(chunk.select(rows))
        for row in rows:
            position[first + row] = len(position)
        first += chunk.rows
    if min(needed, default=1) < 1:
        raise ModelFormatError(
            model.path, f"a support vector with the serial number {min(needed)} found: LIBSVM counts rows from 1"
        )
    missing = sorted(needed - set(position))
    if missing:
        raise ModelFormatError(
            path,
            f"{first - 1} rows found, expected {missing[-1]} or more: a support vector of {model.path} has that serial"
            " number",
        )
    rows = _native.Chunk.concatenate(found).select([position[serial] for serial in serials])
    vectors = _native.Chunk.from_csr(model.vectors.leading, rows.indptr, rows.indices, rows.values)
    return ExactModel(_native.LibsvmFile(model.header, vectors, kernel), model.path)


def looks_untrained(model: ExactModel) -> bool:
    """Return whether most free support vectors of a c_svc are far from the margin |f| = 1."""
    if model.header.svm_type != "c_svc":
        return False
    a = np.abs(FeatureSpace(model).coefficients)
    decisions = _native.Decisions(model.pairs)
    model.evaluator.fast_values(model.vectors, decisions)
    free = (a > 0) & (a < a.max(axis=0, initial=0) * (1 - 1e-6))
    off = np.abs(np.abs(np.asarray(decisions.value)) - 1)[free]
    return len(off) >= 5 and float(np.median(off)) > 0.05
