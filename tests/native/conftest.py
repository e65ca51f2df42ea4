"""The tests of the core's units, `fastsvm_cli/native/**/*_test.cpp`, as a program."""

import os
import subprocess

import pytest

from support.building import built_core
from support.processes import PATIENCE


@pytest.fixture(scope="session")
def core_units():
    """core_units(words, environment) runs these tests, and returns what they print."""
    with built_core("--target", "core_units") as folder:
        program = folder / "core_units"

    def units(*words, **environment):
        environment = {**os.environ, **environment}
        done = subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr
        return done.stdout

    return units
