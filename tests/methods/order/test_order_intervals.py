"""Every interval of an ordered model contains the exact value and svm-predict's, and is not wider than the paper's."""

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import Model
from support import oracles
from support.evaluation import decide, parse
from support.oracles import EXTENDED, Machine, random_machine, random_rows
from support.ordering import (
    KERNELS,
    UNKNOWN,
    Libsvm,
    after,
    assert_covered,
    exact_model,
    lines,
    methods_for,
    order,
    random_case,
    random_options,
    random_vectors,
    spread,
    stopped,
    truths,
    uncovered,
)
from support.profiles import seeded

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- geometry


def beside(rng, row):
    """A row so near that rounding may lose K(z, z) - |y|^2, whose square root is not small."""
    return {index: v * (1 + 10 ** rng.uniform(-11, -5) * float(rng.standard_normal())) for index, v in row.items()}


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kernel", KERNELS["geometry"])
def test_every_interval_contains_the_exact_value_and_libsvms(kernel):
    finite = []
    for trial in range(60):
        rng = np.random.default_rng([20, trial])
        machine, rows = random_case(rng, kernel)
        try:
            model = order(machine, "geometry", **random_options(rng, machine, "geometry"))
        except ModelFormatError:
            continue
        chosen = [machine.vectors[p] for p in model.points[:30] if p < len(machine.vectors)]
        rows += chosen + [beside(rng, row) for row in chosen]
        chunk, expected = parse(rows), truths(machine, rows)
        count = len(model.points)
        some = range(1, 13) if count <= 12 else [1, 2, 31, 32, 33, 64, count, *rng.integers(1, count, 6).tolist()]
        for k in sorted({min(k, count) for k in some} if count else ()):
            value, radius = after(model, chunk, k)
            assert_covered((trial, k), value, radius, *expected)
            finite.append(np.isfinite(radius).mean())
            assert_covered((trial, k), *decide(model.stopped_after(k), chunk), *expected)  # as in predict --steps
    assert np.mean(finite) > 0.7


def with_points(machine, points, vectors=(), rng=None, slack=0.0):
    """A geometry model of any points, of support vectors and further vectors. slack: error of the file's numbers, which
    the file declares."""
    exact = exact_model(machine)
    everything = [*machine.vectors, *vectors]
    text = "".join(oracles.row_text(" ".join(["0"] * machine.coef.shape[1]), row) + "\n" for row in everything)
    all_vectors = _native.parse(text.encode(), leading_count=machine.coef.shape[1])[0]
    out = _native.Decisions(exact.pairs, True)
    exact.evaluator.fast_values(all_vectors.select(points), out)
    b = np.array(out.value) + np.array(machine.rho)
    error = (np.array(out.radius) + 4 * oracles.UNIT * (np.abs(b) + np.abs(np.array(out.value)))).max(axis=0)
    if slack:
        b += slack * rng.choice([-1, 1], b.shape)
        error += slack
    a, k = machine.pair_coefficients.astype(EXTENDED), oracles.kernel_values(machine, machine.vectors)
    squared_norm, size = (((a @ k) * a).sum(axis=1) for a, k in ((a, k), (np.abs(a), np.abs(k))))
    upper = (np.maximum(squared_norm, 0) + 1e-15 * size).astype(float)
    how = dict(sequence="any", all_vectors=all_vectors, points=list(points), b=np.ascontiguousarray(b).ravel())
    return Model(_native.GeometryFile(exact.file, "f", **how, squared_norm=upper.tolist(), b_error=error.tolist()))


@pytest.mark.full
@pytest.mark.parametrize("kernel", KERNELS["geometry"])
def test_intervals_of_points_in_any_order_contain_the_exact_value(kernel):
    """Dependent points, twins, repeated points, vectors that are not support vectors: a file may name any."""
    narrow = 0
    for trial in range(60):
        rng = np.random.default_rng([21, trial])
        n, d = int(rng.integers(2, 70)), int(rng.integers(1, 5))
        indices = list(range(1, d + 1))
        vectors = random_rows(rng, n, indices, scale=float(rng.choice([0.1, 1, 3])))
        for i in range(1, n, 3):
            vectors[i] = {index: v * (1 + 10 ** rng.uniform(-16, -2)) for index, v in vectors[i - 1].items()}
        gamma, coef0, degree = float(10 ** rng.uniform(-2, 1)), float(rng.choice([0.01, 1])), int(rng.integers(1, 5))
        how = dict(nr_class=int(rng.choice([2, 3])), gamma=gamma, coef0=coef0, degree=degree)
        machine = random_machine(rng, "c_svc", kernel, vectors, **how)
        machine.coef *= 10.0 ** rng.choice([0, 0, 8])
        more = random_rows(rng, 3, [*indices, UNKNOWN])
        points = [int(p) for p in rng.integers(0, n + 3, int(rng.integers(1, 90)))]
        slack = float(rng.choice([0, 1e-9, 1e-3])) * float(np.abs(machine.coef).max())
        model = with_points(machine, points, more, rng, slack)
        chosen = [([*vectors, *more])[p] for p in points[:6]]
        rows = [*random_rows(rng, 6, [*indices, UNKNOWN]), *chosen, *(beside(rng, row) for row in chosen), {}]
        chunk, expected = parse(rows), truths(machine, rows)
        for k in sorted({1, len(points), *rng.integers(1, len(points) + 1, 4).tolist()}):
            value, radius = after(model, chunk, k)
            assert_covered((trial, k), value, radius, *expected)
        narrow += np.median(radius / np.abs(machine.coef).sum()) < 0.1
    assert narrow > 12


def test_a_row_is_not_taken_into_the_span_of_points_by_their_rounding():
    """The row lies along the difference of two nearly equal points, except for its part along w."""
    rng = np.random.default_rng(22)
    for _ in range(50):
        vectors = [{1: 1.0}, {1: 1.0, 2: float(10 ** rng.uniform(-5.5, -4))}, {3: 1.0}]
        machine = Machine("epsilon_svr", "linear", vectors, np.array([[0.0], [0.0], [1.0]]), [0.0])
        rows = [{2: 1.0, 3: float(h)} for h in 10 ** rng.uniform(-6, -2, 10)]
        value, radius = after(with_points(machine, [0, 1]), parse(rows), 2)
        assert np.isfinite(radius).all() and not uncovered(value, radius, oracles.decision_values(machine, rows)).any()


@seeded()
@given(st.data())
def test_a_search_for_a_value_beyond_its_interval_finds_none(data):
    real = st.floats(-4, 4, width=32)
    n, d = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 3))
    scale = 10 ** data.draw(st.floats(-3, 3))
    x = np.array(data.draw(st.lists(st.lists(real, min_size=d, max_size=d), min_size=n, max_size=n))) * scale
    coef = np.array(data.draw(st.lists(real, min_size=n, max_size=n)))[:, None] * 10 ** data.draw(st.floats(-3, 10))
    for i in range(1, n):
        twin = data.draw(st.sampled_from([None, None, 0.0, 1e-14, 1e-9, 1e-4]))
        if twin is not None:
            x[i], coef[i] = x[i - 1] * (1 + twin), -coef[i - 1]
    kernel = data.draw(st.sampled_from(["rbf", "rbf", "exponential", "linear", "polynomial", "normalized_polynomial"]))
    offset = data.draw(st.sampled_from([0.0, 0.0, 1.0, 1e3])) * scale
    unit = scale if kernel == "exponential" else scale**2
    parameters = {
        "gamma": 10 ** data.draw(st.floats(-4, 2 if "poly" not in kernel else 0)) / unit,
        "coef0": data.draw(st.sampled_from([0.1, 1.0])),
        "degree": data.draw(st.integers(1, 4)),
    }
    vectors = [dict(enumerate(row, 1)) for row in (x + offset).tolist()]
    machine = Machine("epsilon_svr", kernel, vectors, coef, [data.draw(real)], **parameters)
    z = np.array(data.draw(st.lists(st.lists(real, min_size=d, max_size=d), min_size=1, max_size=4)))
    z = z * 10 ** data.draw(st.floats(-2, 1)) * scale + offset
    rows = [*(dict(enumerate(row, 1)) for row in z.tolist()), *vectors[:2]]
    chunk = parse(rows)
    with np.errstate(all="ignore"):
        expected = oracles.decision_values(machine, rows), oracles.libsvm_values(machine, rows)
        answers = []
        for method in methods_for(kernel):
            try:
                model = order(machine, method)
            except ModelFormatError:
                continue
            if method == "geometry":
                answers += [after(model, chunk, k) for k in range(1, len(model.points) + 1)]
            else:
                answers += [stopped(model, chunk, tolerance)[:2] for tolerance in (0.0, float(np.abs(coef).sum()) / 10)]
        worst = 0.0
        for value, radius in answers:
            assert not uncovered(value, radius, *expected).any(), (machine, rows, value, radius, expected)
            worst = max(worst, float(np.max(np.where(np.isfinite(radius), np.abs(value - expected[0]) / radius, 0))))
    target(worst)


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "kernel, classes",
    [("rbf", 2), ("rbf", 4), ("exponential", 2), ("normalized_polynomial", 2), ("polynomial", 3)],
)
def test_the_interval_is_that_of_exact_arithmetic_but_for_rounding(kernel, classes):
    """The value is the centre: <w, phi(z)> in the span of the points. Nor is it wider than the paper's."""
    rng, narrower = np.random.default_rng(22), []
    for _ in range(4):
        machine = spread(rng, 40, kernel, classes=classes)
        model = order(machine, "geometry", points=30)
        chosen = [machine.vectors[p] for p in model.points]
        rows = [*random_rows(rng, 8, [1, 2, 3, 4, 5]), chosen[0], chosen[-1]]
        center, width = oracles.intervals(machine, chosen, rows)
        chunk, lengths = parse(rows), np.sqrt(oracles.self_kernel(machine, rows))
        sizes = lengths[:, None] * width[0].max(axis=0) / lengths.max()
        for k in range(1, len(chosen) + 1):
            value, radius = after(model, chunk, k)
            assert np.all(radius >= width[k] * (1 - 1e-9))
            assert np.all(radius <= width[k] * (1 + 1e-6) + 3e-5 * sizes), (k, (radius - width[k]).max(), sizes)
            assert np.all(np.abs(value - center[k]) <= 1e-9 * sizes)
            if classes == 2 and k <= 20:
                low, high = oracles.papers_interval(machine, chosen[:k], rows[:6])
                assert np.all(radius[:6, 0] <= (high - low) / 2 * (1 + 1e-6) + 1e-5), k
                narrower += ((high - low) / 2 - radius[:6, 0]).tolist()
    assert not narrower or np.mean(np.array(narrower) > 1e-3) > 0.5


@pytest.mark.full
@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
def test_triangle_stops_no_later_than_the_papers_conditions(kernel):
    """Rows are examined after every 16 terms of a list of this length, not counting pivots."""
    rng, saved = np.random.default_rng(26), 0
    for _ in range(8):
        vectors = random_vectors(rng, 230, [1, 2, 3], 1.0)
        machine = random_machine(rng, "c_svc", kernel, vectors, gamma=float(10 ** rng.uniform(-1, 1)))
        model = order(machine, "triangle", lists=int(rng.integers(1, 4)))
        for row in [*random_rows(rng, 6, [1, 2, 3], scale=3), vectors[0], {UNKNOWN: 0.5}]:
            (evaluations,) = stopped(model, parse([row]))[2]
            stops = oracles.papers_stops(machine, model.pivots, row)
            assert evaluations <= min(230, len(model.pivots) + 16 * -(-min(stops) // 16)), stops
            saved += 230 - min(stops)
    assert saved > 0.1 * 8 * 8 * 230


# ---- predict --steps


def stopped_lines(model, rows, k):
    """Labels, values, radii and odds that are printed; counts."""
    written, run_counts = lines(model.stopped_after(k), rows, values=True)
    words = [line.split() for line in written]
    assert all(len(row) == 1 + 3 * model.pairs for row in words)
    numbers = np.array([row[1:] for row in words], float)
    return [row[0] for row in words], *np.split(numbers, 3, axis=1), run_counts


@pytest.mark.full(few=1)
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("c_svc", 3), ("one_class", 2), ("epsilon_svr", 2)])
def test_stopped_rows_print_value_radius_and_the_odds_of_eq_32(svm_type, classes):
    seen = []
    for trial in range(12):
        rng = np.random.default_rng([40, trial])
        vectors, gamma = random_rows(rng, 90, [1, 2, 3, 4]), float(10 ** rng.uniform(-1, 1))
        machine = random_machine(rng, svm_type, "rbf", vectors, nr_class=classes, gamma=gamma)
        rows = [*random_rows(rng, 20, [1, 2, 3, 4]), *machine.vectors[:3]]
        model, k = order(machine, "geometry"), int(rng.integers(1, 25))
        labels, value, radius, odds, run_counts = stopped_lines(model, rows, k)
        expected, exact_radius = decide(model.stopped_after(k), parse(rows))
        np.testing.assert_array_equal(value, expected)
        assert np.all(radius >= exact_radius) and np.all(radius <= 1.02 * exact_radius)  # three digits, rounded up
        for v, r, printed_r, p in zip(value.ravel(), exact_radius.ravel(), radius.ravel(), odds.ravel()):
            assert p == pytest.approx(oracles.odds(v - r, v + r), abs=1e-6, rel=1e-5)
            assert p == pytest.approx(oracles.odds(v - printed_r, v + printed_r), abs=0.01)
            assert (p == 1) == (v >= r) and (p == 0) == (v <= -r)
        seen += odds.ravel().tolist()
        assert labels == ["%.17g" % label for label in oracles.labels(machine, value)]
        assert run_counts.kernel_evaluations <= k * len(rows)
        if model.pairs == 1 and not model.header.regression:
            sure = (np.abs(value) >= exact_radius)[:, 0]
            assert run_counts.undecided == (~sure).sum()
            assert np.array_equal(np.array(labels)[sure], np.array(Libsvm(machine).lines(rows))[sure])
    assert 0.1 < np.mean((0 < np.array(seen)) & (np.array(seen) < 1))


def test_more_steps_decide_more_rows_until_all_points_are_taken():
    rng = np.random.default_rng(41)
    machine = spread(rng, 150, "rbf", d=3)
    model, rows = order(machine, "geometry", points=128), random_rows(rng, 200, [1, 2, 3])
    undecided = [stopped_lines(model, rows, k)[4].undecided for k in (1, 32, 64, 96, 128, 10**6)]
    assert undecided[0] > undecided[1] > undecided[2] >= undecided[3] >= undecided[4] == undecided[5]


def test_where_nothing_is_known_the_odds_are_even():
    """An infinite radius (an overflowing norm, or no points) must not print nan."""
    rng = np.random.default_rng(42)
    machine = spread(rng, 40, "rbf")
    *_, radius, odds, _ = stopped_lines(order(machine, "geometry"), [{1: 1e200}, {1: 1.0}], 3)
    assert radius[0] == np.inf and odds[0] == 0.5 and 0 <= odds[1] <= 1
    empty = random_machine(rng, "one_class", "rbf", [], gamma=1.0)
    *_, odds, _ = stopped_lines(order(empty, "geometry"), [{1: 1.0}], 3)
    assert 0 <= odds[0] <= 1
