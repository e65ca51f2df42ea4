"""Degree norms of certificates; labels and probabilities that certificates decide."""

from itertools import combinations, product
from math import factorial

import numpy as np
import pytest

from fastsvm_cli import _native, bounds
from fastsvm_cli.methods.approx.pair_sums import PairSums
from support.oracles import EXTENDED

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- degree norms


def true_degree_norms(x, a, gamma, first, last):
    """W_first^2 .. W_last^2 and W_{>last}^2 by definition, in extended precision."""
    x, a = x.astype(EXTENDED), a.astype(EXTENDED)
    damped = a * np.exp(-EXTENDED(gamma) * (x**2).sum(axis=1))
    products = 2 * EXTENDED(gamma) * (x @ x.T)
    term, out, weights = np.ones_like(products), [], np.outer(damped, damped)
    for k in range(1, last + 400):
        term = term * products / k
        out.append(EXTENDED((weights * term).sum()))
    return out[first - 1 : last], sum(reversed(out[last:]))


@pytest.mark.full(few=1)
@pytest.mark.parametrize("largest", [1e-6, 0.1, 1, 5.9, 6.1, 20, 60])
@pytest.mark.parametrize("threads", [1, 2])
def test_degree_norms_are_the_sums_of_their_definition(largest, threads):
    rng = np.random.default_rng(12)
    _native.set_threads(threads)
    try:
        for n, d in ((1, 1), (3, 2), (31, 5), (33, 1), (70, 12)):
            gamma = 10 ** rng.uniform(-3, 2)
            x = rng.standard_normal((n, d))
            x *= np.sqrt(largest / gamma / (x**2).sum(axis=1).max())
            x[::2] = -x[0] if n > 3 else x[::2]  # 2 gamma x.y is between -2 largest and 2 largest
            a = rng.standard_normal(n) * 10 ** rng.uniform(-3, 5)
            if n > 30:
                a[1::2] = -a[:-1:2][: len(a[1::2])]
            for first, last in ((2, 6), (5, 9), (1, 1)):
                computed = np.array(PairSums(np.ascontiguousarray(x), a, gamma, first, last, sparse=False).here(None))
                norms, tail = true_degree_norms(x, a, gamma, first, last)
                exponents = gamma * (x**2).sum(axis=1)
                damped, lengths, top = np.abs(a) * np.exp(-exponents), np.sqrt(2 * exponents), float(exponents.max())
                weight = float(np.abs(a).sum())
                for at, k in enumerate(range(first, last + 1)):
                    moment = float(damped @ lengths**k)
                    size = moment**2 / factorial(k)
                    assert abs(computed[at] - norms[at]) <= 1e-12 * size + 1e-300
                    bound = bounds.degree_norm(computed[at], k, moment, n, d, top)
                    assert bound**2 >= norms[at]
                    assert bound**2 <= 1.0001 * max(norms[at], 0) + 1e-10 * size + 1e-300
                assert abs(computed[-1] - tail) <= 1e-12 * weight**2
                moments = [float(damped @ lengths**k) for k in range(last + 1, last + 41)]
                bound = bounds.tail_norm(computed[-1], last, moments, weight, n, d, top)
                assert bound**2 >= tail
                assert bound**2 <= 1.0001 * max(tail, 0) + 1e-9 * weight**2
    finally:
        _native.set_threads(0)


@pytest.mark.parametrize("threads", [1, 2])
def test_degree_norms_of_many_vectors_that_cancel_are_bounded(threads):
    # Worst case of a running sum: one large term, many too small to change it, and the large term subtracted.
    _native.set_threads(threads)
    try:
        for n in (500, 4000):
            for small in (0.99, 0.7, 0.3):
                a = np.full(n, small * np.sqrt(2.0**-53 / 64))
                a[0], a[-1] = 1, -1
                x, gamma = np.ones((n, 1)), 0.1
                computed = PairSums(x, a, gamma, 3, 7, sparse=False).here(None)
                total, t = a.astype(EXTENDED).sum(), EXTENDED(2 * gamma)
                for k in range(3, 8):
                    true = total**2 * np.exp(-t) * t**k / factorial(k)
                    moment = float(np.abs(a).sum() * np.exp(-gamma) * np.sqrt(2 * gamma) ** k)
                    assert bounds.degree_norm(computed[k - 3], k, moment, n, 1, gamma) ** 2 >= true, (n, small, k)
    finally:
        _native.set_threads(0)


def test_the_share_of_a_degree_is_bounded_on_both_sides():
    for t in (0.0, 1e-9, 0.3, 2.0, 7.0, 30.0):
        *shares, rest = bounds.poisson_tail_terms(t, 3, 8)
        true = [float(np.exp(-EXTENDED(t)) * EXTENDED(t) ** n / factorial(n)) for n in range(60)]
        np.testing.assert_allclose(shares, np.sqrt(true[3:9]), rtol=1e-12)
        assert sum(true[9:]) * (1 - 1e-12) <= rest**2 <= 1


# ---- decided rows


def winner(signs, classes):
    votes = [0] * classes
    for (i, j), first in zip(combinations(range(classes), 2), signs):
        votes[i if first else j] += 1
    return votes.index(max(votes))


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_a_row_is_decided_only_where_every_consistent_sign_pattern_has_one_winner(classes):
    rng = np.random.default_rng(13)
    pairs, rows = classes * (classes - 1) // 2, 600
    value = rng.standard_normal((rows, pairs))
    radius = rng.exponential(rng.choice([0.05, 0.5], (rows, 1)), (rows, pairs))
    value[:, 0][::7], radius[:, 0][::7] = -0.5, 0.5  # exactly -radius: f <= 0 is proven
    value[:, 0][1::7], radius[:, 0][1::7] = 0.5, 0.5  # exactly radius: f > 0 is not proven
    value[2::7, 0], radius[2::7, 0] = 0.0, 0.0  # f = 0 gives the second class
    value[3::7, 0], radius[3::7, 0] = 1.0, np.inf
    out = _native.Decisions(pairs, True)
    out.resize(rows)
    np.asarray(out.value)[:], np.asarray(out.radius)[:] = value, radius
    open_rows = set(_native.undecided_rows(_native.Task(0, list(range(classes)), [], [], []), out))
    agree = 0
    for row in range(rows):
        possible = [[True] if v > r else [False] if v <= -r else [True, False] for v, r in zip(value[row], radius[row])]
        winners = {winner(signs, classes) for signs in product(*possible)}
        if row not in open_rows:
            assert len(winners) == 1
        # Rule: the wins proven for one class against the wins still possible for the others.
        low, high = np.zeros(classes, int), np.zeros(classes, int)
        for (i, j), p in zip(combinations(range(classes), 2), possible):
            low[i], low[j] = low[i] + (p == [True]), low[j] + (p == [False])
            high[i], high[j] = high[i] + (True in p), high[j] + (False in p)
        rule = any(
            all(low[w] > high[c] or (low[w] == high[c] and w < c) for c in range(classes) if c != w)
            for w in range(classes)
        )
        assert (row not in open_rows) == rule
        agree += rule == (len(winners) == 1)
    assert agree == rows if classes == 2 else agree > 0.8 * rows


def test_two_classes_probabilities_are_decided_only_where_no_value_in_the_interval_prints_otherwise():
    rng = np.random.default_rng(14)
    a, b, rows = -1.7, 0.2, 4000
    value = rng.uniform(-12, 12, rows)
    value[:500] = -b / a + rng.choice([-1, 1], 500) * 10 ** rng.uniform(-17, -3, 500)
    radius = 10 ** rng.uniform(-16, -4, rows)
    out = _native.Decisions(1, True)
    out.resize(rows)
    np.asarray(out.value)[:, 0], np.asarray(out.radius)[:, 0] = value, radius
    task = _native.Task(0, [7, 9], [a], [b], [])
    open_rows = set(_native.undecided_rows(task, out, True, 0.0))
    assert 0.05 * rows < len(open_rows) < 0.9 * rows

    def lines(values):
        points, predictions = _native.Decisions(1), _native.Predictions()
        points.resize(rows)
        np.asarray(points.value)[:, 0] = values
        _native.predict(task, points, True, predictions)
        return _native.format_lines(task, predictions, None).splitlines()

    middle = lines(value)
    for share in np.linspace(-1, 1, 21):
        for row, (here, there) in enumerate(zip(middle, lines(value + share * radius))):
            assert row in open_rows or here == there, (value[row], radius[row], here, there)
