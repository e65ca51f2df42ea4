"""When a row of an ordered model stops, at what cost, and its interval at that moment."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import TriangleFile
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import Model
from support.evaluation import parse
from support.in_process import mirrored
from support.oracles import random_machine, random_rows
from support.ordering import (
    COMPILERS,
    KERNELS,
    NEVER,
    UNKNOWN,
    Libsvm,
    after,
    assert_covered,
    lines,
    order,
    random_case,
    random_options,
    spread,
    stopped,
    trained_signs,
    truths,
)

pytestmark = pytest.mark.usefixtures("serial_libsvm")

#: Features added to four -> numbers of points after which a geometry model examines rows; then every 32.
FIRST_STOPS = {
    0: [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64],
    6: [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64],
    20: [4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64],
}


def decides(task, value, radius, pairs):
    """Whether these intervals, (rows, pairs), decide the label."""
    out = _native.Decisions(pairs, True)
    out.resize(len(value))
    np.asarray(out.value)[:], np.asarray(out.radius)[:] = value, radius
    open_rows = _native.undecided_rows(task, out)
    return ~np.isin(np.arange(len(value)), open_rows)


def pushed(vector, index, by):
    return dict(sorted({**vector, index: vector.get(index, 0.0) + by}.items()))


# ---- the interval when a row stops


@pytest.mark.full(few=1)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "method, kernel", [(method, kernel) for method, kernels in KERNELS.items() for kernel in kernels]
)
def test_the_interval_where_a_row_stops_contains_exact_and_libsvms_values(method, kernel):
    stops, count = set(), np.zeros(4, int)
    for trial in range(60):
        rng = np.random.default_rng([60, trial])
        machine, rows = random_case(rng, kernel)
        rows += machine.vectors[:5]
        try:
            model = order(machine, method, **random_options(rng, machine, method))
        except ModelFormatError:
            continue
        chunk, expected = parse(rows), truths(machine, rows)
        size = float(np.abs(machine.coef).sum())
        for task in [None] + [NEVER] * (model.pairs == 1):
            for at, share in enumerate((0.0, 1e-6, 0.03, 0.5)):
                value, radius, evaluations, left = stopped(model, chunk, share * size, task)
                assert_covered(trial, value, radius, *expected)
                has_stopped = ~np.isin(np.arange(len(rows)), left)
                assert task is None or np.array_equal(radius[:, 0] <= share * size, has_stopped)
                stops.update(evaluations[has_stopped].tolist())
                count[at] += has_stopped.sum()
    assert len(stops) > (6 if kernel == "linear" else 12)  # few points span the space of a linear kernel
    assert count[-1] > count[0]
    assert {1, 2, 3} < stops  # a few points, or pivots, decide


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "method, kernel, classes, density",
    [
        ("geometry", "rbf", 2, 1.0),
        ("geometry", "rbf", 5, 0.02),
        ("geometry", "exponential", 3, 1.0),
        ("geometry", "polynomial", 2, 0.02),
        ("triangle", "rbf", 3, 0.02),
        ("triangle", "exponential", 2, 1.0),
    ],
)
def test_a_row_stops_where_it_stops_alone(method, kernel, classes, density):
    """Rows are evaluated side by side and replace each other."""
    stops, indices = set(), list(range(1, 9)) if density == 1 else list(range(1, 200))
    for gamma, apart in ((0.2, 3.0), (0.02, 1.0), (1.0, 3.0)):
        rng = np.random.default_rng(63)
        vectors = random_rows(rng, 130, indices, density=density)
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=classes, gamma=gamma, coef0=1.0, degree=2)
        of = np.repeat(np.arange(classes), machine.nr_sv)
        machine.coef = trained_signs(machine, of)
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
        chunk, task = parse(rows), model.header.task()
        _, _, evaluations, left = stopped(model, chunk)
        points = len(model.points)
        expected = np.full(len(rows), points)
        # A decided interval stays decided: the first look counts.
        for k in sorted({min(k, points) for k in [*FIRST_STOPS[more], 96, 100]}, reverse=True):
            expected[decides(task, *after(model, chunk, k), 1)] = k
        np.testing.assert_array_equal(evaluations, expected)
        decided = np.flatnonzero(decides(task, *after(model, chunk, points), 1)).tolist()
        assert sorted(set(range(len(rows))) - set(left)) == decided
        seen.update(evaluations.tolist())
    assert len(seen) > 6 and (more or seen & {3, 5, 6, 7, 10, 14})


def test_with_many_decision_functions_geometry_looks_every_32_points():
    rng = np.random.default_rng(65)
    machine = spread(rng, 150, "rbf", d=3, classes=5)
    machine.coef = trained_signs(machine, np.repeat(np.arange(5), machine.nr_sv))
    model = order(machine, "geometry", points=120)
    assert set(stopped(model, parse(random_rows(rng, 300, [1, 2, 3], scale=2)))[2].tolist()) <= {32, 64, 96, 120}


def test_steps_are_that_many_points_for_every_row():
    """Even if the row was decided before."""
    rng = np.random.default_rng(66)
    machine = spread(rng, 90, "rbf", d=3)
    machine.gamma = 0.1
    rows = random_rows(rng, 100, [1, 2, 3], scale=2)
    model, chunk = order(machine, "geometry", points=60), parse(rows)
    for steps in (1, 2, 3, 5, 7, 8, 20, 31, 32):
        exact = after(model, chunk, steps)
        assert decides(model.header.task(), *exact, 1).any() or steps < 3
        out = _native.Decisions(1, True)
        model.stopped_after(steps).decision_values(chunk, out)
        np.testing.assert_array_equal((np.array(out.value), np.array(out.radius)), exact)
        assert set(out.evaluations) == {steps}


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
        model = Model(TriangleFile(exact.file, "f", pivots=pivots))
        value, radius, evaluations, left = stopped(model, chunk)
        assert_covered(pivots, value, radius, *expected)
        assert np.all(evaluations >= len(pivots)) and evaluations.max() <= most
        assert lines(model, rows)[0] == Libsvm(machine).lines(rows)


def test_a_row_far_from_everything_costs_triangle_its_pivots_alone():
    rng = np.random.default_rng(69)
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 60, [1, 2]), gamma=1.0)
    machine.rho = [0.5]
    model = order(machine, "triangle", lists=2)
    assert stopped(model, parse([{1: 100.0}, {2: -50.0}]))[2].tolist() == [2, 2]


@pytest.mark.parametrize("method", COMPILERS)
def test_rows_left_open_are_counted_in_full_and_by_reference_once_more(method):
    """f is 0 in exact arithmetic: only LIBSVM's order of operations decides."""
    machine, rows = mirrored(np.random.default_rng(70), "rbf", n=20)
    model, rows = order(machine, method), rows[:20]
    first, out = stopped(model, parse(rows))[2], _native.Decisions(1)
    model.decision_values(parse(rows), out)
    assert out.reference_rows == len(rows)
    np.testing.assert_array_equal(np.array(out.evaluations), first + 2 * 40)
