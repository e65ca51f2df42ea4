"""Failing blocks do not stop others, are retried only if that can help, and are named by shard and line."""

import errno
import json
import os
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace

import pytest

from fastsvm_cli.cluster import blocks, work
from fastsvm_cli.cluster import run as runs
from fastsvm_cli.cluster.parts import Folder
from support.dasking import client, parts, predict, run_here


@pytest.fixture
def run(models, tmp_path, monkeypatch):
    """Predicts `rows` in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").write_bytes(models["two"][1].read_bytes())
    run_here("predict", "-q", "rows", models["two"][0], "one")

    def run(*options, block=0.002, model="two", **how):
        return predict("--dask", "local", "--block", block, *options, "rows", models[model][0], "out", **how)

    return run


def spoil(lines):
    """Replace lines of `rows`, numbered from 1."""
    with open("rows", "rb") as file:
        text = file.read().splitlines(keepends=True)
    for number, line in lines.items():
        text[number - 1] = line
    with open("rows", "wb") as file:
        file.write(b"".join(text))


def whole():
    with open("out/manifest.json") as file:
        return json.load(file)["complete"]


def test_bad_rows_are_named_and_not_tried_again(run):
    spoil({5: b"1 x\n", 100: b"1 2:1 1:1\n", 250: b"no label\n"})
    tried = []
    printed = run(before=tried.append, code=1)
    lines = printed.err.splitlines()
    assert [line.split(": ")[1] for line in lines[:3]] == ["rows:5", "rows:100", "rows:250"]
    assert lines[3].startswith("Error: 3 of ") and len(lines) == 4 and "Accuracy" not in printed.out and not whole()
    written = [name for name in os.listdir("out") if name.startswith("part-")]
    assert len(tried) == len(set(tried)) == len(written) + 3
    # Line numbers are the shard's even if this run counted no other block.
    again = run(code=1, before=tried.append)
    assert again.err.splitlines()[-4:] == lines and len(tried) == len(written) + 6


def test_line_numbers_behind_a_block_that_failed(run):
    """The failed block's lines must be counted."""
    spoil({1: b"1 x\n", 2: b"1 y\n", 249: b"1 z\n"})
    printed = run(code=1, block=0.012)
    assert "rows:1: " in printed.err and "rows:249: " in printed.err and "rows:2: " not in printed.err


def test_line_numbers_cost_a_look_at_the_blocks_that_failed(run, monkeypatch):
    """Each failed block is counted once, not the shard for every named row."""
    counted = []

    def count(block):
        counted.append(block.part)
        return blocks.count_lines(block)

    monkeypatch.setattr(runs, "count_lines", count)
    spoil(dict.fromkeys((20, 100, 180, 240), b"1 x\n"))
    lines = run(code=1).err.splitlines()
    assert [line.split(": ")[1] for line in lines[:4]] == ["rows:20", "rows:100", "rows:180", "rows:240"]
    assert len(counted) == len(set(counted)) == 3


def test_ten_blocks_are_named_and_the_others_counted(run):
    spoil(dict.fromkeys(range(1, 251), b"x\n"))
    lines = run("-q", code=1, block=0.00002).err.splitlines()
    assert len(lines) == 12 and lines[10].endswith(" more blocks failed.") and "rows:1: " in lines[0]


@pytest.mark.parametrize("error", [OSError("503"), TimeoutError(), MemoryError()])
def test_what_can_pass_is_tried_again(error, run, tmp_path):
    seen = {}

    def fail_once(block):
        seen[block.part] = seen.get(block.part, 0) + 1
        if block.number == 2 and seen[block.part] == 1:
            raise error

    run(before=fail_once)
    assert seen.pop("part-00000-00002") == 2 and set(seen.values()) == {1}
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes()


def test_what_does_not_pass_is_given_up_and_stops_no_other(run):
    """Blocks of the same task are then done one by one."""
    tried = []

    def fail(block):
        if block.number == 2:
            tried.append(block)
            raise OSError("503 Slow Down")

    printed = run(before=fail, code=1)
    assert len(tried) == 2 * (runs.RETRIES + 1) and len(printed.done) == 9
    assert printed.err.startswith("Error: rows: 503 Slow Down\nError: 1 of") and not whole()


def test_progress_reaches_its_end_also_where_blocks_fail(run, monkeypatch):
    shares = []
    monkeypatch.setattr(runs, "TOGETHER", 1)
    monkeypatch.setattr(
        "fastsvm_cli.console.progress.Progress.__call__", lambda self, share, words="": shares.append(share)
    )
    spoil({100: b"1 x\n", 250: b"1 y\n"})
    run(code=1)
    assert len(shares) == 10 and shares == sorted(shares) and 0 < shares[0] < 0.2 and shares[-1] == pytest.approx(1)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("at_a_time", [1, 3, 10])
def test_no_block_is_lost_where_the_scheduler_knows_a_few_tasks_at_a_time(at_a_time, run, monkeypatch, tmp_path):
    monkeypatch.setattr(runs, "TOGETHER", 1)
    monkeypatch.setattr(runs, "AT_A_TIME", at_a_time)
    assert len(run().done) == 10 and parts(tmp_path / "out") == (tmp_path / "one").read_bytes()


def test_a_full_disk_ends_the_run_and_leaves_whole_parts(run, tmp_path):
    def fill(block):
        if block.number == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    printed = run(before=fill, code=1)
    assert printed.err.splitlines()[0] == "Error: out: No space left on device"
    assert len(printed.err.splitlines()) == 2 and not list((tmp_path / "out").glob(".*"))
    found = parts(tmp_path / "out")
    assert found and (tmp_path / "one").read_bytes().startswith(found) and not whole()
    assert "Kept: 4 of 10" in run().err and parts(tmp_path / "out") == (tmp_path / "one").read_bytes()


def test_a_part_that_cannot_be_written_leaves_nothing(tmp_path):
    where = Folder(str(tmp_path))
    for name in ("part-1", "part-2"):
        (tmp_path / "part-2").write_bytes(b"before")
        with pytest.raises(ZeroDivisionError):
            with where.create(name) as write:
                write(b"x" * 100)
                raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["part-2"] and (tmp_path / "part-2").read_bytes() == b"before"


def test_a_shard_that_changes_while_it_is_read(run, models, tmp_path):
    def change(block):
        if block.number == 1:
            with open("rows", "ab") as file:
                file.write(b"+1 1:1\n")

    printed = run(before=change, code=1)
    assert "rows: it was changed while it was read; run the same command again" in printed.err
    run()
    run_here("predict", "-q", "rows", models["two"][0], "one")
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes()


def test_a_second_client_with_the_same_job_is_no_error(run, tmp_path):
    """Both runs finish with the same result."""
    first = work.Folder.claim
    again = []

    def claim(self, run_, digests):  # the other client began in between
        found = first(self, run_, digests)
        again.append(first(self, run_, digests))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Folder, "claim", claim)
        run()
    assert again == [0] and parts(tmp_path / "out") == (tmp_path / "one").read_bytes() and whole()


def test_another_job_takes_the_folder_over(run, tmp_path):
    """No worker of the first job writes a part any more."""
    claimed = []

    def take(block):
        if block.number == 3:
            claimed.append(block)
            Folder("out").claim("another", {})

    printed = run(before=take, code=1)
    assert printed.err.splitlines()[0] == "Error: out: another fastsvm has taken it over"
    assert len(claimed) == 1 and not list((tmp_path / "out").glob("part*")) and not whole()


def test_a_folder_that_was_taken_over_is_not_called_whole(run, tmp_path, monkeypatch):
    """The takeover comes last, when all parts exist."""

    def totals(self, *_):
        Folder("out").claim("another", {})
        Sum.__init__(self, *_)

    Sum = runs.Sum
    monkeypatch.setattr(runs, "Sum", type("Late", (Sum,), {"__init__": totals}))
    printed = run(code=1)
    assert "another fastsvm has taken it over, or its files were changed" in printed.err and not whole()


@pytest.mark.parametrize("there", [True, False])
def test_a_worker_that_has_another_folder_of_that_name(there, run, tmp_path):
    """The worker's machine does not share the disk."""

    def away(block):
        if block.number == 3:
            (tmp_path / "out").rename(tmp_path / "elsewhere")
            if there:
                (tmp_path / "out").mkdir()

    printed = run(before=away, code=1)
    assert printed.err.splitlines()[0].startswith("Error: out: a worker does not see what this command writes there; ")
    assert not list(tmp_path.glob("out/.part*"))


def test_parts_that_somebody_else_has_written_since_are_done_again(run, tmp_path):
    """They may come from a worker of an earlier client."""

    def overwrite(block):
        if block.number == 3:
            (tmp_path / "out/part-00000-00001").write_text("another model's\n")

    printed = run(before=overwrite)
    assert printed.done.count("part-00000-00001") == 2
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes() and whole()


def test_a_foreign_file_that_comes_meanwhile(run):
    def add(block):
        Path("out/part-9").write_text("1\n")

    assert "or its files were changed" in run(before=add, code=1).err and not whole()


def test_a_part_that_never_stays_what_it_was(run, tmp_path, monkeypatch):
    plain = runs.answer_once

    def spoiled(*arguments):
        yield from plain(*arguments)
        (tmp_path / "out/part-00000-00001").write_text("another's\n")

    monkeypatch.setattr(runs, "answer_once", spoiled)
    printed = run(code=1)
    assert "somebody else is writing its parts" in printed.err and not whole()


def test_a_worker_of_another_fastsvm(run, monkeypatch):
    state = work.Job.__getstate__
    monkeypatch.setattr(work.Job, "__getstate__", lambda self: {**state(self), "version": "0.0.0"})
    lines = run(code=1).err.splitlines()
    assert lines[0].startswith("Error: this machine has fastsvm 0.0.0, and a worker ")
    assert len(lines) == 2 and not list(Path("out").glob("part*"))


@pytest.mark.parametrize(
    "error, words",
    [
        (CancelledError("connection lost"), "the scheduler was lost, or all workers were: connection lost"),
        (ModuleNotFoundError("No module named 'fastsvm_cli'"), "a worker cannot read the job: install fastsvm"),
        (RuntimeError("Error during deserialization of the task graph"), "a worker cannot read the job"),
    ],
)
def test_what_concerns_all_blocks_ends_the_run(error, words, run):
    def go(block):
        if block.number == 2:
            raise error

    lines = run(before=go, code=1).err.splitlines()
    assert words in lines[0] and lines[1].startswith("Error: 10 of 10 parts are missing") and len(lines) == 2
    assert "Kept: " in run().err


def test_a_worker_that_takes_others_with_it(run, monkeypatch):
    from distributed.scheduler import KilledWorker

    def die(block):
        if block.number == 2:
            raise KilledWorker("answer", SimpleNamespace(address="tcp://far:1"), 3)

    assert run(before=die, code=1).err.startswith("Error: rows: every worker that had it died\nError: 1 of 10 parts")


def test_the_scheduler_forgets_the_job(run):
    from support.processes import wait_until

    run()
    assert wait_until(lambda: not client().cluster.scheduler.tasks)
