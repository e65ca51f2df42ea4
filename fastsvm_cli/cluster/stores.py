"""Files in stores: blocks of shards (the files of rows that INPUT names), and the folder OUT_DIR of their parts.

FORMAT.md specifies the manifest and its entries.
"""

import errno
import glob
import json
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from fastsvm_cli import _native
from fastsvm_cli.cluster.scheduler import required_dask
from fastsvm_cli.errors import FastsvmError, FileError
from fastsvm_cli.text.files import MAGIC_BYTES, compression, decompressed

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

MANIFEST = "manifest.json"
VERSION = 2
#: Unfinished files that killed processes leave in stores without atomic uploads.
_TEMPORARY = re.compile(r"\.(part|manifest)\b.*\.tmp")
#: Stores with atomic uploads, by fsspec's name.
_ATOMIC = {"s3", "s3a", "gs", "gcs", "oss", "oci", "cos", "r2"}
#: Keys of manifest entries, repeated in the manifest.
_REPORTED = ("shard", "start", "end", "size", "crc32")
#: Bytes per upload request, held per part; object stores require 5 MB.
_UPLOAD_BYTES = 8 << 20


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


def entry_name(part: str) -> str:
    """Return the name of a part's manifest entry."""
    return f"receipt{part.removeprefix('part')}.json"


class Folder:
    """Folder whose files appear complete or not at all.

    Raises FileError; methods other than `make` also raise the store's errors.
    """

    def __init__(self, url: str):
        self.url = url
        self.fs, path = store_of(url)
        self.path = path.rstrip("/")
        protocol = self.fs.protocol
        self._atomic = bool(_ATOMIC & {protocol, *(protocol if isinstance(protocol, tuple) else ())})

    def make(self) -> None:
        """Make the folder if it does not exist.

        Raises FileError if a file has its name.
        """
        try:
            self.fs.invalidate_cache()
            if self.fs.isfile(self.path):
                raise FileExistsError
            if not self._atomic:  # object stores have no folders
                self.fs.makedirs(self.path, exist_ok=True)
        except FileExistsError:
            raise FileError(shown(self.url), "it is a file, expected a directory for the parts") from None
        except Exception as error:
            raise FileError(shown(self.url), one_line(error)) from None

    def files(self) -> "dict[str, int]":
        """Return the size in bytes of every file by its name; nothing if there is no such folder."""
        self.fs.invalidate_cache()
        try:
            found = self.fs.ls(self.path, detail=True)
        except FileNotFoundError:
            return {}
        return {each["name"].rpartition("/")[2]: each["size"] for each in found if each["type"] != "directory"}

    def documents(self, names: "Iterable[str]") -> "list[dict[str, Any]]":
        """Return the JSON objects that files of the folder hold; {} for a missing or damaged file."""
        out: list[dict[str, Any]] = []
        for text in self.fs.cat_ranges([f"{self.path}/{name}" for name in names], None, None, on_error="return"):
            if isinstance(text, Exception) and not isinstance(text, FileNotFoundError):
                raise text
            try:
                found = json.loads(text)
            except (TypeError, ValueError):  # TypeError: the file is missing
                found = None
            out.append(found if isinstance(found, dict) else {})
        return out

    def checksum(self, part: str) -> "tuple[int, str] | None":
        """Return a part's size in bytes and its CRC-32 in hexadecimal digits, or None if it does not exist."""
        size = sum_ = 0
        try:
            with self.fs.open(f"{self.path}/{part}", "rb") as file:
                while buffer := file.read(BUFFER_BYTES):
                    size, sum_ = size + len(buffer), crc32(buffer, sum_)
        except FileNotFoundError:
            return None
        return size, f"{sum_:08x}"

    @contextmanager
    def create(self, name: str) -> "Iterator[Callable[[bytes], object]]":
        """Yield a function that writes a file, which appears when the with statement ends without an error."""
        path = f"{self.path}/{name}"
        if self._atomic:
            file = self.fs.open(path, "wb", block_size=_UPLOAD_BYTES, autocommit=False)
            try:
                yield file.write
                file.close()
                file.commit()
            except BaseException:
                with suppress(Exception):  # keep the first exception
                    file.discard()
                file.closed = True  # or its destructor writes the rest
                raise
            return
        words = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        temporary = f"{self.path}/.{name}.{words}.tmp"
        try:
            with self.fs.open(temporary, "wb", block_size=_UPLOAD_BYTES) as file:
                yield file.write
            if not is_local(self.url) and self.fs.exists(path):  # not every store overwrites on move
                self.fs.rm_file(path)
            self.fs.mv(temporary, path)
        except BaseException:
            with suppress(Exception):
                self.fs.rm_file(temporary)
            raise

    def put(self, name: str, document: "dict[str, Any]") -> None:
        """Write a manifest entry. One truncated by a power failure reads as {}."""
        self.fs.pipe_file(f"{self.path}/{name}", json.dumps(document).encode() + b"\n")

    def _put_manifest(self, document: "dict[str, Any]") -> None:
        with self.create(MANIFEST) as write:
            write(json.dumps({"fastsvm_parts": VERSION, **document}, indent=1).encode() + b"\n")

    def remove(self, *names: str) -> None:
        """Remove files of the folder; missing ones are no error."""
        for name in names:
            with suppress(FileNotFoundError):
                self.fs.rm_file(f"{self.path}/{name}")

    # ---- a run

    def refuse_foreign(self) -> None:
        """Raise FileError for a foreign manifest, or parts without manifest entries: `cat part*` would include them."""
        files = self.files()
        foreign = [name for name in files if name.startswith("part") and entry_name(name) not in files]
        if foreign:
            why = f"it holds {min(foreign)}, which has no receipt-*.json; remove such files, or name another directory"
            raise FileError(shown(self.url), why)
        if MANIFEST in files and "fastsvm_parts" not in self.documents([MANIFEST])[0]:
            why = f"its {MANIFEST} is not what fastsvm wrote there; remove it, or name another directory"
            raise FileError(shown(self.url), why)

    def claim(self, run: str, digests: "dict[str, str]") -> int:
        """Mark the folder as this run's and incomplete; remove other jobs' parts and return their number.

        digests: the job's checksum by part.
        """
        self._put_manifest({"complete": False, "run": run})
        files = self._tidied()
        parts = [name for name in files if name.startswith("part")]
        manifest_entries = self.documents([entry_name(name) for name in parts])
        stale = [name for name, each in zip(parts, manifest_entries) if each.get("job") != digests.get(name, "none")]
        self.remove(*stale)  # keep manifest entries until replaced: a part without one is foreign
        left = {entry_name(name) for name in digests if name not in stale}
        self.remove(*(name for name in files if name.startswith("receipt-") and name not in left))
        return len(stale)

    def _tidied(self) -> "dict[str, int]":
        """Remove the temporary files of killed processes, and return the files found before, as `files` does."""
        files = self.files()
        self.remove(*filter(_TEMPORARY.fullmatch, files))
        return files

    def is_claimed(self, run: str) -> "bool | None":
        """Return whether the folder belongs to that run; None if it belongs to none."""
        found = self.documents([MANIFEST])[0].get("run")
        return None if found is None else found == run

    def finish(self, run: str, manifest_entries: "dict[str, dict[str, Any]]", summary: "dict[str, Any]") -> None:
        """Write the manifest. Raises FileError unless the folder is this run's and holds exactly these parts."""
        parts = {name: size for name, size in self._tidied().items() if name.startswith("part")}
        if parts != {name: each["size"] for name, each in manifest_entries.items()} or not self.is_claimed(run):
            raise FileError(shown(self.url), "another fastsvm has taken it over, or its files were changed")
        if is_local(self.url):
            os.sync()  # parts must be on disk before the manifest
        described = {name: {key: each[key] for key in _REPORTED} for name, each in sorted(manifest_entries.items())}
        self._put_manifest({"complete": True, "run": run, "summary": summary, "parts": described})
