"""Shared by all figures: a column's width, colours for the colour-blind, an axis of shares, reproducible bytes."""

import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil, floor, inf, log10
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.scale import SymmetricalLogScale

from fastsvm_cli.text.output import Output

#: Column width in inches.
WIDTH = 3.3
#: Okabe and Ito, Color Universal Design (2008).
BLACK, ORANGE, SKY_BLUE, GREEN, BLUE, VERMILLION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
_LEGEND_LINE = 0.15  # inches

# matplotlib types its keys as literals, which differ by version.
_STYLE: dict[Any, object] = {
    "backend": "agg",
    "font.family": "DejaVu Sans",  # ships with matplotlib
    "font.size": 7.0,
    "axes.titlesize": "medium",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.0,
    "savefig.dpi": 300.0,
    "text.parse_math": False,  # file names may contain $ and _
    "svg.fonttype": "none",  # smaller and searchable
    "svg.hashsalt": "fastsvm",  # deterministic ids
    "pdf.fonttype": 42,
}


@contextmanager
def applied() -> "Iterator[None]":
    """Apply the style of all figures inside a block."""
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_STYLE}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # missing glyphs are drawn as boxes
        yield


def empty_figure(height: float) -> Figure:
    """Return an empty figure, one column wide. height: in inches."""
    figure = Figure(figsize=(WIDTH, height), dpi=300)
    FigureCanvasAgg(figure)  # needed to measure text
    return figure


def content(figure: Figure, kind: str) -> bytes:
    """Return the content of a figure's file. kind: svg, png or pdf."""
    written = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with applied():
        figure.savefig(written, format=kind, metadata=undated)
    return written.getvalue()


def write(figure: Figure, path: str) -> None:
    """Write a figure in the format of the path's ending, atomically."""
    drawn = content(figure, path.rpartition(".")[2])
    with Output(path) as output:
        output.write(drawn)


def printable(name: str, most: int) -> str:
    """Make a name drawable; cut out the middle of a long one."""
    text = os.fsencode(name).decode("utf-8", "replace")
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    if len(text) <= most:
        return text
    return text[: (most - 1) // 2] + "\N{HORIZONTAL ELLIPSIS}" + text[len(text) - most // 2 :]


def points(
    axes: Axes, x: "Sequence[float]", y: "Sequence[float]", marker: str, colour: str, gid: str, size: float = 5
) -> Line2D:
    """Draw points, and return them. size: in points."""
    (line,) = axes.plot(
        x, y, linestyle="none", marker=marker, color=colour, markersize=size, zorder=3, gid=gid, clip_on=False
    )
    return line


def ring(axes: Axes, x: float, y: float, words: str) -> None:
    """Draw a ring around a point. words: in the legend."""
    points(axes, [x], [y], "o", BLACK, "picked", 9).set(fillstyle="none", label=words)


def finish(figure: Figure, entries: "Sequence[str]", columns: int) -> None:
    """Draw the legend in new space below the panels, and lay out everything for good.

    entries: labels of lines, in order; some may be missing or given twice.
    """
    lines = {line.get_label(): line for axes in figure.axes for line in axes.lines}
    handles = [lines[words] for words in dict.fromkeys(entries) if words in lines]
    width, height = figure.get_size_inches()
    below = _LEGEND_LINE * ceil(len(handles) / columns) + 0.04
    figure.set_size_inches(width, height + below)
    figure.legend(
        handles=handles,
        loc="lower center",
        ncol=columns,
        frameon=False,
        handlelength=1.4,
        columnspacing=0.8,
        borderpad=0,
    )
    share = below / (height + below)
    figure.set_layout_engine("constrained", rect=(0, share, 1, 1 - share))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def short_number(value: float) -> str:
    """Return a number in few letters, as 200k for 200,000."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9999 * size:
            return f"{value / size:g}{letter}"
    return f"{value:g}" if value >= 1e-4 else f"{value:.0e}".replace("e-0", "e-")


def ticks_between(low: float, high: float, most: int = 5) -> "list[float]":
    """Return at most this many round numbers between two, for a logarithmic axis."""
    decades = range(floor(log10(low)) - 1, ceil(log10(high)) + 1)
    for digits in ((1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        found = [digit * 10.0**power for power in decades for digit in digits]
        found = [value for value in found if low * 0.999 <= value <= high * 1.001]
        if len(found) <= most:
            break
    step = -(-len(found) // most)
    return found[:: max(1, step)]


def set_log_ticks(axis: Axis) -> None:
    """Set and label few ticks of a logarithmic axis whose limits are final."""
    ticks = ticks_between(*axis.get_view_interval())
    axis.set_ticks(ticks, labels=[short_number(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


def scale_shares(
    axes: Axes, side: str, shares: "Sequence[tuple[float, float]]", none: int, zero: str, cut: bool
) -> float:
    """Scale an axis of shares in percent that are often 0, and return where its logarithmic part begins.

    Zeros have a grey band before it. side: "x" or "y". shares: above 0, with the upper ends of their intervals. none:
    number of zeros. zero: label of the band. cut: whether no share is above 100 %.
    """
    first = min((share for share, _ in shares), default=1.6) / 1.6
    last = min(max(10 * first, *(1.3 * high for _, high in shares)), 112 if cut else inf) if shares else first
    first = min(first, last / 10) if shares else first
    part = min(0.42, 0.2 + 0.015 * none)  # of the panel
    linear = 0.9 * part / (1 - part) * log10(last / first) if shares else 1.0
    banded = none > 0 or not shares
    axis = axes.xaxis if side == "x" else axes.yaxis
    scale = SymmetricalLogScale(axis, linthresh=first, linscale=linear)
    axes.set(**{f"{side}scale": scale, f"{side}lim": (0 if banded else first, last)})
    ticks = ticks_between(first, last) if shares else []
    words = [zero] * banded + [short_number(tick) for tick in ticks]
    axis.set_ticks([first / 2] * banded + ticks, labels=words)
    axis.set_ticks([], minor=True)
    if banded:
        (axes.axvspan if side == "x" else axes.axhspan)(0, first, color="0.95", linewidth=0, zorder=0, gid="band of 0")
    return first
