"""Memory of models of many classes does not grow with rows times pairs, nor with threads."""

import numpy as np
import pytest

from fastsvm_cli.text.read_rows import smaller_chunks
from support.evaluation import parse
from support.messages import cases
from support.paths import FASTSVM
from support.processes import peak_memory
from zoo.traits import usual


def many_classes(classes, per_class, probability=False):
    found = usual(np.random.default_rng(1), vectors=classes * per_class, classes=classes, indices=range(1, 4), rows=0)
    found.machine.nr_sv[:] = [per_class] * classes
    if not probability:
        found.machine.probA = found.machine.probB = None
    return found.model


@pytest.mark.full
@pytest.mark.parametrize("classes, per_class, row, rows, options", cases("memory of many classes"))
def test_many_rows_take_little_more_memory_than_one(fastsvm, tmp_path, classes, per_class, row, rows, options):
    """Buffers of 32 threads must not add up. Options: of predict, or a command that compiles the model first."""
    options, model = options.split(), "model"
    (tmp_path / "model").write_bytes(many_classes(classes, per_class, probability="-b" in options))
    if options[:1] in (["approx"], ["order"]):
        fastsvm(*options, "-q", "model", "compiled")
        options, model = [], "compiled"
    peaks = []
    for name, count in (("row", 1), ("rows", rows)):
        (tmp_path / name).write_text(row * count)
        words = ["predict", "-q", "--threads", 32, *options, name, model, "/dev/null"]
        peaks.append(peak_memory(FASTSVM, *words, cwd=tmp_path))
    assert peaks[1] < peaks[0] + 100e6


def test_chunks_are_parted_by_rows_times_pairs():
    chunk = parse([{1: float(i)} for i in range(1, 1101)])
    for pairs, most in ((1, 1100), (1000, 524), (1 << 18, 2), (1 << 21, 1)):
        parts = list(smaller_chunks([chunk], pairs))
        assert [part.rows for part in parts] == [min(most, 1100 - at) for at in range(0, 1100, most)]
        assert [part.first_line for part in parts] == [1 + at for at in range(0, 1100, most)]
        assert np.concatenate([np.asarray(part.values) for part in parts]).tolist() == list(range(1, 1101))
