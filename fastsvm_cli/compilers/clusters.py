"""Clusters of support vectors, for expansions about several centers."""

import warnings

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.compilers.functions import matrix
from fastsvm_cli.errors import ModelFormatError


def clusters_of(vectors: _native.Chunk, k: int, path: str) -> "list[int]":
    """The cluster of every support vector: k-means, k-means++ start, seeded: the same model compiles to the same file."""
    from scipy.cluster.vq import kmeans2

    x, _ = matrix(vectors)
    with np.errstate(all="ignore"):
        sound = np.isfinite(x.multiply(x).sum())
    if not sound:
        raise ModelFormatError(path, "the squared norms of the support vectors overflow, they cannot be clustered: scale the data")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster is no fault here
        return kmeans2(x.toarray(), min(k, x.shape[0]), iter=30, minit="++", seed=0)[1].tolist()
