"""Labels that differ from the exact model's, by class."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fastsvm_cli._native import Header


class ClassRows(NamedTuple):
    """A class of the exact model. different: rows that the other model labels differently."""

    label: object
    rows: int
    different: int

    @property
    def share(self) -> float:
        """Share of the class's rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0


class Changed:
    """Labels that differ, by class of the exact model. differ: (rows). known: classes to list even without rows."""

    def __init__(self, labels: np.ndarray, differ: np.ndarray, known: "Iterable[object]" = ()):
        self.rows, self.different = len(labels), int(np.sum(differ))
        found, which = np.unique(labels, return_inverse=True)
        rows = np.bincount(which, minlength=len(found))
        different = np.bincount(which, weights=differ, minlength=len(found))
        own = {label: ClassRows(label, int(n), int(m)) for label, n, m in zip(found.tolist(), rows, different)}
        own.update((label, ClassRows(label, 0, 0)) for label in known if label not in own)
        #: By increasing label.
        self.classes = [own[label] for label in sorted(own)]

    @property
    def share(self) -> float:
        """Share of all rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0

    @property
    def worst(self) -> "ClassRows | None":
        """Class with the largest share; None if no label differs."""
        return max(self.classes, key=lambda each: (each.share, each.rows)) if self.different else None

    @property
    def largest_share(self) -> float:
        """Largest share of any class."""
        return self.worst.share if self.worst is not None else 0.0

    def within(self, limit: float) -> bool:
        """Return whether no class's share exceeds the limit."""
        return self.largest_share <= limit  # overall is a mean of the classes'

    def too_small(self, limit: float) -> "list[ClassRows]":
        """Return the classes in which one changed row exceeds the limit."""
        return [each for each in self.classes if limit > 0 and each.rows * limit < 1]


def changed_labels(header: Header, labels: np.ndarray, differ: np.ndarray) -> "Changed | None":
    """Return the labels that differ from those of the exact model with this header; None for regression.

    labels, differ: (rows).
    """
    if header.regression:
        return None
    known = (-1.0, 1.0) if header.svm_type == "one_class" else map(float, header.label or ())
    return Changed(labels, differ, known)
