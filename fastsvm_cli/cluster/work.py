"""Tasks of a Dask worker: read a block, predict it, and write its part."""

import errno
import json
from _thread import allocate_lock
from contextlib import closing
from typing import Any
from zlib import crc32

from fastsvm_cli import __version__, _native
from fastsvm_cli.cluster.blocks import Block, ShardChanged, Text, one_line, shown
from fastsvm_cli.cluster.parts import Folder, entry_name
from fastsvm_cli.errors import DataFormatError, FastsvmError
from fastsvm_cli.prediction import still_hold

#: Permanent errors: OUT_DIR's disk is full or not writable.
_LASTING = {errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS}


def digest_of(document: object) -> str:
    """Return the fingerprint of a JSON document."""
    return _native.fingerprint(json.dumps(document, sort_keys=True).encode())


class Stop(FastsvmError):
    """Error that every block would have, and that ends the run."""


class Job:
    """Options and files of a run; can be pickled.

    Each process reads the models once.

    options: by their names in commands/predict.py. contents: of the files but the rows, decompressed, by path.
    out: URL of OUT_DIR; shown: its name in messages. made_with: what determines the output besides the rows. threads:
    per block. fields: numbers of a dense row, as Position counts them, or -1. run: identity in the manifest.
    """

    def __init__(self, out: str, options: "dict[str, Any]", contents: "dict[str, bytes]"):
        self.out, self.shown, self.options, self.contents = out, shown(out), options, contents
        self.threads, self.fields, self.run, self.version = options["threads"] or 1, -1, "", __version__
        self._clear()
        self.made_with = self.prediction().made_with()

    def _clear(self) -> None:
        self._lock = allocate_lock()
        self._prediction: _native.Prediction | None = None

    def __getstate__(self) -> "dict[str, Any]":
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        vars(self).update(state)
        self._clear()

    def digest(self, block: Block) -> str:
        """Return the checksum of everything that the part of a block depends on."""
        return digest_of([self.made_with, self.fields, *block])

    def prediction(self) -> _native.Prediction:
        """Return the run. Raises its errors."""
        with self._lock:
            if self._prediction is None:
                options = {**self.options, "seed": self.options["seed"] % 2**64}
                prediction = _native.Prediction(_native.Request(**options), self.contents)
                prediction.prepare()
                self._prediction = prediction
            return self._prediction


def received(job: Job) -> Job:
    """Return the job, as a task whose result all tasks of the run share; raise Stop for another version of fastsvm.

    Dask repeats this task if all copies of the result are lost.
    """
    if job.version != __version__:
        raise Stop(f"this machine has fastsvm {job.version}, and a worker {__version__}: install the same one")
    return job


def answer(job: Job, blocks: "list[Block]") -> "list[dict[str, Any]]":
    """Predict blocks into their parts, and return a manifest entry or an error for each.

    The manifest entry of a part that existed has `stored`. An error is {error, line of the block or None}. Raises Stop,
    and transient errors, which Dask retries.
    """
    return [_answer(job, block) for block in blocks]


def _answer(job: Job, block: Block) -> "dict[str, Any]":
    where = Folder(job.out)
    try:
        entry = where.documents([entry_name(block.part)])[0]
        if fits(job, block, entry) and where.checksum(block.part) == (entry["size"], entry["crc32"]):
            return {**entry, "stored": True}
        return answer_block(job, block, where)
    except DataFormatError as error:
        if error.path != block.name:
            raise Stop(str(error)) from None
        return {"error": error.why, "line": error.line}
    except ShardChanged:
        return {"error": "it was changed while it was read; run the same command again", "line": None}
    except Stop:
        raise
    except FastsvmError as error:
        if not str(error).startswith(f"{block.name}: "):
            raise Stop(str(error)) from None
        return {"error": str(error).removeprefix(f"{block.name}: "), "line": None}
    except OSError as error:
        if error.errno not in _LASTING:
            raise
        raise Stop(f"{job.shown}: {one_line(error)}") from None


def fits(job: Job, block: Block, entry: "dict[str, Any]") -> bool:
    """Return whether a finished part's manifest entry is of this job and still holds."""
    same = entry.get("job") == job.digest(block)
    return same and still_hold(entry, job.options["on_bad_row"], job.options["max_line"])


def answer_block(job: Job, block: Block, where: Folder) -> "dict[str, Any]":
    """Predict a block into its part; return the manifest entry, written before the part gets its name."""
    _require_claim(job, where)
    # Lines are numbered by part: each has a seed of its own.
    seed = int(digest_of([job.options["seed"], block.part]), 16) % 2**64
    part, size, checksum = job.prediction().of_part(block.name, seed), 0, 0
    part.position.fields = job.fields
    before = _native.set_threads_here(job.threads)
    try:
        with where.create(block.part) as write, closing(Text(block)) as text:

            def count(data: bytes) -> None:
                nonlocal size, checksum
                write(data)
                size, checksum = size + len(data), crc32(data, checksum)

            part.answer(text, count, head=block.first)
            entry = {
                "job": job.digest(block),
                "fastsvm": __version__,
                "size": size,
                "crc32": f"{checksum:08x}",
                "shard": block.name,
                "start": block.start,
                "end": block.end,
                "lines": part.position.lines,
                "on_bad_row": job.options["on_bad_row"],
                "max_line": job.options["max_line"],
                "instructions": _native.instruction_set(),
                "tally": part.run_counts.values(),
                "bad_rows": 0 if part.bad_rows is None else part.bad_rows.count,
                "named": [] if part.bad_rows is None else part.bad_rows.named,
                "scaled": part.scaled.counts,
            }
            _require_claim(job, where)
            where.put(entry_name(block.part), entry)
    finally:
        _native.set_threads_here(before)
    return entry


def _require_claim(job: Job, where: Folder) -> None:
    claimed = where.is_claimed(job.run)
    if claimed is None:
        why = (
            "a worker does not see what this command writes there; expected a disk, or a store, that all of them share"
        )
        raise Stop(f"{job.shown}: {why}")
    if not claimed:
        raise Stop(f"{job.shown}: another fastsvm has taken it over")
