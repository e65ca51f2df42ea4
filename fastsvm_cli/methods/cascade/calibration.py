"""Choice and calibration of a cascade's stages on rows."""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.errors import FileError, ModelFormatError, spelled
from fastsvm_cli.methods.cascade.guarantee import last_within, rows_needed, upper_bound
from fastsvm_cli.methods.cascade.stages import Candidates, fit_stages
from fastsvm_cli.models.base import LABELS, ExactModel, Model

#: Thresholds, in standard deviations of a stage's error, from strict to loose.
THRESHOLDS = 32 * 0.85 ** np.arange(36)
_MOST_STAGES = 3
_FITTED, _HELD_OUT = 0.15, 0.15  # of the rows; the others test
_MOST_FITTED = 8192  # rows, of each of these parts
#: Nanoseconds to read a number of a stage, and to check one of the exact model's.
_STAGE_NUMBER_NS, _NUMBER_NS = 60.0, 12.0
#: Another stage must take this share of the time without it.
_STAGE_WORTH = 0.97
#: A cascade must take at most this share of the exact model's time.
_WORTH = 0.8


class Calibration(NamedTuple):
    """A cascade, and its test.

    bound: of the share that differs, with the confidence. shares: of the tested rows, answered by each stage, then by
    the exact model. evaluations: kernel evaluations a row. gain: estimated time of the exact model for a row, over the
    cascade's.
    """

    model: Model
    bound: float
    shares: "list[float]"
    evaluations: float
    gain: float


def calibrate(
    model: ExactModel,
    rows: _native.Chunk,
    path: str,
    *,
    fingerprint: str,
    budget: float,
    confidence: float,
    job: "int | None" = None,
    seed: int = 0,
    on_progress: "Callable[..., None] | None" = None,
) -> Calibration:
    """Return the cascade of least estimated time.

    path: of the rows. job: rows predicted by one reading of the model; None: as many as `rows`. Raises FileError if
    there are too few, and ModelFormatError if the exact model is as fast.
    """
    progress = on_progress or (lambda share, words="": None)
    rng = np.random.default_rng(seed)
    needed = rows_needed(budget, confidence)
    fitted, held_out, tested = _parts(rows, needed, rng)
    if tested.rows < needed or fitted.rows < 1:
        raise FileError(path, _too_few(rows.rows, budget, confidence))
    candidates = fit_stages(model, fitted, held_out, path, rng, lambda share: progress(0.7 * share, "fitting stages"))
    everything = candidates.cascade(model)
    progress(0.7, "choosing stages")
    if not candidates.stages:
        raise ModelFormatError(model.path, _nothing_faster(job or rows.rows))
    trial = _Answers(model, candidates, everything, held_out)
    costs = _Costs(model, candidates, everything, len(rows.indices) / rows.rows, job or rows.rows)
    chosen = _choose(candidates, costs, trial, budget)
    progress(0.8, "testing")
    answers = _Answers(model, candidates, everything, tested)
    differing = [answers.run(chosen, threshold) for threshold in THRESHOLDS]
    at = last_within((each.differing for each in differing), tested.rows, budget, confidence)
    if at is None:  # 1 - (1 - budget)^n
        raise FileError(path, _too_few(rows.rows, budget, confidence, differing[0].differing))
    taken = differing[at]
    gain = costs.exact / costs.of(chosen, taken.reached)
    if gain * _WORTH < 1:
        raise ModelFormatError(model.path, _nothing_faster(job or rows.rows))
    stages = []
    for each in chosen:
        its = candidates.stages[each]
        its.threshold = float(THRESHOLDS[at])
        stages.append(its)
    most = max(each.vectors for each in stages)
    vectors = [0, *(each.vectors for each in stages)]
    evaluations = (
        sum(reached * (more - before) for reached, before, more in zip(taken.reached, vectors, vectors[1:]))
        + taken.reached[-1] * model.header.total_sv
    )
    shares = [here - after for here, after in zip(taken.reached, taken.reached[1:])]
    file = _native.CascadeFile(
        model.file,
        fingerprint,
        budget=budget,
        confidence=confidence,
        tested=tested.rows,
        differing=taken.differing,
        chosen=candidates.chosen[:most],
        features=candidates.features,
        center=candidates.center.tolist(),
        longest=candidates.longest,
        stages=stages,
    )
    bound = upper_bound(taken.differing, tested.rows, confidence)
    return Calibration(Model(file, model.path), bound, [*shares, taken.reached[-1]], evaluations, gain)


def _parts(rows: _native.Chunk, needed: int, rng: np.random.Generator) -> "list[_native.Chunk]":
    """Return rows to fit, to choose by, and to test."""
    order = rng.permutation(rows.rows).tolist()
    spare = max(rows.rows - needed, 0)
    first = min(int(_FITTED * rows.rows), _MOST_FITTED, spare // 2)
    second = min(int(_HELD_OUT * rows.rows), _MOST_FITTED, spare // 2)
    parts = order[:first], order[first : first + second], order[first + second :]
    return [rows.select(sorted(part)) for part in parts]


class _Run(NamedTuple):
    differing: int
    reached: "list[float]"  # share of the rows that reach each stage, and the exact model


class _Answers:
    """Each stage's answers at rows, and whether they differ from the exact model's."""

    def __init__(self, model: ExactModel, candidates: Candidates, cascade: _native.Cascade, rows: _native.Chunk):
        decisions = model.decisions(LABELS)
        model.decision_values(rows, decisions)
        winner = np.array(decisions.winner)
        self.rows = rows.rows
        self.margins, self.wrong = [], []
        for stage in range(len(candidates.stages)):
            its, margin = map(np.asarray, cascade.margins(rows, stage))
            self.margins.append(margin)
            self.wrong.append(its != winner)

    def run(self, stages: "tuple[int, ...]", threshold: float) -> _Run:
        left, differing, reached = np.ones(self.rows, bool), 0, [1.0]
        for stage in stages:
            stops = left & (self.margins[stage] > threshold)
            differing += int(np.count_nonzero(stops & self.wrong[stage]))
            left &= ~stops
            reached.append(np.count_nonzero(left) / self.rows)
        return _Run(differing, reached)


class _Costs:
    """Estimated nanoseconds of a row with this many entries, with its share in reading the stages."""

    def __init__(self, model: ExactModel, candidates: Candidates, cascade: _native.Cascade, entries: float, job: int):
        vectors = [each.vectors for each in candidates.stages]
        self._stages = {
            (stage, known): cascade.cost(stage, entries, known)
            for stage in range(len(vectors))
            for known in {0, *vectors}
        }
        unit = _native.Cascade.time_unit() / job
        self._reading = [
            (len(each.polynomial) + len(each.coefficients)) * _STAGE_NUMBER_NS * unit for each in candidates.stages
        ]
        self._checking = (len(model.vectors.values) + len(model.vectors.leading)) * _NUMBER_NS * unit
        self._vectors, self.exact = vectors, model.evaluator.label_cost + 20 + entries

    def of(self, stages: "tuple[int, ...]", reached: "list[float]") -> float:
        known = [0, *(self._vectors[each] for each in stages)]
        through = sum(share * self._stages[its] for share, its in zip(reached, zip(stages, known)))
        reading = self._checking + sum(self._reading[each] for each in stages)
        return through + reached[-1] * self.exact + reading


def _choose(candidates: Candidates, costs: _Costs, answers: _Answers, budget: float) -> "tuple[int, ...]":
    """Return the stages of least time, at the loosest threshold that keeps half of the budget."""
    allowed = int(budget / 2 * answers.rows)
    best: tuple[int, ...] = (0,)
    least = np.inf
    for count in range(1, _MOST_STAGES + 1):
        for stages in combinations(range(len(candidates.stages)), count):
            vectors = [candidates.stages[each].vectors for each in stages]
            if vectors != sorted(vectors):
                continue
            run = answers.run(stages, THRESHOLDS[0])
            for threshold in THRESHOLDS[1:]:
                looser = answers.run(stages, threshold)
                if looser.differing > allowed:
                    break
                run = looser
            cost = costs.of(stages, run.reached)
            if cost < least * (1 if count == len(best) else _STAGE_WORTH):
                best, least = stages, cost
    return best


def _nothing_faster(job: int) -> str:
    return (
        f"no cascade found that takes at most {100 * _WORTH:.0f} % of the exact model's time in a run of {job} rows:"
        f" predict with the model as it is, or say {spelled('rows', 'N')} if a run has more"
    )


def _too_few(rows: int, budget: float, confidence: float, differing: int = 0) -> str:
    needed = rows_needed(budget, confidence, differing)
    count = f"{needed if needed < 1e15 else f'{needed:.3g}'} rows to test on"
    which = f"of which {differing} differ" if differing else "without a difference"
    least = upper_bound(differing, max(int((1 - _FITTED - _HELD_OUT) * rows), 1), confidence)
    return (
        f"{rows} rows found, expected more: a budget of {100 * budget:.10g} % with {100 * confidence:.10g} % confidence"
        f" needs {count} {which}, beside those to fit on; these can show {100 * least:.2g} %"
    )
