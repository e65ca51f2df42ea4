"""Degree norms of certificates, of dense and of sparse vectors, against their definition in extended precision."""

from math import factorial

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli import _native, bounds
from fastsvm_cli.methods import silent
from fastsvm_cli.methods.approx import certificates
from fastsvm_cli.methods.approx.certificates import PairSums
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import parse_model
from support.hostile import sparse_vectors
from support.oracles import EXTENDED, random_machine, random_rows

pytestmark = pytest.mark.usefixtures("best_instruction_set")


def true_norms(x, a, gamma, first, last):
    """W_first^2 .. W_last^2 and W_{>last}^2 by definition, in extended precision; x: about the centre."""
    a, gamma = a.astype(EXTENDED), EXTENDED(gamma)
    damped = a * np.exp(-gamma * (x**2).sum(axis=1))
    products, term, out = 2 * gamma * (x @ x.T), EXTENDED(1), []
    for k in range(1, last + 400):
        term = term * products / k
        out.append(EXTENDED(damped @ term @ damped))
    return out[first - 1 : last], sum(reversed(out[last:]))


def dense_vectors(rng, n, d):
    x = rng.standard_normal((n, d))
    x[::2] = -x[0] if n > 3 else x[::2]  # products of both signs, as large as any
    return x


def sums(x, m, a, gamma, first, last, sparse):
    """The computed norms of vectors x about m, and their squared lengths."""
    if sparse:
        rows = scipy.sparse.csr_matrix(x)
        squares = certificates.squared_norms(rows, m)
        computed, lengths = certificates.degree_norms(rows, m, squares, a, gamma, first, last, silent)
        return np.array(computed), squares, lengths
    x = np.ascontiguousarray(x - m)
    squares = (x**2).sum(axis=1)
    return np.array(PairSums(x, a, gamma, first, last, sparse=False).here(silent)), squares, np.sqrt(squares)


@pytest.mark.full(few=2)
@pytest.mark.parametrize("largest, threads", [(1e-6, 1), (0.1, 2), (1, 1), (5.9, 2), (6.1, 1), (20, 2), (60, 1)])
@pytest.mark.parametrize("sparse", [False, True])
def test_degree_norms_are_those_of_their_definition_and_bounded(monkeypatch, largest, threads, sparse):
    monkeypatch.setattr(certificates, "ENTRY_COST", 0)  # sparse vectors: by shared entries, always
    _native.set_threads(threads)
    rng = np.random.default_rng([12, sparse])
    for n, d in ((2, 1), (3, 2), (31, 5), (33, 40), (70, 12)):
        x = (sparse_vectors if sparse else dense_vectors)(rng, n, d)
        m = x.mean(axis=0) if sparse else np.zeros(d)
        gamma = largest / (((x - m) ** 2).sum(axis=1).max() or 1.0)
        a = rng.standard_normal(n) * 10 ** rng.uniform(-3, 5)
        a[n // 3] = -a[n - 1]  # opposite to its twin
        if n > 30 and not sparse:
            a[1::2] = -a[:-1:2][: len(a[1::2])]
        about = x.astype(EXTENDED) - m.astype(EXTENDED)
        for first, last in ((2, 6), (5, 9), (1, 1)):
            computed, squares, lengths = sums(x, m, a, gamma, first, last, sparse)
            norms, tail = true_norms(about, a, gamma, first, last)
            damped, s, top = np.abs(a) * np.exp(-gamma * squares), np.sqrt(2 * gamma) * lengths, gamma * squares.max()

            def moment(k, damped=damped, s=s):
                return float(np.where(damped > 0, damped * s**k, 0).sum())

            weight = float(np.abs(a).sum())
            for at, k in enumerate(range(first, last + 1)):
                size = moment(k) ** 2 / factorial(k)
                assert abs(computed[at] - norms[at]) <= 1e-11 * size + 1e-300
                bound = bounds.degree_norm(computed[at], k, moment(k), n, d, float(top))
                assert norms[at] <= bound**2 <= 1.0001 * max(norms[at], 0) + 1e-9 * size + 1e-300
            assert abs(computed[-1] - tail) <= 1e-11 * weight**2
            moments = [moment(k) for k in range(last + 1, last + 41)]
            bound = bounds.tail_norm(computed[-1], last, moments, weight, n, d, float(top))
            assert tail <= bound**2 <= 1.0001 * max(tail, 0) + 1e-9 * weight**2


def test_degree_norms_of_many_vectors_that_cancel_are_bounded():
    """Worst case of a running sum: one large term, many too small to change it, and the large term subtracted."""
    for n, threads in ((500, 1), (4000, 2)):
        _native.set_threads(threads)
        for small in (0.99, 0.7, 0.3):
            a = np.full(n, small * np.sqrt(2.0**-53 / 64))
            a[0], a[-1] = 1, -1
            x, gamma = np.ones((n, 1)), 0.1
            computed = PairSums(x, a, gamma, 3, 7, sparse=False).here(silent)
            total, t = a.astype(EXTENDED).sum(), EXTENDED(2 * gamma)
            for k in range(3, 8):
                true = total**2 * np.exp(-t) * t**k / factorial(k)
                moment = float(np.abs(a).sum() * np.exp(-gamma) * np.sqrt(2 * gamma) ** k)
                assert bounds.degree_norm(computed[k - 3], k, moment, n, 1, gamma) ** 2 >= true, (n, small, k)


def test_norms_depend_neither_on_threads_nor_much_on_how_they_are_computed(monkeypatch, instruction_set):
    rng = np.random.default_rng(8)
    x = sparse_vectors(rng, 1500, 30)
    m, a, found = x.mean(axis=0), rng.standard_normal(1500), []
    for cost in (0, 1e9):  # by shared entries; in dense blocks
        monkeypatch.setattr(certificates, "ENTRY_COST", cost)
        for threads in (1, 2, 5):
            _native.set_threads(threads)
            found.append(sums(x, m, a, 1e-9, 3, 7, True)[0])
        assert np.array_equal(found[-1], found[-2]) and np.array_equal(found[-1], found[-3])
    np.testing.assert_allclose(found[0], found[-1], rtol=1e-6)


# ---- large models


def test_vectors_that_would_not_fit_as_a_dense_matrix_get_their_certificate(monkeypatch):
    rng = np.random.default_rng(12)
    machine = random_machine(rng, "one_class", "rbf", random_rows(rng, 30, range(1, 9)), gamma=0.1)
    exact = parse_model(machine.text(), "m")
    dense = compile_maclaurin(exact, fingerprint="f" * 32, certify=True).expansions[0].certificate
    monkeypatch.setattr(certificates, "DENSE_CELLS", 1)
    sparse = compile_maclaurin(exact, fingerprint="f" * 32, certify=True).expansions[0].certificate
    np.testing.assert_allclose(sparse.truncation, dense.truncation, rtol=1e-6)


def test_sparse_rows_that_contradict_themselves_are_refused_by_the_core():
    def parts(starts=(0, 1, 2, 3), columns=(0, 1, 1), norms=3, weights=3):
        rows = dict(starts=np.array(starts), columns=np.array(columns, np.int32), values=np.ones(3), features=2)
        sizes = dict(shift=np.zeros(3), squared_norms=np.ones(norms), a=np.ones(weights), gamma=0.1)
        return _native.DegreeNormParts.sparse(**rows, **sizes, from_degree=3, to_degree=7)

    assert len(parts().sums(0)) == 6
    for starts in ((0, 2), (0, 2, 1, 3)):
        with pytest.raises((ValueError, IndexError)):
            parts(starts)
    for wrong in ({"columns": (0, 1, 5)}, {"columns": (0, -1, 1)}, {"norms": 2}, {"weights": 2}):
        with pytest.raises((ValueError, IndexError)):
            parts(**wrong)
