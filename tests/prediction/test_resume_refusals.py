"""predict --resume: a mismatch with the stopped run is refused, and nothing is lost."""

import fcntl
import os
import re
import signal
from zlib import crc32

import pytest

from fastsvm_cli.errors import FileError
from support.messages import table
from support.resuming import Disk, forked, resumable


@pytest.fixture
def home(models, tmp_path):
    for name in [f"two.{end}" for end in "rows bad csv cert order border model".split()] + ["regression.order"]:
        (tmp_path / name).write_bytes((models / name).read_bytes())
    return tmp_path


def terminate():
    os.kill(os.getpid(), signal.SIGTERM)


def stop(home, words):
    """Leaves a stopped run in the folder; returns its command."""
    command = ["predict", "--resume", *words.split(), "out"]
    done = forked(home, *command, prepare=lambda: Disk(30, death=terminate), code=143)
    assert " rows are kept in out.partial" in done.err
    return command


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


ALL = "two.rows two.cert"


@pytest.mark.full(few=1)
@pytest.mark.parametrize("first, then, words", table("messages.txt", "resume: another command"))
def test_another_command_is_refused_and_nothing_is_lost(home, first, then, words):
    command = stop(home, first)
    before = content(home)
    done = forked(home, "predict", "--resume", *then.split(), "out", code=1)
    error = done.err.splitlines()[-1]
    assert error.startswith(f"Error: out.partial: {words}"), error
    assert error.endswith("; remove out.partial to start from the beginning")
    assert content(home) == before
    forked(home, *command)


def test_what_was_not_met_yet_can_change(home):
    stop(home, ALL)
    forked(home, "predict", "--resume", "--max-line", 300, "--on-bad-row", "skip", *ALL.split(), "out")


def test_another_time_of_the_input_is_refused_but_not_another_path(home):
    command = stop(home, ALL)
    time = os.stat(home / "two.rows").st_mtime_ns
    os.utime(home / "two.rows", ns=(time, time + 1))
    done = forked(home, *command, code=1)
    assert f"begun with TEST_FILE's time {time}, and this command has {time + 1}; remove" in done.err
    os.utime(home / "two.rows", ns=(time, time))
    (home / "moved").mkdir()
    os.rename(home / "two.rows", home / "moved" / "rows")
    forked(home, "predict", "--resume", "moved/rows", "two.cert", "out")


@pytest.mark.parametrize("what", ["fastsvm", "instructions"])
def test_another_program_or_processor_is_refused(home, what):
    command, state = stop(home, ALL), home / "out.partial.state"
    head, _, body = state.read_bytes().partition(b"\n")
    body = re.sub(rb'("%s": )"[^"]*"' % what.encode(), b"\\1\"'other'\"", body)
    state.write_bytes(b"%s %08x\n" % (head.rpartition(b" ")[0], crc32(body)) + body)
    printed = forked(home, *command, code=1).err.splitlines()[-1]
    assert printed.startswith(f"Error: out.partial: begun with {what} 'other', and this command has '")
    assert printed.endswith("'; remove out.partial to start from the beginning")


def test_a_damaged_state_or_other_lines_are_refused(home):
    command = stop(home, ALL)
    state, lines = (home / "out.partial.state").read_bytes(), (home / "out.partial").read_bytes()
    why = "this is not what fastsvm wrote there; remove {0}.state and {0} to start from the beginning"
    for at in range(0, len(state), 19):
        for damaged in (state[:at], state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :]):
            (home / "out.partial.state").write_bytes(damaged)
            with pytest.raises(FileError) as refused:
                resumable(home / "out", home / "two.cert")
            assert str(refused.value) == f"{home}/out.partial.state: {why.format(home / 'out.partial')}"
    assert f"Error: out.partial.state: {why.format('out.partial')}\n" in forked(home, *command, code=1).err
    (home / "out.partial.state").write_bytes(state)
    for other, words in (
        (lines[:-1], f"{len(lines) - 1} bytes found, expected the {len(lines)} that out.partial.state speaks of"),
        (b"x" + lines[:-1], "other lines found than those that out.partial.state speaks of"),
    ):
        (home / "out.partial").write_bytes(other)
        advice = "remove out.partial and out.partial.state to start from the beginning"
        assert forked(home, *command, code=1).err.splitlines()[-1] == f"Error: out.partial: {words}; {advice}"
    (home / "out.partial").write_bytes(lines + b"what a killed run wrote after its last checkpoint" * 1000)
    forked(home, *command)
    forked(home, "predict", *ALL.split(), "expected")
    assert (home / "out").read_bytes() == (home / "expected").read_bytes()


def test_a_file_of_that_name_that_is_not_ours_is_left_alone(home):
    (home / "precious").write_text("precious\n")
    partial, advice = home / "out.partial", "remove out.partial to start from the beginning"
    an_input = "it is where the lines of out are kept, and an input; nothing was written"
    link = f"a symbolic link found, where the lines would be kept; {advice}"
    for make, words, message in (
        (partial.write_text, ALL, f"found without out.partial.state, which says how far it came; {advice}"),
        (partial.symlink_to, ALL, link),
        (lambda _: partial.hardlink_to(home / "two.rows"), "out.partial two.cert", an_input),
        (lambda _: partial.hardlink_to(home / "two.cert"), "two.rows out.partial", an_input),
    ):
        make("precious")
        before = content(home)
        done = forked(home, "predict", "--resume", *words.split(), "out", code=1)
        assert done.err.splitlines()[-1] == f"Error: out.partial: {message}" and content(home) == before
        partial.unlink()


@pytest.mark.full
def test_what_cannot_be_gone_on_with_is_named_before_any_work(home):
    os.mkfifo(home / "pipe")
    before = sorted(os.listdir(home))
    places = table("messages.txt", "resume: places")
    for words, message in [*places, (f"{ALL} {'x' * 250}", f"Error: {'x' * 250}: File name too long")]:
        done = forked(home, "predict", "-q", "--resume", *words.split(), code=None)
        assert message in " ".join(done.err.split()) and done.code == (1 if message.startswith("Error") else 2), words
    assert "Error: '': " in forked(home, "predict", "-q", "--resume", *ALL.split(), "", code=1).err
    assert sorted(os.listdir(home)) == before


def test_an_output_that_must_not_be_written_is_not(models, tmp_path, monkeypatch):
    (tmp_path / "out").write_text("before\n")
    # Tests may run as root, who may write anything.
    monkeypatch.setattr(os, "access", lambda path, how: how != os.W_OK)
    with pytest.raises(FileError, match="out: Permission denied"):
        resumable(tmp_path / "out", models / "two.cert")
    assert os.listdir(tmp_path) == ["out"]


def test_two_runs_at_once_are_refused(models, tmp_path):
    command = ["predict", "--resume", models / "two.rows", models / "two.approx", "out"]
    with resumable(tmp_path / "out", models / "two.cert")[0] as output:
        printed = forked(tmp_path, *command, code=1).err.splitlines()[-1]
        assert printed == "Error: out.partial: another fastsvm is writing it"
        output.write(b"1\n")
    assert (tmp_path / "out").read_bytes() == b"1\n"
    with open(tmp_path / "out.partial", "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "another fastsvm is writing it" in forked(tmp_path, *command, code=1).err
    forked(tmp_path, *command)


def test_a_file_that_is_renamed_while_another_waits_for_it_is_not_taken_for_its_own(models, tmp_path, monkeypatch):
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
    with resumable(path, models / "two.cert")[0] as output:
        assert path.read_bytes() == b"finished\n"
        output.write(b"new\n")
    assert path.read_bytes() == b"new\n"
