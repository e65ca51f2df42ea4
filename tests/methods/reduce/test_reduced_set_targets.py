"""reduce --target: sizes decided on rows that the placement has not seen."""

import re

import numpy as np
import pytest

from fastsvm_cli._native import Chunk
from fastsvm_cli.comparisons import agreement, upper_bound
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.methods.reduce.target import among, reduce_to, without
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support import oracles
from support.evaluation import parse, values
from support.oracles import data_text
from support.paths import DATA
from support.reducing import TYPES, exact_model, machine_of, members, some_machine


def all_rows(path) -> Chunk:
    return Chunk.concatenate(list(read_chunks(str(path))))


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_a_model_without_some_vectors_knows_the_values_at_the_others_alone(svm_type, classes):
    """At one that is held out, the value is the interpolation of those at the others, computed densely."""
    machine = some_machine(31, svm_type, classes, n=40, gamma=0.5)
    model = exact_model(machine)
    held = np.arange(40) % 4 == 1
    rest = without(model, held, FeatureSpace(model))
    assert rest.header.total_sv == 30 and rest.header.rho == model.header.rho
    k = oracles.kernel_values(machine, machine.vectors).astype(float)
    truth, found = (values(each, model.vectors) for each in (model, rest))
    for p in range(len(machine.pairs)):
        own = members(machine, p) & ~held
        c = np.linalg.solve(k[np.ix_(own, own)], truth[own, p] + machine.rho[p])
        scale = 1 + np.abs(truth[:, p]).max()
        np.testing.assert_allclose(found[:, p], k[:, own] @ c - machine.rho[p], atol=0.02 * scale)
        assert np.abs(found - truth)[held, p].max() > 0.02 * scale  # it does not know them


@pytest.mark.parametrize("given", [False, True])
def test_vectors_that_are_all_held_out_are_merged(given):
    """If all vectors are equal, or all are among the rows of each half, none is left to place."""
    machine = some_machine(3, "c_svc", 2, n=12, gamma=0.5)
    if not given:
        machine.vectors = [machine.vectors[0]] * 12
    rows = parse(machine.vectors * 20) if given else None
    found = reduce_to(exact_model(machine), 0.3, rows, fingerprint="f" * 32, init="greedy", optimizer="none")
    assert found.model.header.total_sv == (12 if given else 1) and found.sample is None


def test_rows_among_others_are_known_by_six_digits_without_zeros():
    vectors = [{1: 0.123456789, 3: -2.0}, {2: 1e-30, 5: 7.0}, {}]
    known = [{1: 0.12345679, 2: 0.0, 3: -2.0}, {2: 1e-30, 5: 7.0}, {4: 0.0}]
    unknown = [{1: 0.12346, 3: -2.0}, {1: -2.0, 3: 0.123456789}]
    assert among(parse(known + unknown), parse(vectors)).tolist() == [True] * 3 + [False] * 2


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name, target", [("rings", 0.03), ("colors", 0.1), ("rings-one-class", 0.1), ("waves", 0.1)])
def test_a_target_holds_on_rows_that_nothing_has_seen(trained, name, target):
    model, test = trained[name]
    exact, rows = load_model(str(model)), all_rows(test)
    rows = rows.select(np.flatnonzero(~among(rows, exact.vectors)).tolist())  # waves has one file
    given, unseen = (rows.select(list(range(first, rows.rows, 2))) for first in (0, 1))
    found = reduce_to(exact, target, given, fingerprint="x")
    sample = found.sample
    assert sample.shortfall is None and sample.bound == target and sample.held == 0
    assert 0 < found.model.header.total_sv < exact.header.total_sv
    assert sample.measured.rows == sample.seen.rows == given.rows // 2
    seen = agreement(found.model, exact, [sample.measured])
    assert sample.seen.share == pytest.approx(seen.share)
    if not exact.header.regression:
        assert sample.seen.different == seen.different
        assert upper_bound(seen.different, seen.rows, 0.95) <= target
        assert all(each.share <= target for each in sample.seen.changed.classes)
    assert agreement(found.model, exact, [unseen]).share <= target


@pytest.mark.full
def test_rows_of_the_training_are_held_out_while_placing(trained):
    model, _ = trained["rings"]
    exact, rows = load_model(str(model)), all_rows(DATA / "rings.train").select(list(range(250)))
    sample = reduce_to(exact, 0.1, rows, fingerprint="x").sample
    assert 0 < sample.held == among(sample.measured, exact.vectors).sum() < sample.measured.rows
    rest = without(exact, among(exact.vectors, sample.measured), FeatureSpace(exact))
    assert rest.header.total_sv == exact.header.total_sv - sample.held
    assert sample.seen.changed.rows == sample.measured.rows
    found = np.sign(values(rest, sample.measured)[:, 0]) * rest.header.label[0]
    assert {each.label: each.rows for each in sample.seen.changed.classes} == {
        label: int((found == label).sum()) for label in (-1.0, 1.0)
    }


@pytest.mark.full
@pytest.mark.parametrize("name", ["rings", "waves"])
def test_without_rows_a_quarter_of_the_support_vectors_is_held_out(trained, name):
    exact = load_model(str(trained[name][0]))
    found = reduce_to(exact, 0.05, None, fingerprint="x")
    seen, total = found.sample.seen, exact.header.total_sv
    assert found.sample.bound is found.sample.measured is found.sample._replace(target=1e-9).shortfall is None
    assert seen.rows == found.sample.held == -(-total // 4) and seen.share <= 0.05
    assert found.model.header.total_sv < total


@pytest.mark.full
def test_too_few_rows_show_what_they_can(trained):
    model, test = trained["rings"]
    exact, rows = load_model(str(model)), all_rows(test).select(list(range(200)))
    sample = reduce_to(exact, 0.001, rows, fingerprint="x").sample
    assert sample.seen.different == 0 and sample.bound == upper_bound(0, 100, 0.96)
    assert (
        "100 rows to test on can show 3.17 % at best; give 6436 rows or more" in sample._replace(target=0.001).shortfall
    )
    assert sample._replace(target=0.04).shortfall is None


def test_a_target_that_only_the_whole_model_keeps_gives_the_whole_model():
    machine = some_machine(28, "epsilon_svr", n=20, gamma=50.0)
    for rows in (None, parse(machine.vectors)):
        found = reduce_to(exact_model(machine), 1e-14, rows, fingerprint="x")
        assert machine_of(found).vectors == machine.vectors and found.distance == 0
        assert "the model keeps all of them" in found.sample.shortfall


@pytest.mark.full
def test_targets_by_the_command(fastsvm, tmp_path, trained):
    model, test = trained["rings"]
    done = fastsvm("reduce", "--target", "3%", "--data", test, model, "out")
    line = r"labels that differ on the tested part of \S+: (\d+) of 3000 \(\S+ %\); with 95 % confidence at most 3 % of"
    assert int(re.search(line, done.out)[1]) <= 90 and done.err == "" and "held out" not in done.out, str(done)
    assert load_model(str(tmp_path / "out")).header.probA != load_model(str(model)).header.probA
    (tmp_path / "few").write_bytes(data_text([{1: 0.1}, {2: 0.2}]))
    done = fastsvm("reduce", "--target", "3%", "--data", "few", model, "out")
    assert done.err.startswith("Warning: the target of 3 % was not reached: 1 rows"), str(done)
    done = fastsvm("reduce", "--target", "3%", model, "out")
    assert "support vectors held out while placing: " in done.out and done.err == "", str(done)
