"""The files that INPUT names, wherever they are stored."""

import os
import re
import stat
from typing import TYPE_CHECKING, Any

from fastsvm_cli.cluster.missing import demanded
from fastsvm_cli.errors import FileError
from fastsvm_cli.text.content import MAGIC_BYTES, compression

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

#: What stores say of a file by which its content is known: the first of these that there is.
_MARKS = (
    *("ETag", "etag", "md5Hash", "content_md5", "Content-MD5", "checksum"),
    *("mtime", "LastModified", "last_modified", "Last-Modified", "updated", "modificationTime", "modify"),
)
_PATTERN = re.compile(r"[*?[]")


class Shard:
    """A file of rows.

    name: as messages say it: the path or URL. size: in bytes. mark: what changes with its content: the store's etag, or
    the time of its last change. plain: it is known not to be compressed; of a shard that is not cut nobody asks."""

    def __init__(self, name: str, size: int, mark: str, plain: bool = False):
        self.name, self.size, self.mark, self.plain = name, size, mark, plain


def store_of(url: str) -> "tuple[AbstractFileSystem, str]":
    """(the file system, the path in it) of a path or URL. Raises FileError, also where fsspec has no such store or
    what it needs is not installed."""
    with demanded():
        import fsspec
    try:
        return fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise FileError(url, one_line(error)) from None


def is_local(url: str) -> bool:
    """Whether it is a path on this machine, or a shared disk's."""
    return "://" not in url or url.startswith(("file://", "local://"))


def local_path(url: str) -> str:
    """Of what is_local, the absolute path."""
    return os.path.abspath(without_scheme(url))


def without_scheme(url: str) -> str:
    """Of what is_local, the path as it was typed."""
    return re.sub(r"^(file|local)://", "", url)


def shown(name: str) -> str:
    """A path or URL in messages: as short as it can be typed here."""
    here = os.path.join(os.getcwd(), "")
    return name.removeprefix(here) if is_local(name) else name


def mark_of(info: "dict[str, Any]") -> str:
    """What a file's content is known by, of what its store says of it; empty where it says nothing."""
    for key in _MARKS:
        if info.get(key) is not None:
            return str(info[key]).strip('"')
    return ""


def local_mark(status: os.stat_result) -> str:
    """The same of a local file."""
    return str(status.st_mtime_ns)


def list_shards(url: str, block: int) -> "list[Shard]":
    """The files that a path, URL or pattern names, in the order of their names. block: of those that are larger it is
    found out whether they are compressed. Raises FileError."""
    if url == "-":
        raise FileError("standard input", "--dask reads files, which every worker can open: name one, or a pattern")
    shards = _local_shards(url) if is_local(url) else _stored_shards(url)
    for shard in shards:
        if shard.size > block:
            shard.plain = compression(start_of(shard.name, MAGIC_BYTES), shard.name) is None
    return shards


def stored_info(fs: "AbstractFileSystem", path: str, name: str) -> "dict[str, Any]":
    """What the store says of a file. Raises FileError."""
    try:
        return fs.info(path)
    except FileNotFoundError:
        raise FileError(name, "No such file or directory") from None
    except PermissionError as error:
        raise FileError(name, one_line(error) or "Permission denied") from None


def _local_shards(url: str) -> "list[Shard]":
    import glob

    path = local_path(url)
    names = [path]
    # Of a relative pattern, the folder that we are in is none.
    pattern = without_scheme(url)
    if _PATTERN.search(pattern) and not os.path.lexists(path):
        pattern = os.path.join(glob.escape(os.getcwd()), pattern)
        found = {os.path.abspath(each) for each in glob.glob(pattern, recursive=True) if not os.path.isdir(each)}
        names = sorted(found, key=os.fsencode)
        if not names:
            raise FileError(url, "no file fits the pattern")
    out = []
    for name in names:
        try:
            status = os.stat(name)
        except OSError as error:
            raise FileError(shown(name), error) from None
        if stat.S_ISDIR(status.st_mode):
            every = os.path.join(url, "*")
            raise FileError(url, f"it is a directory, expected a file or a pattern: '{every}' names all its files")
        if not stat.S_ISREG(status.st_mode):
            why = "it is no regular file: pipes and devices cannot be read in blocks, nor by other machines"
            raise FileError(shown(name), why)
        out.append(Shard(name, status.st_size, local_mark(status)))
    return out


def _stored_shards(url: str) -> "list[Shard]":
    fs, path = store_of(url)
    try:
        fs.invalidate_cache()
        if _PATTERN.search(path):
            found = [each for each in fs.glob(path, detail=True).values() if each.get("type") != "directory"]
            if not found:
                raise FileError(url, "no file fits the pattern")
        else:
            info = stored_info(fs, path, url)
            if info.get("type") == "directory":
                why = f"it is a directory, expected a file or a pattern: '{url.rstrip('/')}/*' names all its files"
                raise FileError(url, why)
            found = [info]
    except FileError:
        raise
    except Exception as error:  # stores raise what their libraries do
        raise FileError(url, one_line(error)) from None
    out = []
    for info in sorted(found, key=lambda each: each["name"].encode("utf-8", "surrogateescape")):
        name = fs.unstrip_protocol(info["name"])
        if info.get("size") is None:
            raise FileError(name, "the store does not tell its size")
        out.append(Shard(name, int(info["size"]), mark_of(info)))
    return out


def start_of(name: str, size: int) -> bytes:
    """The first bytes of a shard. Raises FileError."""
    try:
        if is_local(name):
            with open(name, "rb") as file:
                return file.read(size)
        fs, path = store_of(name)
        return fs.cat_file(path, start=0, end=size)
    except Exception as error:
        raise FileError(name, one_line(error)) from None


def one_line(error: BaseException) -> str:
    """What an exception says, as part of a message."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(words.split()) or type(error).__name__
