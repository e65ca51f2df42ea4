"""The tests of the core's units, `fastsvm_cli/native/**/*_test.cpp`, as a program."""

import fcntl
import os
import shutil
import subprocess

import pytest

from support.building import require, run
from support.paths import ROOT
from support.processes import PATIENCE, outcome


@pytest.fixture(scope="session")
def core_units():
    """core_units(words, environment) runs these tests, and returns what they print. They are built from the checkout,
    in a folder that later runs build on."""
    require("cmake", "c++")
    folder = ROOT / "build" / "core_units"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        words = ["cmake", "-S", ROOT / "fastsvm_cli" / "native", "-B", folder, "-DFASTSVM_TESTS=ON", *launcher]
        configured = outcome([*map(str, words)])
        if "doctest" in configured.stderr:
            (pytest.fail if os.environ.get("CI") else pytest.skip)("no doctest (Debian: doctest-dev)")
        assert configured.returncode == 0, configured.stderr
        run("cmake", "--build", folder, "--target", "core_units", "-j", os.cpu_count())

    def units(*words, **environment):
        environment = {**os.environ, **environment}
        done = subprocess.run(
            [folder / "core_units", *words], env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr
        return done.stdout

    return units
