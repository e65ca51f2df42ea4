"""Compress the matrix of a degree-2 expansion to a few eigenvalues."""

from collections.abc import Callable, Sequence

import numpy as np

from fastsvm_cli import bounds

_LEAST_SIZE = 200  # below, all eigenvalues are faster
_FEW = 10  # Lanczos is faster for at most one eigenvalue in this many
#: Memory per number of M, with eigenvectors and workspace.
COPIES = 6


@np.errstate(all="ignore")  # the caller refuses overflows
def compress(
    total: "Sequence[float] | np.ndarray",
    d: int,
    single: bool,
    rank: "int | None",
    tolerance: "float | None",
    gamma: float,
    largest: float,
    proven: bool = True,
) -> "tuple[int, np.ndarray, float] | None":
    """Compress M to its largest eigenvalues.

    Return (rank, stored c, v, lambda, q, upper bound of |loss|_2, infinite unless `proven`; B36 of PROOFS.md), or None
    if M itself is no larger. tolerance: largest change of e^{-gamma |z~|^2} z~'Mz~ for |z~|^2 <= largest.
    """
    if rank is not None and _no_fewer(min(rank, d), d):
        return None
    total = np.asarray(total)
    M = np.empty((d, d))
    at = 1 + d
    for i in range(d):
        M[i, i:] = M[i:, i] = total[at : at + d - i]
        at += d - i
    # Maximum of e^{-gamma s} s over 0 <= s <= largest.
    worst = largest * np.exp(-gamma * largest) if gamma * largest <= 1 else np.exp(-1.0) / gamma
    limit = np.inf if tolerance is None else tolerance * 0.98  # margin for the rounding of q
    found = None if proven else _largest(M, rank, lambda size: size * worst <= limit)
    values, vectors = found or _largest_first(*np.linalg.eigh(M))
    if rank is None:
        # Loss with 1, 2, ... eigenvalues; 0 with all d.
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
    # R is symmetric (B36), and overwritten.
    d = len(R)
    size = float(np.max(np.abs(R), initial=0.0))
    if size == 0 or not np.isfinite(size):
        return size if size == 0 else np.inf
    _, exponent = np.frexp(size)
    np.ldexp(R, -exponent, out=R)  # largest entry between 1/2 and 1
    # The Frobenius norm is a bound too.
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
    # rank (1 + d) coefficients instead of d (d + 1) / 2
    return 2 * rank >= d


def _largest_first(values: np.ndarray, vectors: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
    order = np.argsort(-np.abs(values))
    return values[order], vectors[:, order]


def _largest(
    M: np.ndarray, rank: "int | None", enough: "Callable[[float], bool]"
) -> "tuple[np.ndarray, np.ndarray] | None":
    # Lanczos; None on failure, or if a full decomposition is faster.
    from scipy.sparse.linalg import ArpackError, eigsh

    d = len(M)
    needed = 16 if rank is None else rank
    while d >= _LEAST_SIZE and _FEW * needed <= d:
        try:
            # Fixed start: same model, same file.
            found = eigsh(M, k=needed, which="LM", v0=np.random.default_rng(0).standard_normal(d))
        except ArpackError:
            return None
        values, vectors = _largest_first(*found)
        if not np.all(np.isfinite(values)):
            return None
        if rank is not None:
            return values, vectors
        # The last one only gives the loss without it.
        if enough(abs(values[-1])):
            return values, vectors
        needed *= 2
    return None
