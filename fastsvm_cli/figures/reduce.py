"""Figure of `reduce`: time and labels of sets of few vectors and many."""

from collections.abc import Callable
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from fastsvm_cli import _native
from fastsvm_cli.benchmarks.environment import describe, short
from fastsvm_cli.benchmarks.quality import Answers, interval_95, quality, relative_rms
from fastsvm_cli.benchmarks.timing import Timed, interleave
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.figures import style
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.methods.reduce.placement import finish_seconds
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models.base import ExactModel, Model
from fastsvm_cli.prediction import Predictor, predict
from fastsvm_cli.text.read_rows import select_rows

STEPS = 8  # maximum number of sizes
FINISHING_SECONDS = 60.0  # of all descents; none if they take longer
_TIMED_EVALUATIONS, _TIMED_ROWS = 2e8, 1000  # of the exact model per run; least rows
_RUNS, _RUN_SECONDS = 7, 3.0  # of every size
_COMPILING = 0.7  # share of progress
_FINISHED = {True: "all vectors moved at the end", False: "best coefficients alone"}


class Size(NamedTuple):
    """A reduced set and its measurements."""

    vectors: int
    distance: float  # share of labels that differ; regression: relative_rms
    distance_95: "tuple[float, float]"
    seconds: float  # of a row
    seconds_95: "tuple[float, float]"
    finished: bool  # by the final descent


class Sizes(NamedTuple):
    """A model's reduced sets by increasing size, the picked one last; `exact`, and the number of rows."""

    sizes: "list[Size]"
    exact: Size
    rows: int
    regression: bool


def measure_sizes(
    model: ExactModel,
    picked: ExactModel,
    rows: "list[_native.Chunk]",
    *,
    fingerprint: str,
    how: "dict[str, Any]",
    on_progress: "Callable[[float, str], None]",
) -> Sizes:
    """Measure a reduced set, `picked`, and up to seven smaller ones, on `rows` or support vectors.

    Final descents are left out if they would exceed a minute.
    """
    chunks = rows or [model.vectors]
    most = picked.header.total_sv
    counts = _counts(max(2, model.header.nr_class), most)
    n = model.header.total_sv
    parts = len(model.header.label or [0])
    affordable = sum(finish_seconds(n, count, parts) for count in counts) <= FINISHING_SECONDS
    finishing = how["finishing"] and affordable
    space = FeatureSpace(model)
    models: list[tuple[ExactModel, bool]] = []
    whole, done = sum(counts) or 1, 0
    for count in counts:

        def shown(share: float, words: str, done: int = done, count: int = count) -> None:
            on_progress(_COMPILING * (done + share * count) / whole, f"{count} vectors")

        try:
            found = compile_reduced_set(
                model,
                count=count,
                fingerprint=fingerprint,
                space=space,
                on_progress=shown,
                **{**how, "finishing": finishing},
            )
        except ModelFormatError:  # too few to place any
            continue
        models.append((found.model, finishing))
        done += count
    smaller = [(each, moved) for each, moved in models if each.header.total_sv < most]
    return _measured(model, [*smaller, (picked, how["finishing"])], chunks, on_progress)


def _counts(least: int, most: int) -> "list[int]":
    if most <= least:
        return []
    steps = [least * (most / least) ** (step / (STEPS - 1)) for step in range(STEPS - 1)]
    return sorted({round(each) for each in steps} - {most})


def _measured(
    model: ExactModel,
    reduced: "list[tuple[ExactModel, bool]]",
    chunks: "list[_native.Chunk]",
    on_progress: "Callable[[float, str], None]",
) -> Sizes:
    regression = model.header.regression
    answers = Answers(model, chunks)
    total = sum(chunk.rows for chunk in chunks)
    first = range(int(max(_TIMED_ROWS, _TIMED_EVALUATIONS / max(1, model.header.total_sv))))
    timed_chunks = list(select_rows(answers.chunks, first))
    timed = [_timed(each, timed_chunks) for each in (model, *(each for each, _ in reduced))]

    def on_begin(case: Timed, round: int) -> None:
        on_progress(_COMPILING + (1 - _COMPILING) * (round + 1) / (_RUNS + 1), "timing")

    interleave(timed, _RUNS, _RUN_SECONDS, on_begin)
    sizes = []
    for (each, finished), times in zip(reduced, timed[1:]):
        seen = quality(each, answers)
        if seen.changed is None:
            distance, interval = relative_rms(seen, answers.spread)
        else:
            distance, interval = seen.changed.share, interval_95(seen.changed.different, seen.rows)
        sizes.append(
            Size(each.header.total_sv, distance, interval, times.timings.median, times.timings.interval_95, finished)
        )
    own = timed[0].timings
    exact = Size(model.header.total_sv, 0.0, (0.0, 0.0), own.median, own.interval_95, False)
    return Sizes(sizes, exact, total, regression)


def _timed(model: Model, chunks: "list[_native.Chunk]") -> Timed:
    return Timed("", lambda: predict(Predictor(model), chunks, lambda lines: None, path="").rows)


@style.applied()
def draw(data: str, found: Sizes) -> Figure:
    """Return the figure of sizes: labels that differ, and time, by number of vectors."""
    figure = style.empty_figure(3.0)
    upper, lower = figure.subplots(2, sharex=True)
    sizes, exact, written = found.sizes, found.exact, f"written: {found.sizes[-1].vectors:,} vectors"
    shares = [(100 * each.distance, 100 * each.distance_95[1]) for each in sizes if each.distance]
    first = style.scale_shares(upper, "y", shares, len(sizes) - len(shares), "0", cut=not found.regression)
    distances = []
    for each in sizes:
        low, high = (100 * end for end in each.distance_95)
        # The band of 0 has no scale: intervals begin at its end, or at its mark.
        distances.append(
            (100 * each.distance, max(low, first), high) if each.distance else (first / 2, first / 2, high)
        )
    times = [(1e6 * each.seconds, *(1e6 * end for end in each.seconds_95)) for each in sizes]
    lower.set_yscale("log")
    lower.axhspan(*(1e6 * end for end in exact.seconds_95), color="0.85", linewidth=0, zorder=0.5)
    lower.axhline(1e6 * exact.seconds, color=style.BLACK, linestyle="dashed", linewidth=0.8, gid="exact model")
    for axis, name, heights in ((upper, "distance", distances), (lower, "time", times)):
        axis.plot([each.vectors for each in sizes], [at for at, _, _ in heights], color="0.6", zorder=1.5, gid="sizes")
        for each, (at, low, high) in zip(sizes, heights):
            ends = [low, high] if axis is lower or high > first else []
            axis.plot(
                [each.vectors] * len(ends), ends, color=style.VERMILLION, linewidth=0.6, gid=f"interval of {name}"
            )
            gid = "finished" if each.finished else "not finished"
            mark = style.points(axis, [each.vectors], [at], "X", style.VERMILLION, gid)
            mark.set(label=_FINISHED[each.finished], markerfacecolor=style.VERMILLION if each.finished else "white")
        style.ring(axis, sizes[-1].vectors, heights[-1][0], written)
    least, most = sizes[0].vectors, sizes[-1].vectors
    lower.set(xscale="log", xlim=(least / 1.3, max(most, 2 * least) * 1.3), xlabel="vectors")
    lower.margins(y=0.2)
    style.set_log_ticks(lower.xaxis)
    style.set_log_ticks(lower.yaxis)
    words = f"exact model, {exact.vectors:,} vectors"
    above = 1e6 * max(exact.seconds, exact.seconds_95[1])
    lower.text(0.02, above, words, transform=lower.get_yaxis_transform(), va="bottom")
    upper.set_ylabel("RMS difference, % of spread" if found.regression else "labels that differ, %")
    lower.set_ylabel("time of a row, \N{MICRO SIGN}s")
    machine = style.printable(short(describe(0)), 50)
    upper.set_title(f"{style.printable(data, 40)}: {found.rows:,} rows\n{machine}", loc="left")
    style.finish(figure, [*_FINISHED.values(), written], 2)
    return figure
