"""Figure of `bench`."""

import os
from itertools import product
from math import inf, log10
from typing import TYPE_CHECKING, NamedTuple, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from fastsvm_cli.benchmarks.environment import short
from fastsvm_cli.benchmarks.table_row import CLOCKS, END_TO_END, SCORING
from fastsvm_cli.figures import style
from fastsvm_cli.figures.across import Across
from fastsvm_cli.figures.marks import mark_of, ring, short_name
from fastsvm_cli.figures.style import LEFT, draw_legend, two_panels

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

_CLOCKS = ((END_TO_END, "end_to_end", CLOCKS[END_TO_END]), (SCORING, "scoring", CLOCKS[SCORING]))
# Inches.
_RIGHT, _PANEL, _LEGEND_LINE = 0.44, 1.55, 0.135
_LEGEND_COLUMNS = 3
# Points from a label to its point; its allowed sides: across (1: right) and up.
_MARK = 4.0
_GAP = 2.0  # pixels around a label
_LABEL = 34  # characters
_SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))


class Speed(NamedTuple):
    """Rows per second, with the ends of their interval."""

    value: float
    low: float
    high: float


class Point(NamedTuple):
    """A case to draw.

    across: log10 of the distance in percent and of its interval's ends; None if no row differs. speeds: by clock.
    """

    case: dict
    across: "tuple[float, float, float] | None"
    speeds: "dict[str, Speed]"


def draw(document: dict) -> Figure:
    """Draw the document of `bench --json`."""
    points = _points(document)
    rows_of_legend = -(-len(_legend_entries(document, points)) // _LEGEND_COLUMNS)
    legend = rows_of_legend * _LEGEND_LINE + 0.06
    with style.applied():
        figure, upper, lower = two_panels(_PANEL, _RIGHT, legend)
        axes = dict(zip((END_TO_END, SCORING), (upper, lower)))
        limits = {clock: _limits(points, clock) for clock in axes}
        shares = [(point.across[0], point.across[2]) for point in points if point.across is not None]
        most = inf if document["regression"] else 2.0
        scale = Across(shares, len(points) - len(shares), style.INCH * (style.WIDTH - LEFT - _RIGHT), most)
        at = _positions(points, scale, limits)
        for clock, key, words in _CLOCKS:
            _draw_panel(axes[clock], document, points, at, scale, clock, limits[clock], words)
            _draw_ratio(axes[clock], document, clock, key)
        what = f"{document['rows']:,} rows, {document['total_sv']:,} vectors"
        names = [os.path.basename(document["test_file"]), short(document["machine"])]
        style.set_title(upper, names, f"{{}}: {what}; {{}}")
        _draw_scale(document, upper, lower, scale)
        draw_legend(figure, _legend_entries(document, points), _LEGEND_COLUMNS)
        for clock, axis in axes.items():
            _draw_labels(figure, axis, document, points, at, clock)
        return figure


def _points(document: dict) -> "list[Point]":
    found = []
    for case in document["cases"]:
        known = case["distance"] is not None or case["role"] == "reference"
        if case["failed"] is not None or not known or case["role"] == "start-up":
            continue
        speeds = {}
        for clock, key, _ in _CLOCKS:
            timed = case[key]
            if timed is not None:
                rows = document["rows"] if clock == END_TO_END else 1
                low, high = timed["interval_95"]
                speeds[clock] = Speed(rows / timed["median"], rows / high, rows / low)
        # libsvm in process is the exact model.
        share, interval = case["distance"] or 0.0, case["distance_95"] or (0.0, 0.0)
        across = None if not share else _log(share, *interval)
        if speeds:
            found.append(Point(case, across, speeds))
    return found


def _log(share: float, low: float, high: float) -> "tuple[float, float, float]":
    return log10(100 * share), log10(100 * low) if low > 0 else -inf, log10(100 * max(high, share))


def _limits(points: "list[Point]", clock: str) -> "tuple[float, float]":
    speeds = [point.speeds[clock] for point in points if clock in point.speeds]
    low = min((log10(min(each.low, each.value)) for each in speeds), default=0.0)
    high = max((log10(max(each.high, each.value)) for each in speeds), default=1.0)
    more = 0.09 * max(high - low, 0.5)
    return low - more, max(high, low + 0.5) + 2 * more  # room for labels


def _positions(points: "list[Point]", scale: Across, limits: "dict[str, tuple[float, float]]") -> "list[float]":
    equal = [at for at, point in enumerate(points) if point.across is None]
    at = [0.0 if point.across is None else point.across[0] for point in points]
    heights: list[list[float | None]] = [[] for _ in equal]
    for clock, (bottom, top) in limits.items():
        for mine, each in zip(heights, equal):
            speed = points[each].speeds.get(clock)
            mine.append(None if speed is None else style.INCH * _PANEL * (log10(speed.value) - bottom) / (top - bottom))
    for each, place_of_it in zip(equal, scale.spread(heights) if equal else []):
        at[each] = place_of_it
    return at


def _draw_panel(
    axis: Axes,
    document: dict,
    points: "list[Point]",
    at: "list[float]",
    scale: Across,
    clock: str,
    limits: "tuple[float, float]",
    words: str,
) -> None:
    axis.set_xlim(scale.left, scale.right)
    axis.set_yscale("log")
    axis.set_ylim(10 ** limits[0], 10 ** limits[1])
    ticks = style.ticks_between(10 ** limits[0], 10 ** limits[1])
    style.set_ticks(axis.yaxis, ticks, [style.short_number(tick) for tick in ticks])
    style.set_side_label(axis, f"rows / s, {words}")
    if scale.band is not None:
        axis.axvspan(*scale.band, color="0.95", linewidth=0, zorder=0, gid="band of 0")
    shown = [(point, x) for point, x in zip(points, at) if clock in point.speeds]
    if not shown:
        axis.text(0.5, 0.5, "nothing was timed", ha="center", va="center", transform=axis.transAxes)
    reference = document["references"][clock]
    for point, _ in shown:
        if point.case["name"] == reference:
            axis.axhline(point.speeds[clock].value, color="0.5", linewidth=0.5, linestyle=(0, (1, 2)), zorder=1)
    front = sorted(
        (x, point.speeds[clock].value) for point, x in shown if point.case["name"] in document["front"][clock]
    )
    axis.plot(
        [x for x, _ in front], [y for _, y in front], color="0.65", linewidth=0.8, zorder=1, gid="front", marker="none"
    )
    # Draw front and references over the rest.
    for point, x in sorted(shown, key=lambda each: _importance(document, each[0].case, clock)):
        speed, mark = point.speeds[clock], mark_of(point.case)
        colour = "0.3" if mark.edge == style.BLACK else mark.edge
        axis.plot([x, x], [speed.low, speed.high], color=colour, linewidth=0.5, zorder=2, gid="interval of time")
        if point.across is not None:
            ends = max(point.across[1], scale.first), point.across[2]
            axis.plot(ends, [speed.value] * 2, color=colour, linewidth=0.5, zorder=2, gid="interval of distance")
        line = mark.line([x], [speed.value])
        line.set(zorder=3, gid=f"case {document['cases'].index(point.case)}")
        axis.add_line(line)
        if point.case["name"] == document["picked"]:
            axis.add_line(ring([x], [speed.value]))


def _draw_ratio(axis: Axes, document: dict, clock: str, key: str) -> None:
    reference = document["references"][clock]
    case = next((case for case in document["cases"] if case["name"] == reference and case[key]), None)
    if case is None:
        return
    rate = (document["rows"] if clock == END_TO_END else 1) / case[key]["median"]
    twin = axis.twinx()
    twin.set_yscale("log")
    low, high = (end / rate for end in axis.get_ylim())
    twin.set_ylim(low, high)
    ticks = style.ticks_between(low, high)
    style.set_ticks(twin.yaxis, ticks, [style.short_number(tick) for tick in ticks])
    twin.grid(False)
    style.set_side_label(twin, f"speed, {style.printable(reference.removesuffix(', in process'), 16)} = 1", "right")


def _draw_scale(document: dict, upper: Axes, lower: Axes, scale: Across) -> None:
    zero = "0"
    if not document["regression"]:
        limit = next(
            (case["distance_95"][1] for case in document["cases"] if case["distance"] == 0 and case["distance_95"]),
            None,
        )
        zero = "0" if limit is None else f"0 (< {100 * limit:.2g})"
    ticks = scale.ticks(zero)
    for axis, words_shown in ((upper, False), (lower, True)):
        style.set_ticks(axis.xaxis, [tick for tick, _ in ticks], [words if words_shown else "" for _, words in ticks])
    lower.set_xlabel(
        "root mean square difference, % of the values' spread" if document["regression"] else "labels that differ, %"
    )


def _importance(document: dict, case: dict, clock: str) -> int:
    """Return the rank of a case's label, the largest for the first one to draw; 0 for none."""
    if case["name"] == document["picked"]:
        return 4
    if case["role"] == "reference":
        return 3
    if case["role"] == "exact":
        return 2
    return int(case["name"] in document["front"][clock])


def _draw_labels(
    figure: Figure, axis: Axes, document: dict, points: "list[Point]", at: "list[float]", clock: str
) -> None:
    shown = [
        (_importance(document, point.case, clock), x, point.speeds[clock].value, point.case)
        for point, x in zip(points, at)
        if clock in point.speeds
    ]
    renderer = cast("FigureCanvasAgg", figure.canvas).get_renderer()
    inside = axis.get_window_extent(renderer)
    around = {str(line.get_gid()): line.get_window_extent(renderer) for line in axis.lines}
    marks = [box for name, box in around.items() if name.startswith("case ")]
    labels: list[Bbox] = []
    for importance, x, y, case in sorted(shown, key=lambda each: (-each[0], each[1], each[2])):
        if not importance:
            break
        label = axis.annotate(
            style.printable(short_name(case), _LABEL), (x, y), xytext=(0, 0), textcoords="offset points", gid="label"
        )
        label.set(fontsize=style.TYPE, weight="bold" if case["name"] == document["picked"] else "normal", zorder=6)
        # Beside all marks; the pick, if need be, over some.
        picked = importance == 4
        beside = [*marks, *labels, *([around["picked"]] if "picked" in around and not picked else [])]
        for hidden, (side, up) in product((beside, labels) if picked else (beside,), _SIDES):
            label.set(ha=("right", "center", "left")[side + 1], va=("top", "center", "bottom")[up + 1])
            label.xyann = (_MARK * side, _MARK * up * (2 if side == 0 else 1))
            box = label.get_window_extent(renderer)
            within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if within and not any(box.padded(_GAP).overlaps(other) for other in hidden):
                labels.append(box)
                break
        else:
            label.remove()


def _legend_entries(document: dict, points: "list[Point]") -> "list[Line2D]":
    marks = {mark.words: mark for mark in sorted((mark_of(point.case) for point in points), key=lambda each: each.rank)}
    entries = []
    for words, mark in marks.items():
        line = mark.line([], [])
        line.set_label(words)
        entries.append(line)
    if any(len(document["front"][clock]) > 1 for clock, _, _ in _CLOCKS):
        entries.append(Line2D([], [], color="0.65", linewidth=0.8, label="Pareto front"))
    if document["picked"] is not None:
        around = ring([], [])
        around.set(label="picked", markersize=7)
        entries.append(around)
    return entries
