"""A block that fails stops no other, is tried again only where that can help, and is named by its shard and line."""

import errno
import json
import os
from types import SimpleNamespace

import pytest

from fastsvm_cli.cluster import crew, folder, lease, manifest, totals, work
from fastsvm_cli.cluster.block_content import count_lines
from fastsvm_cli.errors import FastsvmError, FileError
from support.dasking import Client, Future, parts, predict, run_here


@pytest.fixture
def run(models, tmp_path, monkeypatch):
    """A function that predicts `rows` in the current folder, a task per block."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(crew, "_TOGETHER", 1)
    (tmp_path / "rows").write_bytes(models["two"][1].read_bytes())
    run_here("predict", "-q", "rows", models["two"][0], "one")

    def run(*options, client=None, code=0, block=0.002):
        return predict(
            "--dask", "local", "--block", block, *options, "rows", models["two"][0], "out", client=client, code=code
        )

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
    client = Client()
    said = run(client=client, code=1)
    lines = said.err.splitlines()
    assert [line.split(": ")[1] for line in lines[:3]] == ["rows:5", "rows:100", "rows:250"]
    assert lines[3].startswith("Error: 3 of ") and len(lines) == 4 and "Accuracy" not in said.out and not whole()
    tasks = [part for task in client.tasks for part in task]
    written = [name for name in os.listdir("out") if name.startswith("part-")]
    assert len(tasks) == len(set(tasks)) == len(written) + 3
    # Line numbers are the shard's also where no other block has counted any.
    again = Client()
    assert run(client=again, code=1).err.splitlines()[-4:] == lines and len(again.tasks) == 3


def test_line_numbers_behind_a_block_that_failed(run):
    """Its lines have to be counted."""
    spoil({1: b"1 x\n", 2: b"1 y\n", 249: b"1 z\n"})
    said = run(code=1, block=0.012)
    assert "rows:1: " in said.err and "rows:249: " in said.err and "rows:2: " not in said.err


def test_line_numbers_cost_a_look_at_the_blocks_that_failed(run, monkeypatch):
    """Each of them once, and not the shard from its beginning for every row that is named."""
    counted = []

    def count(block):
        counted.append(block.part)
        return count_lines(block)

    monkeypatch.setattr(totals, "count_lines", count)
    spoil(dict.fromkeys((20, 100, 180, 240), b"1 x\n"))
    lines = run(code=1).err.splitlines()
    assert [line.split(": ")[1] for line in lines[:4]] == ["rows:20", "rows:100", "rows:180", "rows:240"]
    assert len(counted) == len(set(counted)) == 3


def test_ten_blocks_are_named_and_the_others_counted(run):
    spoil(dict.fromkeys(range(1, 251), b"x\n"))
    said = run("-q", code=1, block=0.00002)
    lines = said.err.splitlines()
    assert len(lines) == 12 and lines[10].endswith(" more blocks failed.") and "rows:1: " in lines[0]


class KilledWorker(Exception):
    """distributed's, by its name."""


@pytest.mark.parametrize("fault", [OSError("503"), TimeoutError(), KilledWorker("x"), MemoryError()])
def test_what_can_pass_is_tried_again(fault, run, tmp_path):
    seen = {}

    def fail_once(blocks):
        (block,) = blocks
        seen[block.part] = seen.get(block.part, 0) + 1
        if seen[block.part] == 1:
            raise fault

    run(client=Client(fail_once))
    assert set(seen.values()) == {2} and parts(tmp_path / "out") == (tmp_path / "one").read_bytes()


@pytest.mark.parametrize(
    "fault, tries, why",
    [
        (OSError("503 Slow Down"), crew.TRIES, "503 Slow Down"),
        # Dask has given it to four workers each time.
        (KilledWorker("x"), 2, "every worker that had it died"),
    ],
)
def test_what_does_not_pass_is_given_up(fault, tries, why, run):
    tried = []

    def fail(blocks):
        if blocks[0].number == 2:
            tried.append(1)
            raise fault

    said = run(client=Client(fail), code=1)
    assert len(tried) == tries
    assert said.err.startswith(f"Error: rows: {why}\nError: 1 of") and not whole()


def test_progress_reaches_its_end_also_where_blocks_fail(run, monkeypatch):
    shares = []
    monkeypatch.setattr(
        "fastsvm_cli.console.progress.Progress.__call__", lambda self, share, words="": shares.append(share)
    )
    spoil({100: b"1 x\n", 250: b"1 y\n"})
    run(code=1)
    assert len(shares) == 10 and shares == sorted(shares) and 0 < shares[0] < 0.2 and shares[-1] == pytest.approx(1)


class FullDisk(folder._LocalFile):
    left = 300

    def write(self, data):
        FullDisk.left -= len(data)
        if FullDisk.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(data)


def test_a_full_disk_ends_the_run_and_leaves_whole_parts(run, tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "_LocalFile", _only_parts(FullDisk))
    client = Client()
    said = run(client=client, code=1)
    assert said.err.splitlines()[0] == "Error: out: No space left on device"
    assert len(said.err.splitlines()) == 2 and not list((tmp_path / "out").glob(".part*"))
    found = parts(tmp_path / "out")
    assert found and (tmp_path / "one").read_bytes().startswith(found) and not whole()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert "Kept: " in run().err and parts(tmp_path / "out") == (tmp_path / "one").read_bytes()


def _only_parts(kind):
    plain = folder._LocalFile
    return lambda path, name, words: (kind if name.startswith("part-") else plain)(path, name, words)


def test_a_shard_that_changes_while_it_is_read(run, models, tmp_path):
    def change(blocks):
        if blocks[0].number == 1:
            with open("rows", "ab") as file:
                file.write(b"+1 1:1\n")

    said = run(client=Client(change), code=1)
    assert "rows: it was changed while it was read; run the same command again" in said.err
    run()
    run_here("predict", "-q", "rows", models["two"][0], "one")
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes()


def test_a_second_client_is_refused_and_a_dead_one_is_not_missed(run, tmp_path, monkeypatch):
    seen = []

    def second(blocks):
        if not seen:
            seen.append(run(code=1).err)

    run(client=Client(second))
    assert seen == [f"Error: out: another fastsvm is writing it (process {os.getpid()} on this machine)\n"]
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes() and not list((tmp_path / "out").glob(".*"))


@pytest.mark.parametrize("place", ["far", ""])
@pytest.mark.parametrize("silent, refused", [(lease.PATIENCE - 1, True), (lease.PATIENCE + 1, False)])
def test_a_client_of_another_machine(silent, refused, place, run, tmp_path, monkeypatch):
    """place: where neither has a name of its own for its processes, they may be the same machine's, and may not."""
    monkeypatch.setattr(lease, "time", SimpleNamespace(time=lambda: 1e9, sleep=lambda seconds: None))
    if not place:
        monkeypatch.setattr(lease, "_place", lambda: "")
    (tmp_path / "out").mkdir()
    words = {"client": "ab", "host": "far", "pid": 7, "place": place, "begun": "7", "renewed": 1e9 - silent}
    (tmp_path / "out" / lease.NAME).write_text(json.dumps(words))
    said = run(code=int(refused))
    assert ("process 7 on far" in said.err) and ("try again in" in said.err) == refused


def test_a_client_that_was_taken_over_stops(run, tmp_path):
    """It slept, say; the parts of its workers are not published then."""

    def take(blocks):
        if blocks[0].number == 3:
            (tmp_path / "out" / lease.NAME).write_text("{}")

    said = run(client=Client(take), code=1)
    assert "another fastsvm has taken" in said.err and not whole()
    assert len(list((tmp_path / "out").glob("part-*"))) == 3


@pytest.mark.parametrize("begun", [True, False])
def test_a_client_that_was_taken_over_does_not_call_the_folder_whole(begun, run, tmp_path):
    """Its parts are there, and another one is writing its own over them."""

    class TakenOver(Client):
        def unregister_worker_plugin(self, name):
            super().unregister_worker_plugin(name)
            if begun:
                (tmp_path / "out" / lease.NAME).write_text("{}")

    def before_it_begins(*_):
        (tmp_path / "out" / lease.NAME).write_text("{}")
        return []

    if begun:
        said = run(client=TakenOver(), code=1)
        assert not whole()
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(manifest.Manifest, "load", before_it_begins)
            said = run(code=1)
        assert not (tmp_path / "out/manifest.json").exists()
    assert said.err == "Error: out: another fastsvm has taken it over\n"
    assert (tmp_path / "out" / lease.NAME).read_text() == "{}"


@pytest.mark.parametrize("there", [True, False])
def test_a_worker_that_has_another_folder_of_that_name(there, run, tmp_path):
    """On a machine that does not share the disk."""

    def away(blocks):
        if blocks[0].number == 3:
            (tmp_path / "out").rename(tmp_path / "elsewhere")
            if there:
                (tmp_path / "out").mkdir()

    said = run(client=Client(away), code=1)
    assert said.err.splitlines()[0].startswith("Error: out: a worker does not see what this command writes there; ")
    assert not list(tmp_path.glob("out/.part*"))


def test_the_lease_is_renewed_and_its_loss_is_seen(tmp_path, monkeypatch):
    from support.processes import wait_until

    monkeypatch.setattr(lease, "BEAT", 0.01)
    where = folder.folder(str(tmp_path))
    mine = lease.Lease(where)
    mine.take()
    first = where.read(lease.NAME)
    assert wait_until(lambda: where.read(lease.NAME) != first) and not mine.lost
    with pytest.raises(FileError, match="another fastsvm is writing"):
        lease.Lease(where).take()
    words = json.dumps({"client": "another", "host": "", "pid": 1, "renewed": 0}).encode()
    # Again and again: it may be renewing at that very moment.
    assert wait_until(lambda: where.put(lease.NAME, words, "x") and mine.lost)
    mine.release()
    assert where.read(lease.NAME) == words


def test_parts_that_somebody_else_has_written_since_are_done_again(run, tmp_path):
    """A worker of a former client, say, that had not been told to stop."""

    def overwrite(blocks):
        if blocks[0].number == 3:
            (tmp_path / "out/part-00000-00001").write_text("another model's\n")

    client = Client(overwrite)
    run(client=client)
    assert [task[0][-1] for task in client.tasks].count("1") >= 2
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes() and whole()


def test_a_scheduler_that_goes(run):
    client = Client()

    def go(blocks):
        if blocks[0].number == 2:
            client.status = "closed"
            raise RuntimeError

    client._before = go
    said = run(client=client, code=1)
    assert said.err.splitlines()[0] == "Error: the scheduler at local does not answer any longer"


def test_a_worker_of_another_fastsvm(run, monkeypatch):
    monkeypatch.setattr(work, "__version__", "0.0.1")
    client, before = Client(), dict(work._jobs)
    said = run(client=client, code=1)
    assert "a worker 0.0.1: install the same one" in said.err and len(said.err.splitlines()) == 1
    assert client.plugins == {} and work._jobs == before  # nor does another worker keep the models


def test_a_worker_of_another_fastsvm_that_comes_later(run, monkeypatch):
    """Dask says nothing of a plugin that fails then, and gives the worker tasks."""

    def other(blocks):
        if blocks[0].number == 2:
            (plugin,) = client.plugins.values()
            monkeypatch.setattr(work, "__version__", "0.0.1")
            with pytest.raises(FastsvmError):
                work.learn(plugin.job)

    client = Client(other)
    said = run(client=client, code=1).err.splitlines()
    assert said[0].endswith("and a worker 0.0.1: install the same one") and len(said) == 2 and len(client.tasks) < 10


def test_a_task_that_was_lost_is_done(run, tmp_path):
    class Losing(Client):
        lost = 0

        def submit(self, *arguments, **words):
            future = super().submit(*arguments, **words)
            if self.lost < 2:
                self.lost += 1
                future = Future(None)
                future.status = "cancelled"
            return future

    client = Losing()
    run(client=client)
    assert client.lost == 2 and parts(tmp_path / "out") == (tmp_path / "one").read_bytes()
