"""The guarantee of cascades (comparisons.py), against scipy's distributions and by simulation."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import beta, binom

from fastsvm_cli.comparisons import last_within, most_differing, rows_needed, upper_bound
from support.profiles import tries

CONFIDENCES = (0.5, 0.95, 0.999999)


def test_the_bound_is_clopper_and_pearsons():
    for n, confidence in product((1, 2, 59, 4200, 10**6), CONFIDENCES):
        for k in sorted({0, 1, n // 100, n - 1} & set(range(n))):
            bound = upper_bound(k, n, confidence)
            assert bound == pytest.approx(beta.ppf(confidence, k + 1, n - k), rel=1e-9)
            # Its definition: with this share, so few rows differ with probability 1 - confidence.
            assert binom.cdf(k, n, bound) == pytest.approx(1 - confidence, rel=1e-4)
        assert upper_bound(n, n, confidence) == 1


def test_rows_needed_are_the_least():
    known = {(0.001, 0.95, 0): 2995, (0.005, 0.95, 0): 598, (0.001, 0.95, 1): 4742, (0.01, 0.99, 0): 459}
    for (budget, confidence, differing), rows in known.items():
        assert rows_needed(budget, confidence, differing) == rows
    for budget, confidence, k in product((1e-6, 0.0013, 0.9), CONFIDENCES, (0, 3)):
        n = rows_needed(budget, confidence, k)
        assert upper_bound(k, n, confidence) <= budget < upper_bound(k, n - 1, confidence)
    for budget in (0, 1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            rows_needed(budget, 0.95)


@pytest.mark.full
def test_the_least_budget_needs_more_rows_than_there_are():
    assert rows_needed(5e-324, 0.95) > 1e300


def test_the_last_threshold_before_the_first_that_fails_is_taken():
    for counts, rows, taken in (
        ([0, 0, 2, 0], 2995, 1),  # the fourth is not looked at
        ([0, 1], 4742, 1),
        ([1], 2995, None),
        ([], 5000, None),
    ):
        assert last_within([[count] for count in counts], [rows], 0.001, 0.95) == taken
    # Each class.
    assert last_within([[0, 0], [0, 1], [0, 0]], [4742, 2995], 0.001, 0.95) == 0
    assert last_within([[0, 0], [1, 0], [0, 0]], [4742, 2995], 0.001, 0.95) == 2


def test_most_differing_are_the_most_that_show_the_budget():
    for budget, confidence, rows in product((0.0013, 0.3, 0.9), CONFIDENCES, (1, 59, 4742)):
        most = most_differing(rows, budget, confidence)
        assert most < rows and (most < 0 or upper_bound(most, rows, confidence) <= budget)
        assert upper_bound(most + 1, rows, confidence) > budget


#: The true shares of rows that differ, as multiples of the budget, at growing thresholds. Steps are small where they
#: pass the budget, where the guarantee is tightest.
GROWTH = np.concatenate([np.linspace(0, 0.95, 15), np.linspace(1.0001, 1.5, 10), np.linspace(2, 20, 10)])


@pytest.mark.parametrize(
    "budget, least, most, classes",
    [(0.001, 2995, 2995, 1), (0.001, 9000, 9000, 1), (0.2, 60, 60, 1), (0.01, 500, 1500, 4)],
)
def test_simulated_calibrations_break_the_budget_as_rarely_as_stated(budget, least, most, classes):
    """A row that a cascade labels otherwise stops at all thresholds up to one of its own: draws are coupled over
    thresholds. The first class to pass the budget is another one in every run; all do it at close thresholds."""
    rng, runs, confidence, broken, taken = np.random.default_rng(7), tries(800), 0.95, 0, 0
    for _ in range(runs):
        true = budget * GROWTH[:, None] * (rng.uniform(0.9, 1, classes) if classes > 1 else 1)
        rows = rng.integers(least, most + 1, classes)
        differing = [
            np.bincount(np.searchsorted(true[:, c], rng.random(n)), minlength=len(true) + 1)[:-1].cumsum()
            for c, n in enumerate(rows)
        ]
        position = last_within(np.transpose(differing).tolist(), rows.tolist(), budget, confidence)
        taken += position is not None
        broken += position is not None and (true[position] > budget).any()
    assert taken and broken <= binom.ppf(0.999, runs, 1 - confidence)
