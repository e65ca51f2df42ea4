"""The exact model that answers rows which a compiled model does not prove."""

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsvm_cli.models.base import ExactModel, Model
    from fastsvm_cli.prediction.pipeline import Audit, Fallback

#: Larger texts are read twice.
MOST_BUFFERED = 1 << 24


def fallback(
    model: "Model",
    model_file: str,
    file: "ExactFile | None",
    tolerance: "float | None",
    wait: bool,
    open_rows: bool = False,
) -> "Fallback | None":
    """Return the exact model of a certified one, loaded when first needed; None without `file`.

    Its fingerprint is checked before any output if `wait`, else in parallel. open_rows: whether these are written,
    which also needs a certified model. Raises UsageError and ModelFormatError.
    """
    import click

    if file is None and not open_rows:
        if tolerance is not None:
            raise click.UsageError("--tolerance goes with --exact, --open-rows, or with an ordered regression model.")
        return None
    _require_certificates(model, model_file, "--open-rows" if file is None else "--exact", tolerance)
    if file is None:
        return None

    from fastsvm_cli.prediction.pipeline import Fallback

    assert model.fingerprint is not None  # certified models are compiled
    file.expect(model.fingerprint, model_file, wait)
    return Fallback(file.load, tolerance or 0.0, file.check)


def audit(model: "Model", model_file: str, file: "ExactFile | None", share: float, seed: int, wait: bool) -> "Audit":
    """Return the sample of rows that the exact model, of `file` or in the model, answers too.

    wait: as in `fallback`. Raises UsageError and ModelFormatError.
    """
    import click

    from fastsvm_cli.errors import ModelFormatError
    from fastsvm_cli.prediction.pipeline import Audit

    if model.header.regression:
        why = "a regression model found; --audit counts labels that differ, and a value is no label"
        raise ModelFormatError(model_file, why)
    if model.folded is not None and not model.folded.inherited and not model.holds_exact:
        why = "--scale is folded into it: it takes raw rows, and the model that it was made from scaled ones"
        raise ModelFormatError(model_file, why)
    if model.proves and not model.certified:
        raise ModelFormatError(model_file, _exact_already(model))
    if file is None:
        if not model.holds_exact:
            raise click.UsageError(f"--audit needs --exact MODEL, which {model_file} was compiled from.")
        return Audit(lambda: model.exact, share, seed)
    assert model.fingerprint is not None  # no exact model
    file.expect(model.fingerprint, model_file, wait)
    return Audit(file.load, share, seed, file.check)


def _exact_already(model: "Model") -> str:
    return f"{'a LIBSVM model found, whose' if model.fingerprint is None else 'its'} labels are exact already"


def _require_certificates(model: "Model", model_file: str, option: str, tolerance: "float | None") -> None:
    import click

    from fastsvm_cli.errors import ModelFormatError

    regression = model.header.regression
    if regression and tolerance is None:
        raise click.UsageError(
            f"{option} needs --tolerance for a regression model: the largest radius a value may keep."
        )
    if not regression and tolerance is not None:
        raise click.UsageError("--tolerance is for regression models; a label is proven or it is not.")
    if model.folded is not None and model.folded.unproven is not None:
        raise ModelFormatError(model_file, model.folded.unproven)
    if not model.certified:
        what = "the model has no certificates: fastsvm approx --certify and fastsvm reduce make models that do"
        if model.proves:
            what = _exact_already(model)
        raise ModelFormatError(model_file, what)


class ExactFile:
    """A compiled model's source; a thread computes its fingerprint. Raises FileError."""

    def __init__(self, path: str):
        from threading import Thread

        from fastsvm_cli.errors import FileError

        self.path = path
        self._text: bytes | None = None
        self._error: Exception | None = None
        self._found, self._checked = "", False
        try:
            self._status = os.stat(path)
        except OSError as error:
            raise FileError(path, error) from None
        self._thread: Thread | None = Thread(target=self._read, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no thread available
            self._thread = None
            self._read()

    def expect(self, fingerprint: str, model_file: str, wait: bool) -> None:
        """Set the expected fingerprint, and whether to check it before the first row."""
        self._requested, self._model_file, self._wait = fingerprint, model_file, wait

    def check(self, at_end: bool = True) -> None:
        """Raise FileError for an unreadable file, ModelFormatError for another than expected.

        at_end: wait for the fingerprint in any case.
        """
        if self._checked or (self._thread is not None and self._thread.is_alive() and not self._wait and not at_end):
            return
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        self._compare(self._found)
        self._checked = True

    def load(self) -> "ExactModel":
        """Read the exact model. Raises ModelFormatError or FileError."""
        from fastsvm_cli.models import parse_libsvm

        # The source may be a reduced set.
        return parse_libsvm(self.text(), self.path).plain()

    def text(self) -> bytes:
        """Return the content, once. Raises ModelFormatError and FileError."""
        from fastsvm_cli.text.fingerprint import fingerprint
        from fastsvm_cli.text.read_rows import read_bytes

        self.check()
        text, self._text = self._text, None
        if text is None:
            text = read_bytes(self.path)
            self._compare(fingerprint(text))  # it may have changed since
        return text

    def _compare(self, found: str) -> None:
        from fastsvm_cli.errors import ModelFormatError

        if found != self._requested:
            why = f"this is not the model that {self._model_file} was compiled from (their fingerprints differ)"
            raise ModelFormatError(self.path, why)

    def _read(self) -> None:
        from fastsvm_cli.text.fingerprint import fingerprint_of

        try:
            self._found = fingerprint_of(self.buffers())
        except Exception as error:  # raised by check
            self._error = error

    def buffers(self) -> "Iterator[bytes]":
        """Yield the file's bytes, and keep those of a pipe or small file for `text`."""
        from fastsvm_cli.models import check_start
        from fastsvm_cli.text.read_rows import read_buffers

        buffers_read, total = [], 0
        for buffer in read_buffers(self.path, lambda start: check_start(start, self.path)):
            total += len(buffer)
            if total <= MOST_BUFFERED or not stat.S_ISREG(self._status.st_mode):  # a pipe cannot be read again
                buffers_read.append(buffer)
            else:
                buffers_read = []
            yield buffer
        if total <= MOST_BUFFERED or not stat.S_ISREG(self._status.st_mode):
            self._text = b"".join(buffers_read)
