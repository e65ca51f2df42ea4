"""What every worker is told once: the model, and what is asked about every row."""

import json
from _thread import allocate_lock
from typing import Any

from fastsvm_cli import __version__
from fastsvm_cli.models import parse_libsvm, parse_model
from fastsvm_cli.models.base import Model
from fastsvm_cli.prediction.answers import Fallback
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.line_blocks import MAX_LINE
from fastsvm_cli.text.scaling import Scaling, parse_scaling, with_labels


class File:
    """A file's content and its name in messages. digest: the content's fingerprint."""

    def __init__(self, path: str, text: bytes):
        self.path, self.text, self.digest = path, text, fingerprint(text)


class Job:
    """A run's options and models, as workers need them; it pickles. What is not said stands as `predict` has it by
    default.

    model, exact: the files of MODEL_FILE and --exact. exact_tolerance: the radius that a regression value may keep.
    scale, y_scale: those of --scale and --y-scale. tolerance: within which an ordered model may stop. options: all
    that the lines depend on, as written on the command line. probability, values, evaluations, steps, labelled, dense,
    delimiter, max_line, on_bad_row: the command's. nan: how many numbers the line has that stands for a bad row.
    fields: the numbers of a dense row, as LineBlocks counts them, or -1. regression: labels are numbers. threads: of a
    block. version: of the fastsvm that asks. out: the URL of OUT_DIR. lease: identity of the client whose run it is.
    """

    def __init__(self, model: File, out: str):
        self.model, self.out = model, out
        self.exact: File | None = None
        self.exact_tolerance = 0.0
        self.scale: File | None = None
        self.y_scale: File | None = None
        self.options: dict[str, Any] = {}
        self.probability = self.values = self.evaluations = self.dense = self.regression = False
        self.labelled = True
        self.steps: int | None = None
        self.tolerance: float | None = None
        self.delimiter, self.max_line, self.on_bad_row = ",", MAX_LINE, "stop"
        self.nan, self.fields, self.threads = 1, -1, 1
        self.version, self.lease = __version__, ""

    def made_with(self) -> "dict[str, Any]":
        """All that the lines of a part depend on, besides its rows: {what it is called: its value}."""
        return {
            "fastsvm": self.version,
            "model": self.model.digest,
            **self.options,
            "--exact": None if self.exact is None else self.exact.digest,
            "the width of a dense row": self.fields if self.dense else None,
        }

    @property
    def filler(self) -> bytes:
        """The line that stands for a bad row, if one does."""
        return b" ".join([b"nan"] * self.nan) + b"\n" if self.on_bad_row == "nan" else b""

    @property
    def key(self) -> str:
        """By which a worker knows it."""
        return f"{identity(self.made_with())}-{self.lease}"


def identity(made_with: "dict[str, Any]") -> str:
    """A short text for it, another one for another."""
    return fingerprint(json.dumps(made_with, sort_keys=True).encode())[:16]


class Prepared:
    """A job in a worker process: its models are parsed when the first block needs them, once, and shared by threads."""

    def __init__(self, job: Job):
        self.job = job
        self._lock = allocate_lock()
        self._model: Model | None = None
        self._scaling: Scaling | None = None
        exact = job.exact
        self.exact: Fallback | None = None
        if exact is not None:
            self.exact = Fallback(lambda: parse_libsvm(exact.text, exact.path).plain(), job.exact_tolerance)

    @property
    def model(self) -> Model:
        """Raises ModelFormatError."""
        with self._lock:
            if self._model is None:
                job = self.job
                model = parse_model(job.model.text, job.model.path)
                self._model = model if job.steps is None else model.stopped_after(job.steps)
                assert self._model is not None  # the client has asked
            return self._model

    def scaling(self) -> "Scaling | None":
        """What --scale does, with counts of its own; None without."""
        with self._lock:
            if self._scaling is None:
                self._scaling = scaling_of(self.job.scale, self.job.y_scale)
        return None if self._scaling is None else self._scaling.again()


def scaling_of(scale: "File | None", y_scale: "File | None") -> "Scaling | None":
    """What the files of --scale and --y-scale say; None without. Raises DataFormatError."""
    if scale is None:
        return None
    scaling = parse_scaling(scale.text, scale.path)
    return scaling if y_scale is None else with_labels(scaling, y_scale.text, y_scale.path)
