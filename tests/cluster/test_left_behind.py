"""What is left in OUT_DIR by those who are stopped, and by stores and disks that can do less than others."""

import errno
import os
import time
import zlib
from types import SimpleNamespace

import pytest

from fastsvm_cli.cluster import lease, manifest
from fastsvm_cli.cluster.folder import folder
from fastsvm_cli.errors import FileError


@pytest.fixture
def where(tmp_path):
    return folder(str(tmp_path))


@pytest.fixture
def memory():
    import fsspec

    store = fsspec.filesystem("memory")
    yield store
    store.rm("/left", recursive=True)


def test_a_client_that_is_stopped_while_it_takes_a_lease_leaves_none(where, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    where.put(lease.NAME, b"{}", "x")  # nobody's: to be taken over, with a wait
    monkeypatch.setattr(lease, "time", SimpleNamespace(time=time.time, sleep=stop))
    mine = lease.Lease(where)
    with pytest.raises(KeyboardInterrupt):
        mine.take()
    assert lease.holds(where, mine.identity)
    mine.release()
    assert where.list() == {}


def test_a_lease_that_was_never_taken_is_not_released(where):
    mine, other = lease.Lease(where), lease.Lease(where)
    other.take()
    before = where.read(lease.NAME)
    mine.release()
    with pytest.raises(FileError, match="another fastsvm is writing it"):
        mine.take()
    mine.release()
    assert where.read(lease.NAME) == before
    other.release()
    assert where.list() == {}


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_disk_without_hard_links(code, where, monkeypatch):
    def link(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    assert where.create("a", b"first") and not where.create("a", b"second")
    assert where.read("a") == b"first" and list(where.list()) == ["a"]


def test_a_disk_that_is_full_is_told_of(where, monkeypatch):
    def link(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(OSError, match="No space left"):
        where.create("a", b"first")
    assert where.list() == {}


@pytest.mark.parametrize("fault", [OSError(errno.ENOSYS, "NotImplemented"), TypeError("mode"), NotImplementedError()])
def test_a_store_that_knows_no_exclusive_file(fault, memory, monkeypatch):
    plain = type(memory).pipe_file

    def pipe_file(self, path, value, mode="overwrite", **how):
        if mode == "create":
            raise fault
        return plain(self, path, value, mode=mode, **how)

    monkeypatch.setattr(type(memory), "pipe_file", pipe_file)
    there = folder("memory://left")
    assert there.create("a", b"first") and not there.create("a", b"second")
    assert there.read("a") == b"first"


def test_a_store_that_refuses_is_told_of(memory, monkeypatch):
    def refuse(*_, **how):
        raise OSError(errno.EBUSY, "SlowDown")

    memory.pipe_file("/left/other", b"")
    monkeypatch.setattr(type(memory), "pipe_file", refuse)
    with pytest.raises(OSError, match="SlowDown"):
        folder("memory://left").create("a", b"first")


def test_journals_get_fewer_as_a_run_gets_longer(where, monkeypatch):
    """Ten hours of a part per second."""
    clock = [1e6]
    monkeypatch.setattr(manifest, "monotonic", lambda: clock[0])
    notes = manifest.Manifest(where, "ab")
    notes.begin({"job": "j"}, {}, {})
    journals, longest = 0, 0.0
    written = clock[0]
    monkeypatch.setattr(notes, "flush", lambda: setattr(notes, "_written", clock[0]))
    for second in range(36_000):
        clock[0] += 1.0
        notes.note({"part": f"part-{second:05d}-00000"})
        if notes._written == clock[0]:
            journals += 1
            longest, written = max(longest, clock[0] - written), clock[0]
    assert 400 < journals < 800 and longest <= 361


def test_the_checksum_of_a_part_is_read_in_pieces(where, memory, monkeypatch):
    """A part of a compressed shard may be larger than the memory of who checks it."""
    monkeypatch.setattr("fastsvm_cli.cluster.folder._PIECE_BYTES", 1000)
    content = bytes(range(256)) * 100
    there = folder("memory://left")
    for each in (where, there):
        each.put("part", content, "x")
        each.read = None
        assert each.checksum("part") == zlib.crc32(content) and each.checksum("none") is None
