"""A run of `predict --dask`, from the shards to OUT_DIR and its manifest."""

import os
from collections.abc import Callable
from time import monotonic
from typing import Any

from fastsvm_cli import interruption
from fastsvm_cli.cluster import work
from fastsvm_cli.cluster.block_content import BlockContent
from fastsvm_cli.cluster.blocks import Block, cut
from fastsvm_cli.cluster.crew import Crew, Gone
from fastsvm_cli.cluster.folder import Folder, folder
from fastsvm_cli.cluster.job import Job, Prepared, identity
from fastsvm_cli.cluster.lease import Lease
from fastsvm_cli.cluster.manifest import Manifest, Plan, is_whole
from fastsvm_cli.cluster.scheduler import connect
from fastsvm_cli.cluster.shards import is_local, list_shards, local_path, shown, store_of
from fastsvm_cli.cluster.totals import Lines, Sum
from fastsvm_cli.errors import FastsvmError, FileError
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.line_blocks import LineBlocks, Place
from fastsvm_cli.text.scaling import Scaling

#: So many blocks that failed are named; the others are counted.
_NAMED = 10
_WIDTH_BYTES = 1 << 16  # of the text in which the first row of dense data is looked for
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
    if job.dense:
        job.fields = _width(job, blocks)
    lease = Lease(out, say)
    try:
        out.make()
        lease.take()
        job.lease = lease.identity
        return _run(job, blocks, out, lease, url, address, block, scaling, say, progress, summary)
    except (FastsvmError, AssertionError, AttributeError, KeyError, NameError, TypeError):  # the latter: ours
        raise
    except Exception as error:  # what stores and file systems raise about the folder
        raise out.fault(error) from None
    finally:
        with interruption.held():
            lease.release()


def _run(
    job: Job,
    blocks: "list[Block]",
    out: Folder,
    lease: Lease,
    url: str,
    address: str,
    block: int,
    scaling: "Scaling | None",
    say: "Callable[[str], None]",
    progress: "Callable[[float, str], None]",
    summary: "Callable[[Sum], dict[str, Any]]",
) -> Sum:
    made_with = job.made_with()
    manifest = Manifest(out, lease.identity)
    manifest.load()
    plan = Plan(manifest, blocks, made_with, job.on_bad_row, job.max_line)
    for line in plan.reasons:
        say(line)
    if plan.kept:
        say(f"Kept: {len(plan.kept)} of {len(blocks)} parts.")
    records = dict(plan.kept)
    faults: dict[str, dict[str, Any]] = {}
    stopped: FastsvmError | None = None
    if plan.to_do:
        with connect(address, say) as client:
            manifest.begin(_head(job, made_with, url, blocks, block), made_with, plan.kept)
            out.remove_temporary()
            try:
                with Crew(client, job, address, say) as crew:
                    stopped = _work(crew, plan, blocks, lease, manifest, records, faults, progress)
                    if stopped is None and not faults:
                        _settle(crew, plan, blocks, lease, manifest, records, faults, progress)
            except Gone as gone:
                stopped = gone
            finally:
                with interruption.held():
                    try:
                        if not lease.lost:
                            manifest.flush()
                    except Exception:  # a full disk, say, which ended the run: what is not noted is done again
                        pass
    elif plan.stale or not manifest.complete:
        manifest.begin(_head(job, made_with, url, blocks, block), made_with, plan.kept)
    lines = Lines(blocks, records)
    missing = [each for each in blocks if each.part not in records]
    if missing:
        raise _missing(missing, blocks, faults, stopped, lines, job.out)
    seen = Sum(blocks, records, job.labelled, scaling, lines)
    if plan.to_do or plan.stale or not manifest.complete:
        with interruption.held():
            for name in plan.stale:
                out.remove(name)
            out.remove_temporary()
            manifest.finish([each.part for each in blocks], summary(seen), complete=True)
    return seen


def _head(job: Job, made_with: "dict[str, Any]", url: str, blocks: "list[Block]", block: int) -> "dict[str, Any]":
    shards = {each.shard_number: each.shard for each in blocks}
    return {
        "job": identity(made_with),
        "input": url,
        "block_bytes": block,
        "on_bad_row": job.on_bad_row,
        "max_line": job.max_line,
        "inputs": [{"name": each.name, "size": each.size, "mark": each.mark} for each in shards.values()],
        "parts_wanted": len(blocks),
    }


def _work(
    crew: Crew,
    plan: Plan,
    blocks: "list[Block]",
    lease: Lease,
    manifest: Manifest,
    records: "dict[str, dict[str, Any]]",
    faults: "dict[str, dict[str, Any]]",
    progress: "Callable[[float, str], None]",
    to_do: "list[Block] | None" = None,
) -> "FastsvmError | None":
    """Do the blocks, and note their parts; what ends the run early, or None."""
    to_do = plan.to_do if to_do is None else to_do
    total = sum(each.size for each in to_do) or 1
    done = rows = 0
    start = monotonic()
    for told in crew.run(to_do):
        if lease.lost:
            return FileError(shown(manifest.folder.url), "another fastsvm has taken it over")
        if told is not None:
            block, answer = told
            done += block.size
            if "fault" not in answer:
                records[block.part] = answer
                manifest.note(answer)
                rows += answer["tally"]["rows"]
            else:
                faults[block.part] = answer
                if answer["fault"] in (work.OUTPUT, work.LEASE):
                    return FileError(shown(manifest.folder.url), answer["why"])
                if answer["fault"] == work.JOB:
                    return FastsvmError(answer["why"])
        speed = rows / max(monotonic() - start, 1e-3)
        progress(done / total, f"{len(records)}/{len(blocks)} parts, {_short(speed)} rows/s")
    return None


def _settle(
    crew: Crew,
    plan: Plan,
    blocks: "list[Block]",
    lease: Lease,
    manifest: Manifest,
    records: "dict[str, dict[str, Any]]",
    faults: "dict[str, dict[str, Any]]",
    progress: "Callable[[float, str], None]",
) -> None:
    """Do those parts again that are not what they were when they were written: a worker that a former client has left
    behind, or that the scheduler took for dead, may have written them since. Raises FileError where that does not
    end."""
    for _ in range(_LOOKS):
        files = manifest.folder.list()
        other = [each for each in blocks if not is_whole(manifest.folder, records[each.part], files, fresh=True)]
        if not other:
            return
        for each in other:
            del records[each.part]
        stopped = _work(crew, plan, blocks, lease, manifest, records, faults, progress, other)
        if stopped is not None:
            raise stopped
        if faults:
            return
    raise FileError(shown(manifest.folder.url), "somebody else is writing its parts")


def _missing(
    missing: "list[Block]",
    blocks: "list[Block]",
    faults: "dict[str, dict[str, Any]]",
    stopped: "FastsvmError | None",
    lines: Lines,
    out: str,
) -> PartsMissing:
    """What is said of a run that has not all its parts."""
    failed = [] if stopped is not None else [each for each in missing if each.part in faults]
    told = [lines.message(each, faults[each.part]["line"], faults[each.part]["why"]) for each in failed[:_NAMED]]
    if len(failed) > _NAMED:
        told.append(f"{len(failed) - _NAMED} more blocks failed.")
    if stopped is not None:
        told.append(str(stopped))
    one = len(missing) == 1
    again = "it" if one else "them"
    what = f"{len(missing)} of {len(blocks)} parts {'is' if one else 'are'} missing in {shown(out)}"
    return PartsMissing(f"{what}; the same command does {again}, and keeps the others", told)


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
