"""Approximating vectors -> a LIBSVM model with a proven radius (Suttorp and Igel, "Resilient Approximation of Kernel Classifiers", eq. 9; |Psi - Psi'| rounded up)."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.bounds import UNIT
from fastsvm_cli.compilers.reduced_set.duplicates import resized
from fastsvm_cli.compilers.feature_space import inner_products, pair_coefficients, squared_norms
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.reduced_set import Origin, ReducedModel


def assemble(model: ExactModel, columns: np.ndarray, z: "list[np.ndarray]", beta: "list[np.ndarray]", fingerprint: str) -> ReducedModel:
    """The LIBSVM model of vectors z (L, d) and coefficients beta (L, m), a pair of them per class, or one in all; its offsets by eq. (9). columns: LIBSVM indices of the features (d)."""
    header = model.header
    if not all(np.all(np.isfinite(numbers)) for numbers in [*z, *beta]):
        raise ModelFormatError(model.path, "a number of the reduced set overflows: scale the data")
    if len(z) == 1 and header.classification:  # a set for both classes: each vector counts as one of the class it speaks for
        first = beta[0][:, 0] > 0
        order = np.argsort(~first, kind="stable")
        z, beta = [z[0][order]], [beta[0][order]]
        nr_sv = [int(first.sum()), int((~first).sum())]
    else:
        nr_sv = [len(each) for each in z] if header.classification else None
    lines = []
    for vectors, coefficients in zip(z, beta):
        for vector, coefficient in zip(vectors.tolist(), coefficients.tolist()):
            entries = (f"{index}:{value!r}" for index, value in zip(columns, vector) if value)
            lines.append(" ".join([*map(repr, coefficient), *entries]) + "\n")
    vectors = _native.parse("".join(lines).encode(), leading=model.vectors.leading)[0]
    changed = resized(header, nr_sv, vectors.rows)
    reduced = ExactModel(changed, vectors, model.path)
    # Eq. (9): the mean over the support vectors of a function of f(x) - Psi'(x).
    exact, _ = inner_products(model, model.vectors)
    approximate, _ = inner_products(reduced, model.vectors)
    own = pair_coefficients(model) != 0
    difference = ((exact - approximate) * own).sum(axis=0) / np.maximum(own.sum(axis=0), 1)
    changed.rho = (np.array(header.rho) - difference).tolist()
    return with_origin(model, changed, vectors, fingerprint, _distances(model, reduced))


def _distances(model: ExactModel, reduced: ExactModel) -> np.ndarray:
    """|Psi - Psi'| of every function, rounded up: (pairs). |Psi|^2 - 2 <Psi, Psi'> + |Psi'|^2, from values of both at their vectors and the bounds of their errors."""
    b, error = inner_products(model, reduced.vectors)
    own, own_error = inner_products(reduced, reduced.vectors)
    at_support_vectors, its_error = inner_products(model, model.vectors)
    beta = pair_coefficients(reduced)
    total = squared_norms(model, at_support_vectors, its_error) - 2 * (beta * b).sum(axis=0) + (beta * own).sum(axis=0)
    size = np.abs(beta)
    slack = (size * (2 * error + own_error)).sum(axis=0) + (len(beta) + 12) * UNIT * ((size * (2 * np.abs(b) + np.abs(own))).sum(axis=0) + np.abs(total))
    return np.sqrt(np.maximum(0.0, total) + slack * (1 + 1e-9)) * (1 + 1e-12)


def with_origin(model: ExactModel, header, vectors, fingerprint: str, distance: np.ndarray) -> ReducedModel:
    """What these vectors approximate, and how far they can be from it: distance (pairs), at least |Psi - Psi'|, and the offsets' own."""
    radius = (distance + np.abs(np.array(header.rho) - np.array(model.header.rho))) * (1 + 1e-12)
    weight = np.abs(pair_coefficients(model)).sum(axis=0) * (1 + 1e-9)
    if not (np.all(np.isfinite(radius)) and np.all(np.isfinite(weight))):
        raise ModelFormatError(model.path, "the radius of the reduced set overflows: scale the data")
    longest = int(np.max(np.diff(np.asarray(model.vectors.indptr)), initial=0))
    return ReducedModel(header, vectors, model.path, Origin(fingerprint, radius.tolist(), weight.tolist(), model.header.total_sv, longest))
