"""Border samples (Mills, "When Support Vector Machines are just too slow").

Samples b_i have f(b_i) = level and normals n_i = grad f(b_i): f(z) is near level + n_i.(z - b_i) at the nearest b_i.
They are roots on lines between rows on opposite sides, random in the paper; here, one may be a row that the samples get
wrong, the other near it.
"""

from math import isfinite
from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import class_pairs
from fastsvm_cli.errors import FileError, ModelFormatError, spelled
from fastsvm_cli.methods.border.density import check_weight, classes_of, dense_rows, density_header
from fastsvm_cli.methods.border.gradients import DensityFunction, MachineFunction
from fastsvm_cli.methods.border.samples import (
    CLOUD_CELLS,
    SampledBorder,
    Sampling,
    drawn_rows,
    positions_among,
    rows_for,
    sample_border,
)
from fastsvm_cli.methods.feature_space import FeatureSpace, matrix
from fastsvm_cli.methods.method import require
from fastsvm_cli.models.base import ExactModel


@np.errstate(all="ignore")  # overflows are refused, or give no root
def compile_border(
    model: ExactModel,
    *,
    fingerprint: str,
    raw: bool = False,
    chunks: "list[_native.Chunk] | None" = None,
    **how: Any,
) -> SampledBorder:
    """Sample the border of a classification or one-class model.

    raw: at f = 0 despite probability parameters. chunks: rows to draw from; default: support vectors. how: of Sampling.
    """
    header = model.header
    require(model.path, reason_against(model))
    sampling = Sampling(**how)
    rows = rows_for(model, chunks, sampling.rng)
    # Keep every feature of a row: |x|^2 depends on features that the gradient ignores.
    x, _ = matrix(model.vectors, rows.columns)
    x = x.toarray() if x.shape[0] * x.shape[1] <= CLOUD_CELLS else x
    coefficients = FeatureSpace(model).coefficients
    decisions = _native.Decisions(model.pairs)
    model.evaluator.fast_values(rows.chunk, decisions)
    values = np.array(decisions.value)
    if not np.all(np.isfinite(values)):
        raise ModelFormatError(
            model.path, "a decision value overflows on the rows that the border would be drawn through: scale the data"
        )
    functions, levels = [], []
    for p in range(model.pairs):
        mine = np.flatnonzero(coefficients[:, p])
        functions.append(MachineFunction(x[mine], coefficients[mine, p], header.rho[p], model.kernel))
        level = 0.0
        if header.classification and header.probA and header.probB and not raw and header.probA[p] != 0:
            level = -header.probB[p] / header.probA[p]
        if not isfinite(level):
            raise ModelFormatError(
                model.path,
                f"both classes are as likely at a decision value that overflows: sample where it is 0"
                f" ({spelled('raw')})",
            )
        levels.append(level)
    return sample_border(
        header,
        functions,
        levels,
        rows,
        values,
        unseen=values,
        fingerprint=fingerprint,
        sampling=sampling,
        folded=model.inheritance,
    )


@np.errstate(all="ignore")
def compile_density_border(
    chunks: "list[_native.Chunk]",
    path: str,
    *,
    fingerprint: str,
    bandwidth: "float | None",
    weight: float = 0.0,
    **how: Any,
) -> SampledBorder:
    """Sample the border where two density estimates are equal. how: of Sampling."""
    sampling = Sampling(**how)
    found, whole = classes_of(chunks, path)
    position = {label: at for at, label in enumerate(found)}
    x, columns = dense_rows(chunks, path)
    functions, members = [], []
    for _, i, j in class_pairs(len(found)):
        mine = np.flatnonzero((whole == i) | (whole == j))
        if bandwidth is None:
            check_weight(weight, len(mine), found[i], found[j], path)
        members.append(mine)
        functions.append(DensityFunction(x[mine], np.where(whole[mine] == i, 1.0, -1.0), bandwidth, weight))
    rows = drawn_rows(chunks, position, columns, sampling.rng)
    values = np.stack([function.value_and_gradient(rows.x)[0] for function in functions], axis=1)
    # Leave each row out of its own estimate.
    unseen = np.stack(
        [
            function.value_and_gradient(rows.x, own)[0]
            for function, own in zip(functions, positions_among(members, rows.positions))
        ],
        axis=1,
    )
    if not (np.all(np.isfinite(values)) and np.all(np.isfinite(unseen))):
        raise FileError(path, "the density estimates overflow: scale the data")
    spread = bandwidth or float(np.median(functions[0].bandwidths(rows.x[:200])))
    # P(first) - P(second) is tanh of the border decision (Mills): LIBSVM's sigmoid with A = -2, B = 0.
    header = density_header(found, whole, spread, -2.0)
    return sample_border(
        header,
        functions,
        [0.0] * len(functions),
        rows,
        values,
        unseen=unseen,
        fingerprint=fingerprint,
        sampling=sampling,
    )


def reason_against(model: ExactModel) -> "str | None":
    """Return why the model has no border, or None."""
    header = model.header
    if header.regression:
        return f"a model of type {header.svm_type} found, expected classes: the values of a regression have no border"
    if header.kernel_type == "precomputed":
        return "a precomputed kernel found, which has no gradient"
    return None


def needs_rows(model: ExactModel) -> bool:
    """Return whether a model needs rows: one-class support vectors are on one side of the border."""
    return model.header.svm_type == "one_class"
