"""Points and pivots of ordered models, against the formulas in support/oracles; of many support vectors, in bounded
memory."""

import warnings
from contextlib import suppress
from math import sqrt

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods import feature_space
from fastsvm_cli.methods.order import orders
from fastsvm_cli.methods.order.orders import compile_geometry
from fastsvm_cli.models import parse_model
from support import oracles
from support.evaluation import parse
from support.oracles import EXTENDED, random_machine, random_rows
from support.ordering import exact_model, methods_for, order, spread
from support.reducing import lines

pytestmark = pytest.mark.usefixtures("best_instruction_set")


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


# ---- many support vectors


@pytest.fixture
def factors(monkeypatch):
    """Factors of all factorisations made."""
    made, before = [], orders.PartialCholesky

    class Persistent(before):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self.factor)

    monkeypatch.setattr(orders, "PartialCholesky", Persistent)
    return made


@pytest.mark.parametrize("sequence, folded", [("sgma", []), ("greedy", [{1: 0.5, 3: -1.0}, {2: 0.25}])])
def test_the_factorisation_is_bounded_and_the_points_are_support_vectors(factors, monkeypatch, sequence, folded):
    model = exact_model(spread(np.random.default_rng(51), 300, "rbf", d=6, classes=3))

    def made(**options):
        how = dict(sequence=sequence, points=20, folded=parse(folded))
        return compile_geometry(model, fingerprint="f" * 32, **how, **options)

    whole = made()
    monkeypatch.setattr(orders, "FACTOR_CELLS", 1000)
    bounded, extra = made(), len(folded)
    assert factors[0].size >= 300 * 20 and factors[1].size == (50 + extra) * (20 + extra)
    assert len(set(bounded.points)) == len(bounded.points) == 20 + extra == len(whole.points)
    assert [p for p in bounded.points if p >= 300] == list(range(300, 300 + extra))
    assert bounded.points != whole.points
    assert made().to_text() == bounded.to_text()  # the same seed
    assert made(seed=1).points != bounded.points
    rows = random_rows(np.random.default_rng(52), 200, range(1, 7))
    assert lines(parse_model(bounded.to_text(), "order"), rows)[0] == lines(model, rows)[0]
    # There are no fewer candidates than points.
    monkeypatch.setattr(orders, "FACTOR_CELLS", 1)
    assert len(made().points) == 20 + extra and factors[-1].shape == (20 + extra, 20 + extra)


@pytest.mark.parametrize("density", [0.02, 1.0])
def test_one_file_whatever_the_number_of_threads(monkeypatch, density):
    monkeypatch.setattr(feature_space, "COLUMN_ROWS", 64)
    rng = np.random.default_rng(53)
    rows = random_rows(rng, 300, range(1, 200 if density < 1 else 7), density=density)
    model = exact_model(random_machine(rng, "c_svc", "rbf", rows, gamma=0.2, nr_class=3))
    for sequence in ("greedy", "sgma"):
        texts = set()
        for threads in (1, 2, 5):
            _native.set_threads(threads)
            texts.add(compile_geometry(model, fingerprint="f" * 32, points=15, sequence=sequence).to_text())
        assert len(texts) == 1


def test_points_are_chosen_from_a_factorisation_in_single_precision_that_is_as_good():
    rng = np.random.default_rng(54)
    x = rng.standard_normal((200, 5))
    x[150:] = x[:50] + 0.05 * rng.standard_normal((50, 5))  # near the span of the others
    kernel = Kernel("rbf", 0.2)
    both = [feature_space.PartialCholesky(kernel, scipy.sparse.csr_matrix(x), 60, single) for single in (False, True)]
    for _ in range(60):
        p = int(np.argmax(both[0].diagonal))
        if both[0].diagonal[p] <= orders.INDEPENDENT:
            break
        columns = [each.add(p) for each in both]
        np.testing.assert_allclose(columns[1], columns[0], rtol=0, atol=1e-4)
        np.testing.assert_allclose(both[1].diagonal, both[0].diagonal, rtol=0, atol=1e-5)
    assert both[0].count > 30 and both[1].factor.nbytes == both[0].factor.nbytes / 2


def test_kernels_whose_values_have_any_size_keep_double_precision(factors, monkeypatch):
    monkeypatch.setattr(orders, "SINGLE_CELLS", 0)
    rng = np.random.default_rng(55)
    rows = random_rows(rng, 40, range(1, 5), scale=1e30)
    for kernel, kept in (("rbf", np.float32), ("polynomial", np.float64), ("linear", np.float64)):
        machine = random_machine(rng, "c_svc", kernel, rows, gamma=1e-60, coef0=0.0, degree=2)
        machine.coef *= 1e-10
        assert len(compile_geometry(exact_model(machine), fingerprint="f" * 32, points=3).points) >= 1
        assert factors[-1].dtype == kept
