"""Counts of sizes from 2^-1000 to 2^1000, in logarithmic bins: memory does not grow with the numbers."""

import numpy as np

_OCTAVES, _LOWEST = 2200, -1080  # from 2^-1080 on


class Histogram:
    """bins: to the octave; the upper edge of a bin stands for what is in it. counts: per bin."""

    def __init__(self, bins: int):
        self._bins = bins
        self.counts = np.zeros(bins * _OCTAVES, np.int64)

    def add(self, sizes: np.ndarray) -> None:
        """Numbers of any size, 0 and inf included."""
        at = np.ceil((np.log2(np.clip(sizes, 2.0**-1000, 2.0**1000)) - _LOWEST) * self._bins).astype(int)
        self.counts += np.bincount(at, minlength=len(self.counts))

    def upper_edge(self, at: int) -> float:
        """Of a bin."""
        return float(2.0 ** (at / self._bins + _LOWEST))

    def quantile(self, share: float) -> float:
        """What this share of all numbers does not exceed."""
        return self.upper_edge(int(np.searchsorted(np.cumsum(self.counts), share * self.counts.sum())))
