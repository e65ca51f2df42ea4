"""Outputs as Python opens them: what is seen meanwhile, names, standard streams, and leftovers of killed processes."""

import os
import stat
import subprocess
import threading

import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.text.files import Output, check_output, is_standard_output
from support.outputs import a_writer, answered, write
from support.paths import GOLDEN
from support.processes import PATIENCE

# ---- regular files


LARGE = bytes(range(256)) * 40_000


@pytest.mark.parametrize("buffers", [[], [b"one\n", b"", b"two\n"], [memoryview(LARGE), b"x", LARGE]], ids=len)
def test_buffers_are_written_whole(tmp_path, buffers):
    write(tmp_path / "out", *buffers)
    assert (tmp_path / "out").read_bytes() == b"".join(buffers) and os.listdir(tmp_path) == ["out"]


def test_the_previous_file_stays_until_the_end_and_a_private_one_is_private_meanwhile(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before, and longer than what comes\n")
    path.chmod(0o600)
    with open(path, "rb") as reader, Output(str(path)) as output:
        output.write(b"after\n")
        assert path.read_bytes() == b"before, and longer than what comes\n" == reader.read()
        assert [stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(tmp_path)] == [0o600, 0o600]
    assert path.read_bytes() == b"after\n" and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("mode", [None, 0o600, 0o755, 0o666, 0o640])
def test_a_file_keeps_its_mode_and_a_new_one_has_what_the_umask_leaves(tmp_path, mode):
    path = tmp_path / "out"
    if mode is not None:
        path.write_bytes(b"before")
        path.chmod(mode)
    previous = os.umask(0o027)
    try:
        write(path, b"after")
    finally:
        os.umask(previous)
    assert path.read_bytes() == b"after" and stat.S_IMODE(path.stat().st_mode) == (0o640 if mode is None else mode)


def test_extended_attributes_stay(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    try:
        os.setxattr(path, "user.origin", b"here")
        os.setxattr(path, "user.age", b"old")
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error}")
    write(path, b"after")
    assert path.read_bytes() == b"after"
    assert [os.getxattr(path, f"user.{name}") for name in ("origin", "age")] == [b"here", b"old"]
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_that_cannot_be_put_in_place_is_an_error_and_leaves_nothing(tmp_path):
    path = tmp_path / "out"
    with pytest.raises(FileError) as caught:
        with Output(str(path)) as output:
            output.write(b"x")
            path.mkdir()
    assert str(caught.value) == f"{path}: Is a directory" and os.listdir(tmp_path) == ["out"] and os.listdir(path) == []


# ---- names


def test_any_name_the_system_allows_is_written_in_the_current_folder(tmp_path, monkeypatch):
    names = ["x" * 255, "é" * 127, "a b\tc\n", "-o", ".hidden"]
    (tmp_path / "other").mkdir()
    for name in names:
        monkeypatch.chdir(tmp_path)
        with Output(name) as output:
            os.chdir(tmp_path / "other")  # a later change does not move the output
            output.write(b"x")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "other"]) and os.listdir(tmp_path / "other") == []


def test_devices_and_other_files_may_be_read_and_written(tmp_path):
    (tmp_path / "given").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    check_output("/dev/null", ["/dev/null"])
    check_output(str(tmp_path / "pipe"), [str(tmp_path / "pipe")])  # without waiting for a reader
    check_output(str(tmp_path / "new"), [str(tmp_path / "given"), str(tmp_path / "new")])
    check_output(str(tmp_path / "given"), [])
    assert sorted(os.listdir(tmp_path)) == ["given", "pipe"] and (tmp_path / "given").read_bytes() == b"x"


# ---- pipes and standard streams


def test_a_named_pipe_is_written_directly(tmp_path):
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    thread = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    thread.start()
    write(path, b"one\n", b"two\n" * 50_000)
    thread.join(PATIENCE)
    assert got == [b"one\n" + b"two\n" * 50_000]
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(BrokenPipeError):
        with Output(str(path)) as output:
            output.write(b"x")
            os.close(reader)
            output.write(b"y")
    assert stat.S_ISFIFO(path.stat().st_mode) and os.listdir(tmp_path) == ["pipe"]


def test_a_pipe_that_does_not_wait_gets_all_the_same():
    """Another program that shares the pipe may have made it non-blocking."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    got = []
    thread = threading.Thread(target=lambda: got.extend(iter(lambda: os.read(reader, 1 << 16), b"")), daemon=True)
    with Output(f"/dev/fd/{writer}") as output:
        os.close(writer)
        buffers = [b"%d\n" % number * 20_000 for number in range(10)]
        thread.start()
        for buffer in buffers:
            output.write(buffer)
    thread.join(PATIENCE)
    os.close(reader)
    assert b"".join(got) == b"".join(buffers)


ROWS = GOLDEN / "data"


@pytest.mark.parametrize("path", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_whatever_it_is_and_goes_on_where_it_was(tmp_path, path):
    assert is_standard_output(path) and is_standard_output(None)
    lines = answered(ROWS, path, stdout=subprocess.PIPE).stdout.encode()
    for mode in ("wb", "ab"):
        (tmp_path / "log").write_bytes(b"before\n")
        with open(tmp_path / "log", mode, buffering=0) as log:
            log.write(b"a longer line before\n")
            assert answered(ROWS, path, stdout=log).returncode == 0
            log.write(b"after\n")
        written = b"before\n" * (mode == "ab") + b"a longer line before\n" + lines + b"after\n"
        assert (tmp_path / "log").read_bytes() == written and os.listdir(tmp_path) == ["log"]
    done = answered(ROWS, "/dev/stderr", stdout=subprocess.PIPE)
    assert done.stderr.encode() == lines and done.stdout == ""


@pytest.mark.parametrize("name", ["987", "²", "٣", "2147483648", "9" * 30, "0" * 12 + "1"])
def test_a_descriptor_that_is_not_open_is_an_error_and_what_is_no_number_no_descriptor(name):
    for act in (Output, lambda path: check_output(path, ["in"])):
        with pytest.raises(FileError, match=f"/dev/fd/{name}: "):
            act(f"/dev/fd/{name}")
    others = "out /dev/stderr /dev/null /dev/fd/2 /dev/fd/ /dev/fd/1x ./- /dev/stdout/x".split()
    assert not any(map(is_standard_output, [f"/dev/fd/{name}", *others]))


def test_a_descriptor_that_is_open_for_reading_only_is_an_error(tmp_path):
    (tmp_path / "x").write_bytes(b"x")
    with open(tmp_path / "x", "rb") as file, pytest.raises(FileError, match="it is open for reading only"):
        Output(f"/dev/fd/{file.fileno()}")


@pytest.mark.parametrize("mode", ["ab", "r+b"])
def test_standard_output_that_is_an_input_is_refused(tmp_path, mode):
    given = tmp_path / "given"
    given.write_bytes(b"1 1:1\n")
    end = ", which is the same file; name another output file\n"
    with open(given, mode) as out:
        done = answered(given, "-", stdout=out)
    assert done.stderr == f"Error: standard output: the output would replace {given}{end}"
    with open(given, "rb") as stdin:
        done = answered("-", given, stdin=stdin)
    assert done.stderr == f"Error: {given}: the output would replace standard input{end}"
    assert given.read_bytes() == b"1 1:1\n"


# ---- leftovers of killed processes


def test_what_killed_processes_left_goes_when_the_output_is_written_again(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    processes = [a_writer(path) for _ in range(3)]
    for process in processes:
        process.kill()
        process.communicate()
    assert len(os.listdir(tmp_path)) == 4 and path.read_bytes() == b"before"
    (tmp_path / ".out.fastsvm-0.tmp").unlink()  # a gap in the names hides nothing
    write(path, b"after")
    assert path.read_bytes() == b"after" and os.listdir(tmp_path) == ["out"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    path = tmp_path / "out"
    process = a_writer(path)
    write(path, b"mine")
    assert path.read_bytes() == b"mine" and len(os.listdir(tmp_path)) == 2
    process.communicate()
    assert process.returncode == 0 and path.read_bytes() in (b"1\n", b"-1\n") and os.listdir(tmp_path) == ["out"]


def test_only_files_of_our_own_are_removed(tmp_path):
    path, precious = tmp_path / "out", tmp_path / "precious"
    precious.write_bytes(b"precious")
    names = [".out.fastsvm-%d.tmp" % number for number in range(3)]
    (tmp_path / names[0]).symlink_to("precious")
    (tmp_path / names[1]).mkdir()
    os.mkfifo(tmp_path / names[2])
    (tmp_path / ".other.fastsvm-0.tmp").write_bytes(b"x")
    (tmp_path / ".out.tmp").write_bytes(b"x")
    write(path, b"after")
    assert path.read_bytes() == b"after" and precious.read_bytes() == b"precious"
    assert sorted(os.listdir(tmp_path)) == sorted([*names, ".other.fastsvm-0.tmp", ".out.tmp", "out", "precious"])
