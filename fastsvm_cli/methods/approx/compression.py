"""The matrix of a degree-2 expansion by its largest eigenvalues. What that loses is B36 of bounds.py."""

from collections.abc import Callable, Sequence

import numpy as np

from fastsvm_cli import bounds
from fastsvm_cli.models.maclaurin import coefficient_count, compressed_count

_LEAST_SIZE = 200  # below, all eigenvalues are found faster than a few
_FEW = 10  # one eigenvalue of so many, and fewer, is found faster by Lanczos' method
#: Numbers held for each of the matrix, all eigenvectors and what finds them included.
COPIES = 6


@np.errstate(all="ignore")  # what overflows is refused by the caller
def compress(
    total: "Sequence[float]",
    d: int,
    single: bool,
    rank: "int | None",
    tolerance: "float | None",
    gamma: float,
    largest: float,
    proven: bool = True,
) -> "tuple[int, np.ndarray, float] | None":
    """M by its largest eigenvalues: (rank, the stored numbers c, v, lambda, q, an upper bound of the spectral norm of
    what is lost; infinite, unless that is to be `proven`). None where they would be no fewer numbers than M has.

    rank: so many. tolerance: the fewest that change e^{-gamma |z~|^2} z~'Mz~ by at most this for |z~|^2 <= largest.
    """
    if rank is not None and _no_fewer(min(rank, d), d):
        return None
    total = np.asarray(total)
    M = np.empty((d, d))
    at = 1 + d
    for i in range(d):
        M[i, i:] = M[i:, i] = total[at : at + d - i]
        at += d - i
    # e^{-gamma s} s over 0 <= s <= largest.
    worst = largest if gamma * largest <= 1 else np.exp(-1.0) / gamma
    if gamma * largest <= 1:
        worst *= np.exp(-gamma * largest)
    limit = np.inf if tolerance is None else tolerance * 0.98  # a margin for the rounding of q
    found = None if proven else _largest(M, rank, lambda size: size * worst <= limit)
    if found is None:
        values, vectors = np.linalg.eigh(M)
        order = np.argsort(-np.abs(values))
        values, vectors = values[order], vectors[:, order]
    else:
        values, vectors = found
    if rank is None:
        # What is lost by 1, 2, ... eigenvalues; of d of them, nothing.
        sizes = np.append(np.abs(values)[1:], 0.0)
        rank = 1 + int(np.argmax(sizes * worst <= limit))
        if _no_fewer(rank, d):
            return None
    rank = min(rank, d)
    stored = np.concatenate([total[: 1 + d], values[:rank], vectors[:, :rank].T.ravel()])
    if single:
        stored = stored.astype(np.float32).astype(float)
    if not proven or not np.all(np.isfinite(stored)):
        return rank, stored, np.inf
    weights, q = stored[1 + d : 1 + d + rank], stored[1 + d + rank :].reshape(rank, d)
    residual = M - (q.T * weights) @ q
    rounding = bounds.residual_error(
        float(np.abs(weights) @ np.einsum("ij,ij->i", q, q)), float(np.linalg.norm(residual)), d, rank
    )
    return rank, stored, _spectral_norm(residual) + rounding


def _spectral_norm(R: np.ndarray) -> float:
    """An upper bound of |R|_2, R symmetric: (d, d); infinite where R is not finite. Statement B36 of bounds.py: nothing
    is taken from an eigenvalue but where to begin. R is overwritten."""
    d = len(R)
    size = float(np.max(np.abs(R), initial=0.0))
    if size == 0 or not np.isfinite(size):
        return size if size == 0 else np.inf
    _, exponent = np.frexp(size)
    np.ldexp(R, -exponent, out=R)  # to a largest entry between 1/2 and 1
    # Frobenius' norm is a bound as well.
    bound = float(np.linalg.norm(R)) * (1 + (d * d + 8) * bounds.UNIT)
    try:
        guess = float(np.max(np.abs(np.linalg.eigvalsh(R)))) * (1 + 1e-9)
        guess += 4 * (d + 4) * (d + 1) * bounds.UNIT * (guess + 1)
        for sign in (1, -1):
            shifted = sign * R
            np.fill_diagonal(shifted, guess + np.diagonal(shifted))
            diagonal = np.diagonal(np.linalg.cholesky(shifted))
            if not np.all((diagonal > 0) & np.isfinite(diagonal)):
                return float(np.ldexp(bound, exponent))
        bound = min(bound, bounds.proven_by_cholesky(guess, d))
    except np.linalg.LinAlgError:
        pass
    return float(np.ldexp(bound, exponent))


def _no_fewer(rank: int, d: int) -> bool:
    return compressed_count(d, rank) >= coefficient_count(d, 2)


def _largest(
    M: np.ndarray, rank: "int | None", enough: "Callable[[float], bool]"
) -> "tuple[np.ndarray, np.ndarray] | None":
    """The eigenvalues of largest size, and their eigenvectors, by Lanczos' method: `rank` of them, or so many that what
    is lost without the last one is `enough`. None where all of them are found faster, or these not at all."""
    from scipy.sparse.linalg import ArpackError, eigsh

    d = len(M)
    wanted = 16 if rank is None else rank
    while d >= _LEAST_SIZE and _FEW * wanted <= d:
        try:
            # A seeded start: the same model compiles to the same file.
            values, vectors = eigsh(M, k=wanted, which="LM", v0=np.random.default_rng(0).standard_normal(d))
        except ArpackError:
            return None
        order = np.argsort(-np.abs(values))
        values, vectors = values[order], vectors[:, order]
        if not np.all(np.isfinite(values)):
            return None
        if rank is not None:
            return values, vectors
        # The last one tells only what is lost without it, and makes room for that 0 that ends the list.
        if enough(abs(values[-1])):
            return values, vectors
        wanted *= 2
    return None
