"""|f_hat - f| <= radius on models and rows built to break it, for exact f and for svm-predict's f."""

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction.pipeline import predict
from support import oracles
from support.evaluation import decide, parse, reference
from support.expanding import certified
from support.hostile import UNKNOWN, as_rows, hostile_machine, hostile_options, hostile_rows, uncovered
from support.oracles import Machine, random_machine, random_rows
from support.profiles import searching, tries

pytestmark = pytest.mark.usefixtures("serial_libsvm")


def error_and_radius(machine, rows, **options):
    """(error, radius), each (rows, pairs). error: the larger distance to the truth and to svm-predict's value."""
    exact, model = certified(machine, **options)
    chunk = parse(rows)
    value, radius = decide(model, chunk)
    with np.errstate(all="ignore"):
        truth, theirs = oracles.decision_values(machine, rows), reference(exact, chunk)
        error = np.maximum(np.abs(value - truth), np.abs(value - theirs))
    return error, radius


@pytest.mark.full(few=1)
@pytest.mark.parametrize("seed", range(4))
def test_no_hostile_model_has_a_value_beyond_its_radius(seed):
    rng = np.random.default_rng([1, seed])
    finite = rows_seen = 0
    for trial in range(tries(1250)):
        machine, x = hostile_machine(rng)
        rows, options = hostile_rows(rng, x), hostile_options(rng)
        error, radius = error_and_radius(machine, rows, **options)
        bad = uncovered(error, radius)
        assert not bad.any(), (trial, options, machine.text().decode()[:400], np.argwhere(bad), error[bad], radius[bad])
        finite, rows_seen = finite + np.isfinite(radius).sum(), rows_seen + radius.size
    assert finite > 0.5 * rows_seen  # otherwise nothing was tested


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "options", [{}, {"single": True}, {"rank": 1}, {"rank": 3, "single": True}, {"tolerance": 0.1}], ids=str
)
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_no_finite_expansion_has_a_value_beyond_its_radius(kernel, options):
    rng = np.random.default_rng(2)
    for trial in range(tries(150)):
        machine, x = hostile_machine(rng, kernel)
        try:
            error, radius = error_and_radius(machine, hostile_rows(rng, x), **options)
        except ModelFormatError as failure:  # a coefficient overflows single precision
            assert "scale the data" in str(failure)
            continue
        bad = uncovered(error, radius)
        assert not bad.any(), (trial, machine.text().decode()[:300], np.argwhere(bad), error[bad], radius[bad])


@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_clusters_of_a_kernel_that_moves_with_the_origin_are_refused_or_change_nothing(kernel):
    rng = np.random.default_rng(3)
    vectors = random_rows(rng, 20, range(1, 5))
    machine = random_machine(rng, "c_svc", kernel, vectors, gamma=0.5, coef0=1.0, degree=2)
    try:
        error, radius = error_and_radius(machine, vectors, clusters=3)
    except ModelFormatError:
        return
    assert not uncovered(error, radius).any()


@searching()
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
    assert not uncovered(error, radius).any(), (error, radius)
    target(float(np.max(np.where(np.isfinite(radius), error / radius, 0))))


@pytest.mark.full(few=3)
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("single", [False, True])
def test_the_radius_is_attained_along_a_single_support_vector(degree, single):
    rng = np.random.default_rng(4)
    best = 0.0
    for _ in range(40):
        x = rng.standard_normal((1, 4))
        machine = Machine("one_class", "rbf", as_rows(x), np.array([[3.0]]), [0.5], gamma=float(rng.uniform(0.05, 0.5)))
        rows = as_rows(x * rng.uniform(0.2, 2.5, (12, 1)))
        error, radius = error_and_radius(machine, rows, degree=degree, single=single, center="origin")
        assert not uncovered(error, radius).any()
        best = max(best, float((error / radius).max()))
        assert (error / radius).max() > 0.9
    assert best > 0.99


def test_vectors_that_cancel_have_a_small_radius():
    rng = np.random.default_rng(5)
    x = 0.5 * rng.standard_normal((20, 5))
    coef = rng.standard_normal(20)
    machine = Machine(
        "one_class", "rbf", as_rows(np.vstack([x, x])), np.concatenate([coef, -coef])[:, None], [0.0], gamma=0.3
    )
    error, radius = error_and_radius(machine, as_rows(rng.standard_normal((50, 5))), single=False)
    assert not uncovered(error, radius).any()
    assert radius.max() < 1e-5 * np.abs(coef).sum()  # the square root of the rounding error of the norms


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("clusters", [1, 4])
def test_rows_do_not_have_a_norm_that_overflows_proven(degree, clusters):
    rng = np.random.default_rng(6)
    vectors = random_rows(rng, 12, range(1, 4))
    machine = random_machine(rng, "one_class", "rbf", vectors, gamma=0.5)
    rows = [
        {1: 1e154},
        {1: 1e160},
        {1: -1e200, 2: 1e200},
        {1: 1e308, 3: 1e308},
        {UNKNOWN: 1e200},
        {1: 1.0, UNKNOWN: 1e300},
        {1: 5e-324},
        {2: 1e-200, 3: 1e200},
    ]
    error, radius = error_and_radius(machine, rows, degree=degree, clusters=clusters)
    assert not uncovered(error, radius).any()


@pytest.mark.parametrize(
    "gamma, size",
    [
        (0.0, 1e151),
        (1e-305, 1e151),
        (1e-80, 1e40),
        (1e-36, 1e18),
        (1e20, 1e-10),
        (1e50, 1e-25),
        (0.1, 1e40),
        (0.1, 1e155),
    ],
)
@pytest.mark.parametrize("options", [{"degree": 1}, {"degree": 4}, {"degree": 2, "clusters": 3}], ids=str)
def test_extreme_gammas_and_vectors_are_refused_or_covered(gamma, size, options):
    rng = np.random.default_rng(7)
    vectors = [{}, *random_rows(rng, 4, range(1, 4), scale=size), {1: 1.0}]
    machine = random_machine(rng, "one_class", "rbf", vectors, gamma=gamma)
    rows = [*random_rows(rng, 5, range(1, 4), scale=size), {1: 1.0}, {}]
    try:
        error, radius = error_and_radius(machine, rows, single=False, **options)
    except ModelFormatError:
        return
    assert not uncovered(error, radius).any(), (error, radius)


@pytest.mark.parametrize(
    "gamma, degree", [(1e-80, 4), (1e-82, 4), (1e-110, 3), (1e-163, 2), (1e-300, 2), (1e75, 4), (1e120, 3)]
)
def test_powers_of_gamma_beyond_a_double_are_refused_or_covered(gamma, degree):
    unit = (2 * gamma) ** -0.5
    machine = Machine("epsilon_svr", "rbf", [{1: 0.1 * unit}], np.array([[1.0]]), [0.0], gamma=gamma)
    try:
        error, radius = error_and_radius(
            machine, [{1: unit}, {1: -0.3 * unit}], degree=degree, center="origin", single=False
        )
    except ModelFormatError:
        return
    assert not uncovered(error, radius).any(), (error, radius)


@pytest.mark.parametrize(
    "kernel, vector, row, parameters, options",
    [
        ("polynomial", 1e80, 1e90, {"gamma": 1e-170, "degree": 2}, {}),
        ("polynomial", 1e80, 1e30, {"gamma": 1e-110, "coef0": 1.0, "degree": 3}, {}),
        ("polynomial", 1.0, 1.0, {"gamma": 1e80, "coef0": 1e80, "degree": 4}, {}),
        ("linear", 1e-100, 1e150, {}, {"single": True}),
        ("linear", 1e-170, 1e100, {}, {}),
    ],
)
def test_finite_expansions_whose_numbers_underflow_are_refused_or_covered(kernel, vector, row, parameters, options):
    rng = np.random.default_rng(20)
    for _ in range(20):
        x, a = vector * rng.uniform(0.5, 1, 3), rng.standard_normal(3)
        a[2] = -(a[0] * x[0] + a[1] * x[1]) / x[2]  # f = 0 up to rounding
        machine = Machine("one_class", kernel, as_rows(x[:, None]), a[:, None], [0.0], **parameters)
        try:
            error, radius = error_and_radius(machine, [{1: row}, {1: -0.7 * row}], **options)
        except ModelFormatError:
            continue
        assert not uncovered(error, radius).any(), (error, radius)


def test_a_linear_model_of_vectors_whose_squares_underflow_gives_libsvms_side_of_zero():
    rng = np.random.default_rng(21)
    for _ in range(300):
        x, a = 1e-170 * rng.uniform(0.5, 1, 3), rng.standard_normal(3)
        a[2] = -(a[0] * x[0] + a[1] * x[1]) / x[2]
        exact = parse_model(Machine("one_class", "linear", as_rows(x[:, None]), a[:, None], [0.0]).text(), "a.model")
        chunk = parse([{1: float(1e100 * rng.uniform(1, 10))}])
        assert (decide(exact, chunk)[0] > 0) == (reference(exact, chunk) > 0)


@pytest.mark.parametrize("options", [{"rank": 1}, {"tolerance": 0.1}], ids=str)
def test_a_matrix_beyond_single_precision_is_refused_before_it_is_compressed(options):
    rng = np.random.default_rng(22)
    machine = random_machine(rng, "one_class", "rbf", random_rows(rng, 20, range(1, 5)), gamma=0.5)
    machine.coef *= 1e40
    with pytest.raises(ModelFormatError):
        certified(machine, **options)


@pytest.mark.full
def test_clusters_of_vectors_whose_distances_overflow_do_not_crash(fastsvm, tmp_path):
    rng = np.random.default_rng(7)
    vectors = [{}, *random_rows(rng, 4, range(1, 4), scale=1e155), {1: 1.0}]
    (tmp_path / "a.model").write_bytes(random_machine(rng, "one_class", "rbf", vectors, gamma=0.1).text())
    # A separate process: this was a segmentation error.
    done = fastsvm("approx", "--certify", "--centers", 3, "a.model", code=None)
    assert done.code in (0, 1), str(done)


def test_a_negative_gamma_is_refused_or_covered():
    rng = np.random.default_rng(8)
    vectors = random_rows(rng, 10, range(1, 4))
    machine = random_machine(rng, "one_class", "rbf", vectors, gamma=-0.3)
    try:
        error, radius = error_and_radius(machine, vectors)
    except ModelFormatError:
        return
    assert not uncovered(error, radius).any()


@pytest.mark.full
def test_radii_hold_for_every_build_of_the_hot_loops(instruction_set):
    rng = np.random.default_rng(9)
    for _ in range(150):
        machine, x = hostile_machine(rng)
        error, radius = error_and_radius(machine, hostile_rows(rng, x), **hostile_options(rng))
        assert not uncovered(error, radius).any()


@pytest.mark.full
def test_a_model_read_back_has_the_same_values_and_radii():
    rng = np.random.default_rng(10)
    for _ in range(120):
        kernel = str(rng.choice(["rbf", "rbf", "rbf", "linear", "polynomial"]))
        machine, x = hostile_machine(rng, kernel)
        try:
            _, model = certified(machine, **hostile_options(rng, kernel))
        except ModelFormatError as failure:
            assert "scale the data" in str(failure)
            continue
        again = parse_model(model.to_text(), "a.approx")
        chunk = parse(hostile_rows(rng, x))
        for ours, theirs in zip(decide(model, chunk), decide(again, chunk)):
            np.testing.assert_array_equal(ours, theirs)


def test_printed_radii_are_not_below_the_true_ones():
    rng = np.random.default_rng(11)
    for _ in range(40):
        machine, x = hostile_machine(rng)
        _, model = certified(machine, **hostile_options(rng))
        chunk, written = parse(hostile_rows(rng, x)), []
        predict(model, [chunk], written.append, path="rows", values=True)
        value, radius = decide(model, chunk)
        printed = np.array([line.split()[1:] for line in b"".join(written).splitlines()], float).reshape(
            chunk.rows, 2 * model.pairs
        )
        np.testing.assert_array_equal(printed[:, : model.pairs], value)
        assert np.all(printed[:, model.pairs :] >= radius)
        assert np.all((printed[:, model.pairs :] <= 1.02 * radius) | np.isinf(radius))
