"""Failing blocks do not stop others, are retried only if that can help, and are named by shard and line."""

import errno
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed.scheduler import KilledWorker

from fastsvm_cli.cluster import run as runs
from fastsvm_cli.cluster.stores import Folder, count_lines
from support.dasking import client, parts, predict, run_here
from support.processes import wait_until


@pytest.fixture
def run(models, tmp_path, monkeypatch):
    """Predicts `rows` in the current folder; `one` is what one run of them writes."""
    monkeypatch.chdir(tmp_path)
    model, rows, _ = models["two"]
    Path("rows").write_bytes(rows.read_bytes())
    run_here("predict", "-q", "rows", model, "one")

    def run(*options, block=0.002, **how):
        return predict("--dask", "local", "--block", block, *options, "rows", model, "out", **how)

    return run


def whole():
    path = Path("out/manifest.json")
    return path.exists() and json.loads(path.read_text())["complete"]


def require_complete():
    assert parts(Path("out")) == Path("one").read_bytes() and whole()


# ---- faults at a block on its worker


@dataclass(frozen=True)
class Fault:
    """do: on the worker, before block `at` of 10, `times` times. error: in the first line; None: the run completes.
    tries: of this block. missing: parts after the run, in its message. made: parts it made. kept: of these, by the next
    run; None: that run fails too."""

    do: Callable
    error: "str | None" = None
    at: int = 2
    times: int = 1000
    tries: int = 1
    missing: int = 0
    made: int = 10
    kept: "int | None" = 10


def raised(error):
    def do():
        raise error

    return do


def append_a_row():
    with open("rows", "ab") as file:
        file.write(b"+1 1:1\n")


def another_disk(*, there):
    """The worker's machine does not share the disk."""
    Path("out").rename("elsewhere")
    if there:
        Path("out").mkdir()


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
KILLED = KilledWorker("answer", SimpleNamespace(address="tcp://far:1"), 3)
LOST = CancelledError("connection lost")
UNREADABLE = RuntimeError("Error during deserialization of the task graph")
MISSING_PACKAGE = ModuleNotFoundError("No module named 'fastsvm_cli'")
ALL_LOST = "the scheduler was lost, or all workers were"
CHANGED = "rows: it was changed while it was read; run the same command again"
TAKEN_OVER = "out: another fastsvm has taken it over"
UNKNOWN_JOB = "a worker cannot read the job: install fastsvm"
NOT_SHARED = "out: a worker does not see what this command writes there; "
FAULTS = {
    # Transient errors: the blocks of the task are tried again, one by one.
    "store error": Fault(raised(OSError("503")), times=1, tries=2),
    "timeout": Fault(raised(TimeoutError()), times=1, tries=2),
    "no memory": Fault(raised(MemoryError()), times=1, tries=2),
    "lasting store error": Fault(
        raised(OSError("503 Slow Down")), "rows: 503 Slow Down", tries=2 * (runs.RETRIES + 1), missing=1, made=9, kept=9
    ),
    "killed workers": Fault(raised(KILLED), "rows: every worker that had it died", tries=8, missing=1, made=9, kept=9),
    # Errors that every block would have end the run.
    "full disk": Fault(raised(FULL), "out: No space left on device", at=4, tries=4, missing=10, made=4, kept=4),
    "lost scheduler": Fault(raised(LOST), f"{ALL_LOST}: connection lost", tries=4, missing=10, made=2, kept=2),
    "no fastsvm there": Fault(raised(MISSING_PACKAGE), UNKNOWN_JOB, tries=4, missing=10, made=2, kept=2),
    "unreadable job": Fault(raised(UNREADABLE), UNKNOWN_JOB, tries=4, missing=10, made=2, kept=2),
    # Others change files meanwhile.
    "changed shard": Fault(append_a_row, CHANGED, missing=8, made=2, kept=0),
    "another job": Fault(lambda: Folder("out").claim("another", {}), TAKEN_OVER, made=2, kept=0),
    "another folder": Fault(lambda: another_disk(there=True), NOT_SHARED, made=2, kept=0),
    "no folder": Fault(lambda: another_disk(there=False), NOT_SHARED, made=2, kept=0),
    "foreign file": Fault(lambda: Path("out/part-9").write_text("1\n"), "or its files were changed", kept=None),
    # It may come from a worker of an earlier client.
    "overwritten part": Fault(lambda: Path("out/part-00000-00001").write_text("another's\n"), times=1, made=11),
}


@pytest.mark.full(few=5)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_leaves_whole_parts_which_the_next_run_keeps(name, run, models):
    fault, tries = FAULTS[name], Counter()

    def before(block):
        tries[block.number] += 1
        if block.number == fault.at and tries[block.number] <= fault.times:
            fault.do()

    printed = run(before=before, code=int(fault.error is not None))
    lines = printed.err.splitlines()
    assert tries[fault.at] == fault.tries and len(printed.done) == fault.made
    assert whole() == (fault.error is None) and not list(Path("out").glob(".*"))
    if fault.error is not None:
        assert fault.error in lines[0]
    if fault.missing:
        assert lines[-1].startswith(f"Error: {fault.missing} of 10 parts ") and len(set(lines)) == 2
    if fault.kept is None:
        return
    run_here("predict", "-q", "rows", models["two"][0], "one")
    assert fault.kept == 0 or f"Kept: {fault.kept} of 10 parts." in run().err
    run()
    require_complete()


#: Block size in MB; the lines that are spoilt; those that are named, if not the first of ten blocks.
SPOILT = [
    (0.002, [5, 100, 250], [5, 100, 250]),
    (0.012, [1, 2, 249], [1, 249]),  # the failed block's lines are counted
    (0.002, [20, 100, 180, 240], [20, 100, 180, 240]),
    (0.00002, [*range(1, 251)], None),
]


@pytest.mark.full(few=2)
@pytest.mark.parametrize("block, spoilt, named", SPOILT)
def test_bad_rows_are_named_and_not_tried_again(run, monkeypatch, block, spoilt, named):
    """Each failed block is counted once, not the shard for every named row. Lines are those of the shard, even if a run
    has counted no other block."""
    counted, tried = [], []
    monkeypatch.setattr(runs, "count_lines", lambda block: counted.append(block.part) or count_lines(block))
    text = Path("rows").read_bytes().splitlines(keepends=True)
    for at, line in enumerate(spoilt):
        text[line - 1] = [b"1 x\n", b"1 2:1 1:1\n", b"no label\n"][at % 3]
    Path("rows").write_bytes(b"".join(text))
    for _ in range(2):
        printed = run("-q", block=block, before=tried.append, code=1)
        *lines, last = printed.err.splitlines()
        if named is None:
            assert lines.pop().endswith(" more blocks failed.") and len(lines) == 10
        else:
            assert [line.split(": ")[1] for line in lines] == [f"rows:{line}" for line in named]
            assert len(counted) == len(set(counted)) < len(named)
        assert re.match(r"Error: \d+ of \d+ parts ", last) and not printed.out and not whole()
        assert len(tried) == len(set(tried))
        counted.clear(), tried.clear()


def test_progress_reaches_its_end_also_where_blocks_fail(run, monkeypatch):
    shares = []
    monkeypatch.setattr(runs, "TOGETHER", 1)
    monkeypatch.setattr(
        "fastsvm_cli.console.terminal.Progress.__call__", lambda self, share, words="": shares.append(share)
    )
    text = Path("rows").read_bytes()
    Path("rows").write_bytes(b"1 x\n" + text + b"1 y\n")
    run(code=1)
    assert len(shares) == 10 and shares == sorted(shares) and 0 < shares[0] < 0.2 and shares[-1] == pytest.approx(1)


def test_no_block_is_lost_where_the_scheduler_knows_a_few_tasks_at_a_time(run, monkeypatch):
    monkeypatch.setattr(runs, "TOGETHER", 1)
    monkeypatch.setattr(runs, "AT_A_TIME", 3)
    assert len(run().done) == 10
    require_complete()
    assert wait_until(lambda: not client().cluster.scheduler.tasks)  # it forgets the job


def test_a_part_that_cannot_be_written_leaves_nothing(tmp_path):
    where = Folder(str(tmp_path))
    for name in ("part-1", "part-2"):
        (tmp_path / "part-2").write_bytes(b"before")
        with pytest.raises(ZeroDivisionError):
            with where.create(name) as write:
                write(b"x" * 100)
                raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["part-2"] and (tmp_path / "part-2").read_bytes() == b"before"


# ---- faults between blocks


def test_a_second_client_with_the_same_job_is_no_error(run, monkeypatch):
    """Both runs finish with the same result."""
    first, again = Folder.claim, []

    def claim(self, run_, digests):  # the other client began in between
        found = first(self, run_, digests)
        again.append(first(self, run_, digests))
        return found

    monkeypatch.setattr(Folder, "claim", claim)
    run()
    assert again == [0]
    require_complete()


def test_a_folder_that_was_taken_over_last_is_not_called_whole(run, monkeypatch):
    Sum = runs.Sum

    def totals(self, *_):
        Folder("out").claim("another", {})
        Sum.__init__(self, *_)

    monkeypatch.setattr(runs, "Sum", type("Late", (Sum,), {"__init__": totals}))
    printed = run(code=1)
    assert "another fastsvm has taken it over, or its files were changed" in printed.err and not whole()


def test_a_part_that_never_stays_what_it_was(run, monkeypatch):
    plain = runs.answer_once

    def spoiled(*arguments):
        yield from plain(*arguments)
        Path("out/part-00000-00001").write_text("another's\n")

    monkeypatch.setattr(runs, "answer_once", spoiled)
    printed = run(code=1)
    assert "somebody else is writing its parts" in printed.err and not whole()


def test_a_worker_of_another_fastsvm(run, monkeypatch):
    state = runs.Job.__getstate__
    monkeypatch.setattr(runs.Job, "__getstate__", lambda self: {**state(self), "version": "0.0.0"})
    lines = run(code=1).err.splitlines()
    assert lines[0].startswith("Error: this machine has fastsvm 0.0.0, and a worker ")
    assert len(lines) == 2 and not list(Path("out").glob("part*"))
