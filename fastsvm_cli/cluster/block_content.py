"""The text of a block, read from wherever its shard is, a piece at a time."""

import os
from collections.abc import Callable, Generator, Iterator
from typing import BinaryIO

from fastsvm_cli.cluster.blocks import Block
from fastsvm_cli.cluster.shards import is_local, local_mark, mark_of, one_line, store_of
from fastsvm_cli.errors import FileError
from fastsvm_cli.text.content import MAGIC_BYTES, Source, compression, decompressed

_PIECE_BYTES = 1 << 20  # read of a shard at a time
_AHEAD = 4  # pieces that wait while rows are scored
_STORE_BYTES = 4 << 20  # asked of a store at a time


class ShardChanged(Exception):
    """The shard is not what it was when the run began."""


class BlockContent(Source):
    """The lines of a block. A thread reads ahead, and decompresses, beside whatever is done with them, unless there is
    little to read.

    size, mark: those of the block's shard are compared with what is found when it is opened and, of a local one, at the
    end. on_read: called with the bytes of the shard taken so far. Raises, from `read_into`, ShardChanged, FileError for
    a damaged shard and whatever the store raises; that may pass."""

    def __init__(self, block: Block, on_read: "Callable[[int], None] | None" = None):
        import queue
        import threading

        self._pending: bytes | memoryview = b""
        self._closed = False
        self._waiting: queue.Queue[bytes | Exception] = queue.Queue(maxsize=_AHEAD)
        self._pieces = _pieces(block, on_read)
        self._at_end = False
        self._ahead = block.size > _PIECE_BYTES
        if self._ahead:
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        try:
            for piece in self._pieces:
                if self._closed:
                    return
                self._waiting.put(piece)
            self._waiting.put(b"")
        except Exception as error:  # raised in the reader
            self._waiting.put(error)
        finally:
            self._pieces.close()

    def ready(self) -> bool:
        return bool(self._pending) or not (self._ahead and self._waiting.empty())

    def read_into(self, room: memoryview) -> int:
        if not self._pending:
            if self._at_end:
                return 0
            piece = self._waiting.get() if self._ahead else next(self._pieces, b"")
            if isinstance(piece, Exception):
                self._at_end = True
                raise piece
            self._at_end = not piece
            self._pending = memoryview(piece)
        got = min(len(room), len(self._pending))
        room[:got] = self._pending[:got]
        self._pending = self._pending[got:]
        return got

    def close(self) -> None:
        self._closed = True
        if not self._ahead:
            self._pieces.close()
        while not self._waiting.empty():  # a thread that waits for room goes on, and sees that we are closed
            self._waiting.get_nowait()


def count_lines(block: Block) -> int:
    """How many line ends there are in a block of a plain shard. Raises what BlockContent does."""
    from fastsvm_cli import _native

    return sum(map(_native.count_lines, _lines_between(block, block.start, block.end)))


def _pieces(block: Block, on_read: "Callable[[int], None] | None") -> "Generator[bytes, None, None]":
    """The block's text. A shard that is not cut may be compressed."""
    if block.plain:
        yield from _lines_between(block, block.start, block.end, on_read)
        return
    with _Shard(block, on_read) as shard:
        start = b""
        while len(start) < MAGIC_BYTES and (more := shard.read(MAGIC_BYTES - len(start))):
            start += more
        kind = compression(start, block.shard.name)
        raw = shard.pieces(start)
        yield from raw if kind is None else decompressed(raw, kind, block.shard.name)


def _lines_between(
    block: Block, start: int, end: int, on_read: "Callable[[int], None] | None" = None
) -> "Iterator[bytes]":
    """The lines whose first byte lies in [start, end): from behind the first line end at start - 1 or later, up to the
    first one at end - 1 or later."""
    size = block.shard.size
    if start >= end:
        return
    with _Shard(block, on_read) as shard:
        at = max(start - 1, 0)
        shard.seek(at)
        before = start > 0  # we are in a line that begins before the block
        for piece in shard.pieces():
            first = 0
            if before:
                first = piece.find(b"\n") + 1
                # The line end that lets a line begin in the block is at end - 2 at the latest.
                if not first or at + first >= end:
                    at += len(piece)
                    if at >= end - 1 or first:
                        return
                    continue
                before = False
            last = len(piece)
            if end < size and at + last >= end:
                found = piece.find(b"\n", max(end - 1 - at, first))
                if found >= 0:
                    yield piece[first : found + 1]
                    return
            if first < last:
                yield piece[first:] if first else piece
            at += last


class _Shard:
    """An open shard; a context manager."""

    def __init__(self, block: Block, on_read: "Callable[[int], None] | None"):
        self._block, self._on_read = block, on_read
        self._taken = 0
        self._local = is_local(block.shard.name)
        self._file: BinaryIO

    def __enter__(self) -> "_Shard":
        shard = self._block.shard
        if self._local:
            try:
                self._file = open(shard.name, "rb", buffering=0)
            except OSError as error:
                raise FileError(shard.name, error) from None
            try:
                self._compare()
            except BaseException:
                self._file.close()
                raise
            return self
        fs, path = store_of(shard.name)
        try:
            self._file = fs.open(path, "rb", block_size=_STORE_BYTES)
        except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
            raise FileError(shard.name, one_line(error)) from None
        details = getattr(self._file, "details", None)
        if not isinstance(details, dict):
            fs.invalidate_cache()
            details = fs.info(path)
        if details.get("size") != shard.size or mark_of(details) != shard.mark:
            self._file.close()
            raise ShardChanged
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        try:
            if kind is None and self._local:
                self._compare()
        finally:
            self._file.close()

    def _compare(self) -> None:
        shard, status = self._block.shard, os.fstat(self._file.fileno())
        if status.st_size != shard.size or local_mark(status) != shard.mark:
            raise ShardChanged

    def seek(self, at: int) -> None:
        self._file.seek(at)

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._taken += len(data)
        if self._on_read is not None:
            self._on_read(self._taken)
        return data

    def pieces(self, first: bytes = b"") -> "Iterator[bytes]":
        """What there is from here on."""
        if first:
            yield first
        while data := self.read(_PIECE_BYTES):
            yield data
