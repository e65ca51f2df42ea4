"""Lossless reduced sets; refitted probabilities."""

import numpy as np
import pytest

from fastsvm_cli.methods.reduce.reduction import lossless, merge_duplicates, refit
from support import oracles
from support.evaluation import parse, values
from support.oracles import random_rows
from support.reducing import TYPES, exact_model, reduce, small_and_radius, some_machine

# ---- refitted probabilities


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_fitted_by_platts_likelihood(classes):
    """Minimum of Lin, Lin and Weng's objective, for every pair, on the rows of its two classes."""
    machine = some_machine(25, classes=classes, probability=True)
    model, rng = reduce(machine, 10).model, np.random.default_rng(25)
    rows = random_rows(rng, 300, [1, 2, 3, 4, 5])
    f = values(model, parse(rows))
    names = np.array(machine.label)[rng.integers(0, classes, 300)]
    names = np.where(rng.random(300) < 0.6, oracles.labels(machine, f), names)
    refitted = refit(model, [parse(rows[:100], names[:100].tolist()), parse(rows[100:], names[100:].tolist())])
    for p, (i, j) in enumerate(machine.pairs):
        mine = np.isin(names, [machine.label[i], machine.label[j]])
        first = names[mine] == machine.label[i]
        positive, negative = first.sum(), (~first).sum()
        t = np.where(first, (positive + 1) / (positive + 2), 1 / (negative + 2))

        def objective(parameters):
            q = 1 / (1 + np.exp(parameters[0] * f[mine, p] + parameters[1]))
            return -np.sum(t * np.log(q) + (1 - t) * np.log(1 - q))

        best = np.array([refitted.header.probA[p], refitted.header.probB[p]])
        assert best[0] != machine.probA[p]
        assert all(objective(best) < objective(best + step) for step in np.vstack([np.eye(2), -np.eye(2)]) * 0.05)


def test_probabilities_without_rows_to_fit_them_to_stay():
    """Of pairs that do not occur; the marks of one-class models."""
    rows = random_rows(np.random.default_rng(26), 50, [1, 2, 3, 4, 5])
    machine = some_machine(26, classes=3, probability=True)
    header = refit(reduce(machine, 10).model, [parse(rows, [machine.label[k % 2] for k in range(50)])]).header
    assert header.probA[1:] == machine.probA[1:] and header.probA[0] != machine.probA[0]
    assert np.isfinite(header.probB).all()
    machine = some_machine(26, "one_class", probability=True)
    assert refit(reduce(machine, 10).model, [parse(rows)]).header.prob_density_marks == machine.marks


def test_regression_noise_is_fitted_as_svm_train_does():
    machine = some_machine(27, "epsilon_svr", probability=True)
    model, rng = reduce(machine, 10).model, np.random.default_rng(27)
    rows = random_rows(rng, 200, [1, 2, 3, 4, 5])
    f = values(model, parse(rows))[:, 0]
    y = f + rng.laplace(0, 0.3, 200)
    y[:3] += 40  # beyond five deviations
    model = refit(model, [parse(rows, y.tolist())])
    error = np.abs(y - f)
    assert model.header.probA == [pytest.approx(error[error <= 5 * np.sqrt(2 * error.mean() ** 2)].mean(), rel=1e-9)]
    assert model.header.probA[0] < error.mean()


# ---- lossless


def without_zeros(row):
    return {i: v for i, v in row.items() if v}


def merged_machine(machine):
    """([(vector, coefficients)], nr_sv): equal vectors (of one class, if more than two) added up, without those of
    coefficient 0."""
    of = np.repeat(np.arange(len(machine.nr_sv)), machine.nr_sv) if machine.nr_sv else np.zeros(len(machine.vectors))
    sums, where = {}, {}
    for at, (x, a) in enumerate(zip(machine.vectors, machine.coef)):
        key = (of[at] if machine.nr_class > 2 else 0, frozenset(without_zeros(x).items()))
        sums[key] = sums[key] + a if key in sums else a
        where.setdefault(key, at)
    stored = [key for key in sums if np.any(sums[key])]
    nr_sv = [sum(of[where[key]] == c for key in stored) for c in range(len(machine.nr_sv))]
    return [(machine.vectors[where[key]], sums[key]) for key in stored], nr_sv


def with_duplicates(seed, svm_type, classes):
    """Every third vector repeats another of any class, some with explicit zeros or cancelling coefficients."""
    rng = np.random.default_rng(seed)
    machine = some_machine(seed, svm_type, classes, n=45, probability=True)
    if machine.nr_sv:
        machine.nr_sv = [45 // classes] * (classes - 1) + [45 - 45 // classes * (classes - 1)]
    for at in range(0, 45, 3):
        other = int(rng.integers(45))
        machine.vectors[at] = dict(machine.vectors[other])
        if at % 2:
            machine.vectors[at][7] = 0.0
        if at % 5 == 0 and other != at:
            machine.vectors[other] = {2: 0.5, 3: float(at)}
            machine.vectors[at] = {1: 0.0, 2: 0.5, 3: float(at), 9: -0.0}
            machine.coef[other] = -machine.coef[at]
    return machine


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_lossless_merges_equal_vectors_and_changes_nothing_else(svm_type, classes):
    for seed in range(5):
        machine = with_duplicates(seed, svm_type, classes)
        exact = exact_model(machine)
        found = lossless(exact, "x")
        small, radius = small_and_radius(found)
        expected, nr_sv = merged_machine(machine)
        assert found.model.header.total_sv == found.model.vectors.rows
        assert list(map(without_zeros, small.vectors)) == [without_zeros(x) for x, _ in expected]
        np.testing.assert_allclose(small.coef, [a for _, a in expected], rtol=1e-14)
        assert small.nr_sv == nr_sv
        for key in ("svm_type", "kernel", "gamma", "rho", "label", "probA", "probB", "marks"):
            assert getattr(small, key) == getattr(machine, key), key
        rows = [*random_rows(np.random.default_rng(seed), 20, [1, 2, 3, 4, 5, 7]), *machine.vectors[:20]]
        error = np.abs(oracles.decision_values(small, rows) - oracles.decision_values(machine, rows))
        assert np.all(error <= radius) and radius.max() < 1e-11
        assert np.abs(values(found.model, parse(rows)) - values(exact, parse(rows))).max() < 1e-9
        assert merge_duplicates(exact)[1] == 45 - len(expected) > 0
