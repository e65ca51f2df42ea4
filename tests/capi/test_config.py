"""fastsvm-config: programs linked with the library in the package."""

import os
import sys

import pytest

from fastsvm_cli import __version__
from support.building import CLIENTS, require, run
from support.paths import GOLDEN
from support.processes import outcome

CONFIG = os.path.join(os.path.dirname(sys.executable), "fastsvm-config")


@pytest.mark.full
@pytest.mark.parametrize(("source", "headers"), [("one_row", ["--cflags"]), ("damaged", ["--cflags", "--libsvm"])])
def test_a_program_is_built_on_what_it_prints(source, headers, tmp_path):
    require("cc")
    include, linked = run(CONFIG, *headers).split(), run(CONFIG, "--libs").split()
    source = CLIENTS / f"{source}.c"
    run("cc", "-D_POSIX_C_SOURCE=200809L", *include, "-o", tmp_path / "program", source, *linked, "-lm", "-lpthread")
    done = outcome([tmp_path / "program", GOLDEN / "c_svc.model"])
    assert "error while loading" not in done.stderr and done.returncode >= 0


def test_what_it_prints():
    assert run(CONFIG, "--version") == f"{__version__}\n"
    assert run(CONFIG, "--help").startswith("Usage: fastsvm-config ")
    both = run(CONFIG, "--cflags", "--libs").split()
    assert os.path.isfile(f"{both[0][2:]}/fastsvm.h") and os.path.isfile(both[1]) and len(both) == 3


def test_an_unknown_option_is_one_line():
    done = outcome([CONFIG, "--lib"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: no such option: --lib; see fastsvm-config --help\n"
