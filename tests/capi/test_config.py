"""fastsvm-config. The fixture `client` builds programs on what it prints."""

import os

from fastsvm_cli import __version__
from support.building import CONFIG, run
from support.processes import outcome


def test_what_it_prints():
    assert run(CONFIG, "--version") == f"{__version__}\n"
    assert run(CONFIG, "--help").startswith("Usage: fastsvm-config ")
    both = run(CONFIG, "--cflags", "--libs").split()
    assert os.path.isfile(f"{both[0][2:]}/fastsvm.h") and os.path.isfile(both[1]) and len(both) == 3


def test_an_unknown_option_is_one_line():
    done = outcome([CONFIG, "--lib"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: no such option: --lib; see fastsvm-config --help\n"
