"""Skipped rows, and the loss of a compressed M (B4, B35 and B36 of PROOFS.md)."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import Certificate, Expansion
from fastsvm_cli.methods.approx import compression
from support.evaluation import decide
from support.expanding import expanded
from support.oracles import EXTENDED
from support.profiles import tries

LN_1E12 = Fraction("27.631021115928548208")  # rounded down


# ---- far centres


def answers(model, rows):
    return decide(model, _native.Chunk.from_dense(np.zeros(len(rows)), rows))


ONE = Expansion(0, 0, np.ones(1), Certificate([0.0], [0.0], 1.0, 1.0))


@pytest.mark.parametrize("center", [0.0, 1.0, 1e3, 1e18], ids="center {:g}".format)
def test_a_row_is_far_only_where_every_kernel_value_is_below_the_share_of_it(center):
    """A vector as far from the centre as any, and rows within a few units in the last place of being far."""
    rng = np.random.default_rng(35)
    for gamma in (1e-30, 1e-6, 0.3, 1e4, 1e30):
        spread, far = 1 / sqrt(gamma), []
        for reach in (0.0, 1e-9, 1e-3, 1.0, 20.0):
            m, vector = center * spread, center * spread + reach * spread
            largest = (vector - m) ** 2
            model = expanded([([m], largest)], [ONE, ONE], gamma, 0)  # a single expansion is never skipped
            edge = sqrt(largest) * (1 + 1e-9) + sqrt(27.7) * spread
            near = [2.0**-52 * np.arange(-8, 9), rng.normal(0, 1e-3, 40), rng.normal(0, 1e-9, 40)]
            rows = m + edge * (1 + np.concatenate(near))
            for z, value, radius in zip(rows.tolist(), *(each[:, 0] for each in answers(model, rows[:, None]))):
                far.append(value == 0)
                if value == 0:
                    assert Fraction(gamma) * (Fraction(z) - Fraction(vector)) ** 2 > LN_1E12
                    assert radius >= 2e-12
        assert (any(far) and not all(far)) or center > 1e6  # no digit is left


def test_nothing_is_far_where_distances_overflow_or_gamma_is_zero():
    for gamma, z in ((0.5, 1e160), (0.0, 1e100)):
        model = expanded([([1e150], 1.0)], [ONE, ONE], gamma, 0)
        value, radius = answers(model, np.array([[z]]))
        assert radius[0, 0] == np.inf or value[0, 0] == 2


def test_a_row_that_an_expansion_skips_is_skipped_by_all_about_its_centre():
    """Two expansions about one far centre, one evaluated about it, the other in raw coordinates, with fewer digits of
    the distance: K of the rows is just below 1e-12 for certain in only one."""
    gamma, m, reach = 5e-5, 5000.0, 1.0
    edge = reach * (1 + 1e-9) + sqrt(27.7 / gamma)
    certificate = Certificate([0.0], [0.0, 0.0], 2.0, 1.0)
    expansions = [Expansion(0, 0, np.array([constant, 1e-3]), certificate) for constant in (0.0, 1.0)]
    model = expanded([([m], reach**2)], expansions, gamma, 1)
    beyond = np.array([5e-10, 1e-8, 5e-8, 1e-7, 1e-6]) / (2 * edge)
    rows = (m + edge + beyond)[:, None]
    value, radius = answers(model, rows)
    z = rows.astype(np.longdouble) - m
    exact = np.exp(-gamma * z * z) * (1 + 2 * 1e-3 * z)
    assert np.all(exact > 2e-12) and np.all(np.abs(value - exact) <= radius)


# ---- a compressed M


def hostile_matrix(rng):
    """Tied, cancelling and negligible eigenvalues, also at the ends of a double's range."""
    d = int(rng.integers(1, 40))
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    kind = rng.integers(4)
    values = (
        np.sign(rng.standard_normal(d))  # tied, of both signs
        if kind == 0
        else 10.0 ** rng.uniform(-18, 0, d)
        if kind == 1
        else rng.standard_normal(d)
        if kind == 2
        else np.where(rng.random(d) < 0.2, 1.0, 1e-16)
    )
    M = (q * values) @ q.T
    if rng.random() < 0.3:
        M = np.diag(values) + 1e-17
    return (M + M.T) / 2 * 10.0 ** rng.choice([0, -30, 18, 140, -140, -300])


def spectral(residual):
    """A close lower bound of |R|_2, in extended precision."""
    scale = np.abs(residual).max()
    if scale == 0:
        return scale
    R = residual / scale
    values, vectors = np.linalg.eigh(R.astype(float))
    best = EXTENDED(0)
    for column in np.argsort(-np.abs(values))[:3]:
        v = vectors[:, column].astype(EXTENDED)
        best = max(best, np.sqrt(((R @ v) ** 2).sum() / (v @ v)))
    return best * scale


@pytest.mark.full(few=1)
@pytest.mark.parametrize("share", [1.0, 0.9, 0.0, np.nan])
def test_what_compression_loses_is_bounded_whatever_eigenvalues_are_computed(share, monkeypatch):
    """The bound holds even if the eigenvalues returned are too small or nan."""
    original = np.linalg.eigvalsh
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda R: share * original(R))
    for seed in range(tries(100)):
        rng = np.random.default_rng([seed, 36])
        M = hostile_matrix(rng)
        d, single = len(M), bool(rng.random() < 0.5) and np.abs(M).max() < 1e30
        total = np.concatenate([np.zeros(1 + d), M[np.triu_indices(d)]])
        found = compression.compress(total, d, single, int(rng.integers(1, d + 1)), None, 0.0, 1.0)
        if found is None:
            continue
        rank, stored, lost = found
        weights, q = stored[1 + d : 1 + d + rank].astype(EXTENDED), stored[1 + d + rank :].reshape(rank, d)
        R = M.astype(EXTENDED) - (q.T.astype(EXTENDED) * weights) @ q.astype(EXTENDED)
        true = spectral(R)
        assert true * (1 - 1e-15) <= lost, (seed, float(true), lost)
        if share == 1:  # tight up to rounding
            assert lost <= true * (1 + 1e-6) + 1e-11 * np.abs(M).max() + 1e-300
