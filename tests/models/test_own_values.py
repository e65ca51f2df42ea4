"""Values of an exact model at its support vectors: each kernel value serves both vectors."""

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
    assert model.evaluator.meets_itself
    reported = []
    model.evaluator.own_values(reported.append, own)
    assert reported == sorted(reported) and reported[-1] == 1
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
def test_values_are_those_of_any_rows_within_the_radius(n, of, instruction_set):
    model, value, radius = own_values(one_pair(71, n, **of))
    rows = _native.Decisions(1, True)
    model.evaluator.fast_values(model.vectors, rows)
    assert np.all(np.abs(value - np.asarray(rows.value)[:, 0]) <= radius) and np.all(np.isfinite(radius))
    np.testing.assert_allclose(radius, np.asarray(rows.radius)[:, 0], rtol=1e-6)


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
        model.evaluator.own_values(None, own)
        np.testing.assert_array_equal(own.value, found[0].value)
        np.testing.assert_array_equal(own.radius, found[0].radius)


def test_an_exception_of_progress_ends_it():
    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parse_model(one_pair(73, 40).text(), "m").evaluator.own_values(stop, _native.Decisions(1, True))


def test_models_of_several_pairs_and_of_sparse_vectors_meet_no_rows_of_their_own():
    rng = np.random.default_rng(74)
    several = random_machine(rng, "c_svc", "rbf", random_rows(rng, 30, range(1, 4)), gamma=0.3, nr_class=3)
    for machine in (several, one_pair(74, 40, d=200, density=0.01), one_pair(74, 40, kernel="linear")):
        evaluator = parse_model(machine.text(), "m").evaluator
        assert not evaluator.meets_itself
        with pytest.raises(ValueError, match="one decision function"):
            evaluator.own_values(None, _native.Decisions(len(machine.rho), True))
