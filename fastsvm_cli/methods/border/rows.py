"""Rows to draw lines between."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.methods.feature_space import matrix
from fastsvm_cli.models.base import ExactModel
from fastsvm_cli.text.read_rows import select_rows

#: Limits of rows, and of rows times features.
CLOUD_ROWS, CLOUD_CELLS = 40_000, 1 << 25
#: Fewer rows both place and measure.
HELD_OUT = 50


class BorderRows:
    """Rows to draw lines between, x (n, d).

    columns: LIBSVM indices (d). classes: (n), -1 if unknown. positions: (n), in the file.
    """

    def __init__(self, chunk: _native.Chunk, classes: np.ndarray, positions: np.ndarray, columns: np.ndarray):
        self.chunk, self.classes, self.positions, self.columns = chunk, classes, positions, columns
        self.x = matrix(chunk, columns)[0].toarray()

    def __len__(self) -> int:
        return len(self.x)


def rows_for(model: ExactModel, chunks: "list[_native.Chunk] | None", rng: np.random.Generator) -> BorderRows:
    """Draw rows from chunks, by default from the support vectors."""
    header = model.header
    if chunks is None:
        vectors = model.vectors
        columns = np.unique(np.asarray(vectors.indices))
        classes = (
            np.repeat(np.arange(header.nr_class), header.nr_sv)
            if header.classification
            else np.zeros(vectors.rows, int)
        )
        chosen = np.sort(rng.choice(vectors.rows, _most_rows(vectors.rows, len(columns)), replace=False))
        return BorderRows(vectors.select(chosen.tolist()), classes[chosen], chosen, columns)
    columns = np.unique(
        np.concatenate([np.asarray(model.vectors.indices), *(np.asarray(chunk.indices) for chunk in chunks)])
    )
    return drawn_rows(chunks, {label: at for at, label in enumerate(header.label or [])}, columns, rng)


def drawn_rows(
    chunks: "list[_native.Chunk]", position: "dict[int, int]", columns: np.ndarray, rng: np.random.Generator
) -> BorderRows:
    """Draw at most CLOUD_ROWS rows, fewer for many features. position: number of each label's class."""
    total = sum(chunk.rows for chunk in chunks)
    chosen = np.sort(rng.choice(total, _most_rows(total, len(columns)), replace=False))
    rows = _native.Chunk.concatenate(select_rows(chunks, chosen.tolist()))
    classes = [position.get(label[0], -1) if label else -1 for label in rows.leading.tolist()]
    return BorderRows(rows, np.array(classes, int), chosen, columns)


def positions_among(members: "list[np.ndarray]", positions: np.ndarray) -> "list[np.ndarray]":
    """Return positions of `positions` in each function's increasing rows, or -1."""
    out = []
    for mine in members:
        at = np.minimum(np.searchsorted(mine, positions), len(mine) - 1)
        out.append(np.where(mine[at] == positions, at, -1))
    return out


def _most_rows(total: int, d: int) -> int:
    return min(total, CLOUD_ROWS, max(HELD_OUT, CLOUD_CELLS // max(d, 1)))


def looks_one_hot(chunk: _native.Chunk) -> bool:
    """Return whether most features have one value besides 0, like categories: no row lies between them."""
    indices, values = np.asarray(chunk.indices), np.asarray(chunk.values)
    seen = values != 0
    if not seen.any():
        return False
    columns, at = np.unique(indices[seen], return_inverse=True)
    low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    np.minimum.at(low, at, values[seen])
    np.maximum.at(high, at, values[seen])
    absent = np.bincount(at, minlength=len(columns)) < chunk.rows
    return bool(len(columns) > 4 and np.mean((low == high) & absent) > 0.8)
