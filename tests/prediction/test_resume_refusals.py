"""predict --resume: a mismatch with the stopped run is refused, and nothing is lost."""

import fcntl
import os
import re
import signal

import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.text.fingerprint import fingerprint
from support.resuming import Disk, forked, resumable


@pytest.fixture
def stopped(models, tmp_path):
    """stopped(*options, rows=...) leaves a stopped run in the folder and returns its command without --resume."""
    (tmp_path / "rows").write_bytes((models / "rings.rows").read_bytes())
    (tmp_path / "bad").write_bytes((models / "rings.bad").read_bytes())
    for name in ("rings.cert", "rings.order", "waves.order", "rings.model"):
        (tmp_path / name).write_bytes((models / name).read_bytes())

    def stop(*options, rows="rows", model="rings.cert"):
        command = ["predict", *options, rows, model, "out"]
        done = forked(
            tmp_path,
            *command,
            "--resume",
            prepare=lambda: Disk(30, death=lambda: os.kill(os.getpid(), signal.SIGTERM)),
            code=143,
        )
        assert " rows are kept in out.partial" in done.err
        return command

    return stop


OTHER = [
    ([], ["-b", "1"], "begun with -b 0, and this command has 1"),
    ([], ["--values"], "begun with --values off, and this command has on"),
    (["--values"], [], "begun with --values on, and this command has off"),
    ([], ["--unlabelled"], "begun with --unlabelled off, and this command has on"),
    ([], ["--dense"], "begun with --dense off, and this command has on"),
    ([], ["--exact", "rings.model"], "begun with --exact off, and this command has on"),
    (
        [],
        ["--max-line", "1"],
        "begun with --on-bad-row stop and --max-line 256, which met 0 bad rows, and this command has --on-bad-row stop"
        " and --max-line 1",
    ),
]


@pytest.mark.full(few=3)
@pytest.mark.parametrize("first, then, words", OTHER)
def test_other_options_are_refused_and_nothing_is_lost(stopped, tmp_path, first, then, words):
    stopped(*first)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    done = forked(tmp_path, "predict", "--resume", *then, "rows", "rings.cert", "out", code=1)
    assert done.err.splitlines()[-1] == f"Error: out.partial: {words}; remove out.partial to start from the beginning"
    assert before == {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    forked(tmp_path, "predict", "--resume", *first, "rows", "rings.cert", "out")


def test_another_delimiter_is_refused(stopped, models, tmp_path):
    rows = re.sub(r" \d+:", " ", (models / "rings.rows").read_text())
    (tmp_path / "dense").write_text(rows)
    command = stopped("--dense", "--delim", " ", rows="dense")
    done = forked(tmp_path, "predict", "--resume", "--dense", "dense", "rings.cert", "out", code=1)
    assert done.err.splitlines()[-1].startswith("Error: out.partial: begun with --delim ' ', and this command has ','")
    forked(tmp_path, *command, "--resume")


def test_steps_and_tolerance_are_options_too(stopped, tmp_path):
    stopped("--steps", 3, model="rings.order")
    assert (
        "begun with --steps 3, and this command has 4;"
        in forked(tmp_path, "predict", "--resume", "--steps", 4, "rows", "rings.order", "out", code=1).err
    )
    assert (
        "begun with --steps 3, and this command has unset;"
        in forked(tmp_path, "predict", "--resume", "rows", "rings.order", "out", code=1).err
    )
    os.unlink(tmp_path / "out.partial")  # to start from the beginning
    stopped("--tolerance", 0.1, model="waves.order")
    assert (
        "begun with --tolerance 0.1, and this command has 0.2;"
        in forked(tmp_path, "predict", "--resume", "--tolerance", 0.2, "rows", "waves.order", "out", code=1).err
    )


def test_another_model_or_input_is_refused(stopped, tmp_path):
    command = stopped()

    def refused(words):
        done = forked(tmp_path, *command, "--resume", code=1)
        assert (
            done.err.splitlines()[-1] == f"Error: out.partial: {words}; remove out.partial to start from the beginning"
        )

    model, rows = (tmp_path / "rings.cert").read_bytes(), (tmp_path / "rows").read_bytes()
    time = os.stat(tmp_path / "rows").st_mtime_ns
    other = (tmp_path / "rings.order").read_bytes()
    (tmp_path / "rings.cert").write_bytes(other)
    refused(f"begun with model {fingerprint(model)!r}, and this command has {fingerprint(other)!r}")
    (tmp_path / "rings.cert").write_bytes(model)
    (tmp_path / "rows").write_bytes(rows + b"1 1:1\n")
    refused(f"begun with TEST_FILE's bytes {len(rows)}, and this command has {len(rows) + 6}")
    (tmp_path / "rows").write_bytes(rows)
    os.utime(tmp_path / "rows", ns=(time, time + 1))
    refused(f"begun with TEST_FILE's time {time}, and this command has {time + 1}")
    os.utime(tmp_path / "rows", ns=(time, time))
    (tmp_path / "moved").mkdir()
    os.rename(tmp_path / "rows", tmp_path / "moved" / "rows")  # another path, the same file
    forked(tmp_path, "predict", "--resume", "moved/rows", "rings.cert", "out")


@pytest.mark.parametrize("what", ["fastsvm", "instructions"])
def test_another_program_or_processor_is_refused(stopped, tmp_path, what):
    from zlib import crc32

    command, state = stopped(), tmp_path / "out.partial.state"
    head, _, body = state.read_bytes().partition(b"\n")
    body = re.sub(rb'("%s": )"[^"]*"' % what.encode(), rb'\1"other"', body)
    state.write_bytes(b"%s %08x\n" % (head.rpartition(b" ")[0], crc32(body)) + body)
    printed = forked(tmp_path, *command, "--resume", code=1).err.splitlines()[-1]
    assert printed.startswith(f"Error: out.partial: begun with {what} 'other', and this command has '")
    assert printed.endswith("'; remove out.partial to start from the beginning")


def test_what_becomes_of_bad_rows_can_change_until_there_is_one(stopped, models, tmp_path):
    command = stopped("--on-bad-row", "skip", rows="bad")
    done = forked(tmp_path, "predict", "--resume", "--on-bad-row", "nan", "bad", "rings.cert", "out", code=1)
    assert "begun with --on-bad-row skip and --max-line 256, which met " in done.err
    done = forked(tmp_path, *command, "--max-line", 300, "--resume", code=1)
    assert "begun with --on-bad-row skip and --max-line 256" in done.err and "--max-line 300;" in done.err
    forked(tmp_path, *command, "--resume")
    stopped()
    forked(tmp_path, "predict", "--resume", "--max-line", 300, "--on-bad-row", "skip", "rows", "rings.cert", "out")


def test_a_damaged_state_or_other_lines_are_refused(stopped, models, tmp_path):
    command = stopped()
    state, lines = (tmp_path / "out.partial.state").read_bytes(), (tmp_path / "out.partial").read_bytes()
    why = "this is not what fastsvm wrote there; remove {0}.state and {0} to start from the beginning"
    for at in range(0, len(state), 7):
        for damaged in (state[:at], state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :]):
            (tmp_path / "out.partial.state").write_bytes(damaged)
            with pytest.raises(FileError) as refused:
                resumable(tmp_path / "out")
            assert str(refused.value) == f"{tmp_path}/out.partial.state: {why.format(tmp_path / 'out.partial')}"
    assert (
        forked(tmp_path, *command, "--resume", code=1).err.splitlines()[-1]
        == f"Error: out.partial.state: {why.format('out.partial')}"
    )
    (tmp_path / "out.partial.state").write_bytes(state)
    for other, words in (
        (
            lines[:-1],
            (
                f"{len(lines) - 1} bytes found, expected the {len(lines)} that out.partial.state speaks of; "
                "remove out.partial and out.partial.state to start from the beginning"
            ),
        ),
        (
            b"x" + lines[:-1],
            "other lines found than those that out.partial.state speaks of; "
            "remove out.partial and out.partial.state to start from the beginning",
        ),
    ):
        (tmp_path / "out.partial").write_bytes(other)
        assert forked(tmp_path, *command, "--resume", code=1).err.splitlines()[-1] == f"Error: out.partial: {words}"
    (tmp_path / "out.partial").write_bytes(lines + b"what a killed run wrote after its last checkpoint" * 1000)
    forked(tmp_path, *command, "--resume")
    forked(tmp_path, *command[:-1], "expected")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


def test_a_file_of_that_name_that_is_not_ours_is_left_alone(models, tmp_path):
    command = ["predict", "--resume", models / "rings.rows", models / "rings.approx", "out"]
    (tmp_path / "out.partial").write_text("precious\n")
    done = forked(tmp_path, *command, code=1)
    assert (
        done.err.splitlines()[-1] == "Error: out.partial: found without out.partial.state, which says how far it came; "
        "remove out.partial to start from the beginning"
    )
    assert (tmp_path / "out.partial").read_text() == "precious\n" and os.listdir(tmp_path) == ["out.partial"]
    os.unlink(tmp_path / "out.partial")
    (tmp_path / "precious").write_text("precious\n")
    (tmp_path / "out.partial").symlink_to("precious")
    assert (
        "Error: out.partial: a symbolic link found, where the lines would be kept; "
        "remove out.partial to start from the beginning\n"
    ) in forked(tmp_path, *command, code=1).err
    assert (tmp_path / "precious").read_text() == "precious\n"
    os.unlink(tmp_path / "out.partial")
    for source, words in (
        ("rings.rows", ["out.partial", models / "rings.approx"]),
        ("rings.approx", [models / "rings.rows", "out.partial"]),
    ):
        (tmp_path / "out.partial").write_bytes((models / source).read_bytes())
        done = forked(tmp_path, "predict", "--resume", *words, "out", code=1)
        assert (
            done.err.splitlines()[-1]
            == "Error: out.partial: it is where the lines of out are kept, and an input; nothing was written"
        )
        assert (tmp_path / "out.partial").read_bytes() == (models / source).read_bytes()


@pytest.mark.full(few=5)
@pytest.mark.parametrize(
    "words, message",
    [
        (["-", "MODEL", "out"], "needs a TEST_FILE that is a file"),
        (["pipe", "MODEL", "out"], "needs a TEST_FILE that is a file"),
        (["ROWS", "MODEL"], "needs an OUTPUT_FILE that is a file"),
        (["ROWS", "MODEL", "-"], "needs an OUTPUT_FILE"),
        (["ROWS", "MODEL", "/dev/stdout"], "needs an OUTPUT_FILE"),
        (["ROWS", "MODEL", "/dev/null"], "needs an OUTPUT_FILE"),
        (["ROWS", "MODEL", "pipe"], "needs an OUTPUT_FILE"),
    ],
)
def test_streams_cannot_be_gone_on_with(fastsvm, models, tmp_path, words, message):
    os.mkfifo(tmp_path / "pipe")
    positions = {"MODEL": models / "rings.approx", "ROWS": models / "rings.rows"}
    done = fastsvm("predict", "--resume", *(positions.get(word, word) for word in words), code=2)
    assert message in " ".join(done.err.split()) and os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize(
    "name, words",
    [
        ("nowhere/out", "No such file or directory: the output's directory must exist"),
        (".", "Is a directory"),
        ("x" * 250, "File name too long"),
        ("new/", "Is a directory"),
        ("", "No such file or directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_named(models, tmp_path, name, words):
    done = forked(
        tmp_path, "predict", "-q", "--resume", models / "rings.rows", models / "rings.approx", name, code=None
    )
    assert (done.code, done.err) == (1, f"Error: {name or repr(name)}: {words}\n") or (
        done.code == 2 and "needs an OUTPUT_FILE that is a file" in " ".join(done.err.split())
    )
    assert os.listdir(tmp_path) == []
    assert (
        "nowhere: No such file"
        in forked(tmp_path, "predict", "--resume", "nowhere", models / "rings.approx", "out", code=1).err
        and os.listdir(tmp_path) == []
    )


def test_two_runs_at_once_are_refused(models, tmp_path):
    command = ["predict", "--resume", models / "rings.rows", models / "rings.approx", "out"]
    with resumable(tmp_path / "out") as output:
        printed = forked(tmp_path, *command, code=1).err.splitlines()[-1]
        assert printed == "Error: out.partial: another fastsvm is writing it"
        output.write(b"1\n")
    assert (tmp_path / "out").read_bytes() == b"1\n"
    with open(tmp_path / "out.partial", "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "another fastsvm is writing it" in forked(tmp_path, *command, code=1).err
    forked(tmp_path, *command)


def test_a_file_that_is_renamed_while_another_waits_for_it_is_not_taken_for_its_own(tmp_path, monkeypatch):
    """out.partial, opened by this process, becomes `out` before the lock."""
    path = tmp_path / "out"
    (tmp_path / "out.partial").write_bytes(b"")
    real = fcntl.flock

    def late(file, how):
        if not path.exists():
            os.rename(tmp_path / "out.partial", path)
            path.write_bytes(b"finished\n")
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with resumable(path) as output:
        assert path.read_bytes() == b"finished\n"
        output.write(b"new\n")
    assert path.read_bytes() == b"new\n"
