"""Answers of a fitted model compared with true ones, and with another model's."""

from typing import Any

import numpy as np

from fastsvm_cli.benchmarks.quality import Agreement
from fastsvm_cli.estimators.fitted_estimator import Persistent, available, has_targets


class Compared(Persistent):
    """Base of FastSVM: comparisons of its answers."""

    predict: Any

    @available(has_targets)
    def score(self, X, y, sample_weight=None) -> float:
        """Compute the accuracy of the labels, or for regression the coefficient of determination R^2.

        One-class models do not have this method. The R^2 of fewer than two rows is NaN.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features_in_)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, 1)
            The true classes or values. ValueError is raised for another shape.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None means equal weights.
        """
        y, found = np.asarray(y), self.predict(X)
        if y.shape == (len(found), 1):
            y = y[:, 0]
        if y.shape != found.shape:
            raise ValueError(f"y of shape {y.shape} found, expected {found.shape}, an answer for every row of X")
        if not self.model.header.regression:
            return float(np.average(found == y, weights=sample_weight))
        if len(y) < 2:
            return float("nan")
        y = y.astype(np.float64)
        spread = np.average((y - np.average(y, weights=sample_weight)) ** 2, weights=sample_weight)
        error = np.average((y - found) ** 2, weights=sample_weight)
        return float(1 - error / spread) if spread else float(not error)

    def agreement(self, X, estimator: Any = None) -> Agreement:
        """Compare the answers with those of an estimator, or of the exact model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features_in_)
            The rows.
        estimator : object with a method predict, default=None
            The reference. None means the model that this one was compiled from, if `compile` made it in this process,
            else the model itself if its labels are those of the exact model. ValueError is raised if neither is known,
            as after pickling.

        Returns
        -------
        agreement : Agreement
            Numbers of rows, and of rows whose answers differ.

        Examples
        --------
        >>> from sklearn.svm import SVC
        >>> svc = SVC(gamma=0.1).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
        >>> fastsvm_cli.compile(svc, "approx", degree=3).agreement([[0.1, 0.2], [0.9, 0.3]])
        <Agreement: 0 of 2 labels differ, 0 % (95 %: 0 to 66 %)>
        """
        reference = estimator if estimator is not None else self._reference
        if reference is None and self.model.proves:
            reference = self
        if reference is None:
            why = (
                "what it was compiled from is not known here (it is not pickled along): agreement(X, estimator) says it"
            )
            raise ValueError(why)
        own, other = np.asarray(self.predict(X)), np.asarray(reference.predict(X))
        regression = self.model.header.regression
        proven = int(np.sum(self.proven(X))) if hasattr(self, "proven") and not regression else None
        return Agreement(own, other, regression, proven)
