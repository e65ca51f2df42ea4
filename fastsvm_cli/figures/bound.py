"""Figure of `bound`."""

from math import log10
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fastsvm_cli.benchmarks.quality import interval_95
from fastsvm_cli.figures import style
from fastsvm_cli.figures.marks import points
from fastsvm_cli.figures.style import BELOW, LEFT, TITLE
from fastsvm_cli.text.numbers import size_text

# Inches.
_RIGHT, _KEY, _PANEL = 0.08, 0.17, 1.45
_BAR, _NAME, _BARS, _AXIS = 0.17, 0.78, 1.2, 0.34
#: By degree; 0: not an expansion.
_LINES = {
    0: (style.BLACK, "X"),
    1: (style.SKY_BLUE, "o"),
    2: (style.BLUE, "d"),
    3: (style.GREEN, "^"),
    4: (style.VERMILLION, "s"),
}
_DECADES = 6  # maximum shown


class Proven(NamedTuple):
    """Rows that one certified model proves, by radius.

    words: its name. degree: of expansions, or 0. size: bytes of its file. proven: number of rows; None for regression.
    curve: increasing (radius, rows up to it, proven ones of these). median, upper: radii that 50 % and 95 % of the rows
    do not exceed.
    """

    words: str
    degree: int
    size: int
    rows: int
    proven: "int | None"
    curve: "list[tuple[float, int, int]]"
    median: float
    upper: float


def draw(data: str, model: str, found: "list[Proven]") -> Figure:
    """Return the figure of the rows that models prove.

    data, model: names for the title. found: one or more models, on the same rows, at least one.
    """
    regression = found[0].proven is None
    listed = len(found) * _BAR + (0.04 if regression else _AXIS)
    top = TITLE if regression else TITLE + _KEY
    height = top + _PANEL + BELOW + listed
    low, high = _radii(found)
    with style.applied():
        figure = style.empty_figure(height)
        axis = style.panel(figure, LEFT, listed + BELOW, style.WIDTH - _RIGHT, height - top)
        axis.set_xscale("log")
        axis.set_xlim(low, high)
        axis.set_ylim(-2, 104)
        ticks = style.ticks_between(low, high)
        style.set_ticks(axis.xaxis, ticks, [style.short_number(tick) for tick in ticks])
        style.set_ticks(axis.yaxis, [0.0, 25.0, 50.0, 75.0, 100.0], ["0", "25", "50", "75", "100"])
        axis.set_xlabel("radius, the proven bound of |f - f_exact|")
        style.set_side_label(axis, "rows, %")
        for each in found:
            color, marker = _LINES[each.degree]
            radii = [low, *(radius for radius, _, _ in each.curve), high]
            every = [0.0, *(100 * rows / each.rows for _, rows, _ in each.curve)]
            every.append(every[-1])
            own: dict[str, Any] = {"color": color, "drawstyle": "steps-post"}
            if regression:
                axis.plot(radii, every, gid=f"rows {each.words}", linewidth=1.1, **own)
                _mark(axis, radii, every, color, marker)
                continue
            axis.plot(radii, every, gid=f"rows {each.words}", linewidth=0.7, linestyle=(0, (2, 1.5)), **own)
            proven = [0.0, *(100 * those / each.rows for _, _, those in each.curve)]
            proven.append(proven[-1])
            axis.plot(radii, proven, gid=f"proven {each.words}", linewidth=1.2, **own)
            _mark(axis, radii, proven, color, marker)
            axis.add_line(_point(high / 1.1, proven[-1], color, marker))
        style.set_title(
            axis, [data, model], f"{{}}: {found[0].rows:,} rows, {{}}", pad=3.0 if regression else _KEY * style.INCH
        )
        if not regression:
            _draw_key(figure, height)
        _list(figure, found, listed, regression)
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


def _mark(axis: Axes, radii: "list[float]", shares: "list[float]", color: str, marker: str) -> None:
    top = shares[-1]
    if not top:
        return
    middle = next(at for at, share in enumerate(shares) if share >= top / 2)
    step = shares[middle - 1] if middle and shares[middle] > 1.2 * top / 2 else shares[middle]
    axis.add_line(_point(radii[middle], (step + shares[middle]) / 2, color, marker))


def _point(x: float, y: float, color: str, marker: str) -> Line2D:
    line = points([x], [y], marker, 4.4, color, style.BLACK, 0.4)
    line.set_zorder(4)
    return line


def _draw_key(figure: Figure, height: float) -> None:
    lines = [
        Line2D([], [], color=style.BLACK, linewidth=1.2, label="rows proven"),
        Line2D([], [], color=style.BLACK, linewidth=0.7, linestyle=(0, (2, 1.5)), label="all rows"),
    ]
    figure.legend(
        handles=lines,
        loc="lower left",
        bbox_to_anchor=(LEFT / style.WIDTH, (height - TITLE - _KEY - 0.02) / height),
        ncol=2,
        frameon=False,
        borderpad=0.0,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=2.2,
        handletextpad=0.5,
    )


def _list(figure: Figure, found: "list[Proven]", listed: float, regression: bool) -> None:
    bottom = listed - len(found) * _BAR
    axis = style.panel(figure, _NAME, bottom, _NAME + _BARS, listed)
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_xlim(0, 100)
    style.set_ticks(axis.yaxis, [], [])
    axis.grid(False)
    if regression:
        axis.set_axis_off()
    else:
        style.set_ticks(axis.xaxis, [0.0, 50.0, 100.0], ["0", "50", "100"])
        axis.set_xlabel("rows proven, %")
    to_left = LEFT / 2 / _BARS
    for at, each in enumerate(found):
        color, marker = _LINES[each.degree]
        across = axis.get_yaxis_transform()
        line = _point(-_NAME / _BARS + 0.1 / _BARS, at, color, marker)
        line.set(transform=across, clip_on=False, label=each.words)
        axis.add_line(line)
        axis.text(to_left - _NAME / _BARS - 0.02, at, each.words, transform=across, ha="left", va="center_baseline")
        if each.proven is None:
            words = f"radius of half: {each.median:.2g}, of 95 %: {each.upper:.2g}; {size_text(each.size)}"
            axis.text(0.0, at, words, transform=across, ha="left", va="center_baseline", fontsize=style.TYPE)
            continue
        share = 100 * each.proven / each.rows
        axis.barh([at], [share], height=0.62, color=color, edgecolor=style.BLACK, linewidth=0.4, zorder=2)
        low, high = interval_95(each.proven, each.rows)
        axis.plot([100 * low, 100 * high], [at, at], color=style.BLACK, linewidth=0.8, zorder=3, gid="interval")
        words = f"{_percent(each.proven, each.rows)}, {size_text(each.size)}"
        axis.text(1.05, at, words, transform=across, ha="left", va="center_baseline", fontsize=style.TYPE)


def _percent(proven: int, rows: int) -> str:
    """Return a share in percent, with so many digits that only all rows give 100 %."""
    share = 100 * proven / rows
    if proven in (0, rows):
        return f"{share:.0f} %"
    digits = max(1, 1 - int(log10(min(share, 100 - share)) // 1))
    return f"{share:.{min(digits, 6)}f} %"
