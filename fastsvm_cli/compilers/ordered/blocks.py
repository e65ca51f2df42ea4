"""Exact model -> blocks model: neighbouring support vectors side by side."""

from collections.abc import Callable

import numpy as np

from fastsvm_cli.compilers.feature_space import Matrix, matrix
from fastsvm_cli.compilers.refusals import demand
from fastsvm_cli.models import triangle
from fastsvm_cli.models.blocks import BLOCK, BlocksModel
from fastsvm_cli.models.exact import ExactModel

_DENSE_CELLS = 1 << 25  # up to so many, a dense matrix: of the many small parts a sparse one's overhead is all there is


def refusal(model: ExactModel) -> "str | None":
    """Why a model has no blocks, or None."""
    return triangle.refusal(model.kernel)


def compile_blocks(
    model: ExactModel, *, fingerprint: str, on_progress: "Callable[[float], None] | None" = None
) -> BlocksModel:
    """Halve every class's support vectors, again and again, at the median of the direction in which they spread
    most, down to blocks of 8. Raises ModelFormatError for kernels that do not fall with the distance."""
    demand(model.path, refusal(model))
    vectors, header = model.vectors, model.header
    x: Matrix = matrix(vectors)[0]
    if x.shape[0] * x.shape[1] <= _DENSE_CELLS:
        x = x.toarray()
    order: list[int] = []
    first = 0

    def show(done: int) -> None:
        if on_progress:
            on_progress((len(order) + done) / max(header.total_sv, 1))

    for size in header.nr_sv or [header.total_sv]:
        order += _halve(x, np.arange(first, first + size), 0, show) if size else []
        first += size
    return BlocksModel(model, fingerprint, order=[int(i) for i in order])


def _halve(x: Matrix, rows: np.ndarray, before: int, show: "Callable[[int], None]") -> "list[int]":
    """The rows in order. before: how many of the class are; show: called with how many are, as often as is handy."""
    if len(rows) <= BLOCK or not x.shape[1]:
        show(before + len(rows))
        return rows.tolist()
    mine = x[rows]
    with np.errstate(all="ignore"):
        mean = np.asarray(mine.mean(axis=0)).ravel()
        along = mine @ _direction(mine, mean)
    along = np.nan_to_num(along)
    blocks = -(-len(rows) // BLOCK)
    cut = (blocks // 2) * BLOCK  # whole blocks on the left
    by = np.argsort(along, kind="stable")
    return _halve(x, rows[by[:cut]], before, show) + _halve(x, rows[by[cut:]], before + cut, show)


def _direction(x: Matrix, mean: np.ndarray, steps: int = 8) -> np.ndarray:
    """Roughly the first principal component, by power iteration on the covariance, never formed: (d)."""
    squares = x * x if isinstance(x, np.ndarray) else x.multiply(x)
    spread = np.asarray(squares.mean(axis=0)).ravel() - mean**2
    v = np.zeros(len(mean))
    v[int(np.argmax(np.nan_to_num(spread)))] = 1.0
    for _ in range(steps):
        along = x @ v - mean @ v
        v = x.T @ along - mean * along.sum()
        size = np.linalg.norm(v)
        if not np.isfinite(size) or size == 0:
            break
        v = v / size
    return np.nan_to_num(v)
