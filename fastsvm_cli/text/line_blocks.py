"""Lines of a data file (native/engine/line_blocks.h)."""

from collections.abc import Callable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli._native import Position as Position
from fastsvm_cli._native import may_delimit as may_delimit
from fastsvm_cli.errors import DataFormatError

#: Bad rows named in messages.
NAMED: int = _native.MOST_NAMED


def still_hold(then: "dict[str, Any]", on_bad_row: str, max_line: int) -> bool:
    """Return whether lines written under `then` (on_bad_row, max_line, count bad_rows) hold under these settings."""
    same = (then["on_bad_row"], then["max_line"]) == (on_bad_row, max_line)
    return same or (not then["bad_rows"] and then["max_line"] <= max_line)


class BadRows(_native.BadRows):
    """Bad rows of a data file. nan: write a line of nan for each. say: receives the first messages, in file order."""

    def __init__(self, path: str, nan: bool = False, say: "Callable[[str], None]" = lambda message: None):
        super().__init__(nan, lambda line, why: say(str(DataFormatError(path, line, why))))


#: Maximum bytes parsed at a time. A slow pipe gives smaller blocks: rows are predicted as they arrive.
BLOCK_BYTES: int = _native.BLOCK_BYTES
#: Default limit of a line, about ten million numbers. Two compressed megabytes can hold gigabytes.
MAX_LINE: int = _native.LONGEST_LINE
