"""Chunks of rows from LIBSVM data files: from a path, from standard input (`-`), plain or compressed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.text.content import Content
from fastsvm_cli.text.line_blocks import BLOCK_BYTES, MAX_LINE, LineBlocks, Place

if TYPE_CHECKING:
    from fastsvm_cli.text.bad_rows import BadRows
    from fastsvm_cli.text.scaling import Scaling

#: Rows times decision functions evaluated at a time, unless a single row has more (smaller_chunks).
MOST_VALUES: int = _native.MOST_VALUES
#: The longest line of a model. LIBSVM doubles an `int` until it holds the line: it reads none that is longer.
MAX_MODEL_LINE = 1 << 30
_START = 1 << 12


def read_chunks(
    path: str,
    *,
    labelled: bool = True,
    dense: bool = False,
    delimiter: str = ",",
    size: int = BLOCK_BYTES,
    max_line: int = MAX_LINE,
    on_read: "Callable[[int], None] | None" = None,
    name: "str | None" = None,
    place: "Place | None" = None,
    bad_rows: "BadRows | None" = None,
    scaling: "Scaling | None" = None,
) -> Iterator[_native.Chunk]:
    """Yield the rows of a data file in order, as native chunks (leading, indptr, indices, values, squared_norms:
    buffers).

    The rules are svm-predict's, stricter where it would lose data silently; commands/README.md lists every difference.

    path: a file, or "-" for standard input; gzip, bzip2, xz and zstd are known by their first bytes.
    labelled: every row begins with its label.
    dense: delimited values instead of index:value; the first one is feature 1. A blank as `delimiter` stands for any
    run of blanks.
    size: bytes of text per chunk; the rows do not depend on it.
    max_line: the most bytes a line may have.
    on_read: called with the bytes taken from the file so far. name: the file's name in messages, if not `path`.
    place: where to begin; moved behind the rows of every chunk that is yielded, before it is.
    bad_rows: a BadRows, which is told of the lines that are no rows; chunks are those of the others then, and may be
    empty.
    scaling: applied to every row, and told of what it did. Raises FileError, ValueError for what delimits nothing, and,
    without `bad_rows`, DataFormatError (after the rows before the fault were yielded).
    """
    with LineBlocks(
        path,
        labelled=labelled,
        dense=dense,
        delimiter=delimiter,
        size=size,
        max_line=max_line,
        on_read=on_read,
        place=place,
        bad_rows=bad_rows,
        scaling=scaling,
    ) as blocks:
        yield from blocks.chunks(name)


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
    pieces = list(read_pieces(path, check, whole=True))
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_start(path: str) -> bytes:
    """The first few thousand bytes of a file, decompressed. Raises FileError."""
    with Content(path) as content:
        return _start_of(content)


def read_pieces(path: str, check: "Callable[[bytes], object] | None" = None, whole: bool = False) -> "Iterator[bytes]":
    """The content of a file that is not rows, a model say. check: called with its beginning, its first line if that is
    not very long, before more is read: what it raises ends the reading. whole: a plain file in one piece. Raises
    FileError, and DataFormatError for a line that no model has."""
    with Content(path) as content:
        if check is not None:
            start = _start_of(content, b"\n")
            check(start)
            content.unread(start)
        size = 1 << 20
        if whole and content.size < MAX_MODEL_LINE:  # no line is longer
            size = max(size, content.size + 1)
        lines = length = 0  # length: of the line that has begun
        while piece := content.read(size):
            last = piece.rfind(b"\n")
            length = length + len(piece) if last < 0 else len(piece) - last - 1
            if length > MAX_MODEL_LINE:
                raise DataFormatError(
                    path, lines + 1, f"a line of more than {MAX_MODEL_LINE >> 20} MiB found, expected a model"
                )
            lines += _native.count_lines(piece)
            yield piece


def _start_of(content: Content, stop: "bytes | None" = None) -> bytes:
    """The first few thousand bytes, or fewer if `stop` is among them."""
    start = b""
    while len(start) < _START and not (stop and stop in start) and (piece := content.read(_START - len(start))):
        start += piece
    return start
