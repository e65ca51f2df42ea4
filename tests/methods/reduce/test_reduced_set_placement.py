"""Placement of the vectors of reduced sets: gradients and optimizers, dense and in extended precision."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.methods.reduce import placement
from fastsvm_cli.methods.reduce.placement import Fit, Problem
from support.reducing import Dense, as_rows, exact_model, members, some_machine


def z_of(problem, rng, counts):
    return [rng.standard_normal((count, len(problem.columns))) for _, count in zip(problem.parts, counts)]


def least_distance(machine, z):
    """Sum over the pairs of min_beta |Psi_p - Psi'_p|^2 for vectors z (one array per class, or one in all), solved in
    double precision."""
    x, nr_sv = np.vstack(z), [len(each) for each in z] if len(z) > 1 else [len(z[0]), 0]
    small = replace(machine, vectors=as_rows(x), coef=np.zeros((len(x), machine.coef.shape[1])), nr_sv=nr_sv)
    dense, total = Dense(machine, small), 0.0
    for p in range(len(machine.pairs)):
        own = members(small, p)
        b = dense.b[p, own].astype(float)
        total += float(dense.norm[p]) - b @ np.linalg.solve(dense.kzz[np.ix_(own, own)].astype(float), b)
    return total


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "svm_type, classes, counts",
    [("c_svc", 2, [4]), ("nu_svr", 2, [3]), ("c_svc", 3, [2, 3, 1]), ("c_svc", 4, [2, 0, 3, 1])],
)
def test_the_gradient_is_that_of_the_least_distance(svm_type, classes, counts):
    machine = some_machine(8, svm_type, classes, n=24, d=3)
    problem, rng = Problem(FeatureSpace(exact_model(machine))), np.random.default_rng(8)
    for _ in range(3):
        z = z_of(problem, rng, counts)
        fit = Fit(problem, z, gradient=True)
        assert fit.distance == pytest.approx(least_distance(machine, z), rel=1e-7)
        cuts = np.cumsum([each.size for each in z])[:-1]

        def at(flat):
            return least_distance(machine, [part.reshape(each.shape) for part, each in zip(np.split(flat, cuts), z)])

        flat = np.concatenate([each.ravel() for each in z])
        steps = 1e-5 * np.eye(len(flat))
        expected = np.array([(at(flat + step) - at(flat - step)) / 2e-5 for step in steps])
        ours = np.concatenate([each.ravel() for each in fit.gradient])
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def residuals(count, seed, *, d=3, functions=(1, 2), positive=False):
    """Yield random functions minus random vectors, each with a starting point."""
    for at in range(count):
        rng = np.random.default_rng([seed, at])
        x, m = rng.standard_normal((int(rng.integers(1, 30)), d)), int(rng.choice(functions))
        a = rng.standard_normal((len(x), m))
        residual = placement.Residual(x, np.abs(a) if positive else a, float(10 ** rng.uniform(-2, 1)))
        if not positive:
            residual.z, residual.beta = rng.standard_normal((int(rng.integers(0, 4)), d)), None
            residual.beta = rng.standard_normal((len(residual.z), m))
        yield residual, x[rng.integers(len(x))] + rng.choice([0.0, 0.3]) * rng.standard_normal(d)


def energy(residual, z):
    """E(z) = -sum_j (Psi_j(z) - Psi'_j(z))^2, eq. (4)."""

    def k(rows):
        return np.exp(-residual.gamma * ((rows - z) ** 2).sum(axis=1))

    return -np.sum((k(residual.x) @ residual.a - k(residual.z) @ residual.beta) ** 2)


def test_what_is_left_its_gradient_and_its_fixed_point_are_equations_4_10_and_6():
    for residual, z in residuals(40, 1):
        error, gradient, following = residual.at(z)
        assert error == pytest.approx(energy(residual, z), rel=1e-9)
        np.testing.assert_allclose(
            gradient,
            approx_fprime(z, lambda at: energy(residual, at), 1e-7),
            rtol=1e-4,
            atol=1e-5 * (1 + abs(error)) * (1 + residual.gamma),
        )
        assert np.linalg.norm(gradient) > 0
    for residual, z in residuals(40, 2, functions=(1,)):  # eq. (6) is for one function
        weight = np.concatenate([residual.a[:, 0], -residual.beta[:, 0]])
        points = np.vstack([residual.x, residual.z])
        weight = weight * np.exp(-residual.gamma * ((points - z) ** 2).sum(axis=1))
        np.testing.assert_allclose(
            residual.at(z)[2],
            weight @ points / weight.sum(),
            rtol=1e-7,
            atol=1e-9 * np.abs(weight).sum() / abs(weight.sum()),
        )


def papers_irprop(residual, start, iterations):
    """Best point of iRprop+, component by component (Igel and Huesken 2003, algorithm 2). Steps in lengths of the
    kernel: 0.01 at first, 1e-7 to 1."""
    d, length = len(start), residual.gamma**-0.5
    z, step, last, moved = list(start), [0.01 * length] * d, [0.0] * d, [0.0] * d
    error_before, best = np.inf, (energy(residual, start), start)
    for _ in range(iterations):
        error, gradient, _ = residual.at(np.array(z))
        for i in range(d):
            g = gradient[i]
            if last[i] * g > 0:
                step[i] = min(step[i] * 1.2, length)
                moved[i] = -np.sign(g) * step[i]
            elif last[i] * g < 0:
                step[i] = max(step[i] * 0.5, 1e-7 * length)
                moved[i] = -moved[i] if error > error_before else 0.0
                g = 0.0
            else:
                moved[i] = -np.sign(g) * step[i]
            z[i] += moved[i]
            last[i] = g
        error_before = error
        best = min(best, (energy(residual, np.array(z)), np.array(z)), key=lambda pair: pair[0])
    return best[1]


def test_irprop_takes_the_papers_steps():
    for residual, start in residuals(30, 3):
        for iterations in (1, 2, 5, 9):
            np.testing.assert_allclose(
                placement.irprop(residual, start, iterations)[0], papers_irprop(residual, start, iterations), atol=1e-12
            )


def test_irprop_ends_lower_than_it_began_and_where_the_ground_is_level():
    level = 0
    for residual, start in residuals(40, 4):
        z, rests = placement.irprop(residual, start)
        error, gradient, _ = residual.at(z)
        assert rests and error <= residual.at(start)[0]
        level += np.linalg.norm(gradient) <= 0.05 * (1 + residual.gamma) * abs(error)
    assert level >= 30  # others are still moving


def test_fixed_point_iteration_goes_down_where_all_coefficients_are_positive():
    """Mean shift."""
    rested = 0
    for residual, start in residuals(60, 5, functions=(1,), positive=True):
        z, rests = placement.fixed_point(residual, start)
        assert residual.at(z)[0] <= residual.at(start)[0] * (1 - 1e-12)
        rested += rests
    assert rested >= 40


def test_fixed_point_iteration_rests_at_fixed_points_only():
    rested = 0
    for residual, start in residuals(100, 6):
        z, rests = placement.fixed_point(residual, start)
        if rests:
            rested += 1
            error, _, following = residual.at(z)
            assert error < 0 and np.all(np.isfinite(z))
            assert np.linalg.norm(following - z) <= 1e-3 * (1 + np.linalg.norm(z))
    assert 12 < rested < 100  # it also stalls
