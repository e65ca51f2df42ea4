"""The output folder OUT_DIR: parts, their manifest entries and the manifest. FORMAT.md specifies the last two."""

import json
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from zlib import crc32

from fastsvm_cli.cluster.blocks import BUFFER_BYTES, is_local, one_line, shown, store_of
from fastsvm_cli.errors import FileError

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
