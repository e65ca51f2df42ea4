"""Rows and content of data files."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from fastsvm_cli import _native
from fastsvm_cli._native import Position
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.text.files import Content
from fastsvm_cli.text.scaling import Scaling

#: Maximum bytes parsed at a time. A slow pipe gives smaller blocks: rows are predicted as they arrive.
BLOCK_BYTES: int = _native.BLOCK_BYTES
#: Default limit of a line, about ten million numbers. Two compressed megabytes can hold gigabytes.
MAX_LINE: int = _native.LONGEST_LINE
#: Maximum decision values at a time: a megabyte of short rows, with 300 classes, would give twenty gigabytes.
MOST_VALUES: int = _native.MOST_VALUES
#: Bytes in a model's longest line. LIBSVM's buffer size, an `int`, doubles: it reads no longer line.
MAX_MODEL_LINE = 1 << 30
_START = 1 << 12


def read_chunks(
    path: "str | bytes | os.PathLike[str]",
    *,
    labelled: bool = True,
    dense: bool = False,
    delimiter: str = ",",
    first_index: int = 1,
    size: int = BLOCK_BYTES,
    max_line: int = MAX_LINE,
    on_read: "Callable[[int], None] | None" = None,
    name: "str | None" = None,
    place: "Position | None" = None,
    bad_rows: "_native.BadRows | None" = None,
    scaling: "Scaling | None" = None,
) -> Iterator[_native.Chunk]:
    """Yield the rows of a data file in order, as chunks.

    The rules are svm-predict's, but stricter where it loses data silently (commands/FILES.md).

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The data file, which may be compressed; "-" is standard input.
    labelled : bool, default=True
        Whether every row begins with its label.
    dense : bool, default=False
        Whether the rows are delimited values.
    delimiter : str, default=","
        The delimiter of dense rows. A blank matches any run of blanks.
    first_index : int, default=1
        The feature of the first value of a dense row.
    size : int, default=BLOCK_BYTES
        Number of bytes of text per chunk.
    max_line : int, default=MAX_LINE
        Number of bytes in the longest permitted line.
    on_read : callable, default=None
        Called with the number of bytes read so far.
    name : str, default=None
        The name of the file in messages. None means `path`.
    place : Position, default=None
        The place where to begin. It is advanced past each chunk before the chunk is yielded.
    bad_rows : BadRows, default=None
        The object that receives malformed lines. Chunks may then be empty.
    scaling : Scaling, default=None
        The scaling that is applied to every row. It counts the entries.

    Raises
    ------
    FileError
        If the file cannot be read.
    DataFormatError
        If a line is malformed and `bad_rows` is None, after the rows before the line.
    ValueError
        If the delimiter is invalid.
    """
    if dense and not _native.may_delimit(delimiter):
        raise ValueError(f"delimiter={delimiter!r} found, expected one character that cannot be part of a number")
    path, position = os.fsdecode(path), place or Position()
    with Content(path, position.offset, on_read) as content:
        blocks = _native.LineBlocks(
            content,
            position,
            bad_rows,
            None if scaling is None else scaling.native,
            _native.ScaledEntries() if scaling is None else scaling.entries,
            labelled,
            dense,
            delimiter,
            first_index,
            size,
            max_line,
        )
        while (block := blocks.next()) is not None:
            chunk, error = block
            if chunk is not None and (chunk.rows or bad_rows is not None):
                yield chunk
            if error is not None:
                raise DataFormatError(name or path, *error)


def select_rows(chunks: "Iterable[_native.Chunk]", numbers: "Sequence[int]") -> Iterator[_native.Chunk]:
    """Yield the rows with these increasing numbers, from 0 across chunks."""
    first = at = 0
    for chunk in chunks:
        start = at
        while at < len(numbers) and numbers[at] < first + chunk.rows:
            at += 1
        if at > start:
            yield chunk.select([row - first for row in numbers[start:at]])
        first += chunk.rows


def smaller_chunks(chunks: "Iterable[_native.Chunk]", pairs: int) -> Iterator[_native.Chunk]:
    """Split chunks to at most MOST_VALUES values each, or one row."""
    most = max(1, MOST_VALUES // max(pairs, 1))
    for chunk in chunks:
        if chunk.rows <= most:
            yield chunk
        else:
            for first in range(0, chunk.rows, most):
                yield chunk.slice(first, min(first + most, chunk.rows))


def read_bytes(path: str, check: "Callable[[bytes], object] | None" = None) -> bytes:
    """Return a file's content.

    check: called with the first 4096 bytes before more is read; may raise. A line longer than any model's is a
    DataFormatError.
    """
    buffers = []
    with Content(path) as content:
        if check is not None:
            start = _start_of(content)
            check(start)
            content.unread(start)
        size = 1 << 20
        if content.size < MAX_MODEL_LINE:  # no line can be too long: a plain file is read at once
            size = max(size, content.size + 1)
        lines = length = 0  # length: of the current line
        while buffer := content.read(size):
            last = buffer.rfind(b"\n")
            length = length + len(buffer) if last < 0 else len(buffer) - last - 1
            if length > MAX_MODEL_LINE:
                raise DataFormatError(
                    path, lines + 1, f"a line of more than {MAX_MODEL_LINE >> 20} MiB found, expected a model"
                )
            lines += _native.count_lines(buffer)
            buffers.append(buffer)
    return b"".join(buffers)


def read_start(path: str) -> bytes:
    """Return the first 4096 bytes of a file's content."""
    with Content(path) as content:
        return _start_of(content)


def _start_of(content: Content) -> bytes:
    start = b""
    while len(start) < _START and (buffer := content.read(_START - len(start))):
        start += buffer
    return start
