"""Exact models in single precision: kernel values within the proven error (B22 to B24 of PROOFS.md), svm-predict's
labels on models built to break them (B25, B26)."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction.pipeline import predict
from support.evaluation import parse
from support.oracles import Machine, random_machine, random_rows

SINGLE, DOUBLE, REFERENCE = 1, 2, 3  # indices of level_rows


def exact_kernel(gamma, x, z):
    """exp(-gamma |x - z|^2) of the stored numbers, in 40 digits."""
    squared = sum(
        ((Fraction(x.get(i, 0.0)) - Fraction(z.get(i, 0.0))) ** 2 for i in x.keys() | z.keys()), start=Fraction(0)
    )
    exponent = -Fraction(gamma) * squared
    with localcontext() as context:
        context.prec = 40
        return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp() if exponent > -2000 else Decimal(0)


def shapes(rng):
    """(name, gamma, vectors, rows, whether single precision must serve the model)"""
    wide, narrow = list(range(1, 131)), list(range(1, 8))
    yield "narrow", 0.5, random_rows(rng, 33, narrow), random_rows(rng, 9, narrow), True
    yield "wide", 0.01, random_rows(rng, 33, wide), random_rows(rng, 7, wide), True
    yield "one feature", 2.0, random_rows(rng, 5, [3]), random_rows(rng, 13, [3]), True
    yield "flat", 1e-8, random_rows(rng, 20, narrow), random_rows(rng, 9, narrow), True
    yield "far offset", 0.2, random_rows(rng, 20, narrow, offset=1e6), random_rows(rng, 9, narrow, offset=1e6), True
    # Exponents of all sizes, until K underflows.
    yield "steep", 20.0, random_rows(rng, 40, [1, 2]), random_rows(rng, 20, [1, 2]), True
    yield "sparse", 0.05, random_rows(rng, 40, wide, density=0.1), random_rows(rng, 7, wide, density=0.1), True
    outside = [{**row, 500: 0.75, 600: -1.5} for row in random_rows(rng, 7, narrow)]
    yield "features that no vector has", 0.3, random_rows(rng, 20, narrow), outside, True
    near = random_rows(rng, 1, narrow)[0]
    yield (
        "an ulp apart",
        1e3,
        [{i: float(np.nextafter(v, v + k % 3 - 1)) for i, v in near.items()} for k in range(20)],
        [near, {i: v * (1 + 1e-9) for i, v in near.items()}],
        True,
    )
    yield "huge gamma", 1e6, random_rows(rng, 20, narrow, scale=1e-3), random_rows(rng, 9, narrow, scale=1e-3), True
    # Errors are those of the largest norm.
    skewed = random_rows(rng, 20, narrow)
    skewed[3] = {1: 4e4, 2: -3e4}
    yield "an outlier", 1e-6, skewed, [*random_rows(rng, 5, narrow), {1: 3.9e4, 2: -3e4}], False
    yield "beyond single precision", 1.0, [{1: 1e25}, {1: -1e25}, {2: 1.0}], [{1: 1e25}, {1: 1e300}, {2: 1.0}], False
    yield "next to nothing", 1.0, [{1: 1e-160}, {1: 1e-30}, {2: 1e-42}], [{1: 1e-30}, {1: 1e-200}, {}], True
    # Scaled by the root of gamma log2(e), vectors are slightly longer than 8, where rounding is largest.
    unit = float(8 / np.sqrt(0.5 * np.log2(np.e)))
    twins = [{1: side * unit * float(1 + t)} for t in rng.uniform(0, 0.01, 20) for side in (1, -1)]
    yield "lengths that round most", 0.5, twins, [{1: float(z)} for z in rng.uniform(-0.01, 0.01, 20)], True


@pytest.mark.full
def test_kernel_values_are_as_close_as_is_proven(instruction_set):
    rng = np.random.default_rng(3)
    for name, gamma, vectors, rows, ordinary in shapes(rng):
        machine = random_machine(rng, "c_svc", "rbf", vectors, gamma=gamma)
        values, errors = _native.SingleTiles(parse_model(machine.text(), "m").svm_model).values(parse(rows))
        values, errors = np.array(values).reshape(len(rows), -1), np.array(errors)
        assert np.isfinite(errors).all() or not ordinary, name
        assert (errors < 1e-3).all() or not ordinary or name == "far offset", name
        for z, got, error in zip(rows, values, errors):
            for x, value in zip(vectors, got) if np.isfinite(error) else ():
                exact = exact_kernel(gamma, x, z)
                assert abs(Decimal(float(value)) - exact) <= Decimal(float(error)) * exact + Decimal(2) ** -126, name
            assert np.isfinite(got).all() or not np.isfinite(error)


def test_powers_of_two_have_the_error_of_their_polynomial(instruction_set):
    """Every exponent from 0 to 130, with exact distances: only the power is wrong."""
    machine = random_machine(np.random.default_rng(1), "c_svc", "rbf", [{1: 0.0}, {2: 0.0}], gamma=float(np.log(2.0)))
    rows = [{1: k / 256} for k in range(2920)]
    values, errors = _native.SingleTiles(parse_model(machine.text(), "m").svm_model).values(parse(rows))
    values = np.array(values).reshape(len(rows), -1)[:, 0]
    worst = 0.0
    for k, value in enumerate(values):
        exponent = Fraction(k * k, 65536)
        if exponent <= 126:
            exact = Fraction(2.0 ** -float(exponent))  # to 1e-16
            worst = max(worst, float(abs(Fraction(float(value)) - exact) / exact))
        else:
            assert value == 2.0**-126
    assert worst <= 2.3 * 2.0**-24 + 1e-12 and min(errors) >= 2.3 * 2.0**-24


def hostile(rng):
    """A random machine, and rows, hard for single precision."""
    kind = rng.integers(8)
    d = int(rng.choice([1, 2, 5, 17, 40]))
    features = list(range(1, d + 1))
    n = int(rng.choice([1, 3, 20, 70]))
    gamma = float(10.0 ** rng.uniform(-8, 6)) if kind == 0 else float(rng.uniform(0.2, 3) / d)
    offset = 1e6 if kind == 1 else 0.0
    scale = 1e-3 if kind == 2 else 1.0
    vectors = random_rows(rng, n, features, scale=scale, offset=offset)
    if kind == 3:  # near-duplicates with cancelling coefficients
        vectors = [
            {i: float(np.nextafter(v, 9 * rng.choice([-1, 1]))) for i, v in vectors[k // 2 * 2].items()}
            for k in range(n)
        ]
    svm_type = "one_class" if rng.random() < 0.15 else "c_svc"
    machine = random_machine(rng, svm_type, "rbf", vectors, nr_class=int(rng.integers(2, 7)), gamma=gamma)
    if kind == 4:
        machine.coef = machine.coef * 10.0 ** rng.uniform(-12, 12, machine.coef.shape)
    if kind == 5:
        machine.coef = np.round(machine.coef)  # sums and rho are exactly 0
        machine.rho = [0.0] * len(machine.rho)
    rows = random_rows(rng, 12, [*features, d + 5], density=0.9, scale=scale, offset=offset)
    rows += [dict(vectors[k]) for k in rng.integers(n, size=8)]
    rows += [{1: 1e4 * float(rng.standard_normal())}, {d + 9: 1e30}, {1: 1e160}, {}]
    if kind == 6:  # values almost exactly 0
        machine.rho = reference_values(machine, rows[:1])[0].tolist()
    if kind == 7:  # values near 0
        values = reference_values(machine, rows[:1])[0]
        machine.rho = (values + np.array(machine.rho)) * (1 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-15, -5))
        machine.rho = machine.rho.tolist()
    return machine, rows


def reference_values(machine, rows):
    """svm-predict's sums, (rows, pairs), before rho is subtracted."""
    model, out = parse_model(machine.text(), "m"), _native.Decisions(len(machine.rho))
    model.reference_values(parse(rows), out)
    return np.array(out.value) + np.array(machine.rho)


def labels(model, chunk, reference=False):
    out = _native.Decisions(model.pairs, False, not reference)
    (model.reference_values if reference else model.decision_values)(chunk, out)
    predictions = _native.Predictions()
    _native.predict(model.header.task(), out, False, predictions)
    return list(predictions.label), list(out.level_rows)


@pytest.mark.full
def test_labels_are_svm_predicts_on_hostile_models(best_instruction_set):
    rng = np.random.default_rng(11)
    total = np.zeros(4, dtype=int)
    for trial in range(150):
        machine, rows = hostile(rng)
        text, chunk = machine.text(), parse(rows)
        expected, _ = labels(parse_model(text, "m"), chunk, reference=True)
        for build in _native.instruction_sets():
            assert _native.select_instruction_set(build)
            # Levels are tried per build, too.
            found, levels = labels(parse_model(text, "m"), chunk)
            assert found == expected, (trial, build)
            assert sum(levels) == len(rows)
            total += levels
    # All levels were used.
    assert (total[[SINGLE, DOUBLE, REFERENCE]] > 50).all()


def trained(rng, nr_class, n=200, d=9):
    """Bumps about the vectors of each class, as in trained models."""
    vectors = random_rows(rng, n, list(range(1, d + 1)))
    machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=nr_class, gamma=0.2)
    size = n // nr_class
    machine.nr_sv = [size] * (nr_class - 1) + [n - size * (nr_class - 1)]
    of = np.repeat(np.arange(nr_class), machine.nr_sv)
    for other in range(nr_class - 1):
        machine.coef[:, other] = np.abs(machine.coef[:, other]) * np.where(of <= other, 1, -1)
    return machine


@pytest.mark.parametrize("nr_class", [2, 3, 9])
def test_nearly_all_rows_are_decided_in_single_precision(nr_class):
    rng = np.random.default_rng(nr_class)
    machine = trained(rng, nr_class)
    rows = random_rows(rng, 500, list(range(1, 10)))
    model, chunk = parse_model(machine.text(), "m"), parse(rows)
    found, levels = labels(model, chunk)
    assert found == labels(model, chunk, reference=True)[0]
    assert levels[SINGLE] > 0.95 * len(rows) and sum(levels) == len(rows)


def test_classes_of_any_size_meet_with_all_their_vectors(best_instruction_set):
    """Sums go by eight vectors: whole eights, padded ones, adjacent classes."""
    rng = np.random.default_rng(12)
    for nr_sv in ([1, 7, 8, 9, 15, 16, 17, 33, 40], [96, 1, 31, 64, 24], [1, 2, 3, 1, 2]):
        n = sum(nr_sv)
        machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, n, [1, 2, 3]), nr_class=len(nr_sv), gamma=0.4)
        machine.nr_sv = nr_sv
        rows = random_rows(rng, 90, [1, 2, 3])
        machine.rho = reference_values(machine, rows[:1])[0].tolist()
        chunk = parse(rows)
        expected, _ = labels(parse_model(machine.text(), "m"), chunk, reference=True)
        assert len(set(expected)) > 2
        for build in _native.instruction_sets():
            assert _native.select_instruction_set(build)
            found, levels = labels(parse_model(machine.text(), "m"), chunk)
            assert found == expected, (nr_sv, build)
            assert levels[SINGLE] > 45


def test_the_text_is_the_same_with_values_and_without():
    """Only labels alone use single precision."""
    rng = np.random.default_rng(5)
    for svm_type, nr_class in (("c_svc", 2), ("nu_svc", 4), ("one_class", 2)):
        machine = random_machine(rng, svm_type, "rbf", random_rows(rng, 150, [1, 2, 3]), nr_class=nr_class, gamma=0.7)
        model, chunk = parse_model(machine.text(), "m"), parse(random_rows(rng, 300, [1, 2, 3, 4]))
        texts, tallies = [], []
        for values in (False, True):
            lines = []
            tallies.append(predict(model, [chunk], lines.append, path="p", values=values, labelled=False))
            texts.append([line.split()[0] for line in b"".join(lines).splitlines()])
        assert texts[0] == texts[1]
        assert tallies[0].single_rows > 200 and tallies[1].single_rows == 0
        for run_counts in tallies:
            assert (
                run_counts.grid_rows + run_counts.single_rows + run_counts.double_rows + run_counts.reference_rows
                == 300
            )


def test_one_of_two_classes_may_have_no_vectors():
    for nr_sv, coef in (([3, 0], 1.0), ([0, 3], -1.0)):
        machine = Machine(
            "c_svc",
            "rbf",
            [{1: 1.0}, {2: 1.0}, {}],
            np.full((3, 1), coef),
            [0.5 * coef],
            1.0,
            label=[4, -6],
            nr_sv=nr_sv,
        )
        model, chunk = parse_model(machine.text(), "m"), parse([{1: 1.0}, {1: 9.0}, {7: 1.0}, {2: 0.5}])
        assert labels(model, chunk)[0] == labels(model, chunk, reference=True)[0]


def test_models_that_single_precision_cannot_hold_have_labels_all_the_same():
    rng = np.random.default_rng(8)
    rows = random_rows(rng, 20, [1, 2])
    for coef, gamma in ((1e-200, 1.0), (1e150, 1.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1e-200), (1.0, 1e200)):
        machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 10, [1, 2]), gamma=gamma)
        machine.coef = machine.coef * coef
        machine.rho = [coef * machine.rho[0]]
        model, chunk = parse_model(machine.text(), "m"), parse(rows)
        assert labels(model, chunk)[0] == labels(model, chunk, reference=True)[0], (coef, gamma)


def test_rows_of_which_single_precision_knows_nothing_stay_open(best_instruction_set):
    """Overflowing squares give kernel values of any sign, without a proof."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        size = 10.0 ** rng.uniform(13, 25)
        vectors = random_rows(rng, int(rng.integers(1, 40)), list(range(1, 10)), scale=size)
        machine = random_machine(rng, "c_svc", "rbf", vectors, gamma=float(10 ** rng.uniform(-1, 3)))
        machine.rho = [0.0]
        chunk = parse([*vectors, *random_rows(rng, 9, [1, 2, 3], scale=size), {}, {1: 1.0}])
        expected, _ = labels(parse_model(machine.text(), "m"), chunk, reference=True)
        for build in _native.instruction_sets():
            assert _native.select_instruction_set(build)
            assert labels(parse_model(machine.text(), "m"), chunk)[0] == expected, (seed, build)


def test_vectors_without_entries_are_all_at_one_point():
    machine = Machine("c_svc", "rbf", [{}, {}], np.array([[1.0], [-0.5]]), [0.25], 1.0, label=[1, 2], nr_sv=[1, 1])
    model, chunk = parse_model(machine.text(), "m"), parse([{}, {1: 0.5}, {3: 2.0}, {2: 1e200}])
    found, levels = labels(model, chunk)
    assert found == labels(model, chunk, reference=True)[0] == [1, 1, 2, 2] and sum(levels) == 4


def test_tiles_of_another_kernel_are_refused():
    machine = random_machine(np.random.default_rng(1), "c_svc", "polynomial", [{1: 1.0}], gamma=1.0, degree=2)
    with pytest.raises(ValueError, match="another kernel"):
        _native.SingleTiles(parse_model(machine.text(), "m").svm_model)
