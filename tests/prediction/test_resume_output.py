"""predict --resume: the output file; a whole process, killed."""

import gzip
import json
import os
import stat
import sys

import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.prediction import resume
from fastsvm_cli.prediction.resume import ResumableOutput
from fastsvm_cli.text.line_blocks import Position
from support.messages import SKIPPED, no_label
from support.outputs import timeless
from support.paths import FASTSVM, SCRIPTS
from support.processes import outcome
from support.resuming import Disk, forked, resumable

# ---- the output file


def test_a_run_that_is_not_stopped_leaves_the_output_alone(fastsvm, models, tmp_path):
    plain = fastsvm("predict", models / "rings.rows", models / "rings.approx", "expected")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "target").write_text("before\n")
    (tmp_path / "folder" / "target").chmod(0o640)
    (tmp_path / "out").symlink_to("folder/target")
    done = fastsvm("predict", "--resume", models / "rings.rows", models / "rings.approx", "out")
    assert (done.out, done.err) == (plain.out, plain.err)
    assert os.readlink(tmp_path / "out") == "folder/target" and os.listdir(tmp_path / "folder") == ["target"]
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


@pytest.mark.full
def test_an_empty_input_and_one_of_bad_rows_alone(models, tmp_path):
    (tmp_path / "empty").write_text(""), (tmp_path / "bad").write_text("foo\n" * 3000)
    for rows, options in (
        ("empty", []),
        ("empty", ["-b", "1"]),
        ("bad", ["--on-bad-row", "skip"]),
        ("bad", ["--on-bad-row", "nan", "-b", "1"]),
    ):
        expected = forked(tmp_path, "predict", "--json", *options, rows, models / "rings.model", "expected")
        for at in range(4, 70, 5):
            first = forked(
                tmp_path,
                *"predict --json --resume".split(),
                *options,
                rows,
                models / "rings.model",
                "out",
                prepare=lambda: Disk(at),
                code=None,
            )
            done = forked(tmp_path, "predict", "--json", "--resume", *options, rows, models / "rings.model", "out")
            assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
            assert timeless(done.out) == timeless(expected.out)
            assert sorted(os.listdir(tmp_path)) == ["bad", "empty", "expected", "out"]
            os.unlink(tmp_path / "out")
            if first.code == 0:
                break


def test_a_run_that_is_stopped_before_its_first_row_leaves_nothing(models, tmp_path):
    (tmp_path / "rows").write_text("foo\n1 1:1\n")
    done = forked(tmp_path, "predict", "--resume", "rows", models / "rings.approx", "out", code=1)
    assert done.err.splitlines()[-1] == f"Error: rows:1: {no_label('foo')}{SKIPPED}"
    assert "are kept" not in done.err and os.listdir(tmp_path) == ["rows"]


def test_a_checkpoint_is_due_after_some_seconds_or_later_where_it_takes_long(tmp_path, monkeypatch):
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
    position = Position()
    with resumable(tmp_path / "out", position) as output:
        while len(begun) < len(costs):
            now += 0.25
            output.run_counts.rows = position.lines = position.lines + 1
            output.on_chunk(output.run_counts)
    waited = [start - end for start, end in zip(begun[: len(costs)], ended)]
    assert waited == pytest.approx([0.0, 5.0, 5.0, 40.0, 5.0, 20.0])  # the first one at once


def test_an_output_that_must_not_be_written_is_not(tmp_path, monkeypatch):
    (tmp_path / "out").write_text("before\n")
    # Tests may run as root, who may write anything.
    monkeypatch.setattr(os, "access", lambda path, how: how != os.W_OK)
    with pytest.raises(FileError, match="out: Permission denied"):
        resumable(tmp_path / "out")
    assert os.listdir(tmp_path) == ["out"]


# ---- a whole process, killed


@pytest.mark.full
@pytest.mark.parametrize("compressed", [False, True])
def test_the_check_on_a_large_file_on_a_small_one(models, tmp_path, compressed):
    text = (models / "rings.rows").read_bytes()
    (tmp_path / "rows").write_bytes(gzip.compress(text * 20) if compressed else text)
    done = outcome(
        [
            sys.executable,
            SCRIPTS / "check_resume.py",
            "--size",
            "0.005" if compressed else "0.02",
            *"--kills 2 --every 0 --seed 1 --folder".split(),
            tmp_path,
            tmp_path / "rows",
            models / "rings.approx",
        ],
        env={**os.environ, "PATH": f"{os.path.dirname(FASTSVM)}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same bytes and the same summary" in done.stdout and os.listdir(tmp_path) == ["rows"]
    assert json.loads(done.stdout.splitlines()[-1])["kills"] <= 2
