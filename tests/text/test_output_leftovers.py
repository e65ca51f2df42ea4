"""What a killed process leaves is removed by the next; what a power failure leaves is a whole file."""

import errno
import fcntl
import os
import stat
import subprocess
import sys

import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.text import output as output_module
from fastsvm_cli.text.output import Output
from support.outputs import write

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
        output_module.remove_if_dead(source)
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
