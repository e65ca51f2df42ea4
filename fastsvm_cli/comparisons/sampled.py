from scipy.special import betaincinv


def upper_bound(differing: int, rows: int, confidence: float) -> float:
    """Return Clopper and Pearson's upper bound (1934) of the share that differs, of which `differing` of `rows` rows
    drawn at random do: with this confidence, the share is at most that. It is statistical, not a proof."""
    if differing >= rows:
        return 1.0
    return float(betaincinv(differing + 1, rows - differing, confidence))
