"""Write a reduced set as a LIBSVM model."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Header
from fastsvm_cli.bounds import LOST_PRODUCT, UNIT
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.models.base import ExactModel


def assemble(
    space: FeatureSpace, columns: np.ndarray, z: "list[np.ndarray]", beta: "list[np.ndarray]", fingerprint: str
) -> ExactModel:
    """Return the LIBSVM model of vectors z (L, d) and coefficients beta (L, m).

    z, beta: per class or all together. The offsets are those of Suttorp and Igel, eq. (9). Raises ModelFormatError on
    overflow.
    """
    model, header = space.model, space.model.header
    if not all(np.all(np.isfinite(numbers)) for numbers in [*z, *beta]):
        raise ModelFormatError(model.path, "a number of the reduced set overflows: scale the data")
    nr_sv: list[int] | None
    if len(z) == 1 and header.classification:
        # One set serves both classes: a coefficient's sign is the class.
        first = beta[0][:, 0] > 0
        order = np.argsort(~first, kind="stable")
        z, beta = [z[0][order]], [beta[0][order]]
        nr_sv = [int(first.sum()), int((~first).sum())]
    else:
        nr_sv = [len(each) for each in z] if header.classification else None
    vectors = _native.Chunk.from_dense(np.concatenate(beta), np.concatenate(z), columns)
    changed = header.changed(nr_sv=nr_sv, total_sv=vectors.rows)
    reduced = FeatureSpace(ExactModel(_native.LibsvmFile(changed, vectors), model.path))
    # Eq. (9): mean of f(x) - Psi'(x) over a function's support vectors.
    exact, _ = space.at_support_vectors
    approximate, _ = reduced.inner_products(model.vectors)
    own = space.coefficients != 0
    difference = ((exact - approximate) * own).sum(axis=0) / np.maximum(own.sum(axis=0), 1)
    changed = changed.changed(rho=(np.array(header.rho) - difference).tolist())
    return with_origin(space, changed, vectors, fingerprint, _distances(space, reduced))


def _distances(space: FeatureSpace, reduced: FeatureSpace) -> np.ndarray:
    """Return |Psi - Psi'|, rounded up (B28 of PROOFS.md): (pairs)."""
    b, error = space.inner_products(reduced.model.vectors)
    own, own_error = reduced.at_support_vectors
    beta = reduced.coefficients
    total = space.squared_norms - 2 * (beta * b).sum(axis=0) + (beta * own).sum(axis=0)
    size = np.abs(beta)
    slack = (size * (2 * error + own_error)).sum(axis=0) + (len(beta) + 12) * UNIT * (
        (size * (2 * np.abs(b) + np.abs(own))).sum(axis=0) + np.abs(total)
    )
    lost = 8 * len(beta) * LOST_PRODUCT
    return np.sqrt(np.maximum(0.0, total) + slack * (1 + 1e-9) + lost) * (1 + 1e-12)


def with_origin(
    space: FeatureSpace, header: Header, vectors: _native.Chunk, fingerprint: str, distance: np.ndarray
) -> ExactModel:
    """Return the model with its radius: distance (pairs), at least |Psi - Psi'|, plus offset changes.

    Raises ModelFormatError on overflow.
    """
    model = space.model
    radius = (distance + np.abs(np.array(header.rho) - np.array(model.header.rho))) * (1 + 1e-12)
    weight = np.abs(space.coefficients).sum(axis=0) * (1 + 1e-9)
    if not (np.all(np.isfinite(radius)) and np.all(np.isfinite(weight))):
        raise ModelFormatError(model.path, "the radius of the reduced set overflows: scale the data")
    longest = int(np.max(np.diff(np.asarray(model.vectors.indptr)), initial=0))
    origin = _native.Origin(radius.tolist(), weight.tolist(), model.header.total_sv, longest)
    file = _native.LibsvmFile(header, vectors, fingerprint=fingerprint, origin=origin, folded=model.inheritance)
    return ExactModel(file, model.path)
