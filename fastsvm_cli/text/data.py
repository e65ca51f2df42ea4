"""Chunks of rows from LIBSVM data files: from a path, from standard input (`-`), plain or compressed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.text.content import Content, content_pieces

if TYPE_CHECKING:
    from fastsvm_cli.text.bad_rows import BadRows

#: Text parsed at a time. Rows are predicted as they arrive: a slow pipe gives smaller chunks.
CHUNK_BYTES = 1 << 20
#: Rows times decision functions evaluated at a time, unless a single row has more (smaller_chunks).
MOST_VALUES = 1 << 19
#: The longest line of data, unless another is asked for: some ten million numbers. A compressed file of two megabytes
#: can hold a line of many gigabytes.
MAX_LINE = 256_000_000
#: The longest line of a model. LIBSVM doubles an `int` until it holds the line: it reads none that is longer.
_MAX_MODEL_LINE = 1 << 30
_START = 1 << 12


class Place:
    """How far a data file has been read. offset: bytes of its content, decompressed; lines; fields: values of a dense
    row, or -1 before the first."""

    def __init__(self, offset: int = 0, lines: int = 0, fields: int = -1):
        self.offset, self.lines, self.fields = offset, lines, fields


def read_chunks(
    path: str,
    *,
    labelled: bool = True,
    dense: bool = False,
    delimiter: str = ",",
    size: int = CHUNK_BYTES,
    max_line: int = MAX_LINE,
    on_read: "Callable[[int], None] | None" = None,
    name: "str | None" = None,
    place: "Place | None" = None,
    bad_rows: "BadRows | None" = None,
) -> Iterator[_native.Chunk]:
    """Yield the rows of a data file in order, as native chunks (leading, indptr, indices, values, squared_norms:
    buffers).

    The rules are svm-predict's, stricter where it would lose data silently; the README lists every difference.

    path: a file, or "-" for standard input; gzip, bzip2, xz and zstd are known by their first bytes.
    labelled: every row begins with its label.
    dense: delimited values instead of index:value; the first one is feature 1. A blank as `delimiter` stands for any
    run of blanks.
    size: bytes of text per chunk; the rows do not depend on it.
    max_line: the most bytes a line may have.
    on_read: called with the bytes taken from the file so far. name: the file's name in messages, if not `path`.
    place: where to begin; moved behind the rows of every chunk that is yielded, before it is.
    bad_rows: a BadRows, which is told of the lines that are no rows; chunks are those of the others then, and may be
    empty. Raises FileError and, without `bad_rows`, DataFormatError (after the rows before the fault were yielded).
    """
    place = place or Place()
    options = {"leading_count": int(labelled), "dense": dense, "delimiter": delimiter}
    too_long: list[int] = []  # lines, since the last block
    with Content(path, place.offset, on_read) as content:
        for block, end in _whole_lines(content, size, place.offset, max_line):
            if block is None:
                if bad_rows is None:
                    raise DataFormatError(name or path, place.lines + 1, _too_long(max_line))
                too_long.append(place.lines + len(too_long) + 1)
                continue
            first_line = place.lines + len(too_long) + 1
            if bad_rows is None:
                chunk, fault, place.fields, read = _native.parse(
                    block, first_line=first_line, fields=place.fields, **options
                )
                place.offset = end if fault is None else place.offset + read
                place.lines += chunk.rows
            else:
                fault = None
                chunk, gaps, faults, place.fields = _native.parse_around(
                    block, first_line=first_line, fields=place.fields, keep=bad_rows.unnamed, **options
                )
                if too_long:
                    gaps = [(0, len(too_long)), *gaps]
                    faults = [*((line, _too_long(max_line)) for line in too_long), *faults]
                    too_long = []
                bad_rows.begin(place.lines + 1, gaps, faults)
                place.offset = end
                place.lines += chunk.rows + sum(count for _, count in gaps)
            if chunk.rows or bad_rows is not None:
                yield chunk
            if fault is not None:
                raise DataFormatError(name or path, *fault)


def select_rows(chunks: "Iterable[_native.Chunk]", wanted: "Sequence[int]") -> Iterator[_native.Chunk]:
    """Of the chunks of a file, those rows alone, numbered from 0 through all chunks; wanted: increasing."""
    first = at = 0
    for chunk in chunks:
        start = at
        while at < len(wanted) and wanted[at] < first + chunk.rows:
            at += 1
        if at > start:
            yield chunk.select([row - first for row in wanted[start:at]])
        first += chunk.rows


def smaller_chunks(chunks: "Iterable[_native.Chunk]", pairs: int) -> Iterator[_native.Chunk]:
    """The same rows, so many in a chunk that a model of `pairs` decision functions has MOST_VALUES decision values
    for them at most: for a megabyte of short rows, with a value for every pair of 300 classes, they would be twenty
    gigabytes."""
    most = max(1, MOST_VALUES // max(pairs, 1))
    for chunk in chunks:
        if chunk.rows <= most:
            yield chunk
        else:
            for first in range(0, chunk.rows, most):
                yield chunk.slice(first, min(first + most, chunk.rows))


def read_bytes(path: str, check: "Callable[[bytes], object] | None" = None) -> bytes:
    """The whole content of a file, decompressed; "-" is standard input. check, and what is raised: as read_pieces."""
    return b"".join(map(bytes, read_pieces(path, check)))


def read_start(path: str) -> bytes:
    """The first few thousand bytes of a file, decompressed. Raises FileError."""
    start = b""
    for piece in content_pieces(path, _START):
        start += piece
        if len(start) >= _START:
            break
    return start


def read_pieces(path: str, check: "Callable[[bytes], object] | None" = None) -> "Iterator[memoryview]":
    """The content of a file that is not rows, a model say; a piece is valid until the next is asked for. check: called
    with its beginning, its first line if that is not very long, before more is read: what it raises ends the reading.
    Raises FileError, and DataFormatError for a line that no model has."""
    start, lines, length = b"", 0, 0  # length: of the line that has begun
    for piece in content_pieces(path, 1 << 20):
        text = bytes(piece)
        if check is not None:
            start += text
            if b"\n" in start or len(start) >= _START:
                check(start)
                check = None
        last = text.rfind(b"\n")
        length = length + len(text) if last < 0 else len(text) - last - 1
        if length > _MAX_MODEL_LINE:
            raise DataFormatError(
                path, lines + 1, f"a line of more than {_MAX_MODEL_LINE >> 20} MiB found, expected a model"
            )
        lines += text.count(b"\n")
        yield piece
    if check is not None:
        check(start)


def _too_long(max_line: int) -> str:
    return f"a line of more than {max_line / 1e6:g} MB found, expected a row (predict --max-line allows longer ones)"


def _whole_lines(content: Content, size: int, start: int, longest: int) -> "Iterator[tuple[memoryview | None, int]]":
    """Yield the text in blocks that end in a line end (one is added to a last line without), each with the offset
    behind it, `start` being that of the first; a block is valid until the next is asked for. Of a line of more than
    `longest` bytes nothing is kept: (None, _) is yielded in its place, as soon as it has become too long, and a block,
    if only an empty one, comes behind it."""
    size = min(size, longest)  # so that only a block's first line, begun in an earlier one, can be too long
    buffer = bytearray(max(size, 4096))
    filled = 0  # bytes of the line begun in an earlier block
    passing = False  # that line is too long: we are on the way to its end
    while True:
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
            yield None, 0
            passing = True
        if passing:
            gone = first + 1 if first >= 0 else filled
            start += gone
            buffer[: filled - gone] = buffer[gone:filled]
            filled -= gone
            scanned, passing = 0, first < 0
            if not filled and (at_end or not passing):
                yield memoryview(b""), start
        if at_end:
            if filled:
                start += filled
                if buffer[filled - 1] != 10:
                    buffer[filled : filled + 1] = b"\n"
                    filled += 1
                yield memoryview(buffer)[:filled], start
            return
        cut = buffer.rfind(b"\n", scanned, filled) + 1
        if cut:
            start += cut
            block = memoryview(buffer)[:cut]
            yield block, start
            block.release()  # the buffer may have to grow
            buffer[: filled - cut] = buffer[cut:filled]
            filled -= cut
