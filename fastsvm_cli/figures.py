"""The figure of `bench --plot`: a column's width, colours for the colour-blind, reproducible bytes."""

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from math import ceil, floor, inf, log10
from typing import Any, NamedTuple, cast

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.scale import SymmetricalLogScale
from matplotlib.transforms import Bbox

from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING
from fastsvm_cli.benchmarks.environment import short
from fastsvm_cli.methods import methods

#: Okabe and Ito, Color Universal Design (2008).
BLACK, BLUE, SKY_BLUE, GREEN = "#000000", "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILLION, PURPLE = "#E69F00", "#D55E00", "#CC79A7"
_KEYS = {END_TO_END: "end_to_end", SCORING: "scoring"}
_LABEL, _GAP = 40, 4.0  # characters of a label; points between it and its mark
_SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))  # across (1: right) and up
#: By method; approx has a shape per degree. Shapes alone distinguish the methods.
_MARKS = (("8", BLUE), ("X", VERMILLION), (">", PURPLE), ("P", GREEN))
_DEGREES = {1: "o", 2: "d", 3: "^", 4: "s"}

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
    figure = Figure(figsize=(3.3, height), dpi=300)
    FigureCanvasAgg(figure)  # needed to measure text
    return figure


def content(figure: Figure, kind: str) -> bytes:
    """Return the content of a figure's file. kind: svg, png or pdf."""
    written = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with applied():
        figure.savefig(written, format=kind, metadata=undated)
    return written.getvalue()


def printable(name: str, most: int) -> str:
    """Make a name drawable; cut out the middle of a long one."""
    text = os.fsencode(name).decode("utf-8", "replace")
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    if len(text) <= most:
        return text
    return text[: (most - 1) // 2] + "\N{HORIZONTAL ELLIPSIS}" + text[len(text) - most // 2 :]


def _short(value: float) -> str:
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
    axis.set_ticks(ticks, labels=[_short(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


class Mark(NamedTuple):
    """Mark of a case in a figure."""

    words: str  # in the legend
    marker: str
    colour: str
    face: str
    rank: int  # in the legend


def mark_of(case: dict) -> Mark:
    """Return the mark of a case of `bench --json`."""
    if case["role"] == "reference":
        words, marker = ("svm-predict", "+") if case["end_to_end"] is not None else ("libsvm", "x")
        return Mark(words, marker, BLACK, BLACK, 0)
    if case["role"] == "exact":
        return Mark("exact model", "*", BLACK, BLACK, 1)
    kind, exact, centers = case["kind"], case["with_exact"], (case["centers"] or 1) > 1
    own = next((at for at, method in enumerate(methods()) if kind in method.kinds), None)
    if kind == "maclaurin":
        marker, colour = _DEGREES.get(case["degree"], "8"), SKY_BLUE if centers else BLUE
        words, rank = f"degree {case['degree']}{', centers' * centers}", 10 + 10 * centers + case["degree"]
    elif own is not None:
        (marker, colour), words, rank = _MARKS[own % len(_MARKS)], methods()[own].name, 60 + own
    else:
        marker, colour, rank = "h", ORANGE, 90
        words = "other LIBSVM model" if kind == "LIBSVM" else str(kind)
    return Mark(words + ", --exact" * exact, marker, colour, "white" if exact else colour, rank + 20 * exact)


def name_of(case: dict) -> str:
    """Return the text of a case's label."""
    return printable(str(case["name"]).removesuffix(", in process"), _LABEL)


@applied()
def draw(document: dict) -> Figure:
    """Draw the document of `bench --json`."""
    cases = [
        case
        for case in document["cases"]
        if case["failed"] is None
        and case["role"] != "start-up"
        and (case["distance"] is not None or case["role"] == "reference")  # libsvm in process is the exact model
        and any(case[key] is not None for key in _KEYS.values())
    ]
    cases.sort(key=lambda case: mark_of(case).rank)
    different = [case for case in cases if case["distance"]]
    equal = sorted((case for case in cases if not case["distance"]), key=lambda case: _speeds(document, case)[0])
    figure = empty_figure(3.6)
    panels = dict(zip(_KEYS, figure.subplots(2, sharex=True)))
    limits = [case["distance_95"][1] for case in equal if case["distance_95"] and not document["regression"]]
    zero = f"0 (< {100 * limits[0]:.2g})" if limits else "0"
    for axis in panels.values():
        first = _scale_shares(axis, different, len(equal), zero, inf if document["regression"] else 112)
    # Equal ones are side by side in the band, the fastest to the right.
    places = {case["name"]: first * (at + 0.5) / len(equal) for at, case in enumerate(equal)}
    places.update((case["name"], 100 * case["distance"]) for case in different)
    for clock, axis in panels.items():
        _draw_panel(axis, document, [case for case in cases if case[_KEYS[clock]] is not None], places, clock, first)
    data, machine = os.path.basename(document["test_file"]), printable(short(document["machine"]), 50)
    counts = f"{document['rows']:,} rows, {document['total_sv']:,} vectors"
    panels[END_TO_END].set_title(f"{printable(data, 20)}: {counts}\n{machine}", loc="left")
    unit = "root mean square difference, % of the values' spread" if document["regression"] else "labels that differ, %"
    panels[SCORING].set_xlabel(unit)
    _add_legend(figure, [*(mark_of(case).words for case in cases), "Pareto front", "picked"])
    for clock, axis in panels.items():
        _draw_labels(axis, document, places, clock)
    return figure


def _scale_shares(axes: Axes, cases: "list[dict]", equal: int, zero: str, most: float) -> float:
    """Scale the axis of shares in percent, and return where its logarithmic part begins.

    Shares of 0, `equal` many, have a grey band before it, with the label `zero`. most: end of the axis.
    """
    shares = [100 * case["distance"] for case in cases]
    first = min(shares, default=1.6) / 1.6
    last = min(max([10 * first, *(130 * case["distance_95"][1] for case in cases)]), most) if shares else first
    first = min(first, last / 10) if shares else first
    part = min(0.42, 0.2 + 0.015 * equal)  # of the panel
    linear = 0.9 * part / (1 - part) * log10(last / first) if shares else 1.0
    banded = equal > 0 or not shares
    scale = SymmetricalLogScale(axes.xaxis, linthresh=first, linscale=linear)
    axes.set(xscale=scale, xlim=(0 if banded else first, last))
    ticks = ticks_between(first, last) if shares else []
    axes.xaxis.set_ticks([first / 2] * banded + ticks, labels=[zero] * banded + [_short(tick) for tick in ticks])
    axes.xaxis.set_ticks([], minor=True)
    if banded:
        axes.axvspan(0, first, color="0.95", linewidth=0, zorder=0, gid="band of 0")
    return first


def _mark(axis: Axes, x: float, y: float, marker: str, colour: str, gid: str, words: str, size: float = 5) -> Line2D:
    (line,) = axis.plot([x], [y], marker, color=colour, markersize=size, zorder=3, gid=gid, label=words, clip_on=False)
    return line


def _add_legend(figure: Figure, entries: "list[str]") -> None:
    """Draw the legend in new space below the panels, and lay out everything for good.

    entries: labels of lines, in order; some may be missing or given twice.
    """
    lines = {line.get_label(): line for axes in figure.axes for line in axes.lines}
    handles = [lines[words] for words in dict.fromkeys(entries) if words in lines]
    width, height = figure.get_size_inches()
    below = 0.15 * ceil(len(handles) / 3) + 0.04
    figure.set_size_inches(width, height + below)
    how: dict[str, Any] = dict(frameon=False, handlelength=1.4, columnspacing=0.8, borderpad=0)
    figure.legend(handles=handles, loc="lower center", ncol=3, **how)
    share = below / (height + below)
    figure.set_layout_engine("constrained", rect=(0, share, 1, 1 - share))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _speeds(document: dict, case: dict, clock: "str | None" = None) -> "tuple[float, float, float]":
    # Without a clock, the first that timed the case counts.
    key = _KEYS[clock] if clock is not None else next(key for key in _KEYS.values() if case[key] is not None)
    rows, (low, high) = document["rows"] if key == "end_to_end" else 1, case[key]["interval_95"]
    return rows / case[key]["median"], rows / high, rows / low


def _draw_panel(
    axis: Axes, document: dict, cases: "list[dict]", places: "dict[str, float]", clock: str, first: float
) -> None:
    # The logarithmic part begins at `first`.
    axis.set_yscale("log")
    axis.margins(y=0.12)  # room for labels
    axis.set_ylabel(f"rows / s, {CLOCKS[clock]}")
    if not cases:
        axis.text(0.5, 0.5, "nothing was timed", ha="center", va="center", transform=axis.transAxes)
    for case in cases:
        (speed, low, high), x, mark = _speeds(document, case, clock), places[case["name"]], mark_of(case)
        axis.plot([x, x], [low, high], color=mark.colour, linewidth=0.5, gid="interval of time")
        if case["distance"]:
            low, high = case["distance_95"]
            ends = [max(100 * low, first), 100 * max(high, case["distance"])]
            axis.plot(ends, [speed, speed], color=mark.colour, linewidth=0.5, gid="interval of distance")
        line = _mark(axis, x, speed, mark.marker, mark.colour, f"case {document['cases'].index(case)}", mark.words)
        line.set(markerfacecolor=mark.face, zorder=3 + _importance(document, case, clock) / 10)
        if case["name"] == document["picked"]:
            _mark(axis, x, speed, "o", BLACK, "picked", "picked", 9).set_fillstyle("none")
    named = {case["name"]: case for case in cases}
    front = sorted(
        (places[name], _speeds(document, named[name], clock)[0]) for name in document["front"][clock] if name in named
    )
    if len(front) > 1:
        axis.plot(*zip(*front), color="0.65", linewidth=0.8, zorder=1, gid="front", label="Pareto front")
    reference = named.get(document["references"][clock])
    if reference is not None:
        rate = _speeds(document, reference, clock)[0]
        axis.axhline(rate, color="0.5", linewidth=0.5, linestyle="dotted", zorder=1)
        twin = axis.twinx()
        twin.set(yscale="log", ylim=[end / rate for end in axis.get_ylim()])
        twin.set_ylabel(f"speed, {printable(name_of(reference), 16)} = 1")
        twin.grid(False)
        set_log_ticks(twin.yaxis)
    set_log_ticks(axis.yaxis)


def _importance(document: dict, case: dict, clock: str) -> int:
    # Labels of large numbers are drawn first, those of 0 never.
    if case["name"] == document["picked"]:
        return 4
    return {"reference": 3, "exact": 2}.get(case["role"], int(case["name"] in document["front"][clock]))


def _draw_labels(axis: Axes, document: dict, places: "dict[str, float]", clock: str) -> None:
    figure = cast(Figure, axis.figure)
    renderer = cast(FigureCanvasAgg, figure.canvas).get_renderer()
    inside = axis.get_window_extent(renderer)
    marks = {
        str(line.get_gid()): line.get_window_extent(renderer) for line in axis.lines if line.get_marker() != "None"
    }
    labels: list[Bbox] = []
    shown = [case for at, case in enumerate(document["cases"]) if f"case {at}" in marks]
    shown.sort(key=lambda case: (-_importance(document, case, clock), places[case["name"]]))
    for case in shown:
        importance = _importance(document, case, clock)
        if not importance:
            break
        picked = importance == 4
        x, y = places[case["name"]], _speeds(document, case, clock)[0]
        label = axis.annotate(name_of(case), (x, y), xytext=(0, 0), textcoords="offset points", gid="label", zorder=6)
        label.set(weight="bold" if picked else "normal")
        # Beside all marks; the pick, if need be, over some.
        others = [*(box for name, box in marks.items() if not (picked and name == "picked")), *labels]
        for hidden, (side, up) in product((others, labels) if picked else (others,), _SIDES):
            label.set(ha=("right", "center", "left")[side + 1], va=("top", "center", "bottom")[up + 1])
            label.xyann = (_GAP * side, _GAP * up * (2 if side == 0 else 1))
            box = label.get_window_extent(renderer)
            within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if within and not any(box.padded(2).overlaps(other) for other in hidden):
                labels.append(box)
                break
        else:
            label.remove()
