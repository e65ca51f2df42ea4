"""The guarantee of cascades (methods/cascade/guarantee.py), against scipy's distributions and by simulation."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from fastsvm_cli.methods.cascade.guarantee import last_within, most_differing, rows_needed, upper_bound
from support.profiles import tries

CONFIDENCES = (0.5, 0.9, 0.95, 0.999999)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_bound_is_clopper_and_pearsons(confidence):
    for n in (1, 2, 59, 4200, 10**6):
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
    for budget in (1e-9, 0.0013, 0.3, 0.9):
        for confidence in CONFIDENCES:
            for k in (0, 3):
                n = rows_needed(budget, confidence, k)
                assert upper_bound(k, n, confidence) <= budget < upper_bound(k, n - 1, confidence)
    assert rows_needed(5e-324, 0.95) > 1e300
    for budget in (0, 1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            rows_needed(budget, 0.95)


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
    for budget in (0.0013, 0.3, 0.9):
        for confidence in CONFIDENCES:
            for rows in (1, 2, 59, 4742):
                most = most_differing(rows, budget, confidence)
                assert most < rows and (most < 0 or upper_bound(most, rows, confidence) <= budget)
                assert upper_bound(most + 1, rows, confidence) > budget


@pytest.mark.parametrize("budget, rows", [(0.001, 2995), (0.001, 9000), (0.01, 1500), (0.2, 60)])
def test_simulated_calibrations_break_the_budget_as_rarely_as_stated(budget, rows):
    """A row that a cascade labels otherwise stops at all thresholds up to one of its own: draws are coupled over
    thresholds. The steps of the true shares are small where they pass the budget, where the guarantee is tightest."""
    rng, runs, confidence = np.random.default_rng(7), tries(1000), 0.95
    true = budget * np.concatenate([np.linspace(0, 0.95, 15), np.linspace(1.0001, 1.5, 10), np.linspace(2, 20, 10)])
    broken = taken = 0
    for _ in range(runs):
        differing = np.bincount(np.searchsorted(true, rng.random(rows)), minlength=len(true) + 1)[:-1].cumsum()
        position = last_within(differing[:, None].tolist(), [rows], budget, confidence)
        taken += position is not None
        broken += position is not None and true[position] > budget
    assert taken and broken <= binom.ppf(0.999, runs, 1 - confidence)


def test_simulated_classes_break_the_budget_as_rarely_as_stated():
    """The first class to pass the budget is another one in every run; all do it at close thresholds."""
    rng, runs, budget, confidence, classes = np.random.default_rng(8), tries(600), 0.01, 0.95, 4
    broken = taken = 0
    for _ in range(runs):
        growth = np.linspace(0, 0.9, 10).tolist() + (1 + np.linspace(0.0001, 0.3, 8)).tolist() + [2, 5, 20]
        true = budget * np.array(growth)[:, None] * rng.uniform(0.9, 1, classes)
        rows = rng.integers(500, 1500, classes)
        differing = np.array(
            [
                np.bincount(np.searchsorted(true[:, c], rng.random(n)), minlength=len(true) + 1)[:-1].cumsum()
                for c, n in enumerate(rows)
            ]
        ).T
        position = last_within(differing.tolist(), rows.tolist(), budget, confidence)
        taken += position is not None
        broken += position is not None and (true[position] > budget).any()
    assert taken and broken <= binom.ppf(0.999, runs, 1 - confidence)
