"""Reduced sets as LIBSVM models (Suttorp and Igel 2007), against the paper's equations in extended precision."""

import re

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem

from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support import oracles
from support.evaluation import parse
from support.in_process import Libsvm, run_both
from support.oracles import EXTENDED, Machine, random_machine
from support.reducing import (
    JOBS,
    TYPES,
    Dense,
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


@pytest.mark.full(few=1)
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


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", JOBS)
def test_the_libsvm_package_reads_a_reduced_set_and_gives_the_same_lines(trained, reduced, name):
    path = reduced(name)
    theirs, model = Libsvm(path), load_model(str(path))
    assert model.origin is not None
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


@pytest.mark.full(few=4)
@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_all_but_the_vectors_and_offsets_is_the_exact_models(svm_type, classes):
    machine = some_machine(1, svm_type, classes, probability=True)
    small, words = split(reduce(machine, 10).model.to_text())
    for key in ("svm_type", "kernel", "gamma", "label", "probA", "probB", "marks"):
        assert getattr(small, key) == getattr(machine, key), key
    assert len(small.vectors) == 10 and (not small.nr_sv or sum(small.nr_sv) == 10)
    assert set(small.features) <= set(machine.features)
    assert words[:5] == [b"2", fingerprint(machine.text()).encode(), b"40", b"5", *words[4:5]]
    assert len(words) == 4 + 2 * len(machine.pairs)


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


@pytest.mark.full(few=10)
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


@pytest.mark.full(few=5)
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
        assert abs(changed - rho) > 1e-9


@pytest.mark.full
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
        printed = float(
            re.fullmatch(
                rf"root mean square difference on {test}: (\S+) \([\d.e-]+ % of the spread of the values\)(; .*)?",
                first[3],
            )[1]
        )
        assert printed == pytest.approx(np.sqrt(np.mean((a - b) ** 2)), rel=0.006)
    else:
        assert first[3].startswith(f"labels that differ on {test}: {np.sum(a != b)} of {len(a)} (") and np.any(a != b)
        y = np.concatenate([np.asarray(chunk.leading)[:, 0] for chunk in chunks])
        assert f"({np.sum(b == y)}/{len(y)})" in first[4].split(";")[0]
        assert f"({np.sum(a == y)}/{len(y)})" in first[4].split(";")[1]
    warned = "Warning: values are off by " if name == "waves" else "Warning: "
    assert done.err == "" or (done.err.startswith(warned) and done.err.count("\n") == 1)


@pytest.mark.full(few=5)
@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_the_stored_radius_is_the_dense_one_rounded_up(svm_type, classes):
    """delta + |b' - b| of every decision function, with a large rho, which is in neither Psi."""
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


@pytest.mark.full(few=3)
@pytest.mark.parametrize("coefficient", [1e-8, 1.0, 1e8, 1e100])
def test_the_distance_is_a_share_whatever_the_size_of_the_coefficients(coefficient):
    machine = some_machine(7, n=20)
    machine.coef *= coefficient
    for count in (1, 10, 19):
        found = reduce(machine, count)
        assert 0 <= found.distance <= 1
        assert found.distance == pytest.approx(Dense(machine, machine_of(found)).share, rel=1e-4, abs=1e-9)


def test_the_distance_is_never_negative():
    """One vector replaces twins: rounding is left."""
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
