"""Expansions of many features or classes: few eigenvalues of a large matrix, compression only where it saves space, a
warning without gain."""

import numpy as np
import pytest
from click.testing import CliRunner

from fastsvm_cli.commands.approx import command
from fastsvm_cli.comparisons import support_vector_trial as trials
from fastsvm_cli.methods.approx import compression, expansion
from fastsvm_cli.methods.approx.costs import coefficient_count, compressed_count
from fastsvm_cli.methods.approx.expansion import TooLargeError, compile_maclaurin
from fastsvm_cli.models import parse_model
from support.evaluation import parse, values
from support.oracles import random_machine, random_rows
from support.paths import FASTSVM
from support.processes import peak_memory


def packed(M):
    return np.concatenate([np.zeros(1 + len(M)), M[np.triu_indices(len(M))]])


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
    values = np.array([5.0, -3.0, 2.0, 1.0, -0.5, 0.25])
    M = matrix_of(values, 300)
    rank, stored, _ = compression.compress(packed(M), 300, False, 3, None, 0.1, 1.0, proven=False)
    assert rank == 3
    np.testing.assert_allclose(stored[301:304], [5, -3, 2], rtol=1e-12)
    q = stored[304:].reshape(3, 300)
    assert np.linalg.norm((M - (q.T * stored[301:304]) @ q), 2) == pytest.approx(1.0, rel=1e-9)
    again = compression.compress(packed(M), 300, False, 3, None, 0.1, 1.0, proven=False)
    assert np.array_equal(again[1], stored)


@pytest.mark.full
@pytest.mark.parametrize("lost, rank", [(1.9, 3), (0.9, 4), (0.3, 5), (3.3, 2), (9.0, 1)])
def test_a_tolerance_takes_as_many_of_them_as_all_eigenvalues_would(no_eigh, lost, rank):
    M = matrix_of(np.array([5.0, -3.5, 3.0, 1.5, -0.8, 0.25, *np.full(20, 0.001)]), 400)
    worst = float(np.exp(-0.1))  # maximum of e^(-gamma s) s for s up to 1
    found = compression.compress(packed(M), 400, False, None, lost * worst, 0.1, 1.0, proven=False)
    assert found[0] == rank


def test_many_eigenvalues_and_those_of_a_certificate_are_found_as_ever(monkeypatch):
    M = matrix_of(np.linspace(1, 2, 300), 300)
    monkeypatch.setattr("scipy.sparse.linalg.eigsh", lambda *a, **k: pytest.fail("Lanczos"))
    assert compression.compress(packed(M), 300, False, 100, None, 0.1, 1.0, proven=False)[0] == 100
    rank, _, dropped = compression.compress(packed(M), 300, False, 3, None, 0.1, 1.0)
    assert rank == 3 and 1.98 < dropped < 2


@pytest.fixture
def model():
    rng = np.random.default_rng(62)
    rows = random_rows(rng, 60, range(1, 11))
    return parse_model(random_machine(rng, "c_svc", "rbf", rows, gamma=0.1).text(), "m")


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("how", [dict(rank=5), dict(rank=10), dict(rank=1000), dict(tolerance=1e-12)], ids=str)
def test_a_matrix_that_compression_makes_no_smaller_stays_as_it_is(model, how, certify):
    plain = compile_maclaurin(model, fingerprint="f" * 32, certify=certify)
    compiled = compile_maclaurin(model, fingerprint="f" * 32, certify=certify, **how)
    assert compiled.to_text() == plain.to_text()


def test_a_rank_that_makes_it_smaller_is_kept(model):
    assert compressed_count(10, 4) < coefficient_count(10, 2) <= compressed_count(10, 5)
    compiled = compile_maclaurin(model, fingerprint="f" * 32, rank=4)
    assert [e.rank for e in compiled.expansions] == [4]
    assert np.isfinite(values(compiled, parse([{1: 1.0}]))).all()


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
    from fastsvm_cli.methods import clusters

    monkeypatch.setattr(clusters, "k_means", lambda *a, **k: pytest.fail("clusters"))
    for how in ({}, {"rank": 2}):
        with pytest.raises(TooLargeError, match="5 centers"):
            compile_maclaurin(model, fingerprint="f" * 32, clusters=5, max_bytes=1000, **how)


@pytest.mark.parametrize(
    "classes, degree, speed_up, warned",
    [(12, 2, 0.5, True), (12, 2, 2.0, False), (2, 2, 0.5, False), (2, 4, 0.5, True)],
    ids=["slower", "faster", "two", "degree 4"],
)
def test_a_model_that_gains_nothing_is_warned_of(tmp_path, monkeypatch, classes, degree, speed_up, warned):
    rng = np.random.default_rng(64)
    rows = random_rows(rng, 40, range(1, 15))
    machine = random_machine(rng, "c_svc", "rbf", rows, gamma=0.05, nr_class=classes)
    (tmp_path / "m").write_bytes(machine.text())
    monkeypatch.setattr(trials, "trial", lambda *a: trials.Trial(40, 0.0, speed_up))
    done = CliRunner().invoke(command, ["--degree", str(degree), str(tmp_path / "m"), str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    text = done.output + (done.stderr if "stderr" in dir(done) and done.stderr_bytes else "")
    functions = "66 decision functions of degree 2 take" if classes == 12 else "1 decision function of degree 4 takes"
    assert (f"{functions} 2 times as long as the exact model" in text) == warned
    quiet = CliRunner().invoke(command, ["-q", str(tmp_path / "m"), str(tmp_path / "out")])
    assert quiet.output == ""
