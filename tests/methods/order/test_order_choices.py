"""Points and pivots of ordered models, against the formulas in support/oracles."""

import warnings
from contextlib import suppress
from math import sqrt

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from support import oracles
from support.oracles import EXTENDED, random_machine, random_rows
from support.ordering import UNKNOWN, methods_for, order, spread

pytestmark = pytest.mark.usefixtures("serial_libsvm")


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "exponential"])
def test_greedy_takes_what_takes_most_from_the_uncertainty(kernel):
    """The largest sum over the decision functions of c_p^2 / d_p, each as a share of its |w|^2."""
    rng = np.random.default_rng(30)
    for classes in (2, 3):
        machine = spread(rng, 50, kernel, classes=classes)
        points = order(machine, "geometry", points=30).points
        a = machine.pair_coefficients.T.astype(EXTENDED)
        k = oracles.kernel_values(machine, machine.vectors)
        squared_norm = np.einsum("ip,ij,jp->p", a, k, a)
        c, residual = k @ a, k.copy()
        assert len(points) == len(set(points)) == 30
        for p in points:
            d = np.diag(residual)
            gains = np.where(d > 1e-5 * np.diag(k), (c**2 / squared_norm).sum(axis=1) / np.maximum(d, 1e-30), 0)
            assert gains[p] >= gains.max() * (1 - 1e-6)
            column = residual[:, p] / residual[p, p]
            c, residual = c - np.outer(column, c[p]), residual - np.outer(column, residual[p])


def test_sgma_takes_what_takes_most_from_the_kernel_matrix():
    """Each step considers 59 candidates: here, all points."""
    machine = spread(np.random.default_rng(31), 40, "rbf")
    residual = oracles.kernel_values(machine, machine.vectors)
    for p in order(machine, "geometry", sequence="sgma", points=25).points:
        gains = (residual**2).sum(axis=0) / np.maximum(np.diag(residual), 1e-9)
        assert gains[p] >= gains.max() * (1 - 1e-6)
        residual = residual - np.outer(residual[:, p], residual[p]) / residual[p, p]


def test_there_are_as_many_points_as_the_papers_threshold_says():
    rng = np.random.default_rng(32)
    for n, d in ((200, 10), (30, 20), (50, 50)):
        machine = spread(rng, n, "rbf", d=d)
        assert len(order(machine, "geometry").points) == min(n, int(np.ceil(max(d, sqrt(d * n)))))
        assert len(order(machine, "geometry", points=7).points) == 7
        assert sorted(order(machine, "geometry", points=10**6).points) == list(range(n))
    assert len(order(spread(rng, 40, "linear", d=3), "geometry", points=40).points) == 3  # they span the space


def test_what_is_drawn_depends_on_the_seed_alone():
    machine = spread(np.random.default_rng(37), 80, "rbf", classes=3)
    for method, options in (("geometry", {"sequence": "sgma", "points": 20}), ("triangle", {"lists": 6})):
        one, again, other = (order(machine, method, seed=seed, **options).to_text() for seed in (1, 1, 2))
        assert one == again != other
    assert order(machine, "geometry").to_text() == order(machine, "geometry").to_text()


def test_folded_vectors_come_first_and_are_no_support_vectors():
    machine = spread(np.random.default_rng(33), 40, "rbf")
    folded = [{1: 0.5, 3: -0.25}, {2: 1.0, UNKNOWN: 2.0}]
    model = order(machine, "geometry", folded=folded, points=5)
    assert model.points[:2] == [40, 41]
    assert len(model.points) == 7 and model.all_vectors.rows == 42 and model.exact.vectors.rows == 40
    assert "2 of them folded" in model.ordered_by


def test_pivots_are_the_support_vectors_nearest_to_the_middle_of_clusters():
    rng = np.random.default_rng(34)
    x = np.vstack([center + rng.normal(0, 0.2, (20, 2)) for center in ((0, 0), (10, 0), (0, 10))])
    machine = random_machine(rng, "one_class", "rbf", [dict(enumerate(row, 1)) for row in x.tolist()], gamma=0.1)
    nearest = [
        20 * c + int(np.argmin(((part - part.mean(axis=0)) ** 2).sum(axis=1)))
        for c, part in enumerate(x.reshape(3, 20, 2))
    ]
    assert sorted(order(machine, "triangle", lists=3).pivots) == nearest
    assert len(order(machine, "triangle", lists=1000).pivots) <= 60


@pytest.mark.parametrize("kernel, size", [("linear", 1.0), ("polynomial", 1.0), ("rbf", 1e170), ("rbf", 1e300)])
def test_ordering_warns_of_nothing(kernel, size):
    """Zero vectors where the kernel is 0, coefficients whose squares overflow: an error, or a readable file."""
    rng = np.random.default_rng(36)
    machine = random_machine(rng, "c_svc", kernel, [*random_rows(rng, 20, [1, 2]), {}], gamma=1.0, degree=2)
    machine.coef *= size
    for method in methods_for(kernel):
        for options in ({"sequence": "greedy"}, {"sequence": "sgma"}) if method == "geometry" else ({},):
            with warnings.catch_warnings(), suppress(ModelFormatError):
                warnings.simplefilter("error")
                order(machine, method, **options)
