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
from support.evaluation import parse
from support.oracles import random_machine, random_rows

pytestmark = pytest.mark.usefixtures("best_instruction_set")


@pytest.fixture
def model():
    rng = np.random.default_rng(51)
    rows = random_rows(rng, 300, range(1, 7))
    return parse_model(random_machine(rng, "c_svc", "rbf", rows, gamma=0.2, nr_class=3).text(), "m")


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


@pytest.mark.parametrize("sequence", ["greedy", "sgma"])
@pytest.mark.parametrize("folded", [None, [{1: 0.5, 3: -1.0}, {2: 0.25}]])
def test_the_factorisation_is_bounded_and_the_points_are_support_vectors(model, factors, monkeypatch, sequence, folded):
    how = dict(fingerprint="f" * 32, sequence=sequence, points=20, folded=folded)
    whole = compile_geometry(model, **how)
    monkeypatch.setattr(geometry, "FACTOR_CELLS", 1000)
    bounded = compile_geometry(model, **how)
    extra = len(folded or [])
    assert factors[0].size >= 300 * 20 and factors[1].size == (50 + extra) * (20 + extra)
    assert len(set(bounded.points)) == len(bounded.points) == 20 + extra == len(whole.points)
    assert max(bounded.points) < 300 + extra
    assert [p for p in bounded.points if p >= 300] == list(range(300, 300 + extra))
    assert bounded.points != whole.points
    again = compile_geometry(model, **how)
    assert again.to_text() == bounded.to_text()  # the same seed
    assert compile_geometry(model, **how, seed=1).points != bounded.points

    rows = parse(random_rows(np.random.default_rng(52), 200, range(1, 7)))
    read = parse_model(bounded.to_text(), "order")
    out, true = _native.Decisions(model.pairs, True), _native.Decisions(model.pairs, True)
    labels, requested = _native.Predictions(), _native.Predictions()
    read.decision_values(rows, out)
    model.decision_values(rows, true)
    _native.predict(model.header.task(), out, False, labels)
    _native.predict(model.header.task(), true, False, requested)
    assert list(labels.label) == list(requested.label)


def test_there_are_no_fewer_candidates_than_points(model, factors, monkeypatch):
    monkeypatch.setattr(geometry, "FACTOR_CELLS", 1)
    assert len(compile_geometry(model, fingerprint="f" * 32, points=20).points) == 20
    assert factors[0].shape == (20, 20)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("sparse", [False, True])
def test_one_file_whatever_the_number_of_threads(model, monkeypatch, sparse):
    monkeypatch.setattr(kernel_matrix, "BLOCK_ROWS", 64)
    if sparse:
        rng = np.random.default_rng(53)
        rows = random_rows(rng, 300, range(1, 200), density=0.02)
        model = parse_model(random_machine(rng, "c_svc", "rbf", rows, gamma=0.2, nr_class=3).text(), "m")
    texts = []
    for sequence in ("greedy", "sgma"):
        for threads in (1, 2, 5):
            _native.set_threads(threads)
            texts.append(compile_geometry(model, fingerprint="f" * 32, points=15, sequence=sequence).to_text())
    assert texts[0] == texts[1] == texts[2] and texts[3] == texts[4] == texts[5]


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


@pytest.mark.parametrize("kernel, single", [("rbf", True), ("polynomial", False), ("linear", False)])
def test_kernels_whose_values_have_any_size_keep_double_precision(factors, monkeypatch, kernel, single):
    monkeypatch.setattr(geometry, "SINGLE_CELLS", 0)
    rng = np.random.default_rng(55)
    rows = random_rows(rng, 40, range(1, 5), scale=1e30)
    machine = random_machine(rng, "c_svc", kernel, rows, gamma=1e-60, coef0=0.0, degree=2)
    machine.coef *= 1e-10
    model = parse_model(machine.text(), "m")
    assert len(compile_geometry(model, fingerprint="f" * 32, points=3).points) >= 1
    assert factors[0].dtype == (np.float32 if single else np.float64)
