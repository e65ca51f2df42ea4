"""Exact model -> Maclaurin model (Claesen, De Smet, Suykens, De Moor, section 3; about the mean, because the kernel does not change when the origin moves)."""

import warnings
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import Callable

import numpy as np
import scipy.sparse

from fastsvm_cli import _native, bounds
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.maclaurin import MAX_DEGREE, Center, Certificate, Expansion, MaclaurinModel, coefficient_count, compressed_count, packed_size
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
    degree: "int | None" = None,
    certify: bool = False,
    clusters: int = 1,
    rank: "int | None" = None,
    tolerance: "float | None" = None,
    max_bytes: float = float("inf"),
    on_progress: "Callable[[float], None] | None" = None,
) -> MaclaurinModel:
    """Expand every decision function to `degree` (1 to 4; default 2, or the kernel's own where it is linear or polynomial).

    fingerprint: of the exact model's file, stored. center: "mean" of the support vectors (default), "origin" (the paper's), or "pair",
    the mean of each pair's own support vectors; RBF only. single: store single precision (default for RBF; finite expansions are exact,
    and stored in double precision). certify: store what proves a radius for every row (bounds.py). clusters: expand about the means of so many
    clusters of the support vectors (k-means, seeded) instead of about one center. rank: compress M to so many eigenvectors; tolerance: to as
    few as change no decision value by more than this, for rows as near the center as the support vectors. max_bytes: refuse what would be a larger file. on_progress: called with the share done.
    Raises ModelFormatError for kernels without such an expansion, TooLargeError.
    """
    header = model.header
    gaussian = header.kernel_type == "rbf"
    degree = _degree(model, degree)
    single = gaussian if single is None else single
    vectors = model.vectors
    features, columns = np.unique(np.asarray(vectors.indices), return_inverse=True)
    x = scipy.sparse.csr_matrix((np.asarray(vectors.values), columns, np.asarray(vectors.indptr)), shape=(vectors.rows, len(features)))
    d = len(features)

    if certify:
        _check_range(model)
    functions = _decision_functions(header, np.asarray(vectors.labels))
    about = list(_about_centers(x, functions, center if gaussian else "origin", clusters if gaussian else 1, model.path))
    if tolerance is None:  # which decides the size itself
        compress = rank is not None and degree == 2 and d
        count = sum(len(shares) for _, shares in about) * (compressed_count(d, min(rank, d)) if compress else coefficient_count(d, degree))
        estimate = count * (12 if single else 20)  # bytes, as measured
        if estimate > max_bytes:
            what = f"{header.pairs} decision function{'s' * (header.pairs != 1)} of {d} features, degree {degree}{f', {clusters} centers' * (clusters > 1)}"
            raise TooLargeError(
                model.path, f"the compiled model would take about {estimate / 1e6:.3g} MB ({what}), beyond the limit of {max_bytes / 1e6:.3g} MB (--max-size)"
            )
    written, expansions, factors = [], [], _factors(header, degree)
    done, work = 0, max(1, sum(len(rows) ** 2 for rows, _ in functions))
    for number, (point, shares) in enumerate(about):
        used = np.unique(np.concatenate([rows for _, rows, _ in shares])) if shares else np.arange(0)
        largest = max((float(np.max(_squared_distances(x[block], point))) for block in _blocks(used, d)), default=0.0)
        written.append(Center(point, largest))
        for p, mine, a in shares:
            total = np.zeros(coefficient_count(d, degree))
            for block in _blocks(np.arange(len(mine)), d):
                total += _terms(x[mine[block]], a[block], point, factors, gaussian and header.gamma)
            own_rank, dropped = 0, 0.0
            if degree == 2 and d and (rank is not None or tolerance is not None):
                if not np.all(np.isfinite(total)):
                    raise ModelFormatError(model.path, "a coefficient of the expansion overflows double precision: scale the data")
                own_rank, stored, dropped = _compress(total, d, single, rank, tolerance, header.gamma if gaussian else 0.0, largest)
            else:
                with np.errstate(over="ignore"):
                    stored = total.astype(np.float32).astype(float) if single else total
            if not np.all(np.isfinite(stored)):
                raise ModelFormatError(model.path, f"a coefficient of the expansion overflows {'single' if single else 'double'} precision: scale the data")
            certificate = None
            if certify:
                shown = on_progress and (lambda share, from_=done, size=len(mine) ** 2: on_progress((from_ + share * size) / work))
                certificate = _certificate(x[mine], a, point, header, factors, total[: 1 + d] - stored[: 1 + d] if own_rank else total - stored, shown)
                certificate.error[2:] = [e + dropped for e in certificate.error[2:]]
                if not np.all(np.isfinite(certificate.numbers())):
                    raise ModelFormatError(model.path, "a number of the certificate overflows: scale the data")
            done += len(mine) ** 2
            if on_progress:
                on_progress(done / work)
            expansions.append(Expansion(p, number, stored, certificate, own_rank))
    return MaclaurinModel(
        header, degree=degree, features=features.tolist(), single=single, fingerprint=fingerprint, centers=written, expansions=expansions,
        highest_norm=certified_degree(degree, gaussian) if certify else 0,
        longest_vector=int(np.max(np.diff(np.asarray(vectors.indptr)), initial=0)),
    )


def certified_degree(degree: int, gaussian: bool) -> int:
    """N: the highest degree with a norm of its own. Beyond five more, the rest as a whole is bounded as well."""
    return degree + 5 if gaussian else max(degree, 1)


def _degree(model: ExactModel, wanted: "int | None") -> int:
    header = model.header
    if header.kernel_type == "rbf":
        if not header.gamma >= 0:
            raise ModelFormatError(model.path, f"gamma {header.gamma:g} found; approx compiles rbf kernels of gamma 0 or more")
        return 2 if wanted is None else wanted
    own = {"linear": 1, "polynomial": header.degree}.get(header.kernel_type)
    if own is not None and own <= MAX_DEGREE:
        if wanted is not None and wanted != own:
            raise ModelFormatError(model.path, f"a {header.kernel_type} kernel of degree {own} found: it compiles exactly, and at no other degree")
        return own
    what = f"polynomial kernel of degree {header.degree}" if header.kernel_type == "polynomial" else f"{header.kernel_type} kernel"
    raise ModelFormatError(model.path, f"a {what} found; approx compiles rbf, linear and polynomial kernels of degree up to {MAX_DEGREE}")


def _check_range(model: ExactModel) -> None:
    """A proof counts roundings, each relative to a number: what it is about may not overflow nor, where no e^{-gamma |z|^2} bounds the rows that
    matter, underflow, up to the fourth power. See bounds.py."""
    header = model.header
    finite = header.kernel_type != "rbf"
    for what, numbers, least in (
        ("gamma", [header.gamma], 1e-30), ("coef0", [header.coef0], 1e-30), ("rho", header.rho, 0.0),
        ("a coefficient", np.asarray(model.vectors.labels), 1e-60 * finite), ("a value of a support vector", np.asarray(model.vectors.values), 1e-30 * finite),
    ):  # fmt: skip
        sizes = np.abs(np.asarray(numbers, float))
        odd = sizes[(sizes != 0) & ((sizes < least) | (sizes > 1e30))]
        if len(odd):
            raise ModelFormatError(model.path, f"{what} of size {odd[0]:g} found, beyond what a certificate can cover: scale the data")


def _factors(header, degree: int) -> "list[float]":
    """K(x, z) = sum_k factor_k (x.z)^k, for RBF times e^{-gamma |x|^2 - gamma |z|^2}: eqs. (3.7) and (3.13) to (3.16), at any degree."""
    if header.kernel_type == "rbf":
        return [_power(2 * header.gamma, k) / factorial(k) for k in range(degree + 1)]
    if header.kernel_type == "linear":
        return [0.0, 1.0]
    return [comb(degree, k) * _power(header.coef0, degree - k) * _power(header.gamma, k) for k in range(degree + 1)]


def _power(base: float, exponent: int) -> float:
    with np.errstate(all="ignore"):  # what overflows is refused by its result
        return float(np.float64(base) ** exponent)


def _decision_functions(header, coefficients: np.ndarray) -> "list[tuple[np.ndarray, np.ndarray]]":
    """Per pair, in LIBSVM's order: its support vectors (rows of x) and their coefficients, none of them 0."""
    if not header.classification:
        return [_nonzero(np.arange(header.total_sv), coefficients[:, 0])]
    starts = np.concatenate(([0], np.cumsum(header.nr_sv)))
    rows = [np.arange(starts[c], starts[c + 1]) for c in range(header.nr_class)]
    return [
        _nonzero(np.concatenate([rows[i], rows[j]]), np.concatenate([coefficients[rows[i], j - 1], coefficients[rows[j], i]]))
        for i in range(header.nr_class)
        for j in range(i + 1, header.nr_class)
    ]


def _nonzero(rows: np.ndarray, a: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
    return rows[a != 0], a[a != 0]


def _about_centers(x, functions, center: "str | None", clusters: int, path: str):
    """Yield (center, [(pair, rows, coefficients) of the expansions about it])."""
    if center == "pair":
        for p, (rows, a) in enumerate(functions):
            yield _mean(x[rows]), [(p, rows, a)]
    elif clusters > 1 and min(x.shape) > 0:
        cluster = _clusters(x, clusters, path)
        for k in np.unique(cluster):
            mine = [(p, rows[cluster[rows] == k], a[cluster[rows] == k]) for p, (rows, a) in enumerate(functions)]
            # A pair without support vectors in a cluster has no expansion there; one without any has one about the first, of nothing.
            yield _mean(x[cluster == k]), [(p, rows, a) for p, rows, a in mine if len(rows) or (k == cluster.min() and not len(functions[p][0]))]
    else:
        yield (np.zeros(x.shape[1]) if center == "origin" else _mean(x)), [(p, rows, a) for p, (rows, a) in enumerate(functions)]


def _clusters(x, k: int, path: str) -> np.ndarray:
    """The cluster of every support vector: k-means, k-means++ start, seeded: the same model compiles to the same file."""
    from scipy.cluster.vq import kmeans2

    with np.errstate(all="ignore"):
        sound = np.isfinite(x.multiply(x).sum())
    if not sound:
        raise ModelFormatError(path, "the squared norms of the support vectors overflow, they cannot be clustered: scale the data")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster is no fault here
        return kmeans2(x.toarray(), min(k, x.shape[0]), iter=30, minit="++", seed=0)[1]


def _mean(x) -> np.ndarray:
    if not x.shape[0]:
        return np.zeros(x.shape[1])
    return center_point(*(np.asarray(part.todense() if scipy.sparse.issparse(part) else part).ravel() for part in (x.mean(axis=0), x.min(axis=0), x.max(axis=0))))


def _blocks(rows: np.ndarray, d: int):
    size = max(1, _DENSE_BYTES // (8 * max(d, 1)))
    return (rows[at : at + size] for at in range(0, len(rows), size))


def _squared_distances(x, point: np.ndarray) -> np.ndarray:
    dense = x.toarray() - point
    return np.einsum("ij,ij->i", dense, dense)


def _terms(x, a: np.ndarray, point: np.ndarray, factors: "list[float]", gamma: float) -> np.ndarray:
    """The packed tensors factor_k sum_i a_i x_i^k for k = 0, 1, ..., about `point`, over the rows of x."""
    dense = x.toarray() - point  # (n, d)
    if gamma:
        a = a * np.exp(-gamma * np.einsum("ij,ij->i", dense, dense))
    return np.concatenate([factor * _moments(dense, a, k) for k, factor in enumerate(factors)])


def _moments(x: np.ndarray, a: np.ndarray, k: int) -> np.ndarray:
    """sum_i a_i x_ij1 ... x_ijk for j1 <= ... <= jk, in lexicographic order."""
    d = x.shape[1]
    if k == 0:
        return np.array([a.sum()])
    if k == 1:
        return a @ x
    if k == 2:
        return (x.T @ (a[:, None] * x))[np.triu_indices(d)]
    if not d:
        return np.empty(0)
    return np.concatenate([_moments(x[:, j:], a * x[:, j], k - 1) for j in range(d)])


def _orderings(d: int, degree: int) -> np.ndarray:
    """For every packed entry of every degree, how often it stands in the full symmetric tensor."""
    counts = []
    for k in range(degree + 1):
        if k == 2:
            counts.append(np.where(np.equal(*np.triu_indices(d)), 1.0, 2.0))
        elif k < 2:
            counts.append(np.ones(packed_size(k, d)))
        else:
            counts.append(_tensor_orderings(d, k))
    return np.concatenate(counts)


def _tensor_orderings(d: int, k: int) -> np.ndarray:
    indices = np.fromiter((i for entry in combinations_with_replacement(range(d), k) for i in entry), np.int32).reshape(-1, k)
    orderings, run = np.full(len(indices), float(factorial(k))), np.ones(len(indices))
    for at in range(1, k):
        run = np.where(indices[:, at] == indices[:, at - 1], run + 1, 1.0)
        orderings /= run
    return orderings


def _compress(total: np.ndarray, d: int, single: bool, rank: "int | None", tolerance: "float | None", gamma: float, largest: float):
    """M by its largest eigenvalues: (rank, the stored numbers c, v, lambda, q, an upper bound of the spectral norm of what is lost).

    rank: so many. tolerance: the fewest that change e^{-gamma |z~|^2} z~'Mz~ by at most this for |z~|^2 <= largest.
    """
    M = np.zeros((d, d))
    M[np.triu_indices(d)] = total[1 + d :]
    M = M + np.triu(M, 1).T
    values, vectors = np.linalg.eigh(M)
    order = np.argsort(-np.abs(values))
    if rank is None:
        # e^{-gamma s} s over 0 <= s <= largest.
        worst = largest if gamma * largest <= 1 else np.exp(-1.0) / gamma
        if gamma * largest <= 1:
            worst *= np.exp(-gamma * largest)
        sizes = np.append(np.abs(values[order])[1:], 0.0)  # what is lost by 1, 2, ... eigenvalues
        rank = 1 + int(np.argmax(sizes * worst <= tolerance * 0.98))  # a margin for the rounding of q
    rank = min(rank, d)
    kept = order[:rank]
    stored = np.concatenate([total[: 1 + d], values[kept], vectors[:, kept].T.ravel()])
    if single:
        stored = stored.astype(np.float32).astype(float)
    if not np.all(np.isfinite(stored)):
        return rank, stored, np.inf  # refused by the caller
    q = stored[1 + d + rank :].reshape(rank, d)
    residual = M - (q.T * stored[1 + d : 1 + d + rank]) @ q
    # |residual|_2 from its own eigenvalues; their rounding, and the residual's, are below d^2 u of the Frobenius norms.
    slack = 8 * d * d * 2.0**-53 * (np.linalg.norm(M) + np.linalg.norm(residual))
    return rank, stored, float(np.max(np.abs(np.linalg.eigvalsh(residual)), initial=0.0)) * (1 + 1e-9) + slack


def _certificate(x, a: np.ndarray, point: np.ndarray, header, factors: "list[float]", rounding: np.ndarray, on_progress) -> Certificate:
    """Everything a radius needs to know of one expansion; see bounds.py. rounding: computed minus stored coefficients, packed."""
    n, d = x.shape
    degree = len(factors) - 1
    dense = np.ascontiguousarray(x.toarray() - point)
    squares = np.einsum("ij,ij->i", dense, dense)
    norms = np.sqrt(squares)
    weight = float(np.abs(a).sum())
    gaussian = header.kernel_type == "rbf"
    exponents = header.gamma * squares if gaussian else np.zeros(n)
    damped = np.abs(a) * np.exp(-exponents)

    largest_exponent = float(np.max(exponents, initial=0.0))

    def moment(k, lengths):
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # what e^{-gamma |x~|^2} has made 0 is 0 at any power
            return float(np.where(damped > 0, damped * lengths**k, 0.0).sum())

    squared = rounding * rounding * _orderings(d, degree)[: len(rounding)]
    error, at = [], 0
    for k, factor in enumerate(factors):
        size = packed_size(k, d)
        stored = bounds.length(float(squared[at : at + size].sum()), size)  # next to 0 for a compressed M, whose loss is known as a whole
        error.append(stored + bounds.coefficient_error(k, factor, moment(k, norms), n, d, largest_exponent))
        at += size
    truncation = []
    if gaussian:
        last, scaled = certified_degree(degree, True), np.sqrt(2 * exponents)
        computed = _native.degree_norms(dense, a, header.gamma, degree + 1, last, on_progress)
        for k in range(degree + 1, last + 1):
            truncation.append(bounds.degree_norm(computed[k - degree - 1], k, moment(k, scaled), n, d, largest_exponent))
        moments = [moment(k, scaled) for k in range(last + 1, last + 41)]
        truncation.append(bounds.tail_norm(computed[-1], last, moments, weight, n, d, largest_exponent))
        truncation = [w + 1e-120 * weight for w in truncation]  # coefficients that underflowed
    return Certificate(truncation, error, weight * (1 + 1e-9), float(n))
