"""Build and run programs: any, and those of the core."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys

import pytest

from support.paths import ROOT, TESTS
from support.processes import PATIENCE, outcome

CLIENTS = TESTS / "capi" / "clients"
CONFIG = os.path.join(os.path.dirname(sys.executable), "fastsvm-config")
#: Builds of the checkout, which later runs build on.
CORE = ROOT / "build" / "core_units"


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


@contextlib.contextmanager
def built_core(*targets):
    """The core's unit tests and libfastsvm are compiled in one folder, in one process at a time."""
    require("cmake", "c++", "cc")
    CORE.mkdir(parents=True, exist_ok=True)
    with open(CORE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["-DFASTSVM_TESTS=ON", f"-DCMAKE_INSTALL_PREFIX={CORE / 'prefix'}", "-DCMAKE_INSTALL_LIBDIR=lib"]
        words += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        configured = outcome(["cmake", "-S", str(ROOT / "fastsvm_cli" / "native"), "-B", str(CORE), *words])
        if "doctest" in configured.stderr:
            (pytest.fail if os.environ.get("CI") else pytest.skip)("no doctest (Debian: doctest-dev)")
        assert configured.returncode == 0, configured.stderr
        run("cmake", "--build", CORE, "-j", os.cpu_count(), *targets)
        yield CORE
