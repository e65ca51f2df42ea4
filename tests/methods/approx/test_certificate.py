"""|f_hat - f| <= radius at the ends of what a double holds, and radii no larger than they need to be. The attack on
random models is tests/zoo/test_radii.py."""

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction import Predictor
from support import oracles
from support.bordering import two_sided
from support.evaluation import decide, parse, reference
from support.expanding import certified, gaussian
from support.hostile import as_rows, hostile_machine, hostile_options, hostile_rows, uncovered
from support.messages import cases
from support.oracles import Machine, random_machine, random_rows
from support.profiles import seeded


def error_and_radius(machine, rows, **options):
    """(error, radius), each (rows, pairs). error: the larger distance to the truth and to svm-predict's value; covered
    by the radius."""
    exact, model = certified(machine, **options)
    chunk = parse(rows)
    value, radius = decide(model, chunk)
    with np.errstate(all="ignore"):
        truth, theirs = oracles.decision_values(machine, rows), reference(exact, chunk)
        error = np.maximum(np.abs(value - truth), np.abs(value - theirs))
    assert not uncovered(error, radius).any(), (options, error, radius)
    return error.astype(float), radius


# ---- the ends of a double's range


#: gamma and the vectors' size: gamma |x|^2 is usual, or not.
ENDS = [(10.0**p, 0.7 * 10.0 ** (-p / 2)) for p in (-300, -163, -110, -82, -80, -36, 20, 50, 75, 120)]
ENDS += [(0.0, 1e151), (1e-305, 1e151), (-0.3, 1.0), (0.1, 1e40), (0.1, 1e155)]


@pytest.mark.parametrize("gamma, size", ENDS)
def test_extreme_gammas_and_vectors_are_refused_or_covered(gamma, size):
    """Powers of gamma, or of the vectors' lengths, are beyond a double."""
    rng = np.random.default_rng(7)
    vectors = [{}, *random_rows(rng, 4, range(1, 4), scale=size), {1: 1.0}]
    rows = [*random_rows(rng, 5, range(1, 4), scale=size), {1: 1.0}, {}]
    alone = Machine("epsilon_svr", "rbf", [{1: 0.1 * size}], np.array([[1.0]]), [0.0], gamma=gamma)
    for machine in (random_machine(rng, "one_class", "rbf", vectors, gamma=gamma), alone):
        for options in ({"degree": 1}, {"degree": 2, "clusters": 3}, {"degree": 3}, {"degree": 4, "center": "origin"}):
            try:
                error_and_radius(machine, rows, single=False, **options)
            except ModelFormatError:
                continue


@pytest.mark.parametrize("kernel, vector, row, parameters, options", cases("certified finite kernels"))
def test_finite_expansions_whose_numbers_underflow_are_refused_or_covered(kernel, vector, row, parameters, options):
    """f = 0 up to rounding; LIBSVM's side of it is that of the exact model, too."""
    rng = np.random.default_rng(20)
    for _ in range(20):
        x, a = vector * rng.uniform(0.5, 1, 3), rng.standard_normal(3)
        a[2] = -(a[0] * x[0] + a[1] * x[1]) / x[2]
        machine = Machine("one_class", kernel, as_rows(x[:, None]), a[:, None], [0.0], **parameters)
        rows = [{1: row * float(factor)} for factor in rng.uniform(-1, 1, 8)]
        exact, chunk = parse_model(machine.text(), "a.model"), parse(rows)
        if kernel == "linear":
            assert np.array_equal(decide(exact, chunk)[0] > 0, reference(exact, chunk) > 0)
        try:
            error_and_radius(machine, rows, **options)
        except ModelFormatError:
            continue


# ---- attack


@seeded()
@given(st.data())
def test_a_search_for_a_value_beyond_its_radius_finds_none(data):
    real = st.floats(-4, 4, width=32)
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    gamma, scale = 10 ** data.draw(st.floats(-4, 1)), 10 ** data.draw(st.floats(-3, 3))
    x = np.array(data.draw(st.lists(st.lists(real, min_size=d, max_size=d), min_size=n, max_size=n))) * scale
    offset = data.draw(st.sampled_from([0.0, 1.0, 1e3, 1e6])) * scale
    coef = np.array(data.draw(st.lists(real, min_size=n, max_size=n)))[:, None] * 10 ** data.draw(st.floats(-3, 10))
    for i in range(1, n):
        twin = data.draw(st.sampled_from([None, None, 0.0, 1e-14, 1e-9, 1e-4]))
        if twin is not None:
            x[i], coef[i] = x[i - 1] * (1 + twin), -coef[i - 1]
    machine = Machine("epsilon_svr", "rbf", as_rows(x + offset), coef, [data.draw(real)], gamma=gamma)
    z = (
        np.array(data.draw(st.lists(st.lists(real, min_size=d, max_size=d), min_size=1, max_size=4)))
        * 10 ** data.draw(st.floats(-2, 2))
        * scale
    )
    options = {"degree": data.draw(st.integers(1, 4)), "single": data.draw(st.booleans())}
    options |= data.draw(st.sampled_from([{}, {"center": "origin"}, {"clusters": 2}, {"clusters": 3}]))
    if options["degree"] == 2:
        options |= data.draw(st.sampled_from([{}, {"rank": 1}, {"tolerance": 0.01}]))
    error, radius = error_and_radius(machine, as_rows(np.vstack([z + offset, x[0] + offset])), **options)
    target(float(np.max(np.where(np.isfinite(radius), error / radius, 0))))


# ---- no larger than they need to be


@pytest.mark.full(few=2)
@pytest.mark.parametrize("degree, single", [(1, False), (2, True), (3, False), (4, False), (4, True)])
def test_the_radius_is_attained_along_a_single_support_vector(degree, single):
    rng = np.random.default_rng(4)
    best = 0.0
    for _ in range(40):
        x = rng.standard_normal((1, 4))
        machine = Machine("one_class", "rbf", as_rows(x), np.array([[3.0]]), [0.5], gamma=float(rng.uniform(0.05, 0.5)))
        rows = as_rows(x * rng.uniform(0.2, 2.5, (12, 1)))
        error, radius = error_and_radius(machine, rows, degree=degree, single=single, center="origin")
        best = max(best, float((error / radius).max()))
        assert (error / radius).max() > 0.9
    assert best > 0.99


def test_vectors_that_cancel_have_a_small_radius():
    rng = np.random.default_rng(5)
    machine = two_sided(2 * as_rows(0.5 * rng.standard_normal((20, 5))), 1.0, 0.3)
    _, radius = error_and_radius(machine, as_rows(rng.standard_normal((50, 5))), single=False)
    assert radius.max() < 1e-5 * len(machine.vectors)  # the square root of the rounding error of the norms


def test_radii_are_small_where_the_expansion_is_good():
    """Most signs are proven; a typical radius is below a hundred times the error."""
    rng = np.random.default_rng(29)
    machine, _ = gaussian(rng, n=200, d=6, gamma=0.01)
    rows = random_rows(rng, 300, machine.features)
    values, last = oracles.decision_values(machine, rows), np.inf
    for degree in (1, 2, 3, 4):
        error, radius = error_and_radius(machine, rows, degree=degree, single=False)
        assert np.median(radius) < last / 3
        last = np.median(radius)
        assert np.median(error / radius) > 0.01
    assert np.mean(np.abs(values) > radius) > 0.95


@pytest.mark.parametrize("kernel, degree", [("linear", 1), ("polynomial", 1), ("polynomial", 2), ("polynomial", 4)])
def test_radii_of_finite_kernels_are_the_rounding(kernel, degree):
    """Of double and single precision; also far from the origin, and of data that are not scaled."""
    rng = np.random.default_rng(33)
    for offset, scale in ((0.0, 1.0), (5.0, 1.0), (0.0, 1e8)):
        vectors = random_rows(rng, 20, [1, 2, 3, 4], offset=offset, scale=scale)
        gamma = 0.3 / scale**2
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=3, gamma=gamma, coef0=0.2, degree=degree)
        rows = random_rows(rng, 100, [1, 2, 3, 4, 7], offset=offset, scale=scale)
        for single, relative in ((False, 1e-11), (True, 1e-5)):
            _, radius = error_and_radius(machine, rows, single=single)
            assert np.median(radius) <= relative * np.median(oracles.magnitudes(machine, rows) + 1)


@pytest.mark.full(few=2)
@pytest.mark.parametrize("offset, worst", [(20.0, 1e-14), (1e5, 1e-17), (1e7, 1e-17), (1e9, 1e-17), (1e12, 1e-17)])
def test_radii_cover_the_rounding_of_the_distance_from_a_centre(offset, worst):
    """One vector is its own centre: nothing is truncated, and |z|^2 - 2 z.m + |m|^2 loses a few digits, or all: then
    differences from the centre are evaluated."""
    largest = 0.0
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        (vector,) = vectors = random_rows(rng, 1, [1, 2, 3], offset=offset)
        machine = random_machine(rng, "epsilon_svr", "rbf", vectors, gamma=10 ** rng.uniform(-2, 1))
        rows = [{j: v + float(rng.normal(0, 1)) for j, v in vector.items()} for _ in range(50)]
        rows += [{**row, 7: float(rng.normal(0, 10 ** rng.uniform(-9, 0)))} for row in rows[:20]]  # in no vector
        _, model = certified(machine, degree=int(rng.integers(1, 5)), single=False)
        value, radius = decide(model, parse(rows))
        error = np.abs(value - oracles.decision_values(machine, rows))
        assert np.all(error <= radius) and np.all(radius <= 1e-11 * (np.abs(machine.coef).max() + abs(machine.rho[0])))
        largest = max(largest, float(error.max()))
    assert largest > worst


def test_printed_radii_are_not_below_the_true_ones():
    rng = np.random.default_rng(11)
    for _ in range(15):
        machine, x = hostile_machine(rng)
        _, model = certified(machine, **hostile_options(rng))
        chunk, written = parse(hostile_rows(rng, x)), []
        Predictor(model, values=True).write([chunk], written.append, "rows")
        value, radius = decide(model, chunk)
        printed = np.array([line.split()[1:] for line in b"".join(written).splitlines()], float).reshape(
            chunk.rows, 2 * model.pairs
        )
        np.testing.assert_array_equal(printed[:, : model.pairs], value)
        assert np.all(printed[:, model.pairs :] >= radius)
        assert np.all((printed[:, model.pairs :] <= 1.02 * radius) | np.isinf(radius))
