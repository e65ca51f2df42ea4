"""Errors that a user can fix, printed by cli.py as one line."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EBADF
from functools import cache

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
    """Base of all errors that a user can fix. Characters of the message that are not printable become "?"."""

    _given: "tuple[object, ...]" = ()  # arguments of a subclass

    def __init__(self, message: str):
        # Exception's, as OSError's does nothing after its __new__.
        Exception.__init__(self, "".join(c if c.isprintable() else "?" for c in message))

    def __reduce__(self) -> "tuple[type[FastsvmError], tuple[object, ...]]":
        return type(self), self._given or self.args


class FastsvmWarning(UserWarning):
    """Warning about a doubtful result, or about input that may not be what the user meant."""


class DataFormatError(FastsvmError, ValueError):
    """Malformed line of a data file. The message is `path:line: why`.

    The attributes are the file's `path`, "-" for standard input, the number of the `line`, and the reason, `why`.
    """

    def __init__(self, path: str, line: int, why: str):
        super().__init__(f"{display(path)}:{line}: {why}")
        self.path, self.line, self.why = self._given = path, line, why


class ModelFormatError(FastsvmError, ValueError):
    """Unusable model file, or an estimator that cannot be used. The message is `path: why` or `path:line: why`.

    The attributes are the file's `path`, "-" for standard input, or the name of the estimator's class; the reason,
    `why`; and the number of the `line`, or None.
    """

    def __init__(self, path: str, why: str, line: "int | None" = None):
        super().__init__(f"{display(path)}{'' if line is None else f':{line}'}: {why}")
        self.path, self.why, self.line = self._given = path, why, line


class RowError(FastsvmError, ValueError):
    """Row of a chunk that a model cannot evaluate.

    The attributes are its number in the chunk, `row`, from 0, and the reason, `why`.
    """

    def __init__(self, row: int, why: str):
        super().__init__(f"row {row}: {why}")
        self.row, self.why = self._given = row, why


class MissingPackageError(FastsvmError, ImportError):
    """Package that is missing, or that does not load.

    Its name, `package`, is the attribute `name`; `why` is the reason.
    """

    def __init__(self, package: str, why: str):
        super().__init__(f"{package}: {why}")
        self.name, self.msg, self._given = package, str(self), (package, why)


class FileError(FastsvmError, OSError):
    """File that cannot be read or written.

    The message is `path: why`. An error of the system is also one of Python's class for it, as FileNotFoundError, and
    has its `errno`, `strerror` and `filename`.

    Parameters
    ----------
    path : str
        The path of the file; "-" for standard input.
    error : OSError or str
        The reason, the attribute `cause`. A FileError is returned as it is.
    """

    def __new__(cls, path: str, error: "OSError | str") -> "FileError":
        """Return an object of the reason's class, too."""
        if isinstance(error, FileError):
            return error
        builtin = (each for each in type(error).__mro__ if each.__module__ == "builtins")
        return OSError.__new__(_kind(OSError if isinstance(error, str) else next(builtin)))

    def __init__(self, path: str, error: "OSError | str"):
        if error is self:
            return
        why = error if isinstance(error, str) else _reason(error)
        super().__init__(f"{display(path)}: {why}")
        self.path, self.cause = self._given = path, error
        self.errno, self.strerror, self.filename = getattr(error, "errno", None), why, path

    def __reduce__(self) -> "tuple[type[FileError], tuple[object, ...]]":
        return FileError, self._given

    __str__ = Exception.__str__  # OSError's begins with the number


@cache
def _kind(system: "type[BaseException]") -> "type[FileError]":
    return FileError if system is OSError else type("FileError", (FileError, system), {"__module__": __name__})


def warn(message: str) -> None:
    """Warn at the line that called fastsvm_cli."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastsvm_cli."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FastsvmWarning, stacklevel=level)


def display(path: str) -> str:
    """Return a path for messages."""
    return "standard input" if path == "-" else path or "''"


def _reason(error: OSError) -> str:
    return "it is closed" if error.errno == EBADF else " ".join((error.strerror or str(error)).split())
