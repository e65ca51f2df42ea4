"""Memory of models of many classes does not grow with rows times pairs, nor with threads."""

import subprocess

import numpy as np
import pytest

from fastsvm_cli.text.read_rows import smaller_chunks
from support.evaluation import parse
from support.paths import FASTSVM
from support.processes import peak_memory
from zoo.traits import usual


def many_classes(classes, per_class, probability=False):
    found = usual(np.random.default_rng(1), vectors=classes * per_class, classes=classes, indices=range(1, 4), rows=0)
    found.machine.nr_sv[:] = [per_class] * classes
    if not probability:
        found.machine.probA = found.machine.probB = None
    return found.model


def assert_bounded(*words, cwd):
    """Many rows take little more memory than one. Buffers of 32 threads must not add up."""
    one, many = (
        peak_memory(FASTSVM, "predict", "-q", "--threads", 32, *words[:-1], name, words[-1], "/dev/null", cwd=cwd)
        for name in ("row", "rows")
    )
    assert many < one + 100e6


@pytest.mark.full
@pytest.mark.parametrize(
    "classes, per_class, row, rows, options",
    [
        (300, 2, "1 1:0.5 2:-0.25\n", 2_000, []),
        (26, 2, "1\n", 100_000, []),
        (26, 2, "\n", 80_000, ["--unlabelled"]),
        (26, 400, "1 1:0.5 2:-0.25\n", 2_000, []),
        (400, 1, "1 1:1e9\n", 300, []),  # too long for any bound of rounding: the reference sum
        (100, 2, "1 1:0.5\n", 3_000, ["--values"]),
        (100, 2, "1 1:0.5\n", 600, ["-b", "1"]),
    ],
)
def test_an_exact_model(tmp_path, classes, per_class, row, rows, options):
    (tmp_path / "model").write_bytes(many_classes(classes, per_class, probability="-b" in options))
    (tmp_path / "row").write_text(row)
    (tmp_path / "rows").write_text(row * rows)
    assert_bounded(*options, "model", cwd=tmp_path)


@pytest.mark.full
@pytest.mark.parametrize(
    "command", [["approx", "--certify"], ["order", "--method", "triangle"]], ids=lambda each: each[0]
)
def test_a_compiled_model(tmp_path, command):
    (tmp_path / "model").write_bytes(many_classes(110, 1))
    subprocess.run([FASTSVM, *command, "-q", "model", "compiled"], cwd=tmp_path, check=True)
    (tmp_path / "row").write_text("1 1:0.5\n")
    (tmp_path / "rows").write_text("1 1:0.5\n" * 3_000)
    assert_bounded("compiled", cwd=tmp_path)


def test_chunks_are_parted_by_rows_times_pairs():
    chunk = parse([{1: float(i)} for i in range(1, 1101)])
    for pairs, most in ((1, 1100), (1000, 524), (1 << 18, 2), (1 << 21, 1)):
        parts = list(smaller_chunks([chunk], pairs))
        assert [part.rows for part in parts] == [min(most, 1100 - at) for at in range(0, 1100, most)]
        assert [part.first_line for part in parts] == [1 + at for at in range(0, 1100, most)]
        assert np.concatenate([np.asarray(part.values) for part in parts]).tolist() == list(range(1, 1101))
