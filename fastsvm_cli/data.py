"""Chunks of rows from LIBSVM data files: from a path, from standard input (`-`), plain or compressed with gzip, bzip2 or xz."""

import os
import select
from typing import Callable, Iterable, Iterator, Sequence

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, FileError

#: Text parsed at a time. Rows are predicted as they arrive: a slow pipe gives smaller chunks.
CHUNK_BYTES = 1 << 20
#: Rows times decision functions evaluated at a time, unless a single row has more.
MOST_VALUES = 1 << 19

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
_MAGIC_BYTES = 6
_PIECE_BYTES = 1 << 18  # decompressed at a time


def read_chunks(
    path: str,
    *,
    labelled: bool = True,
    dense: bool = False,
    delimiter: str = ",",
    size: int = CHUNK_BYTES,
    on_read: "Callable[[int], None] | None" = None,
    name: "str | None" = None,
) -> Iterator[_native.Chunk]:
    """Yield the rows of a data file in order, as native chunks (labels, indptr, indices, values, squared_norms: buffers).

    The rules are svm-predict's, stricter where it would lose data silently; the README lists every difference.

    path: a file, or "-" for standard input; gzip, bzip2 and xz are known by their first bytes.
    labelled: every row begins with its label.
    dense: delimited values instead of index:value; the first one is feature 1. A blank as `delimiter` stands for any run of blanks.
    size: bytes of text per chunk; the rows do not depend on it.
    on_read: called with the bytes taken from the file so far. name: the file's name in messages, if not `path`.
    Raises DataFormatError (after the rows before the fault were yielded) and FileError.
    """
    first_line, fields = 1, -1
    for block in _whole_lines(path, size, on_read):
        chunk, fault, fields, _ = _native.parse(
            block, first_line=first_line, leading=int(labelled), dense=dense, delimiter=delimiter, fields=fields
        )
        block.release()
        if chunk.rows:
            yield chunk
        if fault is not None:
            raise DataFormatError(name or path, *fault)
        first_line += chunk.rows


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


def bounded(chunks: "Iterable[_native.Chunk]", pairs: int) -> Iterator[_native.Chunk]:
    """The same rows in chunks of which MOST_VALUES decision values at most are held at a time, for a model of so many decision functions: a megabyte of short rows,
    with a number for each of them and every pair of 300 classes, would be twenty gigabytes."""
    most = max(1, MOST_VALUES // max(pairs, 1))
    for chunk in chunks:
        if chunk.rows <= most:
            yield chunk
        else:
            for first in range(0, chunk.rows, most):
                yield chunk.slice(first, min(first + most, chunk.rows))


def read_bytes(path: str) -> bytes:
    """The whole content of a file, decompressed; "-" is standard input. Raises FileError."""
    return b"".join(bytes(block) for block in _whole_lines(path, 1 << 22, None, complete=False))


def read_start(path: str) -> bytes:
    """The first few thousand bytes of a file, decompressed. Raises FileError."""
    for block in _whole_lines(path, 4096, None, complete=False):
        return bytes(block)
    return b""


def _whole_lines(path: str, size: int, on_read, complete: bool = True) -> Iterator[memoryview]:
    """Yield the file's text in blocks that end in a line end (one is added to a last line without, unless not `complete`).
    A block is valid until the next is asked for."""
    with _Source(path) as source:
        source.on_read = on_read
        buffer = bytearray(max(size, 4096))
        filled = 0  # bytes of the line begun in an earlier block
        while True:
            scanned = filled
            at_end = False
            while True:
                if filled == len(buffer):
                    buffer = buffer + bytearray(len(buffer))
                room = memoryview(buffer)[filled : filled + max(1, size - (filled - scanned))]
                got = source.read_into(room)
                room.release()
                filled += got
                at_end = got == 0
                if at_end or filled - scanned >= size or not source.ready():
                    break
            if at_end:
                if filled:
                    if complete and buffer[filled - 1] != 10:
                        buffer[filled : filled + 1] = b"\n"
                        filled += 1
                    yield memoryview(buffer)[:filled]
                return
            cut = buffer.rfind(b"\n", scanned, filled) + 1
            if cut:
                yield memoryview(buffer)[:cut]
                buffer[: filled - cut] = buffer[cut:filled]
                filled -= cut


class _Source:
    """The bytes of a file, decompressed. Decompression runs on a thread of its own, beside the scoring."""

    def __init__(self, path: str):
        self.path = path
        self.on_read = None
        self._taken = 0
        self._pending = b""  # bytes read and not yet handed out
        self._queue = None
        self._closed = False
        try:
            self._file = 0 if path == "-" else os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            _widen_pipe(self._file)
            self._poll = select.poll()
            self._poll.register(self._file, select.POLLIN)
            self._pending = self._read(_MAGIC_BYTES)
            # Text begins with a digit or a sign: only a byte that begins a magic number makes us wait for more.
            while 0 < len(self._pending) < _MAGIC_BYTES and any(magic.startswith(self._pending[:3]) for magic in _MAGIC):
                more = self._read(_MAGIC_BYTES - len(self._pending))
                if not more:
                    break
                self._pending += more
        except OSError as error:
            self.close()
            raise FileError(path, error) from None
        for magic, kind in _MAGIC.items():
            if self._pending.startswith(magic):
                self._decompress(kind)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self._closed = True
        if self._queue is not None:
            while not self._queue.empty():  # a thread that waits for room goes on, sees that we are closed, and closes the file
                self._queue.get_nowait()
        elif getattr(self, "_file", -1) > 0:
            os.close(self._file)
            self._file = -1

    def ready(self) -> bool:
        """More bytes can be had without waiting."""
        if self._pending:
            return True
        if self._queue is not None:
            return not self._queue.empty()
        return bool(self._poll.poll(0))

    def read_into(self, room: memoryview) -> int:
        """Fill `room` with what there is, at least one byte; 0 at the end."""
        try:
            if not self._pending and self._queue is None:
                got = os.readv(self._file, [room])
                self._count(got)
                return got
        except OSError as error:
            raise FileError(self.path, error) from None
        if not self._pending:
            self._pending = self._queue.get()
            if isinstance(self._pending, Exception):
                raise self._pending
            if not self._pending:
                self._queue.put(b"")  # the end stays the end
                return 0
        got = min(len(room), len(self._pending))
        room[:got] = self._pending[:got]
        self._pending = self._pending[got:]
        return got

    def _read(self, size: int) -> bytes:
        data = os.read(self._file, size)
        self._count(len(data))
        return data

    def _count(self, got: int) -> None:
        self._taken += got
        if self.on_read is not None:
            self.on_read(self._taken)

    def _decompress(self, kind: str) -> None:
        import queue
        import threading

        start, self._pending = self._pending, b""
        self._queue = queue.Queue(maxsize=16)

        def work() -> None:
            try:
                for piece in _decompressed(self._compressed(start), kind, self.path):
                    if self._closed:
                        return
                    self._queue.put(piece)
                self._queue.put(b"")
            except Exception as error:  # raised in the reader
                self._queue.put(error)
            finally:
                if self._file > 0:
                    os.close(self._file)

        threading.Thread(target=work, daemon=True).start()

    def _compressed(self, start: bytes) -> Iterator[bytes]:
        yield start
        while True:
            try:
                data = self._read(1 << 18)
            except OSError as error:
                raise FileError(self.path, error) from None
            if not data:
                return
            yield data


def _widen_pipe(file: int) -> None:
    """Let a pipe hold a megabyte instead of 64 KB: fewer switches between the writer and us. Linux only; a wish, not a need."""
    try:
        import fcntl

        fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, 1 << 20)
    except (ImportError, AttributeError, OSError):
        pass


def _decompressed(blocks: Iterator[bytes], kind: str, path: str) -> Iterator[bytes]:
    """The content of one or more compressed streams, one after the other, as gzip, bzip2 and xz themselves read them; never more than
    _PIECE_BYTES at a time, however well it was compressed."""
    if kind == "gzip":
        import zlib

        new, faults = (lambda: zlib.decompressobj(wbits=31)), (zlib.error,)
    elif kind == "bzip2":
        import bz2

        new, faults = bz2.BZ2Decompressor, (OSError, ValueError)
    else:
        import lzma

        new, faults = (lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)), (lzma.LZMAError,)
    stream = None
    for block in blocks:
        while block:
            if stream is None:
                if kind != "bzip2":
                    block = block.lstrip(b"\0")  # padding between streams
                    if not block:
                        break
                stream = new()
            try:
                piece = stream.decompress(block, _PIECE_BYTES)
            except faults:
                raise FileError(path, f"the {kind} data is damaged") from None
            if piece:
                yield piece
            if stream.eof:
                block, stream = stream.unused_data, None
            elif kind == "gzip":
                block = stream.unconsumed_tail
            else:  # bz2 and lzma keep what they have not used
                block = b""
                try:
                    while not (stream.eof or stream.needs_input):
                        piece = stream.decompress(b"", _PIECE_BYTES)
                        if piece:
                            yield piece
                except faults:
                    raise FileError(path, f"the {kind} data is damaged") from None
                if stream.eof:
                    block, stream = stream.unused_data, None
    if stream is not None:
        raise FileError(path, f"the {kind} data ends too early")
