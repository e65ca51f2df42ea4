"""Figure of `bench`."""

import os
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING
from fastsvm_cli.benchmarks.environment import short
from fastsvm_cli.figures import style
from fastsvm_cli.methods import methods

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

_KEYS = {END_TO_END: "end_to_end", SCORING: "scoring"}
_LABEL, _GAP = 40, 4.0  # characters of a label; points between it and its mark
_SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))  # across (1: right) and up
#: By method; approx has a shape per degree. Shapes alone distinguish the methods.
_MARKS = (("8", style.BLUE), ("X", style.VERMILLION), (">", style.PURPLE), ("P", style.GREEN))
_DEGREES = {1: "o", 2: "d", 3: "^", 4: "s"}


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
        return Mark(words, marker, style.BLACK, style.BLACK, 0)
    if case["role"] == "exact":
        return Mark("exact model", "*", style.BLACK, style.BLACK, 1)
    kind, exact, centers = case["kind"], case["with_exact"], (case["centers"] or 1) > 1
    own = next((at for at, method in enumerate(methods()) if kind in method.kinds), None)
    if kind == "maclaurin":
        marker, colour = _DEGREES.get(case["degree"], "8"), style.SKY_BLUE if centers else style.BLUE
        words, rank = f"degree {case['degree']}{', centers' * centers}", 10 + 10 * centers + case["degree"]
    elif own is not None:
        (marker, colour), words, rank = _MARKS[own % len(_MARKS)], methods()[own].name, 60 + own
    else:
        marker, colour, rank = "h", style.ORANGE, 90
        words = "other LIBSVM model" if kind == "LIBSVM" else str(kind)
    return Mark(words + ", --exact" * exact, marker, colour, "white" if exact else colour, rank + 20 * exact)


def name_of(case: dict) -> str:
    """Return the text of a case's label."""
    return style.printable(str(case["name"]).removesuffix(", in process"), _LABEL)


@style.applied()
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
    figure = style.empty_figure(3.6)
    panels = dict(zip(_KEYS, figure.subplots(2, sharex=True)))
    shares = [(100 * case["distance"], 100 * case["distance_95"][1]) for case in different]
    limits = [case["distance_95"][1] for case in equal if case["distance_95"] and not document["regression"]]
    zero = f"0 (< {100 * limits[0]:.2g})" if limits else "0"
    for axis in panels.values():
        first = style.scale_shares(axis, "x", shares, len(equal), zero, cut=not document["regression"])
    # Equal ones are side by side in the band, the fastest to the right.
    places = {case["name"]: first * (at + 0.5) / len(equal) for at, case in enumerate(equal)}
    places.update((case["name"], 100 * case["distance"]) for case in different)
    for clock, axis in panels.items():
        _draw_panel(axis, document, [case for case in cases if case[_KEYS[clock]] is not None], places, clock, first)
    data, machine = os.path.basename(document["test_file"]), style.printable(short(document["machine"]), 50)
    counts = f"{document['rows']:,} rows, {document['total_sv']:,} vectors"
    panels[END_TO_END].set_title(f"{style.printable(data, 20)}: {counts}\n{machine}", loc="left")
    unit = "root mean square difference, % of the values' spread" if document["regression"] else "labels that differ, %"
    panels[SCORING].set_xlabel(unit)
    style.finish(figure, [*(mark_of(case).words for case in cases), "Pareto front", "picked"], 3)
    for clock, axis in panels.items():
        _draw_labels(axis, document, places, clock)
    return figure


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
        line = style.points(axis, [x], [speed], mark.marker, mark.colour, f"case {document['cases'].index(case)}")
        line.set(label=mark.words, markerfacecolor=mark.face, zorder=3 + _importance(document, case, clock) / 10)
        if case["name"] == document["picked"]:
            style.ring(axis, x, speed, "picked")
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
        twin.set_ylabel(f"speed, {style.printable(name_of(reference), 16)} = 1")
        twin.grid(False)
        style.set_log_ticks(twin.yaxis)
    style.set_log_ticks(axis.yaxis)


def _importance(document: dict, case: dict, clock: str) -> int:
    # Labels of large numbers are drawn first, those of 0 never.
    if case["name"] == document["picked"]:
        return 4
    return {"reference": 3, "exact": 2}.get(case["role"], int(case["name"] in document["front"][clock]))


def _draw_labels(axis: Axes, document: dict, places: "dict[str, float]", clock: str) -> None:
    figure = cast("Figure", axis.figure)
    renderer = cast("FigureCanvasAgg", figure.canvas).get_renderer()
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
