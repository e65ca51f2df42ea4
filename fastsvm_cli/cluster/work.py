"""Tasks of a Dask worker: read a block, predict it, and write its part."""

import errno
from _thread import allocate_lock
from typing import Any, NamedTuple
from zlib import crc32

from fastsvm_cli import __version__, _native
from fastsvm_cli.cluster.blocks import Block, ShardChanged, Text, one_line, shown
from fastsvm_cli.cluster.parts import Folder, entry_name
from fastsvm_cli.errors import DataFormatError, FastsvmError
from fastsvm_cli.models import parse_libsvm, parse_model
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.embedded_scaling import EmbeddedScaling
from fastsvm_cli.prediction.answers import Audit, Fallback, Predictor
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.text.fingerprint import digest_of
from fastsvm_cli.text.line_blocks import BadRows, LineBlocks, Position, still_hold
from fastsvm_cli.text.scaling import Scaling, parse_scaling, with_labels

#: Permanent errors: OUT_DIR's disk is full or not writable.
_LASTING = {errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS}


class Stop(FastsvmError):
    """Error that every block would have, and that ends the run."""


class File(NamedTuple):
    """A file that the client read, with its content, for the workers."""

    path: str
    text: bytes


class Job:
    """Options and models of a run; can be pickled.

    Each process parses the models once.

    exact_tolerance: a regression value with a larger radius is evaluated exactly. audit: share and seed of a sample, to
    which the exact model gives a label too; it then answers nothing else. embedded_scaling: the model's own; scale,
    y_scale: range files of svm-scale. steps: number of steps after which an ordered model stops; None for no limit.
    reading: arguments of LineBlocks. answer_options: arguments of Predictor. made_with: what determines the output
    besides the rows. threads: per block. out: URL of OUT_DIR; shown: its name in messages. fields: numbers of a dense
    row, as LineBlocks counts them, or -1. run: identity in the manifest.
    """

    def __init__(self, out: str):
        self.out, self.shown, self.model = out, shown(out), File("", b"")
        self.made_with: dict[str, Any] = {}
        self.exact: File | None = None
        self.embedded_scaling: EmbeddedScaling | None = None
        self.scale: File | None = None
        self.y_scale: File | None = None
        self.exact_tolerance = 0.0
        self.audit: tuple[float, int] | None = None
        self.steps: int | None = None
        self.reading: dict[str, Any] = {}
        self.answer_options: dict[str, Any] = {}
        self.on_bad_row = "stop"
        self.threads, self.fields, self.run, self.version = 1, -1, "", __version__
        self._parse()

    def _parse(self) -> None:
        self._lock = allocate_lock()
        self._models: tuple[Model, Fallback | None] | None = None

    def __getstate__(self) -> "dict[str, Any]":
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        vars(self).update(state)
        self._parse()

    def digest(self, block: Block) -> str:
        """Return the checksum of everything that the part of a block depends on."""
        return digest_of([self.made_with, self.fields, *block])

    def models(self) -> "tuple[Model, Fallback | None]":
        """Return the model, and the exact one of --exact or of an audit. Raises ModelFormatError."""
        with self._lock:
            if self._models is None:
                model = parse_model(self.model.text, self.model.path, warn=False)
                stopped = model if self.steps is None else model.stopped_after(self.steps)
                assert stopped is not None  # checked by the client
                exact, fallback = self.exact, None
                if exact is not None:
                    fallback = Fallback(lambda: parse_libsvm(exact.text, exact.path).plain(), self.exact_tolerance)
                elif self.audit is not None:
                    fallback = Fallback(lambda: model.exact)
                self._models = stopped, fallback
            return self._models

    def scaling(self) -> "Scaling | None":
        """Return the rows' scaling, with its own counts. Raises DataFormatError."""
        if self.embedded_scaling is not None:
            return self.embedded_scaling.scaling()
        if self.scale is None:
            return None
        scaling = parse_scaling(self.scale.text, self.scale.path)
        return scaling if self.y_scale is None else with_labels(scaling, self.y_scale.text, self.y_scale.path)

    def lines(
        self, block: Block, position: Position, bad_rows: "BadRows | None", scaling: "Scaling | None"
    ) -> LineBlocks:
        """Return the reader of a block's rows."""
        return LineBlocks(
            block.name, position=position, bad_rows=bad_rows, scaling=scaling, content=Text(block), **self.reading
        )


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
    return same and still_hold(entry, job.on_bad_row, job.reading["max_line"])


def answer_block(job: Job, block: Block, where: Folder) -> "dict[str, Any]":
    """Predict a block into its part; return the manifest entry, written before the part gets its name."""
    _require_claim(job, where)
    (model, exact), scaling = job.models(), job.scaling()
    audit = None
    if job.audit is not None and exact is not None:
        share, seed = job.audit
        # Lines are numbered by part: each has a seed of its own.
        audit = Audit(lambda: exact.model, share, int(digest_of([seed, block.part]), 16))
    bad_rows = None if job.on_bad_row == "stop" else BadRows(block.name, job.on_bad_row == "nan")
    predictor = Predictor(model, exact=exact if audit is None else None, audit=audit, **job.answer_options)
    position, size, checksum = Position(fields=job.fields), 0, 0
    before = _native.set_threads_here(job.threads)
    try:
        with where.create(block.part) as write, job.lines(block, position, bad_rows, scaling) as lines:

            def count(data: bytes) -> None:
                nonlocal size, checksum
                write(data)
                size, checksum = size + len(data), crc32(data, checksum)

            run_counts = predict(
                predictor,
                lines,
                count,
                path=block.name,
                labelled=job.reading["labelled"],
                bad_rows=bad_rows,
                head=block.first,
            )
            entry = {
                "job": job.digest(block),
                "fastsvm": __version__,
                "size": size,
                "crc32": f"{checksum:08x}",
                "shard": block.name,
                "start": block.start,
                "end": block.end,
                "lines": position.lines,
                "on_bad_row": job.on_bad_row,
                "max_line": job.reading["max_line"],
                "instructions": _native.instruction_set(),
                "tally": run_counts.values(),
                "bad_rows": 0 if bad_rows is None else bad_rows.count,
                "named": [] if bad_rows is None else bad_rows.named,
                "scaled": None if scaling is None else scaling.entries.counts,
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
