"""From a chunk of rows to the lines that answer it. The core does it (native/engine/answers.h): decision values, the
exact model where they leave a row open, predictions, text."""

from _thread import allocate_lock
from collections.abc import Callable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli._native import Answer as Answer
from fastsvm_cli.models.base import Model


class Fallback:
    """The exact model of a certified one, which evaluates the rows that the radii leave open.

    load: reads it; called when the first row needs it, on whatever thread that is. Of a reduced set it is the plain()
    model. tolerance: the radius that a regression value may keep. check: called before anything is written, with False,
    and at the end, with True; it raises where what `load` would read is not the exact model."""

    def __init__(
        self, load: Callable[[], Model], tolerance: float = 0.0, check: "Callable[[bool], None]" = lambda at_end: None
    ):
        self._load, self.tolerance, self.check = load, tolerance, check
        self._model: Model | None = None
        self._lock = allocate_lock()
        self.native = _native.Fallback(lambda: self.model.native, tolerance)

    @property
    def model(self) -> Model:
        """The exact model, read once, whichever thread asks first."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


class Request:
    """What is asked about every row, and what follows from it.

    exact: evaluates the rows that a certified model leaves open. asked: the options of _native.Request."""

    def __init__(self, model: Model, *, exact: "Fallback | None" = None, **asked: Any):
        self.model, self.exact = model, exact
        self.native = _native.Request(model.native, exact=None if exact is None else exact.native, **asked)
        self.with_radius = self.native.with_radius


class Answerer(_native.Answerer):
    """Answers chunks, one at a time; each thread has one of its own, whose memory is used again."""

    def __init__(self, request: Request):
        super().__init__(request.native)
        self._request = request  # its models must live as long
