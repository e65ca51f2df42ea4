"""Figure of `reduce`."""

from math import inf, log10
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fastsvm_cli.benchmarks.environment import describe, short
from fastsvm_cli.benchmarks.sizes import Size, Sizes
from fastsvm_cli.figures import style
from fastsvm_cli.figures.across import Across
from fastsvm_cli.figures.marks import points, ring
from fastsvm_cli.figures.style import draw_legend, two_panels

# Inches.
_RIGHT, _PANEL, _LEGEND_LINE = 0.08, 1.3, 0.15


def draw(data: str, found: Sizes) -> Figure:
    """Return the figure of sizes: labels that differ, and time, by number of vectors.

    data: name of the rows' source.
    """
    legend = _LEGEND_LINE * len({each.finished for each in found.sizes}) + 0.04
    least, most = found.sizes[0].vectors, found.sizes[-1].vectors
    low, high = least / 1.3, max(most, 2 * least) * 1.3
    with style.applied():
        figure, upper, lower = two_panels(_PANEL, _RIGHT, legend)
        ticks = style.ticks_between(low, high, 7)
        for axis in (upper, lower):
            axis.set_xscale("log")
            axis.set_xlim(low, high)
            style.set_ticks(axis.xaxis, ticks, ["" if axis is upper else style.short_number(tick) for tick in ticks])
        _draw_distances(upper, found)
        _draw_times(lower, found)
        lower.set_xlabel("vectors")
        style.set_title(upper, [data, short(describe(0))], f"{{}}: {found.rows:,} rows; {{}}")
        _draw_entries(figure, found)
        return figure


def _draw_distances(axis: Axes, found: Sizes) -> None:
    shares = [(log10(100 * each.distance), log10(100 * each.distance_95[1])) for each in found.sizes if each.distance]
    none = sum(not each.distance for each in found.sizes)
    scale = Across(shares, none, style.INCH * _PANEL, inf if found.regression else 2.0)
    axis.set_ylim(scale.left, scale.right)
    if scale.band is not None:
        axis.axhspan(*scale.band, color="0.95", linewidth=0, zorder=0, gid="band of 0")
    ticks = scale.ticks("0")
    style.set_ticks(axis.yaxis, [tick for tick, _ in ticks], [words for _, words in ticks])
    style.set_side_label(axis, "RMS difference, % of spread" if found.regression else "labels that differ, %")
    heights = [log10(100 * each.distance) if each.distance else ticks[0][0] for each in found.sizes]
    for each, height in zip(found.sizes, heights):
        low, high = each.distance_95
        top = log10(100 * high) if high > 0 else -inf
        if each.distance:
            bottom = max(log10(100 * low) if low > 0 else -inf, scale.first)
        elif scale.border is not None and top > scale.border:
            bottom = height
        else:  # ends in the band, which has no scale
            continue
        axis.plot([each.vectors] * 2, [bottom, top], gid="interval of distance", **_WHISKER)
    _draw_sizes(axis, found, heights)


def _draw_times(axis: Axes, found: Sizes) -> None:
    microseconds = [1e6 * each.seconds for each in found.sizes]
    ends = [1e6 * end for each in (*found.sizes, found.exact) for end in (*each.seconds_95, each.seconds)]
    low, high = min(ends) / 1.5, max(ends) * 2.2
    axis.set_yscale("log")
    axis.set_ylim(low, high)
    ticks = style.ticks_between(low, high)
    style.set_ticks(axis.yaxis, ticks, [style.short_number(tick) for tick in ticks])
    style.set_side_label(axis, "time of a row, \N{MICRO SIGN}s")
    exact = found.exact
    axis.axhspan(*(1e6 * end for end in exact.seconds_95), color="0.85", linewidth=0, zorder=0.5)
    axis.axhline(
        1e6 * exact.seconds, color=style.BLACK, linewidth=0.8, linestyle=(0, (4, 1.5)), zorder=1, gid="exact model"
    )
    axis.text(
        0.02,
        1e6 * max(exact.seconds, exact.seconds_95[1]),
        f"exact model, {exact.vectors:,} vectors",
        transform=axis.get_yaxis_transform(),
        va="bottom",
    )
    for each in found.sizes:
        axis.plot([each.vectors] * 2, [1e6 * end for end in each.seconds_95], gid="interval of time", **_WHISKER)
    _draw_sizes(axis, found, microseconds)


_WHISKER: dict[str, Any] = {"color": style.VERMILLION, "linewidth": 0.6, "zorder": 2}


def _draw_sizes(axis: Axes, found: Sizes, heights: "list[float]") -> None:
    axis.plot([each.vectors for each in found.sizes], heights, color="0.6", linewidth=0.8, zorder=1.5, gid="sizes")
    for each, height in zip(found.sizes, heights):
        axis.add_line(_mark(each, [each.vectors], [height]))
    axis.add_line(ring([found.sizes[-1].vectors], [heights[-1]]))


def _mark(size: Size, x: "list[float]", y: "list[float]") -> Line2D:
    line = points(x, y, "X", 5.0, style.VERMILLION if size.finished else "white", style.VERMILLION, 0.7)
    line.set(zorder=3, gid="finished" if size.finished else "not finished")
    return line


def _draw_entries(figure: Figure, found: Sizes) -> None:
    entries = []
    for finished, words in ((True, "all vectors moved at the end"), (False, "best coefficients alone")):
        size = next((each for each in found.sizes if each.finished == finished), None)
        if size is not None:
            line = _mark(size, [], [])
            line.set_label(words)
            entries.append(line)
    around = ring([], [])
    around.set(label=f"written: {found.sizes[-1].vectors:,} vectors", markersize=7)
    draw_legend(figure, [*entries, around], 2)
