"""Measure the time of predicting few rows and many."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.benchmarks.quality import Answers, interval_95, quality, relative_rms
from fastsvm_cli.benchmarks.timing import Timed, interleave
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.methods.reduce.problem import finish_seconds
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models.base import ExactModel, Model
from fastsvm_cli.prediction import Predictor, predict

STEPS = 8  # maximum number of sizes
FINISHING_SECONDS = 60.0  # of all descents; none if they take longer
_TIMED_EVALUATIONS, _TIMED_ROWS = 2e8, 1000  # of the exact model per run; least rows
_RUNS, _RUN_SECONDS = 7, 3.0  # of every size
_COMPILING = 0.7  # share of progress


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
    chunks = [_unlabelled(chunk) for chunk in rows or [model.vectors]]
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
    timed_chunks = _first(answers.chunks, int(max(_TIMED_ROWS, _TIMED_EVALUATIONS / max(1, model.header.total_sv))))
    timed = [_timed(each, timed_chunks) for each in (model, *(each for each, _ in reduced))]
    runs = len(timed) * (_RUNS + 1)

    def on_run(case: Timed, round: int, seconds: float) -> None:
        ran[0] += 1
        on_progress(_COMPILING + (1 - _COMPILING) * ran[0] / runs, "timing")

    ran = [0]
    interleave(timed, _RUNS, _RUN_SECONDS, on_run)
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


def _first(chunks: "list[_native.Chunk]", rows: int) -> "list[_native.Chunk]":
    out: list[_native.Chunk] = []
    for chunk in chunks:
        if rows <= 0:
            break
        out.append(chunk if chunk.rows <= rows else chunk.select(list(range(rows))))
        rows -= chunk.rows
    return out


def _unlabelled(chunk: _native.Chunk) -> _native.Chunk:
    if chunk.leading_count == 1:
        return chunk
    return _native.Chunk.from_csr(
        np.zeros(chunk.rows), np.asarray(chunk.indptr), np.asarray(chunk.indices), np.asarray(chunk.values)
    )
