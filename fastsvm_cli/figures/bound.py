"""Figure of `bound`."""

from math import log10
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.figure import Figure

from fastsvm_cli.benchmarks.quality import interval_95
from fastsvm_cli.figures import style
from fastsvm_cli.text.numbers import size_text

if TYPE_CHECKING:
    from fastsvm_cli.comparisons.norms import ProvenRows

#: By degree; 0: not an expansion.
_LINES = {
    0: (style.BLACK, "X"),
    1: (style.SKY_BLUE, "o"),
    2: (style.BLUE, "d"),
    3: (style.GREEN, "^"),
    4: (style.VERMILLION, "s"),
}
_DECADES = 6  # maximum shown
_KEY = {"rows proven": "solid", "all rows": "dashed"}


class Proven(NamedTuple):
    """Rows that one certified model proves, by radius."""

    words: str
    degree: int
    size: int
    rows: int
    proven: "int | None"  # rows; None for regression
    curve: "list[tuple[float, int, int]]"  # increasing (radius, rows up to it, proven ones of these)
    median: float  # radius
    upper: float  # radius that 95 % of the rows do not exceed

    @classmethod
    def of(cls, words: str, degree: int, size: int, seen: "ProvenRows") -> "Proven":
        """Return what a model proves of the rows that it has seen."""
        proven = None if seen.model.header.regression else seen.proven
        return cls(words, degree, size, seen.rows, proven, seen.curve(), seen.quantile(0.5), seen.quantile(0.95))

    @property
    def summary(self) -> str:
        """Name, rows proven (regression: radii) and size, in words."""
        if self.proven is None:
            about = f"radius of half: {self.median:.2g}, of 95 %: {self.upper:.2g}"
        else:
            low, high = (_percent(100 * end) for end in interval_95(self.proven, self.rows))
            about = f"{_percent(100 * self.proven / self.rows)} (95 %: {low} to {high})"
        return f"{self.words}: {about}, {size_text(self.size)}"


@style.applied()
def draw(data: str, model: str, found: "list[Proven]") -> Figure:
    """Return the figure of the rows that models prove, all on the same rows; data, model: names for the title."""
    regression = found[0].proven is None
    low, high = _radii(found)
    figure = style.empty_figure(2.1)
    axis = figure.subplots()
    axis.set(xscale="log", xlim=(low, high), ylim=(-2, 104), yticks=range(0, 101, 25))
    axis.set(xlabel="radius, the proven bound of |f - f_exact|", ylabel="rows, %")
    style.set_log_ticks(axis.xaxis)
    for each in found:
        color, marker = _LINES[each.degree]
        radii = [low, *(radius for radius, _, _ in each.curve), high]
        shown = {"rows": [rows for _, rows, _ in each.curve]}
        if not regression:
            shown["proven"] = [those for _, _, those in each.curve]
        for name, counts in shown.items():
            shares = [100 * count / each.rows for count in (0, *counts, *counts[-1:])]
            last = name == list(shown)[-1]
            (line,) = axis.plot(radii, shares, color=color, drawstyle="steps-post", gid=f"{name} {each.words}")
            if not last:
                line.set(linestyle="dashed", linewidth=0.7)
                continue
            # Marks tell the lines apart without colours.
            half = next(at for at, share in enumerate(shares) if share >= shares[-1] / 2)
            line.set(marker=marker, markevery=[half], markersize=5, label=each.summary)
    title = f"{style.printable(data, 40)}: {found[0].rows:,} rows\n{style.printable(model, 40)}"
    axis.set_title(title, loc="left")
    for words, dashes in _KEY.items():
        axis.plot([], [], color=style.BLACK, linestyle=dashes, label=words)
    style.finish(figure, [*(each.summary for each in found), *([] if regression else _KEY)], 1)
    return figure


def _radii(found: "list[Proven]") -> "tuple[float, float]":
    sizes = [
        (next((radius for radius, rows, _ in each.curve if 1000 * rows >= each.rows), 1.0), each.curve[-1][0])
        for each in found
        if each.curve
    ]
    high = min(max((most for _, most in sizes), default=1.0), 1e100) or 1.0
    low = min((least for least, _ in sizes), default=high)
    low = max(low, high / 10.0**_DECADES, 1e-300)
    return low / 1.5, max(high, 2 * low) * 1.5


def _percent(share: float) -> str:
    # It has so many digits that only all rows give 100 %.
    if share in (0, 100):
        return f"{share:.0f} %"
    digits = max(1, 1 - int(log10(min(share, 100 - share)) // 1))
    return f"{share:.{min(digits, 6)}f} %"
