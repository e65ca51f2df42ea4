"""Full disks, file systems without locks, mount points, power failures: the previous file stays, or the new one is
whole."""

import os

import pytest

from support.outputs import killed_writer
from support.system_faults import Errors


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    return Errors(tmp_path_factory.mktemp("faults"))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    return path


def test_without_an_error_the_file_is_written(errors, path):
    assert errors.write(path, b"one", b"two") == "" and path.read_bytes() == b"onetwo"


def test_a_disk_that_fills_up_leaves_the_previous_file(errors, path):
    assert errors.write(path, b"fits", b"does not", write="ENOSPC") == f"{path}: No space left on device"
    assert path.read_bytes() == b"before" and os.listdir(path.parent) == ["out"]


def test_short_writes_are_completed(errors, path):
    assert errors.write(path, b"0123456789", b"abc", write="short") == ""
    assert path.read_bytes() == b"0123456789abc"


# ---- locks


def test_a_file_system_without_locks_keeps_what_it_has(errors, path):
    killed_writer(path)
    assert errors.write(path, b"after", flock="ENOLCK") == ""
    assert path.read_bytes() == b"after" and sorted(os.listdir(path.parent)) == [".out.fastsvm-0.tmp", "out"]


def test_the_lock_stays_until_the_file_has_its_name(errors, path):
    """Another process must not take the finished file for a dead process's."""
    errors.write(path, b"after")
    assert path.read_bytes() == b"after" and "rename, locked" in errors.log


def test_a_new_file_that_another_process_takes_for_a_dead_one_s_is_given_up(errors, path):
    assert errors.write(path, b"after", flock="late") == ""
    assert path.read_bytes() == b"after" and os.listdir(path.parent) == ["out"]


# ---- mount points, which a rename cannot replace


@pytest.mark.parametrize("size", [0, 3, 100, 3_000_000])
def test_a_mount_point_is_copied_into(errors, path, size):
    number, body = path.stat().st_ino, os.urandom(size)
    assert errors.write(path, body, rename="EBUSY") == ""
    assert path.read_bytes() == body and path.stat().st_ino == number and os.listdir(path.parent) == ["out"]


@pytest.mark.parametrize("before", [b"before", b"before" * 100_000])
def test_a_full_disk_leaves_the_file_that_would_be_copied_into(errors, path, before):
    path.write_bytes(before)
    reported = errors.write(path, b"x" * 1000, rename="EBUSY", posix_fallocate="ENOSPC")
    assert reported == f"{path}: No space left on device" and path.read_bytes() == before
    assert os.listdir(path.parent) == ["out"]


def test_a_copy_that_fails_half_way_leaves_the_result_and_says_where(errors, path):
    stored = path.parent / ".out.fastsvm-0.tmp"
    reported = errors.write(path, b"after", rename="EBUSY", pwrite="EIO")
    assert reported == f"{path}: Input/output error; the result is in {stored}" and stored.read_bytes() == b"after"


def test_a_file_system_that_reserves_nothing_is_copied_into_all_the_same(errors, path):
    assert errors.write(path, b"after", rename="EBUSY", posix_fallocate="EOPNOTSUPP") == ""
    assert path.read_bytes() == b"after"


# ---- power failures


@pytest.mark.parametrize(
    "previous, clock, events",
    [
        (None, "still", ["rename"]),
        (b"", "still", ["rename"]),
        (b"before", "still", ["sync file", "rename"]),
        (None, "fast", ["sync file", "rename", "sync folder"]),
        (b"before", "fast", ["sync file", "rename", "sync folder"]),
    ],
)
def test_a_result_that_took_long_is_on_the_disk_and_a_previous_one_goes_only_for_one_that_is(
    errors, path, previous, clock, events
):
    path.unlink() if previous is None else path.write_bytes(previous)
    assert errors.write(path, b"after", clock=clock) == ""
    assert [event.split(",")[0] for event in errors.log] == events and path.read_bytes() == b"after"


def test_a_failing_sync_leaves_the_previous_file(errors, path):
    assert errors.write(path, b"after", fsync="EIO") == f"{path}: Input/output error"
    assert path.read_bytes() == b"before" and os.listdir(path.parent) == ["out"]
