"""Certificates of large models: degree norms of sparse vectors without a dense copy."""

from math import factorial

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli import _native, bounds
from fastsvm_cli.methods.approx import certificates
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.approx.pair_sums import PairSums
from fastsvm_cli.models import parse_model
from support import oracles
from support.evaluation import decide, parse, reference
from support.oracles import EXTENDED, random_machine


def true_norms(x, m, a, gamma, first, last):
    """W_first^2 .. W_last^2 and W_{>last}^2 of vectors x about m, in extended precision."""
    x, a, gamma = x.astype(EXTENDED) - m.astype(EXTENDED), a.astype(EXTENDED), EXTENDED(gamma)
    damped = a * np.exp(-gamma * (x**2).sum(axis=1))
    products, term, out = 2 * gamma * (x @ x.T), EXTENDED(1), []
    for k in range(1, last + 300):
        term = term * products / k
        out.append(EXTENDED(damped @ term @ damped))
    return [float(w) for w in out[first - 1 : last]], float(sum(reversed(out[last:])))


def sparse_vectors(rng, n, d):
    """Sparse rows with up to three mostly full columns far from 0, a pair of twins and an empty row."""
    x = rng.standard_normal((n, d)) * (rng.random((n, d)) < rng.uniform(0.02, 0.3))
    for column in range(int(rng.integers(0, min(3, d) + 1))):
        x[:, column] = np.where(rng.random(n) < rng.uniform(0.5, 1), 10 ** rng.uniform(-1, 4) + rng.random(n), 0)
    x[n // 2] = 0
    x[n // 3] = x[n - 1]
    return x


def proven_norms(x, a, gamma, first, last):
    """(degree norms of sparse vectors, their bounds in a certificate, the bound of the tail, moments)"""
    rows, m = scipy.sparse.csr_matrix(x), x.mean(axis=0)
    squares = certificates.squared_norms(rows, m)
    computed, lengths = certificates.degree_norms(rows, m, squares, a, gamma, first, last, None)
    damped, s = np.abs(a) * np.exp(-gamma * squares), np.sqrt(2 * gamma) * lengths
    n, d = x.shape
    largest = gamma * float((lengths**2).max())

    def moment(k):
        return float(np.where(damped > 0, damped * s**k, 0).sum())

    norms = [bounds.degree_norm(computed[k - first], k, moment(k), n, d, largest) for k in range(first, last + 1)]
    tail = bounds.tail_norm(
        computed[-1], last, [moment(k) for k in range(last + 1, last + 41)], float(np.abs(a).sum()), n, d, largest
    )
    return computed, norms, tail, moment


@pytest.mark.full
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("largest", [1e-4, 0.5, 5, 30])
def test_norms_by_shared_entries_are_those_of_the_definition_and_bounded(
    largest, threads, monkeypatch, best_instruction_set
):
    monkeypatch.setattr(certificates, "ENTRY_COST", 0)  # always sparse
    _native.set_threads(threads)
    rng = np.random.default_rng([7, threads])
    for n, d in ((2, 1), (31, 5), (33, 40), (200, 60), (2500, 30)):
        x = sparse_vectors(rng, n, d)
        about = ((x - x.mean(axis=0)) ** 2).sum(axis=1).max()
        gamma = largest / (about or 1.0)
        a = rng.standard_normal(n) * 10 ** rng.uniform(-3, 5)
        a[n // 3] = -a[n - 1]  # opposite to its twin
        first, last = (3, 7) if n != 33 else (2, 4)
        computed, norms, tail, moment = proven_norms(x, a, gamma, first, last)
        if n > 1000:  # against the dense way: extended precision takes seconds
            dense = PairSums(np.ascontiguousarray(x - x.mean(axis=0)), a, gamma, first, last, sparse=False).here(None)
            for k in range(first, last + 1):
                assert abs(dense[k - first] - computed[k - first]) <= 1e-10 * moment(k) ** 2 / factorial(k)
            continue
        true, rest = true_norms(x, x.mean(axis=0), a, gamma, first, last)
        for k in range(first, last + 1):
            size = moment(k) ** 2 / factorial(k)
            assert abs(computed[k - first] - true[k - first]) <= 1e-11 * size + 1e-300
            assert norms[k - first] ** 2 >= true[k - first]
            assert norms[k - first] ** 2 <= 1.0001 * max(true[k - first], 0) + 1e-9 * size + 1e-300
        assert tail**2 >= rest
        assert tail**2 <= 1.0001 * max(rest, 0) + 1e-9 * float(np.abs(a).sum()) ** 2


def test_norms_do_not_depend_on_threads_and_little_on_the_instruction_set(monkeypatch, instruction_set):
    rng = np.random.default_rng(8)
    for cost in (0, 1e9):
        monkeypatch.setattr(certificates, "ENTRY_COST", cost)
        x = scipy.sparse.csr_matrix(sparse_vectors(rng, 500, 30))
        m, a = np.asarray(x.mean(axis=0)).ravel(), rng.standard_normal(500)
        squares = certificates.squared_norms(x, m)
        found = []
        for threads in (1, 2, 5):
            _native.set_threads(threads)
            found.append(certificates.degree_norms(x, m, squares, a, 1e-9, 3, 7, None)[0])
        assert found[0] == found[1] == found[2]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_no_sparse_model_has_a_value_beyond_its_radius(seed, monkeypatch):
    monkeypatch.setattr(certificates, "ENTRY_COST", 0)
    rng = np.random.default_rng([9, seed])
    finite = seen = 0
    for trial in range(60):
        n, d = int(rng.integers(2, 40)), int(rng.integers(1, 12))
        x = sparse_vectors(rng, n, d)
        gamma = 10 ** rng.uniform(-3, 0.5) / max(((x - x.mean(axis=0)) ** 2).sum(axis=1).max(), 1e-3)
        vectors = [{j: float(v) for j, v in enumerate(row, 1) if v} for row in x]
        machine = random_machine(rng, "epsilon_svr", "rbf", vectors, gamma=float(gamma))
        rows = [*vectors[:5], {}, {j: 1.5 * v for j, v in vectors[-1].items()}, {1: 1e3}, {d + 3: 1.0}]
        exact = parse_model(machine.text(), "m")
        model = compile_maclaurin(
            exact, fingerprint="f" * 32, certify=True, degree=int(rng.integers(1, 4)), single=False
        )
        chunk = parse(rows)
        value, radius = decide(model, chunk)
        error = np.maximum(
            np.abs(value - oracles.decision_values(machine, rows)), np.abs(value - reference(exact, chunk))
        )
        assert ((error <= radius) | (radius == np.inf)).all(), (trial, error, radius)
        finite, seen = finite + np.isfinite(radius).sum(), seen + radius.size
    assert finite > 0.5 * seen


def test_a_certificate_writes_out_no_more_of_sparse_vectors_than_a_block(monkeypatch):
    rng = np.random.default_rng(10)
    x = scipy.sparse.random(400, 300, 0.02, format="csr", random_state=11)
    vectors = [{int(j) + 1: float(v) for j, v in zip(row.indices, row.data)} or {1: 1.0} for row in x]
    machine = random_machine(rng, "one_class", "rbf", vectors, gamma=0.1)
    monkeypatch.setattr(certificates, "BLOCK_CELLS", 6000)
    written = []
    before = scipy.sparse.csr_matrix.toarray

    def counting(self, *args, **kwargs):
        written.append(self.shape[0] * self.shape[1])
        return before(self, *args, **kwargs)

    monkeypatch.setattr(scipy.sparse.csr_matrix, "toarray", counting)
    compile_maclaurin(parse_model(machine.text(), "m"), fingerprint="f" * 32, certify=True)
    assert written and max(written) <= 6000


def test_vectors_that_would_not_fit_as_a_dense_matrix_get_their_certificate(monkeypatch):
    rng = np.random.default_rng(12)
    vectors = oracles.random_rows(rng, 30, range(1, 9))
    machine = random_machine(rng, "one_class", "rbf", vectors, gamma=0.1)
    exact = parse_model(machine.text(), "m")
    dense = compile_maclaurin(exact, fingerprint="f" * 32, certify=True).expansions[0].certificate
    monkeypatch.setattr(certificates, "DENSE_CELLS", 1)
    sparse = compile_maclaurin(exact, fingerprint="f" * 32, certify=True).expansions[0].certificate
    np.testing.assert_allclose(sparse.truncation, dense.truncation, rtol=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        dict(starts=np.array([0, 2])),
        dict(starts=np.array([0, 2, 1, 3])),
        dict(columns=np.array([0, 1, 5], np.int32)),
        dict(columns=np.array([0, -1, 1], np.int32)),
        dict(squared_norms=np.zeros(2)),
        dict(a=np.zeros(2)),
    ],
    ids=str,
)
def test_sparse_rows_that_contradict_themselves_are_refused_by_the_core(change):
    good = dict(
        starts=np.array([0, 1, 2, 3]),
        columns=np.array([0, 1, 1], np.int32),
        values=np.ones(3),
        features=2,
        shift=np.zeros(3),
        squared_norms=np.ones(3),
        a=np.ones(3),
        gamma=0.1,
        from_degree=3,
        to_degree=7,
    )
    assert len(_native.DegreeNormParts.sparse(**good).sums(0)) == 6
    with pytest.raises((ValueError, IndexError)):
        _native.DegreeNormParts.sparse(**{**good, **change})
