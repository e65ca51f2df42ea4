"""How every figure looks: as wide as a column, in type that can be read there, in colours that colour-blind readers
tell apart, and the same bytes from the same numbers."""

import io
import os
import warnings
from contextlib import AbstractContextManager
from math import ceil, floor, log10

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

#: A column, in inches; nothing is scaled when it is printed.
WIDTH = 3.3
#: Of all type, in points.
TYPE = 7.0
#: Points of an inch.
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

_STYLE = {
    "font.family": "DejaVu Sans",  # matplotlib brings it along: the same everywhere
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
    "text.parse_math": False,  # names of files may hold $ and _
    "svg.fonttype": "none",  # text as text: smaller, and it can be searched
    "svg.hashsalt": "fastsvm",  # the same names of things every time
    "pdf.fonttype": 42,
}


def style() -> "AbstractContextManager":
    """Within it figures are made and written."""
    return matplotlib.rc_context({**matplotlib.rcParamsDefault, **_STYLE, "backend": "agg"})


def empty_figure(height: float) -> Figure:
    """A figure of one column; height in inches."""
    figure = Figure(figsize=(WIDTH, height), dpi=300)
    FigureCanvasAgg(figure)  # which knows how large a text is
    return figure


def content(figure: Figure, kind: str) -> bytes:
    """The content of a file; kind: svg, png or pdf."""
    written = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with style(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that the type does not have: they are boxes
        figure.savefig(written, format=kind, metadata=undated)
    return written.getvalue()


def printable(name: str, most: int = 26) -> str:
    """A name as it can be drawn: no bytes that are not text, on one line, what is too long cut out of its middle."""
    text = os.fsencode(name).decode("utf-8", "replace")
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    if len(text) <= most:
        return text
    return text[: (most - 1) // 2] + "\N{HORIZONTAL ELLIPSIS}" + text[len(text) - most // 2 :]


def panel(figure: Figure, left: float, bottom: float, right: float, top: float) -> Axes:
    """Axes between these places, in inches from the lower left corner."""
    width, height = figure.get_size_inches()
    return figure.add_axes((left / width, bottom / height, (right - left) / width, (top - bottom) / height))


def short_number(value: float) -> str:
    """200k for 200,000: as on an axis."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9999 * size:
            return f"{value / size:g}{letter}"
    return f"{value:g}" if value >= 1e-4 else f"{value:.0e}".replace("e-0", "e-")


def ticks_between(low: float, high: float, most: int = 5) -> "list[float]":
    """Round numbers for a logarithmic axis: 1, 2, 5 of each power of ten, or fewer."""
    decades = range(floor(log10(low)) - 1, ceil(log10(high)) + 1)
    for digits in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        found = [digit * 10.0**power for power in decades for digit in digits]
        found = [value for value in found if low * 0.999 <= value <= high * 1.001]
        if len(found) <= most:
            break
    step = -(-len(found) // most)
    return found[:: max(1, step)]


def set_ticks(axis: Axis, at: "list[float]", words: "list[str]") -> None:
    """These ticks and no others."""
    axis.set_major_locator(FixedLocator(at))
    axis.set_major_formatter(FixedFormatter(words))
    axis.set_minor_locator(NullLocator())
