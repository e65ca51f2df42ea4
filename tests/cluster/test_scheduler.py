"""Real schedulers and workers, as processes on this machine."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fastsvm_cli.cluster import scheduler
from fastsvm_cli.errors import FastsvmError
from support.dasking import parts, run_here
from support.paths import FASTSVM
from support.processes import PATIENCE, default_signals, interrupted, outcome, wait_until


def fastsvm(folder, *arguments, code=0):
    done = outcome([FASTSVM, *map(str, arguments)], cwd=folder)
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.full
def test_parts_of_real_workers_and_one_of_them_killed(models, address, tmp_path):
    """The killed worker had begun a part."""
    model, rows, options = models["certified"]
    one = run_here("predict", *options, rows, model, tmp_path / "one")
    done = fastsvm(tmp_path, "predict", "--dask", address, "--block", 0.002, *options, rows, model, "out")
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes()
    assert done.stdout == one.out and done.stderr.splitlines()[1:] == one.err.splitlines()
    assert done.stderr.startswith("Dashboard: http://")

    child = subprocess.Popen(
        [FASTSVM, "predict", "-q", "--dask", address, "--block", "0.00002", rows, model, "killed"], cwd=tmp_path
    )
    out = tmp_path / "killed"
    words = wait_until(lambda: [path.name.split("-") for path in out.glob(".part-*.tmp")])
    os.kill(int(words[0][-2]), signal.SIGKILL)
    assert child.wait(PATIENCE) == 0
    run_here("predict", "-q", rows, model, tmp_path / "one")
    assert parts(out) == (tmp_path / "one").read_bytes()


@pytest.mark.full
def test_all_workers_killed_at_once(models, address, tmp_path):
    """Dask sends the lost job to the workers that its nannies start."""
    from distributed import Client

    model, rows, _ = models["two"]
    out = tmp_path / "out"
    command = [FASTSVM, "predict", "-q", "--dask", address, "--block", "0.00002", rows, model, out]
    child = subprocess.Popen(command, cwd=tmp_path)
    assert wait_until(lambda: list(out.glob("part-*")))
    with Client(address, set_as_default=False) as client:
        pids = client.run(os.getpid).values()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert child.wait(PATIENCE) == 0
    run_here("predict", "-q", rows, model, tmp_path / "one")
    assert parts(out) == (tmp_path / "one").read_bytes()


@pytest.mark.full
def test_from_and_to_a_store(models, address, store, tmp_path):
    import gzip

    model, rows, _ = models["two"]
    text = rows.read_bytes().splitlines(keepends=True)
    store.pipe_file("rows/a.txt", b"".join(text[:120]))
    store.pipe_file("rows/b.gz", gzip.compress(b"".join(text[120:])))  # larger than a block, but not cut
    store.pipe_file("rows/c", b"")
    one = run_here("predict", "--values", rows, model, tmp_path / "one")
    command = ("predict", "--values", "--block", 0.002, "--dask", address, "s3://rows/*", model, "s3://rows/out/today")
    assert fastsvm(tmp_path, *command).stdout == one.out

    def found():
        return b"".join(store.cat_file(name) for name in sorted(store.glob("rows/out/today/part-*")))

    assert found() == (tmp_path / "one").read_bytes()
    store.rm_file("rows/out/today/part-00000-00001")
    store.invalidate_cache()
    again = fastsvm(tmp_path, *command)
    assert "Kept: 6 of 7 parts." in again.stderr and again.stdout == one.out
    store.pipe_file("rows/b.gz", gzip.compress(b"".join(text[120:]), 1))
    again = fastsvm(tmp_path, *command)
    assert "Removed parts of another model, option or shard: 1." in again.stderr and "Kept: 6 of 7" in again.stderr
    store.invalidate_cache()
    assert found() == (tmp_path / "one").read_bytes()
    names = {name.rpartition("/")[2] for name in store.ls("rows/out/today")}
    assert {name for name in names if not name.startswith(("part-", "receipt-"))} == {"manifest.json"}


@pytest.mark.full
def test_ctrl_c_leaves_whole_parts_and_no_process(models, tmp_path):
    """The signal is sent to all processes, as by a terminal."""
    model, rows, _ = models["two"]
    command = [FASTSVM, "predict", "--dask", "local:1", "--block", "0.00002", rows, model, "out"]
    child = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True, preexec_fn=default_signals
    )
    assert wait_until(lambda: list((tmp_path / "out").glob("part-*")))
    printed = interrupted(child)
    assert len(printed) == 1 and printed[0].startswith("Dashboard: ")
    run_here("predict", "-q", rows, model, tmp_path / "one")
    for path in (tmp_path / "out").glob("part-*"):
        assert path.read_bytes() in (tmp_path / "one").read_bytes()


def test_no_scheduler_answers(monkeypatch):
    monkeypatch.setattr(scheduler, "TIMEOUT", 0.2)
    with pytest.raises(FastsvmError, match="no Dask scheduler answers at tcp:"):
        with scheduler.connect("tcp://127.0.0.1:1"):
            pass


@pytest.mark.parametrize(
    "text",
    ["", "localhost", "local:0", "local:", "local:2x", "head:8786", "tcp://", "http://a"]
    + ["tcp://head", "tcp://head:port", "tcp:///:1", "tls://head:", "inproc://head:1", "ucx://head:1"],
)
def test_what_is_no_address(text):
    with pytest.raises(ValueError, match="expected tcp://HOST:PORT"):
        scheduler.Address(text)


@pytest.mark.parametrize("command", ["predict rows m out", "approx --certify m"])
def test_what_is_no_address_is_refused_before_any_work(tmp_path, command):
    done = outcome([FASTSVM, *command.split(), "--dask", "head:8786"], cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.endswith(
        "Error: --dask: 'head:8786' found, expected tcp://HOST:PORT, tls://HOST:PORT, local or local:N.\n"
    )


def test_addresses():
    assert scheduler.Address("local:3").workers == 3
    assert scheduler.Address("local").workers == len(os.sched_getaffinity(0))
    assert scheduler.Address("tls://head:8786").workers is None


def test_no_certificates():
    with pytest.raises(FastsvmError, match="no certificates for tls:"):
        with scheduler.connect("tls://127.0.0.1:1"):
            pass


@pytest.mark.full
def test_workers_of_this_machine_write_where_dask_is_told_to_and_leave_nothing(tmp_path):
    import dask

    position = tmp_path / "room"
    with dask.config.set({"temporary-directory": str(position)}), scheduler.connect("local:1") as client:
        (found,) = client.run(lambda dask_worker: dask_worker.local_directory).values()
        assert Path(found).is_relative_to(position) and Path(found).is_dir()
    assert list(position.iterdir()) == []


def test_dask_logs_nothing(monkeypatch):
    """A client whose scheduler is gone would log its own error."""
    import logging

    monkeypatch.setattr(scheduler, "TIMEOUT", 0.2)
    logging.getLogger("distributed.client").setLevel(logging.WARNING)  # as Dask sets it on import
    with pytest.raises(FastsvmError):
        with scheduler.connect("tcp://127.0.0.1:1"):
            pass
    assert not logging.getLogger("distributed.client").isEnabledFor(logging.ERROR)


def test_without_the_extra(monkeypatch, tmp_path, models):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(FastsvmError, match=r"pip install 'fastsvm\[dask\]'"):
        with scheduler.connect("local"):
            pass
