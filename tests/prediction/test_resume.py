"""predict --resume: a stopped run continues to the bytes and summary of one run."""

import errno
import gzip
import json
import os
import random
import re
import signal
import stat
import sys

import pytest

from fastsvm_cli.commands import resume
from fastsvm_cli.commands.resume import ResumableOutput
from fastsvm_cli.prediction import RunCounts
from support.messages import SKIPPED, cases, no_label
from support.outputs import timeless
from support.paths import FASTSVM, SCRIPTS
from support.processes import outcome
from support.reading import COMPRESS
from support.resuming import ROWS, Disk, forked, lines_of, resumable


@pytest.mark.full(few=1)
@pytest.mark.parametrize("model, rows, options", cases("resumed runs"), ids=lambda value: value)
def test_killed_again_and_again_it_comes_to_the_same_end(models, tmp_path, model, rows, options):
    words = [str(models / word) if word.endswith(".model") else word for word in options.split()]
    command = ["predict", *words, models / rows, models / model]
    expected = forked(tmp_path, *command, "expected", block=1 << 20)
    rng, at, killed = random.Random(f"{model} {rows} {options}"), 9, 0
    while True:
        done = forked(tmp_path, *command, "--resume", "out", prepare=lambda: Disk(at), code=None)
        if done.code == 0:
            break
        assert done.code == -signal.SIGKILL, str(done)
        at, killed = rng.randint(9, 60), killed + 1
    assert killed >= 1 and (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
    assert timeless(done.out) == timeless(expected.out) and lines_of(done.err) == lines_of(expected.err)
    warnings = [[line for line in run.err.splitlines() if line.startswith("Warning: ")] for run in (done, expected)]
    assert warnings[0] == warnings[1] and sorted(os.listdir(tmp_path)) == ["expected", "out"]


class Full(Disk):
    """A disk that is full from the `at`-th call on."""

    CALLS = ("write", "fsync", "replace")

    def step(self, half=lambda: None):
        self.calls += 1
        if self.calls >= self.at:
            if self.calls == self.at:
                half()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.full
@pytest.mark.parametrize(
    "disk, code, before",
    [
        pytest.param(Disk, -signal.SIGKILL, "before\n", id="killed"),
        pytest.param(lambda at: Disk(at, power=True), -signal.SIGKILL, None, id="power gone"),
        pytest.param(Full, 1, "before\n", id="full"),
    ],
)
def test_wherever_a_run_ends_nothing_is_lost_and_the_next_comes_to_the_same_end(models, tmp_path, disk, code, before):
    """At every call to the disk. The output's name always holds the previous file or the whole new one."""
    (tmp_path / "rows").write_text("".join((models / "regression.rows").read_text().splitlines(keepends=True)[:36]))
    command = ["predict", "--values", "rows", models / "regression.model"]
    expected = forked(tmp_path, *command, "expected", block=600)
    whole = (tmp_path / "expected").read_text()
    stored = []
    for at in range(1, 1000, 3 if disk is Full else 1):
        for name in os.listdir(tmp_path):
            if name.startswith("out"):
                os.unlink(tmp_path / name)
        if before is not None:
            (tmp_path / "out").write_text(before)
        first = forked(tmp_path, *command, "--resume", "out", prepare=lambda: disk(at), code=None, block=600)
        if first.code == 0:
            break
        assert first.code == code, str(first)
        assert code < 0 or re.search(r"^Error: out(\.partial)?: No space left on device$", first.err, re.M)
        found = (tmp_path / "out").read_text() if (tmp_path / "out").exists() else None
        assert found in (before, whole), at
        second = forked(tmp_path, *command, "--resume", "out", block=600)
        assert (tmp_path / "out").read_text() == whole and second.out == expected.out, at
        assert sorted(os.listdir(tmp_path)) == ["expected", "out", "rows"], at
        stored.append(
            int((re.search(r"^Continuing after row (\d+), from out.partial\.$", second.err, re.M) or [0, 0])[1])
        )
    # Rows up to the checkpoints.
    assert at > 30 and stored == sorted(stored) and len(set(stored)) > 3 and stored[-1] == 36


def die_before_the_state_goes():
    """Kill the process when only the state is left to be removed."""
    real = os.unlink

    def unlink(path):
        if os.fsdecode(path).endswith(".partial.state"):
            os.kill(os.getpid(), signal.SIGKILL)
        real(path)

    os.unlink = unlink


@pytest.mark.full
@pytest.mark.parametrize("then", ["the same", "rows", "model", "options", "gone", "replaced"])
def test_killed_when_the_output_has_its_name_the_next_run_goes_on_by_itself(models, tmp_path, then):
    """With the same command or another; also if the finished output was removed or replaced."""
    (tmp_path / "rows").write_bytes((models / "regression.rows").read_bytes())
    (tmp_path / "out").write_text("before\n"), (tmp_path / "out").chmod(0o640)
    command = ["predict", "--resume", "rows", models / "regression.model", "out"]
    killed = forked(tmp_path, *command, prepare=die_before_the_state_goes, code=None)
    assert killed.code == -signal.SIGKILL and sorted(os.listdir(tmp_path)) == ["out", "out.partial.state", "rows"]
    finished = (tmp_path / "out").stat()
    if then == "rows":
        (tmp_path / "rows").write_bytes((models / "regression.rows").read_bytes() * 2)
    elif then == "model":
        command[3] = models / "regression.red"
    elif then == "options":
        command.insert(1, "--values")
    elif then == "gone":
        (tmp_path / "out").unlink()
    elif then == "replaced":
        (tmp_path / "out").write_text("before\n")
    for run in range(2):  # also for the run after it
        done = forked(tmp_path, *command)
        expected = forked(tmp_path, *[word for word in command if word != "--resume"][:-1], "expected")
        assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() and done.out == expected.out
        assert sorted(os.listdir(tmp_path)) == ["expected", "out", "rows"]
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == (0o644 if then == "gone" else 0o640)
        if then == "the same" and run == 0:  # not written again
            assert os.path.samestat(finished, (tmp_path / "out").stat())


@pytest.mark.parametrize("stop, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_every_row_that_was_finished(models, tmp_path, stop, code):
    """The signal's checkpoint suffices."""
    command = ["predict", "--resume", models / "two.rows", models / "two.approx", "out"]
    forked(tmp_path, *command[:1], *command[2:-1], "expected")
    first = forked(
        tmp_path, *command, prepare=lambda: Disk(16, death=lambda: os.kill(os.getpid(), stop)), code=code, seconds=1e9
    )
    kept = r".*^(\d+) rows are kept in out\.partial: the same command continues after them\.\n"
    stored = int(re.fullmatch(kept, first.err, re.M | re.S)[1])
    assert 0 < stored < ROWS and not (tmp_path / "out").exists()
    finished = (tmp_path / "expected").read_bytes().splitlines(keepends=True)[:stored]
    assert (tmp_path / "out.partial").read_bytes() == b"".join(finished)
    second = forked(tmp_path, *command)
    assert f"Continuing after row {stored}, from out.partial.\n" in second.err
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


def test_a_bad_row_ends_the_run_and_the_next_goes_on_past_it(models, tmp_path):
    lines = (models / "two.dressed").read_text().splitlines(keepends=True)
    lines[200:200], lines[400:400] = ["foo\n"], ["bar\n"]
    before = sum(not line.lstrip(" \t").startswith("#") for line in lines[:200])
    (tmp_path / "rows").write_text("".join(lines))
    command = ["predict", "rows", models / "two.approx"]
    error = f"Error: rows:201: {no_label('foo')}{SKIPPED}"
    first = forked(tmp_path, *command, "--resume", "out", code=1)
    kept = f"{before} rows are kept in out.partial: with --on-bad-row skip or nan, the same command continues after"
    assert first.err.splitlines()[-2:] == [f"{kept} them.", error]
    again = forked(tmp_path, *command, "--resume", "out", code=1)
    assert again.err.splitlines()[-1] == error and f"Continuing after row {before}, " in again.err
    expected = forked(tmp_path, *command, "--on-bad-row", "nan", "expected")
    last = forked(tmp_path, *command, "--resume", "--on-bad-row", "nan", "out")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() and last.out == expected.out
    assert lines_of(last.err) == lines_of(expected.err)
    assert "Warning: rows:201: 'foo'" in last.err and "Warning: rows:401: 'bar'" in last.err


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_compressed_file_that_is_cut_off_keeps_the_rows_before(models, tmp_path, kind):
    """Its last row is not a bad one."""
    whole = (models / f"two.{kind}").read_bytes()
    (tmp_path / "rows").write_bytes(whole[: len(whole) // 2])
    command = ["predict", "--resume", "--on-bad-row", "nan", "rows", models / "two.approx", "out"]
    done, again = (forked(tmp_path, *command, code=1) for _ in range(2))
    stored = int(re.search(r"^(\d+) rows are kept", done.err, re.M)[1])
    assert 0 < stored < ROWS and f"Continuing after row {stored}," in again.err
    assert {each.err.splitlines()[-1] for each in (done, again)} == {f"Error: rows: the {kind} data ends too early"}


def test_stopped_before_its_first_row_it_leaves_nothing(models, tmp_path):
    (tmp_path / "rows").write_text("foo\n1 1:1\n")
    done = forked(tmp_path, "predict", "--resume", "rows", models / "two.approx", "out", code=1)
    assert done.err.splitlines()[-1] == f"Error: rows:1: {no_label('foo')}{SKIPPED}"
    assert "are kept" not in done.err and os.listdir(tmp_path) == ["rows"]


def test_a_run_that_is_not_stopped_leaves_the_output_alone(fastsvm, models, tmp_path):
    plain = fastsvm("predict", models / "two.rows", models / "two.approx", "expected")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "target").write_text("before\n")
    (tmp_path / "folder" / "target").chmod(0o640)
    (tmp_path / "out").symlink_to("folder/target")
    done = fastsvm("predict", "--resume", models / "two.rows", models / "two.approx", "out")
    assert (done.out, done.err) == (plain.out, plain.err)
    assert os.readlink(tmp_path / "out") == "folder/target" and os.listdir(tmp_path / "folder") == ["target"]
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_checkpoint_is_due_after_some_seconds_or_later_where_it_takes_long(models, tmp_path, monkeypatch):
    now, begun, ended = 0.0, [], [0.0]
    costs = [0.0, 0.0, 2.0, 0.125, 1.0, 0.0]
    write_state = ResumableOutput.write_state

    def slow(self, text):
        nonlocal now
        begun.append(now)
        now += costs[min(len(begun), len(costs)) - 1]
        ended.append(now)
        write_state(self, text)

    monkeypatch.setattr(resume, "monotonic", lambda: now)
    monkeypatch.setattr(ResumableOutput, "write_state", slow)
    output, prediction = resumable(tmp_path / "out", models / "two.model")
    with output:
        while len(begun) < len(costs):
            now += 0.25
            prediction.position.lines += 1
            prediction.run_counts.add_values({**RunCounts(True).values(), "rows": 1})
            output.on_chunk()
    waited = [start - end for start, end in zip(begun[: len(costs)], ended)]
    assert waited == pytest.approx([0.0, 5.0, 5.0, 40.0, 5.0, 20.0])  # the first one at once


@pytest.mark.full
@pytest.mark.parametrize("compressed", [False, True])
def test_the_check_on_a_large_file_on_a_small_one(models, tmp_path, compressed):
    text = (models / "two.rows").read_bytes()
    (tmp_path / "rows").write_bytes(gzip.compress(text * 20) if compressed else text)
    options = f"--size {0.005 if compressed else 0.02} --kills 2 --every 0 --seed 1 --folder".split()
    words = [sys.executable, SCRIPTS / "check_resume.py", *options, tmp_path, tmp_path / "rows", models / "two.approx"]
    path = f"{os.path.dirname(FASTSVM)}:{os.environ['PATH']}"
    done = outcome(words, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same bytes and the same summary" in done.stdout and os.listdir(tmp_path) == ["rows"]
    assert json.loads(done.stdout.splitlines()[-1])["kills"] <= 2
