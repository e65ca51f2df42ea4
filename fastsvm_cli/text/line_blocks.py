"""Blocks of whole lines of a data file (native/engine/line_blocks.h)."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from fastsvm_cli import _native
from fastsvm_cli._native import Position as Position
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.text.byte_source import Content, Source

if TYPE_CHECKING:
    from fastsvm_cli.text.scaling import Scaling

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


def may_delimit(character: str) -> bool:
    """Return whether `character` is ASCII and in no number or line end."""
    return len(character) == 1 and character.isascii() and not character.isalnum() and character not in "+-.\n\r"


class LineBlocks:
    """Blocks of a data file; a context manager for one reading.

    Parameters and errors are as in read_chunks; reading: labelled, ..., max_line. content: source to read instead of
    the file; closed on exit. native: the core's blocks, inside the context.
    """

    def __init__(
        self,
        path: str,
        *,
        size: int = BLOCK_BYTES,
        on_read: "Callable[[int], None] | None" = None,
        position: "Position | None" = None,
        bad_rows: "BadRows | None" = None,
        scaling: "Scaling | None" = None,
        content: "Source | None" = None,
        **reading: Any,
    ):
        delimiter = reading.get("delimiter", ",")
        if reading.get("dense") and not may_delimit(delimiter):
            raise ValueError(f"delimiter={delimiter!r} found, expected one character that cannot be part of a number")
        self.path, self.position, self._bad_rows = path, position or Position(), bad_rows
        self._on_read, self._content = on_read, content
        self._how = {
            "size": size,
            **reading,
            "scaling": None if scaling is None else scaling.native,
            "scaled": _native.ScaledEntries() if scaling is None else scaling.entries,
        }

    def __enter__(self) -> "LineBlocks":
        if self._content is None:
            self._content = Content(self.path, self.position.offset, self._on_read)
        content = self._content
        self.native = _native.LineBlocks(
            content.read_into, content.ready, position=self.position, bad_rows=self._bad_rows, **self._how
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._content is not None:
            self._content.close()

    def chunks(self, name: "str | None" = None) -> "Iterator[_native.Chunk]":
        """Yield a chunk per block; empty ones only with bad_rows. Raises DataFormatError after the rows before it."""
        while (block := self.native.next()) is not None:
            chunk, error = block
            if chunk is not None and (chunk.rows or self._bad_rows is not None):
                yield chunk
            if error is not None:
                raise DataFormatError(name or self.path, *error)
