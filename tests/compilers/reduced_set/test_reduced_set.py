"""Reduced sets as LIBSVM models (Suttorp and Igel 2007): the algorithm against the paper's equations, dense and in
extended precision; the radius against models made to break it."""

import json
import os
import re

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train
from scipy.optimize import approx_fprime

from fastsvm_cli.compilers.reduced_set.compile import compile_reduced_set, grow, lossless
from fastsvm_cli.compilers.reduced_set.duplicates import merge_duplicates
from fastsvm_cli.compilers.reduced_set.probabilities import refit
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.models.reduced_set import ReducedModel
from fastsvm_cli.prediction.pipeline import Fallback
from fastsvm_cli.text.data import read_chunks
from support import oracles
from support.evaluation import decide, parse, reference, values
from support.hostile import hostile_machine, hostile_rows
from support.in_process import Libsvm, mirrored, run_both
from support.oracles import EXTENDED, Machine, data_text, random_machine, random_rows
from support.places import DATA
from support.reducing import (
    INITS,
    JOBS,
    OPTIMIZERS,
    TYPES,
    Dense,
    exact_model,
    fingerprint,
    labels,
    lines,
    machine_of,
    members,
    reduce,
    some_machine,
    split,
)

pytestmark = pytest.mark.usefixtures("serial_libsvm")

# ---- the output is a LIBSVM model


@pytest.mark.parametrize(
    "name", ["rings", "rings-nu", "rings-one-class", "colors", "colors-probability", "waves", "waves-nu"]
)
def test_svm_predict_reads_a_reduced_set_and_writes_what_fastsvm_predict_writes(
    svm_predict, fastsvm, tmp_path, trained, reduced, name
):
    theirs, ours = run_both(svm_predict, fastsvm, tmp_path, trained[name][1], reduced(name))
    assert ours[1] == theirs[1]
    if name.startswith("waves"):
        np.testing.assert_allclose(
            np.array(ours[0].split(), float), np.array(theirs[0].split(), float), rtol=1e-11, atol=1e-11
        )
    else:
        assert ours[0] == theirs[0]
    assert len(set(ours[0].split())) > 1


@pytest.mark.parametrize("name", JOBS)
def test_the_libsvm_package_reads_a_reduced_set_and_gives_the_same_lines(trained, reduced, name):
    path = reduced(name)
    theirs, model = Libsvm(path), load_model(str(path))
    assert isinstance(model, ReducedModel)
    assert theirs.model.get_nr_sv() == theirs.model.l == model.header.total_sv <= 30
    _, x = svm_read_problem(str(trained[name][1]))
    rows = [{k: v for k, v in row.items() if v} for row in x[:500]]
    for probability in (False, True)[: 1 + model.header.has_probability]:
        ours = [line.split() for line in lines(model, [parse(rows)], probability=probability)[0]]
        if theirs.regression:
            np.testing.assert_allclose(
                np.array(ours, float), np.array(theirs.lines(rows, probability), float), rtol=1e-11, atol=1e-11
            )
        else:
            assert ours == theirs.lines(rows, probability)


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_all_but_the_vectors_and_offsets_is_the_exact_models(svm_type, classes):
    machine = some_machine(1, svm_type, classes, probability=True)
    small, words = split(reduce(machine, 10).model.to_text())
    for key in ("svm_type", "kernel", "gamma", "label", "probA", "probB", "marks"):
        assert getattr(small, key) == getattr(machine, key), key
    assert len(small.vectors) == 10 and (not small.nr_sv or sum(small.nr_sv) == 10)
    assert set(small.features) <= set(machine.features)
    assert words[:5] == [b"2", fingerprint(machine.text()).encode(), b"40", b"5", *words[4:5]] and len(
        words
    ) == 4 + 2 * len(machine.pairs)


def test_indices_are_those_of_the_support_vectors():
    """Columns of the dense matrix are not LIBSVM's indices."""
    rng = np.random.default_rng(2)
    indices = [0, 3, 70, 2147483647]
    vectors = [dict(zip(indices, row)) for row in rng.standard_normal((30, 4)).tolist()]
    machine = random_machine(rng, "c_svc", "rbf", vectors, gamma=0.5)
    found = reduce(machine, 10)
    small = machine_of(found)
    assert small.features == indices
    assert Dense(machine, small).share == pytest.approx(found.distance, rel=1e-5)
    assert Dense(machine, small).share < 0.3


def test_two_classes_share_their_vectors_each_is_listed_with_the_class_it_speaks_for():
    small = machine_of(reduce(some_machine(3), 12))
    assert np.all(small.coef[: small.nr_sv[0], 0] > 0) and np.all(small.coef[small.nr_sv[0] :, 0] <= 0)
    assert min(small.nr_sv) > 0


# ---- coefficients, offset, distance


@pytest.mark.parametrize("finishing", [False, True])
@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_coefficients_solve_the_equations_of_each_pair_over_the_vectors_of_both_classes(svm_type, classes, finishing):
    machine = some_machine(4, svm_type, classes, gamma=1.0)
    small = machine_of(reduce(machine, 14, finishing=finishing))
    dense = Dense(machine, small)
    for p in range(len(machine.pairs)):
        own = members(small, p)
        expected = np.linalg.solve(dense.kzz[np.ix_(own, own)].astype(float), dense.b[p, own].astype(float))
        np.testing.assert_allclose(
            dense.beta[p, own].astype(float), expected, rtol=0, atol=1e-7 * np.abs(expected).max()
        )
        assert not np.any(dense.beta[p, ~own])
    assert 0.005 < dense.share < 0.9


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_offsets_are_equation_9(svm_type, classes):
    """b' = mean over the support vectors with alpha != 0 of Psi(x) + b - Psi'(x); b = -rho."""
    machine = some_machine(5, svm_type, classes)
    small = machine_of(reduce(machine, 8))
    psi = oracles.decision_values(machine, machine.vectors) + np.array(machine.rho, EXTENDED)
    approximate = oracles.decision_values(small, machine.vectors) + np.array(small.rho, EXTENDED)
    for p, (rho, changed) in enumerate(zip(machine.rho, small.rho)):
        own = machine.pair_coefficients[p] != 0
        assert -changed == pytest.approx(float((psi - rho - approximate)[own, p].mean()), abs=1e-12)
        assert abs(changed - rho) > 1e-9  # it is another one


@pytest.mark.parametrize("name", ["rings", "colors", "waves"])
def test_the_summary_is_what_a_dense_computation_says(fastsvm, tmp_path, trained, name):
    model, test = trained[name]
    done = fastsvm("reduce", "--vectors", 20, "--data", test, model)
    machine, text = Machine.read(model.read_bytes()), (tmp_path / f"{name}.model.reduced").read_bytes()
    small, words = split(text)
    dense, first = Dense(machine, small), done.out.splitlines()
    assert first[0] == f"{len(machine.vectors)} support vectors -> 20 vectors" and len(small.vectors) == 20
    assert re.fullmatch(rf"[\d.]+ KB -> [\d.]+ (KB|bytes): {name}.model.reduced", first[1])
    distance, radius = map(
        float, re.fullmatch(r"squared distance (\S+) of \|Psi\|\^2, radius (\S+)", first[2]).groups()
    )
    assert distance == pytest.approx(dense.share, rel=0.006)
    true = np.sqrt(np.maximum(0, dense.distance)) + np.abs(
        np.array(small.rho, EXTENDED) - np.array(machine.rho, EXTENDED)
    )
    assert radius == pytest.approx(float(true.max()), rel=0.006)
    exact, found = load_model(str(model)), load_model(str(tmp_path / f"{name}.model.reduced"))
    chunks = list(read_chunks(str(test)))
    a, b = labels(exact, chunks), labels(found, chunks)
    if name == "waves":
        said = float(
            re.fullmatch(
                rf"root mean square difference on {test}: (\S+) \([\d.e-]+ % of the spread of the values\)", first[3]
            )[1]
        )
        assert said == pytest.approx(np.sqrt(np.mean((a - b) ** 2)), rel=0.006)
    else:
        assert first[3].startswith(f"labels that differ on {test}: {np.sum(a != b)} of {len(a)} (") and np.any(a != b)
        y = np.concatenate([np.asarray(chunk.leading)[:, 0] for chunk in chunks])
        assert (
            f"({np.sum(b == y)}/{len(y)})" in first[4].split(";")[0]
            and f"({np.sum(a == y)}/{len(y)})" in first[4].split(";")[1]
        )
    warned = "Warning: values are off by " if name == "waves" else "Warning: "
    assert done.err == "" or (done.err.startswith(warned) and done.err.count("\n") == 1)


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_the_stored_radius_is_the_dense_one_rounded_up(svm_type, classes):
    """delta + |b' - b| of every decision function: with a large rho, which is no part of either Psi."""
    machine = some_machine(6, svm_type, classes)
    machine.rho = [100.0 * (-1) ** p for p in range(len(machine.rho))]
    found = reduce(machine, 10)
    small, words = split(found.model.to_text())
    true = np.sqrt(Dense(machine, small).distance) + np.abs(
        np.array(small.rho, EXTENDED) - np.array(machine.rho, EXTENDED)
    )
    stored = np.array(words[4 : 4 + len(machine.pairs)], float)
    assert np.all(stored >= true) and np.all(stored <= true * (1 + 1e-6))
    weight = np.array(words[4 + len(machine.pairs) :], float)
    np.testing.assert_allclose(weight, np.abs(machine.pair_coefficients).sum(axis=1), rtol=1e-8)


@pytest.mark.parametrize("coefficient", [1e-8, 1.0, 1e8, 1e100])
def test_the_distance_is_a_share_whatever_the_size_of_the_coefficients(coefficient):
    machine = some_machine(7, n=20)
    machine.coef *= coefficient
    for count in (1, 10, 19):
        found = reduce(machine, count)
        assert 0 <= found.distance <= 1
        assert found.distance == pytest.approx(Dense(machine, machine_of(found)).share, rel=1e-4, abs=1e-9)


def test_the_distance_is_never_negative():
    """Twins that one vector stands for: what is left is rounding."""
    for seed in range(30):
        machine = some_machine(seed, "nu_svr", n=2, d=3, gamma=0.1)
        machine.vectors[1] = {i: v + 1e-9 for i, v in machine.vectors[0].items()}
        found = reduce(machine, 1)
        assert found.model.header.total_sv == 1 and 0 <= found.distance < 1e-9


@pytest.mark.parametrize("coefficient", [1e-30, 1e-150])
def test_coefficients_that_vanish_beside_the_offset_are_no_crash(coefficient):
    machine = some_machine(7, n=20)
    machine.coef *= coefficient
    for options in ({}, {"finishing": False}, {"init": "random", "optimizer": "irprop"}):
        found = reduce(machine, 5, **options)
        assert found.distance >= 0
        rows = machine.vectors
        assert np.all(
            np.abs(oracles.decision_values(machine, rows) - oracles.decision_values(machine_of(found), rows))
            <= found.model.origin.radius
        )


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
    assert merged.header.total_sv == merged.vectors.rows  # or the core reads vectors that are not there
    found = compile_reduced_set(exact, fingerprint="x", count=int(rng.integers(1, len(x) + 1)), seed=seed, **options)
    return machine, exact, found, hostile_rows(rng, x)


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
            truth, approximate, theirs = (
                oracles.decision_values(machine, rows),
                oracles.decision_values(small, rows),
                reference(exact, chunk),
            )
            stored = np.array(words[4 : 4 + len(machine.pairs)], float)
            assert not uncovered(np.abs(truth - approximate), np.broadcast_to(stored, truth.shape)).any(), seed
            assert not uncovered(np.maximum(np.abs(value - truth), np.abs(value - theirs)), radius).any(), seed
    assert reductions >= 6


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
    assert np.abs(truth - approximate).max() > 1e-3  # it is an approximation
    assert np.all(radius <= np.array(words[4 : 4 + len(machine.pairs)], float) * 1.001)


def test_a_model_read_back_has_the_same_values_and_radii():
    for seed, (svm_type, classes) in enumerate(TYPES):
        model = reduce(some_machine(seed, svm_type, classes), 10).model
        again = parse_model(model.to_text(), "reduced")
        assert again.to_text() == model.to_text()
        chunk = parse(random_rows(np.random.default_rng(seed), 20, [1, 2, 3, 4, 5, 6]))
        for one, other in zip(decide(model, chunk), decide(again, chunk)):
            np.testing.assert_array_equal(one, other)


def test_the_radius_of_a_pair_without_vectors_is_a_number():
    """Also for rows so far off that the fast evaluation claims nothing."""
    machine = some_machine(22, classes=3, n=30)
    machine.nr_sv = [28, 1, 1]
    machine.coef[28:] *= 1e-6
    found = reduce(machine, 2)
    assert found.model.header.nr_sv[1:] == [0, 0]
    rows = [{1: 1.0}, {1: 1e20}, {1: 1e150}]
    value, radius = decide(found.model, parse(rows))
    assert not np.isnan(radius).any()
    assert np.all(np.abs(value - reference(exact_model(machine), parse(rows))) <= radius)


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


# ---- predict --exact


def exact_lines(machine, count, rows, *, probability=False, allowed=0.0, **options):
    model = reduce(machine, count, **options).model
    return lines(model, [parse(rows)], probability=probability, exact=Fallback(lambda: exact_model(machine), allowed))


@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("nu_svc", 3), ("c_svc", 4), ("one_class", 2)])
def test_exact_lines_are_libsvms(tmp_path, svm_type, classes, probability):
    settled = seen = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        machine = some_machine(
            seed,
            svm_type,
            classes,
            n=int(rng.integers(10, 30)),
            d=2,
            gamma=float(10 ** rng.uniform(-3, -0.5)),
            probability=probability,
        )
        (tmp_path / "m").write_bytes(machine.text())
        rows = [*random_rows(rng, 20, [1, 2, 3]), *machine.vectors[:10], {}, {1000: 1e5}]
        ours, tally = exact_lines(machine, 8, rows, probability=probability)
        assert [line.split() for line in ours] == Libsvm(tmp_path / "m").lines(rows, probability), seed
        settled, seen = settled + tally.rows - tally.evaluated, seen + tally.rows
    if probability and classes > 2:
        assert settled == 0
    assert settled > 0.1 * seen or probability


@pytest.mark.parametrize("tolerance", [0.0, 1e-9, 1.0])
def test_exact_regression_values_are_within_the_tolerance(tolerance):
    proven = 0
    for seed in range(4):
        machine = some_machine(seed, "nu_svr", n=25, d=2, gamma=0.05)
        rows = [*random_rows(np.random.default_rng(seed), 20, [1, 2, 3]), *machine.vectors[:10]]
        ours, tally = exact_lines(machine, 10, rows, allowed=tolerance)
        assert np.all(np.abs(np.array(ours, float) - reference(exact_model(machine), parse(rows))[:, 0]) <= tolerance)
        proven += tally.rows - tally.evaluated
    assert proven > 0 or tolerance < 1e-3


@pytest.mark.parametrize(
    "name, count", [("rings", 80), ("rings-probability", 80), ("rings-one-class", 20), ("colors", 60)]
)
def test_the_command_gives_the_exact_models_lines_to_the_byte(fastsvm, trained, reduced, name, count):
    model, test = trained[name]
    for options in ([], ["-b", 1]) if "probability" in name else ([],):
        exact = fastsvm("predict", "-q", *options, test, model).out
        done = fastsvm("predict", *options, "--exact", model, test, reduced(name, count))
        assert done.out == exact != fastsvm("predict", "-q", *options, test, reduced(name, count)).out
        proven, rows = map(int, re.search(r"Proven: (\d+) of (\d+) rows", done.err).groups())
        assert rows == len(exact.splitlines()) - bool(options)
        assert proven > 0 or options  # six digits of a probability ask for more than a label


def test_the_command_keeps_a_regression_value_within_the_tolerance(fastsvm, trained, reduced):
    model, test = trained["waves"]
    exact = np.array(fastsvm("predict", "-q", test, model).out.split(), float)
    for tolerance in (1e-9, 100):
        ours = np.array(
            fastsvm(
                "predict", "-q", "--exact", model, "--tolerance", tolerance, test, reduced("waves", 20)
            ).out.split(),
            float,
        )
        assert np.all(np.abs(ours - exact) <= tolerance * (1 + 1e-9)) and np.any(ours != exact) == (tolerance == 100)


@pytest.mark.parametrize("name", ["rings-probability", "colors-probability"])
def test_exact_probabilities_are_the_exact_models_also_where_those_of_the_set_were_fitted_anew(
    fastsvm, trained, reduced, name
):
    model, test = trained[name]
    refitted = reduced(name, 100, data=test)
    assert load_model(str(refitted)).header.probA != load_model(str(model)).header.probA
    assert (
        fastsvm("predict", "-q", "-b", 1, "--exact", model, test, refitted).out
        == fastsvm("predict", "-q", "-b", 1, test, model).out
    )


def test_the_scale_of_exact_regression_noise_is_the_exact_models(fastsvm, tmp_path, trained, reduced):
    model, test = trained["waves"]
    refitted = reduced("waves", 10, data=test)
    assert load_model(str(refitted)).header.probA[0] > 1.05 * load_model(str(model)).header.probA[0]
    said = [
        fastsvm("predict", "-b", 1, *options, test, file, "out").out.splitlines()[:2]
        for options, file in (([], model), (["--exact", model, "--tolerance", 0.1], refitted))
    ]
    assert said[0] == said[1] and "sigma=" in said[0][1]


def test_another_exact_model_is_refused(fastsvm, tmp_path, trained, reduced):
    done = fastsvm("predict", "--exact", trained["rings-nu"][0], trained["rings"][1], reduced("rings"), "out", code=1)
    assert (
        done.err
        == f"Error: {trained['rings-nu'][0]}: this is not the model that {reduced('rings')} was compiled from (their"
        " fingerprints differ)\n"
    )
    assert os.listdir(tmp_path) == []


def test_a_reduced_set_may_itself_be_the_exact_model(fastsvm, tmp_path):
    """Its labels, then, and still by the fast evaluation where that settles them."""
    machine = some_machine(23, n=60, d=2)
    text = reduce(machine, 8, finishing=False).model.to_text()
    (tmp_path / "first").write_bytes(text)
    second = compile_reduced_set(
        parse_model(text, "first"), fingerprint=fingerprint(text), count=5, finishing=False
    ).model
    (tmp_path / "second").write_bytes(second.to_text())
    (tmp_path / "rows").write_bytes(data_text(random_rows(np.random.default_rng(23), 200, [1, 2], scale=2)))
    summary = json.loads(fastsvm("predict", "--json", "--exact", "first", "rows", "second", "out").out)
    assert (
        (tmp_path / "out").read_text()
        == fastsvm("predict", "-q", "rows", "first").out
        != fastsvm("predict", "-q", "rows", "second").out
    )
    assert 0 < summary["rows_evaluated"] < 200
    assert summary["rows_by_reference_sum"] < 0.1 * summary["rows_evaluated"]


# ---- a reduced set by itself


def reduced_text(machine):
    """The machine's file, as one of a reduced set."""
    origin = [
        "fastsvm_reduced",
        "1",
        "0" * 32,
        "60",
        "6",
        *["0.5"] * len(machine.pairs),
        *["10.0"] * len(machine.pairs),
    ]
    return machine.text() + " ".join(origin).encode() + b"\n"


@pytest.mark.parametrize("asked", [False, True], ids=["labels", "values"])
def test_labels_are_those_of_svm_predict_where_rounding_decides(tmp_path, asked):
    machine, rows = mirrored(np.random.default_rng(24), "rbf")
    (tmp_path / "m").write_bytes(reduced_text(machine))
    theirs = Libsvm(tmp_path / "m")
    expected = [line[0] for line in theirs.lines(rows)]
    assert len(set(expected)) == 2
    ours, _ = lines(load_model(str(tmp_path / "m")), [parse(rows)], values=asked)
    assert [line.split()[0] for line in ours] == expected


def test_rows_whose_probabilities_rounding_decides_keep_their_radius(tmp_path):
    """Three classes at the brink of one more iteration of the coupling: LIBSVM's sum is asked for, and it is that of
    the reduced set."""
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
        ours, tally = lines(model, [parse(rows)], probability=True, values=True)
        doubtful += tally.reference_rows
        assert [line.split()[:4] for line in ours] == theirs.lines(rows, True)
        assert all(float(radius) >= 0.5 for line in ours[1:] for radius in line.split()[-3:])
        if doubtful:
            return
    pytest.fail("no row at a brink found")


def test_a_reduced_set_is_compiled_ordered_and_reduced_like_any_libsvm_model(fastsvm, tmp_path, trained, reduced):
    small, test = reduced("colors", 20), trained["colors"][1]
    fastsvm("reduce", "-q", "--vectors", 10, small, "again")
    fastsvm("approx", "-q", small, "approx")
    fastsvm("order", "-q", "--method", "triangle", small, "order")
    assert fastsvm("predict", "-q", test, "order").out == fastsvm("predict", "-q", test, small).out
    assert split((tmp_path / "again").read_bytes())[1][1].decode() == fingerprint(small.read_bytes())
    assert "rows proven" in fastsvm("bound", test, small).out


# ---- probabilities fitted anew


def test_probabilities_are_fitted_by_platts_likelihood():
    """At the minimum of Lin, Lin and Weng's objective, of every pair, on the rows of its two classes."""
    for classes in (2, 3):
        machine = some_machine(25, classes=classes, probability=True)
        model = reduce(machine, 10).model
        rng = np.random.default_rng(25)
        rows = random_rows(rng, 300, [1, 2, 3, 4, 5])
        names = np.array(machine.label)[rng.integers(0, classes, 300)]
        names = np.where(rng.random(300) < 0.6, labels(model, [parse(rows)]), names)
        f = values(model, parse(rows))
        before = list(model.header.probA)
        refit(model, [parse(rows[:100], names[:100].tolist()), parse(rows[100:], names[100:].tolist())])
        assert model.header.probA != before
        for p, (i, j) in enumerate(machine.pairs):
            mine = np.isin(names, [machine.label[i], machine.label[j]])
            first = names[mine] == machine.label[i]
            positive, negative = first.sum(), (~first).sum()
            t = np.where(first, (positive + 1) / (positive + 2), 1 / (negative + 2))

            def objective(parameters):
                q = 1 / (1 + np.exp(parameters[0] * f[mine, p] + parameters[1]))
                return -np.sum(t * np.log(q) + (1 - t) * np.log(1 - q))

            best = np.array([model.header.probA[p], model.header.probB[p]])
            assert np.linalg.norm(approx_fprime(best, objective, 1e-7)) < 1e-2
            assert all(objective(best) < objective(best + step) for step in np.vstack([np.eye(2), -np.eye(2)]) * 0.05)


def test_probabilities_of_pairs_that_do_not_occur_stay():
    machine = some_machine(26, classes=3, probability=True)
    model = reduce(machine, 10).model
    rows = random_rows(np.random.default_rng(26), 50, [1, 2, 3, 4, 5])
    refit(model, [parse(rows, [machine.label[k % 2] for k in range(50)])])
    assert model.header.probA[1:] == machine.probA[1:] and model.header.probA[0] != machine.probA[0]
    assert np.isfinite(model.header.probB).all()


def test_regression_noise_is_fitted_as_svm_train_does():
    machine = some_machine(27, "epsilon_svr", probability=True)
    model = reduce(machine, 10).model
    rng = np.random.default_rng(27)
    rows = random_rows(rng, 200, [1, 2, 3, 4, 5])
    f = values(model, parse(rows))[:, 0]
    y = f + rng.laplace(0, 0.3, 200)
    y[:3] += 40  # beyond five deviations: left out
    refit(model, [parse(rows, y.tolist())])
    error = np.abs(y - f)
    assert model.header.probA == [pytest.approx(error[error <= 5 * np.sqrt(2 * error.mean() ** 2)].mean(), rel=1e-9)]
    assert model.header.probA[0] < error.mean()


def test_the_marks_of_one_class_stay(fastsvm, tmp_path, trained):
    model, test = trained["rings-one-class-probability"]
    fastsvm("reduce", "-q", "--vectors", 5, "--data", test, model, "out")
    assert (
        load_model(str(tmp_path / "out")).header.prob_density_marks == load_model(str(model)).header.prob_density_marks
    )


# ---- lossless


def merged_machine(machine):
    """(machine, how many fewer): equal vectors (of a class, where there are more than two) added up, those of
    coefficient 0 left out."""
    of = (
        np.repeat(np.arange(machine.nr_class), machine.nr_sv)
        if machine.classification
        else np.zeros(len(machine.vectors), int)
    )
    sums, where = {}, {}
    for at, (x, a) in enumerate(zip(machine.vectors, machine.coef)):
        key = (of[at] if machine.nr_class > 2 else 0, frozenset((i, v) for i, v in x.items() if v))
        sums[key] = sums[key] + a if key in sums else a
        where.setdefault(key, at)
    kept = [key for key in sums if np.any(sums[key])]
    nr_sv = (
        [sum(of[where[key]] == c for key in kept) for c in range(machine.nr_class)] if machine.classification else []
    )
    return [(machine.vectors[where[key]], sums[key]) for key in kept], nr_sv


def with_duplicates(seed, svm_type, classes):
    """One vector in three repeats another, of any class, some of those with explicit zeros or coefficients that
    cancel."""
    rng = np.random.default_rng(seed)
    machine = some_machine(seed, svm_type, classes, n=45, probability=True)
    if machine.nr_sv:
        machine.nr_sv = [45 // classes] * (classes - 1) + [45 - 45 // classes * (classes - 1)]
    for at in range(0, 45, 3):
        other = int(rng.integers(45))
        machine.vectors[at] = dict(machine.vectors[other])
        if at % 2:
            machine.vectors[at][7] = 0.0
        if at % 5 == 0 and other != at:
            machine.vectors[other] = {2: 0.5, 3: float(at)}
            machine.vectors[at] = {1: 0.0, 2: 0.5, 3: float(at), 9: -0.0}
            machine.coef[other] = -machine.coef[at]
    return machine


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_lossless_merges_equal_vectors_and_changes_nothing_else(svm_type, classes):
    merged = 0
    for seed in range(5):
        machine = with_duplicates(seed, svm_type, classes)
        exact = exact_model(machine)
        model = lossless(exact, "x").model
        assert model.header.total_sv == model.vectors.rows
        small, words = split(model.to_text())
        expected, nr_sv = merged_machine(machine)
        assert [{i: v for i, v in x.items() if v} for x in small.vectors] == [
            {i: v for i, v in x.items() if v} for x, _ in expected
        ]
        np.testing.assert_allclose(small.coef, [a for _, a in expected], rtol=1e-14)
        assert small.nr_sv == nr_sv
        for key in ("svm_type", "kernel", "gamma", "rho", "label", "probA", "probB", "marks"):
            assert getattr(small, key) == getattr(machine, key), key
        rows = [*random_rows(np.random.default_rng(seed), 20, [1, 2, 3, 4, 5, 7]), *machine.vectors[:20]]
        truth = oracles.decision_values(machine, rows)
        assert np.abs(oracles.decision_values(small, rows) - truth).max() < 1e-9
        assert np.all(
            np.abs(oracles.decision_values(small, rows) - truth) <= np.array(words[4 : 4 + len(machine.pairs)], float)
        )
        assert np.array(words[4 : 4 + len(machine.pairs)], float).max() < 1e-11
        assert np.abs(values(model, parse(rows)) - values(exact, parse(rows))).max() < 1e-9
        count = merge_duplicates(exact)[1]
        assert count == 45 - len(expected)
        merged += count
    assert merged > 10


def test_lossless_merges_across_two_classes_and_only_within_one_of_more():
    twins = [{1: 1.0}, {1: 2.0}, {1: 1.0}, {1: 3.0}]
    two = Machine(
        "c_svc", "rbf", twins, np.array([[2.0], [1.0], [-0.5], [-1.0]]), [0.1], gamma=0.5, label=[1, -1], nr_sv=[2, 2]
    )
    small, _ = split(lossless(exact_model(two), "x").model.to_text())
    assert (
        small.vectors == [{1: 1.0}, {1: 2.0}, {1: 3.0}]
        and small.coef[:, 0].tolist() == [1.5, 1.0, -1.0]
        and small.nr_sv == [2, 1]
    )
    three = Machine("c_svc", "rbf", twins, np.ones((4, 2)), [0.1] * 3, gamma=0.5, label=[1, 2, 3], nr_sv=[2, 1, 1])
    small, _ = split(lossless(exact_model(three), "x").model.to_text())
    assert small.vectors == twins and small.nr_sv == [2, 1, 1]
    three.nr_sv = [3, 1, 0]
    small, _ = split(lossless(exact_model(three), "x").model.to_text())
    assert (
        small.vectors == [{1: 1.0}, {1: 2.0}, {1: 3.0}]
        and small.coef.tolist() == [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]]
        and small.nr_sv == [2, 1, 0]
    )


def test_vectors_that_all_cancel_leave_a_model_without_vectors(svm_predict, fastsvm, tmp_path):
    machine = Machine(
        "c_svc", "rbf", [{1: 1.0}, {1: 1.0}], np.array([[2.0], [-2.0]]), [0.25], gamma=0.5, label=[3, -4], nr_sv=[1, 1]
    )
    (tmp_path / "m").write_bytes(machine.text())
    (tmp_path / "rows").write_bytes(data_text([{1: 1.0}, {2: 1.0}]))
    assert (
        "2 support vectors, 2 of them equal to others or of coefficient 0 -> 0 vectors\n"
        in fastsvm("reduce", "--lossless", "m", "small").out
    )
    (theirs, _), (ours, _) = run_both(svm_predict, fastsvm, tmp_path, "rows", "small")
    assert ours == theirs == "-4\n-4\n"
    fastsvm("reduce", "--vectors", 1, "m", "small")


@pytest.mark.parametrize(
    "svm_type, option", [("c_svc", ["--lossless"]), ("one_class", ["--lossless"]), ("epsilon_svr", ["--vectors", 1])]
)
def test_duplicates_of_every_svm_type_are_merged_by_the_command(fastsvm, tmp_path, svm_type, option):
    """A process of its own: a wrong count of vectors ends it."""
    machine = Machine(
        svm_type, "rbf", [{1: 1.0}, {1: 1.0}, {2: 1.0}], np.array([[1.0], [0.5], [0.25]]), [0.1], gamma=0.5
    )
    if svm_type == "c_svc":
        machine.label, machine.nr_sv = [1, -1], [2, 1]
    (tmp_path / "m").write_bytes(machine.text())
    (tmp_path / "rows").write_bytes(data_text(machine.vectors))
    done = fastsvm("reduce", *option, "m", "small")
    small, _ = split((tmp_path / "small").read_bytes())
    assert (
        f"3 support vectors, 1 of them equal to others or of coefficient 0 -> {len(small.vectors)} vectors\n"
        in done.out
    )
    assert len(small.vectors) == (2 if option == ["--lossless"] else 1)
    head = (tmp_path / "small").read_text().split("SV\n")[0].splitlines()
    assert f"total_sv {len(small.vectors)}" in head
    exact = [fastsvm("predict", "-q", "rows", "m").out.split(), fastsvm("predict", "-q", "rows", "small").out.split()]
    if option == ["--lossless"]:
        np.testing.assert_allclose(np.array(exact[0], float), np.array(exact[1], float), rtol=1e-12)


def test_a_trained_model_with_duplicates_is_reduced_without_loss(fastsvm, tmp_path):
    y, x = svm_read_problem(str(DATA / "rings.train"))
    svm_save_model(str(tmp_path / "m"), svm_train(y[:200] + y[:100], x[:200] + x[:100], "-q -g 0.5 -c 1"))
    done = fastsvm("reduce", "--lossless", "m")
    machine, (small, _) = Machine.read((tmp_path / "m").read_bytes()), split((tmp_path / "m.reduced").read_bytes())
    expected, _ = merged_machine(machine)
    assert len(small.vectors) == len(expected) < len(machine.vectors) - 20
    first = (
        f"{len(machine.vectors)} support vectors, {len(machine.vectors) - len(expected)} of them equal to others or of"
        f" coefficient 0 -> {len(expected)} vectors"
    )
    assert (
        done.out.splitlines()[0] == first
        and "labels that differ on the support vectors: 0 of" in done.out
        and "squared distance" not in done.out
    )
    rows = [{k: v for k, v in row.items() if v} for row in x[300:400]]
    assert np.abs(oracles.decision_values(machine, rows) - oracles.decision_values(small, rows)).max() < 1e-9


# ---- how many


@pytest.mark.parametrize(
    "name, target, where",
    [
        ("rings", 0.03, "data"),
        ("rings", 0.1, "support vectors"),
        ("colors", 0.1, "data"),
        ("rings-one-class", 0.1, "support vectors"),
        ("waves", 0.1, "data"),
        ("waves-nu", 0.01, "support vectors"),
    ],
)
def test_a_target_is_kept_with_fewer_vectors(trained, name, target, where):
    model, test = trained[name]
    exact = load_model(str(model))
    chunks = list(read_chunks(str(test))) if where == "data" else [exact.vectors]
    found = grow(exact, target, chunks, fingerprint="x").model
    a, b = labels(exact, chunks), labels(parse_model(found.to_text(), "reduced"), chunks)
    assert (np.sqrt(np.mean((a - b) ** 2)) if name.startswith("waves") else np.mean(a != b)) <= target
    assert 0 < found.header.total_sv < exact.header.total_sv * 0.8
    if where == "data" and name == "rings":
        assert found.header.total_sv > grow(exact, 0.3, chunks, fingerprint="x").model.header.total_sv


def test_a_target_that_only_the_whole_model_keeps_gives_the_whole_model():
    machine = some_machine(28, "epsilon_svr", n=20, gamma=50.0)
    found = grow(exact_model(machine), 1e-14, [exact_model(machine).vectors], fingerprint="x")
    assert machine_of(found).vectors == machine.vectors and found.distance == 0


@pytest.mark.parametrize("options", [["--ratio", 0.1], ["--vectors", 100000]])
def test_a_ratio_and_more_vectors_than_there_are(fastsvm, tmp_path, trained, options):
    model, test = trained["rings"]
    total = load_model(str(model)).header.total_sv
    wanted = round(0.1 * total) if options[0] == "--ratio" else total
    done = fastsvm("reduce", *options, model, "out")
    assert done.out.startswith(f"{total} support vectors -> {wanted} vectors\n")
    small, _ = split((tmp_path / "out").read_bytes())
    assert len(small.vectors) == wanted
    if wanted == total:
        assert small.vectors == Machine.read(model.read_bytes()).vectors
        assert "squared distance 0 of |Psi|^2" in done.out


def test_a_target_by_the_command(fastsvm, tmp_path, trained):
    model, test = trained["rings-probability"]
    done = fastsvm("reduce", "--target", 0.03, "--data", test, model, "out")
    differ, rows = map(int, re.search(r"labels that differ on \S+: (\d+) of (\d+) \(", done.out).groups())
    assert rows == 6000 and 0 < differ <= 0.03 * 6000
    a, b = (fastsvm("predict", "-q", test, file).out.split() for file in (model, "out"))
    assert sum(x != y for x, y in zip(a, b, strict=True)) == differ
    assert load_model(str(tmp_path / "out")).header.probA != load_model(str(model)).header.probA


def tiny(svm_type, total, classes=2):
    machine = Machine(
        svm_type, "rbf", [{1: 1.0, 3: -0.5}][:total], np.array([[0.7]] * total).reshape(total, 1), [0.3], gamma=0.5
    )
    if svm_type == "c_svc":
        machine.label, machine.nr_sv = [1, -1], [total, 0]
    return machine


@pytest.mark.parametrize("svm_type", ["c_svc", "one_class", "nu_svr"])
@pytest.mark.parametrize("total", [0, 1])
def test_a_model_of_no_or_one_support_vector_stays_what_it_is(svm_type, total):
    machine = tiny(svm_type, total)
    exact = exact_model(machine)
    made = [
        reduce(machine, count, init=init, optimizer=optimizer)
        for count in (1, 5)
        for init in INITS
        for optimizer in OPTIMIZERS
    ]
    made.append(grow(exact, 1e-3, [exact.vectors], fingerprint="x"))
    for found in made:
        small, words = split(found.model.to_text())
        assert (small.vectors, small.coef.tolist(), small.rho, small.nr_sv) == (
            machine.vectors,
            machine.coef.tolist(),
            machine.rho,
            machine.nr_sv,
        )
        assert float(words[4]) < 1e-15 and not found.missing


def test_a_model_of_a_single_class_and_one_without_vectors_by_the_command(fastsvm, tmp_path):
    machine = Machine("c_svc", "rbf", [], np.zeros((0, 0)), [], gamma=0.5, label=[7], nr_sv=[0])
    (tmp_path / "single").write_bytes(machine.text())
    (tmp_path / "empty").write_bytes(tiny("nu_svr", 0).text())
    (tmp_path / "rows").write_bytes(data_text([{1: 1.0}, {}]))
    for name, option, value in (("single", ["--target", 0.1], 7), ("empty", ["--vectors", 3], -0.3)):
        done = fastsvm("reduce", *option, name)
        assert done.out.startswith("0 support vectors -> 0 vectors\n") and done.err == ""
        assert [float(word) for word in fastsvm("predict", "-q", "rows", f"{name}.reduced").out.split()] == [value] * 2
    assert fastsvm("predict", "-q", "--exact", "single", "rows", "single.reduced").out == "7\n7\n"


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e3])
def test_kernels_that_do_not_tell_vectors_apart_or_nothing_else(gamma):
    for svm_type, classes in (("c_svc", 2), ("c_svc", 3), ("nu_svr", 2)):
        machine = some_machine(29, svm_type, classes, n=20, gamma=gamma)
        for init in INITS:
            small, words = split(reduce(machine, 6, init=init if classes == 2 else "greedy").model.to_text())
            assert 1 <= len(small.vectors) <= 6
            rows = [{1: 0.5}, *small.vectors, *machine.vectors]
            error = np.abs(oracles.decision_values(machine, rows) - oracles.decision_values(small, rows))
            assert np.all(error <= np.array(words[4 : 4 + len(machine.pairs)], float))
            if gamma < 1:
                assert error.max() < 1e-6
