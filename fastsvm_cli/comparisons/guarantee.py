"""The guarantee of a cascade.

With confidence 1 - delta, at most a share `budget` of rows drawn like the tested ones get another label than the exact
model's. The delta is of all calibrations, those included that end without a cascade: of the cascades alone, more may
break the budget.

Let p(t) be the probability that the cascade with threshold t changes a row's label. The thresholds t_1 > t_2 > ... and
the stages are fixed before the tested rows are looked at. Among n such rows, drawn independently, k(t) labels differ.

(1) Clopper and Pearson (1934): P(p(t) > u(k(t), n)) <= delta, with u(k, n) the (1 - delta) quantile of the beta
    distribution with parameters k + 1 and n - k, and u(n, n) = 1.
(2) Fixed sequence (Angelopoulos, Bates, Candes, Jordan and Lei, "Learn then Test", 2021, section 3.2): thresholds are
    tested in their order, up to the first with u(k(t), n) > budget; the last one before it is taken. Let t_j be the
    first with p(t_j) > budget. A threshold with p > budget is taken only if t_j passes, u(k(t_j), n) <= budget <
    p(t_j), which has probability at most delta by (1), whatever the number of thresholds.
(3) Each class: p_c(t), k_c(t) and n_c are of the rows that the exact model gives class c, which are drawn independently
    like the class's, given n_c. A threshold passes if u(k_c(t), n_c) <= budget for every c. Let t_j be the first with
    p_c(t_j) > budget for any c. It passes only if that class does, with probability at most delta by (1): an
    intersection-union test (Berger 1982) needs no correction for the number of classes. All rows keep the budget, too:
    their share is a mean of the classes'.

u(k(t), n) at the taken t is no bound with this confidence, as the same counts have chosen t. The guarantee does not
hold for rows of another kind, or for a single row.
"""

from collections.abc import Iterable, Sequence

from fastsvm_cli.comparisons.sampled import upper_bound


def rows_needed(budget: float, confidence: float, differing: int = 0) -> int:
    """Return the fewest rows that show the budget, 0 < budget < 1, if `differing` differ."""
    if not 0 < budget < 1:
        raise ValueError("expected a budget between 0 and 1")
    low, high = differing, differing + 1
    while upper_bound(differing, high, confidence) > budget and high < 1 << 1000:  # float has no more
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if upper_bound(differing, middle, confidence) > budget else (low, middle)
    return high


def most_differing(rows: int, budget: float, confidence: float) -> int:
    """Return how many of `rows` rows may differ, to show the budget; -1 for none."""
    low, high = -1, rows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if upper_bound(middle, rows, confidence) > budget else (middle, high)
    return low


def last_within(
    differing: "Iterable[Sequence[int]]", rows: "Sequence[int]", budget: float, confidence: float
) -> "int | None":
    """Return the position of the threshold that (2) or (3) takes; None if the first fails.

    differing: by threshold, strict ones first, rows that differ: of all, or of each class. rows: all, or of each class.
    """
    taken = None
    for at, counts in enumerate(differing):
        if any(upper_bound(count, n, confidence) > budget for count, n in zip(counts, rows)):
            break
        taken = at
    return taken
