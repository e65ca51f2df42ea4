"""Values of an exact model at its own support vectors, and their rounding radii."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from support import oracles
from support.evaluation import reference
from support.hostile import as_rows
from support.oracles import EXTENDED, random_machine, random_rows

#: Vectors per block.
BLOCK = 512


def one_pair(seed, n, *, svm_type="c_svc", kernel="rbf", d=3, density=1.0):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n, range(1, d + 1), density=density)
    return random_machine(rng, svm_type, kernel, rows, gamma=0.3, coef0=1.0, degree=2)


def own_values(machine, which=slice(None)):
    """The model, and values and radii of these vectors, which cover the exact values."""
    model, own = parse_model(machine.text(), "m"), _native.Decisions(1, True)
    model.fast_values(model.vectors, own)
    value, radius = np.asarray(own.value)[which, 0], np.asarray(own.radius)[which, 0]
    k = oracles.kernel_matrix(machine, np.array(machine.vectors)[which].tolist(), machine.vectors).astype(EXTENDED)
    true = k @ machine.coef[:, 0].astype(EXTENDED) - EXTENDED(machine.rho[0])
    assert np.all(np.abs(value - true) <= radius)
    return model, value, radius


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "n, of",
    [
        (1, {}),
        (40, {}),
        (BLOCK, {}),
        (BLOCK + 1, {"svm_type": "one_class", "kernel": "polynomial"}),
        (2 * BLOCK + 70, {"kernel": "sigmoid"}),
        (3 * BLOCK + 9, {"svm_type": "epsilon_svr"}),
        (1100, {"d": 40, "density": 0.2}),
    ],
)
def test_values_are_exact_within_the_radius(n, of, instruction_set):
    _, _, radius = own_values(one_pair(71, n, **of))
    assert np.all(np.isfinite(radius))


@pytest.mark.full(few=7)
@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1.0, 1e3, 1e147])
def test_the_radius_covers_twins_whose_huge_coefficients_cancel(scale, instruction_set):
    """svm-predict's sum and the exact one are within it even if only rounding is left."""
    rng = np.random.default_rng(75)
    n, d = 2 * BLOCK + 11, 3
    x = scale * rng.standard_normal((n, d))
    for i in range(1, n, 2):
        x[i] = x[i - 1] * (1 + rng.choice([0, 1e-15, 1e-9]))
    x[5], x[8] = 0, 5e-324
    machine = random_machine(rng, "c_svc", "rbf", as_rows(x), gamma=0.2 / scale**2)
    machine.coef *= 1e6
    machine.coef[1::2] = -machine.coef[: n - 1 : 2] * (1 + rng.choice([0, 1e-16, 1e-12], (n // 2, 1)))
    machine.rho = [0.0]
    which = [0, 1, 5, 8, *range(BLOCK - 4, BLOCK + 4), n - 1]
    model, value, radius = own_values(machine, which)
    theirs = reference(model, model.vectors.select(which))[:, 0]
    assert np.all(np.abs(value - theirs) <= radius)
    assert np.all(radius < 1e-2 * np.abs(machine.coef).max())


def test_values_are_the_same_whatever_the_number_of_threads(all_threads):
    model = parse_model(one_pair(72, 5 * BLOCK + 33).text(), "m")
    found = [_native.Decisions(1, True) for _ in range(3)]
    for threads, own in zip((1, 2, 7), found):
        _native.set_threads(threads)
        model.fast_values(model.vectors, own)
        np.testing.assert_array_equal(own.value, found[0].value)
        np.testing.assert_array_equal(own.radius, found[0].radius)
