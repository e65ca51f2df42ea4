"""Exact model -> triangle model: the pivots (Acevedo-Rodriguez et al., section 2, steps 1 and 2)."""

import warnings

import numpy as np

from fastsvm_cli.compilers.functions import matrix
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.triangle import TriangleModel, check_falls


_DENSE_CELLS = 1 << 26  # support vectors times features


def compile_triangle(model: ExactModel, *, fingerprint: str, lists: "int | None" = None, seed: int = 0) -> TriangleModel:
    """Find the centroids of `lists` clusters of the support vectors (default: the number of classes) by k-means, and take the support vector
    nearest to each. Raises ModelFormatError for kernels that do not fall with the distance."""
    from scipy.cluster.vq import kmeans2

    header = model.header
    check_falls(model.kernel, model.path)
    vectors = model.vectors
    x, _ = matrix(vectors)
    with np.errstate(all="ignore"):
        norms = np.asarray(x.multiply(x).sum(axis=1)).ravel()
    if not np.all(np.isfinite(norms)):
        raise ModelFormatError(model.path, "the squared norms of the support vectors overflow, they cannot be clustered: scale the data")
    wanted = min(lists or (header.nr_class if header.classification else 2), vectors.rows)
    pivots: "list[int]" = []
    if wanted and x.shape[1]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty cluster is no fault here
            if x.shape[0] * x.shape[1] <= _DENSE_CELLS:
                centroids, _ = kmeans2(x.toarray(), wanted, iter=30, minit="++", seed=seed)
            else:
                centroids = _sparse_means(x, norms, wanted, np.random.default_rng(seed))
        for centroid in centroids[np.all(np.isfinite(centroids), axis=1)]:
            nearest = int(np.argmin(norms - 2 * (x @ centroid)))
            if nearest not in pivots:
                pivots.append(nearest)
    elif wanted:
        pivots = [0]
    return TriangleModel(model, fingerprint, pivots=pivots)


def _sparse_means(x, norms: np.ndarray, count: int, rng: np.random.Generator, iterations: int = 30) -> np.ndarray:
    """k-means of sparse rows that are too many numbers to write out, from drawn rows: (count, d)."""
    centroids = x[rng.choice(x.shape[0], count, replace=False)].toarray()
    before = None
    for _ in range(iterations):
        distances = norms[:, None] - 2 * (x @ centroids.T) + np.einsum("ij,ij->i", centroids, centroids)
        cluster = np.argmin(distances, axis=1)
        if before is not None and np.array_equal(cluster, before):
            break
        before = cluster
        for k in np.unique(cluster):
            centroids[k] = np.asarray(x[cluster == k].mean(axis=0)).ravel()
    return centroids
