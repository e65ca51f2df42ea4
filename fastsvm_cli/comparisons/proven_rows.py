"""Count the rows whose label a certified model proves."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.comparisons.norms import Histogram
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.read_rows import smaller_chunks


class ProvenRows:
    """Rows proven by a certified model, and radii of all rows, or of each pair of every row."""

    def __init__(self, model: Model, bins: int = 32, each_pair: bool = False):
        self.model, self._each_pair = model, each_pair
        self.rows = self.proven = 0
        self.largest = 0.0
        self._decisions = _native.Decisions(model.pairs, True)
        self._all, self._proven = Histogram(bins), Histogram(bins)

    def add(self, chunk: _native.Chunk) -> None:
        """Count the rows of a chunk."""
        for part in smaller_chunks([chunk], self.model.pairs):
            self._add(part)

    def _add(self, chunk: _native.Chunk) -> None:
        header = self.model.header
        self.model.decision_values(chunk, self._decisions)
        self.model.answer(self._decisions)
        radius = np.asarray(self._decisions.radius)
        if self._each_pair:
            self._all.add(radius.ravel())
        radius = radius.max(axis=1) if radius.size else np.zeros(chunk.rows)
        decided = np.full(chunk.rows, not header.regression)
        if not header.regression:
            decided[_native.undecided_rows(header.task(), self._decisions)] = False
        self.rows += chunk.rows
        self.proven += int(decided.sum())
        self.largest = max(self.largest, float(radius.max(initial=0.0)))
        if not self._each_pair:
            self._all.add(radius)
        self._proven.add(radius[decided])

    @property
    def any(self) -> bool:
        """Whether there are radii."""
        return bool(self._all.counts.any())

    def quantile(self, share: float) -> float:
        """Return the radius that this share of the rows does not exceed."""
        return min(self._all.quantile(share), self.largest)

    def curve(self) -> "list[tuple[float, int, int]]":
        """Return increasing (radius, rows up to it, proven ones of these)."""
        at = np.flatnonzero(self._all.counts)
        every, proven = np.cumsum(self._all.counts)[at], np.cumsum(self._proven.counts)[at]
        edges = (min(self._all.upper_edge(int(each)), self.largest) for each in at)
        return [(radius, int(rows), int(those)) for radius, rows, those in zip(edges, every, proven)]
