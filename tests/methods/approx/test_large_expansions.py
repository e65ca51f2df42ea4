"""Expansions of many features or classes: few eigenvalues of a large matrix, compression only where it saves space, a
warning without gain."""

import numpy as np
import pytest
from click.testing import CliRunner

from fastsvm_cli import comparisons
from fastsvm_cli.commands.approx import command as approx
from fastsvm_cli.methods import feature_space
from fastsvm_cli.methods.approx import compression, expansion
from fastsvm_cli.methods.approx.expansion import TooLargeError, coefficient_count, compile_maclaurin, compressed_count
from fastsvm_cli.models import parse_model
from support.evaluation import parse, values
from support.messages import cases
from support.oracles import random_machine, random_rows
from support.paths import FASTSVM
from support.processes import peak_memory


def compressed(M, rank=None, tolerance=None, **options):
    packed = np.concatenate([np.zeros(1 + len(M)), M[np.triu_indices(len(M))]])
    return compression.compress(packed, len(M), False, rank, tolerance, 0.1, 1.0, **options)


def matrix_of(values, d, seed=61):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))
    M = (q[:, : len(values)] * values) @ q[:, : len(values)].T
    return (M + M.T) / 2


@pytest.fixture
def no_eigh(monkeypatch):
    monkeypatch.setattr(np.linalg, "eigh", lambda M: pytest.fail("all eigenvalues"))
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda M: pytest.fail("all eigenvalues"))


@pytest.mark.full
def test_few_eigenvalues_of_a_large_matrix_are_found_alone(no_eigh):
    M = matrix_of(np.array([5.0, -3.0, 2.0, 1.0, -0.5, 0.25]), 300)
    rank, stored, _ = compressed(M, 3, proven=False)
    assert rank == 3
    np.testing.assert_allclose(stored[301:304], [5, -3, 2], rtol=1e-12)
    q = stored[304:].reshape(3, 300)
    assert np.linalg.norm((M - (q.T * stored[301:304]) @ q), 2) == pytest.approx(1.0, rel=1e-9)
    assert np.array_equal(compressed(M, 3, proven=False)[1], stored)
    # A tolerance takes as many of them as all eigenvalues would.
    M = matrix_of(np.array([5.0, -3.5, 3.0, 1.5, -0.8, 0.25, *np.full(20, 0.001)]), 400)
    worst = float(np.exp(-0.1))  # maximum of e^(-gamma s) s for s up to 1
    for lost, rank in ((9.0, 1), (3.3, 2), (1.9, 3), (0.9, 4), (0.3, 5)):
        assert compressed(M, None, lost * worst, proven=False)[0] == rank


def test_many_eigenvalues_and_those_of_a_certificate_are_found_as_ever(monkeypatch):
    M = matrix_of(np.linspace(1, 2, 300), 300)
    monkeypatch.setattr("scipy.sparse.linalg.eigsh", lambda *a, **k: pytest.fail("Lanczos"))
    assert compressed(M, 100, proven=False)[0] == 100
    rank, _, dropped = compressed(M, 3)
    assert rank == 3 and 1.98 < dropped < 2


@pytest.fixture
def model():
    rng = np.random.default_rng(62)
    rows = random_rows(rng, 60, range(1, 11))
    return parse_model(random_machine(rng, "c_svc", "rbf", rows, gamma=0.1).text(), "m")


@pytest.mark.parametrize("certify", [False, True])
def test_a_matrix_is_compressed_where_that_makes_it_smaller(model, certify):
    plain = compile_maclaurin(model, fingerprint="f" * 32, certify=certify).to_text()
    for how in (dict(rank=5), dict(rank=10), dict(rank=1000), dict(tolerance=1e-12)):
        assert compile_maclaurin(model, fingerprint="f" * 32, certify=certify, **how).to_text() == plain
    assert compressed_count(10, 4) < coefficient_count(10, 2) <= compressed_count(10, 5)
    smaller = compile_maclaurin(model, fingerprint="f" * 32, certify=certify, rank=4)
    assert [e.rank for e in smaller.expansions] == [4]
    assert np.isfinite(values(smaller, parse([{1: 1.0}]))).all()


def test_all_that_compression_holds_is_counted_before_it_begins(model, monkeypatch):
    monkeypatch.setattr(expansion, "FORMED", 599)  # six matrices of 10 by 10
    with pytest.raises(TooLargeError, match=r"10 features found: their matrix takes 4.8e-06 GB before"):
        compile_maclaurin(model, fingerprint="f" * 32, rank=2)
    monkeypatch.setattr(expansion, "FORMED", 600)
    compile_maclaurin(model, fingerprint="f" * 32, rank=2)


@pytest.mark.full
def test_a_compression_takes_no_more_memory_than_is_counted(tmp_path):
    rng = np.random.default_rng(63)
    rows = [{int(j) + 1: 1.0 for j in rng.choice(2500, 40)} for _ in range(300)]
    (tmp_path / "m").write_bytes(random_machine(rng, "one_class", "rbf", rows, gamma=0.01).text())
    most = (8 * compression.COPIES * 2500**2) + (120 << 20)
    assert peak_memory(FASTSVM, "approx", "-q", "--rank", 4, "m", "out", cwd=tmp_path) < most


def test_centers_that_do_not_fit_are_refused_before_they_are_found(model, monkeypatch):
    monkeypatch.setattr(feature_space, "k_means", lambda *a, **k: pytest.fail("clusters"))
    monkeypatch.setattr(feature_space, "clusters_of", lambda *a, **k: pytest.fail("clusters"))
    for how in ({"clusters": 5}, {"clusters": 5, "degree": 1}, {"clusters": 5, "rank": 2}):
        size = r"would take about \S+ MB \(1 decision function of 10 features, degree \d, 5 centers\)"
        with pytest.raises(TooLargeError, match=size + ", beyond the limit of 0.0001 MB"):
            compile_maclaurin(model, fingerprint="f" * 32, max_bytes=100, **how)


def test_a_model_that_gains_nothing_is_warned_of(tmp_path, monkeypatch):
    rng = np.random.default_rng(64)
    rows = random_rows(rng, 40, range(1, 15))
    for classes, degree, speed_up, functions in cases("expansions that are slow"):
        machine = random_machine(rng, "c_svc", "rbf", rows, gamma=0.05, nr_class=classes)
        (tmp_path / "m").write_bytes(machine.text())
        monkeypatch.setattr(comparisons, "trial", lambda *a, speed_up=speed_up: comparisons.Trial(40, 0.0, speed_up))
        words = [str(tmp_path / "m"), str(tmp_path / "out")]
        done = CliRunner().invoke(approx, ["--degree", str(degree), *words], catch_exceptions=False)
        assert ("times as long as the exact model" in done.output) == bool(functions), done.output
        assert not functions or f"{functions} 2 times as long" in done.output
    assert CliRunner().invoke(approx, ["-q", *words]).output == ""
