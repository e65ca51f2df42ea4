"""Choice and calibration of stages on rows."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.comparisons import last_within, most_differing, rows_needed, upper_bound
from fastsvm_cli.errors import FileError, ModelFormatError, spelled
from fastsvm_cli.methods import Progress, part_of, silent
from fastsvm_cli.methods.cascade.stages import Candidates, StageCosts, fit_stages, gain_of
from fastsvm_cli.methods.reduce.target import among
from fastsvm_cli.models import LABELS, ExactModel, Model

#: Thresholds, in standard deviations of a stage's error, from strict to loose.
THRESHOLDS = 32 * 0.95 ** np.arange(110)
_MOST_STAGES = 3
_TESTED = 0.7  # of the rows; half of the others fit, the rest chooses
_MOST_FITTED = 8192  # rows, of each of these parts
#: Another stage must take this share of the time without it.
_STAGE_WORTH = 0.97
#: A cascade must take at most this share of the exact model's time.
_WORTH = 0.95
#: Share of the support vectors among the rows above which these are the model's training rows. The features
#: of a9a are binary: 19 % of its support vectors are among 8,000 test rows.
_TRAINED = 1 / 3


class Calibration(NamedTuple):
    """A cascade, and its test."""

    model: Model
    shares: "list[float]"  # of the tested rows, by stage, the exact model last
    evaluations: float  # of the kernel, a row
    gain: float  # the exact model's time over the cascade's, with reading
    warning: "str | None"  # why the guarantee fails for other rows


def calibrate(
    model: ExactModel,
    rows: _native.Chunk,
    path: str,
    *,
    fingerprint: str,
    budget: float,
    confidence: float,
    job: int,
    each_class: bool = False,
    seed: int = 0,
    on_progress: Progress = silent,
) -> Calibration:
    """Return the cascade of least measured time, if it is faster than the exact model.

    job: rows predicted by one reading of the model.
    """
    rng = np.random.default_rng(seed)
    needed = rows_needed(budget, confidence)
    fitted, held_out, tested = _parts(rows, budget, confidence, each_class, rng)
    if tested.rows < needed or fitted.rows < 1:
        raise FileError(path, _too_few(rows.rows, budget, confidence))
    candidates = fit_stages(model, fitted, held_out, path, rng, part_of(on_progress, 0.0, 0.7, "fitting stages"))
    on_progress(0.7, "choosing stages")
    if not candidates.stages:
        raise ModelFormatError(model.path, _nothing_faster(job))

    def file_of(stages: "list[_native.CascadeStage]", **test: int) -> _native.CascadeFile:
        return _native.CascadeFile(
            model.file,
            fingerprint=fingerprint,
            budget=budget,
            confidence=confidence,
            chosen=candidates.chosen[: max((each.vectors for each in stages), default=0)],
            features=candidates.features,
            center=candidates.center.tolist(),
            longest=candidates.longest,
            stages=stages,
            **test,
        )

    everything = candidates.cascade()
    # Its stages answer no row.
    left = Model(file_of(candidates.stages[:1], tested=1, differing=0), model.path)
    trial = _Answers(left, candidates, everything, held_out)
    costs = StageCosts(left, candidates, held_out, trial.margins[-1], job)
    chosen = _choose(candidates, costs, trial, budget)
    on_progress(0.8, "testing")
    answers = _Answers(left, candidates, everything, tested)
    counted = answers.rows_by_class if each_class else [tested.rows]
    _require_rows(path, model, counted, needed, each_class)
    runs = [answers.run(chosen, threshold) for threshold in THRESHOLDS]
    at = last_within((each.by_class if each_class else [each.differing] for each in runs), counted, budget, confidence)
    if at is None:  # 1 - (1 - budget)^n
        raise FileError(path, _too_few(rows.rows, budget, confidence, runs[0].differing))
    taken = runs[at]
    stages = [candidates.stages[each] for each in chosen]
    for stage in stages:
        stage.threshold = float(THRESHOLDS[at])
    file = file_of(stages, tested=tested.rows, differing=taken.differing)
    on_progress(0.9, "timing")
    gain = gain_of(model, Model(file, model.path), taken.reached, tested, job)
    if gain * _WORTH < 1:
        raise ModelFormatError(model.path, _nothing_faster(job))
    vectors = [0, *(each.vectors for each in stages)]
    evaluations = (
        sum(reached * (more - before) for reached, before, more in zip(taken.reached, vectors, vectors[1:]))
        + taken.reached[-1] * model.header.total_sv
    )
    shares = [here - after for here, after in zip(taken.reached, taken.reached[1:])]
    return Calibration(Model(file, model.path), [*shares, taken.reached[-1]], evaluations, gain, _warning(model, rows))


def _require_rows(path: str, model: ExactModel, counted: "list[int]", needed: int, each_class: bool) -> None:
    few = [at for at, count in enumerate(counted) if count < needed]
    if not few:
        return
    assert each_class  # all rows are counted before
    labels = model.header.label or [1, -1]
    named = ", ".join(f"{counted[at]} of class {labels[at]}" for at in few[:5])
    more = f" and of {len(few) - 5} more classes" if len(few) > 5 else ""
    raise FileError(
        path,
        f"too few rows of a class to test on found, {named}{more}, expected {needed} of each ({spelled('each_class')})",
    )


def _warning(model: ExactModel, rows: _native.Chunk) -> "str | None":
    # Training rows hold the model's support vectors.
    found = int(among(model.vectors, rows).sum())
    if found <= _TRAINED * model.vectors.rows:
        return None
    return (
        f"{found} of {model.vectors.rows} support vectors are among the rows to calibrate on: these seem to be the"
        " model's training rows, and its labels of others differ more often. Calibrate on other rows"
    )


def _parts(
    rows: _native.Chunk, budget: float, confidence: float, each_class: bool, rng: np.random.Generator
) -> "list[_native.Chunk]":
    # As many rows to test on as allow the most to differ, none to spare.
    order = rng.permutation(rows.rows).tolist()
    tested = int(_TESTED * rows.rows)
    if not each_class:
        tested = rows_needed(budget, confidence, max(most_differing(tested, budget, confidence), 0))
    part = min(max(rows.rows - tested, 0) // 2, _MOST_FITTED)
    parts = order[:part], order[part : 2 * part], order[2 * part :]
    return [rows.select(sorted(each)) for each in parts]


class _Run(NamedTuple):
    differing: int
    by_class: "list[int]"  # the same, by the exact model's class
    reached: "list[float]"  # share of the rows that reach each stage, and the exact model


class _Answers:
    """Each stage's answers at rows, and whether they differ from the exact ones.

    left: the cascade that leaves every row to the exact model, which decides near zero without a proof.
    """

    def __init__(self, left: Model, candidates: Candidates, cascade: _native.Cascade, rows: _native.Chunk):
        winner, its = (_winners(each, rows) for each in (candidates.model, left))
        self.rows, self._winner, self._classes = rows.rows, winner, max(left.header.nr_class, 2)
        self.rows_by_class = np.bincount(winner, minlength=self._classes).tolist()
        self._left_wrong = its != winner
        self.margins, self.wrong = [], []
        for stage in range(len(candidates.stages)):
            its, margin = map(np.asarray, cascade.margins(rows, stage))
            self.margins.append(margin)
            self.wrong.append(its != winner)

    def run(self, stages: "tuple[int, ...]", threshold: float) -> _Run:
        left, reached = np.ones(self.rows, bool), [1.0]
        wrong = np.zeros(self.rows, bool)
        for stage in stages:
            stops = left & (self.margins[stage] > threshold)
            wrong |= stops & self.wrong[stage]
            left &= ~stops
            reached.append(np.count_nonzero(left) / self.rows)
        wrong |= left & self._left_wrong
        by_class = np.bincount(self._winner[wrong], minlength=self._classes).tolist()
        return _Run(sum(by_class), by_class, reached)


def _winners(model: Model, rows: _native.Chunk) -> np.ndarray:
    decisions = model.decisions(LABELS)
    model.decision_values(rows, decisions)
    return np.array(decisions.winner)


def _choose(candidates: Candidates, costs: StageCosts, answers: _Answers, budget: float) -> "tuple[int, ...]":
    # The loosest threshold that keeps half of the budget
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
        f"no cascade found that is faster than the exact model in a run of {job} rows: predict with the model as it is,"
        f" or say {spelled('rows', 'N')} if a run has more"
    )


def _too_few(rows: int, budget: float, confidence: float, differing: int = 0) -> str:
    needed = rows_needed(budget, confidence, differing)
    count = f"{needed if needed < 1e15 else f'{needed:.3g}'} rows to test on"
    which = f"of which {differing} differ" if differing else "without a difference"
    least = upper_bound(differing, max(int(_TESTED * rows), 1), confidence)
    return (
        f"{rows} rows found, expected more: a budget of {100 * budget:.10g} % with {100 * confidence:.10g} % confidence"
        f" needs {count} {which}, beside those to fit on; these can show {100 * least:.2g} %"
    )
