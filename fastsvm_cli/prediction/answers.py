"""Answers of chunks of rows (native/engine/answers.h)."""

from _thread import allocate_lock
from collections.abc import Callable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli._native import Answer as Answer
from fastsvm_cli.models.base import Model


class Fallback:
    """The exact model of a certified one, for undecided rows.

    load: reads it, or a reduced set's plain(), when first needed, on any thread. tolerance: a regression value of
    larger radius is replaced. check: called with False before output and True at the end; raises if `load` would read
    another model.
    """

    def __init__(
        self, load: Callable[[], Model], tolerance: float = 0.0, check: "Callable[[bool], None]" = lambda at_end: None
    ):
        self._load, self.tolerance, self.check = load, tolerance, check
        self._model: Model | None = None
        self._lock = allocate_lock()
        self.native = _native.Fallback(lambda: self.model.native, tolerance)

    @property
    def model(self) -> Model:
        """The exact model, read on first use."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


class Audit(Fallback):
    """A random share of the rows, to which the exact model gives a label too. load, check: as in Fallback."""

    native: _native.Audit

    def __init__(
        self,
        load: Callable[[], Model],
        share: float,
        seed: int,
        check: "Callable[[bool], None]" = lambda at_end: None,
    ):
        super().__init__(load, check=check)
        self.native = _native.Audit(lambda: self.model.native, share, seed % 2**64)


class Predictor(_native.Predictor):
    """A model with its options (native/engine/predictor.h). Thread-safe.

    exact: answers open rows. audit: changes no line; without `exact`. options: of _native.Predictor.
    """

    def __init__(self, model: Model, *, exact: "Fallback | None" = None, audit: "Audit | None" = None, **options: Any):
        self.model, self.exact, self.audit = model, exact, audit
        super().__init__(
            model.native,
            largest_feature=model.max_index,
            exact=None if exact is None else exact.native,
            audit=None if audit is None else audit.native,
            **options,
        )
