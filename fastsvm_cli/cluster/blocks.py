"""Blocks of shards (the files of rows that INPUT names)."""

import errno
import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from fastsvm_cli import _native
from fastsvm_cli.cluster.scheduler import required_dask
from fastsvm_cli.errors import FastsvmError, FileError
from fastsvm_cli.text.byte_source import MAGIC_BYTES, compression, decompressed

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

#: Maximum parts: more are too many files, and too much for the client's memory.
MOST = 1_000_000
BUFFER_BYTES = 1 << 20  # read at a time
_STORE_BYTES = 4 << 20  # per request to a store
_WIDTH = 5  # digits in part names, at least
#: File information that changes with the content; the first present is used.
CHANGE_MARKS = (
    *("ETag", "etag", "md5Hash", "content_md5", "Content-MD5", "checksum"),
    *("mtime", "LastModified", "last_modified", "Last-Modified", "updated", "modificationTime", "modify"),
)


class ShardChanged(Exception):
    """The shard changed after the run began."""


class Block(NamedTuple):
    """Whole lines of a shard.

    They begin at the first line end at `start` or later (0: the beginning) and last to the first at `end` or later.
    name: path or URL of the shard. state: text that changes with its content. part: name of the output file. number: of
    the block in the shard, from 0. first: whether it is the first block of the input. whole: whether it is a whole
    shard, perhaps compressed.
    """

    name: str
    state: str
    start: int
    end: int
    part: str
    number: int
    first: bool
    whole: bool


class Text:
    """Source of a block's lines. read_into raises the errors of `buffers`."""

    def __init__(self, block: Block):
        self._buffers, self._pending = buffers(block), memoryview(b"")

    def ready(self) -> bool:
        """Return True, although a read may wait for the store."""
        return True

    def read_into(self, target: memoryview) -> int:
        """Copy the next bytes into the buffer, and return their number; 0 at the end."""
        if not self._pending:
            self._pending = memoryview(next(self._buffers, b""))
        got = min(len(target), len(self._pending))
        target[:got] = self._pending[:got]
        self._pending = self._pending[got:]
        return got

    def close(self) -> None:
        """Release the block's memory or file."""
        self._buffers.close()  # type: ignore[attr-defined]  # it is a generator


def buffers(block: Block) -> "Iterator[bytes]":
    """Yield the block's text, decompressed.

    Raises ShardChanged, FileError for an unreadable shard, and the store's errors.
    """
    from fsspec.utils import seek_delimiter

    fs, path = store_of(block.name)
    try:
        _require_unchanged(fs, path, block)
        ahead = {"cache_type": "background", "cache_options": {"maxblocks": 2}}  # a thread reads ahead
        file = fs.open(path, "rb", block_size=_STORE_BYTES, **ahead)
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise FileError(block.name, error) from None
    with file:
        ends = [0, block.end]
        if not block.whole:
            for which, at in enumerate((block.start, block.end)):
                file.seek(at)
                seek_delimiter(file, b"\n", BUFFER_BYTES)
                ends[which] = file.tell()
            file.seek(ends[0])
        raw = _read(file, ends[1] - ends[0])
        start = next(raw, None)
        if start is not None:
            kind = compression(start[:MAGIC_BYTES], block.name) if block.whole else None
            raw = chain([start], raw)
            yield from raw if kind is None else decompressed(raw, kind, block.name)
    _require_unchanged(fs, path, block)


def _read(file: "Any", size: int) -> "Iterator[bytes]":
    while size > 0 and (buffer := file.read(min(size, BUFFER_BYTES))):
        size -= len(buffer)
        yield buffer


def count_lines(block: Block) -> int:
    """Return the number of line ends in a block.

    Raises the errors of `buffers`.
    """
    return sum(map(_native.count_lines, buffers(block)))


def cut(url: str, size: int) -> "list[Block]":
    """Return the blocks of the files that a path, URL or pattern names, sorted.

    A block is `size` bytes of a plain file, or all of a compressed one. Raises FileError, and FastsvmError for too many
    blocks.
    """
    shards = []  # (name, size, state, number of blocks)
    for name in _names(url):
        fs, path = store_of(name)
        with _in_words(name):
            info = fs.info(path)
            if info["type"] == "directory":
                every = os.path.join(url, "*")
                why = f"it is a directory, expected a file or a pattern: '{every}' names all its files"
                raise FileError(url, why)
            if info["type"] != "file":
                why = "it is no regular file: pipes and devices cannot be read in blocks, nor by other machines"
                raise FileError(shown(name), why)
            if info.get("size") is None:
                raise FileError(name, "the store does not tell its size")
            large = info["size"] > size
            plain = large and compression(fs.cat_file(path, start=0, end=MAGIC_BYTES), name) is None
        shards.append((name, info["size"], state_of(info), -(-info["size"] // size) if plain else 1))
    total = sum(count for *_, count in shards)
    if total > MOST:
        raise FastsvmError(f"{total} blocks of {size} bytes, expected at most {MOST}: --block takes more megabytes")
    widths = [max(_WIDTH, len(str(most - 1))) for most in (len(shards), max(count for *_, count in shards))]
    out = []
    for at, (name, whole_size, state, count) in enumerate(shards):
        for number in range(count):
            part = f"part-{at:0{widths[0]}}-{number:0{widths[1]}}"
            ends = (number * size, min((number + 1) * size, whole_size)) if count > 1 else (0, whole_size)
            out.append(Block(name, state, *ends, part, number, at == number == 0, count == 1))
    return out


def start_of(block: Block, size: int) -> bytes:
    """Return the first `size` bytes of a block's shard.

    Raises FileError if it cannot be read.
    """
    fs, path = store_of(block.name)
    with _in_words(block.name):
        return fs.cat_file(path, start=0, end=size)


def _names(url: str) -> "list[str]":
    if is_local(url):
        path = url if "://" not in url else local_path(url)
        if not glob.has_magic(path) or os.path.lexists(path):
            return [local_path(url)]
        found = [os.path.abspath(each) for each in glob.glob(path, recursive=True) if not os.path.isdir(each)]
    else:
        fs, path = store_of(url)
        with _in_words(url):
            fs.invalidate_cache()
            if not glob.has_magic(path):
                return [url]
            each = fs.glob(path, detail=True).values()
            found = [fs.unstrip_protocol(one["name"]) for one in each if one.get("type") != "directory"]
    if not found:
        raise FileError(url, "no file fits the pattern")
    return sorted(set(found), key=os.fsencode)


@contextmanager
def _in_words(name: str) -> "Iterator[None]":
    try:
        yield
    except FastsvmError:
        raise
    except FileNotFoundError:
        raise FileError(shown(name), FileNotFoundError(errno.ENOENT, "No such file or directory")) from None
    except Exception as error:
        raise FileError(shown(name), one_line(error)) from None


def _require_unchanged(fs: "AbstractFileSystem", path: str, block: Block) -> None:
    fs.invalidate_cache()
    if state_of(fs.info(path)) != block.state:
        raise ShardChanged


def state_of(info: "dict[str, Any]") -> str:
    """Return a text that changes with a file: its size, and its etag or modification time.

    info: fsspec's information about the file.
    """
    mark = next((info[key] for key in CHANGE_MARKS if info.get(key) is not None), "")
    return f"{info['size']} {mark}".replace('"', "")


def store_of(url: str) -> "tuple[AbstractFileSystem, str]":
    """Return (file system, path in it). Raises FileError, also for an unknown store."""
    with required_dask():
        import fsspec
    if is_local(url):
        return fsspec.filesystem("file"), local_path(url)
    try:
        return fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise FileError(url, one_line(error)) from None


def is_local(url: str) -> bool:
    """Return whether a path or URL names a file on this machine or a shared disk, not in a store."""
    return "://" not in url or url.startswith(("file://", "local://"))


def local_path(url: str) -> str:
    """Return the absolute path of a ``file:`` or ``local:`` URL, or of a path."""
    return os.path.abspath(re.sub(r"^(file|local)://", "", url))


def absolute(url: str) -> str:
    """Return a path or URL in a form that is valid in every process."""
    return local_path(url) if is_local(url) else url


def shown(name: str) -> str:
    """Return a name for messages: a local file below the working directory is named without the directory's path."""
    return name.removeprefix(os.path.join(os.getcwd(), "")) if is_local(name) else name


def one_line(error: BaseException) -> str:
    """Return an exception's message as one line."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(words.split()) or type(error).__name__
