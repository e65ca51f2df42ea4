"""Intervals of ordered models, when a row stops, and at what cost. Every interval holds the exact value and LIBSVM's:
zoo/test_radii.py."""

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli._native import TriangleFile
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import Model
from support import oracles
from support.evaluation import decide, decisions_of, parse, stopped_after
from support.hostile import uncovered
from support.in_process import mirrored
from support.messages import cases
from support.oracles import Machine, random_machine, random_rows
from support.ordering import (
    COMPILERS,
    UNKNOWN,
    Libsvm,
    after,
    methods_for,
    order,
    random_vectors,
    spread,
    stopped,
    trained_signs,
    truths,
    with_points,
)
from support.profiles import seeded
from support.reducing import lines


def assert_covered(value, radius, *expected):
    for truth in expected:
        assert not uncovered(np.abs(value - truth), radius).any()


# ---- widths


def test_a_row_is_not_taken_into_the_span_of_points_by_their_rounding():
    """The row lies along the difference of two nearly equal points, except for its part along w."""
    rng = np.random.default_rng(22)
    for _ in range(50):
        vectors = [{1: 1.0}, {1: 1.0, 2: float(10 ** rng.uniform(-5.5, -4))}, {3: 1.0}]
        machine = Machine("epsilon_svr", "linear", vectors, np.array([[0.0], [0.0], [1.0]]), [0.0])
        rows = [{2: 1.0, 3: float(h)} for h in 10 ** rng.uniform(-6, -2, 10)]
        value, radius = after(with_points(machine, [0, 1]), parse(rows), 2)
        assert np.isfinite(radius).all()
        assert_covered(value, radius, oracles.decision_values(machine, rows))


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "kernel, classes",
    [("rbf", 2), ("rbf", 4), ("exponential", 2), ("normalized_polynomial", 2), ("polynomial", 3)],
)
def test_the_interval_is_that_of_exact_arithmetic_but_for_rounding(kernel, classes):
    """The value is the centre: <w, phi(z)> in the span of the points. Nor is it wider than the paper's."""
    rng, narrower = np.random.default_rng(22), []
    for _ in range(2):
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
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the oracle
@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
def test_triangle_stops_no_later_than_the_papers_conditions(kernel):
    """Rows are examined after every 16 terms of a list of this length, not counting pivots."""
    rng, saved = np.random.default_rng(26), 0
    for _ in range(4):
        vectors = random_vectors(rng, 230, [1, 2, 3], 1.0)
        machine = random_machine(rng, "c_svc", kernel, vectors, gamma=float(10 ** rng.uniform(-1, 1)))
        model = order(machine, "triangle", lists=int(rng.integers(1, 4)))
        for row in [*random_rows(rng, 6, [1, 2, 3], scale=3), vectors[0], {UNKNOWN: 0.5}]:
            (evaluations,) = stopped(model, parse([row]))[2]
            stops = oracles.papers_stops(machine, model.pivots, row)
            assert evaluations <= min(230, len(model.pivots) + 16 * -(-min(stops) // 16)), stops
            saved += 230 - min(stops)
    assert saved > 0.1 * 4 * 8 * 230


# ---- attack


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
            assert_covered(value, radius, *expected)
            worst = max(worst, float(np.max(np.where(np.isfinite(radius), np.abs(value - expected[0]) / radius, 0))))
    target(worst)


# ---- when a row stops


@pytest.mark.full(few=2)
@pytest.mark.parametrize("method, kernel, classes, density", cases("ordered models"))
def test_a_row_stops_where_it_stops_alone(method, kernel, classes, density):
    """Rows are evaluated side by side and replace each other."""
    stops, indices = set(), range(1, 9) if density == 1 else range(1, 200)
    for gamma in (0.2, 0.02, 1.0):
        rng = np.random.default_rng(63)
        vectors = random_rows(rng, 130, indices, density=density)
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=classes, gamma=gamma, coef0=1.0, degree=2)
        of = np.repeat(np.arange(classes), machine.nr_sv)
        machine.coef, machine.rho = trained_signs(machine, of), [0.0] * len(machine.rho)
        for vector, c in zip(machine.vectors, of.tolist()):  # classes apart: rows stop at different times
            vector[c + 1] = 3.0
        model = order(machine, method, **{"points": 120} if method == "geometry" else {})
        rows = random_rows(rng, 150, [*indices, UNKNOWN], density=density)
        rows = [{**row, r % classes + 1: float(rng.uniform(-3, 6))} for r, row in enumerate(rows)]
        together = stopped(model, parse(rows))
        for r in range(0, 150, 3):
            alone = stopped(model, parse([rows[r]]))
            for ours, theirs in zip(together[:3], alone[:3]):
                np.testing.assert_array_equal(ours[r], theirs[0])
            assert (r in together[3]) == bool(alone[3])
        stops.update(together[2].tolist())
    assert len(stops) > 2


def decides(task, value, radius):
    """Whether these intervals of one decision function decide the label."""
    return ~np.isin(np.arange(len(value)), _native.undecided_rows(task, decisions_of(value, radius)))


#: Features added to four -> numbers of points after which a geometry model examines rows; then every 32.
FIRST_STOPS = {
    0: [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64],
    6: [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64],
    20: [4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64],
}


@pytest.mark.parametrize("kernel, more", [("normalized_polynomial", 0), ("rbf", 6), ("exponential", 20)])
def test_geometry_stops_at_the_first_look_that_decides_the_label(kernel, more):
    """After 1, 2, 3, 4, ... points with few features, then less and less often; never between."""
    seen = set()
    for trial in range(4):
        rng = np.random.default_rng([64, trial])
        machine = spread(rng, 140, kernel, d=4)
        machine.gamma = (0.5, 0.02)[trial % 2]
        rows = random_rows(rng, 80, [1, 2, 3, 4], scale=float(rng.choice([0.3, 1, 2])))
        for vector in machine.vectors:  # useless features, so that rows are examined less often
            vector.update({100 + i: 1e-3 for i in range(more)})
        model = order(machine, "geometry", points=100)
        chunk, task, points = parse(rows), model.header.task(), len(model.points)
        _, _, evaluations, left = stopped(model, chunk)
        expected = np.full(len(rows), points)
        # A decided interval stays decided: the first look counts.
        for k in sorted({min(k, points) for k in [*FIRST_STOPS[more], 96, 100]}, reverse=True):
            expected[decides(task, *after(model, chunk, k))] = k
        np.testing.assert_array_equal(evaluations, expected)
        assert left == np.flatnonzero(~decides(task, *after(model, chunk, points))).tolist()
        seen.update(evaluations.tolist())
    assert len(seen) > 6 and (more or seen & {3, 5, 6, 7, 10, 14})


def test_with_many_decision_functions_geometry_looks_every_32_points():
    rng = np.random.default_rng(65)
    machine = spread(rng, 150, "rbf", d=3, classes=5)
    machine.coef = trained_signs(machine, np.repeat(np.arange(5), machine.nr_sv))
    model = order(machine, "geometry", points=120)
    assert set(stopped(model, parse(random_rows(rng, 300, [1, 2, 3], scale=2)))[2].tolist()) <= {32, 64, 96, 120}


@pytest.mark.parametrize("kernel, vectors, apart", [("rbf", 100, 16), ("exponential", 400, 32)])
def test_triangle_looks_every_few_vectors_of_its_list(kernel, vectors, apart):
    rng = np.random.default_rng(67)
    machine = random_machine(rng, "c_svc", kernel, random_rows(rng, vectors, [1, 2], scale=3), gamma=2.0)
    model = order(machine, "triangle", lists=3)
    lists, n = len(model.pivots), vectors - len(model.pivots)
    spent = stopped(model, parse(random_rows(rng, 300, [1, 2], scale=4)))[2] - lists
    assert set(spent.tolist()) <= {*range(0, n, apart), n} and len(set(spent.tolist())) > 3


# ---- evaluations


@pytest.mark.parametrize("kernel, classes", [("rbf", 3), ("exponential", 2)])
def test_triangle_computes_no_kernel_value_twice(kernel, classes):
    """With all support vectors as pivots, or one repeated, as only a hand-made file has it."""
    rng = np.random.default_rng(68)
    machine = random_machine(rng, "c_svc", kernel, random_rows(rng, 40, [1, 2, 3]), nr_class=classes, gamma=0.5)
    rows = [*random_rows(rng, 40, [1, 2, 3, UNKNOWN], scale=3), *machine.vectors[:5], {}]
    chunk, expected, exact = parse(rows), truths(machine, rows), order(machine, "triangle").exact
    for pivots, most in ((list(range(40)), 40), ([7], 40), ([3, 9, 30], 40), ([5, 5, 5], 42), ([39, 0, 39, 1, 2], 41)):
        model = Model(TriangleFile(exact.file, fingerprint="f", pivots=pivots))
        value, radius, evaluations, _ = stopped(model, chunk)
        assert_covered(value, radius, *expected)
        assert np.all(evaluations >= len(pivots)) and evaluations.max() <= most
        assert lines(model, rows)[0] == Libsvm(machine).lines(rows)


def test_a_row_far_from_everything_costs_triangle_its_pivots_alone():
    machine = random_machine(np.random.default_rng(69), "c_svc", "rbf", [{1: 0.5}, {2: 1.0}, {1: -1.0}] * 20, gamma=1.0)
    machine.rho = [0.5]
    assert stopped(order(machine, "triangle", lists=2), parse([{1: 100.0}, {2: -50.0}]))[2].tolist() == [2, 2]


@pytest.mark.parametrize("method", COMPILERS)
def test_rows_left_open_are_counted_in_full_and_by_reference_once_more(method):
    """f is 0 in exact arithmetic: only LIBSVM's order of operations decides."""
    machine, rows = mirrored(np.random.default_rng(70), "rbf", n=20)
    model, rows = order(machine, method), rows[:20]
    first, out = stopped(model, parse(rows))[2], _native.Decisions(1)
    model.decision_values(parse(rows), out)
    assert out.reference_rows == len(rows)
    np.testing.assert_array_equal(np.array(out.evaluations), first + 2 * 40)


# ---- predict --steps


def stopped_lines(model, rows, k):
    """Labels, values, radii and odds that are printed; counts."""
    written, run_counts = lines(stopped_after(model, k), rows, values=True)
    words = [line.split() for line in written]
    numbers = np.array([row[1:] for row in words], float)
    return [row[0] for row in words], *np.split(numbers, 3, axis=1), run_counts


@pytest.mark.full(few=1)
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("c_svc", 3), ("one_class", 2), ("epsilon_svr", 2)])
def test_stopped_rows_print_value_radius_and_the_odds_of_eq_32(svm_type, classes):
    seen = []
    for trial in range(6):
        rng = np.random.default_rng([40, trial])
        vectors, gamma = random_rows(rng, 90, [1, 2, 3, 4]), float(10 ** rng.uniform(-1, 1))
        machine = random_machine(rng, svm_type, "rbf", vectors, nr_class=classes, gamma=gamma)
        rows = [*random_rows(rng, 20, [1, 2, 3, 4]), *machine.vectors[:3]]
        model, k = order(machine, "geometry"), int(rng.integers(1, 25))
        labels, value, radius, odds, run_counts = stopped_lines(model, rows, k)
        expected, exact_radius = decide(stopped_after(model, k), parse(rows))
        np.testing.assert_array_equal((value, exact_radius), (expected, after(model, parse(rows), k)[1]))
        assert np.all(radius >= exact_radius) and np.all(radius <= 1.02 * exact_radius)  # three digits, rounded up
        for v, r, printed_r, p in zip(value.ravel(), exact_radius.ravel(), radius.ravel(), odds.ravel()):
            assert p == pytest.approx(oracles.odds(v - r, v + r), abs=1e-6, rel=1e-5)
            assert p == pytest.approx(oracles.odds(v - printed_r, v + printed_r), abs=0.01)
            assert (p == 1) == (v >= r) and (p == 0) == (v <= -r)
        seen += odds.ravel().tolist()
        assert labels == ["%.17g" % label for label in oracles.labels(machine, value)]
        assert run_counts.kernel_evaluations == min(k, len(model.points)) * len(
            rows
        )  # even of rows that were decided before
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
