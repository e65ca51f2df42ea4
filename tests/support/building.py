"""Build and run programs."""

import os
import shutil
import subprocess
import sys

import pytest

from support.paths import TESTS
from support.processes import PATIENCE

CLIENTS = TESTS / "capi" / "clients"
CONFIG = os.path.join(os.path.dirname(sys.executable), "fastsvm-config")


def require(*programs):
    """Skip the test if a program is missing; in CI, fail."""
    for program in programs:
        if not shutil.which(program):
            (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no {program}")


def run(*command, **options):
    """Return the output of a program that must succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout
