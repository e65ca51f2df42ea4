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
from support.hostile import hostile_machine, hostile_rows
from support.in_process import Libsvm, mirrored
from support.oracles import EXTENDED, Machine, random_machine, random_rows
from support.reducing import INITS, OPTIMIZERS, Dense, exact_model, fingerprint, lines, reduce, some_machine, split

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- the radius


def uncovered(error, radius):
    return ~((error <= radius) | ~(radius < np.inf))


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


@pytest.mark.full
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
        text = found.model.to_text()
        model, (small, words) = parse_model(text, "reduced"), split(text)
        assert len(small.vectors) <= len(machine.vectors)
        chunk = parse(rows)
        value, radius = decide(model, chunk)
        with np.errstate(all="ignore"):
            truth = oracles.decision_values(machine, rows)
            approximate, theirs = oracles.decision_values(small, rows), reference(exact, chunk)
            stored = np.array(words[4 : 4 + len(machine.pairs)], float)
            assert not uncovered(np.abs(truth - approximate), np.broadcast_to(stored, truth.shape)).any(), seed
            assert not uncovered(np.maximum(np.abs(value - truth), np.abs(value - theirs)), radius).any(), seed
    assert reductions >= 6


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", ["rings", "colors", "rings-one-class", "waves"])
def test_the_radius_of_a_trained_model_covers_rows_near_far_and_at_the_vectors(trained, reduced, name):
    model, test = trained[name]
    machine, exact = Machine.read(model.read_bytes()), load_model(str(model))
    small, words = split(reduced(name).read_bytes())
    found = load_model(str(reduced(name)))
    rng = np.random.default_rng(21)
    rows = [
        *random_rows(rng, 20, machine.features),
        *random_rows(rng, 5, [*machine.features, 1000], scale=50),
        {},
        {999: 3.0},
    ]
    rows += list(machine.vectors[:20] + small.vectors[:10]) + [
        {i: v + 1e-3 for i, v in x.items()} for x in machine.vectors[:5]
    ]
    truth, approximate = oracles.decision_values(machine, rows), oracles.decision_values(small, rows)
    assert np.all(np.abs(truth - approximate) <= np.array(words[4 : 4 + len(machine.pairs)], float))
    value, radius = decide(found, parse(rows))
    assert np.all(np.abs(value - reference(exact, parse(rows))) <= radius) and np.all(np.abs(value - truth) <= radius)
    assert np.abs(truth - approximate).max() > 1e-3  # an approximation
    assert np.all(radius <= np.array(words[4 : 4 + len(machine.pairs)], float) * 1.001)


def test_the_radius_of_a_pair_without_vectors_is_a_number():
    """Even so far away that the fast evaluation claims nothing."""
    machine = some_machine(22, classes=3, n=30)
    machine.nr_sv = [28, 1, 1]
    machine.coef[28:] *= 1e-6
    found = reduce(machine, 2)
    assert found.model.header.nr_sv[1:] == [0, 0]
    rows = [{1: 1.0}, {1: 1e20}, {1: 1e150}]
    value, radius = decide(found.model, parse(rows))
    assert not np.isnan(radius).any()
    assert np.all(np.abs(value - reference(exact_model(machine), parse(rows))) <= radius)


@pytest.mark.full
@pytest.mark.parametrize("offset", [1e3, 1e5, 1e6, 1e7])
def test_unscaled_data_is_reduced_soundly_or_refused(offset):
    for seed in range(3):
        machine = some_machine(seed, n=60, d=3, gamma=0.1, offset=offset)
        for options in ({}, {"init": "random"}, {"init": "alpha", "optimizer": "irprop", "finishing": False}):
            try:
                found = reduce(machine, 30, **options)
            except ModelFormatError as error:
                assert offset > 1e6 and "scale the data" in str(error)
                continue
            small, words = split(found.model.to_text())
            dense = Dense(machine, small)
            assert np.sqrt(dense.distance[0]) + abs(EXTENDED(small.rho[0]) - EXTENDED(machine.rho[0])) <= float(
                words[4]
            )
            assert dense.share < 0.3


@pytest.mark.full(few=2)
@pytest.mark.parametrize("size", [1e-150, 1e-158, 1e-161, 1e-163, 1e-170, 1e-300])
@pytest.mark.parametrize("count", [10, 39])
def test_coefficients_whose_squares_underflow_are_no_nearer_than_the_radius(size, count):
    for seed, (svm_type, classes) in enumerate([("c_svc", 2), ("c_svc", 3), ("epsilon_svr", 2)]):
        machine = some_machine(seed, svm_type, classes)
        machine.coef, machine.rho = machine.coef * size, [0.0] * len(machine.rho)
        small, words = split(reduce(machine, count).model.to_text())
        radius = np.array(words[4 : 4 + len(machine.pairs)], float)
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
        found = lossless(exact_model(machine), "x")
        small, words = split(found.model.to_text())
        difference = {}
        for sign, of in ((1, machine), (-1, small)):
            for x, (a,) in zip(of.vectors, of.coef.tolist()):
                key = frozenset((i, v) for i, v in x.items() if v)
                difference[key] = difference.get(key, 0) + sign * Fraction(a)
        error = sum(map(abs, difference.values()))
        assert error <= Fraction(float(words[4]))
        lost += error > 0
    assert lost or size < 2.0**-1030  # below, doubles are added without error


# ---- a reduced set without its exact model


def reduced_text(machine):
    """The machine's file with the line of a reduced set."""
    origin = [
        "fastsvm_reduced",
        "2",
        "0" * 32,
        "60",
        "6",
        *["0.5"] * len(machine.pairs),
        *["10.0"] * len(machine.pairs),
        "CHECKSUM",
    ]
    return line_with_checksum(machine.text() + " ".join(origin).encode() + b"\n")


@pytest.mark.parametrize("requested", [False, True], ids=["labels", "values"])
def test_labels_are_those_of_svm_predict_where_rounding_decides(tmp_path, requested):
    machine, rows = mirrored(np.random.default_rng(24), "rbf")
    (tmp_path / "m").write_bytes(reduced_text(machine))
    theirs = Libsvm(tmp_path / "m")
    expected = [line[0] for line in theirs.lines(rows)]
    assert len(set(expected)) == 2
    ours, _ = lines(load_model(str(tmp_path / "m")), [parse(rows)], values=requested)
    assert [line.split()[0] for line in ours] == expected


def test_rows_whose_probabilities_rounding_decides_keep_their_radius(tmp_path):
    """At the brink of one more iteration of the coupling LIBSVM's sum decides: that of the reduced set."""
    rng = np.random.default_rng(9)
    doubtful = 0
    for _ in range(30):
        machine = random_machine(
            rng, "c_svc", "rbf", random_rows(rng, 60, [1, 2, 3]), nr_class=3, probability=True, gamma=0.5
        )
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
        ours, run_counts = lines(model, [parse(rows)], probability=True, values=True)
        doubtful += run_counts.reference_rows
        assert [line.split()[:4] for line in ours] == theirs.lines(rows, True)
        assert all(float(radius) >= 0.5 for line in ours[1:] for radius in line.split()[-3:])
        if doubtful:
            return
    pytest.fail("no row at a brink found")


@pytest.mark.full
def test_a_reduced_set_is_compiled_ordered_and_reduced_like_any_libsvm_model(fastsvm, tmp_path, trained, reduced):
    small, test = reduced("colors", 20), trained["colors"][1]
    fastsvm("reduce", "-q", "--vectors", 10, small, "again")
    fastsvm("approx", "-q", small, "approx")
    fastsvm("order", "-q", "--method", "triangle", small, "order")
    assert fastsvm("predict", "-q", test, "order").out == fastsvm("predict", "-q", test, small).out
    assert split((tmp_path / "again").read_bytes())[1][1].decode() == fingerprint(small.read_bytes())
    assert "rows proven" in fastsvm("bound", test, small).out
