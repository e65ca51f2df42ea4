"""Geometry models of many support vectors: points chosen in bounded memory, labels as ever."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.compilers import partial_cholesky
from fastsvm_cli.compilers.ordered import geometry
from fastsvm_cli.compilers.ordered.geometry import compile_geometry
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
    """The factorisations that are made."""
    made, before = [], geometry.PartialCholesky

    class Kept(before):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self.factor)

    monkeypatch.setattr(geometry, "PartialCholesky", Kept)
    return made


@pytest.mark.parametrize("sequence", ["greedy", "sgma"])
@pytest.mark.parametrize("folded", [None, [{1: 0.5, 3: -1.0}, {2: 0.25}]])
def test_the_factorisation_is_bounded_and_the_points_are_support_vectors(model, factors, monkeypatch, sequence, folded):
    how = dict(fingerprint="f" * 32, sequence=sequence, points=20, folded=folded)
    whole = compile_geometry(model, **how)
    monkeypatch.setattr(geometry, "_FACTOR_CELLS", 1000)
    bounded = compile_geometry(model, **how)
    extra = len(folded or [])
    assert factors[0].size >= 300 * 20 and factors[1].size == (50 + extra) * (20 + extra)
    assert len(set(bounded.points)) == len(bounded.points) == 20 + extra == len(whole.points)
    assert max(bounded.points) < 300 + extra and [p for p in bounded.points if p >= 300] == list(
        range(300, 300 + extra)
    )
    assert bounded.points != whole.points
    again = compile_geometry(model, **how)
    assert again.to_text() == bounded.to_text()  # what is drawn is the seed's
    assert compile_geometry(model, **how, seed=1).points != bounded.points

    rows = parse(random_rows(np.random.default_rng(52), 200, range(1, 7)))
    read = parse_model(bounded.to_text(), "order")
    out, true = _native.Decisions(model.pairs, True), _native.Decisions(model.pairs, True)
    labels, wanted = _native.Predictions(), _native.Predictions()
    read.decision_values(rows, out)
    model.decision_values(rows, true)
    _native.predict(model.header.task(), out, False, labels)
    _native.predict(model.header.task(), true, False, wanted)
    assert list(labels.label) == list(wanted.label)


def test_there_are_no_fewer_candidates_than_points(model, factors, monkeypatch):
    monkeypatch.setattr(geometry, "_FACTOR_CELLS", 1)
    assert len(compile_geometry(model, fingerprint="f" * 32, points=20).points) == 20
    assert factors[0].shape == (20, 20)


@pytest.mark.parametrize("sparse", [False, True])
def test_one_file_whatever_the_number_of_threads(model, monkeypatch, sparse):
    monkeypatch.setattr(partial_cholesky, "_BLOCK_ROWS", 64)
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
