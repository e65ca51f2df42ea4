"""Starts of the vectors of reduced sets, greedy selection and the finishing descent, in extended precision."""

import numpy as np
import pytest

from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.methods.reduce import placement
from fastsvm_cli.methods.reduce.placement import Problem, shares
from support import oracles
from support.messages import cases
from support.oracles import random_machine
from support.reducing import (
    INITS,
    OPTIMIZERS,
    as_rows,
    exact_model,
    machine_of,
    reduce,
    some_machine,
    split,
)

# ---- starts


def two_sides(rng, positive, negative, d=3):
    x = rng.standard_normal((positive + negative, d))
    a = np.where(np.arange(len(x)) < positive, 1, -1)[:, None] * rng.uniform(0.1, 2, (len(x), 1))
    return x, a


@pytest.mark.parametrize("init", ["random", "cluster"])
@pytest.mark.parametrize(
    "positive, negative, count",
    [(30, 10, 8), (30, 10, 1), (30, 10, 40), (1, 39, 10), (40, 0, 7), (0, 40, 7), (3, 37, 37)],
)
def test_starts_are_different_support_vectors_positive_and_negative_in_proportion(init, positive, negative, count):
    for seed in range(5):
        x, a = two_sides(np.random.default_rng(seed), positive, negative)
        chosen = placement.initial_order(init, x, a, 0.5, count, np.random.default_rng(seed))
        assert len(chosen) == len(set(chosen)) == count and set(chosen) <= set(range(len(x)))
        requested = max(1, positive * count // len(x))  # L_pos
        if init == "random" and requested <= positive and count - requested <= negative:
            assert sum(a[row, 0] > 0 for row in chosen) == requested
        if init == "cluster" and min(positive, negative) > 5 and count < 40:
            # Two clusters may share the row nearest to both centres.
            assert abs(sum(a[row, 0] > 0 for row in chosen) - requested) <= 1


def test_starts_by_coefficient_are_stochastic_universal_sampling():
    """Each support vector is drawn floor or ceil of L |a_i| / sum |a| times."""
    rng = np.random.default_rng(11)
    for seed in range(20):
        x, a = two_sides(rng, 20, 20)
        a *= 10 ** rng.uniform(-2, 1, a.shape)
        chosen = placement.initial_order("alpha", x, a, 0.5, 30, np.random.default_rng(seed))
        hits, expected = np.bincount(chosen, minlength=40), 30 * np.abs(a[:, 0]) / np.abs(a).sum()
        assert np.all(hits >= np.floor(expected - 1e-9))
        assert np.all(hits <= np.ceil(expected + 1e-9)) and hits.sum() == 30


def papers_kernel_means(x, gamma, start):
    """Kernel k-means (Girolami 2002) with these rows as first centres: (rows, centres), |phi(x) - centre|^2 - 1 at
    rest."""
    k = np.exp(-gamma * ((x[:, None] - x) ** 2).sum(axis=2))
    cluster = k[:, start].argmax(axis=1)
    for _ in range(100):
        distance = np.array(
            [k[c][:, c].mean() - 2 * k[:, c].mean(axis=1) for c in (cluster == each for each in range(len(start)))]
        ).T
        before, cluster = cluster, distance.argmin(axis=1)
        if np.array_equal(before, cluster):
            return distance
    pytest.fail("no rest")


def test_kernel_means_are_the_papers():
    class Drawn:
        """A stub generator that draws `start`."""

        def choice(self, n, count, replace):
            assert (n, count, replace) == (60, 6, False)
            return start

    moved = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((60, 2)) + rng.choice([-2.0, 0.0, 2.0], (60, 2))
        start = rng.choice(60, 6, replace=False)
        distance = papers_kernel_means(x, 0.3, start)
        ours = placement.kernel_means(x, 0.3, np.arange(60), 6, Drawn(), 100)
        assert len(ours) == 6  # the row nearest to each centre, or either row of a cluster of two
        np.testing.assert_allclose(distance[ours, range(6)], distance.min(axis=0), atol=1e-12)
        moved += len(set(ours) - set(start.tolist()))
    assert moved > 60


def nearest(machine, small):
    """(vectors of the set, support vectors): largest difference of a feature."""
    x, z = (oracles.dense(rows, machine.features).astype(float) for rows in (machine.vectors, small.vectors))
    return np.abs(x[None] - z[:, None]).max(axis=2)


@pytest.mark.full(few=3)
@pytest.mark.parametrize("init, optimizer, classes", cases("reduced sets"))
def test_as_many_vectors_as_asked_for_all_different_and_the_same_for_the_same_seed(init, optimizer, classes):
    machine = some_machine(12, classes=classes, n=24)
    machine.nr_sv = [24 // classes] * classes
    how = dict(init=init, optimizer=optimizer, finishing=False)
    one, again, other = (reduce(machine, 8, **how, seed=seed).model.to_text() for seed in (1, 1, 2))
    assert one == again and (one != other) == (init != "greedy")
    small, _ = split(one)
    assert len(small.vectors) == len({tuple(sorted(x.items())) for x in small.vectors}) == 8
    if optimizer == "none":  # support vectors in fewer digits
        apart = nearest(machine, small)
        assert np.all(apart.min(axis=1) < 1e-4)
        if classes > 2:
            of, own = (np.repeat(np.arange(3), each.nr_sv) for each in (machine, small))
            assert np.array_equal(of[apart.argmin(axis=1)], own)


@pytest.mark.parametrize("init, optimizer", [*zip(INITS, ["irprop", *OPTIMIZERS])])
def test_a_class_may_get_no_vectors(init, optimizer):
    """Fewer vectors than classes, or a class without any."""
    machine = some_machine(13, classes=4, n=30)
    machine.nr_sv = [10, 10, 10, 0]
    for count in (1, 3):
        small = machine_of(reduce(machine, count, init=init, optimizer=optimizer, finishing=False))
        assert 1 <= len(small.vectors) <= count and small.nr_sv[3] == 0


@pytest.mark.parametrize("init", ["random", "alpha", "cluster"])
def test_only_fixed_point_iteration_comes_to_no_rest(init):
    """Twins that a kernel matrix hardly separates may leave fewer vectors; no iteration is blamed."""
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal((20, 2))
        twins = as_rows(np.vstack([x, x + 1e-4]))
        machine = random_machine(np.random.default_rng(seed), "one_class", "rbf", twins, gamma=0.5)
        found = reduce(machine, 30, init=init, finishing=False, seed=seed)
        assert 15 <= found.model.header.total_sv <= 30 and not found.missing


@pytest.mark.parametrize("init, optimizer", [*zip(INITS, ["none", *OPTIMIZERS])])
def test_support_vectors_kept_sparse_give_the_same_set(monkeypatch, init, optimizer):
    machine = some_machine(15, classes=3, n=24)
    machine.nr_sv = [8, 8, 8]
    finishing = init == "greedy"
    dense = reduce(machine, 9, init=init, optimizer=optimizer, finishing=finishing)
    monkeypatch.setattr(placement, "DENSE_CELLS", 0)
    sparse = reduce(machine, 9, init=init, optimizer=optimizer, finishing=finishing)
    assert sparse.model.header.nr_sv == dense.model.header.nr_sv
    assert sparse.distance == pytest.approx(dense.distance, rel=1e-9 if optimizer == "none" and not finishing else 0.05)


# ---- greedy selection, finishing


def dense_greedy(k, a, count):
    """[(gain, row)]: each time the largest |c|^2 / d after projecting K a and the diagonal of K on the chosen rows."""
    chosen, out = [], []
    for _ in range(count):
        ka, c, d = k @ a, k @ a, np.diag(k).copy()
        if chosen:
            inverse = np.linalg.solve(k[np.ix_(chosen, chosen)], k[chosen])
            c, d = ka - inverse.T @ ka[chosen], d - (k[chosen] * inverse).sum(axis=0)
        gains = (c**2).sum(axis=1) / np.where(d > 1e-10, d, np.inf)
        gains[chosen] = -1
        chosen.append(int(np.argmax(gains)))
        out.append((gains[chosen[-1]], chosen[-1]))
    return out


@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("epsilon_svr", 2), ("one_class", 2), ("c_svc", 4)])
def test_greedy_selection_takes_what_a_dense_computation_takes(svm_type, classes):
    machine = some_machine(16, svm_type, classes, n=40, d=3)
    if classes > 2:
        machine.nr_sv = [10] * 4
    k = oracles.kernel_values(machine, machine.vectors).astype(float)
    starts = np.cumsum([0, *machine.nr_sv]) if classes > 2 else [0, 40]
    # With several classes, all coefficients of a part.
    picks = [dense_greedy(k[a:b, a:b], machine.coef[a:b], 8) for a, b in zip(starts, starts[1:])]
    least = [(min(gain for gain, _ in part[: at + 1]), s) for s, part in enumerate(picks) for at in range(len(part))]
    requested = [s for _, s in sorted(least, key=lambda pair: -pair[0])[:8]]
    expected = [[row for _, row in part[: requested.count(s)]] for s, part in enumerate(picks)]
    assert shares(Problem(FeatureSpace(exact_model(machine))), 8) == expected
    small = machine_of(reduce(machine, 8, finishing=False))
    apart = nearest(machine, small)
    assert apart.min(axis=1).max() < 1e-4
    assert sorted(apart.argmin(axis=1)) == sorted(starts[s] + row for s, rows in enumerate(expected) for row in rows)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("c_svc", 4), ("nu_svr", 2)])
def test_finishing_lowers_the_distance(svm_type, classes):
    machine = some_machine(18, svm_type, classes)
    for options in ({}, {"init": "random", "optimizer": "irprop"}):
        finished, not_finished = (reduce(machine, 10, finishing=finishing, **options) for finishing in (True, False))
        assert finished.distance < 0.97 * not_finished.distance
        assert finished.model.header.total_sv == not_finished.model.header.total_sv
