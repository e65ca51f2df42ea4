"""Train, compile and predict, fold by fold: how good the exact and the compiled model are on rows that neither has
seen (approxsvm's approx-xval)."""

from collections.abc import Callable

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.comparisons.agreement import agreement
from fastsvm_cli.compilers.maclaurin.compile import compile_maclaurin
from fastsvm_cli.compilers.training import libsvm_problem, train
from fastsvm_cli.errors import FileError
from fastsvm_cli.text.data import select_rows


class Fold:
    """rows: of the fold. vectors: support vectors of the model trained on the others. exact, compiled: shares of
    right labels. disagreement: of the two."""

    def __init__(self, rows: int, vectors: int, exact: float, compiled: float, disagreement: float):
        self.rows, self.vectors, self.exact, self.compiled, self.disagreement = (
            rows,
            vectors,
            exact,
            compiled,
            disagreement,
        )


def cross_validate(
    chunks: "list[_native.Chunk]",
    path: str,
    folds: int,
    *,
    cost: float,
    gamma: float,
    degree: int,
    folder: str,
    seed: int = 0,
    on_progress: "Callable[[float, str], None] | None" = None,
) -> "list[Fold]":
    """C-SVMs with RBF kernels on `folds` random parts of the rows, every class in equal share in each. degree: of
    the Maclaurin expansion. Raises FileError where a class has fewer rows than there are folds."""
    labels = np.concatenate([np.asarray(chunk.leading)[:, 0] for chunk in chunks])
    found, counts = np.unique(labels, return_counts=True)
    if len(found) < 2 or np.any(found != np.floor(found)):
        raise FileError(path, f"{len(found)} different labels found, expected two or more whole numbers: classes")
    if counts.min() < folds:
        raise FileError(
            path,
            f"{counts.min()} rows of class {found[counts.argmin()]:g} found, expected {folds} or more, one for each"
            " fold",
        )
    rng, part = np.random.default_rng(seed), np.empty(len(labels), int)
    for label in found:
        mine = rng.permutation(np.flatnonzero(labels == label))
        part[mine] = np.arange(len(mine)) % folds
    _, rows = libsvm_problem(chunks)
    out = []
    for fold in range(folds):
        training = np.flatnonzero(part != fold).tolist()
        exact = train(
            [labels[row] for row in training],
            [rows[row] for row in training],
            f"-g {gamma!r} -c {cost!r}",
            f"{folder}/fold{fold}.model",
        )
        compiled = compile_maclaurin(exact, fingerprint="-", degree=degree)
        seen = agreement(compiled, exact, select_rows(chunks, np.flatnonzero(part == fold).tolist()))
        out.append(
            Fold(
                seen.rows,
                exact.header.total_sv,
                seen.reference_score.correct / seen.rows,
                seen.score.correct / seen.rows,
                seen.disagreement,
            )
        )
        if on_progress:
            on_progress((fold + 1) / folds, f"fold {fold + 1}")
    return out
