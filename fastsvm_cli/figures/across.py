"""Axis of shares that are often 0, in the figures of `bench` and `reduce`."""

from math import hypot, inf, log10

from fastsvm_cli.figures import style

_STEP = 1.5  # points between positions
_APART = 5.5  # points between cases
_MARK = 5.0  # points of a case


class Across:
    """Axis of shares that are often 0: log10 of percent, with a band for zeros.

    shares: above 0, as (log10 of percent, same of the interval's upper end). none: number of zeros. width: in points.
    most: largest right end. border: between band and scale if both exist. band: its ends.
    """

    def __init__(self, shares: "list[tuple[float, float]]", none: int, width: float, most: float = inf):
        self.left, self.right = 0.0, 1.0
        self.border: float | None = None
        self.band: tuple[float, float] | None = (0.0, 1.0)
        if shares:
            self.left, self.band = min(value for value, _ in shares) - 0.2, None
            self.right = min(max(self.left + 1.0, max(high for _, high in shares) + 0.1), most + 0.05)
            self.left = min(self.left, self.right - 1.0)
            if none:
                part = min(0.42, 0.2 + 0.015 * none)  # of the panel
                self.border = self.left
                self.left -= (self.right - self.left) * part / (1 - part)
                self.band = self.left, self.border
        self.unit = width / (self.right - self.left)

    @property
    def first(self) -> float:
        """Left end of the scale above 0."""
        return self.left if self.border is None else self.border

    def ticks(self, zero: str) -> "list[tuple[float, str]]":
        """Return the ticks, (position, text) each. zero: text of the band."""
        out = [] if self.band is None else [((self.band[0] + self.band[1]) / 2, zero)]
        if self.band is None or self.border is not None:
            ends = 10**self.first, 10**self.right
            out += [(log10(tick), style.short_number(tick)) for tick in style.ticks_between(*ends)]
        return out

    def spread(self, heights: "list[list[float | None]]") -> "list[float]":
        """Position the cases in the band, near its middle and apart.

        heights: per case and panel, in points; None: absent.
        """
        assert self.band is not None
        low, high = self.band
        steps = max(1, int((high - low) * self.unit / _STEP))
        slots = [low + (high - low) * (step + 0.5) / steps for step in range(steps)]
        edge = _MARK / self.unit  # keeps marks inside the band
        slots = [slot for slot in slots if low + edge <= slot <= high - edge] or slots
        middle = (low + high) / 2
        slots.sort(key=lambda slot: (round(abs(slot - middle) * self.unit, 6), slot))
        at = [middle] * len(heights)
        drawn: list[int] = []

        def space(slot: float, mine: int) -> float:
            return min(
                (
                    hypot((slot - at[other]) * self.unit, up - up_of_other)
                    for other in drawn
                    for up, up_of_other in zip(heights[mine], heights[other])
                    if up is not None and up_of_other is not None
                ),
                default=inf,
            )

        for each in sorted(range(len(heights)), key=lambda each: [-(up or 0.0) for up in heights[each]]):
            spaces = [space(slot, each) for slot in slots]
            wide = next((slot for slot, found in zip(slots, spaces) if found >= _APART), None)
            at[each] = slots[spaces.index(max(spaces))] if wide is None else wide
            drawn.append(each)
        return at
