"""Decision functions as vectors of feature space, against dense sums in extended precision."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.models import parse_model
from support import oracles
from support.hostile import hostile_machine
from support.oracles import EXTENDED, random_machine
from support.profiles import tries
from support.reducing import as_rows, exact_model, reduce, some_machine

KINDS = [("c_svc", 2), ("c_svc", 4), ("one_class", 2), ("epsilon_svr", 2)]


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
def test_values_and_norms_are_those_of_dense_sums(kernel):
    rng = np.random.default_rng(5)
    for svm_type, classes in KINDS:
        vectors = as_rows(rng.standard_normal((20, 4)))
        machine = random_machine(rng, svm_type, kernel, vectors, nr_class=classes, gamma=0.3, coef0=0.5, degree=2)
        machine.rho = [1e6] * len(machine.rho)  # must not drown the vectors' values
        space = FeatureSpace(parse_model(machine.text(), "m"))
        a = machine.pair_coefficients.T.astype(EXTENDED)  # (total_sv, pairs)
        np.testing.assert_array_equal(space.coefficients, machine.pair_coefficients.T)
        k = oracles.kernel_values(machine, machine.vectors)
        b, error = space.at_support_vectors
        assert b.shape == error.shape == a.shape and np.all(np.abs(b - k @ a) <= error)
        assert np.all(error < 1e-9 * (np.abs(k) @ np.abs(a) + 1))
        norms = np.einsum("ip,ip->p", a, k @ a)
        if kernel != "sigmoid":  # squared norms may be negative
            size = np.einsum("ip,ip->p", np.abs(a), np.abs(k) @ np.abs(a))
            assert np.all(space.squared_norms >= norms) and np.all(space.squared_norms <= norms + 1e-9 * size + 1e-12)
        rows = _native.Chunk.concatenate([space.model.vectors.slice(0, 1)] * 2)
        again, its_error = space.inner_products(rows)
        assert np.all(np.abs(again - b[[0, 0]]) <= error[[0, 0]])  # the same terms, perhaps in another order
        np.testing.assert_allclose(its_error, error[[0, 0]], rtol=1e-6)
        assert space.at_support_vectors[0] is b and not b.flags.writeable and not space.coefficients.flags.writeable


@pytest.mark.full(few=1)
@pytest.mark.parametrize("sizes", [(1.0, 1e18, 1e120), (1e-150, 1e-161, 1e-165, 1e-170, 1e-300)], ids=str)
def test_squared_norms_are_not_below_those_of_models_made_to_lose_digits(sizes):
    """Twins with cancelling coefficients, giants and dwarfs, vectors far from the origin (B27)."""
    for seed in range(tries(150)):
        rng = np.random.default_rng([seed, 27])
        machine, _ = hostile_machine(rng, str(rng.choice(["rbf", "linear", "polynomial"])))
        machine.coef0 = abs(machine.coef0)
        machine.coef *= sizes[seed % len(sizes)]
        try:
            norms = FeatureSpace(parse_model(machine.text(), "m")).squared_norms
        except ModelFormatError as error:
            assert "overflows" in str(error)
            continue
        a, k = machine.pair_coefficients.T.astype(EXTENDED), oracles.kernel_values(machine, machine.vectors)
        scale = np.abs(a).max() or 1
        true = np.einsum("ip,ip->p", a / scale, k @ (a / scale))
        # Extended precision has only eleven more bits than a double.
        wrong = len(a) * 2.0**-60 * np.einsum("ip,ip->p", np.abs(a / scale), np.abs(k) @ np.abs(a / scale))
        assert np.all(norms.astype(EXTENDED) / scale / scale >= true - wrong), (seed, norms, true)


@pytest.mark.parametrize("classes, options", [(2, {}), (3, {"finishing": False})])
def test_a_reduction_evaluates_the_exact_model_at_its_own_vectors_once(monkeypatch, classes, options):
    machine = some_machine(3, classes=classes, n=30, d=3)
    requested, original = [], _native.LibsvmFile.fast_values

    def fast_values(self, rows, decisions):
        requested.append(rows.rows)
        return original(self, rows, decisions)

    monkeypatch.setattr(_native.LibsvmFile, "fast_values", fast_values)
    found = reduce(machine, 6, **options)
    vectors = found.model.vectors.rows
    # Psi at the support vectors; Psi' there, for the offsets; both at the reduced set's vectors, for the distance. With
    # several classes also Psi of each class alone.
    alone = [count for count in exact_model(machine).header.nr_sv or [] if classes > 2 and count]
    assert sorted(requested) == sorted([30, 30, vectors, vectors, *alone])
