"""Standard streams, which may be inherited closed or unable to print a file's name."""

import codecs
import io
import os
import sys

from fastsvm_cli.system.platform import open_nothing

TYPE_CHECKING = False  # typing's, which is not loaded this early
if TYPE_CHECKING:
    from typing import TextIO

_closed: "set[int]" = set()
_prepared: "TextIO | None" = None


def prepare() -> None:
    """Prepare the streams, once, before any file is opened.

    A closed descriptor gets a placeholder, whose use raises EBADF, so that no opened file becomes a standard stream.
    Standard output prints undecodable file names as their bytes. Standard error ignores its own errors.
    """
    global _prepared
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            _hold_place(descriptor)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)
    codecs.register_error("fastsvm-file-name", _bytes_of_name)
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(errors="fastsvm-file-name")
    _prepared = sys.stdout
    sys.stderr = _forgiving(2, "utf-8" if sys.stderr is None else sys.stderr.encoding, "backslashreplace")


def summary_output() -> "TextIO":
    """Return a text stream to standard output that ignores errors of writing; sys.stdout if a caller replaced it."""
    if _prepared is None or sys.stdout is not _prepared:
        return sys.stdout
    return _forgiving(1, sys.stdout.encoding, sys.stdout.errors or "strict")


def is_closed(descriptor: int) -> bool:
    """Return whether the descriptor was closed when the process began."""
    return descriptor in _closed


def _forgiving(descriptor: int, encoding: str, errors: str) -> "TextIO":
    raw: io.RawIOBase = _Forgiving(descriptor, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=True)


class _Forgiving(io.FileIO):
    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]  # typeshed: any Buffer
        try:
            written = super().write(data)
        except OSError:
            written = None
        return len(data) if written is None else written  # None: a full non-blocking pipe


def _hold_place(descriptor: int) -> None:
    _closed.add(descriptor)
    try:
        opened = open_nothing(descriptor)
        if opened != descriptor:  # already taken by the interpreter
            os.close(opened)
        else:
            os.set_inheritable(opened, True)  # so that no child opens a file as a standard stream
    except OSError:
        pass


def _bytes_of_name(error: UnicodeError) -> "tuple[str | bytes, int]":
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.backslashreplace_errors(error)
