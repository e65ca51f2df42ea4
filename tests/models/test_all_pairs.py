"""Models of many small classes, whose pairs vote in single precision: svm-predict's labels on models built to break the
radius of a pair's value (B38 of PROOFS.md)."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from support.evaluation import parse
from support.in_process import both, written_lines
from support.oracles import random_machine, random_rows

SINGLE, DOUBLE, REFERENCE = 1, 2, 3  # indices of level_rows
SHAPES = [(16, 1, 1), (17, 2, 3), (20, 2, 2), (31, 3, 4), (33, 1, 2), (48, 4, 5), (64, 1, 1), (18, 20, 32)]

pytestmark = pytest.mark.usefixtures("best_instruction_set")


def small_classes(rng, classes, least, most, d=3, gamma=0.5):
    nr_sv = rng.integers(least, most + 1, classes).tolist()
    nr_sv[int(rng.integers(classes))] = most
    machine = random_machine(
        rng, "c_svc", "rbf", random_rows(rng, sum(nr_sv), list(range(1, d + 1))), nr_class=classes, gamma=gamma
    )
    machine.nr_sv = nr_sv
    return machine


def labels(model, chunk, reference=False):
    out = _native.Decisions(model.pairs, False, not reference)
    (model.reference_values if reference else model.decision_values)(chunk, out)
    predictions = _native.Predictions()
    _native.predict(model.header.task(), out, False, predictions)
    return list(predictions.label), list(out.level_rows)


def sums(machine, chunk):
    """svm-predict's sums, (rows, pairs), before rho is subtracted."""
    model, out = parse_model(machine.text(), "m"), _native.Decisions(len(machine.rho))
    model.reference_values(chunk, out)
    return np.array(out.value).reshape(-1, len(machine.rho)) + np.array(machine.rho)


def check(machine, rows, what):
    """Compare every build's labels with svm-predict's; return the rows by level."""
    text, chunk = machine.text(), parse(rows)
    expected, _ = labels(parse_model(text, "m"), chunk, reference=True)
    total = np.zeros(4, dtype=int)
    for build in _native.instruction_sets():
        assert _native.select_instruction_set(build)
        found, levels = labels(parse_model(text, "m"), chunk)
        assert found == expected, (what, build)
        assert sum(levels) == len(rows)
        total += levels
    return total


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("serial_libsvm")
def test_labels_of_many_small_classes_are_libsvms(tmp_path, shape):
    rng = np.random.default_rng(shape[0])
    machine = small_classes(rng, *shape)
    rows = [*random_rows(rng, 150, [1, 2, 3, 9]), {}, {9: 1.0}, *machine.vectors[:20]]
    model, theirs = both(machine, tmp_path)
    text, run_counts = written_lines(model, [parse(rows)])
    assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows)
    assert run_counts.single_rows > 0.9 * len(rows) and run_counts.reference_rows == 0


@pytest.mark.full(few=1)
@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_whose_values_are_next_to_nothing_vote_as_svm_predicts(best_instruction_set, shape):
    """Offsets within a power of ten of the values at one row or a neighbour."""
    total = np.zeros(4, dtype=int)
    for power in range(4, 17):
        rng = np.random.default_rng(power)
        machine = small_classes(rng, *shape, d=int(rng.choice([1, 3, 12])))
        rows = random_rows(rng, 6, [1, 2, 3])
        value = sums(machine, parse(rows[:1]))[0]
        machine.rho = (value * (1 + rng.choice([-1, 0, 1], len(value)) * 10.0**-power)).tolist()
        near = [{i: v * (1 + 10.0 ** -rng.uniform(3, 16)) for i, v in rows[0].items()} for _ in range(12)]
        total += check(machine, [*rows, *near], power)
    assert total[SINGLE] > 0


@pytest.mark.parametrize(("nearest", "farthest", "escalates"), [(-10, -8, False), (-17, -16, True)])
def test_a_pair_close_to_nothing_is_decided_by_its_own_value(best_instruction_set, nearest, farthest, escalates):
    """Rows with few undecided pairs stay on their level, except for values within rounding of 0."""
    total = np.zeros(4, dtype=int)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        machine = small_classes(rng, 24, 2, 2)
        rows = random_rows(rng, 40, [1, 2, 3])
        values = sums(machine, parse(rows))
        # At each row, one pair's value is nearly 0.
        for r, pair in enumerate(rng.choice(values.shape[1], len(rows), replace=False)):
            machine.rho[pair] = float(values[r, pair] * (1 + 10.0 ** rng.uniform(nearest, farthest)))
        total += check(machine, rows, seed)
    assert total[SINGLE] > 0.9 * total.sum() and (total[REFERENCE] > 0) == escalates


def hostile(rng, kind):
    """Many classes, and rows, that are hard for single precision."""
    machine = small_classes(rng, *SHAPES[int(rng.integers(len(SHAPES)))], d=int(rng.choice([1, 2, 6])))
    n = len(machine.vectors)
    rows = [*random_rows(rng, 25, [1, 2, 9], density=0.9), {1: 1e4}, {2: 1e30}, {1: 1e160}, {}]
    rows += [dict(machine.vectors[k]) for k in rng.integers(n, size=8)]
    if kind == "sizes":
        machine.coef = machine.coef * 10.0 ** rng.uniform(-12, 12, machine.coef.shape)
    elif kind == "tiny":
        machine.coef = machine.coef * 10.0 ** rng.uniform(-90, 0, machine.coef.shape)
    elif kind == "ties":
        machine.coef, machine.rho = np.round(machine.coef), [0.0] * len(machine.rho)
        machine.vectors = [machine.vectors[k // 2 * 2] for k in range(n)]
    elif kind == "cancelling":  # nearly equal vectors with huge coefficients
        machine.coef = machine.coef * 1e9
        machine.vectors = [{i: float(np.nextafter(v, 9)) for i, v in machine.vectors[0].items()} for _ in range(n)]
    elif kind == "empty columns":
        machine.coef[:, rng.integers(machine.coef.shape[1], size=5)] = 0
        machine.coef[rng.integers(n, size=5)] = 0
    elif kind == "huge rho":
        machine.rho = (np.array(machine.rho) * 10.0 ** rng.uniform(0, 300, len(machine.rho))).tolist()
    elif kind == "one huge rho":
        machine.rho[int(rng.integers(len(machine.rho)))] = float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(10, 300))
    elif kind == "steep":
        machine.gamma = float(10.0 ** rng.uniform(1, 6))
    elif kind == "flat":
        machine.gamma = float(10.0 ** rng.uniform(-10, -3))
    return machine, rows


KINDS = ["sizes", "tiny", "ties", "cancelling", "empty columns", "huge rho", "one huge rho", "steep", "flat"]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_hostile_models_of_many_classes_are_svm_predicts(best_instruction_set, kind):
    total = np.zeros(4, dtype=int)
    for seed in range(8):
        total += check(*hostile(np.random.default_rng(seed), kind), (kind, seed))
    assert total.sum() == 37 * 8 * len(_native.instruction_sets())


def test_a_class_without_vectors_takes_part_in_the_votes():
    rng = np.random.default_rng(3)
    machine = small_classes(rng, 20, 2, 2)
    machine.nr_sv[4], machine.nr_sv[5] = 0, 4
    check(machine, random_rows(rng, 60, [1, 2, 3]), "no vectors")
