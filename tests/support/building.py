"""Build and run programs."""

import os
import shutil
import subprocess

import pytest

from support.paths import TESTS
from support.processes import PATIENCE

CLIENTS = TESTS / "capi" / "clients"


def require(*programs):
    """The path of the last program. Without one of them the test is skipped; in CI, it fails: .ci/run installs them."""
    for program in programs:
        path = shutil.which(program)
        if path is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no {program}")
    return path


def run(*command, **options):
    """Return the output of a program that must succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout
