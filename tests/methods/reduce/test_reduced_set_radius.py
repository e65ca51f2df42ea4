"""The radius of a reduced set, on models built to break it (B28, B29 of PROOFS.md); a reduced set without its exact
model."""

from fractions import Fraction

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.reduce.duplicates import merge_duplicates
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set, lossless
from fastsvm_cli.models import load_model, parse_model
from support import oracles
from support.checksums import line_with_checksum
from support.evaluation import decide, parse, reference
from support.hostile import hostile_machine, hostile_rows, uncovered
from support.in_process import Libsvm, mirrored
from support.oracles import random_machine, random_rows
from support.reducing import (
    INITS,
    OPTIMIZERS,
    Dense,
    exact_model,
    lines,
    reduce,
    shifts,
    small_and_radius,
    some_machine,
)

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- the radius


def hostile_reduction(seed):
    rng = np.random.default_rng([seed, 5])
    machine, x = hostile_machine(rng)
    several = len(machine.pairs) > 1
    options = {
        "init": "greedy" if several else str(rng.choice(INITS)),
        "optimizer": str(rng.choice(OPTIMIZERS)),
        "finishing": bool(rng.random() < 0.5),
    }
    exact = exact_model(machine)
    merged, _ = merge_duplicates(exact)
    assert merged.header.total_sv == merged.vectors.rows  # or the core would read beyond the vectors
    found = compile_reduced_set(exact, fingerprint="x", count=int(rng.integers(1, len(x) + 1)), seed=seed, **options)
    return machine, exact, found, hostile_rows(rng, x)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_no_hostile_model_is_farther_from_its_reduced_set_than_the_radius(first):
    reductions = 0
    for seed in range(first, first + 10):
        try:
            machine, exact, found, rows = hostile_reduction(seed)
        except ModelFormatError as error:
            assert "scale the data" in str(error)
            continue
        reductions += 1
        small, stored = small_and_radius(found)
        assert len(small.vectors) <= len(machine.vectors)
        chunk = parse(rows)
        value, radius = decide(parse_model(found.model.to_text(), "reduced"), chunk)
        with np.errstate(all="ignore"):
            truth = oracles.decision_values(machine, rows)
            approximate, theirs = oracles.decision_values(small, rows), reference(exact, chunk)
            assert not uncovered(np.abs(truth - approximate), np.broadcast_to(stored, truth.shape)).any(), seed
            assert not uncovered(np.maximum(np.abs(value - truth), np.abs(value - theirs)), radius).any(), seed
    assert reductions >= 6


def test_the_radius_of_a_pair_without_vectors_is_a_number():
    """Even so far away that the fast evaluation claims nothing."""
    machine = some_machine(22, classes=3, n=30)
    machine.nr_sv = [28, 1, 1]
    machine.coef[28:] *= 1e-6
    found = reduce(machine, 2)
    assert found.model.header.nr_sv[1:] == [0, 0]
    rows = parse([{1: 1.0}, {1: 1e20}, {1: 1e150}])
    value, radius = decide(found.model, rows)
    assert not np.isnan(radius).any() and np.all(np.abs(value - reference(exact_model(machine), rows)) <= radius)


@pytest.mark.full
@pytest.mark.parametrize("offset", [1e3, 1e5, 1e6, 1e7])
def test_unscaled_data_is_reduced_soundly_or_refused(offset):
    for seed, options in enumerate(
        ({}, {"init": "random"}, {"init": "alpha", "optimizer": "irprop", "finishing": False})
    ):
        machine = some_machine(seed, n=60, d=3, gamma=0.1, offset=offset)
        try:
            found = reduce(machine, 30, **options)
        except ModelFormatError as error:
            assert offset > 1e6 and "scale the data" in str(error)
            continue
        small, radius = small_and_radius(found)
        dense = Dense(machine, small)
        assert np.all(np.sqrt(dense.distance) + shifts(machine, small) <= radius) and dense.share < 0.3


@pytest.mark.full(few=1)
@pytest.mark.parametrize("size", [1e-150, 1e-158, 1e-161, 1e-163, 1e-170, 1e-300])
def test_coefficients_whose_squares_underflow_are_no_nearer_than_the_radius(size):
    for seed, (svm_type, classes) in enumerate([("c_svc", 2), ("c_svc", 3), ("epsilon_svr", 2)]):
        machine = some_machine(seed, svm_type, classes)
        machine.coef, machine.rho = machine.coef * size, [0.0] * len(machine.rho)
        for count in (10, 39):
            small, radius = small_and_radius(reduce(machine, count))
            rows = machine.vectors + small.vectors
            error = np.abs(oracles.decision_values(machine, rows) - oracles.decision_values(small, rows))
            assert np.all(error <= radius) and np.all(radius < max(10 * size, 1e-159) * len(rows))


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


@pytest.mark.parametrize("requested", [False, True], ids=["labels", "values"])
def test_labels_are_those_of_svm_predict_where_rounding_decides(tmp_path, requested):
    machine, rows = mirrored(np.random.default_rng(24), "rbf")
    (tmp_path / "m").write_bytes(reduced_text(machine))
    expected = [line[0] for line in Libsvm(tmp_path / "m").lines(rows)]
    assert len(set(expected)) == 2
    ours, _ = lines(load_model(str(tmp_path / "m")), rows, values=requested)
    assert [line.split()[0] for line in ours] == expected


def test_rows_whose_probabilities_rounding_decides_keep_their_radius(tmp_path):
    """At the brink of one more iteration of the coupling LIBSVM's sum decides: that of the reduced set."""
    rng = np.random.default_rng(9)
    for _ in range(30):
        vectors = random_rows(rng, 60, [1, 2, 3])
        machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=3, probability=True, gamma=0.5)
        (tmp_path / "m").write_bytes(reduced_text(machine))
        theirs, model = Libsvm(tmp_path / "m"), load_model(str(tmp_path / "m"))
        start, step = random_rows(rng, 2, [1, 2, 3])

        def at(position):
            return {i: start.get(i, 0.0) + position * step.get(i, 0.0) for i in (1, 2, 3)}

        low, high = -1.0, 1.0
        while low < (middle := (low + high) / 2) < high:
            _, (p, q, r) = theirs.probabilities([at(low), at(middle), at(high)])
            low, high = (low, middle) if np.abs(p - q).max() > np.abs(q - r).max() else (middle, high)
        rows = [at(low), at(high)]
        ours, run_counts = lines(model, rows, probability=True, values=True)
        assert [line.split()[:4] for line in ours] == theirs.lines(rows, True)
        assert all(float(radius) >= 0.5 for line in ours[1:] for radius in line.split()[-3:])
        if run_counts.reference_rows:
            return
    pytest.fail("no row at a brink found")
