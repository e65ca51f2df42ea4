"""libfastsvm as CMake installs it; programs linked with that of the package."""

from functools import cache

import pytest

from support.building import CLIENTS, CONFIG, built_core, require, run


@pytest.fixture(scope="session")
def library():
    """Folder of the installed libfastsvm."""
    with built_core() as folder:
        run("cmake", "--install", folder)
    return folder / "prefix"


@pytest.fixture(scope="session")
def client(tmp_path_factory):
    """client(name) -> program of clients/name.c, built on what fastsvm-config prints: on the installed package."""
    require("cc")
    folder = tmp_path_factory.mktemp("clients")

    @cache
    def program(name):
        include, linked = run(CONFIG, "--libsvm").split(), run(CONFIG, "--libs").split()
        warnings = "-Wall", "-Wextra", "-Werror", "-std=c99", "-D_POSIX_C_SOURCE=200809L"
        source = CLIENTS / f"{name}.c"
        run("cc", *warnings, "-O1", "-o", folder / name, source, *include, *linked, "-lm", "-lpthread")
        return folder / name

    return program
