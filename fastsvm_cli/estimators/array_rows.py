"""The rows of an array, for a choice."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.models.base import Model


class ArrayRows:
    """Rows of X, as every model gets them from `FastSVM.predict`: `benchmarks.chooser.Rows`.

    fast_of: makes a FastSVM of a model, and whether undecided rows are the exact model's. chunks: turns rows
    into the core's chunks.
    """

    reading = 0.0  # part of every prediction

    def __init__(
        self, X: Any, fast_of: "Callable[[Model, bool], FastSVM]", chunks: "Callable[[Any], list[_native.Chunk]]"
    ):
        self._X, self._fast_of, self._chunks = X.tocsr() if hasattr(X, "tocsr") else X, fast_of, chunks
        self.count = X.shape[0] if hasattr(X, "shape") else len(X)
        self._last: tuple[Model, bool, FastSVM] | None = None

    def sample(self, numbers: "list[int]") -> "ArrayRows":
        """Return these rows alone."""
        return ArrayRows(self._some(numbers), self._fast_of, self._chunks)

    def chunk(self) -> _native.Chunk:
        """Return all rows."""
        return _native.Chunk.concatenate(self._chunks(self._X))

    def answers(self, model: Model, exact: bool, numbers: "list[int] | None" = None) -> np.ndarray:
        """Return labels, or the values of a regression, of all rows or of these."""
        return np.asarray(self._fast(model, exact).predict(self._X if numbers is None else self._some(numbers)))

    def predict(self, model: Model, exact: bool) -> None:
        """Predict all rows."""
        self._fast(model, exact).predict(self._X)

    def proven(self, model: Model) -> int:
        """Return the number of rows whose label a certified model proves."""
        return 0 if model.header.regression else int(np.sum(self._fast(model, False).proven(self._X)))

    def _fast(self, model: Model, exact: bool) -> FastSVM:
        if self._last is None or self._last[0] is not model or self._last[1] != exact:
            self._last = model, exact, self._fast_of(model, exact)
        return self._last[2]

    def _some(self, numbers: "list[int]") -> Any:
        if hasattr(self._X, "iloc"):
            return self._X.iloc[numbers]
        return self._X[numbers] if hasattr(self._X, "shape") else [self._X[at] for at in numbers]
