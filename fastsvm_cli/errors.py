"""Errors that a user can fix. cli.py prints each as one line on stderr and sets the exit code."""

from errno import EBADF


class FastsvmError(Exception):
    """Base of all errors. `str()` is the line that the user reads after "Error: ". Unprintable characters, perhaps
    from a file, become "?"."""

    def __init__(self, message: str):
        super().__init__("".join(c if c.isprintable() else "?" for c in message))


class FastsvmWarning(UserWarning):
    """Warning about a result that the user may not want, issued through `warnings` from Python."""


class DataFormatError(FastsvmError):
    """Malformed line of a data file: `path:line: what was found, what was expected`."""

    def __init__(self, path: str, line: int, why: str):
        super().__init__(f"{display(path)}:{line}: {why}")
        self.path, self.line, self.why = path, line, why


class ModelFormatError(FastsvmError):
    """Unusable model file: `path: why`, or `path:line: why` if one line is at fault."""

    def __init__(self, path: str, why: str, line: "int | None" = None):
        super().__init__(f"{display(path)}{'' if line is None else f':{line}'}: {why}")
        self.path, self.line, self.why = path, line, why


class RowError(FastsvmError):
    """Row of a chunk that a model cannot evaluate. Raised by `decision_values`; prediction/pipeline.py knows the
    file and names the line."""

    def __init__(self, row: int, why: str):
        super().__init__(f"row {row}: {why}")
        self.row, self.why = row, why


class FileError(FastsvmError):
    """File that the operating system refused: `path: its message`."""

    def __init__(self, path: str, error: "OSError | str"):
        super().__init__(f"{display(path)}: {error if isinstance(error, str) else _reason(error)}")
        self.path, self.cause = path, error


def display(path: str) -> str:
    """Return a file's name for messages."""
    return "standard input" if path == "-" else path or "''"


def _reason(error: OSError) -> str:
    return "it is closed" if error.errno == EBADF else error.strerror or str(error)
