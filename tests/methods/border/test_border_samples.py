"""Border samples of random models: roots of the decision function, with its gradient."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.border import borders
from fastsvm_cli.methods.border.borders import compile_border
from fastsvm_cli.models import parse_model
from support import oracles
from support.bordering import KERNELS, as_row, border_of, check_samples, compiled, machine_of, two_sided
from support.evaluation import parse
from support.messages import cases
from support.oracles import BorderFile, random_machine, random_rows

CASES = cases("border samples")
assert {name for name, *_ in CASES} == set(KERNELS)


@pytest.mark.full(few=4)
@pytest.mark.parametrize("name, svm_type, classes, probability", CASES)
def test_every_stored_sample_is_a_root_and_its_normal_the_gradient(monkeypatch, name, svm_type, classes, probability):
    rng = np.random.default_rng([7, len(name), classes, probability])
    vectors = random_rows(rng, 70, [1, 2, 5], density=0.9)
    machine = machine_of(rng, name, vectors, svm_type, nr_class=classes, probability=probability)
    machine.nr_sv = [70 // classes + (c < 70 % classes) for c in range(classes)] if machine.classification else []
    # so that a border exists
    sums = oracles.kernel_values(machine, vectors).astype(float) @ machine.pair_coefficients.T
    machine.rho = np.median(sums, axis=0).tolist()
    drawn = svm_type == "one_class" or classes == 3
    chunks = [parse(random_rows(rng, 60, [1, 2, 3, 5]), [5, 6] * 30)] if drawn else None
    for raw in (False, True) if probability else (False,):
        found = compiled(machine, samples=12, chunks=chunks, raw=raw)
        assert found.model.header.lines() == parse_model(machine.text(), "m").header.lines()
        for precise in ({}, {"tolerance": 1e-10}):
            monkeypatch.setattr(borders, "CLOUD_CELLS", 0 if precise else 1 << 25)  # sparse vectors, too
            border = border_of(machine, samples=12, chunks=chunks, raw=raw, **precise)
            count = check_samples(machine, border, raw=raw, **precise)
            assert count >= (0 if name == "constant" else 3)
            assert not count or border.header["precision"] == ["double" if precise else "single"]


@pytest.mark.parametrize("scale, away, tolerance", cases("borders far away"))
def test_samples_are_roots_whatever_the_unit_and_the_origin(scale, away, tolerance):
    rng = np.random.default_rng(8)
    vectors = [as_row((scale * row + away).tolist()) for row in rng.standard_normal((60, 2))]
    machine = random_machine(rng, "c_svc", "rbf", vectors, gamma=0.5 / scale**2)
    machine.rho, machine.coef = [0.0], np.where(np.arange(60) % 2, 3.0, -3.0)[:, None]
    border = border_of(machine, samples=20, tolerance=tolerance)
    assert len(border.samples[0]) >= 10
    f = oracles.decision_values(machine, border.points(0))
    assert np.all(np.abs(f) <= tolerance), float(np.abs(f).max())
    for z, normal in border.samples[0][:3]:
        slope = oracles.slope(lambda at: oracles.decision_values(machine, [as_row(at)])[0, 0], z, 1e-6 * scale)
        np.testing.assert_allclose(*((scale * each).astype(float) for each in (normal, slope)), rtol=1e-3, atol=1e-4)


@pytest.mark.full
def test_samples_are_roots_in_the_digits_that_are_stored():
    """Where a function is steep, rounding moves a point off its root."""
    rows = [as_row(row) for row in np.random.default_rng(0).standard_normal((60, 3)).tolist()]
    machine = two_sided(rows[1::2] + rows[::2], 300.0, 2.0)
    for tolerance in np.geomspace(1e-5, 5e-4, 40).tolist():
        border = border_of(machine, samples=20, tolerance=tolerance)
        worst = float(np.abs(oracles.decision_values(machine, border.points(0))).max())
        assert worst <= tolerance, border.header["precision"]


def test_tiny_normals_are_not_lost_in_single_precision():
    rows = list(map(as_row, np.random.default_rng(9).standard_normal((60, 2))))
    (samples,) = border_of(two_sided(rows, 1e-50, 0.5), tolerance=1e-55, samples=20).samples
    assert len(samples) and np.all(np.abs(samples[:, 1]).max(axis=1) > 0)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("sampling", ["refined", "dense", "random"])
def test_near_duplicates_are_skipped_from_the_first_sample_on(sampling):
    """A line has one root; its samples differ by rounding only."""
    machine = two_sided([{1: a * (1 + i / 30)} for a in (1, -1) for i in range(30)], 0.5, 0.5)
    machine.rho = [0.1]
    found = compiled(machine, sampling=sampling)
    assert found.short == 1 and len(BorderFile.read(found.model.to_text()).samples[0]) == 1


@pytest.mark.full
def test_refined_samples_beat_random_ones_and_more_samples_beat_fewer_on_unseen_rows(wavy):
    model = parse_model(wavy[0].read_bytes(), "m")
    train, test = (_native.parse(path.read_bytes())[0] for path in wavy[1:])
    out = _native.Decisions(1)
    model.decision_values(test, out)
    exact = np.array(out.value)[:, 0] > 0

    def wrong(sampling, count):
        how, shares = dict(fingerprint="f", sampling=sampling, samples=count, chunks=[train]), []
        for seed in range(3):
            compile_border(model, **how, seed=seed).model.decision_values(test, out)
            shares.append(np.mean((np.asarray(out.value)[:, 0] > 0) != exact))
        return float(np.mean(shares))

    refined, at_random = ([wrong(sampling, count) for count in (10, 30, 100)] for sampling in ("refined", "random"))
    assert all(ours <= 0.8 * theirs for ours, theirs in zip(refined, at_random)), (refined, at_random)
    assert refined == sorted(refined, reverse=True) and at_random == sorted(at_random, reverse=True)
    assert refined[-1] <= 0.01 and refined[0] - refined[1] > 3 * (refined[1] - refined[2])  # diminishing returns
    # Thousands of lines connect 200 rows: every sampling finds room for more samples.
    how = dict(fingerprint="f", samples=300, chunks=[train.select(list(range(200)))])
    for sampling, least in (("random", 300), ("dense", 250), ("refined", 250)):
        assert compile_border(model, sampling=sampling, **how).model.samples[0].count >= least
