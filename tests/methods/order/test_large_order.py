"""Geometry models of many support vectors: bounded memory, unchanged labels."""

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.methods import kernel_matrix
from fastsvm_cli.methods.order import geometry
from fastsvm_cli.methods.order.geometry import compile_geometry
from fastsvm_cli.models import parse_model
from support.oracles import random_machine, random_rows
from support.ordering import lines, spread

pytestmark = pytest.mark.usefixtures("best_instruction_set")


def model_of(machine):
    return parse_model(machine.text(), "m")


@pytest.fixture
def model():
    return model_of(spread(np.random.default_rng(51), 300, "rbf", d=6, classes=3))


@pytest.fixture
def factors(monkeypatch):
    """Factors of all factorisations made."""
    made, before = [], geometry.PartialCholesky

    class Persistent(before):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self.factor)

    monkeypatch.setattr(geometry, "PartialCholesky", Persistent)
    return made


@pytest.mark.parametrize("sequence, folded", [("sgma", []), ("greedy", [{1: 0.5, 3: -1.0}, {2: 0.25}])])
def test_the_factorisation_is_bounded_and_the_points_are_support_vectors(model, factors, monkeypatch, sequence, folded):
    def made(**options):
        how = dict(sequence=sequence, points=20, folded=folded or None)
        return compile_geometry(model, fingerprint="f" * 32, **how, **options)

    whole = made()
    monkeypatch.setattr(geometry, "FACTOR_CELLS", 1000)
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
    monkeypatch.setattr(geometry, "FACTOR_CELLS", 1)
    assert len(made().points) == 20 + extra and factors[-1].shape == (20 + extra, 20 + extra)


@pytest.mark.parametrize("density", [0.02, 1.0])
def test_one_file_whatever_the_number_of_threads(monkeypatch, density):
    monkeypatch.setattr(kernel_matrix, "BLOCK_ROWS", 64)
    rng = np.random.default_rng(53)
    rows = random_rows(rng, 300, range(1, 200 if density < 1 else 7), density=density)
    model = model_of(random_machine(rng, "c_svc", "rbf", rows, gamma=0.2, nr_class=3))
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
    both = [kernel_matrix.PartialCholesky(kernel, scipy.sparse.csr_matrix(x), 60, single) for single in (False, True)]
    for _ in range(60):
        p = int(np.argmax(both[0].diagonal))
        if both[0].diagonal[p] <= geometry.INDEPENDENT:
            break
        columns = [each.add(p) for each in both]
        np.testing.assert_allclose(columns[1], columns[0], rtol=0, atol=1e-4)
        np.testing.assert_allclose(both[1].diagonal, both[0].diagonal, rtol=0, atol=1e-5)
    assert both[0].count > 30 and both[1].factor.nbytes == both[0].factor.nbytes / 2


def test_kernels_whose_values_have_any_size_keep_double_precision(factors, monkeypatch):
    monkeypatch.setattr(geometry, "SINGLE_CELLS", 0)
    rng = np.random.default_rng(55)
    rows = random_rows(rng, 40, range(1, 5), scale=1e30)
    for kernel, kept in (("rbf", np.float32), ("polynomial", np.float64), ("linear", np.float64)):
        machine = random_machine(rng, "c_svc", kernel, rows, gamma=1e-60, coef0=0.0, degree=2)
        machine.coef *= 1e-10
        assert len(compile_geometry(model_of(machine), fingerprint="f" * 32, points=3).points) >= 1
        assert factors[-1].dtype == kept
