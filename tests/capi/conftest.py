"""libfastsvm, built once for all processes of a run."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from support.building import CLIENTS, require, run
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
            words = f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}", "-DCMAKE_INSTALL_LIBDIR=lib", *launcher
            run("cmake", "-S", ROOT / "fastsvm_cli" / "native", "-B", folder / "build", *words)
            run("cmake", "--build", folder / "build", "-j", os.cpu_count())
            run("cmake", "--install", folder / "build")
            (folder / "made").touch()
    return folder / "prefix"


@pytest.fixture(scope="session")
def client(library, tmp_path_factory):
    """client(name) -> program of clients/name.c."""
    folder, made = tmp_path_factory.mktemp("clients"), {}

    def program(name):
        if name not in made:
            made[name] = folder / name
            include = f"-I{library / 'include'}", f"-I{library / 'include/libsvm-on-fastsvm'}"
            linked = f"-L{library / 'lib'}", "-lfastsvm", "-lm", "-lpthread", f"-Wl,-rpath,{library / 'lib'}"
            warnings = "-Wall", "-Wextra", "-Werror", "-std=c99", "-D_POSIX_C_SOURCE=200809L"
            run("cc", *warnings, "-O1", "-o", made[name], CLIENTS / f"{name}.c", *include, *linked)
        return Path(made[name])

    return program
