"""Border samples of random models: roots of the decision function, with its gradient."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.border.signed_distance import compile_border
from fastsvm_cli.models import parse_model
from support import oracles
from support.bordering import CASES, KERNELS, as_row, check_samples, machine_of
from support.evaluation import parse
from support.oracles import BorderFile, Machine, random_machine, random_rows


@pytest.mark.full(few=4)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("svm_type, classes, probability", CASES)
def test_every_stored_sample_is_a_root_and_its_normal_the_gradient(name, svm_type, classes, probability):
    rng = np.random.default_rng([7, len(name), classes, probability])
    vectors = random_rows(rng, 70, [1, 2, 5], density=0.9)
    machine = machine_of(rng, name, vectors, svm_type, nr_class=classes, probability=probability)
    machine.nr_sv = [70 // classes + (c < 70 % classes) for c in range(classes)] if machine.classification else []
    # so that a border exists
    machine.rho = np.median(
        oracles.kernel_values(machine, vectors).astype(float) @ machine.pair_coefficients.T, axis=0
    ).tolist()
    chunks = (
        [parse(random_rows(rng, 60, [1, 2, 3, 5]), [5, 6] * 30)] if svm_type == "one_class" or classes == 3 else None
    )
    model = parse_model(machine.text(), "m")
    for raw in (False, True) if probability else (False,):
        found = compile_border(model, fingerprint="f", count=12, chunks=chunks, raw=raw)
        assert check_samples(machine, found.model.to_text(), raw=raw) >= (0 if name == "constant" else 3)
        assert found.model.header.lines() == model.header.lines()


@pytest.mark.parametrize(
    "scale, away, tolerance",
    [
        (1.0, 0.0, 1e-9),
        (1.0, 1000.0, 1e-4),
        (1e-8, 0.0, 1e-4),
        (1e12, 0.0, 1e-4),
        (1e30, 0.0, 1e-4),
        (1e45, 0.0, 1e-4),
        (1e-45, 0.0, 1e-4),
        (1.0, 1e6, 1e-4),
    ],
)
def test_samples_are_roots_whatever_the_unit_and_the_origin(scale, away, tolerance):
    rng = np.random.default_rng(8)
    vectors = [as_row((scale * row + away).tolist()) for row in rng.standard_normal((60, 2))]
    machine = random_machine(rng, "c_svc", "rbf", vectors, gamma=0.5 / scale**2)
    machine.rho, machine.coef = [0.0], np.where(np.arange(60) % 2, 3.0, -3.0)[:, None]
    text = compile_border(
        parse_model(machine.text(), "m"), fingerprint="f", count=20, tolerance=tolerance
    ).model.to_text()
    border = BorderFile.read(text)
    assert len(border.samples[0]) >= 10
    f = oracles.decision_values(machine, border.points(0))
    assert np.all(np.abs(f) <= tolerance), float(np.abs(f).max())
    slopes = [
        oracles.slope(lambda at: oracles.decision_values(machine, [as_row(at)])[0, 0], z, 1e-6 * scale) * scale
        for z in border.samples[0][:3, 0]
    ]
    np.testing.assert_allclose(
        (border.samples[0][:3, 1] * scale).astype(float), np.array(slopes, float), rtol=1e-3, atol=1e-4
    )


@pytest.mark.full
def test_samples_are_roots_in_the_digits_that_are_stored():
    """Where a function is steep, rounding moves a point off its root."""
    rng = np.random.default_rng(0)
    vectors = [as_row(row) for row in rng.standard_normal((60, 3)).tolist()]
    machine = Machine(
        "c_svc",
        "rbf",
        vectors,
        np.where(np.arange(60) % 2, 300.0, -300.0)[:, None],
        [0.0],
        gamma=2.0,
        label=[1, -1],
        nr_sv=[30, 30],
    )
    model, beyond = parse_model(machine.text(), "m"), []
    for tolerance in np.geomspace(1e-5, 5e-4, 60).tolist():
        border = BorderFile.read(compile_border(model, fingerprint="f", count=20, tolerance=tolerance).model.to_text())
        worst = float(np.abs(oracles.decision_values(machine, border.points(0))).max())
        beyond += [(tolerance, worst, *border.header["precision"])] if worst > tolerance else []
    assert beyond == []


def test_tiny_normals_are_not_lost_in_single_precision():
    rng = np.random.default_rng(9)
    x = rng.standard_normal((60, 2))
    machine = Machine(
        "c_svc",
        "rbf",
        list(map(as_row, x)),
        np.where(np.arange(60) < 30, 1e-50, -1e-50)[:, None],
        [0.0],
        gamma=0.5,
        label=[1, -1],
        nr_sv=[30, 30],
    )
    border = BorderFile.read(
        compile_border(parse_model(machine.text(), "m"), fingerprint="f", tolerance=1e-55, count=20).model.to_text()
    )
    assert len(border.samples[0]) and np.all(np.abs(border.samples[0][:, 1]).max(axis=1) > 0)


@pytest.mark.full
def test_near_duplicates_are_skipped_from_the_first_sample_on():
    """A line has one root; its samples differ by rounding only."""
    rows = [{1: 1 + i / 30} for i in range(30)] + [{1: -1 - i / 30} for i in range(30)]
    machine = Machine(
        "c_svc",
        "rbf",
        rows,
        np.array([0.5] * 30 + [-0.5] * 30)[:, None],
        [0.1],
        gamma=0.5,
        label=[1, -1],
        nr_sv=[30, 30],
    )
    for sampling in ("refined", "dense", "random"):
        found = compile_border(parse_model(machine.text(), "m"), fingerprint="f", sampling=sampling)
        points = BorderFile.read(found.model.to_text()).samples[0][:, 0, 0]
        assert found.short == 1 and len(points) == 1, points[:5]


@pytest.mark.full
def test_refined_samples_beat_random_ones_and_more_samples_beat_fewer_on_unseen_rows(wavy):
    model = parse_model(wavy[0].read_bytes(), "m")
    train, test = (_native.parse(path.read_bytes())[0] for path in wavy[1:])
    out = _native.Decisions(1)
    model.decision_values(test, out)
    exact = np.array(out.value)[:, 0] > 0

    def wrong(sampling, count):
        shares = []
        for seed in range(3):
            compile_border(
                model, fingerprint="f", sampling=sampling, count=count, chunks=[train], seed=seed
            ).model.decision_values(test, out)
            shares.append(np.mean((np.asarray(out.value)[:, 0] > 0) != exact))
        return float(np.mean(shares))

    refined, at_random = ([wrong(sampling, count) for count in (10, 30, 100)] for sampling in ("refined", "random"))
    assert all(ours <= 0.8 * theirs for ours, theirs in zip(refined, at_random)), (refined, at_random)
    assert refined == sorted(refined, reverse=True) and at_random == sorted(at_random, reverse=True)
    assert refined[-1] <= 0.01 and refined[0] - refined[1] > 3 * (refined[1] - refined[2])  # diminishing returns


@pytest.mark.full
def test_a_border_with_room_for_more_samples_gives_them_to_every_sampling(wavy):
    """Thousands of lines connect 200 rows."""
    model = parse_model(wavy[0].read_bytes(), "m")
    train = _native.parse(b"".join(wavy[1].read_bytes().splitlines(keepends=True)[:200]))[0]
    counts = {
        sampling: (
            compile_border(model, fingerprint="f", sampling=sampling, count=300, chunks=[train]).model.samples[0].count
        )
        for sampling in ("random", "dense", "refined")
    }
    assert counts["random"] == 300 and min(counts.values()) >= 250, counts
