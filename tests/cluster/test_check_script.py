"""scripts/check_cluster.py on small data."""

import sys

import pytest

from support.paths import SCRIPTS
from support.processes import outcome


@pytest.mark.full
def test_it_compares_what_a_bad_row_leaves(tmp_path):
    command = [sys.executable, SCRIPTS / "check_cluster.py", "--folder", tmp_path, "--size", "0.1"]
    done = outcome([*command, "--only", "poison", "faults"])
    assert done.returncode == 0, done.stdout + done.stderr
    reported = ("exit code 1: Error: rows/b:", "parts kept", "the same bytes")
    assert all(words in done.stdout for words in reported) and not list(tmp_path.iterdir())
