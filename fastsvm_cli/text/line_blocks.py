"""Blocks of whole lines of a data file (native/engine/line_blocks.h)."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli._native import Place as Place
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.text.content import Content, Source

if TYPE_CHECKING:
    from fastsvm_cli.text.bad_rows import BadRows
    from fastsvm_cli.text.scaling import Scaling

#: Maximum bytes parsed at a time. A slow pipe gives smaller blocks: rows are predicted as they arrive.
BLOCK_BYTES: int = _native.BLOCK_BYTES
#: Default limit of a line, about ten million numbers. Two compressed megabytes can hold gigabytes.
MAX_LINE: int = _native.LONGEST_LINE


def may_delimit(character: str) -> bool:
    """Return whether `character` is ASCII and in no number or line end."""
    return len(character) == 1 and character.isascii() and not character.isalnum() and character not in "+-.\n\r"


class LineBlocks:
    """Blocks of a data file; a context manager for one reading.

    Parameters and errors are as in read_chunks. content: source to read, from its beginning, instead of the file;
    closed on exit. native: the core's blocks, inside the context.
    """

    def __init__(
        self,
        path: str,
        *,
        labelled: bool = True,
        dense: bool = False,
        delimiter: str = ",",
        first_index: int = 1,
        size: int = BLOCK_BYTES,
        max_line: int = MAX_LINE,
        on_read: "Callable[[int], None] | None" = None,
        place: "Place | None" = None,
        bad_rows: "BadRows | None" = None,
        scaling: "Scaling | None" = None,
        content: "Source | None" = None,
    ):
        if dense and not may_delimit(delimiter):
            raise ValueError(f"delimiter={delimiter!r} found, expected one character that cannot be part of a number")
        self.path, self.place, self._bad_rows = path, place or Place(), bad_rows
        self._on_read, self._content = on_read, content
        self._how = {
            "labelled": labelled,
            "dense": dense,
            "delimiter": delimiter,
            "first_index": first_index,
            "size": size,
            "max_line": max_line,
            "scaling": None if scaling is None else scaling.native,
            "scaled": _native.ScaledEntries() if scaling is None else scaling.entries,
        }

    def __enter__(self) -> "LineBlocks":
        if self._content is None:
            self._content = Content(self.path, self.place.offset, self._on_read)
        content = self._content
        self.native = _native.LineBlocks(
            content.read_into, content.ready, place=self.place, bad_rows=self._bad_rows, **self._how
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._content is not None:
            self._content.close()

    def chunks(self, name: "str | None" = None) -> "Iterator[_native.Chunk]":
        """Yield a chunk per block; empty ones only with bad_rows.

        Raises DataFormatError after the rows before the fault.
        """
        while (block := self.native.next()) is not None:
            chunk, fault = block
            if chunk is not None and (chunk.rows or self._bad_rows is not None):
                yield chunk
            if fault is not None:
                raise DataFormatError(name or self.path, *fault)
