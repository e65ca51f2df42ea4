"""Content of files: read, plain or compressed, and written, whole or not at all."""

import os
import select
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from fastsvm_cli import _native, system
from fastsvm_cli._native import MAGIC_BYTES, may_be_compressed, widen_pipe
from fastsvm_cli.errors import FileError

if TYPE_CHECKING:
    import queue

_Read = TypeVar("_Read")

_READ_HERE = ("gzip", "bzip2", "xz", "zstd")
_BUFFER_BYTES = 1 << 18  # decompressed at a time
_PATIENCE = 1000  # milliseconds


class Content:
    """Bytes of a file or "-". Another thread decompresses gzip, bzip2, xz and, if Python can, zstd.

    start: bytes of content to skip. begun: (open descriptor, first bytes), read by the core.
    """

    def __init__(
        self,
        path: str,
        start: int = 0,
        on_read: "Callable[[int], None] | None" = None,
        begun: "tuple[int, bytes] | None" = None,
    ):
        self.path, self.on_read = path, on_read
        self._taken = 0
        self._pending = b""  # not yet returned
        self._buffers: Iterator[bytes] | None = None  # decompressed by a thread or on demand
        self._queue: queue.Queue[bytes | Exception] | None = None
        self._closed = False
        self._file = -1
        try:
            if begun is not None:
                self._file, self._pending = begun
            else:
                self._file = 0 if path == "-" else os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            widen_pipe(self._file, 1 << 20)
            self._poll = select.poll()
            self._poll.register(self._file, select.POLLIN)
            self._pending = self._pending or self._read(MAGIC_BYTES)
            # Text begins with a digit or a sign; wait only after bytes of a magic number.
            while len(self._pending) < MAGIC_BYTES and may_be_compressed(self._pending):
                more = self._read(MAGIC_BYTES - len(self._pending))
                if not more:
                    break
                self._pending += more
            kind = compression(self._pending, path)
            if kind is None:
                if start:
                    self._taken = os.lseek(self._file, start, os.SEEK_SET)
                    self._pending = b""
            else:
                self._decompress(kind, start)
        except OSError as error:
            self.close()
            raise FileError(path, error) from None

    def __enter__(self) -> "Content":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and end the thread that reads it."""
        self._closed = True
        if self._queue is not None:
            # Unblock the thread, which sees `_closed` and closes the file.
            while not self._queue.empty():
                self._queue.get_nowait()
        elif self._file > 0:
            os.close(self._file)
            self._file = -1

    def ready(self) -> bool:
        """Return whether a read would not wait."""
        if self._pending:
            return True
        if self._queue is not None:
            return not self._queue.empty()
        return self._buffers is None and bool(self._poll.poll(0))

    @property
    def size(self) -> int:
        """Bytes of a plain file; 0 if compressed or unknown."""
        return os.fstat(self._file).st_size if self._buffers is None else 0

    def read(self, size: int) -> bytes:
        """Return between 1 and `size` bytes; none at the end."""
        if self._buffers is not None:
            self._pending = self._pending or next(self._buffers, b"")
        elif not self._pending or self._seek_back():
            return self._read(size)
        data, self._pending = self._pending[:size], self._pending[size:]
        return data

    def unread(self, data: bytes) -> None:
        """Give bytes back, to be read again."""
        self._pending = data + self._pending

    def _seek_back(self) -> bool:
        try:
            os.lseek(self._file, -len(self._pending), os.SEEK_CUR)
        except OSError:
            return False
        self._taken -= len(self._pending)
        self._pending = b""
        return True

    def read_into(self, into: memoryview) -> int:
        """Fill `into` with at least one byte; return their number, 0 at the end."""
        if not self._pending:
            if self._buffers is None:
                got = self._waited(lambda: os.readv(self._file, [into]))
                self._count(got)
                return got
            self._pending = next(self._buffers, b"")
        got = min(len(into), len(self._pending))
        into[:got] = self._pending[:got]
        self._pending = self._pending[got:]
        return got

    def _read(self, size: int) -> bytes:
        data = self._waited(lambda: os.read(self._file, size))
        self._count(len(data))
        return data

    def _waited(self, read: "Callable[[], _Read]") -> "_Read":
        while True:
            # Python handles a signal that precedes a blocking call only after it: limit the wait.
            while os.get_blocking(self._file) and not self._poll.poll(_PATIENCE):
                pass
            try:
                return read()
            except BlockingIOError:  # a pipe that another program made non-blocking
                self._poll.poll(_PATIENCE)
            except OSError as error:
                raise FileError(self.path, error) from None

    def _count(self, got: int) -> None:
        self._taken += got
        if self.on_read is not None:
            self.on_read(self._taken)

    def _decompress(self, kind: str, start: int) -> None:
        buffers = _behind(decompressed(self._compressed(self._pending), kind, self.path), start, self.path)
        self._pending = b""
        import queue
        import threading

        waiting: queue.Queue[bytes | Exception] = queue.Queue(maxsize=16)

        def work() -> None:
            try:
                for buffer in buffers:
                    if self._closed:
                        return
                    waiting.put(buffer)
                waiting.put(b"")
            except Exception as error:  # raised in the reader
                waiting.put(error)
            finally:
                if self._file > 0:
                    os.close(self._file)

        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError:  # no thread: decompress on demand
            self._buffers = buffers
            return
        self._queue, self._buffers = waiting, _handed_over(waiting)

    def _compressed(self, start: bytes) -> "Iterator[bytes]":
        yield start
        while data := self._read(1 << 18):
            yield data


def compression(start: bytes, path: str) -> "str | None":
    """Return a compressed file's format by its first MAGIC_BYTES, or None."""
    found = _native.compression(start)
    if found is None:
        return None
    name, tool = found
    if name not in _READ_HERE:
        words = f"{name} data found, expected text, or gzip, bzip2, xz or zstd"
        raise FileError(path, words + _on_the_way(tool, path))
    return name


def _handed_over(waiting: "queue.Queue[bytes | Exception]") -> "Iterator[bytes]":
    while True:
        buffer = waiting.get()
        if isinstance(buffer, Exception):
            raise buffer
        if not buffer:
            return
        yield buffer


def _behind(buffers: "Iterator[bytes]", start: int, path: str) -> "Iterator[bytes]":
    for buffer in buffers:
        if start < len(buffer):
            yield buffer[start:] if start else buffer
        start = max(start - len(buffer), 0)
    if start:
        raise FileError(path, f"the content ends {start} bytes before the position to continue from")


def _on_the_way(tool: str, path: str) -> str:
    from shlex import quote

    return f"; type: {tool}{'' if path == '-' else ' ' + quote(path)} | fastsvm ... -"


def _decompressor(kind: str, path: str):
    if kind == "gzip":
        import zlib

        return (lambda: zlib.decompressobj(wbits=31)), (zlib.error,)
    if kind == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, (OSError, ValueError)
    if kind == "xz":
        import lzma

        return (lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)), (lzma.LZMAError,)
    try:
        try:
            from compression import zstd  # since Python 3.14
        except ImportError:
            from backports import zstd
    except ImportError:
        words = "zstd data found, which this Python cannot read (3.14 can, or pip install backports.zstd)"
        raise FileError(path, words + _on_the_way("zstdcat", path)) from None
    return zstd.ZstdDecompressor, (zstd.ZstdError,)


def decompressed(blocks: "Iterator[bytes]", kind: str, path: str) -> "Iterator[bytes]":
    """Yield the content of concatenated streams."""
    new, errors = _decompressor(kind, path)
    stream = None
    for block in blocks:
        while block or not getattr(stream, "needs_input", True):
            if stream is None:
                if kind in ("gzip", "xz"):
                    block = block.lstrip(b"\0")  # padding
                    if not block:
                        break
                stream = new()
            try:
                buffer = stream.decompress(block, _BUFFER_BYTES)
            except errors:
                raise FileError(path, f"the {kind} data is damaged") from None
            if buffer:
                yield buffer
            if stream.eof:
                block, stream = stream.unused_data, None
            else:
                block = getattr(stream, "unconsumed_tail", b"")  # other streams than zlib's keep the rest
    if stream is not None:
        raise FileError(path, f"the {kind} data ends too early")


class Output:
    """A file to write (native/files/output.h).

    A regular file is renamed from a temporary name at the end of the `with` block: a failed run keeps the previous
    file. Others are written directly. A closed pipe raises BrokenPipeError.
    """

    def __init__(self, path: str):
        self.path = path
        self._file = _native.OutputFile()
        self._undo = self._file.abandon
        system.add_undo(self._undo)
        try:
            self._file.open(path)
        except BaseException:
            self._close()
            raise

    def write(self, data: "bytes | bytearray | memoryview") -> None:
        """Write bytes."""
        self._file.write(data)

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        try:
            if kind is None:
                self._file.finish()
        finally:
            self._close()

    def _close(self) -> None:
        self._file.close()
        system.remove_undo(self._undo)


def write_output(path: str, data: bytes) -> None:
    """Write a file, whole or not at all."""
    with Output(path) as output:
        output.write(data)


def check_output(path: str, inputs: "Iterable[str | None]") -> None:
    """Raise FileError if `path` cannot be written or, unless a device, is an input under any name."""
    _native.check_output(path, [each for each in inputs if each is not None])


def check_apart(paths: "Iterable[str]") -> None:
    """Raise FileError if two outputs are one file or pipe under any name. Devices may repeat."""
    _native.check_apart(list(paths))


def is_standard_output(path: "str | None") -> bool:
    """Return whether a path means standard output."""
    return path is None or _native.standard_descriptor(path) == 1
