"""OUT_DIR: parts, a receipt for each, and the manifest. FORMAT.md has the last two."""

import json
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from zlib import crc32

from fastsvm_cli.cluster.blocks import PIECE_BYTES, is_local, one_line, shown, store_of
from fastsvm_cli.errors import FileError

MANIFEST = "manifest.json"
VERSION = 2
#: Files that are being written, where a store's own upload is not atomic. A killed process leaves them.
_TEMPORARY = re.compile(r"\.(part|manifest)\b.*\.tmp")
#: Stores whose own upload is atomic, by fsspec's name.
_ATOMIC = {"s3", "s3a", "gs", "gcs", "oss", "oci", "cos", "r2"}
#: What the manifest tells of a part; its receipt has more.
_TOLD = ("shard", "start", "end", "size", "crc32")
#: Bytes that are uploaded at a time, which a worker holds of a part; object stores take no less than 5 MB.
_UPLOAD_BYTES = 8 << 20


def receipt_name(part: str) -> str:
    """The name of a part's receipt."""
    return f"receipt{part.removeprefix('part')}.json"


class Folder:
    """A folder whose files appear whole or not at all. url: a path or URL; the folder need not exist. Raises FileError;
    other methods than `make` also what the store raises."""

    def __init__(self, url: str):
        self.url = url
        self.fs, path = store_of(url)
        self.path = path.rstrip("/")
        protocol = self.fs.protocol
        self._atomic = bool(_ATOMIC & {protocol, *(protocol if isinstance(protocol, tuple) else ())})

    def make(self) -> None:
        """Make the folder, if there is none."""
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
        """{name: bytes} of its files."""
        self.fs.invalidate_cache()
        try:
            found = self.fs.ls(self.path, detail=True)
        except FileNotFoundError:
            return {}
        return {each["name"].rpartition("/")[2]: each["size"] for each in found if each["type"] != "directory"}

    def documents(self, names: "Iterable[str]") -> "list[dict[str, Any]]":
        """The contents of JSON files; {} for a file that is missing or damaged."""
        out: list[dict[str, Any]] = []
        for text in self.fs.cat_ranges([f"{self.path}/{name}" for name in names], None, None, on_error="return"):
            if isinstance(text, Exception) and not isinstance(text, FileNotFoundError):
                raise text
            try:
                found = json.loads(text)
            except (TypeError, ValueError):  # the first: it is not there
                found = None
            out.append(found if isinstance(found, dict) else {})
        return out

    def checksum(self, part: str) -> "tuple[int, str] | None":
        """(bytes, CRC-32) of a file, which need not fit into memory; None: there is none."""
        size = sum_ = 0
        try:
            with self.fs.open(f"{self.path}/{part}", "rb") as file:
                while piece := file.read(PIECE_BYTES):
                    size, sum_ = size + len(piece), crc32(piece, sum_)
        except FileNotFoundError:
            return None
        return size, f"{sum_:08x}"

    @contextmanager
    def create(self, name: str) -> "Iterator[Callable[[bytes], object]]":
        """A function that writes a new file, which appears when the block has ended, and not if it raises."""
        path = f"{self.path}/{name}"
        if self._atomic:
            file = self.fs.open(path, "wb", block_size=_UPLOAD_BYTES, autocommit=False)
            try:
                yield file.write
                file.close()
                file.commit()
            except BaseException:
                with suppress(Exception):  # the fault before this one is told
                    file.discard()
                file.closed = True  # or its destructor would write what is left
                raise
            return
        words = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        temporary = f"{self.path}/.{name}.{words}.tmp"
        try:
            with self.fs.open(temporary, "wb", block_size=_UPLOAD_BYTES) as file:
                yield file.write
            if not is_local(self.url) and self.fs.exists(path):  # not every store moves onto a file
                self.fs.rm_file(path)
            self.fs.mv(temporary, path)
        except BaseException:
            with suppress(Exception):
                self.fs.rm_file(temporary)
            raise

    def put(self, name: str, document: "dict[str, Any]") -> None:
        """Write or replace a receipt. A receipt that a power failure cuts short reads as {}."""
        self.fs.pipe_file(f"{self.path}/{name}", json.dumps(document).encode() + b"\n")

    def _put_manifest(self, document: "dict[str, Any]") -> None:
        with self.create(MANIFEST) as write:
            write(json.dumps({"fastsvm_parts": VERSION, **document}, indent=1).encode() + b"\n")

    def remove(self, *names: str) -> None:
        for name in names:
            with suppress(FileNotFoundError):
                self.fs.rm_file(f"{self.path}/{name}")

    # ---- a run

    def refuse_foreign(self) -> None:
        """Parts of which no receipt tells are none of ours: `cat part*` would have them. Raises FileError."""
        files = self.files()
        foreign = [name for name in files if name.startswith("part") and receipt_name(name) not in files]
        if foreign:
            why = f"it holds {min(foreign)}, of which no receipt tells; remove such files, or name another directory"
            raise FileError(shown(self.url), why)
        if MANIFEST in files and "fastsvm_parts" not in self.documents([MANIFEST])[0]:
            why = f"its {MANIFEST} is not what fastsvm wrote there; remove it, or name another directory"
            raise FileError(shown(self.url), why)

    def claim(self, run: str, digests: "dict[str, str]") -> int:
        """From here on the folder is this run's alone, and does not look complete: what another job has left there is
        removed. run: its identity. digests: {part: its job's digest}. Returns how many parts were removed."""
        self._put_manifest({"complete": False, "run": run})
        files = self._tidied()
        parts = [name for name in files if name.startswith("part")]
        receipts = self.documents([receipt_name(name) for name in parts])
        stale = [name for name, each in zip(parts, receipts) if each.get("job") != digests.get(name, "none")]
        self.remove(*stale)  # their receipts remain until another run's part needs none: a part without is foreign
        left = {receipt_name(name) for name in digests if name not in stale}
        self.remove(*(name for name in files if name.startswith("receipt-") and name not in left))
        return len(stale)

    def _tidied(self) -> "dict[str, int]":
        """Its files, once what killed processes left is gone."""
        files = self.files()
        self.remove(*filter(_TEMPORARY.fullmatch, files))
        return files

    def is_claimed(self, run: str) -> "bool | None":
        """Whether the folder is that run's; None: it is nobody's."""
        found = self.documents([MANIFEST])[0].get("run")
        return None if found is None else found == run

    def finish(self, run: str, receipts: "dict[str, dict[str, Any]]", summary: "dict[str, Any]") -> None:
        """Write the manifest of a folder that holds these parts and no others. Raises FileError where it does not, or
        is another run's."""
        parts = {name: size for name, size in self._tidied().items() if name.startswith("part")}
        if parts != {name: each["size"] for name, each in receipts.items()} or not self.is_claimed(run):
            raise FileError(shown(self.url), "another fastsvm has taken it over, or its files were changed")
        if is_local(self.url):
            os.sync()  # the parts are on the disk before that is said
        told = {name: {key: each[key] for key in _TOLD} for name, each in receipts.items()}
        self._put_manifest({"complete": True, "run": run, "summary": summary, "parts": told})
