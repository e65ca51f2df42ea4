"""Choose the fastest model within a budget: compile, compare, and time what every method proposes.

Methods' searches (`Method.search`) propose attempts, each from the results before it; the most promising is next. A
model that a sample shows to be over the budget, or few rows to be slower than another, goes no further. The others are
timed in a race.
"""

from collections.abc import Callable, Iterator
from copy import copy
from math import inf
from time import process_time
from typing import Protocol

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.benchmarks.bench_run import facts_of
from fastsvm_cli.benchmarks.quality import Agreement
from fastsvm_cli.benchmarks.timing import FASTER, Timings, factor, race, warm_up
from fastsvm_cli.comparisons import Budget, Changed, answers, bound, changed_labels
from fastsvm_cli.errors import FastsvmError, FileError
from fastsvm_cli.methods import methods, refused_by_all
from fastsvm_cli.methods.approx.grade import gamma_ratio
from fastsvm_cli.methods.method import Attempt, Search, Setting, SourceModel, compile_source
from fastsvm_cli.models import LABELS, ExactModel, Model, Precision
from fastsvm_cli.prediction import Fallback, Predictor, threads_here
from fastsvm_cli.text.read_rows import read_chunks, smaller_chunks
from fastsvm_cli.text.scaling import Scaling

# A search takes at most so many times the exact model's time for a million rows.
_JOB_ROWS, _TIMES_OF_JOB = 1_000_000, 10.0
# Shares of the time limit: of the last race; of the rest that an attempt's estimate may take.
_OF_RACE, _OF_REST = 0.08, 0.8
# Rows of a first comparison; rows of a choice at least, and share of the time limit of the exact model's answers.
_SAMPLE, _LEAST_ROWS, _OF_REFERENCE = 500, 2000, 0.2
# A model this much slower than the fastest by its first timing cannot win.
_SURELY_SLOWER = 1.25
# A short file is read again, for its time.
_SHORT_FILE, _READINGS = 0.2, 4


class Rows(Protocol):
    """The rows of a choice."""

    count: int
    reading: float  # processor seconds of a row before its prediction, one thread

    def sample(self, numbers: "list[int]") -> "Rows":
        """Return these rows."""

    def chunk(self) -> _native.Chunk:
        """Return all rows, to calibrate on."""

    def answers(self, model: Model, exact: bool, numbers: "list[int] | None" = None) -> np.ndarray:
        """Return labels, or values of a regression, of all rows or these, `exact` as with ``--exact``."""

    def predict(self, model: Model, exact: bool) -> None:
        """Predict all rows."""

    def proven(self, model: Model) -> int:
        """Count the rows that a certified model proves."""


class FileRows:
    """`Rows` of a LIBSVM file, in memory. source: the exact model."""

    def __init__(self, path: str, source: ExactModel, scaling: "Scaling | None" = None):
        self._path, self._source = path, source
        seconds: list[float] = []
        while not seconds or (sum(seconds) < _SHORT_FILE and len(seconds) < _READINGS):
            with threads_here(1):
                start = process_time()
                chunks = list(read_chunks(path, scaling=scaling))
                seconds.append(process_time() - start)
        self._rows = _native.Chunk.concatenate(chunks)
        self.count = self._rows.rows
        if not self.count:
            raise FileError(path, "no rows found, expected some to measure on")
        self.reading = min(seconds) / self.count

    def sample(self, numbers: "list[int]") -> "FileRows":
        """Return these rows."""
        out = copy(self)
        out._rows, out.count = self._rows.select(numbers), len(numbers)
        return out

    def chunk(self) -> _native.Chunk:
        """Return all rows."""
        return self._rows

    def answers(self, model: Model, exact: bool, numbers: "list[int] | None" = None) -> np.ndarray:
        """Return labels, or values of a regression."""
        some = self._rows if numbers is None else self._rows.select(numbers)
        if exact:
            model = self._source
        precision = Precision.values() if model.header.regression else LABELS
        found = answers(model, smaller_chunks([some], model.pairs), precision)
        return np.concatenate([np.array(predictions.label) for _, _, predictions in found])

    def predict(self, model: Model, exact: bool) -> None:
        """Predict all rows, up to their lines."""
        rows = smaller_chunks([self._rows], model.pairs)
        fallback = Fallback(lambda: self._source) if exact else None
        Predictor(model, exact=fallback).write(rows, lambda lines: None, self._path)

    def proven(self, model: Model) -> int:
        """Count the proven rows."""
        if model.header.regression:
            return 0
        undecided, task = 0, model.header.task()
        for _, decisions, _ in answers(model, smaller_chunks([self._rows], model.pairs), LABELS, True):
            undecided += len(_native.undecided_rows(task, decisions))
        return self.count - undecided


class Entrant:
    """A model under comparison; without an attempt, the exact one."""

    def __init__(self, rows: Rows, model: "Model | None" = None, attempt: "Attempt | None" = None):
        self._rows, self.model, self.attempt = rows, model, attempt
        self.exact = attempt is not None and attempt.exact
        self.name = "exact model" if attempt is None else attempt.name + ", --exact" * self.exact
        self.compile_seconds: float | None = None
        self.size: int | None = None
        self.changed: Changed | None = None  # None for regression, and where a sample decided
        self.sample: Changed | None = None
        self.share = self.upper = inf  # of labels that differ (regression: relative_rms); its bound, 0 where proven
        self.largest: float | None = None  # difference of a regression, in standard deviations
        self.facts: dict[str, str | int | None] = dict.fromkeys(("kind", "degree", "centers"))
        self.proven: int | None = None
        self.within = self.failed = False  # the budget; without a model
        self.why: str | None = None
        self.warning: str | None = None
        self.timings = Timings()  # seconds a row
        self.count = 0
        self.rough = inf  # seconds a row
        self._some: Rows | None = None

    @property
    def seconds(self) -> float:
        """Seconds a row."""
        return self.timings.median if len(self.timings) else self.rough

    def prepare(self, count: int) -> None:
        """Take `count` evenly spread rows."""
        rows = self._rows
        if self._some is None or self._some.count != count:
            spread = [at * rows.count // count for at in range(count)]
            self._some = rows if count == rows.count else rows.sample(spread)

    def run(self) -> None:
        """Predict the rows that were taken."""
        assert self._some is not None and self.model is not None
        self._some.predict(self.model, self.exact)


class _GivenUp(Exception):
    pass


class Choice:
    """A search for the fastest model within a budget, and its result. time_limit: processor seconds.

    exact, entrants: the models, the latter in order of trying. After `run`: picked; waiting, the attempts without time;
    rows, compared on; seconds spent, limit, and longest, the seconds possible; interrupted, by what.
    """

    picked: Entrant
    rows: int
    seconds: float
    longest: float

    def __init__(
        self,
        source: "SourceModel",
        rows: Rows,
        budget: Budget,
        *,
        time_limit: float,
        max_bytes: float,
        on_progress: "Callable[[float, str], None]" = lambda share, words: None,
    ):
        self._source, self._rows, self.budget, self._max_bytes = source, rows, budget, max_bytes
        self._on_progress = on_progress
        self._begin, self.limit = process_time(), time_limit
        self.reading = rows.reading  # seconds a row
        self.exact = Entrant(rows, source.model)
        self.entrants: list[Entrant] = []
        self.waiting: list[Attempt] = []
        self.interrupted: KeyboardInterrupt | None = None

    @property
    def spent(self) -> float:
        """Processor seconds since the beginning."""
        return process_time() - self._begin

    def gain(self, entrant: Entrant) -> "tuple[float, float] | None":
        """Return the exact model's time a row over the entrant's, with reading, and its error."""
        if entrant is self.exact:
            return 1.0, 0.0
        if len(entrant.timings):
            return factor(self.exact.timings, entrant.timings, self.reading)
        if entrant.rough == inf:
            return None
        return (self.exact.rough + self.reading) / (entrant.rough + self.reading), inf

    def run(self) -> "Choice":
        """Search, and return this."""
        rows, exact = self._rows, self.exact
        exact.rough = warm_up(exact, rows.count)
        self.longest = _TIMES_OF_JOB * _JOB_ROWS * (exact.rough + rows.reading)
        self.limit = min(self.limit, self.longest)
        most = max(_LEAST_ROWS, int(_OF_REFERENCE * self.limit / exact.rough))
        if most < rows.count:
            drawn = np.random.default_rng(0).choice(rows.count, most, replace=False)
            self._rows = rows = rows.sample(np.sort(drawn).tolist())
            exact._rows, exact._some = rows, None
        self.rows, self.reading = rows.count, rows.reading
        self._reference = rows.answers(self._source.model, False)
        exact.share, exact.upper, exact.within = 0.0, 0.0, True
        exact.changed, exact.facts = self._changed(np.zeros(rows.count, bool), None), facts_of(self._source.model)
        try:
            self._search()
            self._on_progress(1.0, "the last race")
        except KeyboardInterrupt as stop:
            self.interrupted, self.waiting = stop, []
        inside = [each for each in self.entrants if each.within and not self._loses(each.rough)]
        if self.interrupted is None:
            race([exact, *inside], self.limit * _OF_RACE, keep=exact)
        self.picked = self._pick(inside)
        for each in inside:
            if each is not self.picked:
                each.why = "slower, or as fast with more labels that differ"
        self.seconds = self.spent
        return self

    # ---- attempts

    def _search(self) -> None:
        model = self._source.model
        if refused_by_all(model) is not None:
            return
        setting = Setting(self.budget, gamma_ratio(model), self._rows.count, self._max_bytes)
        searches = [each.search(model, setting) for each in methods() if each.reason_against(model) is None]
        proposals = [(search, attempt) for search in searches for attempt in _next(search)]
        while proposals:
            at = min(range(len(proposals)), key=lambda at: (proposals[at][1].rank, proposals[at][1].seconds))
            search, attempt = proposals.pop(at)
            left = (1 - _OF_RACE) * self.limit - self.spent
            if attempt.seconds > _OF_REST * left and attempt.skipped is None:
                if not self._cannot_win(attempt):
                    self.waiting.append(attempt)
                result = None
            else:
                result = self._try(attempt, left)
            proposals += [(search, each) for each in _next(search, result)]

    def _cannot_win(self, attempt: Attempt) -> bool:
        return self._loses(self.exact.rough / attempt.gain)

    def _try(self, attempt: Attempt, left: float) -> "bool | None":
        # The search learns whether the model is within the budget; None: there is no model.
        entrant = Entrant(self._rows, attempt=attempt)
        if attempt.skipped is not None:
            entrant.why, entrant.failed = attempt.skipped, True
            self.entrants.append(entrant)
            return None
        if self._cannot_win(attempt):
            return None
        self._on_progress(min(1.0, self.spent / self.limit), attempt.name)
        begin = self.spent

        def watch(share: float, words: str = "") -> None:
            if self.spent - begin > left:
                raise _GivenUp
            self._on_progress(min(1.0, self.spent / self.limit), attempt.name)

        given = {**attempt.options, **({"data": [self._rows.chunk()]} if attempt.calibrated else {})}
        try:
            compiled = compile_source(given.pop("method", attempt.command), self._source, given, watch)
        except _GivenUp:
            entrant.why = f"given up after {self.spent - begin:.2g} s"
        except (FastsvmError, ValueError) as error:
            entrant.why = str(error).removeprefix(f"{self._source.model.path}: ")
        entrant.compile_seconds = self.spent - begin
        self.entrants.append(entrant)
        if entrant.why is not None:
            entrant.failed = True
        else:
            entrant.model, entrant.size, entrant.warning = compiled.model, compiled.size, compiled.warning
            self._compare(entrant)
        return None if entrant.failed else entrant.within

    # ---- comparison

    def _compare(self, entrant: Entrant) -> None:
        model, rows = entrant.model, self._rows
        assert model is not None
        entrant.facts = facts_of(model)
        calibrated = entrant.attempt.calibrated if entrant.attempt is not None else 0.0
        try:
            if rows.count > _SAMPLE and not self._source.model.header.regression and not entrant.exact:
                drawn = np.sort(np.random.default_rng(0).choice(rows.count, _SAMPLE, replace=False))
                differ = rows.answers(model, False, drawn.tolist()) != self._reference[drawn]
                entrant.sample = self._changed(differ, drawn)
                assert entrant.sample is not None
                if self.budget.surely_exceeded(entrant.sample):
                    entrant.share, entrant.why = entrant.sample.share, "over the budget"
                    entrant.model = None
                    return
            entrant.rough = warm_up(entrant, rows.count)
            answers = self._reference if entrant.exact else rows.answers(model, False)
        except (FastsvmError, ValueError) as error:
            entrant.failed, entrant.why, entrant.model = True, str(error), None
            return
        self._judge(entrant, answers, calibrated)
        if not entrant.within:
            entrant.model = None
            return
        if self._loses(entrant.rough):
            entrant.why, entrant.model = "slower", None

    def _judge(self, entrant: Entrant, answers: np.ndarray, calibrated: float) -> None:
        if self._source.model.header.regression:
            with np.errstate(all="ignore"):
                seen = Agreement(answers, self._reference, True, None)
            entrant.share, entrant.largest = seen.share, seen.largest_share
            entrant.within = entrant.share <= self.budget.share
        else:
            entrant.changed = changed = self._changed(answers != self._reference, None)
            assert changed is not None
            entrant.share, entrant.upper = changed.share, bound(changed.different, changed.rows)
            entrant.within = self.budget.permits(changed)
            if entrant.exact:
                entrant.upper = 0.0
            elif calibrated:  # the method has tested it; the fitted rows count here, too
                entrant.upper = calibrated
                entrant.within = not self.budget.surely_exceeded(changed)
        if entrant.model is not None and entrant.model.certified and not entrant.model.reduced:
            entrant.proven = self._rows.proven(entrant.model)
        if not entrant.within:
            shown = entrant.share > self.budget.share or entrant.changed is None
            entrant.why = "over the budget" if shown else "not shown to be within the budget"

    def _changed(self, differ: np.ndarray, numbers: "np.ndarray | None") -> "Changed | None":
        labels = self._reference if numbers is None else self._reference[numbers]
        return changed_labels(self._source.model.header, labels, differ)

    # ---- the fastest

    def _loses(self, rough: float) -> bool:
        known = [each.rough for each in (self.exact, *self.entrants) if each.within and each.model is not None]
        reading = self.reading
        return reading + rough > _SURELY_SLOWER * (reading + min(known))

    def _pick(self, inside: "list[Entrant]") -> Entrant:
        # The exact model wins if it is as fast; among equals, the one that changes fewest labels.
        reading = self.reading

        def seconds(each: Entrant) -> float:
            return reading + each.seconds

        faster = [each for each in inside if seconds(each) <= FASTER * seconds(self.exact)]
        best = min(map(seconds, faster), default=inf)
        return min(
            (each for each in faster if FASTER * seconds(each) <= best),
            key=lambda each: (each.share, seconds(each)),
            default=self.exact,
        )


def _next(search: Search, result: "bool | None" = None) -> "Iterator[Attempt]":
    try:
        yield search.send(result)
    except StopIteration:
        return
