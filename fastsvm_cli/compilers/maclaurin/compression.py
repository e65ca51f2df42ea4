"""The matrix of a degree-2 expansion by its largest eigenvalues."""

from collections.abc import Sequence

import numpy as np


@np.errstate(all="ignore")  # what overflows is refused by the caller
def compress(
    total: "Sequence[float]",
    d: int,
    single: bool,
    rank: "int | None",
    tolerance: "float | None",
    gamma: float,
    largest: float,
) -> "tuple[int, np.ndarray, float]":
    """M by its largest eigenvalues: (rank, the stored numbers c, v, lambda, q, an upper bound of the spectral norm of
    what is lost).

    rank: so many. tolerance: the fewest that change e^{-gamma |z~|^2} z~'Mz~ by at most this for |z~|^2 <= largest.
    """
    total = np.asarray(total)
    M = np.zeros((d, d))
    M[np.triu_indices(d)] = total[1 + d :]
    M = M + np.triu(M, 1).T
    values, vectors = np.linalg.eigh(M)
    order = np.argsort(-np.abs(values))
    if rank is None:
        assert tolerance is not None  # one of the two is given
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
        return rank, stored, np.inf
    q = stored[1 + d + rank :].reshape(rank, d)
    residual = M - (q.T * stored[1 + d : 1 + d + rank]) @ q
    # |residual|_2 from its own eigenvalues; their rounding, and the residual's, are below d^2 u of the Frobenius norms.
    slack = 8 * d * d * 2.0**-53 * (np.linalg.norm(M) + np.linalg.norm(residual))
    return rank, stored, float(np.max(np.abs(np.linalg.eigvalsh(residual)), initial=0.0)) * (1 + 1e-9) + slack
