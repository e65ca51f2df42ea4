"""Faults a user can mend. cli.py turns each into one line on stderr and an exit code."""

from errno import EBADF


class FastsvmError(Exception):
    """The root: `str()` is the line the user reads, after "Error: ". What a file holds may end up in it: only what
    prints does."""

    def __init__(self, message: str):
        super().__init__("".join(c if c.isprintable() else "?" for c in message))


class FastsvmWarning(UserWarning):
    """A result that its user may not want, told through `warnings` from Python."""


class DataFormatError(FastsvmError):
    """A line of a data file is not what it should be: `path:line: what was found, what was expected`."""

    def __init__(self, path: str, line: int, why: str):
        super().__init__(f"{display(path)}:{line}: {why}")
        self.path, self.line, self.why = path, line, why


class ModelFormatError(FastsvmError):
    """A model file cannot be used: `path: why`, or `path:line: why` where one line is at fault."""

    def __init__(self, path: str, why: str, line: "int | None" = None):
        super().__init__(f"{display(path)}{'' if line is None else f':{line}'}: {why}")
        self.path, self.line, self.why = path, line, why


class RowError(FastsvmError):
    """A model cannot evaluate a row of a chunk. Raised by `decision_values`; prediction/pipeline.py, which knows the
    file, names the line."""

    def __init__(self, row: int, why: str):
        super().__init__(f"row {row}: {why}")
        self.row, self.why = row, why


class FileError(FastsvmError):
    """The operating system refused a file: `path: its words`."""

    def __init__(self, path: str, error: "OSError | str"):
        super().__init__(f"{display(path)}: {error if isinstance(error, str) else _reason(error)}")
        self.path, self.cause = path, error


def display(path: str) -> str:
    """A file's name as messages say it."""
    return "standard input" if path == "-" else path or "''"


def _reason(error: OSError) -> str:
    return "it is closed" if error.errno == EBADF else error.strerror or str(error)
