"""Exact merging of equal support vectors.

Source: Downs, Gates and Masters, "Exact Simplification of Support Vector Solutions", 2001.
"""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Header
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import ExactModel


def merge_duplicates(model: ExactModel) -> "tuple[ExactModel, int]":
    """Return (model without duplicates or zero coefficients, number removed).

    Only equal vectors merge exactly (beyond two classes, within a class): others are linearly independent in an RBF
    kernel's feature space. Raises ModelFormatError on overflow.
    """
    header, vectors = model.header, model.vectors
    coefficients = np.asarray(vectors.leading)
    starts, indices, values = np.asarray(vectors.indptr), np.asarray(vectors.indices), np.asarray(vectors.values)
    classes = (
        np.repeat(np.arange(header.nr_class), header.nr_sv)
        if header.classification and header.nr_class > 2
        else np.zeros(vectors.rows, int)
    )
    nonzero = values != 0  # drops -0 too
    starts = np.concatenate(([0], np.cumsum(nonzero)))[starts].tolist()
    index_bytes, value_bytes = indices[nonzero].tobytes(), values[nonzero].tobytes()
    index_size, value_size = indices.itemsize, values.itemsize
    first: dict[tuple, int] = {}
    total = coefficients.copy()
    chosen = []
    for row, (of, start, stop) in enumerate(zip(classes.tolist(), starts, starts[1:])):
        key = (
            of,
            index_bytes[start * index_size : stop * index_size],
            value_bytes[start * value_size : stop * value_size],
        )
        if key in first:
            total[first[key]] += coefficients[row]
        else:
            first[key] = row
            chosen.append(row)
    if not np.all(np.isfinite(total)):
        raise ModelFormatError(
            model.path, "the sum of the coefficients of equal support vectors overflows: scale the data"
        )
    used = (total != 0).any(axis=1).tolist()
    chosen = [row for row in chosen if used[row]]
    if len(chosen) == vectors.rows:
        return model, 0
    rows = vectors.select(chosen)
    merged = _native.Chunk.from_csr(total[chosen], rows.indptr, rows.indices, rows.values)
    fewer = header.changed(nr_sv=_counts(header, chosen), total_sv=len(chosen))
    return ExactModel(_native.LibsvmFile(fewer, merged), model.path), vectors.rows - len(chosen)


def _counts(header: Header, chosen: "list[int]") -> "list[int] | None":
    if not header.classification:
        return None
    of = np.repeat(np.arange(header.nr_class), header.nr_sv)
    return np.bincount(of[chosen], minlength=header.nr_class).tolist()
