"""Compiled models against the formulas of Claesen, De Smet, Suykens and De Moor, written out in extended precision."""

import itertools
import warnings
from math import exp

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.compilers.maclaurin.compile import CENTERS, TooLargeError, compile_maclaurin
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction.pipeline import Fallback, predict
from fastsvm_cli.text.data import read_chunks
from support import oracles
from support.evaluation import parse
from support.oracles import EXTENDED, Machine, data_text, random_machine, random_rows

SIZES = (0, 1, 2, 5, 7, 13, 40, 100)
SINGLE = 2.0**-24  # half the distance between neighbours in single precision, relative
RADIUS = 0.0305  # eq. (A.2): what degree 2 leaves of a term, for exponents below 1/2

seeded = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)


@pytest.fixture
def all_threads():
    yield
    _native.set_threads(0)


def compiled(machine, **options):
    return compile_maclaurin(parse_model(machine.text(), "a.model"), fingerprint="0" * 32, **options)


def decide(model, rows):
    out = _native.Decisions(model.pairs)
    model.decision_values(parse(rows), out)
    return np.array(out.value), out.outside


def points(model):
    """The centre of every decision function, as a row."""
    centers = [dict(zip(model.features, center.point)) for center in model.centers]
    assert [e.pair for e in model.expansions] == list(range(model.pairs))
    return [centers[e.center] for e in model.expansions]


def assert_expands(model, machine, rows, *, relative=1e-11):
    """Every decision value is the oracle's expansion about the model's centres, but for rounding, and for single
    precision where stored. Returns the sizes of the expansions, without rho: (pairs, rows)."""
    values, _ = decide(model, rows)
    assert values.shape == (len(rows), len(machine.rho))
    sizes = []
    for pair, point in enumerate(points(model)):
        exact, size = oracles.expansion_values(machine, pair, rows, point, model.degree)
        allowed = relative * (size + abs(machine.rho[pair])) + (1.01 * SINGLE * size + 1e-40 if model.single else 0)
        assert np.all(np.abs(values[:, pair] - exact) <= allowed), (values[:, pair], exact, allowed)
        sizes.append(size)
    return np.array(sizes, float)


def gaussian(rng, svm_type="c_svc", *, n=40, d=8, density=1.0, scale=1.0, offset=0.0, **parameters):
    """A random RBF machine, and rows: some of them support vectors, some with features no support vector has."""
    indices = sorted(rng.choice(np.arange(0, 3 * d + 3), d, replace=False).tolist())
    vectors = random_rows(rng, n, indices, density=density, scale=scale, offset=offset)
    parameters.setdefault("gamma", float(0.3 / (d * density * scale**2)))
    machine = random_machine(rng, svm_type, "rbf", vectors, **parameters)
    rows = random_rows(rng, 40, indices, density=density, scale=scale, offset=offset)
    rows += [{**row, 3 * d + 9: scale, 2147483647: scale / 2} for row in rows[:5]] + [dict(x) for x in vectors[:5]]
    return machine, rows


# ---- the expansion


@pytest.mark.parametrize("single", [True, False], ids=["single", "double"])
@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("svm_type", oracles.SVM_TYPES)
def test_rbf_models_of_every_type_expand_as_in_equation_3_7(svm_type, center, single):
    for seed in range(12):
        rng = np.random.default_rng([seed, oracles.SVM_TYPES.index(svm_type)])
        machine, rows = gaussian(
            rng,
            svm_type,
            n=int(rng.integers(1, 60)),
            d=int(rng.integers(1, 20)),
            nr_class=int(rng.choice([2, 3, 5])),
            density=rng.choice([0.2, 0.7, 1.0]),
            scale=10.0 ** rng.integers(-3, 4),
        )
        model = compiled(machine, center=center, single=single)
        assert (model.degree, model.single, model.features) == (2, single, machine.features)
        assert_expands(model, machine, rows + [{}])


def test_by_default_rbf_is_stored_in_single_precision_about_the_mean():
    machine, _ = gaussian(np.random.default_rng(1))
    model = compiled(machine)
    assert model.single
    assert [list(c.point) for c in model.centers] == [list(c.point) for c in compiled(machine, center="mean").centers]


def test_centers_are_the_mean_the_origin_and_the_means_of_pairs():
    machine, _ = gaussian(np.random.default_rng(2), nr_class=4, offset=3.0)
    x = oracles.dense(machine.vectors, machine.features)
    (mean,), (origin,) = compiled(machine, center="mean").centers, compiled(machine, center="origin").centers
    np.testing.assert_allclose(mean.point, x.mean(axis=0).astype(float), rtol=1e-3)
    assert not np.any(origin.point)
    of_pairs = compiled(machine, center="pair").centers
    assert len(of_pairs) == 6
    for center, a in zip(of_pairs, machine.pair_coefficients, strict=True):
        np.testing.assert_allclose(center.point, x[a != 0].mean(axis=0).astype(float) if np.any(a) else 0, rtol=1e-3)


@pytest.mark.parametrize("center", ["mean", "origin", "pair"])
def test_largest_norms_are_those_of_the_support_vectors_about_the_center(center):
    machine, _ = gaussian(np.random.default_rng(3), nr_class=3, offset=1.0)
    model = compiled(machine, center=center)
    for expansion, a in zip(model.expansions, machine.pair_coefficients):
        written = model.centers[expansion.center]
        used = a != 0 if center == "pair" else None
        point = dict(zip(model.features, written.point))
        assert written.largest_norm == pytest.approx(oracles.largest_squared_norm(machine, point, used), rel=1e-12)


@pytest.mark.parametrize("single", [True, False], ids=["single", "double"])
@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("degree", [1, 3, 4])
def test_other_degrees_keep_more_or_fewer_terms(degree, center, single):
    for seed in range(10):
        rng = np.random.default_rng([seed, degree])
        machine, rows = gaussian(
            rng,
            n=int(rng.integers(1, 40)),
            d=int(rng.integers(1, 8)),
            nr_class=int(rng.choice([2, 3])),
            density=rng.choice([0.3, 1.0]),
            scale=10.0 ** rng.integers(-2, 3),
            offset=float(rng.choice([0, 1, 1e5])),
        )
        model = compiled(machine, center=center, single=single, degree=degree)
        assert model.degree == degree
        assert_expands(model, machine, rows + [{}])
        again = parse_model(model.to_text(), "a.approx")
        np.testing.assert_array_equal(decide(again, rows)[0], decide(model, rows)[0])


def test_each_degree_more_is_more_accurate_inside_the_bound():
    rng = np.random.default_rng(24)
    machine, _ = gaussian(rng, n=100, d=5, gamma=0.03)
    rows = random_rows(rng, 100, machine.features, scale=0.7)
    exact = oracles.decision_values(machine, rows)
    errors = [
        np.abs(decide(compiled(machine, degree=degree, single=False), rows)[0] - exact).mean()
        for degree in (1, 2, 3, 4)
    ]
    assert errors[0] > 4 * errors[1] > 16 * errors[2] > 64 * errors[3] > 0


@pytest.mark.parametrize("single", [None, False, True])
@pytest.mark.parametrize("kernel, degree", [("linear", 1), *(("polynomial", degree) for degree in range(5))])
@pytest.mark.parametrize("svm_type", oracles.SVM_TYPES)
def test_linear_and_low_polynomial_kernels_compile_exactly(svm_type, kernel, degree, single):
    for seed in range(6):
        rng = np.random.default_rng([seed, degree])
        d, scale = int(rng.integers(1, 15 if degree < 3 else 7)), 10.0 ** rng.integers(-4, 5)
        vectors = random_rows(
            rng, int(rng.integers(1, 50)), list(range(2, d + 2)), density=rng.choice([0.3, 1.0]), scale=scale
        )
        gamma, coef0 = float(1 / (d * scale**2)), float(rng.normal())
        machine = random_machine(rng, svm_type, kernel, vectors, nr_class=3, gamma=gamma, coef0=coef0, degree=degree)
        model = compiled(machine, single=single)
        assert model.degree == degree
        assert model.single == bool(single)  # exact in double precision, unless asked for less
        rows = random_rows(rng, 30, list(range(1, d + 5)), scale=scale, density=0.8)
        values, outside = decide(model, rows)
        assert outside == 0
        if single:
            assert_expands(model, machine, rows)
        else:
            base = abs(machine.gamma) * scale**2 * 60 * d + abs(
                machine.coef0
            )  # where the base is near 0, powers cancel
            allowed = 1e-10 * oracles.magnitudes(machine, rows) + 1e-15 * base**degree
            assert np.all(np.abs(values - oracles.decision_values(machine, rows)) <= allowed)


@pytest.mark.parametrize(
    "kernel, degree, what",
    [("sigmoid", 0, "sigmoid"), ("precomputed", 0, "precomputed"), ("polynomial", 5, "degree 5")],
)
def test_other_kernels_are_refused(kernel, degree, what):
    rng = np.random.default_rng(4)
    vectors = [{0: i + 1} for i in range(5)] if kernel == "precomputed" else random_rows(rng, 5, [1, 2])
    with pytest.raises(ModelFormatError, match=f"^a.model: .*{what}"):
        compiled(random_machine(rng, "c_svc", kernel, vectors, degree=degree))


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("center", CENTERS)
def test_a_model_read_back_gives_the_same_values(center, single):
    for seed in range(8):
        rng = np.random.default_rng([seed, 5])
        machine, rows = gaussian(
            rng, nr_class=3, scale=10.0 ** rng.integers(-5, 6), offset=float(rng.choice([0, 1])), probability=True
        )
        model = compiled(machine, center=center, single=single)
        text = model.to_text()
        again = parse_model(text, "a.model.approx")
        assert again.to_text() == text
        np.testing.assert_array_equal(decide(again, rows)[0], decide(model, rows)[0])
        assert decide(again, rows)[1] == decide(model, rows)[1]
        assert again.header.lines() == model.header.lines()


def test_a_polynomial_model_read_back_gives_the_same_values():
    rng = np.random.default_rng(6)
    for degree in (0, 1, 2, 3, 4):
        machine = random_machine(
            rng, "c_svc", "polynomial", random_rows(rng, 20, [1, 2, 3]), nr_class=3, gamma=0.7, coef0=0.3, degree=degree
        )
        model, rows = compiled(machine), random_rows(rng, 20, [1, 2, 3, 4])
        np.testing.assert_array_equal(decide(parse_model(model.to_text(), "x"), rows)[0], decide(model, rows)[0])


# ---- far from the origin


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("offset", [1e2, 1e3, 1e4, 1e6, 1e9])
def test_far_centers_lose_no_digits(offset, single):
    """Expanding about the centre to powers of z would leave none: (|m| / |z - m|)^2 of them."""
    for center in ("mean", "pair"):
        machine, rows = gaussian(np.random.default_rng(7), n=100, nr_class=3, offset=offset, gamma=0.02)
        sizes = assert_expands(compiled(machine, center=center, single=single), machine, rows)
        assert np.median(sizes) > 1  # the centre is near: there is something to lose


def test_features_near_and_far_mix():
    rng = np.random.default_rng(8)
    for shift in (1e3, 1e5, 1e7):
        machine, rows = gaussian(rng, nr_class=4, gamma=0.02)
        for row in (*machine.vectors, *rows):
            row.update({i: row.get(i, 0.0) + shift for i in machine.features[::3]})
        for center in ("mean", "pair"):
            sizes = assert_expands(compiled(machine, center=center, single=False), machine, rows)
            assert np.median(sizes) > 1


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6])
def test_moving_the_origin_changes_nothing(offset):
    """The kernel sees differences only, and so does an expansion about the mean: as good at 1000000 as at 0."""
    rng = np.random.default_rng(9)
    machine, rows = gaussian(rng, gamma=0.02)
    rows = [row for row in rows if set(row) <= set(machine.features)]
    away = [{i: x.get(i, 0.0) + offset + i for i in machine.features} for x in machine.vectors]
    far = Machine(**{**machine.__dict__, "vectors": away})
    far_rows = [{i: z.get(i, 0.0) + offset + i for i in machine.features} for z in rows]
    near_values, near_outside = decide(compiled(machine, single=False), rows)
    far_values, far_outside = decide(compiled(far, single=False), far_rows)
    exact = oracles.decision_values(machine, rows).astype(float)
    error = np.abs(near_values - exact).max()
    assert np.abs(far_values - exact).max() <= 1.5 * error + 1e-6
    assert abs(far_outside - near_outside) <= 3


# ---- the bound of eq. (3.11)


@pytest.mark.parametrize("center", CENTERS)
def test_rows_outside_are_counted_as_in_equation_3_11(center):
    some = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 10])
        machine, rows = gaussian(
            rng, nr_class=int(rng.choice([2, 3])), density=rng.choice([0.3, 1.0]), offset=float(rng.choice([0, 2, 1e5]))
        )
        machine.gamma = float(rng.uniform(0.2, 3) / (16 * len(machine.features)))
        model = compiled(machine, center=center)
        ratios = [
            oracles.bound_ratio(machine, rows, point, a != 0 if center == "pair" else None)
            for point, a in zip(points(model), machine.pair_coefficients)
        ]
        worst = np.max(ratios, axis=0)
        rows = [row for row, ratio in zip(rows, worst) if abs(ratio - 1) > 1e-6]  # on the edge, rounding decides
        expected = int((worst[np.abs(worst - 1) > 1e-6] >= 1).sum())
        assert decide(model, rows)[1] == expected
        some += 0 < expected < len(rows)
    assert some >= 10


def test_nothing_is_outside_the_bound_of_vectors_at_the_center():
    machine = Machine("epsilon_svr", "rbf", [{}, {}], np.array([[1.0], [2.0]]), [0.5], gamma=1.0)
    values, outside = decide(compiled(machine), [{1: 100.0}, {}])
    assert outside == 0
    np.testing.assert_allclose(values[:, 0], [-0.5, 2.5])


@seeded
@given(
    st.integers(0, 2**32),
    st.integers(1, 8),
    st.integers(1, 12),
    st.floats(0.5, 0.999999),
    st.booleans(),
    st.sampled_from([0.0, 3.0]),
)
def test_inside_the_bound_no_term_errs_by_more_than_3_05_percent_of_itself(seed, d, n, ratio, opposed, offset):
    rng = np.random.default_rng(seed)
    indices = list(range(1, d + 1))
    vectors = [{i: float(v + offset) for i, v in zip(indices, rng.standard_normal(d))} for _ in range(n)]
    machine = random_machine(rng, "epsilon_svr", "rbf", vectors, gamma=float(10 ** rng.uniform(-3, 2)))
    machine.rho = [0.0]
    model = compiled(machine, single=False)
    (point,) = points(model)
    x = oracles.dense(vectors, indices) - oracles.dense([point], indices)
    # Rows in the worst directions: along the longest vector or against it, just inside; or anywhere.
    longest = x[np.argmax((x**2).sum(axis=1))]
    direction = -longest if opposed else rng.standard_normal(d).astype(EXTENDED)
    largest = float((longest**2).sum())
    length = ratio / (4 * machine.gamma * largest**0.5) if largest > 0 else 1.0
    size = float((direction**2).sum()) ** 0.5
    z = {i: float(point[i] + length * v / (size or 1)) for i, v in zip(indices, direction)}
    values, outside = decide(model, [z])
    assert outside == 0
    kernel = oracles.kernel_values(machine, [z])
    assert np.all(np.abs(oracles.exponents(machine, [z], point)) < 0.5)
    allowed = RADIUS * (np.abs(kernel) @ np.abs(machine.pair_coefficients.T))
    error = np.abs(values - oracles.decision_values(machine, [z]))
    assert np.all(error <= allowed + 1e-12 * oracles.magnitudes(machine, [z]) + 1e-300)
    target(float((error / allowed).max()) if allowed.min() > 1e-200 else 0.0)


def test_the_bound_is_reached():
    """One vector against the row at the edge: (e^-1/2 - 1 + 1/2 - 1/8) / e^-1/2 = 3.045 %. A bound that is never
    near would hide a fault."""
    machine = Machine("epsilon_svr", "rbf", [{1: 1.0}], np.array([[1.0]]), [0.0], gamma=0.25)
    (value,), outside = decide(compiled(machine, center="origin", single=False), [{1: -0.999999}])
    assert outside == 0
    assert 0.03044 < abs(value[0] / exp(-0.25 * 1.999999**2) - 1) < RADIUS
    assert decide(compiled(machine, center="origin"), [{1: -1.000001}])[1] == 1


# ---- layouts: sparse and dense rows, single precision in memory, sizes, builds of the hot loops


@pytest.mark.parametrize("d", [5, 60, 400])
def test_a_vector_written_sparse_or_dense_has_the_same_value(d):
    rng = np.random.default_rng(11)
    indices = list(range(1, d + 1))
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 30, indices, density=0.5), nr_class=3, gamma=0.3 / d)
    sparse = [row for density in (0.02, 0.1, 0.39, 0.41, 0.9) for row in random_rows(rng, 10, indices, density=density)]
    dense = [{i: row.get(i, 0.0) for i in indices} for row in sparse]
    for center in CENTERS:
        model = compiled(machine, center=center)
        (a, outside_a), (b, outside_b) = decide(model, sparse), decide(model, dense)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        assert outside_a == outside_b
        assert_expands(model, machine, sparse)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("center", ["mean", "origin"])
def test_a_wide_model_stays_in_its_precision(center, single):
    """Beyond half a megabyte a model in single precision stays so in memory, with loops of its own."""
    rng = np.random.default_rng(12)
    indices = list(range(1, 601))
    machine = random_machine(
        rng, "c_svc", "rbf", random_rows(rng, 15, indices, density=0.4), nr_class=2, gamma=0.3 / 600
    )
    rows = [
        row
        for density in (0.01, 0.2, 0.39, 0.41, 1.0)
        for row in random_rows(rng, 11, [*indices, 700], density=density)
    ]
    model = compiled(machine, center=center, single=single)
    assert_expands(model, machine, rows)
    assert_expands(parse_model(model.to_text(), "a.approx"), machine, rows)


def test_a_wide_model_far_from_the_origin_stays_in_its_precision():
    rng = np.random.default_rng(13)
    indices = list(range(1, 601))
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 15, indices, offset=1000.0), gamma=0.3 / 600)
    machine.vectors = [x or {1: 1000.0} for x in machine.vectors]
    assert_expands(compiled(machine), machine, random_rows(rng, 20, indices, offset=1000.0))


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("single", [True, False])
def test_every_build_of_the_hot_loops_agrees(best_instruction_set, name, single):
    if not _native.select_instruction_set(name):
        assert name != "baseline"
        pytest.skip(f"this processor has no {name}")
    rng = np.random.default_rng(14)
    for d, density, offset in (
        (1, 1.0, 0.0),
        (7, 0.3, 0.0),
        (40, 1.0, 0.0),
        (40, 0.1, 0.0),
        (40, 1.0, 1e5),
        (520, 0.5, 0.0),
    ):
        machine, rows = gaussian(rng, n=20, d=d, density=density, nr_class=3, offset=offset, gamma=0.2 / d)
        model = compiled(machine, single=single)
        assert_expands(model, machine, rows)
        if not single:
            values, _ = decide(model, rows)
            for pair, point in enumerate(points(model)):
                exact, size = oracles.expansion_values(machine, pair, rows, point, model.degree)
                assert np.all(
                    np.abs(values[:, pair] - exact)
                    <= 1e-12 * (size + abs(machine.rho[pair])) + (1e-11 * size if offset else 0)
                )


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_every_size_of_model_and_data(kernel):
    rng = np.random.default_rng(15)
    for n in SIZES:
        for d in SIZES:
            count = SIZES[(SIZES.index(n) + SIZES.index(d)) % len(SIZES)]
            svm_type, nr_class = [
                ("c_svc", 2),
                ("nu_svc", 3),
                ("one_class", 2),
                ("nu_svr", 2),
                ("c_svc", 1 if n == 0 else 4),
            ][(n + d) % 5]
            indices = sorted(rng.choice(np.arange(0, 3 * d), d, replace=False).tolist())
            vectors = random_rows(rng, n, indices, density=rng.choice([0.1, 1.0]))
            parameters = {"gamma": 0.3 / max(d, 1), "coef0": -0.2, "degree": int(rng.integers(3))}
            machine = random_machine(rng, svm_type, kernel, vectors, nr_class=nr_class, **parameters)
            rows = random_rows(rng, count, [*indices, 1000], density=rng.choice([0.1, 1.0]))
            for center in (None, "pair"):
                model = parse_model(compiled(machine, center=center, single=False).to_text(), "a.approx")
                if rows:
                    assert_expands(model, machine, rows)


def test_models_of_one_class_or_without_support_vectors_compile():
    rng = np.random.default_rng(16)
    none = np.empty((0, 0))
    machine = Machine("c_svc", "rbf", [], none, [], gamma=0.5, label=[7], nr_sv=[0])
    for center in CENTERS:
        model = parse_model(compiled(machine, center=center).to_text(), "a.approx")
        written = []
        predict(model, [parse([{1: 1.0}, {}])], written.append, path="rows")
        assert b"".join(written) == b"7\n7\n"
    for svm_type, nr_class in (("c_svc", 2), ("c_svc", 3), ("one_class", 2), ("epsilon_svr", 2)):
        machine = random_machine(rng, svm_type, "rbf", [], nr_class=nr_class, gamma=0.5)
        for center in CENTERS:
            model = parse_model(compiled(machine, center=center).to_text(), "a.approx")
            values, outside = decide(model, [{1: 1.0}, {}])
            np.testing.assert_array_equal(values, -np.array([machine.rho] * 2))
            assert outside == 0


def test_classes_without_support_vectors_and_zero_coefficients_compile():
    rng = np.random.default_rng(17)
    machine, rows = gaussian(rng, nr_class=4, n=20)
    machine.nr_sv, machine.coef[5:10] = [10, 0, 10, 0], 0.0
    for center in CENTERS:
        assert_expands(compiled(machine, center=center), machine, rows)


def test_a_huge_index_costs_no_dense_vector():
    rng = np.random.default_rng(18)
    indices = [0, 1, 70000, 5000000, 2000000000, 2147483647]
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 20, indices, density=0.7), gamma=0.05)
    rows = random_rows(rng, 30, [*indices, 69999, 4999999, 2147483646], density=0.7)
    for center in CENTERS:
        model = parse_model(compiled(machine, center=center).to_text(), "a.approx")
        assert model.features == indices
        assert_expands(model, machine, rows)


@pytest.mark.parametrize("length", [1e3, 1e10, 1e100, 1e160, 1e200, 1e307])
def test_a_row_beyond_everything_has_the_value_minus_rho(length):
    """The weight vanishes faster than the polynomial grows, and 0 times infinity is not a number."""
    rng = np.random.default_rng(19)
    for offset in (0.0, 1e6):
        machine, _ = gaussian(rng, nr_class=3, n=20, d=4, offset=offset, gamma=0.1)
        for center in CENTERS:
            model = compiled(machine, center=center)
            beyond, far = length + 1e9 * bool(offset), [{2147483647: length}]
            for signs in ([1, 1, 1, 1], [1, -1, 1, -1], [-1], [0, 1]):
                far.append({i: sign * beyond for i, sign in zip(machine.features, signs)})
            values, outside = decide(model, far)
            np.testing.assert_array_equal(values, -np.array([machine.rho] * len(far)))
            assert outside == len(far)


def test_a_model_larger_than_the_limit_is_refused():
    rng = np.random.default_rng(20)
    for single in (True, False):
        machine, _ = gaussian(rng, nr_class=3, n=30, d=60)
        size = len(compiled(machine, single=single).to_text())
        assert len(compiled(machine, single=single, max_bytes=1.5 * size).to_text()) == size
        with pytest.raises(TooLargeError, match=r"^a\.model: .*3 decision functions .*60 features.*--max-size"):
            compiled(machine, single=single, max_bytes=size / 1.5)


def test_a_coefficient_beyond_single_precision_is_refused():
    machine = Machine("epsilon_svr", "rbf", [{1: 1.0}], np.array([[1e39]]), [0.0], gamma=0.1)
    with warnings.catch_warnings(), pytest.raises(ModelFormatError, match="overflows single precision"):
        warnings.simplefilter("error")  # one line is said, and not by numpy
        compiled(machine)
    assert decide(compiled(machine, single=False), [{1: 1.0}])[0] == pytest.approx(1e39)


def test_progress_ends_at_one():
    seen = []
    machine, _ = gaussian(np.random.default_rng(21), nr_class=3)
    compiled(machine, on_progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == pytest.approx(1)


# ---- the pipeline around it


def test_lines_depend_neither_on_threads_nor_on_chunks_nor_on_neighbours(tmp_path, all_threads):
    rng = np.random.default_rng(22)
    machine, _ = gaussian(rng, nr_class=3, d=30, density=0.5, probability=True)
    rows = [row for density in (0.1, 0.4, 1.0) for row in random_rows(rng, 200, machine.features, density=density)]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    (tmp_path / "rows").write_bytes(data_text(rows))
    for model in (compiled(machine), compiled(machine, center="origin")):
        seen, tallies = set(), set()
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            for size in (1, 5000, 1 << 21):
                written = []
                tally = predict(
                    model, read_chunks(str(tmp_path / "rows"), size=size), written.append, path="rows", values=True
                )
                seen.add(b"".join(written))
                tallies.add((tally.rows, tally.outside))
        assert len(seen) == len(tallies) == 1
        alone = np.vstack([decide(model, [row])[0] for row in rows])
        np.testing.assert_array_equal(alone, decide(model, rows)[0])


@pytest.mark.parametrize("svm_type", oracles.SVM_TYPES)
def test_labels_and_probabilities_follow_from_the_values(svm_type):
    rng = np.random.default_rng(23)
    machine, rows = gaussian(rng, svm_type, nr_class=4, probability=True)
    model = compiled(machine)
    values, _ = decide(model, rows)
    for probability in (False, True):
        written = []
        predict(model, [parse(rows)], written.append, path="rows", probability=probability)
        lines = [line.split() for line in b"".join(written).decode().splitlines()]
        if not probability or svm_type in ("epsilon_svr", "nu_svr"):
            assert [float(line[0]) for line in lines] == oracles.labels(machine, values)
            continue
        exact = oracles.probabilities(machine, values)
        np.testing.assert_allclose(np.array([line[1:] for line in lines[1:]], float), exact, rtol=1e-5)
        names = machine.label if machine.classification else None
        expected = [names[int(np.argmax(p))] for p in exact] if names else oracles.labels(machine, values)
        assert [float(line[0]) for line in lines[1:]] == pytest.approx(expected, rel=1e-5)


# ---- several centres, compressed forms


@pytest.mark.parametrize("svm_type", oracles.SVM_TYPES)
def test_as_many_centers_as_vectors_are_almost_exact(svm_type):
    """Every vector is its own centre but for the centre's rounding: nothing is left to expand."""
    rng = np.random.default_rng(25)
    machine, rows = gaussian(rng, svm_type, n=20, d=4, gamma=2.0, nr_class=3)
    machine.vectors = [
        {i: float(v) for i, v in zip(machine.features, x)} for x in rng.standard_normal((20, 4))
    ]  # no two of them equal
    exact = oracles.decision_values(machine, rows)
    model = parse_model(compiled(machine, clusters=20, single=False).to_text(), "a.approx")
    assert len(model.centers) == 20
    assert np.abs(decide(model, rows)[0] - exact).max() < 1e-4
    assert np.abs(decide(compiled(machine, single=False), rows)[0] - exact).max() > 1e-2


def test_centers_of_clusters_share_the_work_of_one():
    """Two heaps far apart: two centres do for each what one does for one heap alone, and none for the far one."""
    rng = np.random.default_rng(26)
    near, near_rows = gaussian(rng, n=60, d=4, gamma=0.05)
    indices = near.features
    away = [{i: v + 1000.0 for i, v in zip(indices, x)} for x in rng.standard_normal((60, 4))]
    near.vectors = [{i: float(v) for i, v in zip(indices, x)} for x in rng.standard_normal((60, 4))]
    both = Machine("epsilon_svr", "rbf", near.vectors + away, rng.standard_normal((120, 1)), [0.1], gamma=0.05)
    first = Machine("epsilon_svr", "rbf", near.vectors, both.coef[:60], [0.1], gamma=0.05)
    rows = [row for row in near_rows if set(row) <= set(indices)]
    model = compiled(both, clusters=2, single=False)
    assert len(model.centers) == 2
    values, outside = decide(model, rows)
    alone, outside_alone = decide(compiled(first, single=False), rows)
    np.testing.assert_allclose(values, alone, atol=1e-3)
    assert abs(outside - outside_alone) <= 3


def test_full_rank_is_no_compression_and_less_loses_what_the_eigenvalues_say():
    rng = np.random.default_rng(27)
    machine, rows = gaussian(rng, n=50, d=10, nr_class=3, offset=0.5)
    whole, _ = decide(compiled(machine, single=False), rows)
    values, _ = decide(parse_model(compiled(machine, single=False, rank=10).to_text(), "a.approx"), rows)
    np.testing.assert_allclose(values, whole, atol=1e-10)
    for rank in (1, 4, 9):
        model = compiled(machine, single=False, rank=rank)
        point, *_ = points(model)
        for pair in range(3):
            *_, M = oracles.expansion(machine, pair, point, model.features, 2)
            lost = np.sort(np.abs(np.linalg.eigvalsh(M.astype(float))))[-rank - 1]
            _, z = oracles.about(machine, rows, point)
            squares = (z**2).sum(axis=1)
            allowed = lost * squares * np.exp(-machine.gamma * squares)
            assert np.all(np.abs(decide(model, rows)[0][:, pair] - whole[:, pair]) <= allowed * (1 + 1e-9) + 1e-12)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_tolerance_bounds_what_compression_changes(tolerance):
    ranks = set()
    for seed in range(10):
        rng = np.random.default_rng([seed, 28])
        machine, _ = gaussian(rng, n=50, d=12, nr_class=3, gamma=float(10 ** rng.uniform(-4, 0)))
        model, whole = compiled(machine, single=False, tolerance=tolerance), compiled(machine, single=False)
        point, *_ = points(model)
        rows = machine.vectors + random_rows(rng, 50, machine.features)
        _, z = oracles.about(machine, rows, point)
        near = (z**2).sum(axis=1) <= model.centers[0].largest_norm
        change = np.abs(decide(model, rows)[0] - decide(whole, rows)[0])
        assert np.all(change[near] <= tolerance + 1e-12)
        ranks |= {e.rank for e in model.expansions}
    assert min(ranks) < 12


# ---- certificates: a radius is a bound of the distance to the formula, and to LIBSVM's own sum


def decide_with_radius(model, rows):
    out = _native.Decisions(model.pairs, True)
    model.decision_values(parse(rows), out)
    return np.array(out.value), np.array(out.radius)


def reference(machine, rows):
    model = parse_model(machine.text(), "a.model")
    out = _native.Decisions(model.pairs)
    model.reference_values(parse(rows), out)
    return np.array(out.value)


@st.composite
def certified(draw):
    """(machine, rows, options of the compiler): easy, hopeless and treacherous ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kernel = draw(st.sampled_from(["rbf", "rbf", "rbf", "rbf", "linear", "polynomial"]))
    svm_type = draw(st.sampled_from(oracles.SVM_TYPES))
    d, n = draw(st.integers(1, 6)), draw(st.integers(0, 40))
    scale, density = draw(st.sampled_from([1e-3, 1.0, 1.0, 1e3])), draw(st.sampled_from([0.4, 1.0]))
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, 100.0, 1e6])) * scale
    gamma = float(10 ** draw(st.floats(-4, 3.5)) / (d * scale**2))
    indices = list(range(1, d + 1))
    vectors = random_rows(rng, n, indices, density=density, scale=scale, offset=offset)
    rows = random_rows(rng, 8, [*indices, 9], density=density, scale=scale, offset=offset)
    rows += random_rows(rng, 3, indices, scale=10 * scale, offset=offset) + [dict(x) for x in vectors[:3]] + [{}]
    degree = draw(st.integers(0, 4))
    parameters = {"gamma": gamma, "coef0": float(rng.normal()), "degree": degree}
    machine = random_machine(rng, svm_type, kernel, vectors, nr_class=draw(st.sampled_from([2, 3])), **parameters)
    if draw(st.booleans()):  # near-duplicates with opposite coefficients, large ones
        for i in range(1, n, 2):
            vectors[i] = {j: v + 1e-7 * scale * float(rng.standard_normal()) for j, v in vectors[i - 1].items()}
            machine.coef[i] = -machine.coef[i - 1]
        machine.coef *= 10.0 ** draw(st.sampled_from([0, 6, 10]))
    options = {"single": draw(st.booleans())}
    if kernel == "rbf":
        options["degree"] = max(degree, 1)
        if draw(st.booleans()):
            options["clusters"] = draw(st.integers(2, 6))
        else:
            options["center"] = draw(st.sampled_from(CENTERS))
    if options.get("degree") == 2:
        options |= draw(st.sampled_from([{}, {"rank": 1}, {"rank": 3}, {"tolerance": 1e-3}]))
    return machine, rows, options


@settings(seeded, max_examples=300)
@given(certified())
def test_no_value_is_farther_from_the_truth_or_from_libsvm_than_its_radius(case):
    machine, rows, options = case
    try:
        model = compiled(machine, certify=True, **options)
    except ModelFormatError as fault:
        assert "scale the data" in str(fault)
        return
    values, radii = decide_with_radius(parse_model(model.to_text(), "a.approx"), rows)
    assert np.all(radii >= 0)
    np.testing.assert_array_equal(values, decide(model, rows)[0])  # asking for radii changes no value
    assert np.all(np.abs(values - reference(machine, rows)) <= radii)
    assert np.all(np.abs(values - oracles.decision_values(machine, rows)) <= radii)


@pytest.mark.parametrize("kernel, degree", [("linear", 1), ("polynomial", 1), ("polynomial", 2), ("polynomial", 4)])
def test_radii_of_finite_kernels_cover_what_single_precision_loses(kernel, degree):
    rng = np.random.default_rng(33)
    for offset in (0.0, 5.0):
        vectors = random_rows(rng, 20, [1, 2, 3, 4], offset=offset)
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=3, gamma=0.3, coef0=0.2, degree=degree)
        rows = random_rows(rng, 100, [1, 2, 3, 4, 7], offset=offset)
        values, radii = decide_with_radius(
            parse_model(compiled(machine, certify=True, single=True).to_text(), "a.approx"), rows
        )
        error = np.abs(values - oracles.decision_values(machine, rows))
        assert np.all(error <= radii)
        assert np.median(radii) <= 1e-5 * np.median(oracles.magnitudes(machine, rows) + 1)


@pytest.mark.parametrize("scale", [1e-12, 1e-8, 1e-3, 1e3, 1e8, 1e12])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_radii_do_not_depend_on_the_unit_of_the_features(scale, degree):
    """A kernel of gamma |x - z|^2 does not change when features are measured in millimetres and gamma with them."""
    rng = np.random.default_rng(34)
    machine, rows = gaussian(rng, n=40, d=5, gamma=0.05)
    _, expected = decide_with_radius(compiled(machine, certify=True, degree=degree, single=False), rows)
    scaled = [[{i: scale * v for i, v in row.items()} for row in group] for group in (machine.vectors, rows)]
    machine.vectors, machine.gamma = scaled[0], machine.gamma / scale**2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = compiled(machine, certify=True, degree=degree, single=False)
    values, radii = decide_with_radius(parse_model(model.to_text(), "a.approx"), scaled[1])
    assert np.all(np.abs(values - oracles.decision_values(machine, scaled[1])) <= radii)
    assert np.all(radii <= 1.1 * expected + 1e-12)  # the centre's rounding differs a little


def test_radii_of_polynomial_kernels_of_unscaled_data_are_finite():
    rng = np.random.default_rng(35)
    machine = random_machine(
        rng, "c_svc", "polynomial", random_rows(rng, 20, [1, 2, 3], scale=1e8), gamma=1.0, degree=2
    )
    values, radii = decide_with_radius(compiled(machine, certify=True), random_rows(rng, 20, [1, 2, 3], scale=1e8))
    assert np.all(radii <= 1e-9 * np.abs(values).max())


@pytest.mark.parametrize("certify", [False, True])
def test_clusters_of_zero_vectors_and_of_duplicates_compile(certify):
    for vectors in ([{}] * 6, [{1: 2.0}] * 6, [{1: 1.0}, {1: 2.0}] * 3):
        machine = random_machine(np.random.default_rng(36), "c_svc", "rbf", vectors, gamma=0.5, nr_class=2)
        rows = [{}, {1: 1.5}, {2: 1.0}]
        for clusters in (2, 5, 100):
            model = parse_model(
                compiled(machine, clusters=clusters, certify=certify, single=False).to_text(), "a.approx"
            )
            assert 1 <= len(model.centers) <= 6
            np.testing.assert_allclose(
                decide(model, rows)[0], oracles.decision_values(machine, rows).astype(float), atol=1e-9
            )


def test_radii_are_small_where_the_expansion_is_good():
    """A radius that is never small would prove nothing: most signs are proven here, and few radii exceed the error a
    hundredfold."""
    rng = np.random.default_rng(29)
    machine, _ = gaussian(rng, n=200, d=6, gamma=0.01)
    rows = random_rows(rng, 300, machine.features)
    exact = oracles.decision_values(machine, rows)
    last = np.inf
    for degree in (1, 2, 3, 4):
        values, radii = decide_with_radius(compiled(machine, certify=True, degree=degree, single=False), rows)
        assert np.median(radii) < last / 3
        last = np.median(radii)
        assert np.median(np.abs(values - exact) / radii) > 0.01
    assert np.mean(np.abs(values) > radii) > 0.95
    for kernel, degree in (("linear", 1), ("polynomial", 2), ("polynomial", 4)):
        machine.kernel, machine.degree, machine.coef0, machine.gamma = kernel, degree, 0.5, 0.1
        values, radii = decide_with_radius(compiled(machine, certify=True), rows)
        assert np.all(radii <= 1e-11 * (oracles.magnitudes(machine, rows) + 1e3))


def test_radii_cover_the_rounding_of_the_distance_from_a_centre():
    """One vector, its own centre: nothing is truncated, and |z|^2 - 2 z.m + |m|^2 loses a few digits."""
    worst = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 37])
        machine = random_machine(
            rng, "epsilon_svr", "rbf", random_rows(rng, 1, [1, 2, 3, 4, 5], offset=20.0), gamma=0.5
        )
        rows = random_rows(rng, 100, [1, 2, 3, 4, 5], offset=20.0, scale=0.5)
        values, radii = decide_with_radius(compiled(machine, certify=True, degree=1, single=False), rows)
        error = np.abs(values - oracles.decision_values(machine, rows))
        assert np.all(error <= radii)
        worst = max(worst, error.max())
    assert worst > 1e-14


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_votes_are_settled_where_no_value_within_its_radius_changes_the_label(classes):
    rng = np.random.default_rng(38)
    machine = random_machine(rng, "c_svc", "rbf", [], nr_class=classes)
    task, pairs = parse_model(machine.text(), "a.model").header.task(), len(machine.pairs)
    for _ in range(5):
        out = _native.Decisions(pairs, True)
        out.resize(400)
        values, radii = np.asarray(out.value), np.asarray(out.radius)
        values[:], radii[:] = rng.integers(-3, 4, values.shape), rng.choice([0, 1, 2], radii.shape)
        open_rows = []
        for row, (value, radius) in enumerate(zip(values, radii)):
            # Its ends have every sign that the interval allows; 0 votes for the second class.
            ends = itertools.product(*({v - r, v + r} for v, r in zip(value, radius)))
            if len(set(oracles.labels(machine, list(ends)))) > 1:
                open_rows.append(row)
        assert 0 < len(open_rows) < 400
        assert _native.unsettled(task, out, False, 0.0) == open_rows


def lines_of(model, rows, **options):
    written = []
    tally = predict(model, [parse(rows)], written.append, path="rows", **options)
    return b"".join(written), tally


@pytest.mark.parametrize(
    "options", [{}, {"degree": 1}, {"clusters": 3}, {"rank": 2}, {"center": "pair", "degree": 3}], ids=str
)
@pytest.mark.parametrize("probability", [False, True], ids=["labels", "probabilities"])
@pytest.mark.parametrize("svm_type", oracles.SVM_TYPES)
def test_with_the_exact_model_behind_it_every_line_is_the_exact_models(svm_type, probability, options):
    settled = 0
    for seed, nr_class in enumerate((2, 2, 3, 5)):
        rng = np.random.default_rng([seed, 30])
        machine, rows = gaussian(rng, svm_type, n=60, d=5, gamma=0.02, nr_class=nr_class, probability=True)
        rows += [dict(x) for x in machine.vectors]
        exact = parse_model(machine.text(), "a.model")
        model = parse_model(compiled(machine, certify=True, **options).to_text(), "a.approx")
        expected, _ = lines_of(exact, rows, probability=probability)
        ours, tally = lines_of(model, rows, probability=probability, exact=Fallback(lambda exact=exact: exact))
        settled += len(rows) - tally.evaluated
        if svm_type.endswith("svr"):
            assert [float(v) for v in ours.split()] == [v for (v,) in reference(machine, rows)]
        elif probability:
            for a, b in zip(ours.splitlines(), expected.splitlines(), strict=True):
                assert a.split()[0] == b.split()[0]
                if a != b:  # the sixth digit may be rounded either way
                    np.testing.assert_allclose(
                        [float(v) for v in a.split()], [float(v) for v in b.split()], rtol=1.1e-5
                    )
        else:
            assert ours == expected
    if svm_type in ("c_svc", "nu_svc", "one_class") and not probability:
        assert settled > 0


def test_regression_within_a_tolerance_needs_no_exact_model_where_radii_are_smaller():
    rng = np.random.default_rng(31)
    machine, rows = gaussian(rng, "epsilon_svr", n=60, d=5, gamma=0.002)
    exact, model = parse_model(machine.text(), "a.model"), compiled(machine, certify=True, degree=4, single=False)
    _, radii = decide_with_radius(model, rows)
    tolerance = float(np.median(radii))
    text, tally = lines_of(model, rows, exact=Fallback(lambda: exact, tolerance))
    assert tally.evaluated == np.sum(radii > tolerance)
    assert 0 < tally.evaluated < len(rows)
    assert np.all(np.abs(np.array(text.split(), float) - reference(machine, rows)[:, 0]) <= tolerance)


def test_where_f_is_zero_the_exact_models_label_is_taken():
    rng = np.random.default_rng(32)
    half = [{i: float(rng.standard_normal()) for i in range(1, 7)} for _ in range(30)]
    a, order = rng.uniform(0.1, 3, 30), rng.permutation(30)
    image = [{**half[i], 1: -half[i][1]} for i in order]
    machine = Machine(
        "c_svc",
        "rbf",
        half + image,
        np.concatenate([a, -a[order]])[:, None],
        [0.0],
        gamma=0.05,
        label=[5, -2],
        nr_sv=[30, 30],
    )
    rows = [{i: float(rng.standard_normal()) for i in range(2, 9)} for _ in range(200)]
    exact = parse_model(machine.text(), "a.model")
    ours, tally = lines_of(compiled(machine, certify=True), rows, exact=Fallback(lambda: exact))
    assert tally.evaluated == tally.reference_rows == len(rows)
    assert [float(v) for v in ours.split()] == oracles.labels(machine, reference(machine, rows))
    assert 20 < ours.count(b"-2") < 180


# ---- benchmark data


def labels_of(model, path, **options):
    written = []
    predict(model, read_chunks(str(path)), written.append, path="rows", **options)
    return np.array(b"".join(written).split(), float)


@pytest.mark.parametrize(
    "model, data, center, most",
    [
        ("ijcnn1_g0.05_c1", "ijcnn1.t", None, 0.001 * 91701),
        ("mnist1_g0.0001_c10", "mnist1.t", None, 0),
        ("u20_g0.1_c1", "u20.t", None, 0.0045 * 20000),
        ("a9a_g0.01_c1", "a9a.t", None, 3),
        ("a9a_g0.01_c1", "a9a.t", "origin", 0.0022 * 16281),
    ],
)
def test_few_labels_differ_on_benchmark_data(shared, model, data, center, most):
    exact = load_model(str(shared / "models" / f"{model}.model"))
    fast = parse_model(compile_maclaurin(exact, fingerprint="0" * 32, center=center).to_text(), "a.approx")
    path = shared / "data" / data
    assert np.sum(labels_of(fast, path) != labels_of(exact, path)) <= most


@pytest.mark.parametrize(
    "model, data, share", [("ijcnn1_g0.05_c1", "ijcnn1.t", 0.98), ("mnist1_g0.0001_c10", "mnist1.t", 0.999)]
)
def test_certificates_settle_benchmark_rows_and_the_exact_model_the_rest(shared, model, data, share):
    exact = load_model(str(shared / "models" / f"{model}.model"))
    fast = compile_maclaurin(exact, fingerprint="0" * 32, certify=True)
    path = shared / "data" / data
    written = []
    tally = predict(fast, read_chunks(str(path)), written.append, path="rows", exact=Fallback(lambda: exact))
    np.testing.assert_array_equal(np.array(b"".join(written).split(), float), labels_of(exact, path))
    assert tally.evaluated <= (1 - share) * tally.rows
