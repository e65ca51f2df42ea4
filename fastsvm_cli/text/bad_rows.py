"""Lines of a data file that are no rows, where a run goes on behind them: counted, the first ones named, and a line of
nan for each if that is wanted."""

from collections.abc import Callable, Iterator
from typing import Any

from fastsvm_cli.errors import DataFormatError

#: So many bad rows are named in messages; the others are counted.
NAMED = 10
_PIECE_BYTES = 1 << 20


def still_hold(then: "dict[str, Any]", on_bad_row: str, max_line: int) -> bool:
    """Whether lines that were written with `then` (on_bad_row, max_line, and how many bad_rows) are those of a run with
    these two: rows that are not bad answer alike, if none was longer than it may be now."""
    same = (then["on_bad_row"], then["max_line"]) == (on_bad_row, max_line)
    return same or (not then["bad_rows"] and then["max_line"] <= max_line)


class BadRows:
    """What `read_chunks` and `predict` do with rows that cannot be read or evaluated.

    path: the file's name in messages. filler: the line that stands for one, or b"" where it is left out. say: called
    with the message of each of the first ones, in the order of the file.
    count: how many there were. named: (line, what is wrong with it) of the first ones.
    """

    def __init__(self, path: str, filler: bytes = b"", say: "Callable[[str], None]" = lambda message: None):
        self.path, self.filler, self._say = path, filler, say
        self.count = 0
        self.named: list[tuple[int, str]] = []
        self.begin(1, [], [])

    @property
    def unnamed(self) -> int:
        """How many more are to be named."""
        return NAMED - len(self.named)

    def restore(self, count: int, named: "list[tuple[int, str]]") -> None:
        """Go on from what a run before this one met; those that it named are named again."""
        self.count = count
        for line, why in named:
            self._name(line, why)

    def _name(self, line: int, why: str) -> None:
        self.named.append((line, why))
        self._say(str(DataFormatError(self.path, line, why)))

    def begin(self, first_line: int, gaps: "list[tuple[int, int, int]]", faults: "list[tuple[int, str]]") -> None:
        """A chunk follows. first_line: of its text. gaps: as a Chunk's: (row before which lines are no rows, how many,
        how many of them are bad), in order; the others are comments, for which nothing is written. faults: (line, what
        is wrong with it), of the first ones."""
        self._first_line, self._gaps, self._faults = first_line, gaps, faults
        self._filled = 0  # rows whose lines have been filled up
        self._passed = 0  # lines left out among them
        self.count += sum(bad for _, _, bad in gaps)

    def drop(self, rows: "list[tuple[int, str]]") -> None:
        """Rows that could be read, but not evaluated: (row, why), in order, numbered from the first one that `fill`
        has not been called for. From here on rows are numbered without them."""
        self.count += len(rows)
        rows = [(self._filled + row, why) for row, why in rows]
        left_out = self._passed  # lines before the row
        gaps, merged = iter([*self._gaps, (None, 0, 0)]), []
        at, lines, bad = next(gaps)
        for before, (row, why) in enumerate(rows):
            while at is not None and at <= row:
                merged.append((at - before, lines, bad))
                left_out += lines
                at, lines, bad = next(gaps)
            if before < NAMED:
                self._faults.append((self._first_line + row + left_out, why))
            merged.append((row - before, 1, 1))
        while at is not None:
            merged.append((at - len(rows), lines, bad))
            at, lines, bad = next(gaps)
        self._gaps = merged

    def lines(self, rows: "list[int]") -> "list[int]":
        """The line numbers of these rows, which increase and are numbered from the first one that `fill` has not been
        called for."""
        left_out, out = self._passed, []
        gaps = iter([*self._gaps, (None, 0, 0)])
        at, lines, _ = next(gaps)
        for row in rows:
            row += self._filled
            while at is not None and at <= row:
                left_out += lines
                at, lines, _ = next(gaps)
            out.append(self._first_line + row + left_out)
        return out

    def fill(self, text: bytes, rows: int) -> "Iterator[bytes]":
        """The lines of the chunk's next `rows` rows, with those of the bad ones among them: a few pieces, none of them
        much longer than `text`."""
        for line, why in sorted(self._faults)[: self.unnamed]:
            self._name(line, why)
        self._faults = []
        first = self._filled
        self._filled += rows
        here = [gap for gap in self._gaps if gap[0] <= self._filled]
        self._gaps = self._gaps[len(here) :]
        self._passed += sum(lines for _, lines, _ in here)
        if not here or not self.filler:
            yield text
            return
        pieces, size, done, lines = [], 0, 0, text.splitlines(keepends=True)
        for at, _, count in here:
            row = at - first
            pieces += lines[done:row]
            done = row
            while count:
                some = min(count, max((_PIECE_BYTES - size) // len(self.filler), 1))
                pieces.append(self.filler * some)
                size += some * len(self.filler)
                count -= some
                if size >= _PIECE_BYTES:
                    yield b"".join(pieces)
                    pieces, size = [], 0
        yield b"".join([*pieces, *lines[done:]])
