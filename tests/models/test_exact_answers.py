"""The exact model against LIBSVM 3.37 in this process, the formulas, and LIBSVM's program. The parity table
(tests/zoo) compares the other interfaces and kinds."""

import itertools
import random

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import load_model, parse_model
from support import oracles
from support.evaluation import ROWS, SIZES, decide, parse, reference
from support.in_process import Libsvm, both, mirrored, run_both, written_lines
from support.messages import cases
from support.model_files import libsvm_rows
from support.oracles import Machine, random_machine, random_rows
from support.profiles import tries
from support.training import train
from zoo.traits import TRAITS, specimen


def assert_lines_are_libsvms(model, theirs, machine, rows, *, probability=False, expected=None):
    """Regression values: but for rounding. expected: LIBSVM's lines, if they are known. Returns the number of rows
    answered by LIBSVM's own sum."""
    text, run_counts = written_lines(model, [parse(rows)], probability=probability)
    ours, expected = [line.split() for line in text.decode().splitlines()], expected or theirs.lines(rows, probability)
    assert len(ours) == len(expected)
    if theirs.regression:
        size = oracles.magnitudes(machine, rows)[:, 0]
        ours, expected = np.array(ours, float)[:, 0], np.array(expected, float)[:, 0]
        with np.errstate(all="ignore"):
            near = (np.abs(ours - expected) <= 1e-9 * size) | np.isclose(ours, expected, rtol=1e-9, equal_nan=True)
        assert np.all(near), (ours[~near], expected[~near])
    else:
        assert ours == expected
    return run_counts.reference_rows


def truth_of(machine, rows, theirs):
    """(LIBSVM's values, rows of finite ones, the formulas' values of these, and their magnitudes)"""
    exact = theirs.values(rows)
    finite = [row for row, numbers in enumerate(exact) if np.all(np.isfinite(numbers))]
    if len(machine.pairs) > 200:  # the formulas would take long
        return exact, [], None, None
    some = [rows[row] for row in finite]
    return exact, finite, oracles.decision_values(machine, some), oracles.magnitudes(machine, some)


def assert_values_cover(model, machine, rows, truth):
    """Values and radii cover LIBSVM's values and the formulas'. LIBSVM's sum is LIBSVM's bit for bit."""
    chunk, (exact, finite, formulas, size) = parse(rows), truth
    np.testing.assert_array_equal(reference(model, chunk), exact)
    if not finite:
        return
    values, radii = (each[finite] for each in decide(model, chunk))
    rows, exact = [rows[row] for row in finite], exact[finite]
    with np.errstate(all="ignore"):
        allowed = [oracles.rounding_radius(machine, row, value) for row, value in zip(rows, values)]
        allowed = np.array(allowed).reshape(values.shape)
        assert np.all(np.abs(values - exact) <= np.where(np.isfinite(allowed), np.minimum(allowed, radii), radii))
        near = np.where(np.isfinite(allowed), allowed, 1e-9 * size)
        assert np.all((np.abs(values - formulas) <= near) | ~np.isfinite(near + formulas))


# ---- traits

#: Their traits have rows of extreme numbers.
SUM_SOME = ("cancelling", "huge", "one_ulp", "far", "tiny_classes", "unknown_features")
#: Trait -> how many rows need LIBSVM's own sum, for labels and with -b 1; "": any number. Others: none for labels.
SUMMED = {
    **{name: ("all", "all") for name in TRAITS if "ties" in name or name == "precomputed"},
    **{name: ("some", "") for name in TRAITS if name.startswith(SUM_SOME)},
    **{name: ("none", "some") for name in TRAITS if name.startswith("steep_odds")},
    **{
        name: ("none", "all") for name in TRAITS if name.startswith(("even_odds", "density", "coupled", "most", "lost"))
    },
    **dict.fromkeys(("beside_ties", "no_odds_are_open", "two_classes", "one_class"), ("none", "none")),
    **{f"even_odds_0.0_{b}": ("all", "all") for b in (0.0, 0.3)},
    **dict.fromkeys(("swallowed_terms", "swallowed_squares", "overflow_of_a_regression"), ("all", "all")),
    "one_more_iteration": ("none", "some"),
    **dict.fromkeys(("density_marks", "tiny_terms_of_a_folded_model", "steep_sigmoid_kernel"), ("", "")),
}


@pytest.mark.full(few=20)
@pytest.mark.parametrize("trait", TRAITS)
def test_a_specimens_answers_are_libsvms(trait, best_instruction_set):
    """By every build of the hot loops and any number of threads, in whatever order rows come."""
    found = specimen(trait)
    model, theirs, rows = parse_model(found.machine.text(), trait), found.libsvm(), found.rows
    with_b = (False, True)[: 1 + model.header.has_probability]
    truth, lines = truth_of(found.machine, rows, theirs), [theirs.lines(rows, probability) for probability in with_b]
    for build in _native.instruction_sets():
        assert _native.select_instruction_set(build)
        assert_values_cover(model, found.machine, rows, truth)
        for probability, expected, summed in zip(with_b, lines, SUMMED.get(trait, ("none", ""))):
            how = {"probability": probability, "expected": expected}
            count = assert_lines_are_libsvms(model, theirs, found.machine, rows, **how)
            assert {"": True, "all": count == len(rows), "none": count == 0, "some": count > 0}[summed], count
        straight = written_lines(model, [parse(rows)], values=True, probability=with_b[-1])[0].splitlines()
        _native.set_threads(2)
        backward = written_lines(model, [parse(rows[::-1])], values=True, probability=with_b[-1])[0].splitlines()
        assert straight[len(straight) - len(rows) :] == backward[len(straight) - len(rows) :][::-1]


# ---- random models


def any_shape(rng):
    """Any kernel, type and size. One vector in four nearly repeats another, with nearly the opposite coefficient."""
    kernel, svm_type = (str(rng.choice(each)) for each in (oracles.KERNELS, oracles.SVM_TYPES))
    scale, offset = rng.choice([1e-150, 1e-6, 1e-2, 1, 10, 1e5]), rng.choice([0, 0, 1, 30, 1000, 1e5, 1e7])
    n, d = rng.choice([*SIZES, 31, 32, 33]), rng.choice(SIZES[1:])
    shape = {"density": rng.choice([0.05, 0.5, 1.0]), "scale": scale, "offset": offset * scale}
    if kernel == "precomputed":
        vectors = [{0: int(i)} for i in rng.integers(0, 30, n)]
        rows = [dict(enumerate(rng.normal(0, scale, 30).tolist())) for _ in range(20)]
    else:
        indices = [*sorted(rng.choice(3 * d + 1, d, replace=False).tolist()), 5000000, 2147483647]
        vectors = random_rows(rng, n, indices, **shape)
        for i in range(1, n, 4):
            vectors[i] = {index: value * (1 + 1e-9 * rng.standard_normal()) for index, value in vectors[i - 1].items()}
        rows = [*random_rows(rng, int(rng.choice([1, 7, 9, 33, 70])), indices, **shape), *vectors[:6], {}]
    parameters = {"gamma": float(rng.choice([0.01, 0.3, 5]) / (scale**2 * d)), "coef0": float(rng.normal())}
    parameters |= {"degree": int(rng.integers(0, 6)), "nr_class": int(rng.choice([2, 3, 6, 20])) if n else 2}
    machine = random_machine(rng, svm_type, kernel, vectors, probability=True, **parameters)
    machine.coef *= 10.0 ** rng.choice([-8, 0, 0, 10])
    if rng.random() < 0.5:
        machine.rho = [0.0] * len(machine.rho)
        machine.coef[1::4] = -machine.coef[: len(machine.coef) - 1 : 4][: len(machine.coef[1::4])]
    return machine, rows


def test_answers_of_untrained_models_of_any_shape_are_libsvms(tmp_path):
    for seed in range(tries(120)):
        machine, rows = any_shape(np.random.default_rng(seed))
        model, theirs = both(machine, tmp_path)
        assert_values_cover(model, machine, rows, truth_of(machine, rows, theirs))
        for probability in (False, True)[: 1 + model.header.has_probability]:
            assert_lines_are_libsvms(model, theirs, machine, rows, probability=probability)


# ---- close calls of many sizes


@pytest.mark.parametrize(
    "kernel, size, lean",
    [
        *(("linear", size, lean) for size, lean in ((1e-100, 0), (1e-3, 0), (1, 0), (1, 1e5), (1e6, 0))),
        *(("polynomial", size, lean) for size, lean in ((0.01, 0), (1, 0), (1, 1e5), (10, 0), (1e5, 0))),
        *(("rbf", size, lean) for size, lean in ((0.1, 0), (1, 0), (0.1, 2))),
        *(("sigmoid", size, lean) for size, lean in ((1, 0), (1, 1e5), (20, 0))),
    ],
)
def test_where_f_is_zero_the_reference_sum_gives_libsvms_label(tmp_path, kernel, size, lean):
    for svm_type in ("c_svc", "one_class"):
        machine, rows = mirrored(np.random.default_rng(1), kernel, size=size, lean=lean, svm_type=svm_type)
        model, theirs = both(machine, tmp_path)
        assert assert_lines_are_libsvms(model, theirs, machine, rows) == len(rows)
        labels = theirs.labels(rows)
        assert 20 < labels.count(labels[0]) < 180  # rounding decides


def test_a_power_that_multiplies_rounding_beyond_first_order_has_no_radius():
    """60,000 products and a degree of two billion: n u is 0.014, and 1.05 n u no longer covers (1 + u)^n - 1."""
    x = dict.fromkeys(range(1, 60001), 0.001)
    machine = Machine(
        "c_svc", "polynomial", [x, {}], np.array([[1.0], [-1.0]]), [0.0], 1.0, 0.9, 2**31 - 1, [1, -1], [1, 1]
    )
    for rows, bounded in (([x], False), ([{1: 1e-3}], True)):
        out = _native.Decisions(1, True)
        parse_model(machine.text(), "m").fast_values(parse(rows), out)
        assert (out.radius[0, 0] < float("inf")) == bounded


# ---- trained models


KERNELS = dict(cases("kernels of svm-train"))
TYPES = dict(cases("types of svm-train"))
COMBINATIONS = [(t, k, c) for t in TYPES for k in KERNELS for c in ((2, 4) if t in ("c_svc", "nu_svc") else (2,))]


def trained(path, svm_type, kernel, classes, probability):
    """Write a model that LIBSVM trains; return its path."""
    rng = random.Random(11)
    rows = [
        {j: round(rng.gauss(0, 1), 3) for j in sorted(rng.sample(range(1, 9), rng.randint(2, 6)))} for _ in range(60)
    ]
    scores = [row.get(1, 0) - row.get(2, 0) + 0.5 * row.get(3, 0) ** 2 + rng.gauss(0, 0.3) for row in rows]
    parted = [sum(s > cut for cut in (-0.7, 0, 0.7)[: classes - 1]) * 10 - 5 for s in scores]
    y = scores if "svr" in svm_type else parted
    return train(path, rows, y, f"{TYPES[svm_type]} {KERNELS[kernel]} -b {int(probability)}")


@pytest.mark.full(few=6)
@pytest.mark.parametrize("svm_type, kernel, classes", COMBINATIONS)
def test_a_trained_model_is_read_answered_and_written_as_by_libsvm(
    svm_predict, fastsvm, tmp_path, svm_type, kernel, classes
):
    """Also by the commands."""
    path = trained(tmp_path / "trained", svm_type, kernel, classes, kernel == "rbf")
    model, theirs, rows = load_model(str(path)), Libsvm(path), libsvm_rows(ROWS)
    header, text, machine = model.header, model.to_text(), Machine.read(path.read_bytes())
    assert (header.svm_type, header.kernel_type, header.nr_class) == (svm_type, kernel, theirs.classes)
    assert (header.probA, header.probB, header.prob_density_marks) == (machine.probA, machine.probB, machine.marks)
    for probability in (False, True)[: 1 + header.has_probability]:
        assert_lines_are_libsvms(model, theirs, machine, rows, probability=probability)
    assert parse_model(text, "again").to_text() == text and len(text) <= path.stat().st_size
    (tmp_path / "written").write_bytes(text)
    np.testing.assert_array_equal(Libsvm(tmp_path / "written").values(rows), theirs.values(rows))

    options = [[], ["-q"]] if not machine.marks else []  # Debian's LIBSVM 3.24 does not know this key
    options += [["-b", "1"]] if machine.probA and classes > 2 else []  # and couples two classes by iteration
    for count, words in itertools.product((0, 1, None), options):
        (tmp_path / "rows").write_bytes(oracles.data_text(rows[:count], [5.0, -5.0, 15.0, 5.0][:count]))
        (lines, summary), ours = run_both(svm_predict, fastsvm, tmp_path, "rows", path, *words)
        assert ours[1] == summary
        if theirs.regression:  # but for rounding
            np.testing.assert_allclose(np.array(ours[0].split(), float), np.array(lines.split(), float), rtol=1e-12)
        else:
            assert ours[0] == lines
