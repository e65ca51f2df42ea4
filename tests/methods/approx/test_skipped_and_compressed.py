"""Skipped rows, the loss of a compressed M, differences from a far centre (B4, B35 and B36 of PROOFS.md)."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import Certificate, Expansion
from fastsvm_cli.methods.approx import compression
from support import oracles
from support.evaluation import decide, parse
from support.expanding import certified, compiled, expanded
from support.oracles import EXTENDED, random_machine, random_rows

LN_1E12 = Fraction("27.631021115928548208")  # rounded down


# ---- far centres

ONE = Expansion(0, 0, np.ones(1), Certificate([0.0], [0.0], 1.0, 1.0))


@pytest.mark.parametrize("gamma", [1e-30, 1e-6, 0.3, 1e4, 1e30])
@pytest.mark.parametrize("center", [0.0, 1.0, 1e3, 1e18], ids="center {:g}".format)
def test_a_row_is_far_only_where_every_kernel_value_is_below_the_share_of_it(gamma, center):
    """A vector as far from the centre as any, and rows within a few units in the last place of being far."""
    rng, far = np.random.default_rng(35), []
    for reach in (0.0, 1e-9, 1e-3, 1.0, 20.0):
        spread = 1 / sqrt(gamma)
        m, vector = center * spread, center * spread + reach * spread
        largest = (vector - m) ** 2
        model = expanded([([m], largest)], [ONE, ONE], gamma, 0)  # a single expansion is never skipped
        edge = sqrt(largest) * (1 + 1e-9) + sqrt(27.7) * spread
        factors = 1 + np.concatenate([2.0**-52 * np.arange(-8, 9), rng.normal(0, 1e-3, 40), rng.normal(0, 1e-9, 40)])
        rows = m + edge * factors
        out = _native.Decisions(1, True)
        model.decision_values(_native.Chunk.from_dense(np.zeros(len(rows)), rows[:, None]), out)
        for z, value, radius in zip(rows.tolist(), np.asarray(out.value)[:, 0], np.asarray(out.radius)[:, 0]):
            far.append(value == 0)
            if value == 0:
                assert Fraction(gamma) * (Fraction(z) - Fraction(vector)) ** 2 > LN_1E12
                assert radius >= 2e-12
    assert (any(far) and not all(far)) or center > 1e6  # no digit is left


def test_nothing_is_far_where_distances_overflow_or_gamma_is_zero():
    for gamma, z in ((0.5, 1e160), (0.0, 1e100)):
        model = expanded([([1e150], 1.0)], [ONE, ONE], gamma, 0)
        out = _native.Decisions(1, True)
        model.decision_values(_native.Chunk.from_dense(np.zeros(1), np.array([[z]])), out)
        assert np.asarray(out.radius)[0, 0] == np.inf or np.asarray(out.value)[0, 0] == 2


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_rows_between_clusters_have_radii_that_hold(seed):
    """Most expansions are skipped; rows near the distance where that begins."""
    rng = np.random.default_rng([seed, 36])
    skipped = 0
    for _ in range(40):
        gamma, d = 10 ** rng.uniform(-3, 3), int(rng.integers(1, 4))
        spread = 1 / sqrt(gamma)
        middles = spread * 10 ** rng.uniform(0.5, 1.5) * rng.standard_normal((3, d)) + 10 ** rng.uniform(-3, 5) * spread
        x = middles[rng.integers(3, size=30)] + spread * rng.uniform(0, 1) * rng.standard_normal((30, d))
        vectors = [dict(enumerate(row, 1)) for row in x.tolist()]
        machine = random_machine(rng, "epsilon_svr", "rbf", vectors, gamma=gamma)
        machine.coef[1::2] = -machine.coef[::2] * (1 + 1e-13)
        machine.rho = [0.0]
        away = rng.standard_normal((60, d))
        away *= (rng.uniform(5, 6.5, 60) * spread / np.linalg.norm(away, axis=1))[:, None]
        rows = [dict(enumerate(row, 1)) for row in (x[rng.integers(30, size=60)] + away).tolist()]
        _, model = certified(machine, clusters=3, degree=int(rng.integers(1, 4)), single=False)
        value, radius = decide(model, parse(rows))
        error = np.abs(value - oracles.decision_values(machine, rows))
        assert np.all((error <= radius) | (radius == np.inf))
        skipped += int((value == 0).sum())
    assert skipped > 0


# ---- differences from a far centre


@pytest.mark.parametrize("offset", [1e5, 1e7, 1e9, 1e12])
def test_radii_cover_the_rounding_of_differences_from_a_far_centre(offset):
    """|z|^2 - 2 z.m + |m|^2 has no digit left: differences from the centre are evaluated, and the radius covers
    them."""
    worst = 0.0
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        machine = random_machine(
            rng, "epsilon_svr", "rbf", random_rows(rng, 1, [1, 2, 3], offset=offset), gamma=10 ** rng.uniform(-2, 1)
        )
        (vector,) = machine.vectors
        rows = [{j: v + float(rng.normal(0, 1)) for j, v in vector.items()} for _ in range(50)]
        rows += [{**row, 7: float(rng.normal(0, 10 ** rng.uniform(-9, 0)))} for row in rows[:20]]  # in no vector
        model = compiled(machine, certify=True, degree=int(rng.integers(1, 5)), single=False)
        value, radius = decide(model, parse(rows))
        error = np.abs(value - oracles.decision_values(machine, rows))
        assert np.all(error <= radius) and np.all(radius <= 1e-11 * (np.abs(machine.coef).max() + abs(machine.rho[0])))
        worst = max(worst, float(error.max()))
    assert worst > 1e-17


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
    for seed in range(150):
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
