"""libfastsvm as CMake installs it, built once for all processes of a run; programs linked with that of the package."""

import fcntl
import os
import shutil
from functools import cache

import pytest

from support.building import CLIENTS, CONFIG, require, run
from support.paths import ROOT


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Folder of the installed libfastsvm."""
    require("cmake", "c++", "cc")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "libfastsvm"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            # Its numbers are tested in the package's library: this one need not be optimized.
            launcher += ["-DCMAKE_BUILD_TYPE=Debug"]
            words = f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}", "-DCMAKE_INSTALL_LIBDIR=lib", *launcher
            run("cmake", "-S", ROOT / "fastsvm_cli" / "native", "-B", folder / "build", *words)
            run("cmake", "--build", folder / "build", "-j", os.cpu_count())
            run("cmake", "--install", folder / "build")
            (folder / "made").touch()
    return folder / "prefix"


@pytest.fixture(scope="session")
def client(tmp_path_factory):
    """client(name) -> program of clients/name.c, built on what fastsvm-config prints: on the installed package."""
    require("cc")
    folder = tmp_path_factory.mktemp("clients")

    @cache
    def program(name):
        include, linked = run(CONFIG, "--cflags", "--libsvm").split(), run(CONFIG, "--libs").split()
        warnings = "-Wall", "-Wextra", "-Werror", "-std=c99", "-D_POSIX_C_SOURCE=200809L"
        source = CLIENTS / f"{name}.c"
        run("cc", *warnings, "-O1", "-o", folder / name, source, *include, *linked, "-lm", "-lpthread")
        return folder / name

    return program
