"""Conversion of LIBSVM's numbers to scikit-learn's order and signs.

LIBSVM orders classes by first rows, and a value is positive for the first of a pair. scikit-learn sorts classes; with
two, a positive value means the second.
"""

import numpy as np

from fastsvm_cli._native import class_pairs


class Classes:
    """Classes of a model, and the conversion of its numbers to their order.

    labels: a model's. classes: sortable, in their order; None: the labels. classes_: sorted, as in scikit-learn.
    """

    def __init__(self, labels: "list[int]", classes=None):
        label = np.array(labels, dtype=np.int64)
        named = label if classes is None else np.asarray(classes)
        if named.shape != label.shape:
            raise ValueError(f"classes of shape {named.shape} found, expected {len(label)}, one for every label")
        if len(np.unique(named)) < len(np.unique(label)):
            raise ValueError(f"a class found twice in {named.tolist()}, expected one for every label")
        self._order = np.argsort(named, kind="stable")  # index in classes_ -> in header.label
        self.classes_ = named[self._order]
        by_label = np.argsort(label, kind="stable")
        self._labels, self._named = label[by_label], named[by_label]
        self._as_they_are = classes is None
        self._ranked = bool((self._labels == np.arange(len(label))).all())
        self._sorted = bool((self._order == np.arange(len(label))).all())
        position = {int(theirs): ours for ours, theirs in enumerate(self._order)}
        k = len(label)
        self._columns = np.zeros(k * (k - 1) // 2, dtype=np.intp)
        self._signs = np.ones(k * (k - 1) // 2)
        at = {}
        for pair, i, j in class_pairs(k):
            at[position[i], position[j]] = (pair, 1.0)
            at[position[j], position[i]] = (pair, -1.0)
        for pair, i, j in class_pairs(k):
            self._columns[pair], self._signs[pair] = at[i, j]
        # (k - 1, k): each class's pairs, and the signs that make their values positive for it.
        steps: list[list[tuple[int, float]]] = [[] for _ in range(k)]
        for pair, i, j in class_pairs(k):
            steps[i].append((pair, 1.0))
            steps[j].append((pair, -1.0))
        self._step_pairs = np.array([[pair for pair, _ in of] for of in steps], dtype=np.intp).reshape(k, -1).T
        self._step_signs = np.array([[sign for _, sign in of] for of in steps]).reshape(k, -1).T

    def __len__(self) -> int:
        return len(self.classes_)

    def of(self, labels: np.ndarray) -> np.ndarray:
        """Return the classes of LIBSVM's labels, (n_samples,)."""
        if self._as_they_are:
            return labels.astype(np.int64)
        return self._named[labels.astype(np.intp) if self._ranked else np.searchsorted(self._labels, labels)]

    def pairwise(self, values: np.ndarray) -> np.ndarray:
        """Copy (rows, pairs) values to the pairs 0/1, 0/2, ..., 1/2, ... of classes_, positive for the first."""
        return values.copy() if self._sorted else values[:, self._columns] * self._signs

    def radii(self, radii: np.ndarray) -> np.ndarray:
        """Return radii of LIBSVM's pairs, (n_samples, pairs), in the order of scikit-learn's."""
        return radii.copy() if self._sorted else radii[:, self._columns]

    def probabilities(self, probabilities: np.ndarray) -> np.ndarray:
        """Return probabilities, (n_samples, n_classes), with columns as ``classes_``."""
        return probabilities.copy() if self._sorted else probabilities[:, self._order]

    def one_against_rest(self, pairwise: np.ndarray) -> np.ndarray:
        """Return "ovr" values (rows, nr_class), bit for bit sklearn.utils.multiclass._ovr_decision_function's."""
        if len(self) < 2:
            return np.zeros((len(pairwise), len(self)))
        own = pairwise[:, self._step_pairs] * self._step_signs  # (rows, k - 1, k)
        # A value of 0 is a vote for a pair's first class here, for the second in LIBSVM.
        votes = np.count_nonzero((own > 0) | ((own == 0) & (self._step_signs > 0)), axis=1)
        sums = np.add.accumulate(own, axis=1)[:, -1]  # in order: sum would add pairwise
        return votes + sums / (3 * (np.abs(sums) + 1))
