"""From a chunk of rows to the lines that answer it: decision values, the exact model where they leave a row open,
predictions, text."""

from _thread import allocate_lock
from collections.abc import Callable, Iterator

from fastsvm_cli import _native
from fastsvm_cli.errors import RowError
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.wanted import Wanted
from fastsvm_cli.text.data import MOST_VALUES, smaller_chunks
from fastsvm_cli.text.header import Header


class Fallback:
    """The exact model behind a certified one, which evaluates the rows that the radii leave open.

    load: reads it; called when the first row needs it, on whatever thread that is. Of a reduced set it is the plain()
    model. tolerance: the radius that a regression value may keep. check: called before anything is written, with False,
    and at the end, with True; it raises where what `load` would read is not the exact model."""

    def __init__(
        self, load: Callable[[], Model], tolerance: float = 0.0, check: "Callable[[bool], None]" = lambda at_end: None
    ):
        self._load, self.tolerance, self.check = load, tolerance, check
        self._model: Model | None = None
        self._lock = allocate_lock()

    @property
    def model(self) -> Model:
        """The exact model, read once, whichever thread asks first."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


class Request:
    """What is asked about every row: the options of `predict`, and what follows from them.

    probability, values, evaluations, exact, tolerance, open_tolerance: as of pipeline.predict. open_rows, outside_rows:
    whether the rows left open, and those outside the bound, are asked for. around: go on around rows that cannot be
    evaluated.
    """

    def __init__(
        self,
        model: Model,
        *,
        probability: bool = False,
        values: bool = False,
        evaluations: bool = False,
        exact: "Fallback | None" = None,
        tolerance: "float | None" = None,
        open_rows: bool = False,
        open_tolerance: float = 0.0,
        outside_rows: bool = False,
        around: bool = False,
    ):
        self.model, self.exact, self.around = model, exact, around
        self.probability, self.values, self.evaluations = probability, values, evaluations
        self.open_rows, self.outside_rows = open_rows, outside_rows
        # The exact model's probabilities, where those of a reduced set were fitted anew.
        self.header = exact.model.header if exact is not None and probability and model.reduced else model.header
        self.task = self.header.task()
        self.units = model.carried
        # Conversion to raw labels rounds: an ordered model's answer that exceeds the tolerance is evaluated again.
        self.answer_within = tolerance if self.units is not None and self.units.labels_back is not None else None
        self.with_radius = model.certified and (values or exact is not None or model.ordered or open_rows)
        self.with_radius = self.with_radius or self.answer_within is not None
        # Of the rows that are left open only the exact model's label is wanted, if nothing else is printed.
        self.elects = exact is not None and self.header.elects and not (probability or values)
        self.stopped = model.ordered and not model.proves
        self.settled_within = open_tolerance if exact is None else exact.tolerance
        self.open_tolerance = open_tolerance
        if tolerance is not None:
            self.wanted = Wanted.within(tolerance if self.units is None else self.units.before(tolerance))
        elif probability:
            self.wanted = Wanted.values(_thresholds(self.header), _odds(self.header))
        else:
            self.wanted = Wanted.values() if values else Wanted.labels()

    @property
    def head(self) -> bytes:
        """What stands before the first row, or nothing."""
        header = self.header
        if not self.probability or header.regression:
            return b""
        if not header.classification:
            return b"label normal outlier\n"
        return f"labels {' '.join(map(str, header.label or []))}\n".encode()


class Answer:
    """What a model answers for a chunk of rows.

    task: the model's. chunk: the rows that could be evaluated. bad: (row, why) of the others, where the run goes on
    around them. fault: (line, why) of the first row behind those of `chunk`, which could not be evaluated and ends the
    run; or None. lines: the output lines of the chunk's rows. predictions: the same as numbers. open_rows,
    outside_rows: rows of the chunk that the radii leave open, and that are outside the bound; empty where nobody asked.
    outside, evaluated, reference_rows, kernel_evaluations, undecided: as of pipeline.Tally."""

    def __init__(self, chunk: _native.Chunk, task: _native.Task):
        self.chunk, self.task, self.lines, self.predictions = chunk, task, b"", _native.Predictions()
        self.bad: list[tuple[int, str]] = []
        self.fault: tuple[int, str] | None = None
        self.open_rows: list[int] = []
        self.outside_rows: list[int] = []
        self.outside = self.evaluated = self.reference_rows = self.kernel_evaluations = self.undecided = 0
        self.grid_rows = self.single_rows = self.double_rows = 0

    def count_rungs(self, decisions: _native.Decisions) -> None:
        """Add what settled the rows of an exact model."""
        grid, single, double, _ = decisions.rung_rows
        self.grid_rows += grid
        self.single_rows += single
        self.double_rows += double
        self.reference_rows += decisions.reference_rows


class Answerer:
    """Answers chunks, one at a time; each thread has one of its own, whose memory is used again. decisions: of the
    chunk that was answered last."""

    def __init__(self, request: Request):
        self.request = request
        self.decisions = request.model.decisions(request.wanted, request.with_radius)
        with_radius = request.with_radius and not request.elects
        self._again = _native.Decisions(request.model.pairs, with_radius, request.elects)

    def at_once(self, chunk: _native.Chunk) -> bool:
        """Whether the decision values of these rows are few enough to be held together."""
        return self.decisions.labels_alone or chunk.rows * self.request.model.pairs <= MOST_VALUES

    def answers(self, chunk: _native.Chunk) -> "Iterator[Answer]":
        """The answers to a chunk, in as many parts as its decision values must be held in."""
        if self.at_once(chunk):
            yield self.answer(chunk)
        else:
            yield from map(self.answer, smaller_chunks([chunk], self.request.model.pairs))

    def answer(self, chunk: _native.Chunk) -> Answer:
        """The answer to a chunk whose decision values can be held together (`at_once`), with its lines."""
        request, answer = self.request, self.predictions(chunk)
        answer.lines = _native.format_lines(
            request.task,
            answer.predictions,
            self.decisions if request.values else None,
            request.stopped,
            self.decisions if request.evaluations else None,
        )
        return answer

    def predictions(self, chunk: _native.Chunk) -> Answer:
        """The same without lines. What they would be made of stands in `decisions` until the next chunk."""
        request, decisions = self.request, self.decisions
        answer = Answer(chunk, request.task)
        try:
            self._evaluate(chunk)
        except RowError as fault:
            if request.around:
                chunk, answer.bad = self._evaluable(chunk)
            else:  # the rows before it are answered
                answer.fault = chunk.line_numbers([fault.row])[0], fault.why
                chunk = chunk.slice(0, fault.row)
                self._evaluate(chunk)
            answer.chunk = chunk
        answer.outside = decisions.outside
        answer.count_rungs(decisions)
        if request.stopped:
            answer.undecided = len(_native.unsettled(request.task, decisions, False, request.open_tolerance))
        if request.outside_rows and decisions.outside:
            answer.outside_rows = decisions.outside_rows
        if request.exact is not None or request.open_rows:
            answer.open_rows = _native.unsettled(request.task, decisions, request.probability, request.settled_within)
        if request.open_rows and not request.stopped:
            answer.undecided += len(answer.open_rows)
        elected = self._ask_exact(answer) if request.exact is not None and answer.open_rows else None
        _native.predict(request.task, decisions, request.probability, answer.predictions)
        if elected is not None:
            answer.predictions.put(answer.open_rows, elected)
        if request.model.ordered:
            answer.kernel_evaluations = decisions.kernel_evaluations
        return answer

    def _evaluate(self, chunk: _native.Chunk) -> None:
        request = self.request
        request.model.decision_values(chunk, self.decisions, request.wanted)
        request.model.answer(self.decisions)
        if request.answer_within is None:
            return
        far = _native.unsettled(request.task, self.decisions, False, request.answer_within)
        if far:
            again = _native.Decisions(request.model.pairs)
            request.model.reference_values(chunk.select(far), again)
            again.reference_rows = len(far)
            request.model.answer(again)
            self.decisions.put(far, again)

    def _evaluable(self, chunk: _native.Chunk) -> "tuple[_native.Chunk, list[tuple[int, str]]]":
        """The rows of the chunk that can be evaluated, and have been when this returns, and the others: (row, why).
        They are tried in windows, which double where all is well: a row is tried a few times at most, however many are
        bad."""
        good: list[int] = []
        bad: list[tuple[int, str]] = []
        at, window = 0, 1
        while at < chunk.rows:
            rows = list(range(at, min(at + window, chunk.rows)))
            try:
                self._evaluate(chunk.select(rows))
            except RowError as fault:
                good += rows[: fault.row]
                bad.append((at + fault.row, fault.why))
                at, window = at + fault.row + 1, 1
            else:
                good += rows
                at, window = at + len(rows), 2 * window
        chunk = chunk.select(good)
        self._evaluate(chunk)
        return chunk, bad

    def _ask_exact(self, answer: Answer) -> "_native.Predictions | None":
        """The exact model's decision values for the rows left open, or, where that is all that is wanted, its
        labels."""
        request, decisions, again, rows = self.request, self.decisions, self._again, answer.open_rows
        assert request.exact is not None
        exact, part = request.exact.model, answer.chunk.select(rows)
        answer.evaluated = len(rows)
        if request.elects:
            exact.decision_values(part, again)
            again.count(exact.header.total_sv)
            decisions.charge(rows, again)
            answer.count_rungs(again)
            elected = _native.Predictions()
            _native.predict(request.task, again, False, elected)
            return elected
        exact.decision_values(part, again, request.wanted)
        request.model.answer(again)
        again.count(exact.header.total_sv)
        decisions.put(rows, again)
        answer.count_rungs(again)
        # What the rounding of the fast evaluation leaves open in turn: LIBSVM's own order of operations.
        open_still = [
            row
            for row in _native.unsettled(request.task, again, request.probability, request.exact.tolerance)
            if again.radius[row, 0] > 0
        ]
        answer.reference_rows += len(open_still)
        if open_still:
            exact.reference_values(part.select(open_still), again)
            request.model.answer(again)
            again.count(exact.header.total_sv)
            decisions.put([rows[row] for row in open_still], again)
        return None


def _odds(header: Header) -> "tuple[list[float], list[float]] | None":
    """A and B of every pair's sigmoid, where decision values make probabilities."""
    if header.classification and header.pairs and header.probA and header.probB:
        return header.probA, header.probB
    return None


def _thresholds(header: Header) -> "list[tuple[float, float]]":
    """Where the answer of a model with one decision function jumps, besides 0, with a margin for the rounding of
    what comes after: the value of even odds, the marks of a density."""
    if header.classification and header.pairs == 1 and header.probA and header.probB and header.probA[0] != 0:
        a, b = header.probA[0], header.probB[0]
        # 1 / (1 + e^t) and one minus it are both 1/2 to rounding for |t| < 1e-15; t = a f + b itself rounds by a few
        # ulps of b.
        return [(-b / a, (1e-14 + 1e-15 * abs(b)) / abs(a))]
    return [(mark, 0.0) for mark in header.prob_density_marks or []] if header.svm_type == "one_class" else []
