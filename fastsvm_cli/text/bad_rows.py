"""Malformed lines, and rows that a model cannot evaluate, where a run goes on around them: counted, the first ones
named, and a line of nan for each if that is wanted. The core does it (native/engine/bad_rows.h)."""

from collections.abc import Callable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError

#: So many bad rows are named in messages; the others are counted.
NAMED: int = _native.MOST_NAMED


def still_hold(then: "dict[str, Any]", on_bad_row: str, max_line: int) -> bool:
    """Whether lines that were written with `then` (on_bad_row, max_line, and how many bad_rows) are those of a run with
    these two: rows that are not bad answer alike, if none was longer than it may be now."""
    same = (then["on_bad_row"], then["max_line"]) == (on_bad_row, max_line)
    return same or (not then["bad_rows"] and then["max_line"] <= max_line)


class BadRows(_native.BadRows):
    """What `read_chunks` and `predict` do with rows that cannot be read or evaluated.

    path: the file's name in messages. nan: write a line of nan for one; else it is left out. say: called with the
    message of each of the first ones, in the order of the file."""

    def __init__(self, path: str, nan: bool = False, say: "Callable[[str], None]" = lambda message: None):
        super().__init__(nan, lambda line, why: say(str(DataFormatError(path, line, why))))
