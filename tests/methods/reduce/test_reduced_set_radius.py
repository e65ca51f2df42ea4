"""The radius of a reduced set where coefficients vanish or cancel (B28, B29 of PROOFS.md); a reduced set without its
exact model. The attack on hostile models is tests/zoo/test_radii.py."""

from fractions import Fraction

import numpy as np
import pytest

from fastsvm_cli.methods.reduce.reduction import lossless
from fastsvm_cli.models import load_model
from support import oracles
from support.checksums import line_with_checksum
from support.in_process import Libsvm
from support.oracles import random_machine
from support.reducing import exact_model, lines, reduce, small_and_radius, some_machine
from zoo.traits import specimen

# ---- the radius


@pytest.mark.full(few=1)
@pytest.mark.parametrize("size", [1e-30, 1e-150, 1e-158, 1e-161, 1e-163, 1e-170, 1e-300])
def test_coefficients_whose_squares_underflow_are_no_nearer_than_the_radius(size):
    """Without an offset, and where they vanish beside it."""
    for seed, (svm_type, classes) in enumerate([("c_svc", 2), ("c_svc", 3), ("epsilon_svr", 2)]):
        machine = some_machine(seed, svm_type, classes, n=24)
        machine.coef *= size
        for rho in ([0.0] * len(machine.rho), machine.rho):
            machine.rho = rho
            for count, options in ((8, {}), (23, {"finishing": False})):
                small, radius = small_and_radius(reduce(machine, count, **options))
                rows = machine.vectors + small.vectors
                error = np.abs(oracles.decision_values(machine, rows) - oracles.decision_values(small, rows))
                assert np.all(error <= radius)
                assert any(rho) or np.all(radius < max(10 * size, 1e-159) * len(rows))


@pytest.mark.full(few=1)
@pytest.mark.parametrize("size", [1.0, 1e18, 1e300, 2.0**-1021, 2.0**-1060, 5e-324])
def test_sums_of_coefficients_that_cancel_are_within_the_radius_of_lossless(size):
    """|K| <= 1: the functions differ by at most the difference of their coefficients."""
    rng, lost = np.random.default_rng(31), 0
    for _ in range(50):
        n = int(rng.integers(2, 60))
        vectors = [{1: float(rng.integers(3)), 2: float(rng.choice([0.0, -0.0, 1e18]))} for _ in range(n)]
        machine = random_machine(rng, "epsilon_svr", "rbf", vectors, gamma=0.5)
        machine.coef = size * rng.standard_normal((n, 1)) * 2.0 ** -rng.integers(0, 60, (n, 1))
        machine.coef[n // 2 :][: n // 2] = -machine.coef[: n // 2] * (1 + rng.choice([0, 2.0**-52, 2.0**-20]))
        small, radius = small_and_radius(lossless(exact_model(machine), "x"))
        difference = {}
        for sign, of in ((1, machine), (-1, small)):
            for x, (a,) in zip(of.vectors, of.coef.tolist()):
                key = frozenset((i, v) for i, v in x.items() if v)
                difference[key] = difference.get(key, 0) + sign * Fraction(a)
        error = sum(map(abs, difference.values()))
        assert error <= Fraction(float(radius[0]))
        lost += error > 0
    assert lost or size < 2.0**-1030  # below, doubles are added without error


# ---- a reduced set without its exact model


def reduced_text(machine):
    """The machine's file with the line of a reduced set."""
    pairs = len(machine.pairs)
    words = ["fastsvm_reduced 2", "0" * 32, "60 6", *["0.5"] * pairs, *["10.0"] * pairs, "CHECKSUM\n"]
    return line_with_checksum(machine.text() + " ".join(words).encode())


@pytest.mark.parametrize("trait, probability", [("ties_at_rho", False), ("coupled_ties", True)])
def test_lines_are_libsvms_where_rounding_decides_and_keep_their_radius(tmp_path, trait, probability):
    """LIBSVM's sum of the reduced set itself decides."""
    found = specimen(trait)
    (tmp_path / "m").write_bytes(reduced_text(found.machine))
    expected, model = Libsvm(tmp_path / "m").lines(found.rows, probability), load_model(str(tmp_path / "m"))
    assert len({words[0] for words in expected}) > 1
    for values in (False, True):
        ours, counts = lines(model, found.rows, probability=probability, values=values)
        assert [line.split()[: len(words)] for line, words in zip(ours, expected, strict=True)] == expected
        assert counts.reference_rows
    assert all(float(radius) >= 0.5 for line in ours[probability:] for radius in line.split()[-model.pairs :])
