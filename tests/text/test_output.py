"""Results are written whole or not at all; devices, pipes and standard output are written directly."""

import os
import stat
import subprocess
import threading

import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.text.output import Output, check_output, is_standard_output
from support.outputs import in_new_process, write
from support.processes import PATIENCE


def test_a_new_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "out"
    with Output(str(path)) as output:
        output.write(b"one\n")
        output.write(b"")
        output.write(b"two\n")
        assert not path.exists()
        assert len(os.listdir(tmp_path)) == 1
    assert path.read_bytes() == b"one\ntwo\n" and os.listdir(tmp_path) == ["out"]


def test_an_empty_output_is_an_empty_file(tmp_path):
    write(tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b""


def test_buffers_and_large_buffers_are_written_whole(tmp_path):
    buffer = bytes(range(256)) * 40_000
    write(tmp_path / "out", memoryview(buffer), bytearray(b"x"), buffer)
    assert (tmp_path / "out").read_bytes() == buffer + b"x" + buffer


def test_a_new_file_has_the_mode_the_umask_leaves(tmp_path):
    previous = os.umask(0o027)
    try:
        write(tmp_path / "out", b"x")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_replaced_file_keeps_its_old_content_until_the_end(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before, and longer than what comes\n")
    with open(path, "rb") as reader, Output(str(path)) as output:
        output.write(b"after\n")
        assert path.read_bytes() == b"before, and longer than what comes\n"
        assert reader.read() == b"before, and longer than what comes\n"
    assert path.read_bytes() == b"after\n" and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666, 0o640])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(mode)
    write(path, b"after")
    assert path.read_bytes() == b"after" and stat.S_IMODE(path.stat().st_mode) == mode


def test_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(0o600)
    with Output(str(path)) as output:
        output.write(b"secret")
        modes = [stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(tmp_path)]
    assert modes == [0o600, 0o600]


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to("folder/target")
    write(link, b"after")
    assert link.is_symlink() and os.readlink(link) == "folder/target"
    assert target.read_bytes() == b"after" and stat.S_IMODE(target.stat().st_mode) == 0o640 and not target.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["folder", "link"] and os.listdir(tmp_path / "folder") == ["target"]


def test_a_chain_of_links_and_a_link_to_nothing_yet_are_followed(tmp_path):
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to(tmp_path / "third")
    write(tmp_path / "first", b"x")
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink() and not (tmp_path / "third").is_symlink()
    assert (tmp_path / "third").read_bytes() == b"x"


def test_a_link_to_a_device_is_written_through(tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    write(tmp_path / "null", b"x" * 100)
    assert os.readlink(tmp_path / "null") == "/dev/null"
    assert os.listdir(tmp_path) == ["null"] and stat.S_ISCHR(os.stat("/dev/null").st_mode)


class Stopped(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, Stopped])
@pytest.mark.parametrize("existed", [True, False])
def test_a_failure_leaves_the_previous_file_and_nothing_else(tmp_path, error, existed):
    path = tmp_path / "out"
    if existed:
        path.write_bytes(b"before")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(error):
        with Output(str(path)) as output:
            output.write(b"half")
            raise error
    assert os.listdir(tmp_path) == (["out"] if existed else [])
    assert not existed or path.read_bytes() == b"before"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_cannot_be_put_in_place_is_an_error_and_leaves_nothing(tmp_path):
    path = tmp_path / "out"
    with pytest.raises(FileError) as caught:
        with Output(str(path)) as output:
            output.write(b"x")
            path.mkdir()
    assert str(caught.value) == f"{path}: Is a directory" and os.listdir(tmp_path) == ["out"] and os.listdir(path) == []


def test_a_named_pipe_is_written_directly(tmp_path):
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    write(path, b"one\n", b"two\n" * 50_000)
    reader.join(PATIENCE)
    assert got == [b"one\n" + b"two\n" * 50_000]
    assert stat.S_ISFIFO(path.stat().st_mode) and os.listdir(tmp_path) == ["pipe"]


def test_a_reader_that_has_gone_is_a_broken_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(BrokenPipeError):
        with Output(str(path)) as output:
            output.write(b"x")
            os.close(reader)
            output.write(b"y")
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize(
    "name, words",
    [
        ("", "Is a directory"),
        (".", "Is a directory"),
        ("nowhere/out", "No such file or directory: the output's directory must exist"),
        ("file/out", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
        ("dangling", "No such file or directory: the output's directory must exist"),
        ("new/", "Is a directory"),
    ],
    ids=lambda value: value[:12],
)
def test_a_place_that_cannot_be_written_is_named_before_any_work_is_done(tmp_path, name, words):
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere/out")
    before = sorted(os.listdir(tmp_path))
    path = os.path.join(tmp_path, name) if name else str(tmp_path)
    with pytest.raises(FileError) as caught:
        Output(path)
    assert str(caught.value) == f"{path}: {words}"
    assert sorted(os.listdir(tmp_path)) == before


def test_an_empty_name_is_refused_before_any_work_is_done():
    with pytest.raises(FileError, match="No such file or directory"):
        Output("")


@pytest.mark.parametrize(
    "name",
    ["x" * 255, "é" * 127, "a b\tc\n", "-o", ".hidden"],
    ids=["long", "long and not ascii", "blanks", "dash", "hidden"],
)
def test_any_name_the_system_allows_is_written(tmp_path, name):
    write(tmp_path / name, b"x")
    assert (tmp_path / name).read_bytes() == b"x" and os.listdir(tmp_path) == [name]


def test_a_name_without_a_folder_is_in_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("out", b"x")
    assert (tmp_path / "out").read_bytes() == b"x" and os.listdir(tmp_path) == ["out"]


def test_a_later_change_of_folder_does_not_move_the_output(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with Output("out") as output:
        os.chdir(tmp_path / "other")
        output.write(b"x")
    assert (tmp_path / "out").read_bytes() == b"x" and os.listdir(tmp_path / "other") == []


def test_a_file_planted_under_the_temporary_name_does_no_harm(tmp_path):
    path, victim = tmp_path / "out", tmp_path / "victim"
    with Output(str(path)) as output:
        output.write(b"x")
        (temporary,) = os.listdir(tmp_path)
    os.unlink(path)
    victim.write_bytes(b"precious")
    (tmp_path / temporary).symlink_to(victim)
    try:
        write(path, b"y")
    except FileError:
        pass
    assert victim.read_bytes() == b"precious"


WRITE_TWO = "with Output(sys.argv[1]) as output:\n    output.write(b'one\\n')\n    output.write(b'two\\n')\n"


@pytest.mark.parametrize("path", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_whatever_it_is(tmp_path, path):
    assert in_new_process(WRITE_TWO, path, stdout=subprocess.PIPE).stdout == "one\ntwo\n"
    with open(tmp_path / "log", "wb") as log:
        assert in_new_process(WRITE_TWO, path, stdout=log).returncode == 0
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n" and os.listdir(tmp_path) == ["log"]


@pytest.mark.parametrize("path", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_that_is_a_file_opened_for_append_is_appended_to(tmp_path, path):
    (tmp_path / "log").write_bytes(b"before\n")
    with open(tmp_path / "log", "ab") as log:
        for _ in range(2):
            assert in_new_process(WRITE_TWO, path, stdout=log).returncode == 0
    assert (tmp_path / "log").read_bytes() == b"before\none\ntwo\none\ntwo\n" and os.listdir(tmp_path) == ["log"]


def test_standard_output_goes_on_where_it_was(tmp_path):
    with open(tmp_path / "log", "wb") as log:
        log.write(b"a longer line before\n")
        log.flush()
        in_new_process(WRITE_TWO + "print('after')\n", "/dev/stdout", stdout=log)
    assert (tmp_path / "log").read_bytes() == b"a longer line before\none\ntwo\nafter\n"


def test_standard_error_can_be_written(tmp_path):
    done = in_new_process(WRITE_TWO, "/dev/stderr", stdout=subprocess.PIPE)
    assert done.stderr == "one\ntwo\n" and done.stdout == ""


def test_a_descriptor_that_is_not_open_is_an_error():
    with pytest.raises(FileError) as caught:
        Output("/dev/fd/987")
    assert str(caught.value).startswith("/dev/fd/987: ")


@pytest.mark.parametrize("name", ["²", "٣", "2147483648", "9" * 30, "0" * 12 + "1"])
def test_a_name_among_the_descriptors_that_is_the_number_of_none_is_no_file(name):
    for act in (Output, lambda path: check_output(path, ["in"])):
        with pytest.raises(FileError, match=f"/dev/fd/{name}: "):
            act(f"/dev/fd/{name}")
    assert not is_standard_output(f"/dev/fd/{name}")


def test_what_counts_as_standard_output():
    assert all(map(is_standard_output, (None, "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")))
    assert not any(
        map(
            is_standard_output,
            ("out", "/dev/stderr", "/dev/null", "/dev/fd/2", "/dev/fd/", "/dev/fd/1x", "./-", "/dev/stdout/x"),
        )
    )
