"""The build of the hot loops: the machine's best, or that of FASTSVM_INSTRUCTIONS."""

import json
import subprocess
import sys

import pytest

from fastsvm_cli import _native
from support.paths import DATA, GOLDEN

KNOWN = ["avx512_vnni", "avx512", "avx2", "baseline"]
ALL = _native.instruction_sets()


def python(code, value):
    return subprocess.run(
        [sys.executable, "-c", code], cwd="/", env={"FASTSVM_INSTRUCTIONS": value}, capture_output=True
    )


def test_the_best_comes_first_and_the_baseline_is_everywhere():
    assert ALL == [each for each in KNOWN if each in ALL] and ALL[-1] == "baseline"


def test_the_fixture_selects(instruction_set):
    assert _native.instruction_set() == instruction_set


@pytest.mark.parametrize("value", [*ALL, ""])
def test_the_variable_chooses_for_python(value):
    done = python("from fastsvm_cli import _native; print(_native.instruction_set())", value)
    assert done.stdout.decode().split() == [value or ALL[0]], done.stderr


@pytest.mark.full
@pytest.mark.parametrize("value", ALL)
def test_the_variable_chooses_for_a_command(fastsvm, value):
    words = ["bench", "-q", "--json", GOLDEN / "data", GOLDEN / "c_svc.model"]
    done = fastsvm(*words, env={"FASTSVM_INSTRUCTIONS": value})
    assert json.loads(done.out)["machine"]["kernels"] == value


@pytest.mark.full(few=4)
@pytest.mark.parametrize("value", ["avx3", "AVX2", "best", "a\x1bb\xe9", *[each for each in KNOWN if each not in ALL]])
def test_another_word_is_refused_in_one_line(fastsvm, value):
    done = fastsvm("bound", DATA / "rings.train", code=2, env={"FASTSVM_INSTRUCTIONS": value})
    found = "".join(c if " " <= c <= "~" else "?" * len(c.encode()) for c in value)
    start = f"Error: FASTSVM_INSTRUCTIONS: '{found}' found, expected an instruction set of this machine: "
    assert done.out == ""
    assert done.err.startswith(start) and done.err.endswith(" or baseline\n" if ALL[1:] else "baseline\n")
    assert done.err.count("\n") == 1
    assert (
        b"ImportError: " + start.removeprefix("Error: ").encode() in python("import fastsvm_cli._native", value).stderr
    )
