"""Clusters of support vectors by k-means."""

import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.feature_space import Matrix, matrix, near_origin, row_norms

ROUNDS = 30
# For dense rows: rows times features, and rows times clusters.
DENSE_CELLS, _DISTANCES = 1 << 26, 1 << 27
# Clusters times features: means are dense.
CENTROIDS = 1 << 28
# Limit of distances in memory.
BLOCK_CELLS = 1 << 24


def clusters_of(
    vectors: _native.Chunk, k: int, path: str, on_progress: "Callable[[float], None] | None" = None
) -> "list[int]":
    """Return every vector's cluster. Fixed seed: same model, same file."""
    return k_means(near_origin(matrix(vectors)[0]), k, 0, path, on_progress)[1].tolist()


@np.errstate(all="ignore")
def k_means(
    x: Matrix, k: int, seed: int, path: str, on_progress: "Callable[[float], None] | None" = None
) -> "tuple[np.ndarray, np.ndarray]":
    """Return (means (at most k, d), not finite for empty clusters; cluster per row (n))."""
    n, d = x.shape
    if not np.all(np.isfinite(row_norms(x))):
        raise ModelFormatError(
            path, "the squared norms of the support vectors overflow, they cannot be clustered: scale the data"
        )
    k = min(k, n)
    if k * d > CENTROIDS:
        raise ModelFormatError(
            path,
            f"{k} clusters of {d} features found, whose means take {8e-9 * k * d:.3g} GB, expected at most"
            f" {8e-9 * CENTROIDS:.3g} GB",
        )
    # Division by a power of 2 is exact. Then no square overflows, and no significant one underflows.
    largest = float(abs(x).max()) if x.size else 0.0
    unit = 2.0 ** max(-1000.0, np.floor(np.log2(largest or 1.0)))
    x = x / unit
    if n * d > DENSE_CELLS or n * k > _DISTANCES:
        means, cluster = _sparse_means(scipy.sparse.csr_matrix(x), k, np.random.default_rng(seed), on_progress)
    else:
        means, cluster = _dense_means(x.toarray() if scipy.sparse.issparse(x) else x, k, seed, on_progress)
    means *= unit
    return means, cluster


def _dense_means(
    x: np.ndarray, count: int, seed: int, on_progress: "Callable[[float], None] | None"
) -> "tuple[np.ndarray, np.ndarray]":
    from scipy.cluster.vq import kmeans2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # empty clusters are allowed
        # scipy takes no larger seed.
        start = seed if seed < 2**32 else np.random.default_rng(seed)
        means, cluster = kmeans2(x, count, iter=1, minit="++", seed=start)
        for done in range(1, ROUNDS):
            if on_progress:
                on_progress(done / ROUNDS)
            means, cluster = kmeans2(x, means, iter=1, minit="matrix")
    return means, cluster


def _sparse_means(
    x: scipy.sparse.csr_matrix,
    count: int,
    rng: np.random.Generator,
    on_progress: "Callable[[float], None] | None" = None,
) -> "tuple[np.ndarray, np.ndarray]":
    n = x.shape[0]
    norms = row_norms(x)
    means = x[rng.choice(n, count, replace=False)].toarray()
    cluster = np.full(n, -1)
    size = max(1, BLOCK_CELLS // count)
    for done in range(ROUNDS):
        if on_progress:
            on_progress(done / ROUNDS)
        before, cluster, squares = cluster, np.empty(n, int), np.einsum("ij,ij->i", means, means)
        for at in range(0, n, size):
            part = slice(at, at + size)
            cluster[part] = np.argmin(norms[part, None] - 2 * (x[part] @ means.T) + squares, axis=1)
        if np.array_equal(cluster, before):
            break
        for k in np.unique(cluster):
            means[k] = np.asarray(x[cluster == k].mean(axis=0)).ravel()
    return means, cluster
