"""A run of `predict --dask`, from the shards to OUT_DIR and its manifest."""

import os
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from fastsvm_cli import interruption
from fastsvm_cli.cluster import work
from fastsvm_cli.cluster.block_content import BlockContent
from fastsvm_cli.cluster.blocks import Block, cut
from fastsvm_cli.cluster.crew import Crew, Gone
from fastsvm_cli.cluster.folder import Folder, folder
from fastsvm_cli.cluster.job import Job, Prepared, identity
from fastsvm_cli.cluster.lease import Lease, holds
from fastsvm_cli.cluster.manifest import Manifest, Plan, is_whole
from fastsvm_cli.cluster.scheduler import connect
from fastsvm_cli.cluster.shards import Shard, is_local, list_shards, local_path, shown, start_of, store_of
from fastsvm_cli.cluster.totals import Lines, Sum
from fastsvm_cli.errors import FastsvmError, FileError
from fastsvm_cli.models import looks_like_model
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.line_blocks import LineBlocks, Place
from fastsvm_cli.text.scaling import Scaling

if TYPE_CHECKING:
    from distributed import Client

#: So many blocks that failed are named; the others are counted.
_NAMED = 10
_WIDTH_BYTES = 1 << 16  # of the text in which the first row of dense data is looked for
_START_BYTES = 200  # of the first shard, by which a model is known
_LOOKS = 3  # at whether the parts are still what they were when they were written


class PartsMissing(FastsvmError):
    """The run has ended, and not all parts are there. lines: of the blocks that failed, one each."""

    def __init__(self, message: str, lines: "list[str]"):
        super().__init__(message)
        self.lines = lines


def run(
    job: Job,
    *,
    url: str,
    address: str,
    block: int,
    scaling: "Scaling | None" = None,
    say: "Callable[[str], None]" = lambda line: None,
    progress: "Callable[[float, str], None]" = lambda share, words: None,
    summary: "Callable[[Sum], dict[str, Any]]" = lambda seen: {},
) -> Sum:
    """Predict the rows of the shards that `url` names into the parts of `job.out`; what is there already is kept.

    address: as --dask takes it. block: bytes. scaling: is told what was scaled. say: called with lines for the user.
    progress: with the share done, and words. summary: what the manifest says of the whole.

    Raises PartsMissing at the end where blocks failed; FileError, ModelFormatError and FastsvmError where nothing, or
    no more, can be done. Parts that are done are kept in any case, and noted."""
    shards = list_shards(url, block)
    blocks = cut(shards, block)
    out = folder(job.out)
    _refuse_input(out, [shard.name for shard in shards])
    if job.on_bad_row == "stop":
        _refuse_model(shards[0])
    if job.dense:
        job.fields = _width(job, blocks)
    lease = Lease(out, say)
    try:
        out.make()
        lease.take()
        job.lease = lease.identity
        head = _head(job, url, blocks, block)
        return _Run(job, blocks, lease, say, progress).go(address, head, scaling, summary)
    except (FastsvmError, AssertionError, AttributeError, KeyError, NameError, TypeError):  # the latter: ours
        raise
    except Exception as error:  # what stores and file systems raise about the folder
        raise out.fault(error) from None
    finally:
        with interruption.held():
            lease.release()


class _Run:
    """A run, once its blocks are known and OUT_DIR is its own.

    records: {part: its record} of the parts that are there. faults: {part: why it is not}."""

    def __init__(
        self,
        job: Job,
        blocks: "list[Block]",
        lease: Lease,
        say: "Callable[[str], None]",
        progress: "Callable[[float, str], None]",
    ):
        self.job, self.blocks, self.lease, self.say, self.progress = job, blocks, lease, say, progress
        self.out = lease.folder
        self.manifest = Manifest(self.out, lease.identity)
        self.records: dict[str, dict[str, Any]] = {}
        self.faults: dict[str, dict[str, Any]] = {}

    def go(
        self,
        address: str,
        head: "dict[str, Any]",
        scaling: "Scaling | None",
        summary: "Callable[[Sum], dict[str, Any]]",
    ) -> Sum:
        """As `run`. head: what the manifest says of it."""
        made_with = self.job.made_with()
        self.manifest.load()
        plan = Plan(self.manifest, self.blocks, made_with, self.job.on_bad_row, self.job.max_line)
        for line in plan.reasons:
            self.say(line)
        if plan.kept:
            self.say(f"Kept: {len(plan.kept)} of {len(self.blocks)} parts.")
        self.records |= plan.kept
        stopped: FastsvmError | None = None
        unfinished = bool(plan.to_do or plan.stale or not self.manifest.complete)
        if plan.to_do:
            with connect(address, self.say) as client:
                self._demand_lease()
                self.manifest.begin(head, made_with, plan.kept)
                stopped = self._make(plan.to_do, client, address)
        elif unfinished:
            self._demand_lease()
            self.manifest.begin(head, made_with, plan.kept)
        lines = Lines(self.blocks, self.records)
        if any(each.part not in self.records for each in self.blocks):
            raise self._missing(stopped, lines)
        seen = Sum(self.blocks, self.records, self.job.labelled, scaling, lines)
        if unfinished:
            self._demand_lease()
            with interruption.held():
                for name in plan.stale:
                    self.out.remove(name)
                self.out.remove_temporary()
                self.manifest.finish([each.part for each in self.blocks], summary(seen))
        return seen

    def _demand_lease(self) -> None:
        """Another client may be at work since the last time that anybody looked. Raises FileError."""
        if self.lease.lost or not holds(self.out, self.lease.identity):
            raise FileError(shown(self.out.url), "another fastsvm has taken it over")

    def _make(self, to_do: "list[Block]", client: "Client", address: str) -> "FastsvmError | None":
        """Have the blocks done, and note what became of them; what ended that early, or None."""
        self.out.remove_temporary()
        try:
            with Crew(client, self.job, address, self.say) as crew:
                stopped = self._do(crew, to_do)
                if stopped is None and not self.faults:
                    self._settle(crew)
        except Gone as gone:
            stopped = gone
        finally:
            with interruption.held():
                try:
                    if not self.lease.lost:
                        self.manifest.flush()
                except Exception:  # a full disk, say, which ended the run: what is not noted is done again
                    pass
        return stopped

    def _do(self, crew: Crew, to_do: "list[Block]") -> "FastsvmError | None":
        """Do the blocks, and note their parts; what ends the run early, or None."""
        total = sum(each.size for each in to_do) or 1
        done = rows = 0
        start = monotonic()
        for told in crew.run(to_do):
            if self.lease.lost:
                return FileError(shown(self.out.url), "another fastsvm has taken it over")
            if told is not None:
                block, answer = told
                done += block.size
                if "fault" not in answer:
                    self.records[block.part] = answer
                    self.manifest.note(answer)
                    rows += answer["tally"]["rows"]
                else:
                    self.faults[block.part] = answer
                    if answer["fault"] in (work.OUTPUT, work.LEASE):
                        return FileError(shown(self.out.url), answer["why"])
                    if answer["fault"] == work.JOB:
                        return FastsvmError(answer["why"])
            speed = rows / max(monotonic() - start, 1e-3)
            self.progress(done / total, f"{len(self.records)}/{len(self.blocks)} parts, {_short(speed)} rows/s")
        return None

    def _settle(self, crew: Crew) -> None:
        """Do those parts again that are not what they were when they were written: a worker that a former client has
        left behind, or that the scheduler took for dead, may have written them since. Raises FileError where that does
        not end."""
        for _ in range(_LOOKS):
            files = self.out.list()
            other = [each for each in self.blocks if not is_whole(self.out, self.records[each.part], files, fresh=True)]
            if not other:
                return
            for each in other:
                del self.records[each.part]
            stopped = self._do(crew, other)
            if stopped is not None:
                raise stopped
            if self.faults:
                return
        raise FileError(shown(self.out.url), "somebody else is writing its parts")

    def _missing(self, stopped: "FastsvmError | None", lines: Lines) -> PartsMissing:
        """What is said of a run that has not all its parts."""
        missing = [each for each in self.blocks if each.part not in self.records]
        failed = [] if stopped is not None else [each for each in missing if each.part in self.faults]
        told = []
        for each in failed[:_NAMED]:
            fault = self.faults[each.part]
            told.append(lines.message(each, fault["line"], fault["why"]))
        if len(failed) > _NAMED:
            told.append(f"{len(failed) - _NAMED} more blocks failed.")
        if stopped is not None:
            told.append(str(stopped))
        one = len(missing) == 1
        again = "it" if one else "them"
        what = f"{len(missing)} of {len(self.blocks)} parts {'is' if one else 'are'} missing in {shown(self.job.out)}"
        return PartsMissing(f"{what}; the same command does {again}, and keeps the others", told)


def _head(job: Job, url: str, blocks: "list[Block]", block: int) -> "dict[str, Any]":
    shards = {each.shard_number: each.shard for each in blocks}
    return {
        "job": identity(job.made_with()),
        "input": url,
        "block_bytes": block,
        "on_bad_row": job.on_bad_row,
        "max_line": job.max_line,
        "inputs": [{"name": each.name, "size": each.size, "mark": each.mark} for each in shards.values()],
        "parts_wanted": len(blocks),
    }


def _width(job: Job, blocks: "list[Block]") -> int:
    """How many numbers the first good row of dense data has, as LineBlocks counts them; -1: there is none."""
    scaling = Prepared(job).scaling()
    for block in blocks:
        place = Place()
        with LineBlocks(
            block.shard.name,
            labelled=job.labelled,
            dense=True,
            delimiter=job.delimiter,
            size=_WIDTH_BYTES,
            max_line=job.max_line,
            place=place,
            bad_rows=BadRows(block.shard.name),
            scaling=scaling,
            content=BlockContent(block),
        ) as text:
            for each in text:
                each.parse()
                each.settle()
                if place.fields >= 0:
                    return place.fields
    return -1


def _refuse_model(shard: Shard) -> None:
    """A model in place of the rows would fail block by block, with words that say less. Raises FileError."""
    if looks_like_model(start_of(shard.name, _START_BYTES)):
        raise FileError(shown(shard.name), "it is a model file, expected rows of data")


def _refuse_input(out: Folder, names: "list[str]") -> None:
    """A shard that is a part of OUT_DIR would be read and replaced. Raises FileError."""
    if not is_local(out.url):
        fs, path = store_of(out.url)
        inner = fs.unstrip_protocol(path.rstrip("/")) + "/"
        inside = [name for name in names if name.startswith(inner)]
    else:
        path = os.path.realpath(local_path(out.url))
        inside = [name for name in names if is_local(name) and os.path.dirname(os.path.realpath(name)) == path]
    if inside:
        raise FileError(shown(inside[0]), "it is in the output directory, and an input; name another directory")


def _short(number: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"
