"""Interruptions and losses while workers compile for `bench --try --dask`."""

import os
import subprocess
import sys

import pytest

from support.places import FASTSVM
from support.processes import PATIENCE, default_signals, interrupted, wait_until


@pytest.fixture
def bench(models, tmp_path):
    """Starts `bench` with workers on which attempts take for ever. Temporary files of all processes are in `tmp_path /
    "files"`; a worker's model file `two` exists while it compiles."""
    (tmp_path / "files").mkdir()
    (tmp_path / "sitecustomize.py").write_text(
        "import fastsvm_cli.benchmarks.on_cluster as a\na.fastsvm_words = lambda: ['sh', '-c', 'exec sleep 100000']\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path / "files"), "PYTHONPATH": str(tmp_path)}
    model, rows, _ = models["two"]
    children = []

    def start(*words, cwd=tmp_path, **how):
        child = subprocess.Popen(
            [*map(str, words)],
            cwd=cwd,
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            preexec_fn=default_signals,
            **{"stderr": subprocess.DEVNULL, **how},
        )
        children.append(child)
        return child

    def bench(address):
        words = (FASTSVM, "bench", "--try", "--patience", 100_000, "--dask", address, rows, model)
        return start(*words, stderr=subprocess.PIPE, text=True)

    bench.start = start
    yield bench
    for child in children:
        try:
            os.killpg(child.pid, 9)
        except ProcessLookupError:
            pass
        child.communicate(timeout=PATIENCE)


def compiling(tmp_path):
    return list((tmp_path / "files").glob("**/two"))


@pytest.fixture
def cluster(bench, tmp_path):
    """(scheduler's process, its address), with one worker"""
    dask, file = (sys.executable, "-m", "dask"), tmp_path / "scheduler.json"
    # With -m, Python would import fastsvm from a checkout in the current folder.
    scheduler = bench.start(*dask, "scheduler", "--scheduler-file", file, "--port", 0, "--no-dashboard")
    bench.start(*dask, "worker", "--scheduler-file", file, "--nthreads", 1, "--no-nanny", "--no-dashboard")
    assert wait_until(file.exists)
    address = wait_until(lambda: _address(file))
    return scheduler, address


def _address(file):
    import json

    try:
        return json.loads(file.read_text())["address"]
    except ValueError:  # not written completely yet
        return None


@pytest.mark.full
@pytest.mark.parametrize("when", ["it starts workers", "they compile"])
def test_ctrl_c_leaves_nothing(when, bench, tmp_path):
    """No process or file of fastsvm or Dask is left; there is one message."""
    child = bench("local:1")
    files = tmp_path / "files"
    assert wait_until(lambda: compiling(tmp_path) if when == "they compile" else list(files.glob("fastsvm-dask-*")))
    said = interrupted(child)
    assert said[-1].startswith("Interrupted: nothing was timed yet") and "Traceback" not in str(said)
    assert [line for line in said if line.startswith("Interrupted")] == said[-1:] and list(files.iterdir()) == []


@pytest.mark.full
def test_a_scheduler_that_goes(bench, cluster, tmp_path):
    """One message, although Dask reports every attempt as cancelled."""
    scheduler, address = cluster
    child = bench(address)
    assert wait_until(lambda: compiling(tmp_path))
    scheduler.kill()
    _, said = child.communicate(timeout=PATIENCE)
    said = said.splitlines()
    assert child.returncode == 1 and "Traceback" not in str(said)
    assert said[-1].startswith("Error: --dask: the scheduler was lost, or all workers were: ")


@pytest.mark.full
def test_a_client_that_is_killed(bench, cluster, tmp_path):
    """The client did not ask the workers to stop."""
    _, address = cluster
    child = bench(address)
    assert wait_until(lambda: compiling(tmp_path))
    child.kill()
    assert wait_until(lambda: not compiling(tmp_path))
