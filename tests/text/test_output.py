"""Results are written whole or not at all; devices, pipes and standard output are written directly."""

import ctypes
import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading

import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.text import output as output_module
from fastsvm_cli.text.output import Output, check_output, is_standard_output
from support.processes import PATIENCE


def write(path, *pieces):
    with Output(str(path)) as output:
        for piece in pieces:
            output.write(piece)


def in_new_process(code, *arguments, **options):
    """Run Python code with `Output` at hand; for what only a process's own standard output, or rights, show."""
    code = "import sys\nfrom fastsvm_cli.text.output import Output\n" + code
    return subprocess.run(
        [sys.executable, "-I", "-c", code, *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        **options,
    )


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


def test_buffers_and_large_pieces_are_written_whole(tmp_path):
    piece = bytes(range(256)) * 40_000
    write(tmp_path / "out", memoryview(piece), bytearray(b"x"), piece)
    assert (tmp_path / "out").read_bytes() == piece + b"x" + piece


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
    assert (
        (tmp_path / "first").is_symlink()
        and (tmp_path / "second").is_symlink()
        and not (tmp_path / "third").is_symlink()
    )
    assert (tmp_path / "third").read_bytes() == b"x"


def test_a_link_to_a_device_is_written_through(tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    write(tmp_path / "null", b"x" * 100)
    assert (
        os.readlink(tmp_path / "null") == "/dev/null"
        and os.listdir(tmp_path) == ["null"]
        and stat.S_ISCHR(os.stat("/dev/null").st_mode)
    )


class Stopped(BaseException):
    pass


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, SystemExit, Stopped])
@pytest.mark.parametrize("existed", [True, False])
def test_a_failure_leaves_the_previous_file_and_nothing_else(tmp_path, fault, existed):
    path = tmp_path / "out"
    if existed:
        path.write_bytes(b"before")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(fault):
        with Output(str(path)) as output:
            output.write(b"half")
            raise fault
    assert os.listdir(tmp_path) == (["out"] if existed else [])
    assert not existed or path.read_bytes() == b"before"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_failure_does_not_touch_the_target_of_a_link(tmp_path):
    (tmp_path / "target").write_bytes(b"before")
    (tmp_path / "link").symlink_to("target")
    with pytest.raises(ZeroDivisionError):
        with Output(str(tmp_path / "link")) as output:
            output.write(b"half")
            raise ZeroDivisionError
    assert (tmp_path / "target").read_bytes() == b"before" and sorted(os.listdir(tmp_path)) == ["link", "target"]


def test_a_disk_that_fills_up_leaves_the_previous_file(tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_bytes(b"before")

    def full(file, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(FileError) as caught:
        with Output(str(path)) as output:
            output.write(b"fits")
            with monkeypatch.context() as patch:
                patch.setattr(os, "write", full)
                output.write(b"does not")
    assert str(caught.value) == f"{path}: No space left on device"
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["out"]


def test_a_file_that_cannot_be_put_in_place_is_an_error_and_leaves_nothing(tmp_path):
    path = tmp_path / "out"
    with pytest.raises(FileError) as caught:
        with Output(str(path)) as output:
            output.write(b"x")
            path.mkdir()
    assert str(caught.value) == f"{path}: Is a directory" and os.listdir(tmp_path) == ["out"] and os.listdir(path) == []


def test_short_writes_are_completed(tmp_path, monkeypatch):
    write_all = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: write_all(file, data[:3]))
        write(tmp_path / "out", b"0123456789", b"abc")
    assert (tmp_path / "out").read_bytes() == b"0123456789abc"


def test_the_full_device_is_an_error():
    with pytest.raises(FileError) as caught:
        write("/dev/full", b"x")
    assert str(caught.value) == "/dev/full: No space left on device"
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_the_null_device_stays_a_device():
    write("/dev/null", b"x" * 1000)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_named_pipe_is_written_directly(tmp_path):
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    write(path, b"one\n", b"two\n" * 50_000)
    reader.join(PATIENCE)
    assert (
        got == [b"one\n" + b"two\n" * 50_000]
        and stat.S_ISFIFO(path.stat().st_mode)
        and os.listdir(tmp_path) == ["pipe"]
    )


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
        ("nowhere/out", "No such file or directory"),
        ("file/out", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
        ("dangling", "No such file or directory"),
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


def test_standard_output_stays_open_after_it_was_written_to():
    done = in_new_process(WRITE_TWO + "print('after')\n", "-", stdout=subprocess.PIPE)
    assert done.returncode == 0 and done.stdout == "one\ntwo\nafter\n"


def test_standard_error_can_be_written(tmp_path):
    done = in_new_process(WRITE_TWO, "/dev/stderr", stdout=subprocess.PIPE)
    assert done.stderr == "one\ntwo\n" and done.stdout == ""


def test_a_failure_of_standard_output_names_it():
    code = (
        "from fastsvm_cli.errors import FileError\n"
        "try:\n"
        "    with Output(sys.argv[1]) as output:\n"
        "        output.write(b'x')\n"
        "except FileError as error:\n"
        "    sys.exit(str(error))\n"
    )
    with open("/dev/full", "wb") as full:
        assert in_new_process(code, "-", stdout=full).stderr == "standard output: No space left on device\n"
        assert in_new_process(code, "/dev/stdout", stdout=full).stderr == "/dev/stdout: No space left on device\n"


def test_a_closed_standard_output_is_an_error_of_one_line(tmp_path):
    code = (
        "import os\n"
        "from fastsvm_cli.errors import FileError\n"
        "os.close(1)\n"
        "try:\n"
        "    Output('-')\n"
        "except FileError as error:\n"
        "    print(error, file=sys.stderr)\n"
        "    os._exit(1)\n"
    )
    assert in_new_process(code).stderr == "standard output: it is closed\n"


def test_a_descriptor_that_is_not_open_is_an_error():
    with pytest.raises(FileError) as caught:
        Output("/dev/fd/987")
    assert str(caught.value).startswith("/dev/fd/987: ")


def test_what_counts_as_standard_output():
    assert all(map(is_standard_output, (None, "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")))
    assert not any(
        map(
            is_standard_output,
            ("out", "/dev/stderr", "/dev/null", "/dev/fd/2", "/dev/fd/", "/dev/fd/1x", "./-", "/dev/stdout/x"),
        )
    )


# ---- whose file it is, and who may write it


def as_owner_only():
    """In a new process before it is another program: no capability but an owner's own rights, as of a user who is not
    root. CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID."""
    if os.geteuid() == 0:
        drop = ctypes.CDLL(None, use_errno=True).prctl
        for capability in range(5):
            assert drop(24, capability, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")

WRITE_ONE = (
    "from fastsvm_cli.errors import FileError\n"
    "try:\n"
    "    with Output(sys.argv[1]) as output:\n"
    "        output.write(b'after\\n')\n"
    "        if len(sys.argv) > 2: raise ValueError\n"
    "except FileError as error:\n"
    "    sys.exit(str(error))\n"
)


def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before\n")
    path.chmod(0o444)
    done = in_new_process(WRITE_ONE, path, preexec_fn=as_owner_only)
    assert done.returncode == 1 and done.stderr == f"{path}: cannot write: Permission denied\n"
    assert path.read_bytes() == b"before\n" and os.listdir(tmp_path) == ["out"]


def test_a_file_in_a_folder_that_cannot_be_written_is_written_in_place(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "out"
    path.write_bytes(b"before, and longer\n")
    number = path.stat().st_ino
    folder.chmod(0o555)
    try:
        done = in_new_process(WRITE_ONE, path, preexec_fn=as_owner_only)
        assert (
            done.returncode == 0
            and path.read_bytes() == b"after\n"
            and path.stat().st_ino == number
            and os.listdir(folder) == ["out"]
        ), done.stderr
        done = in_new_process(WRITE_ONE, folder / "new", preexec_fn=as_owner_only)
        assert done.stderr == f"{folder / 'new'}: cannot write: Permission denied\n"
        # What fails before it has written anything leaves the file as it was.
        done = in_new_process(
            "with Output(sys.argv[1]) as output:\n    raise ValueError\n", path, preexec_fn=as_owner_only
        )
        assert done.returncode == 1 and path.read_bytes() == b"after\n"
        done = in_new_process("with Output(sys.argv[1]) as output:\n    pass\n", path, preexec_fn=as_owner_only)
        assert done.returncode == 0 and path.read_bytes() == b""
    finally:
        folder.chmod(0o755)


@needs_root
@pytest.mark.parametrize("owner, group, mode", [(1234, 1234, 0o666), (-1, 1234, 0o664), (1234, -1, 0o620)])
@pytest.mark.parametrize("rights", [None, as_owner_only])
def test_another_owner_s_file_stays_theirs(tmp_path, owner, group, mode, rights):
    path = tmp_path / "out"
    path.write_bytes(b"before, and longer\n")
    os.chown(path, owner, group)
    path.chmod(mode)
    before = path.stat()
    done = in_new_process(WRITE_ONE, path, "fail", preexec_fn=rights)
    assert (
        "ValueError" in done.stderr and path.read_bytes() == b"before, and longer\n" and os.listdir(tmp_path) == ["out"]
    )
    done = in_new_process(WRITE_ONE, path, preexec_fn=rights)
    assert done.returncode == 0 and path.read_bytes() == b"after\n" and os.listdir(tmp_path) == ["out"], done.stderr
    after = path.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)


@needs_root
def test_another_owner_s_file_that_is_not_ours_to_write_is_refused(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before\n")
    os.chown(path, 1234, 1234)
    path.chmod(0o644)
    done = in_new_process(WRITE_ONE, path, preexec_fn=as_owner_only)
    assert done.stderr == f"{path}: cannot write: Permission denied\n" and path.read_bytes() == b"before\n"


def test_a_file_with_two_names_keeps_both(tmp_path):
    path, other = tmp_path / "out", tmp_path / "other"
    path.write_bytes(b"before, and longer")
    os.link(path, other)
    with pytest.raises(ValueError):
        with Output(str(path)) as output:
            output.write(b"half")
            raise ValueError
    assert other.read_bytes() == b"before, and longer"
    write(path, b"after")
    assert path.samefile(other) and other.read_bytes() == b"after" and sorted(os.listdir(tmp_path)) == ["other", "out"]


def test_extended_attributes_stay(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    try:
        os.setxattr(path, "user.origin", b"here")
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error}")
    write(path, b"after")
    assert (
        path.read_bytes() == b"after"
        and os.getxattr(path, "user.origin") == b"here"
        and os.listdir(tmp_path) == ["out"]
    )


def a_mount_point(monkeypatch):
    def busy(source, target):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "replace", busy)


@pytest.mark.parametrize("size", [0, 3, 100, 3_000_000])
def test_a_mount_point_is_copied_into(tmp_path, monkeypatch, size):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    number = path.stat().st_ino
    a_mount_point(monkeypatch)
    body = os.urandom(size)
    write(path, body)
    assert path.read_bytes() == body and path.stat().st_ino == number and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("before", [b"before", b"before" * 100_000])
def test_a_full_disk_leaves_the_file_that_would_be_copied_into(tmp_path, monkeypatch, before):
    path = tmp_path / "out"
    path.write_bytes(before)
    a_mount_point(monkeypatch)

    def full(file, offset, length):
        os.ftruncate(file, max(offset + length, os.fstat(file).st_size))  # the C library's own way may come so far
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(FileError) as caught:
        write(path, b"x" * 1000)
    assert (
        str(caught.value) == f"{path}: No space left on device"
        and path.read_bytes() == before
        and os.listdir(tmp_path) == ["out"]
    )


def test_a_copy_that_fails_half_way_leaves_the_result_and_says_where(tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    a_mount_point(monkeypatch)

    def broken(file, data, offset):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "pwrite", broken)
    with pytest.raises(FileError) as caught:
        write(path, b"after")
    kept = tmp_path / ".out.fastsvm-0.tmp"
    assert str(caught.value) == f"{path}: Input/output error; the result is in {kept}" and kept.read_bytes() == b"after"


def test_a_file_system_that_reserves_nothing_is_copied_into_all_the_same(tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    a_mount_point(monkeypatch)

    def unable(file, offset, length):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", unable)
    write(path, b"after")
    assert path.read_bytes() == b"after"


# ---- what a killed process leaves


def a_writer(path, **options):
    """A process that has begun to write and waits."""
    code = (
        "import sys\n"
        "from fastsvm_cli.text.output import Output\n"
        "with Output(sys.argv[1]) as output:\n"
        "    output.write(b'half')\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def test_what_a_killed_process_left_goes_when_the_output_is_written_again(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    for _ in range(2):
        process = a_writer(path)
        process.kill()
        process.wait()
        assert path.read_bytes() == b"before" and len(os.listdir(tmp_path)) == 2
    write(path, b"after")
    assert path.read_bytes() == b"after" and os.listdir(tmp_path) == ["out"]


def test_what_several_killed_processes_left_goes_at_once(tmp_path):
    path = tmp_path / "out"
    processes = [a_writer(path) for _ in range(3)]
    assert len(os.listdir(tmp_path)) == 3
    for process in processes:
        process.kill()
        process.wait()
    assert len(os.listdir(tmp_path)) == 3
    write(path, b"after")
    assert os.listdir(tmp_path) == ["out"]


def test_a_gap_in_the_names_hides_nothing(tmp_path):
    path = tmp_path / "out"
    first, second = a_writer(path), a_writer(path)
    first.communicate()
    second.kill()
    second.wait()
    assert sorted(os.listdir(tmp_path)) == [".out.fastsvm-1.tmp", "out"]
    write(path, b"after")
    assert os.listdir(tmp_path) == ["out"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    path = tmp_path / "out"
    process = a_writer(path)
    write(path, b"mine")
    assert path.read_bytes() == b"mine" and len(os.listdir(tmp_path)) == 2
    process.communicate()
    assert process.returncode == 0 and path.read_bytes() == b"half" and os.listdir(tmp_path) == ["out"]


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


def test_a_file_system_without_locks_keeps_what_it_has(tmp_path, monkeypatch):
    path = tmp_path / "out"
    process = a_writer(path)
    process.kill()
    process.wait()

    def unable(file, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unable)
    write(path, b"after")
    assert path.read_bytes() == b"after" and sorted(os.listdir(tmp_path)) == [".out.fastsvm-0.tmp", "out"]


def test_the_lock_stays_until_the_file_has_its_name(tmp_path, monkeypatch):
    """Another process that begins to write the same output in the last moment must not take the finished file for a
    dead one's."""
    path, replace = tmp_path / "out", os.replace

    def meanwhile(source, target):
        output_module._remove_if_dead(source)
        replace(source, target)

    monkeypatch.setattr(os, "replace", meanwhile)
    write(path, b"after")
    assert path.read_bytes() == b"after"


def test_a_new_file_that_another_process_takes_for_a_dead_one_s_is_given_up(tmp_path, monkeypatch):
    """Between its creation and its lock."""
    path, flock, taken = tmp_path / "out", fcntl.flock, []

    def late(file, operation):
        if not taken:
            taken.append(file)
            os.unlink(tmp_path / ".out.fastsvm-0.tmp")
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    write(path, b"after")
    assert taken and path.read_bytes() == b"after" and os.listdir(tmp_path) == ["out"]


# ---- what a power failure leaves


class Disk:
    """What is synced, and when."""

    def __init__(self, monkeypatch):
        self.now, self.events = 100.0, []
        sync, replace = os.fsync, os.replace
        monkeypatch.setattr(output_module, "monotonic", lambda: self.now)
        monkeypatch.setattr(
            os,
            "fsync",
            lambda file: (self.events.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file"), sync(file)),
        )
        monkeypatch.setattr(os, "replace", lambda *names: (self.events.append("rename"), replace(*names)))


@pytest.mark.parametrize(
    "previous, seconds, events",
    [
        (None, 0.5, ["rename"]),
        (b"", 0.5, ["rename"]),
        (b"before", 0.5, ["file", "rename"]),
        (None, 1.5, ["file", "rename", "folder"]),
        (b"before", 1.5, ["file", "rename", "folder"]),
    ],
)
def test_a_result_that_took_long_is_on_the_disk_and_a_previous_one_goes_only_for_one_that_is(
    tmp_path, monkeypatch, previous, seconds, events
):
    path, disk = tmp_path / "out", Disk(monkeypatch)
    if previous is not None:
        path.write_bytes(previous)
    with Output(str(path)) as output:
        output.write(b"after")
        disk.now += seconds
    assert disk.events == events and path.read_bytes() == b"after"


def test_a_failing_sync_leaves_the_previous_file(tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_bytes(b"before")

    def broken(file):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(FileError, match="Input/output error"):
        write(path, b"after")
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["out"]


# ---- before any work


@pytest.mark.parametrize("kind", ["same", "symbolic", "hard", "dots"])
def test_an_output_that_is_an_input_is_refused(tmp_path, kind):
    given = tmp_path / "given"
    given.write_bytes(b"precious")
    path = tmp_path / "out"
    if kind == "symbolic":
        path.symlink_to("given")
    elif kind == "hard":
        os.link(given, path)
    else:
        path = given if kind == "same" else tmp_path / "." / ".." / tmp_path.name / "given"
    path = f"{tmp_path}/../{tmp_path.name}/given" if kind == "dots" else str(path)
    with pytest.raises(FileError) as caught:
        check_output(path, [None, "nowhere", str(given)])
    whose = "the input" if kind == "same" else f"{given}, which is the same file"
    assert (
        str(caught.value) == f"{path}: the output would replace {whose}; name another output file"
        and given.read_bytes() == b"precious"
    )


def test_devices_and_other_files_may_be_read_and_written(tmp_path):
    (tmp_path / "given").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    check_output("/dev/null", ["/dev/null"])
    check_output(str(tmp_path / "pipe"), [str(tmp_path / "pipe")])  # and does not wait for a reader
    check_output(str(tmp_path / "new"), [str(tmp_path / "given"), str(tmp_path / "new")])
    assert sorted(os.listdir(tmp_path)) == ["given", "pipe"]


def test_looking_first_changes_nothing(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    check_output(str(path), [])
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["out"]
    with pytest.raises(FileError, match="nowhere/out: No such file or directory"):
        check_output(str(tmp_path / "nowhere" / "out"), [])


@pytest.mark.parametrize("way", ["append", "both"])
def test_standard_output_that_is_an_input_is_refused(tmp_path, way):
    given = tmp_path / "given"
    given.write_bytes(b"precious")
    code = (
        "from fastsvm_cli.text.output import check_output\n"
        "try:\n"
        "    check_output('-', [sys.argv[1]])\n"
        "except Exception as error:\n"
        "    sys.exit(str(error))\n"
    )
    with open(given, "ab" if way == "append" else "r+b") as out:
        done = in_new_process(code, given, stdout=out)
    assert (
        done.stderr
        == f"standard output: the output would replace {given}, which is the same file; name another output file\n"
    )
    code = code.replace("[sys.argv[1]]", "['-']").replace("'-', ", "sys.argv[1], ")
    with open(given, "rb") as stdin:
        done = in_new_process(code, given, stdin=stdin, stdout=subprocess.DEVNULL)
    assert (
        done.stderr
        == f"{given}: the output would replace standard input, which is the same file; name another output file\n"
        and given.read_bytes() == b"precious"
    )


def test_a_descriptor_that_is_open_for_reading_only_is_an_error(tmp_path):
    (tmp_path / "x").write_bytes(b"x")
    with open(tmp_path / "x", "rb") as file, pytest.raises(FileError, match="it is open for reading only"):
        Output(f"/dev/fd/{file.fileno()}")


def test_a_pipe_that_does_not_wait_gets_all_the_same(tmp_path):
    """Another program that shares the pipe may have set it so."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    got = []
    thread = threading.Thread(target=lambda: got.extend(iter(lambda: os.read(reader, 1 << 16), b"")), daemon=True)
    with Output(f"/dev/fd/{writer}") as output:
        os.close(writer)
        pieces = [b"%d\n" % number * 20_000 for number in range(10)]
        thread.start()
        for piece in pieces:
            output.write(piece)
    thread.join(20)
    os.close(reader)
    assert b"".join(got) == b"".join(pieces)
