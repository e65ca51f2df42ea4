"""Labels that a model changes: among all rows, and among the rows of each class of the exact model."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class ClassRows(NamedTuple):
    """One class of the exact model. label: its label. rows: that the exact model gives it. different: those of them
    that the other model gives another label."""

    label: object
    rows: int
    different: int

    @property
    def share(self) -> float:
        """The share of its rows that differ; 0 of no rows."""
        return self.different / self.rows if self.rows else 0.0


class Changed:
    """How many labels differ from the exact model's.

    labels: (rows) of the exact model. differ: (rows), where the other model gives another one. known: classes of the
    exact model, which count where it gives them to no row, too."""

    def __init__(self, labels: np.ndarray, differ: np.ndarray, known: "Iterable[object]" = ()):
        self.rows, self.different = len(labels), int(np.sum(differ))
        found, which = np.unique(labels, return_inverse=True)
        rows = np.bincount(which, minlength=len(found))
        different = np.bincount(which, weights=differ, minlength=len(found))
        own = {label: ClassRows(label, int(n), int(m)) for label, n, m in zip(found.tolist(), rows, different)}
        own.update((label, ClassRows(label, 0, 0)) for label in known if label not in own)
        #: Of each class, by increasing label.
        self.classes = [own[label] for label in sorted(own)]

    @property
    def share(self) -> float:
        """The share of all labels."""
        return self.different / self.rows if self.rows else 0.0

    @property
    def worst(self) -> "ClassRows | None":
        """The class of whose rows the largest share differs; None where no label does."""
        return max(self.classes, key=lambda each: (each.share, each.rows)) if self.different else None

    @property
    def largest_share(self) -> float:
        """The largest share, of all labels or of a class."""
        return self.worst.share if self.worst is not None else 0.0

    def within(self, limit: float) -> bool:
        """Whether no larger share differs, of all labels and of each class. In a class that is too small to measure,
        one changed label is a larger share."""
        return self.largest_share <= limit  # that of all labels is a mean of theirs

    def too_small(self, limit: float) -> "list[ClassRows]":
        """The classes that are too small to measure the limit: of their rows one alone is a larger share."""
        return [each for each in self.classes if limit > 0 and each.rows * limit < 1]
