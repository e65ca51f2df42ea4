"""The text of a data file in blocks of whole lines, which threads may parse side by side."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli.text.content import Content, Source

if TYPE_CHECKING:
    from fastsvm_cli.text.bad_rows import BadRows
    from fastsvm_cli.text.scaling import Scaling

#: Text parsed at a time. Rows are predicted as they arrive: a slow pipe gives smaller blocks.
BLOCK_BYTES = 1 << 20
#: The longest line of data, unless another is asked for: some ten million numbers. A compressed file of two megabytes
#: can hold a line of many gigabytes.
MAX_LINE = 256_000_000
#: Features that every row has once it is scaled: with more of them, blocks are shorter, as their rows take more memory.
_SHIFTED_IN_BLOCK = 250


def may_delimit(character: str) -> bool:
    """Whether fields may be delimited by it: one character that cannot be part of a number, nor of a line end."""
    return len(character) == 1 and character.isascii() and not character.isalnum() and character not in "+-.\n\r"


class Place:
    """How far a data file has been read.

    offset: bytes of its content, decompressed. lines: how many; comments: how many of them are comments, which are
    neither rows nor bad ones. fields: the values of a dense row, -1 before the first row and of other text."""

    def __init__(self, offset: int = 0, lines: int = 0, fields: int = -1, comments: int = 0):
        self.offset, self.lines, self.fields, self.comments = offset, lines, fields, comments


class LineBlock:
    """Whole lines of a data file. A block is to be parsed, on any thread, and then settled, on the thread that reads,
    in the order of the file.

    size: bytes. chunk: its rows, once it is parsed. fault: (line, what is wrong with it) of the first line behind those
    rows that is none, or None.
    """

    def __init__(self, source: "LineBlocks", text: "bytearray | None", size: int, end: int, first_line: int):
        self._source, self._text, self.size, self._end, self._first_line = source, text, size, end, first_line
        self._fields = source.place.fields
        self._too_long: list[int] = []  # lines before the text, which nothing is known of but this
        self._faults: list[tuple[int, str]] = []
        self.chunk: _native.Chunk | None = None
        self.fault: tuple[int, str] | None = None

    def parse(self) -> None:
        """Make rows of the lines: `chunk` and `fault`."""
        source, text = self._source, self._text
        if text is None:
            return
        with memoryview(text) as whole, whole[: self.size] as lines:
            if source.bad_rows is None:
                self.chunk, self.fault, self._fields, read = _native.parse(
                    lines, first_line=self._first_line, fields=self._fields, **source.options
                )
                self._end -= self.size - read
            else:
                self.chunk, self._faults, self._fields = _native.parse_around(
                    lines,
                    first_line=self._first_line,
                    fields=self._fields,
                    keep=source.bad_rows.unnamed,
                    **source.options,
                )
        self._text = None
        source.reuse(text)

    def settle(self) -> None:
        """Move the source's `place` behind these rows, and tell its `bad_rows` of the lines that are none."""
        if self.chunk is None:
            return
        place, bad_rows = self._source.place, self._source.bad_rows
        gaps, faults = self.chunk.gaps, self._faults
        if self._too_long:
            gaps = [(0, len(self._too_long), len(self._too_long)), *gaps]
            faults = [*((line, self._source.too_long) for line in self._too_long), *faults]
        if bad_rows is not None:
            bad_rows.begin(place.lines + 1, gaps, faults)
        if self._source.scaling is not None:
            self._source.scaling.count(self.chunk)
        place.offset, place.fields = self._end, self._fields
        place.lines += self.chunk.rows + sum(lines for _, lines, _ in gaps)
        place.comments += sum(lines - bad for _, lines, bad in gaps)


class LineBlocks:
    """The blocks of a data file, in order; a context manager, to be iterated over once.

    path, labelled, dense, delimiter, max_line, on_read, place, bad_rows, scaling: as of read_chunks. size: bytes of
    text in a block; may be changed on the way. content: where the bytes come from, if not from the file `path`; taken
    from its beginning, and closed at the end. Raises FileError, and ValueError for what delimits nothing.
    """

    def __init__(
        self,
        path: str,
        *,
        labelled: bool = True,
        dense: bool = False,
        delimiter: str = ",",
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
        self.size, self.place, self.bad_rows, self.scaling = size, place or Place(), bad_rows, scaling
        self.options = {"leading_count": int(labelled), "dense": dense, "delimiter": delimiter, "svmlight": not dense}
        if scaling is not None:
            self.options["scaling"] = scaling.native
            if scaling.native.shifted > _SHIFTED_IN_BLOCK:
                self.size = max(1 << 12, size * _SHIFTED_IN_BLOCK // scaling.native.shifted)
        self.max_line = max_line
        self._path, self._on_read = path, on_read
        self._content: Source | None = content
        self._spare: list[bytearray] = []

    @property
    def too_long(self) -> str:
        """What is said of a line of more than max_line bytes."""
        longest = f"{self.max_line / 1e6:g} MB"
        return f"a line of more than {longest} found, expected a row (predict --max-line allows longer ones)"

    def __enter__(self) -> "LineBlocks":
        if self._content is None:
            self._content = Content(self._path, self.place.offset, self._on_read)
        return self

    def __exit__(self, *_: object) -> None:
        if self._content is not None:
            self._content.close()

    def ready(self) -> bool:
        """Another block can be had without waiting, before those that there are have been settled: as soon as the width
        of a dense row is known."""
        return self.place.fields >= 0 and self._content is not None and self._content.ready()

    def reuse(self, text: bytearray) -> None:
        """A block's text is needed no longer."""
        self._spare.append(text)

    def __iter__(self) -> "Iterator[LineBlock]":
        lines = self.place.lines  # of the file, read so far
        too_long: list[int] = []
        for text, size, end in self._whole_lines():
            if text is None:
                too_long.append(lines + 1)
                if self.bad_rows is None:
                    block = LineBlock(self, None, 0, end, lines + 1)
                    block.fault = (lines + 1, self.too_long)
                    yield block
                    return
                lines += 1
                continue
            block = LineBlock(self, text, size, end, lines + 1)
            block._too_long, too_long = too_long, []
            with memoryview(text) as whole, whole[:size] as read:
                lines += _native.count_lines(read)
            yield block

    def _whole_lines(self) -> "Iterator[tuple[bytearray | None, int, int]]":
        """(text, how many bytes of it, the offset behind them): bytes that end in a line end (one is added to a last
        line without), the caller's until it gives them back (`reuse`). Of a line of more than `max_line` bytes nothing
        is kept: (None, 0, 0) is yielded in its place, as soon as it has become too long, and a text, if only an empty
        one, comes behind it."""
        content, longest, start = self._content, self.max_line, self.place.offset
        assert content is not None
        buffer = bytearray(max(min(self.size, longest), 4096))
        filled = 0  # bytes of the line begun in an earlier block
        passing = False  # that line is too long: we are on the way to its end
        while True:
            # No longer than a line may be, so that only a block's first line, begun in an earlier one, can be too long.
            size = min(self.size, longest)
            scanned = filled
            at_end = False
            while True:
                if filled == len(buffer):
                    buffer += bytes(min(len(buffer), longest + size + 1 - filled))
                room = memoryview(buffer)[filled : filled + max(1, size - (filled - scanned))]
                got = content.read_into(room)
                room.release()
                filled += got
                at_end = got == 0
                if at_end or filled - scanned >= size or not content.ready():
                    break
            first = buffer.find(b"\n", scanned, filled)  # the end of the line begun earlier
            if not passing and (first if first >= 0 else filled) > longest:
                yield None, 0, 0
                passing = True
            if passing:
                gone = first + 1 if first >= 0 else filled
                start += gone
                buffer[: filled - gone] = buffer[gone:filled]
                filled -= gone
                scanned, passing = 0, first < 0
                if not filled and (at_end or not passing):
                    yield bytearray(), 0, start
            if at_end:
                if filled:
                    start += filled
                    if buffer[filled - 1] != 10:
                        buffer[filled : filled + 1] = b"\n"
                        filled += 1
                    yield buffer, filled, start
                return
            cut = buffer.rfind(b"\n", scanned, filled) + 1
            if cut:
                start += cut
                yield buffer, cut, start
                buffer = self._behind(buffer, cut, filled)
                filled -= cut

    def _behind(self, text: bytearray, cut: int, filled: int) -> bytearray:
        """A buffer that begins with text[cut:filled], and holds at least as much: the same one, where it has been given
        back."""
        buffer = self._spare.pop() if self._spare else bytearray(len(text))
        rest = filled - cut
        if buffer is text:
            buffer[:rest] = text[cut:filled]
            return buffer
        if len(buffer) < len(text):
            buffer += bytes(len(text) - len(buffer))
        with memoryview(text) as whole:
            buffer[:rest] = whole[cut:filled]
        return buffer
