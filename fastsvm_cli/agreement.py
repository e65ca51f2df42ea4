"""How far two models agree on the same rows."""

from math import sqrt
from typing import Iterable

from fastsvm_cli import _native
from fastsvm_cli.data import bounded
from fastsvm_cli.models.base import Model


class Agreement:
    """rows; different: rows with another label; difference: root mean square of the difference of regression values; score, reference_score: svm-predict's sums of
    both models."""

    def __init__(self):
        self.rows = self.different = 0
        self._squares = 0.0
        self.score, self.reference_score = _native.Score(), _native.Score()

    @property
    def disagreement(self) -> float:
        """The share of labels that differ."""
        return self.different / self.rows if self.rows else 0.0

    @property
    def difference(self) -> float:
        return sqrt(self._squares / self.rows) if self.rows else 0.0


def agreement(model: Model, reference: Model, chunks: "Iterable[_native.Chunk]") -> Agreement:
    """Predict the rows with both, in memory. The scores mean something where the rows have labels."""
    out = Agreement()
    one, other = _native.Predictions(), _native.Predictions()
    decisions, others = (_native.Decisions(each.pairs, False, each.labels_alone) for each in (model, reference))
    task, reference_task = model.header.task(), reference.header.task()
    regression = reference.header.regression
    for chunk in bounded(chunks, max(model.pairs, reference.pairs)):
        model.decision_values(chunk, decisions)
        reference.decision_values(chunk, others)
        _native.predict(task, decisions, False, one)
        _native.predict(reference_task, others, False, other)
        out.rows += chunk.rows
        if regression:
            out._squares += sum((a - b) * (a - b) for a, b in zip(one.label, other.label))
        out.different += sum(a != b for a, b in zip(one.label, other.label))
        if chunk.leading == 1:
            out.score.add(chunk, one)
            out.reference_score.add(chunk, other)
    return out
