"""Errors that a user can fix, printed by cli.py as one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EBADF

_in_python: "ContextVar[bool]" = ContextVar("in_python", default=False)


@contextmanager
def in_python() -> "Iterator[None]":
    """Let messages name options as Python's keyword arguments."""
    before = _in_python.set(True)
    try:
        yield
    finally:
        _in_python.reset(before)


def spelled(name: str, value: str = "") -> str:
    """Return an option as messages name it: --max-size or --vectors L, in Python max_size or vectors=L."""
    if not _in_python.get():
        return f"--{name.replace('_', '-')} {value}".rstrip()
    if value.isupper():
        return f"{name}={value}"
    return f'{name}="{value}"' if value[:1].isalpha() else f"{name} {value}".rstrip()


class FastsvmError(Exception):
    """Base of all errors that a user can fix.

    Parameters
    ----------
    message : str
        The message. Each character that is not printable becomes "?".
    """

    def __init__(self, message: str):
        super().__init__("".join(c if c.isprintable() else "?" for c in message))


class FastsvmWarning(UserWarning):
    """Warning about a doubtful result, or about input that may not be what the user meant."""


class DataFormatError(FastsvmError):
    """Malformed line of a data file.

    The message is `path:line: why`.

    Parameters
    ----------
    path : str
        The path of the file; "-" for standard input.
    line : int
        The number of the line.
    why : str
        The reason.

    Attributes
    ----------
    path, line, why
        The parameters.
    """

    def __init__(self, path: str, line: int, why: str):
        super().__init__(f"{display(path)}:{line}: {why}")
        self.path, self.line, self.why = path, line, why


class ModelFormatError(FastsvmError):
    """Unusable model file, or an estimator that cannot be used.

    The message is `path: why` or `path:line: why`.

    Parameters
    ----------
    path : str
        The path of the file, "-" for standard input, or the name of the estimator's class.
    why : str
        The reason.
    line : int, default=None
        The number of the line.

    Attributes
    ----------
    path, line, why
        The parameters.
    """

    def __init__(self, path: str, why: str, line: "int | None" = None):
        super().__init__(f"{display(path)}{'' if line is None else f':{line}'}: {why}")
        self.path, self.line, self.why = path, line, why


class RowError(FastsvmError):
    """Row of a chunk that a model cannot evaluate.

    Parameters
    ----------
    row : int
        The number of the row in the chunk, from 0.
    why : str
        The reason.

    Attributes
    ----------
    row, why
        The parameters.
    """

    def __init__(self, row: int, why: str):
        super().__init__(f"row {row}: {why}")
        self.row, self.why = row, why


class FileError(FastsvmError):
    """File that cannot be read or written.

    The message is `path: why`.

    Parameters
    ----------
    path : str
        The path of the file; "-" for standard input.
    error : OSError or str
        The reason.

    Attributes
    ----------
    path : str
        The path of the file.
    cause : OSError or str
        The reason.
    """

    def __init__(self, path: str, error: "OSError | str"):
        super().__init__(f"{display(path)}: {error if isinstance(error, str) else _reason(error)}")
        self.path, self.cause = path, error


def display(path: str) -> str:
    """Return a path for messages."""
    return "standard input" if path == "-" else path or "''"


def _reason(error: OSError) -> str:
    return "it is closed" if error.errno == EBADF else error.strerror or str(error)
