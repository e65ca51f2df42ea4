"""Exact model -> Maclaurin model (Claesen, De Smet, Suykens, De Moor, section 3; about the mean, because the kernel does not change when the origin moves)."""

from typing import Callable

import numpy as np
import scipy.sparse

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.maclaurin import Center, Expansion, MaclaurinModel, coefficient_count
from fastsvm_cli.norms import center_point

CENTERS = ("mean", "origin", "pair")
_DENSE_BYTES = 1 << 25  # support vectors made dense at a time


class TooLargeError(ModelFormatError):
    """The compiled model would not fit the limit its user set."""


def compile_maclaurin(
    model: ExactModel,
    *,
    fingerprint: str,
    center: "str | None" = None,
    single: "bool | None" = None,
    max_bytes: float = float("inf"),
    on_progress: "Callable[[float], None] | None" = None,
) -> MaclaurinModel:
    """Expand every decision function to degree 2 (or to its own degree, where a linear or polynomial kernel has a lower one).

    fingerprint: of the exact model's file, stored. center: "mean" of the support vectors (default), "origin" (the paper's), or "pair",
    the mean of each pair's own support vectors; RBF only. single: store single precision (default for RBF; finite expansions are exact,
    and stored in double precision). max_bytes: refuse what would be a larger file. on_progress: called with the share done.
    Raises ModelFormatError for kernels without such an expansion, TooLargeError.
    """
    header = model.header
    gaussian = header.kernel_type == "rbf"
    degree = _degree(model)
    single = gaussian if single is None else single
    vectors = model.vectors
    features, columns = np.unique(np.asarray(vectors.indices), return_inverse=True)
    x = scipy.sparse.csr_matrix((np.asarray(vectors.values), columns, np.asarray(vectors.indptr)), shape=(vectors.rows, len(features)))
    d = len(features)

    pairs = max(header.pairs, 0)
    per_number = 12 if single else 20  # bytes, as measured
    estimate = pairs * coefficient_count(d, degree) * per_number
    if estimate > max_bytes:
        raise TooLargeError(
            model.path,
            f"the compiled model would take about {estimate / 1e6:.0f} MB ({pairs} decision function{'s' * (pairs != 1)} of {d} features), "
            f"beyond the limit of {max_bytes / 1e6:.0f} MB (--max-size)",
        )

    coefficients = np.asarray(vectors.labels)  # (total_sv, nr_class - 1)
    parts = _decision_functions(header, coefficients)
    if center == "pair" and gaussian:
        points = [_mean(x[np.concatenate([rows[a != 0] for rows, a in part])]) for part in parts]
        centers, groups = points, [[p] for p in range(pairs)]
    else:
        point = _mean(x) if gaussian and center != "origin" else np.zeros(d)
        centers, groups = [point], [list(range(pairs))]

    written, expansions = [], []
    done, work = 0, max(1, sum(len(rows) for part in parts for rows, _ in part))
    for number, (point, group) in enumerate(zip(centers, groups)):
        used = np.unique(np.concatenate([rows for p in group for rows, _ in parts[p]])) if group else np.arange(0)
        largest = max((float(np.max(_squared_distances(x[block], point))) for block in _blocks(used, d)), default=0.0)
        written.append(Center(point, largest))
        for p in group:
            total = np.zeros(coefficient_count(d, degree))
            for rows, a in parts[p]:
                for block in _blocks(np.arange(len(rows)), d):
                    total += _terms(x[rows[block]], a[block], point, header, degree, gaussian)
                done += len(rows)
                if on_progress:
                    on_progress(done / work)
            if not np.all(np.isfinite(total.astype(np.float32) if single else total)):
                raise ModelFormatError(model.path, f"a coefficient of the expansion overflows {'single' if single else 'double'} precision: scale the data")
            expansions.append(Expansion(p, number, total.astype(np.float32).astype(float) if single else total))
    return MaclaurinModel(
        header, degree=degree, features=features.tolist(), single=single, fingerprint=fingerprint, centers=written, expansions=expansions
    )


def _degree(model: ExactModel) -> int:
    header = model.header
    if header.kernel_type == "rbf":
        return 2
    if header.kernel_type == "linear":
        return 1
    if header.kernel_type == "polynomial" and header.degree <= 2:
        return header.degree
    what = f"polynomial kernel of degree {header.degree}" if header.kernel_type == "polynomial" else f"{header.kernel_type} kernel"
    raise ModelFormatError(model.path, f"a {what} found; approx compiles rbf, linear and polynomial kernels of degree up to 2")


def _decision_functions(header, coefficients: np.ndarray) -> "list[list[tuple[np.ndarray, np.ndarray]]]":
    """Per pair, in LIBSVM's order: (rows of the support vectors, their coefficients), one such block per class."""
    if not header.classification:
        return [[(np.arange(header.total_sv), coefficients[:, 0])]]
    starts = np.concatenate(([0], np.cumsum(header.nr_sv)))
    rows = [np.arange(starts[c], starts[c + 1]) for c in range(header.nr_class)]
    return [
        [(rows[i], coefficients[rows[i], j - 1]), (rows[j], coefficients[rows[j], i])]
        for i in range(header.nr_class)
        for j in range(i + 1, header.nr_class)
    ]


def _mean(x) -> np.ndarray:
    return center_point(np.asarray(x.mean(axis=0)).ravel()) if x.shape[0] else np.zeros(x.shape[1])


def _blocks(rows: np.ndarray, d: int):
    size = max(1, _DENSE_BYTES // (8 * max(d, 1)))
    return (rows[at : at + size] for at in range(0, len(rows), size))


def _squared_distances(x, point: np.ndarray) -> np.ndarray:
    dense = x.toarray() - point
    return np.einsum("ij,ij->i", dense, dense)


def _terms(x, a: np.ndarray, point: np.ndarray, header, degree: int, gaussian: bool) -> np.ndarray:
    """c, v and the triangle of M of `a` over the rows of x: eq. (3.7) about `point`, or eqs. (3.13) to (3.16) for finite kernels."""
    keep = a != 0
    dense, a = x[keep].toarray() - point, a[keep]  # (n, d)
    if gaussian:
        gamma = header.gamma
        a = a * np.exp(-gamma * np.einsum("ij,ij->i", dense, dense))
        factors = (1.0, 2 * gamma, 2 * gamma * gamma)
    elif header.kernel_type == "linear":
        factors = (0.0, 1.0)
    else:
        gamma, beta = header.gamma, header.coef0
        factors = ((1.0,), (beta, gamma), (beta * beta, 2 * beta * gamma, gamma * gamma))[degree]
    parts = [np.array([factors[0] * a.sum()])]
    if degree >= 1:
        parts.append(factors[1] * (a @ dense))
    if degree >= 2:
        parts.append((factors[2] * (dense.T @ (a[:, None] * dense)))[np.triu_indices(dense.shape[1])])
    return np.concatenate(parts)
