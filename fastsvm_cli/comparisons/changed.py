"""Labels that differ from the exact model's, by class."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fastsvm_cli._native import Header


class ClassRows(NamedTuple):
    """Numbers of rows that the exact model gives the class `label`, and of those labelled differently."""

    label: object
    rows: int
    different: int

    @property
    def share(self) -> float:
        """Share of the class's rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0


class Changed:
    """The labels that differ from the exact model's, by class of the exact model.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        The labels of the exact model.
    differ : ndarray of bool of shape (n_samples,)
        Whether the other model gives another label.
    known : iterable, default=()
        Classes to list even if they have no rows.

    Attributes
    ----------
    rows, different : int
        Number of rows, and of those whose label differs.
    classes : list of ClassRows
        The classes, by increasing label.
    """

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
        """Return whether no class's share exceeds `limit`."""
        return self.largest_share <= limit  # overall is a mean of the classes'

    def too_small(self, limit: float) -> "list[ClassRows]":
        """Return the classes in which one changed row exceeds `limit`: those with fewer than 1 / `limit` rows."""
        return [each for each in self.classes if limit > 0 and each.rows * limit < 1]


def changed_labels(header: Header, labels: np.ndarray, differ: np.ndarray) -> "Changed | None":
    """Return the labels, (rows), that differ from the exact model's with this header; None for regression."""
    if header.regression:
        return None
    known = (-1.0, 1.0) if header.svm_type == "one_class" else map(float, header.label or ())
    return Changed(labels, differ, known)
