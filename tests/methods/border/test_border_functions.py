"""Decision functions and density estimates, their gradients and roots."""

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.border.borders import DensityFunction, MachineFunction
from fastsvm_cli.methods.border.samples import roots_between
from fastsvm_cli.models import parse_model
from support import oracles
from support.bordering import KERNELS, as_row, machine_of, numbers
from support.evaluation import parse, values
from support.messages import cases
from support.oracles import random_rows

# ---- gradients


@pytest.mark.parametrize("name", KERNELS)
def test_value_and_gradient_of_every_kernel_are_libsvms(name):
    rng = np.random.default_rng([1, len(name)])
    vectors = random_rows(rng, 30, [1, 2, 3, 4], density=0.7)
    machine, z = machine_of(rng, name, vectors), rng.standard_normal((12, 4))
    z[:2] = numbers(vectors[:2], 4)
    x, kernel = numbers(vectors, 4), Kernel(machine.kernel, machine.gamma, machine.coef0, machine.degree)
    known = values(parse_model(machine.text(), "m"), parse(list(map(as_row, z))))[:, 0]
    expected = [oracles.slope(lambda at: oracles.decision_values(machine, [as_row(at)])[0, 0], row, 1e-6) for row in z]
    for each in (x, scipy.sparse.csr_matrix(x)):
        function = MachineFunction(each, machine.pair_coefficients[0], machine.rho[0], kernel)
        value, gradient = function.value_and_gradient(z)
        assert value == pytest.approx(known, abs=1e-11)
        np.testing.assert_allclose(gradient, np.array(expected, float), rtol=1e-7, atol=1e-8)
        assert np.abs(gradient).max() > 0.1 or name == "constant"


def test_many_points_at_a_time_give_what_each_gives_alone(monkeypatch):
    monkeypatch.setattr("fastsvm_cli.methods.border.samples.BLOCK_CELLS", 70)
    rng = np.random.default_rng(2)
    x, z, y = rng.standard_normal((30, 3)), rng.standard_normal((17, 3)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    for function in (
        MachineFunction(x, y, 0.1, Kernel("rbf", 0.5)),
        DensityFunction(x, y, 0.7),
        DensityFunction(x, y, None, 4.0),
    ):
        value, gradient = function.value_and_gradient(z)
        alone = [function.value_and_gradient(row[None]) for row in z]
        assert value == pytest.approx(np.array([each[0][0] for each in alone]), abs=1e-12)
        assert gradient == pytest.approx(np.array([each[1][0] for each in alone]), abs=1e-10)


def sums_of_weights(function, x, z, scale):
    widths = function.bandwidths(z * scale) / scale
    return [float(oracles.density_weights(x, row, width).sum()) for row, width in zip(z, widths)]


@pytest.mark.full(few=3)
@pytest.mark.parametrize("bandwidth, weight, scale", cases("densities at extreme scales"))
def test_density_estimates_and_their_gradients_match_the_formula(bandwidth, weight, scale):
    rng = np.random.default_rng([3, int(np.log10(scale)) + 200])
    x, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.4, 1.0, -1.0)
    x[30:] = x[:10]  # duplicates, some in the other class
    z = np.vstack([rng.standard_normal((6, 3)), x[12:14] + 1e-3, 4 * rng.standard_normal((2, 3))])
    function = DensityFunction(x * scale, y, bandwidth and bandwidth * scale, weight or 0.0)
    value, gradient = function.value_and_gradient(z * scale)

    def true(at):
        return oracles.density(x, y, at, bandwidth, weight)

    assert value == pytest.approx(np.array([true(row) for row in z], float), abs=1e-9)
    slopes = np.array([oracles.slope(true, row, 1e-7) for row in z[:8]], float)
    np.testing.assert_allclose(gradient[:8] * scale, slopes, atol=1e-6 * (1 + np.abs(slopes).max()))
    if weight:
        assert sums_of_weights(function, x, z, scale) == pytest.approx([weight] * len(z), rel=1e-8)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e140])
def test_the_weights_add_up_at_rows_themselves_whatever_the_unit(scale):
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((20, 2)), np.where(np.arange(20) % 2, 1.0, -1.0)
    x[17:] = x[16]  # one row four times
    for weight in (1.5, 4.5, 19.999):
        function = DensityFunction(x * scale, y, None, weight)
        at = x[:16] if weight < 4 else x
        assert sums_of_weights(function, x, at, scale) == pytest.approx([weight] * len(at), rel=1e-6), weight
        assert np.all(np.isfinite(function.value_and_gradient(at * scale)[0]))
    alone = DensityFunction(x, y, None, 3.0).value_and_gradient(x[16:17])[0]
    assert alone == pytest.approx([np.mean(y[16:])])


@pytest.mark.parametrize("away", [1e3, 1e6])
def test_data_far_from_the_origin_have_the_same_density_and_decision_values(away):
    rng = np.random.default_rng(5)
    x, z = np.round(rng.standard_normal((30, 2)), 3), np.round(rng.standard_normal((8, 2)), 3)
    y = np.where(np.arange(30) % 3, 1.0, -1.0)
    for function in (
        lambda x: MachineFunction(x, 5 * y, 0.1, Kernel("rbf", 0.5)),
        lambda x: DensityFunction(x, y, 0.5),
        lambda x: DensityFunction(x, y, None, 2.0),
    ):
        expected, found = (function(x + t).value_and_gradient(z + t) for t in (0.0, away))
        assert found[0] == pytest.approx(expected[0], abs=1e-6) and found[1] == pytest.approx(expected[1], abs=1e-5)


# ---- roots


class Counted:
    """A function of the first coordinate, with derivative, that counts calls."""

    def __init__(self, value, derivative):
        self.value, self.derivative, self.calls = value, derivative, 0

    def value_and_gradient(self, z):
        self.calls += 1
        assert self.calls < 250
        with np.errstate(all="ignore"):
            gradient = np.zeros(z.shape)
            gradient[:, 0] = self.derivative(z[:, 0])
            return self.value(z[:, 0]), gradient


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-11])
def test_every_pair_on_either_side_gives_one_root_on_its_segment(tolerance):
    rng = np.random.default_rng(6)
    for _ in range(10):
        waves, phase, size = 3 * rng.standard_normal((4, 6)), rng.uniform(0, 6, 6), rng.standard_normal(6)

        class Smooth:
            def value_and_gradient(self, z):
                return np.sin(z @ waves + phase) @ size, (np.cos(z @ waves + phase) * size) @ waves.T

        first, second = 2 * rng.standard_normal((2, 60, 4))
        level = float(rng.normal(0, 0.3))
        above, below = (Smooth().value_and_gradient(ends)[0] > level for ends in (first, second))
        points, normals, pairs = roots_between(Smooth(), level, first, second, tolerance)
        assert sorted(pairs.tolist()) == np.flatnonzero(above & ~below).tolist() != []
        f, gradient = Smooth().value_and_gradient(points)
        assert np.all(np.abs(f - level) <= tolerance) and normals == pytest.approx(gradient)
        along = second[pairs] - first[pairs]
        t = ((points - first[pairs]) * along).sum(axis=1) / (along**2).sum(axis=1)
        assert np.all((t >= 0) & (t <= 1)) and points == pytest.approx(first[pairs] + t[:, None] * along, abs=1e-12)


def constant(slope):
    return lambda t: np.full(t.shape, slope)


def huge_where(side):
    value = lambda t: np.where(side(t), 1e300, 1.0) * (0.6 - t)  # noqa: E731
    return value, lambda t: np.where(side(t), -1e300, -1.0), True


def steep_slope(t):
    return -1e6 / np.cosh(np.clip(1e6 * (t - 0.7), -300, 300)) ** 2


NASTY = {  # f > 0 at 0, f < 0 at 1: (f, f', whether a root is found; None: there is none, False: unknown)
    "root at the very end": (lambda t: 1 - t - 1e-13, constant(-1.0), True),
    "root at the very beginning": (lambda t: 1e-13 - t, constant(-1.0), True),
    "flat": (lambda t: -((t - 0.3) ** 9), lambda t: -9 * (t - 0.3) ** 8, True),
    "steep": (lambda t: np.tanh(-1e6 * (t - 0.7)), steep_slope, True),
    "cube root": (lambda t: np.cbrt(0.4 - t), lambda t: -(np.abs(t - 0.4) ** (-2 / 3)) / 3, True),
    "huge above": huge_where(lambda t: t < 0.6),
    "huge below": huge_where(lambda t: t > 0.6),
    "infinite above": (lambda t: np.where(t < 0.2, np.inf, 0.6 - t), constant(-1.0), False),
    "gradient zero": (lambda t: 0.6 - t, constant(0.0), True),
    "gradient backwards": (lambda t: 0.6 - t, constant(1.0), True),
    "gradient nan": (lambda t: 0.6 - t, constant(np.nan), True),
    "discontinuous": (lambda t: np.where(t < 0.6, 1.0, -1.0), constant(0.0), None),
    "nan in the middle": (lambda t: np.where(np.abs(t - 0.5) < 0.4, np.nan, 1 - 2 * t), constant(-2.0), None),
    "nan at one end": (lambda t: np.where(t == 0, np.nan, 0.6 - t), constant(-1.0), None),
}


@pytest.mark.parametrize("name", NASTY)
def test_nasty_functions_end_and_give_only_points_within_the_tolerance(name):
    value, derivative, found = NASTY[name]
    function, zeros = Counted(value, derivative), np.zeros((3, 2))
    with np.errstate(all="ignore"):
        points, normals, pairs = roots_between(function, 0.0, zeros, zeros + [1, 0], 1e-9)
        assert np.all(np.abs(value(points[:, 0])) <= 1e-9) and np.all((points[:, 0] >= 0) & (points[:, 0] <= 1))
    assert len(points) == len(normals) == len(pairs) == len(set(pairs.tolist()))
    assert len(points) == {True: 3, None: 0}.get(found, len(points))


def test_no_pairs_and_pairs_on_one_side_give_no_root():
    function = Counted(lambda t: t - 5, constant(1.0))
    for first, second in ((np.zeros((0, 2)), np.zeros((0, 2))), (np.full((1, 2), 9.0), np.full((1, 2), 5.0))):
        assert [len(each) for each in roots_between(function, 0.0, first, second, 1e-6)] == [0, 0, 0]
