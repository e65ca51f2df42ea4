"""Layouts of exact models: panels, column lists, folded and unfolded linear models, every build of the hot loops."""

import itertools

import numpy as np
import pytest

from fastsvm_cli.models import parse_model
from support import oracles
from support.evaluation import SIZES, parse, reference
from support.in_process import both, decide, written_lines
from support.oracles import Machine, random_machine, random_rows

pytestmark = pytest.mark.usefixtures("serial_libsvm")


def assert_close(values, machine, rows, relative=1e-12):
    exact, size = oracles.decision_values(machine, rows), oracles.magnitudes(machine, rows)
    assert values.shape == exact.shape
    assert np.all(np.abs(values - exact) <= relative * size)


@pytest.mark.full(few=6)
@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
def test_every_build_of_the_hot_loops_agrees(instruction_set, kernel, density):
    rng = np.random.default_rng(11)
    for nr_class, n, d in ((2, 100, 40), (3, 40, 7), (6, 77, 33), (2, 1, 1)):
        indices = list(range(1, d + 1))
        vectors = random_rows(rng, n, indices, density=density)
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=nr_class, gamma=1 / d, coef0=0.3, degree=3)
        rows = random_rows(rng, 70, [*indices, d + 5], density=density)
        values, _ = decide(parse_model(machine.text(), "a.model"), parse(rows))
        assert_close(values, machine, rows)


def test_the_fast_exponential_is_right_from_one_to_nothing(instruction_set):
    """K = exp(-t) from t = 0 beyond underflow."""
    distances = np.sqrt(np.concatenate([[0.0], np.geomspace(1e-300, 800, 4000), np.linspace(690, 760, 500)]))
    machine = Machine("epsilon_svr", "rbf", [{1: 0.0}], np.array([[1.0]]), [0.0], gamma=1.0)
    rows = [{1: float(v)} for v in distances]
    exact = oracles.decision_values(machine, rows)[:, 0].astype(float)
    values, out = decide(parse_model(machine.text(), "a.model"), parse(rows))
    assert out.reference_rows == 0
    # Distance and exponent are rounded as well: 3 u t.
    allowed = (7 + 4 * distances**2) * oracles.UNIT * exact + 4e-308
    assert np.all(np.abs(values[:, 0] - exact) <= allowed)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
@pytest.mark.parametrize("density", [0.05, 1.0], ids=["column lists", "panels"])
def test_every_size_of_model_and_data(kernel, density):
    rng = np.random.default_rng(12)
    for n, d in itertools.product(SIZES, SIZES):
        count = SIZES[(SIZES.index(n) + SIZES.index(d)) % len(SIZES)]
        svm_type, nr_class = [
            ("c_svc", 2),
            ("nu_svc", 3),
            ("one_class", 2),
            ("nu_svr", 2),
            ("c_svc", 1 if n == 0 else 5),
        ][(n + d) % 5]
        indices = sorted(rng.choice(np.arange(0, 3 * d), d, replace=False).tolist())
        vectors = random_rows(rng, n, indices, density=density)
        parameters = {"gamma": 1 / max(d, 1), "coef0": -0.2, "degree": int(rng.integers(4))}
        machine = random_machine(rng, svm_type, kernel, vectors, nr_class=nr_class, **parameters)
        model = parse_model(machine.text(), "a.model")
        rows = random_rows(rng, count, [*indices, 1000], density=rng.choice([0.1, 1.0]))
        values, _ = decide(model, parse(rows))
        assert_close(values, machine, rows)
        assert oracles.labels(machine, reference(model, parse(rows))) == pytest.approx(
            labels_of(model, rows), rel=1e-9, abs=1e-9
        )


def labels_of(model, rows):
    text, _ = written_lines(model, [parse(rows)] if rows else [])
    return [float(line) for line in text.split()]


def test_every_number_of_rows_around_a_block_gives_the_same_values(tmp_path):
    rng = np.random.default_rng(13)
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 50, list(range(1, 9))), nr_class=3, gamma=0.2)
    rows = random_rows(rng, 300, list(range(1, 9)), density=0.7)
    model = parse_model(machine.text(), "a.model")
    whole, _ = decide(model, parse(rows))
    for count in (*SIZES[1:], 63, 64, 65, 127, 128, 129, 300):
        np.testing.assert_array_equal(decide(model, parse(rows[:count]))[0], whole[:count])
    np.testing.assert_array_equal(np.vstack([decide(model, parse([row]))[0] for row in rows]), whole)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
def test_features_no_support_vector_has_count_in_the_norm_only(kernel):
    rng = np.random.default_rng(14)
    machine = random_machine(rng, "c_svc", kernel, random_rows(rng, 20, [3, 5, 9]), gamma=0.2, coef0=0.1, degree=2)
    rows = [
        {1: 0.5, 3: 0.25, 4: -0.5, 9: 0.1, 10: 0.7, 2147483647: 0.3},
        {1: 1.0},
        {2147483647: 2.0},
        {3: 0.25, 9: 0.1},
    ]
    model = parse_model(machine.text(), "a.model")
    values, _ = decide(model, parse(rows))
    assert_close(values, machine, rows)
    if kernel != "rbf":
        np.testing.assert_array_equal(values[0], values[3])


@pytest.mark.full
@pytest.mark.parametrize("density", [0.02, 0.2], ids=["column lists", "panels"])
def test_a_linear_model_of_many_pairs_is_not_folded_and_agrees(tmp_path, density):
    """ScalingToFold takes pairs x features numbers, at most 30 million."""
    rng = np.random.default_rng(15)
    classes, d = 300, 700
    vectors = random_rows(rng, classes, list(range(1, d + 1)), density=density)
    vectors[0] = dict.fromkeys(range(1, d + 1), 1.0)
    machine = random_machine(rng, "c_svc", "linear", vectors, nr_class=classes)
    machine.nr_sv = [1] * classes
    assert len(machine.pairs) * d > 3e7
    model, theirs = both(machine, tmp_path)
    rows = random_rows(rng, 8, list(range(1, d + 1)), density=density)
    values, out = decide(model, parse(rows))
    assert out.reference_rows == 0
    exact = theirs.values(rows)
    norms = np.sqrt([sum(v * v for v in row.values()) for row in rows])[:, None]
    largest = np.abs(machine.coef).max() * np.sqrt(d) * norms
    assert np.all(np.abs(values - exact) <= 1e-13 * largest)
    assert labels_of(model, rows) == theirs.labels(rows)


def test_a_huge_index_costs_no_dense_vector(tmp_path):
    rng = np.random.default_rng(16)
    indices = [1, 2, 5000000, 2000000000, 2147483647]
    for kernel in ("linear", "rbf"):
        machine = random_machine(rng, "c_svc", kernel, random_rows(rng, 30, indices), gamma=0.3)
        model, theirs = both(machine, tmp_path)
        rows = random_rows(rng, 40, [*indices, 4999999, 1999999999], density=0.8)
        values, _ = decide(model, parse(rows))
        assert_close(values, machine, rows)
        assert labels_of(model, rows) == theirs.labels(rows)


@pytest.mark.full(few=61)
@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e160, 1e200, 1e300])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
@pytest.mark.parametrize("svm_type", ["c_svc", "one_class", "epsilon_svr"])
def test_overflow_and_underflow_end_as_libsvms(tmp_path, svm_type, kernel, scale):
    rng = np.random.default_rng(17)
    machine = random_machine(rng, svm_type, kernel, random_rows(rng, 20, [1, 2, 3]), gamma=0.5, coef0=0.1, degree=3)
    model, theirs = both(machine, tmp_path)
    rows = random_rows(rng, 30, [1, 2, 3, 4], scale=scale)
    np.testing.assert_allclose(labels_of(model, rows), theirs.labels(rows), rtol=1e-9)
