"""Orders of support vectors.

geometry: the choice of points (DeCoste, section 5). triangle: pivots (Acevedo-Rodriguez et al., section 2, steps 1 and
2). A model of a precomputed kernel is completed with vectors and a kernel that the user names.
"""

from collections.abc import Iterable
from math import ceil, sqrt

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods import Progress, part_of, silent
from fastsvm_cli.methods.feature_space import (
    FeatureSpace,
    PartialCholesky,
    fast_values,
    k_means,
    matrix,
    near_origin,
    require_finite,
    row_norms,
    too_many_vectors,
)
from fastsvm_cli.methods.method import require
from fastsvm_cli.models import ExactModel, Model

_CANDIDATES = 59  # sparse greedy approximation: the best of 59 is among the best 5 % with probability 0.95
#: Minimum squared distance of a point from the others' span, over its squared norm.
INDEPENDENT = 1e-4
MOST_POINTS = 2048
FACTOR_CELLS = 1 << 26  # limit of support vectors times points to choose from
SINGLE_CELLS = 1 << 24  # beyond, memory matters more than the best choice


def reason_against(model: ExactModel, order: str = "geometry") -> "str | None":
    """Return why the kernel is no inner product of a feature space, or its values have no triangle bound; or None."""
    kernel = model.kernel
    if order == "triangle":
        return _native.why_no_triangle(kernel) or None
    if kernel.semidefinite:
        return too_many_vectors(model)
    if kernel.type == "precomputed":
        return _native.WITHOUT_VECTORS
    of = ""
    if kernel.type in ("polynomial", "rbf", "exponential"):
        of = f" with negative {'gamma' if kernel.gamma < 0 else 'coef0'}"
    return (
        f"a {kernel.type} kernel{of} found, which is no inner product of features: the geometry method has no space to"
        " measure in"
    )


@np.errstate(all="ignore")  # overflows are refused
def compile_geometry(
    model: ExactModel,
    *,
    fingerprint: str,
    sequence: str = "greedy",
    points: "int | None" = None,
    folded: "_native.Chunk | None" = None,
    seed: int = 0,
    on_progress: Progress = silent,
) -> Model:
    """Choose the points of a geometry model.

    sequence: "greedy": next the support vector p with the largest sum over decision functions of c_p^2 / (d_p |w|^2), c
    the residual of K a, d that of K's diagonal; "sgma": the best of 59 random ones for the residual of K (Smola and
    Schoelkopf, 2000). points: maximum besides `folded`, vectors that come first (section 6.1).
    """
    require(model.path, reason_against(model))
    vectors = model.vectors
    n, pairs = vectors.rows, model.pairs
    folded = vectors.slice(0, 0) if folded is None else folded
    none = np.zeros((folded.rows, vectors.leading_count))
    further = _native.Chunk.from_csr(none, folded.indptr, folded.indices, folded.values)
    all_vectors = _native.Chunk.concatenate([vectors, further]) if further.rows else vectors
    points = min(default_points(model) if points is None else points, n)
    rng = np.random.default_rng(seed)
    among = max(points, FACTOR_CELLS // max(points, 1))
    candidates = np.arange(n) if among >= n else np.sort(rng.choice(n, among, replace=False))
    rows = np.concatenate([candidates, n + np.arange(further.rows)])  # of all_vectors
    x = matrix(all_vectors)[0][rows]
    n, points = len(candidates), points + further.rows

    # Estimated nanoseconds of both phases.
    values_work = vectors.rows * (vectors.rows + len(vectors.indices) / 20)
    step_work = len(rows) * (points / 4 + x.shape[1] / 10 + 4)
    before = values_work / (values_work + points * step_work + 1)
    space = FeatureSpace(model, part_of(on_progress, 0.0, before))
    b, error = (np.concatenate(both) for both in zip(space.at_support_vectors, space.inner_products(further)))
    squared_norm = space.squared_norms

    # No proof depends on the choice. Single precision finds good points for kernels of distances, not always the best:
    # on banana at C = 64 rows need twice as many.
    single = model.kernel.of_distances and len(rows) * points > SINGLE_CELLS
    chosen = PartialCholesky(model.kernel, x, points, single)
    residual = b[rows]
    # In shares of each decision function's own |w|^2.
    weights = 1 / np.maximum(squared_norm, np.finfo(float).tiny)
    order = []
    for step in range(points):
        if step < further.rows:
            p = n + step
            if chosen.diagonal[p] <= INDEPENDENT * chosen.self_kernel[p]:
                continue
        else:
            free = chosen.diagonal[:n] > INDEPENDENT * chosen.self_kernel[:n]
            if not free.any():
                break
            if sequence == "greedy":
                p = int(np.argmax(np.where(free, (residual[:n] ** 2 @ weights) / chosen.diagonal[:n], -1.0)))
            else:
                p = _best_of(rng.choice(np.flatnonzero(free), min(_CANDIDATES, int(free.sum())), replace=False), chosen)
        column = chosen.add(p)
        residual -= np.outer(column, residual[p] / column[p])
        order.append(int(rows[p]))
        on_progress(before + (1 - before) * ((step + 1) / points) ** 2)  # steps take longer with more points
    file = _native.GeometryFile(
        model.file,
        fingerprint=fingerprint,
        sequence=sequence,
        all_vectors=all_vectors,
        points=order,
        b=np.ascontiguousarray(b[order]).ravel(),
        squared_norm=squared_norm.tolist(),
        b_error=(error[order].max(axis=0) if order else np.zeros(pairs)).tolist(),
    )
    return Model(file, model.path)


def default_points(model: ExactModel) -> int:
    """Return max(d, sqrt(d L)), d the mean entries of L support vectors, up to MOST_POINTS (section 4.5).

    Beyond, L kernel values are cheaper.
    """
    vectors = model.vectors
    d = len(vectors.indices) / max(vectors.rows, 1)
    return min(vectors.rows, MOST_POINTS, ceil(max(d, sqrt(d * vectors.rows))))


def folded_vectors(model: ExactModel) -> _native.Chunk:
    """Return w+ and w- of a linear model (eqs. 7 and 34)."""
    a = np.asarray(model.vectors.leading)[:, 0]
    x, columns = matrix(model.vectors)
    weights = [np.maximum(side * a, 0) for side in (1, -1)]
    means = [x.T @ (weight / weight.sum()) for weight in weights if weight.sum() > 0]
    require_finite(model.path, "a folded vector", *means)
    return _native.Chunk.from_dense(None, np.reshape(means, (len(means), len(columns))), columns)


def _best_of(candidates: np.ndarray, chosen: PartialCholesky) -> int:
    columns = chosen.residual_columns(candidates)
    return int(candidates[np.argmax((columns**2).sum(axis=0) / chosen.diagonal[candidates])])


@np.errstate(all="ignore")  # overflows are refused
def compile_triangle(
    model: ExactModel,
    *,
    fingerprint: str,
    lists: "int | None" = None,
    seed: int = 0,
    on_progress: Progress = silent,
) -> Model:
    """Make the support vectors nearest to `lists` k-means centroids pivots (default: one per class, 2 without)."""
    header = model.header
    require(model.path, reason_against(model, "triangle"))
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


def with_vectors(model: ExactModel, chunks: Iterable[_native.Chunk], path: str, kernel: Kernel) -> ExactModel:
    """Complete a precomputed-kernel model with its vectors, by serial numbers from 1, and kernel."""
    serials = [int(value) for value in model.vectors.values]
    needed, found, first = set(serials), [], 1
    position: dict[int, int] = {}  # serial number -> row of `found`
    for chunk in chunks:
        rows = [serial - first for serial in needed if first <= serial < first + chunk.rows]
        found.append(chunk.select(rows))
        for row in rows:
            position[first + row] = len(position)
        first += chunk.rows
    if min(needed, default=1) < 1:
        raise ModelFormatError(
            model.path, f"a support vector with the serial number {min(needed)} found: LIBSVM counts rows from 1"
        )
    missing = sorted(needed - set(position))
    if missing:
        raise ModelFormatError(
            path,
            f"{first - 1} rows found, expected {missing[-1]} or more: a support vector of {model.path} has that serial"
            " number",
        )
    rows = _native.Chunk.concatenate(found).select([position[serial] for serial in serials])
    vectors = _native.Chunk.from_csr(model.vectors.leading, rows.indptr, rows.indices, rows.values)
    return ExactModel(_native.LibsvmFile(model.header, vectors, kernel), model.path)


def looks_untrained(model: ExactModel) -> bool:
    """Return whether most free support vectors of a c_svc are far from the margin |f| = 1."""
    if model.header.svm_type != "c_svc":
        return False
    a = np.abs(FeatureSpace(model).coefficients)
    free = (a > 0) & (a < a.max(axis=0, initial=0) * (1 - 1e-6))
    off = np.abs(np.abs(fast_values(model, model.vectors)) - 1)[free]
    return len(off) >= 5 and float(np.median(off)) > 0.05
