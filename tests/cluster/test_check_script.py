"""scripts/check_cluster.py on small data."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import SCRIPTS
from support.processes import PATIENCE, default_signals, outcome, wait_until


@pytest.mark.full
@pytest.mark.parametrize(
    "arguments, reported",
    [
        (["--shards", "10", "shards"], ["| 10 shards ", '"same": true']),
        (
            ["--size", "0.1", "--only", "poison", "faults"],
            ["exit code 1: Error: rows/b:", "parts kept", "the same bytes"],
        ),
    ],
)
def test_what_it_finds(arguments, reported, tmp_path):
    command = [sys.executable, SCRIPTS / "check_cluster.py", "--folder", tmp_path, *arguments]
    done = outcome(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(words in done.stdout for words in reported) and not list(tmp_path.iterdir())


@pytest.mark.full
def test_told_to_stop_it_leaves_nothing(tmp_path):
    mark = f"FASTSVM_CHECKED={tmp_path}".encode()
    child = subprocess.Popen(
        [sys.executable, SCRIPTS / "check_cluster.py", "--folder", tmp_path, "--only", "killed", "faults"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FASTSVM_CHECKED": str(tmp_path)},
        preexec_fn=default_signals,
    )
    try:
        assert wait_until(lambda: list(tmp_path.glob("*/out-*/part-*")))
        child.send_signal(signal.SIGTERM)
        _, printed = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == 128 + signal.SIGTERM and printed == "" and list(tmp_path.iterdir()) == []
    assert wait_until(lambda: not with_environment(mark))


def with_environment(mark):
    """Processes with `mark` in their environment."""
    found = []
    for position in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in position.read_bytes():
                found.append(position)
        except OSError:  # another user's, or ended
            continue
    return found
