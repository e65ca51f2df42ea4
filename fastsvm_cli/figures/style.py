"""Style of every figure: one column wide, readable by the colour-blind, reproducible bytes."""

import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil, floor, log10
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from matplotlib.transforms import blended_transform_factory

from fastsvm_cli.text.output import Output

#: Column width in inches.
WIDTH = 3.3
#: Type size in points.
TYPE = 7.0
# Inches from the edge to a label's middle.
_EDGE = 0.075
#: Points per inch.
INCH = 72.0

#: Okabe and Ito, Color Universal Design (2008).
BLACK, ORANGE, SKY_BLUE, GREEN, YELLOW, BLUE, VERMILLION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)

# matplotlib types its keys as literals, which differ by version.
_STYLE: dict[Any, object] = {
    "font.family": "DejaVu Sans",  # ships with matplotlib
    "font.size": TYPE,
    "axes.titlesize": TYPE,
    "axes.labelsize": TYPE,
    "xtick.labelsize": TYPE,
    "ytick.labelsize": TYPE,
    "legend.fontsize": TYPE,
    "axes.linewidth": 0.5,
    "axes.labelpad": 2.0,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
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
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_STYLE, "backend": "agg"}), warnings.catch_warnings():
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
    """Write a figure in the format of the path's ending, atomically. Raises FileError."""
    drawn = content(figure, path.rpartition(".")[2])
    with Output(path) as output:
        output.write(drawn)


def printable(name: str, most: int = 26) -> str:
    """Make a name drawable; cut out the middle of a long one."""
    text = os.fsencode(name).decode("utf-8", "replace")
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    if len(text) <= most:
        return text
    return text[: (most - 1) // 2] + "\N{HORIZONTAL ELLIPSIS}" + text[len(text) - most // 2 :]


def panel(figure: Figure, left: float, bottom: float, right: float, top: float) -> Axes:
    """Add a panel to a figure, and return it. Edges: in inches from the lower left corner."""
    width, height = figure.get_size_inches()
    return figure.add_axes((left / width, bottom / height, (right - left) / width, (top - bottom) / height))


def set_side_label(axis: Axes, words: str, side: str = "left") -> None:
    """Set the label of a vertical axis at the figure's edge."""
    figure = axis.figure
    assert isinstance(figure, Figure)
    across = _EDGE / WIDTH if side == "left" else 1 - _EDGE / WIDTH
    axis.set_ylabel(words, va="center")
    axis.yaxis.set_label_coords(across, 0.5, blended_transform_factory(figure.transFigure, axis.transAxes))


def set_title(axis: Axes, names: "Sequence[str]", words: str, pad: float = 3.0) -> None:
    """Set a panel's title, words with a {} per name; names are shortened to fit."""
    figure = axis.figure
    assert isinstance(figure, Figure) and isinstance(figure.canvas, FigureCanvasAgg)
    for most in range(30, 5, -1):
        title = axis.set_title(words.format(*(printable(name, most) for name in names)), loc="left", pad=pad)
        # The font of an SVG's viewer may be wider.
        if title.get_window_extent(figure.canvas.get_renderer()).x1 <= 0.96 * figure.bbox.x1:
            return


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


def set_ticks(axis: Axis, at: "list[float]", words: "list[str]") -> None:
    """Set the ticks of an axis and their labels."""
    axis.set_major_locator(FixedLocator(at))
    axis.set_major_formatter(FixedFormatter(words))
    axis.set_minor_locator(NullLocator())


#: Inches: left of panels (vertical axis), above (title) and below them (horizontal axis).
LEFT, TITLE, BELOW = 0.46, 0.17, 0.36
_BETWEEN = 0.09


def two_panels(height: float, right: float, legend: float) -> "tuple[Figure, Axes, Axes]":
    """Return a figure, and its two panels, one above the other.

    height: of a panel; right: margin; legend: space below; all in inches.
    """
    whole = TITLE + 2 * height + _BETWEEN + BELOW + legend
    figure = empty_figure(whole)
    upper = panel(figure, LEFT, whole - TITLE - height, WIDTH - right, whole - TITLE)
    lower = panel(figure, LEFT, legend + BELOW, WIDTH - right, legend + BELOW + height)
    return figure, upper, lower


def draw_legend(figure: Figure, entries: "list[Line2D]", columns: int) -> None:
    """Draw the legend below the panels."""
    figure.legend(
        handles=entries,
        loc="lower left",
        bbox_to_anchor=(0.02, 0.0),
        ncol=columns,
        frameon=False,
        columnspacing=0.8,
        handletextpad=0.2,
        handlelength=1.4,
        labelspacing=0.35,
        borderpad=0.2,
    )
