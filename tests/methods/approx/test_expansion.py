"""Compiled models against the formulas of Claesen, De Smet, Suykens and De Moor, in extended precision."""

from math import exp

import numpy as np
import pytest

from fastsvm_cli.methods.approx import CENTERS
from fastsvm_cli.models import parse_model
from support import oracles
from support.expanding import assert_expands, compiled, decide, gaussian, points
from support.oracles import Machine, random_machine, random_rows

RADIUS = 0.0305  # eq. (A.2): relative error of a term at degree 2, for exponents below 1/2


# ---- the expansion


@pytest.mark.full(few=4)
@pytest.mark.parametrize("svm_type", oracles.SVM_TYPES)
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_rbf_models_of_every_type_and_degree_expand_as_in_equation_3_7(svm_type, degree):
    """About every centre, in both precisions; near the origin and far from it."""
    for seed in range(12):
        rng = np.random.default_rng([seed, degree, oracles.SVM_TYPES.index(svm_type)])
        machine, rows = gaussian(
            rng,
            svm_type,
            n=int(rng.integers(1, 60)),
            d=int(rng.integers(1, 20 if degree < 3 else 8)),
            nr_class=int(rng.choice([2, 3, 5])),
            density=rng.choice([0.2, 0.7, 1.0]),
            scale=10.0 ** rng.integers(-3, 4),
            offset=float(rng.choice([0, 0, 1, 1e5])),
        )
        single = bool(seed % 2)
        model = compiled(machine, center=CENTERS[seed % len(CENTERS)], single=single, degree=degree)
        assert (model.degree, model.single, list(model.features)) == (degree, single, machine.features)
        assert_expands(model, machine, rows + [{}])


def test_centers_are_the_mean_the_origin_and_the_means_of_pairs_with_the_largest_norms_about_them():
    machine, _ = gaussian(np.random.default_rng(2), nr_class=4, offset=3.0)
    x = oracles.dense(machine.vectors, machine.features)
    (mean,), (origin,) = compiled(machine, center="mean").centers, compiled(machine, center="origin").centers
    np.testing.assert_allclose(mean.point, x.mean(axis=0).astype(float), rtol=1e-3)
    assert not np.any(origin.point)
    of_pairs = compiled(machine, center="pair").centers
    assert len(of_pairs) == 6
    for center, a in zip(of_pairs, machine.pair_coefficients, strict=True):
        np.testing.assert_allclose(center.point, x[a != 0].mean(axis=0).astype(float) if np.any(a) else 0, rtol=1e-3)
    for center in CENTERS:
        model = compiled(machine, center=center)
        for expansion, a in zip(model.expansions, machine.pair_coefficients):
            written = model.centers[expansion.center]
            used = a != 0 if center == "pair" else None
            point = dict(zip(model.features, written.point))
            assert written.largest_norm == pytest.approx(oracles.largest_squared_norm(machine, point, used), rel=1e-12)


@pytest.mark.full(few=4)
@pytest.mark.parametrize("kernel, degree", [("linear", 1), *(("polynomial", degree) for degree in range(5))])
@pytest.mark.parametrize("single", [None, False, True])
def test_linear_and_low_polynomial_kernels_compile_exactly(kernel, degree, single):
    for seed in range(15):
        rng = np.random.default_rng([seed, degree])
        d, scale = int(rng.integers(1, 15 if degree < 3 else 7)), 10.0 ** rng.integers(-4, 5)
        vectors = random_rows(
            rng, int(rng.integers(1, 50)), list(range(2, d + 2)), density=rng.choice([0.3, 1.0]), scale=scale
        )
        gamma, coef0, svm_type = float(1 / (d * scale**2)), float(rng.normal()), oracles.SVM_TYPES[seed % 5]
        machine = random_machine(rng, svm_type, kernel, vectors, nr_class=3, gamma=gamma, coef0=coef0, degree=degree)
        model = compiled(machine, single=single)
        assert model.degree == degree
        assert model.single == bool(single)  # exact in double precision, the default
        rows = random_rows(rng, 30, list(range(1, d + 5)), scale=scale, density=0.8)
        values, outside = decide(model, rows)
        assert outside == 0
        if single:
            assert_expands(model, machine, rows)
        else:
            # Powers cancel where the base is near 0.
            base = abs(machine.gamma) * scale**2 * 60 * d + abs(machine.coef0)
            allowed = 1e-10 * oracles.magnitudes(machine, rows) + 1e-15 * base**degree
            assert np.all(np.abs(values - oracles.decision_values(machine, rows)) <= allowed)


# ---- far from the origin


@pytest.mark.full(few=2)
@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6, 1e9])
def test_far_centers_lose_no_digits(offset):
    """An expansion in powers of z would lose a factor (|m| / |z - m|)^2 of precision. All features are far, or some."""
    for every in (1, 3):
        for center, single in (("mean", True), ("pair", False), ("mean", False)):
            machine, rows = gaussian(np.random.default_rng(7), n=100, nr_class=3, gamma=0.02)
            for row in (*machine.vectors, *rows):
                row.update({i: row.get(i, 0.0) + offset for i in machine.features[::every]})
            sizes = assert_expands(compiled(machine, center=center, single=single), machine, rows)
            assert np.median(sizes) > 1  # close enough to lose digits


# ---- the bound of eq. (3.11)


@pytest.mark.full(few=2)
@pytest.mark.parametrize("center", CENTERS)
def test_rows_outside_are_counted_as_in_equation_3_11(center):
    some = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 10])
        machine, rows = gaussian(
            rng, nr_class=int(rng.choice([2, 3])), density=rng.choice([0.3, 1.0]), offset=float(rng.choice([0, 2, 1e5]))
        )
        machine.gamma = float(rng.uniform(0.2, 3) / (16 * len(machine.features)))
        model = compiled(machine, center=center)
        ratios = [
            oracles.bound_ratio(machine, rows, point, a != 0 if center == "pair" else None)
            for point, a in zip(points(model), machine.pair_coefficients)
        ]
        worst = np.max(ratios, axis=0)
        rows = [row for row, ratio in zip(rows, worst) if abs(ratio - 1) > 1e-6]  # at the edge, rounding decides
        expected = int((worst[np.abs(worst - 1) > 1e-6] >= 1).sum())
        assert decide(model, rows)[1] == expected
        some += 0 < expected < len(rows)
    assert some >= 10


def test_nothing_is_outside_the_bound_of_vectors_at_the_center():
    machine = Machine("epsilon_svr", "rbf", [{}, {}], np.array([[1.0], [2.0]]), [0.5], gamma=1.0)
    values, outside = decide(compiled(machine), [{1: 100.0}, {}])
    assert outside == 0
    np.testing.assert_allclose(values[:, 0], [-0.5, 2.5])


def test_the_bound_is_reached():
    """One vector and a row at the edge: (e^-1/2 - 1 + 1/2 - 1/8) / e^-1/2 = 3.045 %."""
    machine = Machine("epsilon_svr", "rbf", [{1: 1.0}], np.array([[1.0]]), [0.0], gamma=0.25)
    (value,), outside = decide(compiled(machine, center="origin", single=False), [{1: -0.999999}])
    assert outside == 0
    assert 0.03044 < abs(value[0] / exp(-0.25 * 1.999999**2) - 1) < RADIUS
    assert decide(compiled(machine, center="origin"), [{1: -1.000001}])[1] == 1


# ---- several centres, compressed forms


def test_as_many_centers_as_vectors_are_almost_exact():
    """Every vector is its own centre up to rounding: nothing is left to expand."""
    for svm_type in oracles.SVM_TYPES:
        rng = np.random.default_rng(25)
        machine, rows = gaussian(rng, svm_type, n=20, d=4, gamma=2.0, nr_class=3)
        machine.vectors = [{i: float(v) for i, v in zip(machine.features, x)} for x in rng.standard_normal((20, 4))]
        exact = oracles.decision_values(machine, rows)
        model = parse_model(compiled(machine, clusters=20, single=False).to_text(), "a.approx")
        assert len(model.centers) == 20
        assert np.abs(decide(model, rows)[0] - exact).max() < 1e-4
        assert np.abs(decide(compiled(machine, single=False), rows)[0] - exact).max() > 1e-2


def test_full_rank_is_no_compression_and_less_loses_what_the_eigenvalues_say():
    rng = np.random.default_rng(27)
    machine, rows = gaussian(rng, n=50, d=10, nr_class=3, offset=0.5)
    whole, _ = decide(compiled(machine, single=False), rows)
    values, _ = decide(parse_model(compiled(machine, single=False, rank=10).to_text(), "a.approx"), rows)
    np.testing.assert_allclose(values, whole, atol=1e-10)
    for rank in (1, 4, 9):
        model = compiled(machine, single=False, rank=rank)
        point, *_ = points(model)
        for pair in range(3):
            *_, M = oracles.expansion(machine, pair, point, model.features, 2)
            lost = np.sort(np.abs(np.linalg.eigvalsh(M.astype(float))))[-rank - 1]
            _, z = oracles.about(machine, rows, point)
            squares = (z**2).sum(axis=1)
            allowed = lost * squares * np.exp(-machine.gamma * squares)
            assert np.all(np.abs(decide(model, rows)[0][:, pair] - whole[:, pair]) <= allowed * (1 + 1e-9) + 1e-12)


@pytest.mark.full(few=2)
@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_tolerance_bounds_what_compression_changes(tolerance):
    ranks = set()
    for seed in range(10):
        rng = np.random.default_rng([seed, 28])
        machine, _ = gaussian(rng, n=50, d=12, nr_class=3, gamma=float(10 ** rng.uniform(-4, 0)))
        model, whole = compiled(machine, single=False, tolerance=tolerance), compiled(machine, single=False)
        point, *_ = points(model)
        rows = machine.vectors + random_rows(rng, 50, machine.features)
        _, z = oracles.about(machine, rows, point)
        near = (z**2).sum(axis=1) <= model.centers[0].largest_norm
        change = np.abs(decide(model, rows)[0] - decide(whole, rows)[0])
        assert np.all(change[near] <= tolerance + 1e-12)
        ranks |= {e.rank for e in model.expansions}
    assert min(ranks) < 12
