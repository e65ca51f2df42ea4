"""When a row of an ordered model stops, at what cost, and its interval at that moment."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import TriangleFile
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import Model
from support.evaluation import parse
from support.oracles import OWN_KERNELS, Machine, random_machine, random_rows
from support.ordering import (
    COMPILERS,
    NEVER,
    UNKNOWN,
    Libsvm,
    after,
    decide,
    lines,
    order,
    random_case,
    random_options,
    spread,
    truths,
    uncovered,
)

pytestmark = pytest.mark.usefixtures("serial_libsvm")

#: Features added to four -> numbers of points after which a geometry model examines rows; then every 32.
FIRST_STOPS = {
    0: [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64],
    6: [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64],
    20: [4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64],
}
KERNELS = {"geometry": ["rbf", "linear", "polynomial", *OWN_KERNELS], "triangle": ["rbf", "exponential"]}


def stopped(model, chunk, tolerance=0.0, task=None):
    """Value, radius and evaluations of every row when it stops; the rows that never stop."""
    out = _native.Decisions(model.pairs, True)
    left = decide(model, chunk, out, tolerance, task)
    assert out.kernel_evaluations == sum(out.evaluations)
    return np.array(out.value), np.array(out.radius), np.array(out.evaluations), left


def decides(task, value, radius, pairs):
    """Whether these intervals, (rows, pairs), decide the label."""
    out = _native.Decisions(pairs, True)
    out.resize(len(value))
    np.asarray(out.value)[:], np.asarray(out.radius)[:] = value, radius
    open_rows = _native.undecided_rows(task, out)
    return ~np.isin(np.arange(len(value)), open_rows)


def with_features(machine, more):
    """Add useless features to the machine, so that its rows are examined less often."""
    for vector in machine.vectors:
        vector.update({100 + i: 1e-3 for i in range(more)})
    return machine


def pushed(vector, index, by):
    return dict(sorted({**vector, index: vector.get(index, 0.0) + by}.items()))


# ---- the interval when a row stops


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "method, kernel", [(method, kernel) for method, kernels in KERNELS.items() for kernel in kernels]
)
def test_the_interval_at_the_moment_a_row_stops_contains_the_exact_value_and_libsvms(tmp_path, method, kernel):
    stops = set()
    for trial in range(60):
        rng = np.random.default_rng([60, trial])
        machine, rows = random_case(rng, kernel)
        if kernel in OWN_KERNELS:
            rows = [row for row in rows if max(map(abs, row.values()), default=0) < 1e50]
        rows += machine.vectors[:5]
        try:
            model = order(machine, method, **random_options(rng, machine, method))
        except ModelFormatError:
            continue
        chunk, expected = parse(rows), truths(machine, rows, tmp_path)
        size = float(np.abs(machine.coef).sum())
        for task in [None] + [NEVER] * (model.pairs == 1):
            for tolerance in (0.0, 1e-6 * size, 0.03 * size, 0.5 * size):
                value, radius, evaluations, left = stopped(model, chunk, tolerance, task)
                bad = uncovered(value, radius, *expected)
                assert not bad.any(), (trial, np.argwhere(bad), value[bad], radius[bad], [e[bad] for e in expected])
                stops.update(evaluations[~np.isin(np.arange(len(rows)), left)].tolist())
    assert len(stops) > (6 if kernel == "linear" else 12)  # few points span the space of a linear kernel


@pytest.mark.full(few=2)
@pytest.mark.parametrize("kernel", KERNELS["geometry"])
@pytest.mark.parametrize("points", range(1, 10))
def test_labels_after_one_point_two_and_three_are_libsvms(tmp_path, kernel, points):
    """Classes so far apart that a point or two decide; rows between them, at points, and far from all."""
    early = 0
    for trial in range(6):
        rng = np.random.default_rng([61, points, trial])
        d = int(rng.integers(1, 4))
        near = [
            {i: float(side * 3 + 0.3 * rng.standard_normal()) for i in range(1, d + 1)}
            for side in (1, -1)
            for _ in range(20)
        ]
        machine = random_machine(rng, "c_svc", kernel, near, gamma=0.1, coef0=1.0, degree=3)
        machine.nr_sv, machine.coef, machine.rho = (
            [20, 20],
            np.repeat([1.0, -1.0], 20)[:, None] * rng.uniform(0.1, 1, (40, 1)),
            [float(rng.choice([0, 0.01]))],
        )
        rows = [
            *random_rows(rng, 20, list(range(1, d + 1)), scale=4),
            *near[:3],
            *near[-3:],
            {},
            {UNKNOWN: 1.0},
            {1: 1e20},
            {1: 1e-300},
        ]
        rows = (
            rows
            if kernel not in OWN_KERNELS
            else [row for row in rows if max(map(abs, row.values()), default=0) < 1e50]
        )
        model = order(machine, "geometry", points=points)
        ours, run_counts = lines(model, rows)
        assert ours == Libsvm(machine, tmp_path).lines(rows)
        early += int((stopped(model, parse(rows))[2] <= 3).sum()) if points > 3 else 1
    assert early > 0


def test_points_and_rows_that_are_one_decide_nothing_wrongly(tmp_path):
    """Equal support vectors whose coefficients nearly cancel, also with opposite signs; zero vectors."""
    for kernel in KERNELS["geometry"]:
        for trial in range(8):
            rng = np.random.default_rng([62, trial])
            one = {1: float(rng.standard_normal()), 2: float(rng.standard_normal())} if trial % 4 else {}
            machine = random_machine(
                rng, "c_svc", kernel, [dict(one) for _ in range(12)], gamma=0.7, coef0=1.0, degree=2
            )
            machine.coef = np.repeat([1.0, -1.0], 6)[:, None] * rng.uniform(0.5, 1, (12, 1))
            if trial % 2:
                machine.coef[6:] = -machine.coef[:6]
            machine.nr_sv, machine.rho = [6, 6], [float(rng.choice([0.0, 1e-17, -1e-17]))]
            rows = [
                one,
                {},
                *random_rows(rng, 8, [1, 2]),
                {index: v * (1 + 1e-15) for index, v in one.items()},
                {UNKNOWN: 1e-9},
            ]
            for method in COMPILERS:
                if kernel in KERNELS[method]:
                    assert lines(order(machine, method), rows)[0] == Libsvm(machine, tmp_path).lines(rows), (
                        kernel,
                        method,
                        trial,
                    )


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method", COMPILERS)
@pytest.mark.parametrize(
    "kernel, classes", [("rbf", 2), ("rbf", 3), ("rbf", 5), ("exponential", 2), ("exponential", 3), ("polynomial", 2)]
)
@pytest.mark.parametrize("density", [1.0, 0.02])
def test_a_row_stops_where_it_stops_alone(method, kernel, classes, density):
    """Rows are evaluated side by side and replace each other."""
    if kernel not in KERNELS[method]:
        return
    stops, indices = set(), list(range(1, 9)) if density == 1 else list(range(1, 200))
    for gamma, apart in ((0.2, 3.0), (0.02, 1.0), (1.0, 3.0)):
        rng = np.random.default_rng(63)
        vectors = random_rows(rng, 130, indices, density=density)
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=classes, gamma=gamma, coef0=1.0, degree=2)
        of = np.repeat(np.arange(classes), machine.nr_sv)
        machine.coef = np.abs(machine.coef) * np.where(of[:, None] <= np.arange(classes - 1), 1, -1)
        # Rows at different distances stop at different times.
        machine.vectors = [pushed(vector, c + 1, apart) for vector, c in zip(machine.vectors, of.tolist())]
        machine.rho = [0.0] * len(machine.rho)
        model = order(machine, method, **{"points": 120} if method == "geometry" else {})
        rows = random_rows(rng, 150, [*indices, UNKNOWN], density=density)
        rows = [pushed(row, r % classes + 1, float(rng.uniform(-apart, 2 * apart))) for r, row in enumerate(rows)]
        together = stopped(model, parse(rows))
        for r in range(0, 150, 2):
            alone = stopped(model, parse([rows[r]]))
            for ours, theirs in zip(together[:3], alone[:3]):
                np.testing.assert_array_equal(ours[r], theirs[0])
            assert (r in together[3]) == bool(alone[3])
        stops.update(together[2].tolist())
    assert len(stops) > 2


# ---- when a row stops


@pytest.mark.full(few=1)
@pytest.mark.parametrize("kernel", ["rbf", "exponential", "normalized_polynomial"])
@pytest.mark.parametrize("more", FIRST_STOPS)
def test_geometry_stops_at_the_first_look_that_decides_the_label(kernel, more):
    """After 1, 2, 3, 4, ... points with few features, then less and less often; never between."""
    seen = set()
    for trial in range(4):
        rng = np.random.default_rng([64, trial])
        machine = spread(rng, 140, kernel, d=4)
        machine.gamma = (0.5, 0.02)[trial % 2]
        rows = random_rows(rng, 80, [1, 2, 3, 4], scale=float(rng.choice([0.3, 1, 2])))
        model = order(with_features(machine, more), "geometry", points=100)
        chunk, task = parse(rows), model.header.task()
        _, _, evaluations, left = stopped(model, chunk)
        points = len(model.points)
        looks = sorted({min(k, points) for k in [*FIRST_STOPS[more], 96, 100]})
        expected = np.full(len(rows), points)
        for k in reversed(looks):
            expected[decides(task, *after(model, chunk, k), 1)] = k
        # A decided interval stays decided: the first look counts.
        np.testing.assert_array_equal(evaluations, expected)
        assert {r for r in range(len(rows)) if r not in left} == set(
            np.flatnonzero(decides(task, *after(model, chunk, points), 1)).tolist()
        )
        seen.update(evaluations.tolist())
    assert len(seen) > 6 and (more or seen & {3, 5, 6, 7, 10, 14})


def test_with_many_decision_functions_geometry_looks_every_32_points():
    rng = np.random.default_rng(65)
    machine = spread(rng, 150, "rbf", d=3, classes=5)
    machine.coef = np.abs(machine.coef) * np.where(
        np.repeat(np.arange(5), machine.nr_sv)[:, None] <= np.arange(4), 1, -1
    )
    model = order(machine, "geometry", points=120)
    assert set(stopped(model, parse(random_rows(rng, 300, [1, 2, 3], scale=2)))[2].tolist()) <= {32, 64, 96, 120}


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 7, 8, 20, 31, 32])
def test_steps_are_that_many_points_for_every_row(steps):
    """Even if the row was decided before."""
    rng = np.random.default_rng(66)
    machine = spread(rng, 90, "rbf", d=3)
    machine.gamma = 0.1
    rows = random_rows(rng, 100, [1, 2, 3], scale=2)
    model, chunk = order(machine, "geometry", points=60), parse(rows)
    exact = after(model, chunk, steps)
    assert decides(model.header.task(), *exact, 1).any() or steps < 3
    out = _native.Decisions(1, True)
    model.stopped_after(steps).decision_values(chunk, out)
    np.testing.assert_array_equal(np.array(out.value), exact[0])
    np.testing.assert_array_equal(np.array(out.radius), exact[1])
    assert set(out.evaluations) == {steps}


@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
@pytest.mark.parametrize("vectors, apart", [(100, 16), (400, 32)])
def test_triangle_looks_every_few_vectors_of_its_list(kernel, vectors, apart):
    rng = np.random.default_rng(67)
    machine = random_machine(rng, "c_svc", kernel, random_rows(rng, vectors, [1, 2], scale=3), gamma=2.0)
    model = order(machine, "triangle", lists=3)
    lists, n = len(model.pivots), vectors - len(model.pivots)
    spent = stopped(model, parse(random_rows(rng, 300, [1, 2], scale=4)))[2] - lists
    assert set(spent.tolist()) <= {*range(0, n, apart), n} and len(set(spent.tolist())) > 3


# ---- evaluations


@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
@pytest.mark.parametrize("classes", [2, 3])
def test_triangle_computes_no_kernel_value_twice(tmp_path, kernel, classes):
    """With all support vectors as pivots, or one repeated, as only a hand-made file has it."""
    rng = np.random.default_rng(68)
    machine = random_machine(rng, "c_svc", kernel, random_rows(rng, 40, [1, 2, 3]), nr_class=classes, gamma=0.5)
    rows = [*random_rows(rng, 40, [1, 2, 3, UNKNOWN], scale=3), *machine.vectors[:5], {}]
    chunk, expected, exact = parse(rows), truths(machine, rows, tmp_path), order(machine, "triangle").exact
    for pivots, most in ((list(range(40)), 40), ([7], 40), ([3, 9, 30], 40), ([5, 5, 5], 42), ([39, 0, 39, 1, 2], 41)):
        model = Model(TriangleFile(exact.file, "f", pivots=pivots))
        value, radius, evaluations, left = stopped(model, chunk)
        assert not uncovered(value, radius, *expected).any()
        assert np.all(evaluations >= len(pivots)) and evaluations.max() <= most
        assert lines(model, rows)[0] == Libsvm(machine, tmp_path).lines(rows)


def test_a_row_far_from_everything_costs_triangle_its_pivots_alone():
    rng = np.random.default_rng(69)
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 60, [1, 2]), gamma=1.0)
    machine.rho = [0.5]
    model = order(machine, "triangle", lists=2)
    assert stopped(model, parse([{1: 100.0}, {2: -50.0}]))[2].tolist() == [2, 2]


@pytest.mark.parametrize("method", COMPILERS)
def test_rows_left_open_are_counted_in_full_and_by_reference_once_more(method):
    """f is 0 in exact arithmetic: only LIBSVM's order of operations decides."""
    rng = np.random.default_rng(70)
    x, a = rng.standard_normal((20, 3)), rng.uniform(0.1, 2, 20)
    vectors = [dict(enumerate(row, 1)) for row in np.vstack([x, x * [-1, 1, 1]]).tolist()]
    machine = Machine(
        "c_svc", "rbf", vectors, np.concatenate([a, -a])[:, None], [0.0], gamma=0.3, label=[3, -4], nr_sv=[20, 20]
    )
    rows = [dict(enumerate([0.0, *row], 1)) for row in rng.standard_normal((10, 2)).tolist()]
    model = order(machine, method)
    first, out = stopped(model, parse(rows))[2], _native.Decisions(1)
    model.decision_values(parse(rows), out)
    assert out.reference_rows == 10
    np.testing.assert_array_equal(np.array(out.evaluations), first + 2 * 40)
