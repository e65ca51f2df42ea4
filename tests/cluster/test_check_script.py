"""scripts/check_cluster.py, small."""

import subprocess
import sys

import pytest

from support.places import SCRIPTS
from support.processes import PATIENCE


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--shards", "40", "shards"], ["| 40 shards ", '"same": true']),
        (
            ["--size", "0.5", "--only", "poison", "faults"],
            ["exit code 1: Error: rows/b:", "parts kept", "the same bytes"],
        ),
    ],
)
def test_what_it_finds(arguments, told, tmp_path):
    command = [sys.executable, SCRIPTS / "check_cluster.py", "--folder", tmp_path, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(words in done.stdout for words in told) and not list(tmp_path.iterdir())
