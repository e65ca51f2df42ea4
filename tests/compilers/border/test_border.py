"""What fastsvm border is made of: decision functions and their gradients, roots, border samples, the nearest one's
answer, files. The command: test_border_commands.py."""

import random
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli.compilers.border.compile import compile_border
from fastsvm_cli.compilers.border.gradients import DensityFunction, MachineFunction
from fastsvm_cli.compilers.border.roots import roots_between
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.kernel import Kernel
from fastsvm_cli.prediction.pipeline import predict
from support import oracles
from support.bordering import TEXT, as_row, check_samples, numbers, values_of, wavy_files
from support.evaluation import fault_of, parse
from support.oracles import EXTENDED, BorderFile, Machine, border_values, data_text, random_machine, random_rows
from support.processes import PATIENCE
from support.sealing import sealed

KERNELS = {
    "linear": {},
    "rbf": {"gamma": 0.4},
    "sigmoid": {"gamma": 0.3, "coef0": -0.2},
    "constant": {"gamma": 0.5, "coef0": 1.0, "degree": 0},
    "straight": {"gamma": 0.5, "coef0": 1.0, "degree": 1},
    "polynomial": {"gamma": 0.5, "coef0": -0.3, "degree": 3},
}


def machine_of(rng, name, vectors, svm_type="c_svc", **options):
    return random_machine(
        rng, svm_type, "polynomial" if name in ("constant", "straight") else name, vectors, **options, **KERNELS[name]
    )


# ---- gradients


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_value_and_gradient_of_every_kernel_are_libsvms(name, sparse):
    rng = np.random.default_rng([1, len(name)])
    vectors = random_rows(rng, 30, [1, 2, 3, 4], density=0.7)
    machine, z = machine_of(rng, name, vectors), rng.standard_normal((12, 4))
    z[:2] = numbers(vectors[:2], 4)
    x = numbers(vectors, 4)
    function = MachineFunction(
        scipy.sparse.csr_matrix(x) if sparse else x,
        machine.pair_coefficients[0],
        machine.rho[0],
        Kernel(machine.kernel, machine.gamma, machine.coef0, machine.degree),
    )
    value, gradient = function.value_and_gradient(z)
    assert value.shape == (12,) and gradient.shape == (12, 4)
    assert value == pytest.approx(values_of(parse_model(machine.text(), "m"), list(map(as_row, z)))[:, 0], abs=1e-11)
    expected = [oracles.slope(lambda at: oracles.decision_values(machine, [as_row(at)])[0, 0], row, 1e-6) for row in z]
    np.testing.assert_allclose(gradient, np.array(expected, float), rtol=1e-7, atol=1e-8)
    assert np.abs(gradient).max() > 0.1 or name == "constant"


def test_many_points_at_a_time_give_what_each_gives_alone(monkeypatch):
    monkeypatch.setattr("fastsvm_cli.compilers.border.gradients._BLOCK_CELLS", 70)
    rng = np.random.default_rng(2)
    x, z, y = rng.standard_normal((30, 3)), rng.standard_normal((17, 3)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    for function in (
        MachineFunction(x, y, 0.1, Kernel("rbf", 0.5)),
        DensityFunction(x, y, 0.7),
        DensityFunction(x, y, None, 4.0),
    ):
        value, gradient = function.value_and_gradient(z)
        alone = [function.value_and_gradient(row[None]) for row in z]
        assert value == pytest.approx(
            np.array([each[0][0] for each in alone]), abs=1e-12
        ) and gradient == pytest.approx(np.array([each[1][0] for each in alone]), abs=1e-10)


@pytest.mark.parametrize(
    "bandwidth, weight", [(0.3, None), (2.0, None), (None, 0.2), (None, 1.0), (None, 8.0), (None, 38.0), (None, 39.99)]
)
@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1, 1e100])
def test_density_estimates_and_their_gradients_match_the_formula(bandwidth, weight, scale):
    rng = np.random.default_rng([3, int(np.log10(scale)) + 200])
    x, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.4, 1.0, -1.0)
    x[30:] = x[:10]  # duplicates, some of the other class
    z = np.vstack([rng.standard_normal((6, 3)), x[12:14] + 1e-3, 4 * rng.standard_normal((2, 3))])
    function = DensityFunction(x * scale, y, bandwidth and bandwidth * scale, weight or 0.0)
    value, gradient = function.value_and_gradient(z * scale)
    expected = [oracles.density(x, y, row, bandwidth, weight) for row in z]
    assert value == pytest.approx(np.array(expected, float), abs=1e-9)
    slopes = np.array(
        [oracles.slope(lambda at: oracles.density(x, y, at, bandwidth, weight), row, 1e-7) for row in z[:8]], float
    )
    np.testing.assert_allclose(gradient[:8] * scale, slopes, atol=1e-6 * (1 + np.abs(slopes).max()))
    if weight:
        h = function.bandwidths(z * scale) / scale
        assert [float(oracles.density_weights(x, row, width).sum()) for row, width in zip(z, h)] == pytest.approx(
            [weight] * len(z), rel=1e-8
        )


@pytest.mark.parametrize("scale", [1e-150, 1e-140, 1.0, 1e140])
def test_the_weights_add_up_at_rows_themselves_whatever_the_unit(scale):
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((20, 2)), np.where(np.arange(20) % 2, 1.0, -1.0)
    x[17:] = x[16]  # a row four times
    for weight in (1.5, 4.5, 19.999):
        function = DensityFunction(x * scale, y, None, weight)
        at = x[:16] if weight < 4 else x
        sums = [
            float(oracles.density_weights(x, row, width).sum())
            for row, width in zip(at, function.bandwidths(at * scale) / scale)
        ]
        assert sums == pytest.approx([weight] * len(at), rel=1e-6), weight
        assert np.all(np.isfinite(function.value_and_gradient(at * scale)[0]))
    alone = DensityFunction(x, y, None, 3.0).value_and_gradient(x[16:17])[
        0
    ]  # four equal rows weigh 4 at least: these answer
    assert alone == pytest.approx([np.mean(y[16:])])


@pytest.mark.parametrize("away", [1e3, 1e6])
def test_data_far_from_the_origin_have_the_same_density_and_decision_values(away):
    """exp(-gamma |x - z|^2) does not change when the origin moves."""
    rng = np.random.default_rng(5)
    x, z, y = (
        np.round(rng.standard_normal((30, 2)), 3),
        np.round(rng.standard_normal((8, 2)), 3),
        np.where(np.arange(30) % 3, 1.0, -1.0),
    )
    far_x, far_z = x + away, z + away
    for near, far in (
        (MachineFunction(x, 5 * y, 0.1, Kernel("rbf", 0.5)), MachineFunction(far_x, 5 * y, 0.1, Kernel("rbf", 0.5))),
        (DensityFunction(x, y, 0.5), DensityFunction(far_x, y, 0.5)),
        (DensityFunction(x, y, None, 2.0), DensityFunction(far_x, y, None, 2.0)),
    ):
        expected, found = near.value_and_gradient(z), far.value_and_gradient(far_z)
        assert found[0] == pytest.approx(expected[0], abs=1e-6) and found[1] == pytest.approx(expected[1], abs=1e-5)


# ---- roots


class Counted:
    """A function of the first coordinate and its derivative, counting calls."""

    def __init__(self, value, derivative):
        self.value, self.derivative, self.calls = value, derivative, 0

    def value_and_gradient(self, z):
        self.calls += 1
        assert self.calls < 250
        with np.errstate(all="ignore"):
            gradient = np.zeros(z.shape)
            gradient[:, 0] = self.derivative(z[:, 0])
            return self.value(z[:, 0]), gradient


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-11])
def test_every_pair_on_either_side_gives_one_root_on_its_segment(tolerance):
    rng = np.random.default_rng(6)
    for _ in range(20):
        waves, phase, size = 3 * rng.standard_normal((4, 6)), rng.uniform(0, 6, 6), rng.standard_normal(6)

        class Smooth:
            def value_and_gradient(self, z):
                return np.sin(z @ waves + phase) @ size, (np.cos(z @ waves + phase) * size) @ waves.T

        first, second = 2 * rng.standard_normal((2, 60, 4))
        level = float(rng.normal(0, 0.3))
        above, below = (Smooth().value_and_gradient(ends)[0] > level for ends in (first, second))
        points, normals, pairs = roots_between(Smooth(), level, first, second, tolerance)
        assert sorted(pairs.tolist()) == np.flatnonzero(above & ~below).tolist() != []
        f, gradient = Smooth().value_and_gradient(points)
        assert np.all(np.abs(f - level) <= tolerance) and normals == pytest.approx(gradient)
        along = second[pairs] - first[pairs]
        t = ((points - first[pairs]) * along).sum(axis=1) / (along**2).sum(axis=1)
        assert np.all((t >= 0) & (t <= 1)) and points == pytest.approx(first[pairs] + t[:, None] * along, abs=1e-12)


NASTY = {  # from f > 0 at 0 to f < 0 at 1: (f, f', a root is found: True, none can be: None, either: False)
    "root at the very end": (lambda t: 1 - t - 1e-13, lambda t: -1 + 0 * t, True),
    "root at the very beginning": (lambda t: 1e-13 - t, lambda t: -1 + 0 * t, True),
    "flat": (lambda t: -((t - 0.3) ** 9), lambda t: -9 * (t - 0.3) ** 8, True),
    "steep": (
        lambda t: np.tanh(-1e6 * (t - 0.7)),
        lambda t: -1e6 / np.cosh(np.clip(1e6 * (t - 0.7), -300, 300)) ** 2,
        True,
    ),
    "cube root": (lambda t: np.cbrt(0.4 - t), lambda t: -(np.abs(t - 0.4) ** (-2 / 3)) / 3, True),
    "huge above": (
        lambda t: np.where(t < 0.6, 1e300 * (0.6 - t), 0.6 - t),
        lambda t: np.where(t < 0.6, -1e300, -1.0),
        True,
    ),
    "huge below": (
        lambda t: np.where(t > 0.6, 1e300 * (0.6 - t), 0.6 - t),
        lambda t: np.where(t > 0.6, -1e300, -1.0),
        True,
    ),
    "infinite above": (lambda t: np.where(t < 0.2, np.inf, 0.6 - t), lambda t: -1 + 0 * t, False),
    "gradient zero": (lambda t: 0.6 - t, lambda t: 0 * t, True),
    "gradient backwards": (lambda t: 0.6 - t, lambda t: 1 + 0 * t, True),
    "gradient nan": (lambda t: 0.6 - t, lambda t: np.nan * t, True),
    "discontinuous": (lambda t: np.where(t < 0.6, 1.0, -1.0), lambda t: 0 * t, None),
    "nan in the middle": (lambda t: np.where(np.abs(t - 0.5) < 0.4, np.nan, 1 - 2 * t), lambda t: -2 + 0 * t, None),
    "nan at one end": (lambda t: np.where(t == 0, np.nan, 0.6 - t), lambda t: -1 + 0 * t, None),
}


@pytest.mark.parametrize("name", NASTY)
def test_nasty_functions_end_and_give_only_points_within_the_tolerance(name):
    value, derivative, found = NASTY[name]
    function, zeros = Counted(value, derivative), np.zeros((3, 2))
    with np.errstate(all="ignore"):
        points, normals, pairs = roots_between(function, 0.0, zeros, zeros + [1, 0], 1e-9)
        assert np.all(np.abs(value(points[:, 0])) <= 1e-9) and np.all((points[:, 0] >= 0) & (points[:, 0] <= 1))
    assert len(points) == len(normals) == len(pairs) == len(set(pairs.tolist()))
    assert len(points) == {True: 3, None: 0}.get(found, len(points))


def test_no_pairs_and_pairs_on_one_side_give_no_root():
    function = Counted(lambda t: t - 5, lambda t: 1 + 0 * t)
    for first, second in (
        (np.zeros((0, 2)), np.zeros((0, 2))),
        (np.zeros((2, 2)), np.ones((2, 2))),
        (np.zeros((1, 2)), np.full((1, 2), 9.0)),
        (np.full((1, 2), 9.0), np.full((1, 2), 5.0)),
    ):
        assert [len(each) for each in roots_between(function, 0.0, first, second, 1e-6)] == [0, 0, 0]


# ---- samples of random models


CASES = [
    (svm_type, classes, probability)
    for svm_type, many in (("c_svc", (2, 3, 5)), ("nu_svc", (2, 4)), ("one_class", (2,)))
    for classes in many
    for probability in (False, True)
]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("svm_type, classes, probability", CASES)
def test_every_stored_sample_is_a_root_and_its_normal_the_gradient(name, svm_type, classes, probability):
    rng = np.random.default_rng([7, len(name), classes, probability])
    vectors = random_rows(rng, 70, [1, 2, 5], density=0.9)
    machine = machine_of(rng, name, vectors, svm_type, nr_class=classes, probability=probability)
    machine.nr_sv = [70 // classes + (c < 70 % classes) for c in range(classes)] if machine.classification else []
    machine.rho = np.median(
        oracles.kernel_values(machine, vectors).astype(float) @ machine.pair_coefficients.T, axis=0
    ).tolist()  # so that there is a border
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


def test_samples_are_roots_in_the_digits_that_are_stored():
    """Of a steep function the rounding of a point decides: what is read back is what must be a root."""
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


def test_near_duplicates_are_skipped_from_the_first_sample_on():
    """On a line there is one root: the samples that lines give differ by their rounding."""
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


@pytest.fixture(scope="module")
def wavy(tmp_path_factory):
    return wavy_files(tmp_path_factory.mktemp("wavy"))


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


def test_a_border_with_room_for_more_samples_gives_them_to_every_sampling(wavy):
    """Between 100 rows there are thousands of lines, and a border of a hundred bends."""
    model, train = (
        parse_model(wavy[0].read_bytes(), "m"),
        _native.parse(b"".join(wavy[1].read_bytes().splitlines(keepends=True)[:200]))[0],
    )
    counts = {
        sampling: (
            compile_border(model, fingerprint="f", sampling=sampling, count=300, chunks=[train]).model.samples[0].count
        )
        for sampling in ("random", "dense", "refined")
    }
    assert counts["random"] == 300 and min(counts.values()) >= 250, counts


# ---- prediction


HEADS = {
    2: "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho 0\nlabel 1 -1\nnr_sv 0 0\n",
    3: "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 0\nrho 0 0 0\nlabel 4 -1 7\nnr_sv 0 0 0\n",
}


def random_border(rng, counts, d, local=1):
    features = sorted(rng.choice(np.arange(0, 40), d, replace=False).tolist())
    levels = rng.normal(0, 0.3, len(counts)).tolist()
    border = BorderFile({}, features, levels, local, [rng.standard_normal((n, 2, d)).astype(EXTENDED) for n in counts])
    return border, parse_model(border.text(HEADS[2 if len(counts) == 1 else 3]), "m")


def rows_for(rng, border):
    samples = next((s for s in border.samples if len(s)), None)
    rows = (
        random_rows(rng, 12, border.features)
        + random_rows(rng, 8, border.features, density=0.4)
        + random_rows(rng, 5, [*border.features, 50, 2000000000], density=0.7)
    )
    return [
        *rows,
        {},
        {50: 2.0},
        *([dict(zip(border.features, samples[0, 0].tolist()))] if samples is not None else []),
    ]


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("local", [1, 2, 5, 32, 64])
def test_a_row_gets_the_value_of_its_nearest_samples(best_instruction_set, name, local):
    if not _native.select_instruction_set(name):
        assert name != "baseline"
        pytest.skip(f"this processor has no {name}")
    rng = np.random.default_rng([10, local])
    near_ties = total = 0
    for n in (0, 1, 2, 5, 7, 31, 32, 33, 40, 100):
        for d in (1, 2, 5, 7, 13):
            border, model = random_border(rng, [n], d, local)
            rows = rows_for(rng, border)
            expected, gaps = border_values(border, rows)
            clear = gaps[:, 0] > 1e-12  # of two samples at the same distance either may be first
            np.testing.assert_allclose(
                values_of(model, rows)[clear, 0],
                expected[clear, 0].astype(float),
                rtol=1e-9,
                atol=1e-9,
                err_msg=f"{n} {d}",
            )
            near_ties, total = near_ties + np.sum(~clear), total + len(clear)
    assert near_ties < 0.05 * total


def test_of_samples_at_the_same_distance_the_first_answers():
    samples = np.array([[[5, 5], [9, 9]], *[[[1, 0], [0, k]] for k in range(1, 40)]], EXTENDED)
    border = BorderFile({}, [1, 2], [0.25], 1, [samples])
    assert values_of(
        parse_model(border.text(HEADS[2]), "m"), [{2: 1.0}, {1: 1.0}, {1: 2.0, 2: -1.0}]
    ).ravel().tolist() == [1.25, 0.25, -0.75]
    border.local = 2  # as far as the next one: neither has weight
    assert values_of(parse_model(border.text(HEADS[2]), "m"), [{2: 1.0}]).tolist() == [[1.25]]


@pytest.mark.parametrize("size", [1e150, 1e160, 1e200])
@pytest.mark.parametrize("local", [1, 3])
def test_huge_rows_get_a_value_of_the_samples_planes(size, local):
    rng = np.random.default_rng(11)
    for n, d in ((1, 1), (5, 2), (40, 5)):
        border, model = random_border(rng, [n], d, local)
        rows = [{i: size * float(v) for i, v in row.items()} for row in random_rows(rng, 12, border.features)] + [
            {50: size},
            {50: size, border.features[0]: 1.0},
        ]
        found = values_of(model, rows)[:, 0]
        assert np.all(np.isfinite(found))
        for row, value in zip(rows, found):
            z = np.array([row.get(i, 0.0) for i in border.features], EXTENDED)
            order = np.argsort(
                (border.samples[0][:, 0] ** 2).sum(axis=1) / 2 - border.samples[0][:, 0] @ z, kind="stable"
            )[:local]
            planes = (
                border.levels[0] + ((z - border.samples[0][order, 0]) * border.samples[0][order, 1]).sum(axis=1)
            ).astype(float)
            room = 1e-9 * (1 + np.abs(planes).max())
            assert planes.min() - room <= value <= planes.max() + room


def test_values_depend_neither_on_threads_nor_on_chunks_nor_on_other_rows(best_instruction_set):
    rng = np.random.default_rng(12)
    for local in (1, 4):
        border, model = random_border(rng, [40, 0, 100], 5, local)
        rows = [row for _ in range(12) for row in rows_for(rng, border)]
        chunk, seen = parse(rows), set()
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            for size in (len(rows), 65, 64, 1):
                out, parts = _native.Decisions(3), []
                for at in range(0, len(rows), size):
                    model.decision_values(chunk.select(list(range(at, min(at + size, len(rows))))), out)
                    parts.append(np.array(out.value))
                seen.add(np.concatenate(parts).tobytes())
        assert len(seen) == 1


def test_several_classes_vote_as_libsvm_has_it():
    rng = np.random.default_rng(13)
    seen = set()
    for counts in ([20, 20, 20], [20, 0, 5], [0, 0, 0]):
        border, model = random_border(rng, counts, 2)
        rows = rows_for(rng, border) * 3
        written = []
        predict(model, [parse(rows)], written.append, path="rows")
        machine = Machine("c_svc", "linear", [], np.zeros((0, 2)), [0.0] * 3, label=[4, -1, 7], nr_sv=[0, 0, 0])
        expected = oracles.labels(machine, border_values(border, rows)[0])
        assert b"".join(written).decode().split() == list(map(str, expected))
        seen |= set(expected)
    assert seen == {4, -1, 7}


def test_probabilities_of_a_model_are_libsvms_sigmoid_of_the_border_decision(fastsvm, tmp_path):
    rng = np.random.default_rng(14)
    for classes in (2, 3):
        vectors = random_rows(rng, 60, [1, 2, 3])
        machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=classes, probability=True, gamma=0.5)
        (tmp_path / "m").write_bytes(machine.text())
        fastsvm("border", "-q", "m", "b")
        rows = random_rows(rng, 50, [1, 2, 3, 4])
        border = BorderFile.read((tmp_path / "b").read_bytes())
        values, gaps = border_values(border, rows)
        done = fastsvm("predict", "-q", "-b", 1, "-", "b", input=data_text(rows)).out.splitlines()
        assert done[0] == "labels " + " ".join(map(str, machine.label))
        found, clear = np.array([line.split() for line in done[1:]], float), (gaps > 1e-12).all(axis=1)
        expected = oracles.probabilities(machine, values)
        assert found[clear, 1:] == pytest.approx(expected[clear], abs=2e-6)
        assert np.all(found[clear, 0] == np.array(machine.label)[expected[clear].argmax(axis=1)])


# ---- files


def test_a_hand_made_file_is_read_and_written_back_and_means_what_it_says():
    model = parse_model(TEXT, "m")
    assert model.to_text() == TEXT and parse_model(model.to_text(), "m").to_text() == TEXT
    border = BorderFile.read(TEXT)
    rows = [{1: 0.25, 7: 1.0}, {2: -3.0, 9: 1.0}, {}]
    np.testing.assert_allclose(values_of(model, rows), border_values(border, rows)[0].astype(float), rtol=1e-6)
    assert np.all(values_of(model, rows)[:, 1] == -1.5)


@pytest.mark.parametrize("svm_type, classes, probability", CASES)
def test_files_are_written_back_byte_for_byte_and_say_the_same(svm_type, classes, probability):
    rng = np.random.default_rng([15, classes])
    rows = random_rows(rng, 60, [0, 2, 3, 2000000000], density=0.8)
    machine = random_machine(rng, svm_type, "rbf", rows, nr_class=classes, probability=probability, gamma=0.5)
    for tolerance, precision in ((1e-4, b"\nprecision single\n"), (1e-10, b"\nprecision double\n")):
        model = compile_border(
            parse_model(machine.text(), "m"),
            fingerprint="0123abcd",
            count=9,
            tolerance=tolerance,
            chunks=[parse(rows)],
            local=3,
        ).model
        text = model.to_text()
        again = parse_model(text, "again")
        assert (
            again.to_text() == text
            and vars(again.header) == vars(model.header)
            and again.fingerprint == "0123abcd"
            and text.isascii()
        )
        assert precision in text or not any(map(len, BorderFile.read(text).samples))
        np.testing.assert_allclose(
            values_of(again, rows),
            values_of(model, rows),
            rtol=1e-5 if model.single else 0,
            atol=1e-5 if model.single else 0,
        )


def test_a_file_cut_off_at_any_byte_or_without_any_line_is_refused():
    for cut in range(len(TEXT)):
        message = fault_of(TEXT[:cut])
        assert cut < 23 or message == "m: the last line is not 'end': the file is cut off, or has been added to"
    rows = TEXT.splitlines(keepends=True)
    for at in range(len(rows)):
        for text in (rows[:at] + rows[at + 1 :], rows[: at + 1] + rows[at:]):
            fault_of(b"".join(text))
            if at < len(rows) - 2:  # in front of the checksum
                fault_of(sealed(b"".join(text)))
    for added in (b"\n", b" ", b"end\n", b"1 2 3\n", b"\x00", b"1 2 3\nend\n"):
        fault_of(TEXT + added)


FAULTS = [
    (b"nr_border 2 0 1", b"nr_border 3 0 1", "m:24: the end of the file found among 6 numbers"),
    (b"nr_border 2 0 1", b"nr_border 1 0 1", "text found after the border samples"),
    (b"nr_border 2 0 1", b"nr_border 2 1", "m:13: 2 values of 'nr_border' found, expected 3"),
    (b"nr_border 2 0 1", b"nr_border 2 -1 1", "m:13: a negative number of border samples found"),
    (b"nr_border 2 0 1", b"nr_border 2147483647 0 1", "numbers"),
    (b"nr_border 2 0 1", b"nr_border 99999999999 0 1", "m:13: nr_border '99999999999' found, expected a whole number"),
    (b"nr_border 2 0 1", b"nr_border 2.0 0 1", "m:13: nr_border '2.0' found"),
    (b"nr_border 2 0 1\n", b"", "the header ends without 'nr_border'"),
    (b"level 0.0 -1.5 0.125", b"level 0.0 -1.5", "m:14: 2 values of 'level' found, expected 3"),
    (b"level 0.0", b"level nan", "m:14: level 'nan' found, expected a finite number"),
    (b"level 0.0", b"level 1e999", "m:14: level '1e999' found"),
    (b"local 3", b"local 0", "m:15: local 0 found, expected 1 to 64"),
    (b"local 3", b"local 65", "m:15: local 65 found"),
    (b"local 3", b"local 3 3", "m:15: 2 values of 'local' found, expected 1"),
    (b"single", b"half", "m:12: precision 'half' found, expected one of single, double"),
    (b"local 3", b"local 3\nflavour sweet", "m:16: unknown key 'flavour'"),
    (b"local 3", b"local 3\nlocal 3", "m:16: key 'local' found twice"),
    (b"-4 5e-05 6", b"nan 5e-05 6", "m:19: 'nan' found among 12 numbers"),
    (b"-4 5e-05 6", b"-4 inf 6", "m:19: 'inf' found among 12 numbers"),
    (b"-4 5e-05 6", b"-4 x 6", "m:19: 'x' found among 12 numbers"),
    (b"-4 5e-05 6", b"-4 1e39 6", "m:19: '1e39' found among 12 numbers"),
    (b"-1 -2 -3", b"-1 -2 1e999", "m:22: '1e999' found among 6 numbers"),
    (b"-1 -2 -3", b"-1 -2", "m:23: 'end' found among 6 numbers"),
    (b"-1 -2 -3", b"-1 -2 -3 4", "m:22: '4' found among 6 numbers"),
    (b"0.1 0.2 0.3\n", b"\x000.1 0.2 0.3\n", "m:21:"),
    (b"features 1:2 7", b"features 1:2 2", "m:11: features '2' found, expected increasing indices"),
    (b"features 1:2 7", b"features 1:2147483646", "more than the file has numbers for"),
    (b"features 1:2 7", b"features -1:1", "m:11:"),
    (b"features 1:2 7", b"features", "border samples without features found"),
    (b"features 1:2 7", b"features 1:2", "m:19: '6' found among 8 numbers"),
    (
        b"border 2\n",
        b"border 3\n",
        "m:1: version 3 of the format found, this fastsvm reads up to 2: a newer fastsvm wrote it",
    ),
    (b"\nborder\n", b"\nSV\n", "m:16:"),
    (b"c_svc", b"epsilon_svr", "m:"),
    (b"label 1 -1 7", b"label 1 -1", "2 labels found, expected 3"),
    (b"rho 0.25 -0.5 0.125", b"rho 0.25", "1 values of 'rho' found, expected 3"),
    (b"fingerprint 0123456789abcdef", b"fingerprint", "m:10: 0 values of 'fingerprint' found, expected 1"),
]


@pytest.mark.parametrize("old, new, words", FAULTS, ids=[fault[1].decode().strip()[-30:] for fault in FAULTS])
def test_a_damaged_file_is_refused_in_one_clear_line(old, new, words):
    assert TEXT.count(old) >= 1
    message = fault_of(sealed(TEXT.replace(old, new, 1)))
    assert message.startswith(words) if words.startswith("m:") else words in message, message


def test_a_regression_has_no_border_and_double_precision_has_larger_numbers():
    head = (
        TEXT.replace(b"c_svc", b"nu_svr")
        .replace(b"label 1 -1 7\n", b"")
        .replace(b"nr_sv 2 1 1\n", b"")
        .replace(b"nr_class 3", b"nr_class 2")
        .replace(b"rho 0.25 -0.5 0.125", b"rho 0.25")
    )
    assert "expected classes" in fault_of(
        sealed(head.replace(b"nr_border 2 0 1", b"nr_border 3").replace(b"level 0.0 -1.5 0.125", b"level 0.0"))
    )
    double = sealed(TEXT.replace(b"single", b"double").replace(b"-4 5e-05 6", b"-4 1e+300 6"))
    assert parse_model(double, "m").to_text() == double


def test_a_file_with_any_one_byte_changed_is_refused_or_is_a_model():
    rng, refused, accepted = random.Random(1), 0, 0
    rows = [{1: 0.5, 7: -1.0}, {}, {2: 2e9}]
    for at in range(len(TEXT)):
        for other in {TEXT[at] ^ 1, 0, 10, 32, ord("9"), ord("-"), rng.randrange(256)} - {TEXT[at]}:
            mutant = sealed(TEXT[:at] + bytes([other]) + TEXT[at + 1 :])
            try:
                model = parse_model(mutant, "m")
            except ModelFormatError as fault:
                assert str(fault).startswith("m:") and len(str(fault).splitlines()) == 1
                refused += 1
                continue
            assert values_of(model, rows).shape == (3, model.pairs)
            assert parse_model(model.to_text(), "m").to_text() == model.to_text()
            accepted += 1
    assert refused > 500 and accepted > 100


def test_a_small_file_that_announces_billions_takes_no_memory():
    code = (
        "import resource, sys\nfrom fastsvm_cli.errors import ModelFormatError\nfrom fastsvm_cli.models import"
        " parse_model\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\ntry:\n   "
        " parse_model(sys.stdin.buffer.read(), 'm')\nexcept ModelFormatError:\n    print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        input=sealed(TEXT.replace(b"nr_border 2", b"nr_border 2147483647")),
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.stdout == b"refused\n", done.stderr.decode()[-500:]


def test_the_commands_refuse_damaged_files_in_one_line_and_keep_what_was_there(fastsvm, tmp_path, svm_predict):
    (tmp_path / "rows").write_text("1 1:1\n")
    (tmp_path / "out").write_text("before\n")
    for old, new, *_ in (FAULTS[0], FAULTS[3], FAULTS[17], FAULTS[30]):
        (tmp_path / "bad").write_bytes(sealed(TEXT.replace(old, new, 1)))
        done = fastsvm("predict", "rows", "bad", "out", code=1)
        assert (
            done.err.startswith("Error: bad:")
            and done.err.count("\n") == 1
            and done.out == ""
            and (tmp_path / "out").read_text() == "before\n"
        ), str(done)
    (tmp_path / "good").write_bytes(TEXT)
    stock = subprocess.run([svm_predict, "rows", "good", "theirs"], cwd=tmp_path, capture_output=True, text=True)
    assert stock.returncode == 1 and "unknown text in model file: [fastsvm_model]" in stock.stderr
