"""Choose support vectors to start the placement from."""

from collections.abc import Callable

import numpy as np
import scipy.sparse

from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.kernel_matrix import PartialCholesky
from fastsvm_cli.methods.method import part_of
from fastsvm_cli.methods.reduce.problem import Part, Problem


def shares(problem: Problem, count: int, on_progress: "Callable[[float], None] | None" = None) -> "list[list[int]]":
    """Select `count` support vectors greedily over all parts, and return those of each part.

    The criterion is c^2 / d, c the residual of K a, d the residual diagonal of K.
    """
    gains, rows = [], []
    whole, done = max(1, sum(map(len, problem.parts))), 0
    for at, part in enumerate(problem.parts):
        shown = part_of(on_progress, done / whole, (done + len(part)) / whole)
        done += len(part)
        for gain, row in _greedy(problem, part, min(count, len(part)), shown):
            gains.append((gain, at))
            rows.append(row)
    # Within a part, a gain assumes the earlier ones.
    order = sorted(range(len(gains)), key=lambda i: -gains[i][0])[:count]
    counts_needed = (
        np.bincount([gains[i][1] for i in order], minlength=len(problem.parts))
        if order
        else np.zeros(len(problem.parts), int)
    )
    out = []
    for at in range(len(problem.parts)):
        mine = [row for row, (_, of) in zip(rows, gains) if of == at]
        out.append(mine[: counts_needed[at]])
    return out


def _greedy(
    problem: Problem, part: Part, count: int, on_progress: "Callable[[float], None] | None"
) -> "list[tuple[float, int]]":
    sparse = part.x if hasattr(part.x, "toarray") else scipy.sparse.csr_matrix(part.x)
    residual = part.values.copy()  # of K a: (n, m)
    chosen = PartialCholesky(Kernel("rbf", problem.gamma), sparse, count)
    out, least = [], np.inf
    for _ in range(count):
        free = chosen.diagonal > 1e-8
        if not free.any():
            break
        gains = np.where(free, np.einsum("ij,ij->i", residual, residual) / np.where(free, chosen.diagonal, 1.0), -1.0)
        p = int(np.argmax(gains))
        least = min(least, float(gains[p]))
        column = chosen.add(p)
        residual -= np.outer(column, residual[p] / column[p])
        out.append((least, p))
        if on_progress:
            on_progress(len(out) / count)
    return out
