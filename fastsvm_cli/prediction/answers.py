"""Answers of chunks of rows (native/engine/answers.h)."""

from collections.abc import Callable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli._native import Answer as Answer
from fastsvm_cli.models.base import Model


class Fallback(_native.Fallback):
    """The exact model of a certified one, for undecided rows.

    load: reads it, or a reduced set's plain(), when first needed, on any thread. tolerance: a regression value of
    larger radius is replaced.
    """

    def __init__(self, load: Callable[[], Model], tolerance: float = 0.0):
        super().__init__(lambda: load().native, tolerance)


class Predictor(_native.Predictor):
    """A model with its options (native/engine/answers.h), of _native.Predictor. Thread-safe."""

    def __init__(self, model: Model, *, exact: "Fallback | None" = None, **options: Any):
        self.model, self.exact = model, exact
        super().__init__(model.native, exact=exact, **options)
