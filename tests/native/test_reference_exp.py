"""The reference sum's exponentials are those of this process's C library, bit for bit."""

import os
import platform
import re
import subprocess

import numpy as np
import pytest

from fastsvm_cli import _native
from support.building import require, run
from support.evaluation import parse, reference
from support.hostile import hostile_machine, hostile_rows
from support.in_process import both, mirrored
from support.oracles import data_text
from support.paths import TESTS


@pytest.fixture
def chosen_loops(core_units):
    """chosen_loops(environment) -> {"plain", "fused", "none"}: of all instruction sets, each with the library's
    bits."""

    def run(**environment):
        builds = _native.instruction_sets()
        texts = [core_units("--test-case=exp:*", **environment, FASTSVM_INSTRUCTIONS=build) for build in builds]
        return {re.search(r"loop: (\w+)", text)[1] for text in texts}

    return run


@pytest.fixture(scope="session")
def other_exp(tmp_path_factory):
    """A library to preload, whose exp rounds to nearest."""
    require("cc")
    library = tmp_path_factory.mktemp("exp") / "exp.so"
    run("cc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", library, TESTS / "native" / "other_exp.c", "-lm")
    return str(library)


def test_glibcs_exp_is_found(best_instruction_set):
    name, version = platform.libc_ver()
    if name != "glibc" or tuple(map(int, version.split("."))) < (2, 28):
        pytest.skip("another C library")
    # glibc's loop is one of the best build of this processor, whatever FASTSVM_INSTRUCTIONS says.
    assert _native.select_instruction_set(_native.instruction_sets()[0]) and _native.library_exp()


@pytest.mark.full
def test_glibc_without_fused_multiply_adds_is_found_too(chosen_loops):
    """glibc detects them when it is loaded, unless told not to."""
    off = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable,-FMA4_Usable"
    found = chosen_loops(GLIBC_TUNABLES=off)
    if "fused" in found:
        pytest.skip("this C library takes no such advice")
    assert found == ({"plain"} if _native.library_exp() else {"none"})


@pytest.mark.full
def test_of_another_library_the_library_itself_is_called(chosen_loops, other_exp):
    assert chosen_loops(LD_PRELOAD=other_exp) == {"none"}


def test_lines_are_those_of_svm_predict_on_the_same_library(svm_predict, fastsvm, tmp_path, other_exp):
    """The two libraries differ on rows whose probabilities rounding decides."""
    machine, rows = mirrored(np.random.default_rng(3), "rbf")
    machine.probA, machine.probB = [-1e15], [0.3]
    (tmp_path / "model").write_bytes(machine.text())
    (tmp_path / "rows").write_bytes(data_text(rows))
    lines = []
    for preload in (os.environ.get("LD_PRELOAD", ""), other_exp):
        environment = {**os.environ, "LD_PRELOAD": preload}
        words = [svm_predict, "-q", "-b", "1", "rows", "model", "theirs"]
        subprocess.run(words, cwd=tmp_path, env=environment, check=True)
        fastsvm("predict", "-q", "-b", "1", "rows", "model", "ours", env=environment)
        lines.append((tmp_path / "ours").read_bytes())
        assert lines[-1] == (tmp_path / "theirs").read_bytes()
    assert lines[0] != lines[1]


@pytest.mark.full(few=2)
@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "sigmoid"])
def test_hostile_sums_are_libsvms_bit_for_bit(tmp_path, instruction_set, kernel):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        machine, x = hostile_machine(rng, kernel)
        rows = [row for _ in range(4) for row in hostile_rows(rng, x)]
        model, theirs = both(machine, tmp_path)
        expected, chunk = theirs.values(rows), parse(rows)
        for count in (1, 8, len(rows)):
            np.testing.assert_array_equal(reference(model, chunk.slice(0, count)), expected[:count])


def test_exponentials_beyond_the_lanes_are_the_librarys(tmp_path, instruction_set):
    """Some rows of a register are so far that glibc takes another path, or e^x underflows."""
    rng = np.random.default_rng(5)
    machine, _ = mirrored(rng, "rbf", n=40, d=2)
    machine.gamma = 1.0
    machine.coef *= 10.0 ** rng.uniform(0, 300, machine.coef.shape)
    rows = [{1: float(rng.choice([0, 1, 22, 23, 26, 27, 28, 40]) + rng.normal())} for _ in range(100)]
    model, theirs = both(machine, tmp_path)
    expected = theirs.values(rows)
    assert len({*expected[:, 0].tolist()}) > 50
    np.testing.assert_array_equal(reference(model, parse(rows)), expected)
