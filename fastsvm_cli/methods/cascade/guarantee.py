"""The guarantee of a cascade.

With confidence 1 - delta, at most a share `budget` of rows drawn like the tested ones get another label than the exact
model's.

Let p(t) be the probability that the cascade with threshold t gives a row another label. The thresholds t_1 > t_2 > ...
and the stages are fixed before the tested rows are looked at. Among n such rows, drawn independently, the labels of
k(t) differ.

(1) Clopper and Pearson (1934): P(p(t) > u(k(t), n)) <= delta, with u(k, n) the (1 - delta) quantile of the beta
    distribution with parameters k + 1 and n - k, and u(n, n) = 1.
(2) Fixed sequence (Angelopoulos, Bates, Candes, Jordan and Lei, "Learn then Test", 2021, section 3.2): the thresholds
    are tested in their order, up to the first with u(k(t), n) > budget; the last one before it is taken. Let t_j be the
    first with p(t_j) > budget. A threshold with p > budget is taken only if t_j passes, u(k(t_j), n) <= budget <
    p(t_j), which has probability at most delta by (1). So the taken threshold has p <= budget with probability at least
    1 - delta, whatever the number of thresholds.

The bound does not hold for rows of another kind, or for a single row.
"""

from collections.abc import Iterable

from fastsvm_cli.comparisons.sampled import upper_bound


def rows_needed(budget: float, confidence: float, differing: int = 0) -> int:
    """Return the least number of rows that shows the budget if `differing` of them differ.

    Raises ValueError unless 0 < budget < 1.
    """
    if not 0 < budget < 1:
        raise ValueError("expected a budget between 0 and 1")
    low, high = differing, differing + 1
    while upper_bound(differing, high, confidence) > budget and high < 1 << 1000:  # float has no more
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if upper_bound(differing, middle, confidence) > budget else (low, middle)
    return high


def last_within(differing: "Iterable[int]", rows: int, budget: float, confidence: float) -> "int | None":
    """Return the position of the threshold that (2) takes; None if the first fails.

    differing: number of rows that differ by threshold, strict ones first.
    """
    taken = None
    for at, count in enumerate(differing):
        if upper_bound(count, rows, confidence) > budget:
            break
        taken = at
    return taken
