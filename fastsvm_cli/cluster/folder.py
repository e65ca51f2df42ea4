"""OUT_DIR: a folder whose files appear whole or not at all, on a disk or in an object store."""

import errno
import os
import re
from typing import TYPE_CHECKING, Any, BinaryIO
from zlib import crc32

from fastsvm_cli.cluster.blocks import PART
from fastsvm_cli.cluster.shards import is_local, local_mark, local_path, mark_of, one_line, shown, store_of
from fastsvm_cli.errors import FileError
from fastsvm_cli.text.durable import sync, sync_folder_of

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

#: Names of files that are being written: `.NAME.fastsvm-WORDS.tmp`. What a killed process left is removed by these.
_TEMPORARY = re.compile(r"\..*\.fastsvm-[\w.-]+\.tmp")
#: What file systems that have no hard links say of one.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
#: Stores whose own upload is atomic, by fsspec's name; others get a temporary name, and a move.
_ATOMIC = {"s3", "s3a", "gs", "gcs", "oss", "oci", "cos", "r2"}
_PIECE_BYTES = 4 << 20  # read at a time
#: Bytes that are uploaded at a time, which a worker holds of a part; object stores take no less than 5 MB.
_UPLOAD_BYTES = 8 << 20


class FileState:
    """A file as a listing shows it. size: in bytes. mark: what changes when it is written again: the store's etag, or
    the time of its last change."""

    def __init__(self, size: int, mark: str):
        self.size, self.mark = size, mark

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileState) and (self.size, self.mark) == (other.size, other.mark)


class NewFile:
    """A file that is being written; `finish` gives it its name, `abandon` leaves nothing behind."""

    def write(self, data: bytes) -> None:
        """Raises OSError and whatever the store raises."""
        raise NotImplementedError

    def finish(self, durably: bool = True) -> FileState:
        """The file under its name, all of it. durably: and on the disk, when this returns."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Nothing is there, or what was before. Raises nothing."""
        raise NotImplementedError


class Folder:
    """See `folder`. url: as it was named. lasting: what has been written stays, without being asked to."""

    url: str
    lasting = False

    def make(self) -> None:
        """Make the folder, if there is none. Raises FileError."""
        raise NotImplementedError

    def list(self) -> "dict[str, FileState]":
        """{name: state} of its files, without those in folders below. Raises FileError."""
        raise NotImplementedError

    def read(self, name: str) -> "bytes | None":
        """The content of a file, or None if there is none."""
        raise NotImplementedError

    def checksum(self, name: str) -> "int | None":
        """The CRC-32 of a file, which need not fit into memory, or None if there is none."""
        try:
            with self._open(name) as file:
                found = 0
                while piece := file.read(_PIECE_BYTES):
                    found = crc32(piece, found)
                return found
        except FileNotFoundError:
            return None

    def _open(self, name: str) -> "BinaryIO":
        raise NotImplementedError

    def new(self, name: str, words: str) -> NewFile:
        """A file to write. words: part of its temporary name, other ones for every writer."""
        raise NotImplementedError

    def create(self, name: str, data: bytes) -> bool:
        """Write a file that was not there; False, and nothing written, if it was."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        """A file that is not there is removed already."""
        raise NotImplementedError

    def put(self, name: str, data: bytes, words: str) -> FileState:
        """Write a file, or replace it as a whole."""
        new = self.new(name, words)
        try:
            new.write(data)
            return new.finish()
        except BaseException:
            new.abandon()
            raise

    def remove_temporary(self) -> None:
        """What killed writers left. Nobody may be writing parts."""
        for name in self.list():
            if _TEMPORARY.fullmatch(name):
                self.remove(name)

    def fault(self, error: BaseException) -> FileError:
        """What an exception of these methods means to the user."""
        return error if isinstance(error, FileError) else FileError(shown(self.url), one_line(error))


def folder(url: str) -> Folder:
    """The folder that a path or URL names; it need not exist. Raises FileError."""
    return _LocalFolder(url) if is_local(url) else _StoredFolder(url)


def _temporary(name: str, words: str) -> str:
    return f".{name}.fastsvm-{words}.tmp"


class _LocalFolder(Folder):
    def __init__(self, url: str):
        self.url, self.path = url, local_path(url)

    def make(self) -> None:
        try:
            os.makedirs(self.path, exist_ok=True)
        except FileExistsError:
            raise FileError(shown(self.url), "it is a file, expected a directory for the parts") from None
        except OSError as error:
            raise FileError(shown(self.url), error) from None

    def list(self) -> "dict[str, FileState]":
        out = {}
        try:
            with os.scandir(self.path) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        try:
                            status = entry.stat()
                        except FileNotFoundError:  # removed meanwhile
                            continue
                        out[entry.name] = FileState(status.st_size, local_mark(status))
        except OSError as error:
            raise FileError(shown(self.url), error) from None
        return out

    def read(self, name: str) -> "bytes | None":
        try:
            with self._open(name) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def _open(self, name: str) -> "BinaryIO":
        return open(os.path.join(self.path, name), "rb")

    def new(self, name: str, words: str) -> NewFile:
        return _LocalFile(self.path, name, words)

    def create(self, name: str, data: bytes) -> bool:
        # A link, and no O_EXCL, so that nobody sees the file without its content.
        own = os.path.join(self.path, _temporary(name, f"{os.getpid()}-{os.urandom(4).hex()}"))
        with open(own, "xb") as file:
            file.write(data)
        target = os.path.join(self.path, name)
        try:
            os.link(own, target)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            try:
                with open(target, "xb") as file:
                    file.write(data)
            except FileExistsError:
                return False
        finally:
            os.unlink(own)
        return True

    def remove(self, name: str) -> None:
        try:
            os.unlink(os.path.join(self.path, name))
        except FileNotFoundError:
            pass


class _LocalFile(NewFile):
    def __init__(self, path: str, name: str, words: str):
        self._target = os.path.join(path, name)
        self._temporary = os.path.join(path, _temporary(name, words))
        self._file = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._file, left) :]

    def finish(self, durably: bool = True) -> FileState:
        if durably:
            sync(self._file)
        status = os.fstat(self._file)
        file, self._file = self._file, -1
        os.close(file)
        os.replace(self._temporary, self._target)
        try:
            if durably:
                sync_folder_of(self._target)
        except OSError:  # not every file system knows how
            pass
        return FileState(status.st_size, local_mark(status))

    def abandon(self) -> None:
        if self._file >= 0:
            try:
                os.close(self._file)
            except OSError:
                pass
            self._file = -1
        try:
            os.unlink(self._temporary)
        except OSError:
            pass


class _StoredFolder(Folder):
    lasting = True

    def __init__(self, url: str):
        self.url = url
        self.fs, self.path = store_of(url)
        self.path = self.path.rstrip("/")
        protocol = self.fs.protocol
        self.atomic = bool(_ATOMIC & {protocol, *(protocol if isinstance(protocol, tuple) else ())})

    def make(self) -> None:
        try:
            self.fs.invalidate_cache()
            if self.fs.isfile(self.path):
                raise FileError(shown(self.url), "it is a file, expected a directory for the parts")
            if not self.atomic:  # object stores have no folders
                self.fs.makedirs(self.path, exist_ok=True)
        except FileError:
            raise
        except Exception as error:
            raise self.fault(error) from None

    def list(self) -> "dict[str, FileState]":
        try:
            self.fs.invalidate_cache()
            found = self.fs.ls(self.path, detail=True)
        except FileNotFoundError:
            return {}
        except Exception as error:
            raise self.fault(error) from None
        return {
            each["name"].rpartition("/")[2]: _state(each)
            for each in found
            if each.get("type") != "directory" and each["name"].rstrip("/") != self.path.rstrip("/")
        }

    def read(self, name: str) -> "bytes | None":
        try:
            return self.fs.cat_file(f"{self.path}/{name}")
        except FileNotFoundError:
            return None

    def _open(self, name: str) -> "BinaryIO":
        return self.fs.open(f"{self.path}/{name}", "rb", block_size=_PIECE_BYTES)

    def new(self, name: str, words: str) -> NewFile:
        return _StoredFile(self.fs, self.path, name, words, self.atomic)

    def create(self, name: str, data: bytes) -> bool:
        path = f"{self.path}/{name}"
        self.fs.invalidate_cache()
        if self.fs.exists(path):
            return False
        try:
            self.fs.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except (TypeError, NotImplementedError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENOSYS:
                raise
            self.fs.pipe_file(path, data)  # a store that knows no such mode: who lost a race sees it later
        return True

    def remove(self, name: str) -> None:
        try:
            self.fs.rm_file(f"{self.path}/{name}")
        except FileNotFoundError:
            pass

    def remove_temporary(self) -> None:
        super().remove_temporary()
        try:
            self._abort_uploads()
        except Exception:  # a store that has no such thing, or does not let us; unfinished uploads are no files
            pass

    def _abort_uploads(self) -> None:
        """What is in S3 of parts whose worker was killed while it sent them: in no listing, but charged for."""
        ask = getattr(self.fs, "call_s3", None)
        if ask is None:
            return
        bucket, _, key = self.path.partition("/")
        prefix, place = f"{key}/" if key else "", {"Bucket": bucket}
        more = {"Prefix": prefix}
        while True:
            found = ask("list_multipart_uploads", **place, **more)
            for each in found.get("Uploads", ()):
                if PART.fullmatch(each["Key"].removeprefix(prefix)):
                    ask("abort_multipart_upload", **place, Key=each["Key"], UploadId=each["UploadId"])
            if not found.get("IsTruncated"):
                return
            more.update(KeyMarker=found["NextKeyMarker"], UploadIdMarker=found["NextUploadIdMarker"])


class _StoredFile(NewFile):
    def __init__(self, fs: "AbstractFileSystem", path: str, name: str, words: str, atomic: bool):
        self._fs, self._atomic = fs, atomic
        self._target = f"{path}/{name}"
        self._path = self._target if atomic else f"{path}/{_temporary(name, words)}"
        own: dict[str, Any] = {"autocommit": False} if atomic else {}
        self._file = fs.open(self._path, "wb", block_size=_UPLOAD_BYTES, **own)

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def finish(self, durably: bool = True) -> FileState:
        self._file.close()
        if self._atomic:
            self._file.commit()
        else:
            if self._fs.exists(self._target):  # not every store moves onto a file
                self._fs.rm_file(self._target)
            self._fs.mv(self._path, self._target)
        self._fs.invalidate_cache()
        return _state(self._fs.info(self._target))

    def abandon(self) -> None:
        try:
            if self._atomic:
                self._file.discard()
                self._file.closed = True  # or its destructor would write what is left
            else:
                self._file.close()
                self._fs.rm_file(self._path)
        except Exception:  # it is the fault before this one that is told
            pass


def _state(info: "dict[str, Any]") -> FileState:
    return FileState(int(info.get("size") or 0), mark_of(info))
