"""Predict a set of shards on a Dask cluster, into a folder of parts: the command's side, and the workers' tasks."""

import errno
import json
import os
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any
from zlib import crc32

from fastsvm_cli import __version__, _native
from fastsvm_cli.cluster.scheduler import connect, requiring_scheduler
from fastsvm_cli.cluster.stores import (
    Block,
    Folder,
    ShardChanged,
    Text,
    count_lines,
    cut,
    entry_name,
    is_local,
    local_path,
    one_line,
    shown,
    start_of,
)
from fastsvm_cli.errors import DataFormatError, FastsvmError, FileError
from fastsvm_cli.models import looks_like_model
from fastsvm_cli.prediction import still_hold, threads_here

if TYPE_CHECKING:
    from distributed import Client, Future

#: Keys of `predict --json` that the manifest lacks.
_OF_A_RUN = ("fastsvm", "model_kind", "model_fingerprint", "exact_fingerprint", "seconds", "rows_per_second")
_NAMED = 10  # named failed blocks, at most
_START_BYTES = 200  # to recognise a model file
#: Retries after a transient error.
RETRIES = 3
#: Small blocks share a task, which costs milliseconds.
TOGETHER_BYTES = 1 << 20
TOGETHER = 32
#: Tasks at a time: more than threads, few enough for the scheduler's memory.
AT_A_TIME = 10_000
#: Passes until every part is complete.
_PASSES = 4
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


class PartsMissing(FastsvmError):
    """Error of a run that leaves parts missing. lines: messages that say why."""

    def __init__(self, message: str, lines: "list[str]"):
        super().__init__(message)
        self.lines = lines


class Results(dict[str, dict[str, Any]]):
    """Manifest entries of finished parts, and errors of failed blocks, by part."""

    def __init__(self, job: Job, blocks: "list[Block]"):
        super().__init__()
        self.job, self.blocks = job, blocks

    def fill(
        self, client: "Client", sent: "Future", say: "Callable[[str], None]", progress: "Callable[..., None]"
    ) -> None:
        """Repeat passes until one finds every part valid: another client may replace parts."""
        for number in range(_PASSES):
            try:
                for block, each in answer_once(client, sent, self.blocks, progress):
                    self[block.part] = each
            except FastsvmError as stopped:
                raise self.missing(stopped) from None
            if any("error" in each for each in self.values()):
                raise self.missing()
            stored = sum(each.pop("stored", False) for each in self.values())
            if stored and not number:
                say(f"Kept: {stored} of {len(self.blocks)} parts.")
            if stored == len(self.blocks):
                return
        raise FileError(self.job.shown, "somebody else is writing its parts, or workers do not see each other's")

    def message(self, block: Block, line: "int | None", why: str) -> str:
        """Return `shard:line: why`, a message about a block.

        line: number in the block, or None for the whole shard. Lines of earlier blocks without manifest entries are
        counted.
        """
        name = shown(block.name)
        if line is None:
            return f"{name}: {why}"
        try:
            for each in self.blocks:
                if each.name == block.name and each.number < block.number:
                    before = self[each.part]
                    line += before["lines"] if "lines" in before else before.setdefault("lines", count_lines(each))
            return f"{name}:{line}: {why}"
        except Exception:  # the shard cannot be read here
            return f"{name}, from byte {block.start}: {why}"

    def missing(self, stopped: "FastsvmError | None" = None) -> PartsMissing:
        """Return the error of a run that leaves parts missing. stopped: the error that stopped all blocks."""
        missing = [each for each in self.blocks if "error" in self.get(each.part, {"error": ""})]
        failed = [] if stopped is not None else missing
        lines = [self.message(each, self[each.part]["line"], self[each.part]["error"]) for each in failed[:_NAMED]]
        if len(failed) > _NAMED:
            lines.append(f"{len(failed) - _NAMED} more blocks failed.")
        if stopped is not None:
            lines.append(str(stopped))
        one = len(missing) == 1
        what = f"{len(missing)} of {len(self.blocks)} parts {'is' if one else 'are'} missing in {self.job.shown}"
        return PartsMissing(f"{what}; the same command does {'it' if one else 'them'}, and keeps the others", lines)


class Sum:
    """Totals of a run over its results, besides those of the job's prediction, which are added.

    named: messages of the first bad rows, in input order. instructions: instruction sets of the workers' processors.
    """

    def __init__(self, results: Results):
        self.named: list[str] = []
        self.instructions = {each["instructions"] for each in results.values()}
        prediction, bad_rows = results.job.prediction(), 0
        for block in results.blocks:
            entry = results[block.part]
            prediction.run_counts.add_values(entry["tally"])
            prediction.scaled.add(*entry["scaled"])
            bad_rows += entry["bad_rows"]
            for line, why in entry["named"][: _native.MOST_NAMED - len(self.named)]:
                self.named.append(results.message(block, line, why))
        if prediction.bad_rows is not None:
            prediction.bad_rows.restore(bad_rows, [])


def run(job: Job, say: "Callable[[str], None]", progress: "Callable[[float, str], None]") -> Sum:
    """Predict the shards that TEST_FILE names into parts of `job.out`; keep valid parts.

    say: receives lines for the user. progress: receives the share that is done and words.

    Raises PartsMissing if blocks failed or an error stopped them all; FileError or another FastsvmError if the run
    cannot start or finish. Finished parts stay.
    """
    address = job.options["dask"]
    blocks, out = cut(job.options["test_file"], job.options["block"]), Folder(job.out)
    _refuse_input(out, blocks)
    if job.options["on_bad_row"] == "stop" and looks_like_model(start_of(blocks[0], _START_BYTES)):
        # Else every block would fail, with a worse message.
        raise FileError(shown(blocks[0].name), "it is a model file, expected rows of data")
    if job.options["dense"]:
        job.fields = _width(job, blocks)
    digests = {each.part: job.digest(each) for each in blocks}
    job.run = digest_of(digests)
    out.make()
    try:
        out.refuse_foreign()
        results = Results(job, blocks)
        with connect(address, say) as client:
            removed = out.claim(job.run, digests)
            if removed:
                say(f"Removed parts of another model, option or shard: {removed}.")
            if not client.nthreads():
                say(f"{address} has no workers at the moment: waiting for one.")
            sent = client.submit(received, job, pure=False)
            try:
                results.fill(client, sent, say, progress)
            finally:
                with suppress(Exception):  # the scheduler is gone
                    client.cancel([sent])
        seen = Sum(results)
        document = json.loads(job.prediction().document())
        out.finish(job.run, results, {name: document[name] for name in document if name not in _OF_A_RUN})
        return seen
    except (FastsvmError, AssertionError, AttributeError, KeyError, NameError, TypeError):  # the rest are bugs
        raise
    except Exception as error:  # store or file system errors
        raise FileError(shown(out.url), one_line(error)) from None


def answer_once(
    client: "Client", sent: "Future", blocks: "list[Block]", progress: "Callable[[float, str], None]"
) -> "Iterator[tuple[Block, dict[str, Any]]]":
    """Have the workers answer all blocks; yield (block, manifest entry or error) in order of completion.

    sent: the job, on its way to the workers. progress: receives the share that is done and words. Raises Stop, and
    FastsvmError if the scheduler is lost.
    """
    from distributed import as_completed

    waiting, start = _groups(blocks), monotonic()
    total, done, rows, parts = sum(each.end - each.start for each in blocks) or 1, 0, 0, 0
    running: dict[Any, list[Block]] = {}

    def submit(group: "list[Block]") -> Any:
        task = client.submit(answer, sent, group, pure=False, retries=RETRIES)
        running[task] = group
        return task

    with requiring_scheduler():
        try:
            tasks = as_completed([submit(group) for _, group in zip(range(AT_A_TIME), waiting)], loop=client.loop)
            for task in tasks:
                group = running.pop(task)
                try:
                    found = task.result()
                except Exception as error:
                    found = [{"error": _why(error), "line": None}]
                    if len(group) > 1:
                        tasks.update([submit([block]) for block in group])  # find the block wrong
                        continue
                for block, each in zip(group, found):
                    yield block, each
                    done, parts = done + block.end - block.start, parts + ("error" not in each)
                    rows += 0 if "error" in each else each["tally"]["rows"]
                speed = rows / max(monotonic() - start, 1e-3)
                progress(done / total, f"{parts}/{len(blocks)} parts, {_short(speed)} rows/s")
                following = next(waiting, None)
                if following is not None:
                    tasks.add(submit(following))
        finally:
            with suppress(Exception):  # the scheduler is gone
                client.cancel(list(running))


def _why(error: Exception) -> str:
    """Return a failed task's reason in one line.

    Raises FastsvmError for an error that all tasks share.
    """
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return "every worker that had it died"
    if isinstance(error, (FastsvmError, CancelledError)):  # CancelledError without our cancel: the scheduler is lost
        raise error
    if isinstance(error, ImportError) or "deserialization of the task graph" in str(error):
        why = f"the scheduler or a worker cannot read the job: install fastsvm {__version__} there too"
        raise FastsvmError(why)
    return one_line(error)


def _groups(blocks: "list[Block]") -> "Iterator[list[Block]]":
    group: list[Block] = []
    size = 0
    for block in blocks:
        if group and (size + block.end - block.start > TOGETHER_BYTES or len(group) == TOGETHER):
            yield group
            group, size = [], 0
        group.append(block)
        size += block.end - block.start
    yield group


def _width(job: Job, blocks: "list[Block]") -> int:
    """Return the first valid dense row's length, as Position counts it, or -1 if no row is valid."""
    for block in blocks:
        with closing(Text(block)) as text:
            fields = job.prediction().fields(text)
        if fields >= 0:
            return fields
    return -1


def _refuse_input(out: Folder, blocks: "list[Block]") -> None:
    names = {each.name for each in blocks}
    if is_local(out.url):
        path = os.path.realpath(local_path(out.url))
        inside = [name for name in names if is_local(name) and os.path.dirname(os.path.realpath(name)) == path]
    else:
        inner = out.fs.unstrip_protocol(out.path) + "/"
        inside = [name for name in names if name.startswith(inner)]
    if inside:
        raise FileError(shown(min(inside)), "it is in the output directory, and an input; name another directory")


def _short(number: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


# ---- tasks of a worker


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
    with threads_here(job.threads), where.create(block.part) as write, closing(Text(block)) as text:

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
