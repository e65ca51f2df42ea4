"""Malformed lines, and rows that a model cannot evaluate (native/engine/bad_rows.h)."""

from collections.abc import Callable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError

#: Bad rows named in messages.
NAMED: int = _native.MOST_NAMED


def still_hold(then: "dict[str, Any]", on_bad_row: str, max_line: int) -> bool:
    """Return whether lines written under `then` (on_bad_row, max_line, count bad_rows) hold under these settings."""
    same = (then["on_bad_row"], then["max_line"]) == (on_bad_row, max_line)
    return same or (not then["bad_rows"] and then["max_line"] <= max_line)


class BadRows(_native.BadRows):
    """nan: write a line of nan for each bad row; otherwise omit it. say: receives the first messages, in file order."""

    def __init__(self, path: str, nan: bool = False, say: "Callable[[str], None]" = lambda message: None):
        super().__init__(nan, lambda line, why: say(str(DataFormatError(path, line, why))))
