"""Decision functions about one centre are evaluated eight at a time, bit for bit as alone."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import Certificate, Expansion
from fastsvm_cli.methods.approx.expansion import coefficient_count
from support.expanding import expanded

PAIRS = 21  # two panels of eight, and five alone


def maclaurin(order, d, degree, *, centers=1, single=False, certified=False):
    """Random expansions of 21 decision functions about each centre, added in this order of pairs."""
    rng = np.random.default_rng(d + 10 * degree)
    rho, points, expansions = rng.normal(size=PAIRS).tolist(), [], []
    for center in range(centers):
        # Most rows skip the second, far centre.
        points.append((rng.random(d) + 20 * center * np.sqrt(d), 0.25 * d))
        coefficients = rng.normal(size=(PAIRS, coefficient_count(d, degree)))
        certificates = [Certificate(rng.random(3), rng.random(degree + 1) * 1e-9, 1.0 + p, 3.0) for p in range(PAIRS)]
        for pair in order:
            certificate = certificates[pair] if certified else None
            expansions.append(Expansion(pair, center, coefficients[pair], certificate))
    return expanded(points, expansions, 0.5 / d, degree, rho=rho, single=single)


def answers(model, rows, with_radius):
    out = _native.Decisions(PAIRS, with_radius)
    model.decision_values(_native.Chunk.from_dense(np.zeros(len(rows)), rows), out)
    return np.array(out.value), np.array(out.radius) if with_radius else None


def rows_of(rng, n, d):
    """More rows than a block: dense, half-empty, sparse, one of zeros, one far from every centre."""
    rows = rng.random((n, d)) * (rng.random((n, d)) < rng.choice([0.1, 0.5, 1.0], n)[:, None])
    rows[3], rows[5] = 0, 1e6
    rows[7:20] += 20 * np.sqrt(d)
    return rows


@pytest.mark.full(few=4)
@pytest.mark.parametrize(
    ("widths", "degree", "centers", "single", "certified"),
    [
        *(((1, 2, 3, 4, 9), degree, 1, False, False) for degree in (1, 2, 3, 4)),
        ((20,), 2, 2, False, False),
        ((6,), 3, 2, True, True),
        ((30,), 2, 1, True, True),
        ((400,), 2, 1, True, False),  # kept in single precision
    ],
)
def test_functions_side_by_side_have_the_bits_of_each_alone(
    instruction_set, widths, degree, centers, single, certified
):
    options = {"centers": centers, "single": single, "certified": certified}
    for d in widths:
        rows = rows_of(np.random.default_rng(d), 150 if d < 100 else 40, d)
        together = answers(maclaurin(range(PAIRS), d, degree, **options), rows, certified)
        alone = answers(maclaurin(range(PAIRS)[::-1], d, degree, **options), rows, certified)
        for a, b in zip(together, alone):
            assert (a is None and b is None) or np.array_equal(a, b, equal_nan=True)
        assert len(np.unique(together[0])) > len(together[0])  # the functions differ


def test_a_row_has_its_bits_whatever_stands_beside_it():
    model = maclaurin(range(PAIRS), 12, 2, centers=2, certified=True)
    rows = rows_of(np.random.default_rng(8), 300, 12)
    values, radii = answers(model, rows, True)
    for at in range(0, 300, 7):
        value, radius = answers(model, rows[at : at + 1], True)
        assert np.array_equal(value[0], values[at], equal_nan=True) and np.array_equal(radius[0], radii[at])
