"""Pivots of a triangle model (Acevedo-Rodriguez et al., section 2, steps 1 and 2)."""

from collections.abc import Callable

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.methods.clusters import k_means
from fastsvm_cli.methods.feature_space import matrix, near_origin, row_norms
from fastsvm_cli.methods.method import require
from fastsvm_cli.models.base import ExactModel, Model


def reason_against(model: ExactModel) -> "str | None":
    """Return why the triangle inequality bounds no kernel value, or None."""
    return _native.why_no_triangle(model.kernel) or None


@np.errstate(all="ignore")  # overflows are refused
def compile_triangle(
    model: ExactModel,
    *,
    fingerprint: str,
    lists: "int | None" = None,
    seed: int = 0,
    on_progress: "Callable[[float], None] | None" = None,
) -> Model:
    """Make the support vectors nearest to `lists` k-means centroids pivots (default: one per class, 2 without)."""
    header = model.header
    require(model.path, reason_against(model))
    vectors = model.vectors
    x = near_origin(matrix(vectors)[0])
    needed = min(lists or (header.nr_class if header.classification else 2), vectors.rows)
    pivots: list[int] = []
    if needed and x.shape[1]:
        means, _ = k_means(x, needed, seed, model.path, on_progress)
        norms = row_norms(x)
        for mean in means[np.all(np.isfinite(means), axis=1)]:
            nearest = int(np.argmin(norms - 2 * (x @ mean)))
            if nearest not in pivots:
                pivots.append(nearest)
    elif needed:
        pivots = [0]
    return Model(_native.TriangleFile(model.file, fingerprint=fingerprint, pivots=pivots), model.path)
