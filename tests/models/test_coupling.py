"""Probabilities of several classes: rows decided by values and radii print as svm-predict's (B39 of PROOFS.md)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from support import profiles
from support.evaluation import classification, decisions_of, parse, printed_for
from support.in_process import both, written_lines
from support.oracles import random_machine, random_rows

#: A row has a few of these features, so that double precision costs much less than the reference sum.
SPARSE = list(range(1, 200))
#: How arguments t of the pairs' sigmoids follow from numbers s_i of the classes.
KINDS = ["consistent", "noisy", "any", "clamped", "even", "at the clamp", "apart"]


def arguments(rng, kind, classes):
    i, j = np.triu_indices(classes, 1)
    s, noise = 10 ** rng.uniform(-1.5, 1.5) * rng.standard_normal(classes), rng.standard_normal(len(i))
    sides = rng.choice([-1.0, 1.0], len(i))
    return {
        "consistent": lambda: s[j] - s[i],
        "noisy": lambda: s[j] - s[i] + 10 ** rng.uniform(-3, 0.5) * noise,
        "any": lambda: 3 * noise,
        "clamped": lambda: np.where(rng.random(len(i)) < 0.3, noise, 30 * sides),
        "even": lambda: 1e-6 * noise,
        "at the clamp": lambda: (16.118 + 1e-3 * noise) * sides,
        "apart": lambda: np.where(j > i + 1, -20.0, 15 * noise),
    }[kind]()


def open_rows(task, values, radii):
    return _native.undecided_rows(task, decisions_of(values, radii), True, 0.0)


def extremes(rng, values, radii, slopes):
    """Values within the radii of one row's, mostly at the ends: random, for or against one class."""
    classes = round((1 + np.sqrt(1 + 8 * len(values))) / 2)
    i, j = np.triu_indices(classes, 1)
    moves = [np.ones(len(values)), -np.ones(len(values)), *rng.choice([-1.0, 1.0], (4, len(values)))]
    moves += list(rng.uniform(-1, 1, (2, len(values))))
    for favoured in rng.integers(0, classes, 4):
        sides = np.where(i == favoured, 1.0, np.where(j == favoured, -1.0, rng.choice([-1.0, 1.0], len(values))))
        moves += [sides * np.sign(slopes), -sides * np.sign(slopes)]
    moved = values + np.array(moves) * radii
    return np.where(np.abs(moved - values) <= radii, moved, values)


@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.one_of(st.just(2), st.integers(3, 50)), st.floats(-14, -6))
@profiles.calm(300)
def test_whatever_the_values_are_within_their_radii_decided_rows_print_alike(seed, kind, classes, magnitude):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        t = arguments(rng, kind, classes)
        slopes = rng.choice([-1.0, 1.0], len(t)) * 10 ** rng.uniform(-2, 2, len(t))
        shifts = rng.choice([0.0, 0.3, -2.0], len(t))
        values = (t - shifts) / slopes
        radii = 10**magnitude * 10 ** rng.uniform(-2, 0, len(t)) * (rng.random(len(t)) < 0.95)
        task = classification(range(classes), slopes.tolist(), shifts.tolist())
        if open_rows(task, values[None], radii[None]):
            continue
        lines = printed_for(task, np.vstack([values, extremes(rng, values, radii, slopes)]))
        assert set(lines) == {lines[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_small_radii_decide_most_rows_and_large_ones_none(kind):
    """Clamped sigmoids do not change."""
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(40):
        t = arguments(rng, kind, 5)
        task = classification([5, 4, 3, 2, 1], [-1.0] * len(t), [0.0] * len(t))
        decided += not open_rows(task, -t[None], np.full((1, len(t)), 1e-13))
        assert np.abs(t).min() > 18 or open_rows(task, -t[None], np.full((1, len(t)), 1e-2))
        for unknown in (np.inf, np.nan):
            assert open_rows(task, -t[None], np.full((1, len(t)), unknown)) == [0]
            assert open_rows(task, np.full((1, len(t)), unknown), np.full((1, len(t)), 1e-13)) == [0]
    assert decided >= 35 if kind != "even" else decided < 40


def small_model(rng, kernel, vectors, classes, **parameters):
    machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=classes, probability=True, **parameters)
    machine.label = list(range(1, classes + 1))
    return machine


def predicted(machine, rows, folder):
    """Counts of a run that prints what svm-predict does."""
    model, theirs = both(machine, folder)
    text, run_counts = written_lines(model, [parse(rows)], probability=True)
    assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows, True)
    return run_counts


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "kernel, classes", [("rbf", 3), ("linear", 4), ("polynomial", 7), ("sigmoid", 12), ("linear", 26), ("rbf", 50)]
)
def test_coupled_probabilities_of_hostile_models_are_svm_predicts(tmp_path, kernel, classes):
    rng = np.random.default_rng([classes, len(kernel)])
    by_double = 0
    for slopes, size in ((1, 1), (1e-9, 1), (1e9, 1), (1, 1e5), (30, 1), (0, 1)):
        machine = small_model(rng, kernel, random_rows(rng, 4 * classes, SPARSE, density=0.05), classes, gamma=0.1)
        # LIBSVM's signs: one for each class of a pair.
        first = np.repeat(np.arange(classes), machine.nr_sv)
        signs = np.where(np.arange(classes - 1) >= first[:, None], 1.0, -1.0)
        machine.coef = signs * np.abs(machine.coef) * size
        machine.probA = [float(slopes * a * side) for a, side in zip(machine.probA, rng.choice([1.0, 1.0, -1.0], 2000))]
        machine.probB = [0.0 if slopes == 0 else b for b in machine.probB]
        rows = [*random_rows(rng, 40, SPARSE, density=0.05), *machine.vectors[:10], {}]
        run_counts = predicted(machine, rows, tmp_path)
        by_double += run_counts.rows - run_counts.reference_rows
    assert by_double > 0


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_most_rows_of_a_model_of_many_classes_need_no_reference_sum(tmp_path, kernel):
    rng = np.random.default_rng(3)
    machine = small_model(rng, kernel, random_rows(rng, 120, SPARSE, density=0.05), 8, gamma=0.1)
    assert predicted(machine, random_rows(rng, 300, SPARSE, density=0.05), tmp_path).double_rows >= 290


def test_the_reference_sum_answers_at_once_where_the_proof_costs_more_than_it_saves(tmp_path):
    """The iteration costs more than all kernel values of two vectors per class."""
    rng = np.random.default_rng(4)
    machine = small_model(rng, "rbf", random_rows(rng, 24, [1, 2, 3, 4]), 12, gamma=0.5)
    assert predicted(machine, random_rows(rng, 50, [1, 2, 3, 4]), tmp_path).reference_rows == 50


def iterated(first):
    """Method 2 of Wu, Lin and Weng (2004), as scikit-learn's LIBSVM iterates it for two classes."""
    r, p = np.array([[0, first], [1 - first, 0]]), np.full(2, 0.5)
    q = np.array([[r[1, 0] ** 2, -r[0, 1] * r[1, 0]], [-r[0, 1] * r[1, 0], r[0, 1] ** 2]])
    for _ in range(100):
        if np.max(abs(q @ p - p @ q @ p)) < 0.005 / 2:
            break
        for t in range(2):
            p[t] += (p @ q @ p - q[t] @ p) / q[t, t]
            p /= p.sum()
    return p


def test_two_classes_are_iterated_on_request():
    values = np.concatenate([np.linspace(-20, 20, 501), [-1e9, 1e9, 0]])[:, None]
    task = classification([0, 1], [-1.0], [0.1])
    decisions, out = decisions_of(values), _native.Predictions()
    _native.predict(task, decisions, True, out)
    first = np.array(out.probability)
    out.iterate_pairs()
    expected = np.array([iterated(p) for p in first[:, 0]])
    np.testing.assert_allclose(out.probability, expected, rtol=0, atol=1e-12)
    assert 1e-3 < np.max(abs(expected - first)) < 5e-3
    _native.predict(task, decisions, False, out)
    with pytest.raises(ValueError, match="other than two classes"):
        out.iterate_pairs()
