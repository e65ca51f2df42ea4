"""Real schedulers and workers, as processes on this machine."""

import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import dask
import pytest
from distributed import Client

from fastsvm_cli.cluster import scheduler
from fastsvm_cli.errors import FastsvmError
from support.dasking import parts, run_here
from support.messages import cases
from support.paths import FASTSVM
from support.processes import PATIENCE, default_signals, interrupted, wait_until


@pytest.mark.full
@pytest.mark.parametrize("killed", ["one that has begun a part", "all at once"])
def test_killed_workers(models, address, tmp_path, killed):
    """Dask sends the lost job to the workers that its nannies start."""
    model, rows, options = models["certified"]
    command = ["predict", "--block", "0.00005", *options, rows, model]
    child = subprocess.Popen(
        [FASTSVM, *map(str, command), "--dask", address, "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out = tmp_path / "out"
    if killed == "all at once":
        assert wait_until(lambda: list(out.glob("part-*")))
        with Client(address, set_as_default=False) as client:
            pids = list(client.run(os.getpid).values())
    else:
        words = wait_until(lambda: [path.name.split("-") for path in out.glob(".part-*.tmp")])
        pids = [int(words[0][-2])]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    printed, errors = child.communicate(timeout=PATIENCE)
    one = run_here(*command[:1], *command[3:], tmp_path / "one")
    assert child.returncode == 0 and parts(out) == (tmp_path / "one").read_bytes() and printed == one.out
    assert errors.startswith("Dashboard: http://") and errors.endswith(one.err)


@pytest.mark.full
def test_ctrl_c_leaves_whole_parts_and_no_process(models, tmp_path):
    """The signal is sent to all processes, as by a terminal."""
    model, rows, _ = models["two"]
    command = [FASTSVM, "predict", "--dask", "local:1", "--block", "0.00005", rows, model, "out"]
    child = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True, preexec_fn=default_signals
    )
    assert wait_until(lambda: list((tmp_path / "out").glob("part-*")))
    (printed,) = interrupted(child)[1].splitlines()
    assert printed.startswith("Dashboard: ")
    run_here("predict", "-q", rows, model, tmp_path / "one")
    for path in (tmp_path / "out").glob("part-*"):
        assert path.read_bytes() in (tmp_path / "one").read_bytes()


NO_ADDRESSES = [*("", "localhost", "local:0", "local:", "local:2x", "head:8786", "tcp://", "http://a", "tcp://head")]
NO_ADDRESSES += ["tcp://head:port", "tcp:///:1", "tls://head:", "inproc://head:1", "ucx://head:1"]


def test_addresses():
    for text in NO_ADDRESSES:
        with pytest.raises(ValueError, match="expected tcp://HOST:PORT"):
            scheduler.local_workers(text)
    found = [scheduler.local_workers(text) for text in ("local:3", "local", "tls://head:8786")]
    assert found == [3, len(os.sched_getaffinity(0)), None]


@pytest.mark.parametrize("address, words", cases("no scheduler"))
def test_no_scheduler_answers(monkeypatch, address, words):
    """Dask logs nothing: a client whose scheduler is gone would log its own error."""
    monkeypatch.setattr(scheduler, "TIMEOUT", 0.2)
    if address == "local":
        monkeypatch.setitem(sys.modules, "dask", None)  # without the extra
    log = logging.getLogger("distributed.client")
    log.setLevel(logging.WARNING)  # as Dask sets it on import
    with pytest.raises(FastsvmError, match=re.escape(words)):
        with scheduler.connect(address):
            pass
    assert address != "tcp://127.0.0.1:1" or not log.isEnabledFor(logging.ERROR)


def test_workers_that_do_not_start_are_an_error(monkeypatch):
    def fail(**options):
        raise OSError("no more processes\nnext line")

    monkeypatch.setattr("distributed.LocalCluster", fail)
    expected = "no worker processes could be started on this machine: no more processes$"
    with pytest.raises(FastsvmError, match=expected):
        with scheduler.connect("local:1"):
            pass


@pytest.mark.full
def test_workers_of_this_machine_write_where_dask_is_told_to_and_leave_nothing(tmp_path):
    position = tmp_path / "room"
    with dask.config.set({"temporary-directory": str(position)}), scheduler.connect("local:1") as client:
        (found,) = client.run(lambda dask_worker: dask_worker.local_directory).values()
        assert Path(found).is_relative_to(position) and Path(found).is_dir()
    assert list(position.iterdir()) == []
