"""The radius of a Maclaurin model bounds the distance to the formula and to LIBSVM's own sum."""

import warnings
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli._native import Certificate, Expansion
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.approx.expansion import CENTERS
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction.pipeline import Fallback
from support import evaluation, oracles
from support.evaluation import parse
from support.expanding import compiled, decide, expanded, gaussian
from support.in_process import written_lines
from support.oracles import random_machine, random_rows
from support.profiles import seeded


def decide_with_radius(model, rows):
    return evaluation.decide(model, parse(rows))


def reference(machine, rows):
    return evaluation.reference(parse_model(machine.text(), "a.model"), parse(rows))


@st.composite
def certified(draw):
    """(machine, rows, options of the compiler): easy, hopeless and ill-conditioned cases."""
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
    if draw(st.booleans()):  # near-duplicates with large opposite coefficients
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


@seeded(300)
@given(certified())
def test_no_value_is_farther_from_the_truth_or_from_libsvm_than_its_radius(case):
    machine, rows, options = case
    try:
        model = compiled(machine, certify=True, **options)
    except ModelFormatError as failure:
        assert "scale the data" in str(failure)
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
    """gamma |x - z|^2 does not change if gamma changes with the unit."""
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
    assert np.all(radii <= 1.1 * expected + 1e-12)  # the centre is rounded differently


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
    """Most signs are proven; a typical radius is below a hundred times the error."""
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
    """One vector is its own centre: nothing is truncated, and |z|^2 - 2 z.m + |m|^2 loses a few digits."""
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


def test_a_row_that_an_expansion_skips_is_skipped_by_all_about_its_centre():
    """Two expansions about one far centre, one evaluated about it, the other in raw coordinates, with fewer digits of
    the distance: K of the rows is just below 1e-12 for certain in only one."""
    gamma, m, reach = 5e-5, 5000.0, 1.0
    edge = reach * (1 + 1e-9) + sqrt(27.7 / gamma)
    certificate = Certificate([0.0], [0.0, 0.0], 2.0, 1.0)
    expansions = [Expansion(0, 0, np.array([constant, 1e-3]), certificate) for constant in (0.0, 1.0)]
    model = expanded([([m], reach**2)], expansions, gamma, 1)
    beyond = np.array([5e-10, 1e-8, 5e-8, 1e-7, 1e-6]) / (2 * edge)
    rows = (m + edge + beyond)[:, None]
    out = _native.Decisions(1, with_radius=True)
    model.decision_values(_native.Chunk.from_dense(np.zeros(len(rows)), rows), out)
    z = rows.astype(np.longdouble) - m
    exact = np.exp(-gamma * z * z) * (1 + 2 * 1e-3 * z)
    assert np.all(exact > 2e-12) and np.all(np.abs(np.asarray(out.value) - exact) <= np.asarray(out.radius))


def lines_of(model, rows, **options):
    return written_lines(model, [parse(rows)], **options)


def test_regression_within_a_tolerance_needs_no_exact_model_where_radii_are_smaller():
    rng = np.random.default_rng(31)
    machine, rows = gaussian(rng, "epsilon_svr", n=60, d=5, gamma=0.002)
    exact, model = parse_model(machine.text(), "a.model"), compiled(machine, certify=True, degree=4, single=False)
    _, radii = decide_with_radius(model, rows)
    tolerance = float(np.median(radii))
    text, run_counts = lines_of(model, rows, exact=Fallback(lambda: exact, tolerance))
    assert run_counts.evaluated == np.sum(radii > tolerance)
    assert 0 < run_counts.evaluated < len(rows)
    assert np.all(np.abs(np.array(text.split(), float) - reference(machine, rows)[:, 0]) <= tolerance)
