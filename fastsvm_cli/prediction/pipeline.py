"""Chunks -> decision values -> predictions -> lines, for every model, with the exact model to fall back on."""

from collections.abc import Callable, Iterable

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, RowError
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.wanted import Wanted
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.data import smaller_chunks
from fastsvm_cli.text.header import Header


class Tally:
    """What was seen on the way. rows; outside: rows outside the bound of eq. (3.11); evaluated: rows the radii did not
    settle, given to the exact model; reference_rows: rows that only LIBSVM's own order of operations decides;
    kernel_evaluations: of an ordered model; undecided: rows whose answer the radii leave open, of a model that stops
    early or where they are written elsewhere; score: svm-predict's sums, or None for unlabelled data."""

    SUMS = ("correct", "total", "error", "sump", "sumt", "sumpp", "sumtt", "sumpt")  # of the score

    def __init__(self, labelled: bool):
        self.rows = self.outside = self.evaluated = self.reference_rows = self.kernel_evaluations = self.undecided = 0
        self.score = _native.Score() if labelled else None


class Fallback:
    """The exact model behind a certified one. load: reads it (of a reduced set the plain() one), called when the
    first row needs it. tolerance: the radius a regression value may keep. check: called before anything is written,
    with False, and at the end, with True; raises if what `load` would read is not that model."""

    def __init__(
        self, load: Callable[[], Model], tolerance: float = 0.0, check: "Callable[[bool], None]" = lambda at_end: None
    ):
        self._load, self.tolerance, self.check = load, tolerance, check
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        if self._model is None:
            self._model = self._load()
        return self._model


def predict(
    model: Model,
    chunks: Iterable[_native.Chunk],
    write: Callable[[bytes], None],
    *,
    path: str,
    probability: bool = False,
    values: bool = False,
    evaluations: bool = False,
    labelled: bool = True,
    exact: "Fallback | None" = None,
    tolerance: "float | None" = None,
    bad_rows: "BadRows | None" = None,
    tally: "Tally | None" = None,
    head: bool = True,
    on_chunk: "Callable[[Tally], None] | None" = None,
    write_open: "Callable[[bytes], None] | None" = None,
    open_tolerance: float = 0.0,
    write_outside: "Callable[[bytes], None] | None" = None,
) -> Tally:
    """Predict every row and write its line, chunk by chunk, in order; memory does not grow with the input.

    path: the data's, for messages. probability: as `-b 1`. values: append decision values, and radii where the model
    has them.
    evaluations: append the number of kernel evaluations, of an ordered model.
    exact: evaluate the rows that a certified model leaves open, so that every answer is svm-predict's. tolerance: what
    a value of an ordered regression model may be off by, so that it can stop early. bad_rows: what becomes of rows that
    cannot be read or evaluated; without it they raise DataFormatError. tally: of the chunks before these, which is
    added to. head: whether to write what stands before the first row. on_chunk: called when a chunk's lines are
    written.
    write_open: given the rows whose answer a certified model's radii leave open, as LIBSVM data with line numbers;
    open_tolerance: the radius that a regression value may have where there is no `exact`. write_outside: likewise the
    rows outside the bound of eq. (3.11).
    """
    # The exact model's probabilities, where those of a reduced set were fitted anew.
    header = exact.model.header if exact is not None and probability and model.reduced else model.header
    task, predictions = header.task(), _native.Predictions()
    with_radius = model.certified and (values or exact is not None or model.ordered or write_open is not None)
    # Of more than two classes the coupled probabilities are the result of an iteration, no continuous function of the
    # decision
    # values: only svm-predict's own numbers are sure to give its own probabilities and label, to the last digit.
    coupled = bool(
        probability and header.classification and header.nr_class > 2 and (model.proves or exact is not None)
    )
    if tolerance is not None:
        wanted = Wanted.within(tolerance)
    elif probability:
        wanted = Wanted.values(_thresholds(header))
    else:
        wanted = Wanted.values() if values else Wanted.labels()
    decisions = model.decisions(wanted, with_radius)
    # Of the rows that are left open only the exact model's label is wanted, if nothing else is printed; it is not read
    # yet, but has the same classes.
    elects = exact is not None and header.classification and header.nr_class > 2 and not (probability or values)
    again, elected = _native.Decisions(model.pairs, with_radius and not elects, elects), _native.Predictions()
    stopped = model.ordered and not model.proves

    def numbered(rows: "list[int]") -> bytes:
        """These rows of the chunk at hand."""
        lines = [chunk.first_line + row for row in rows] if bad_rows is None else bad_rows.lines(rows)
        return _native.format_rows(chunk.select(rows), lines)

    def evaluate(chunk: _native.Chunk) -> None:
        if coupled and exact is None:
            model.reference_values(chunk, decisions)
            decisions.reference_rows = chunk.rows
        else:
            model.decision_values(chunk, decisions, wanted)

    if head and probability and not header.regression:
        if exact is not None:
            exact.check(False)
        write(
            f"labels {' '.join(map(str, header.label or []))}\n".encode()
            if header.classification
            else b"label normal outlier\n"
        )
    tally = tally or Tally(labelled)
    for chunk in chunks if decisions.labels_alone else smaller_chunks(chunks, model.pairs):
        try:
            evaluate(chunk)
        except RowError as fault:
            if bad_rows is None:
                raise DataFormatError(path, chunk.first_line + fault.row, fault.why) from None
            chunk = _evaluable(evaluate, chunk, bad_rows)
        tally.outside += decisions.outside
        tally.reference_rows += decisions.reference_rows
        if stopped:
            tally.undecided += len(_native.unsettled(task, decisions, False, open_tolerance))
        if write_outside is not None and decisions.outside:
            write_outside(numbered(decisions.outside_rows))
        if exact is not None or write_open is not None:
            rows = _native.unsettled(task, decisions, probability, open_tolerance if exact is None else exact.tolerance)
        if write_open is not None:
            tally.undecided += 0 if stopped else len(rows)
            if exact is not None:
                exact.check(False)
            if rows:
                write_open(numbered(rows))
        if exact is not None:
            if rows:
                part = chunk.select(rows)
                tally.evaluated += len(rows)
                open_still = list(range(len(rows))) if coupled else []
                if elects:
                    exact.model.decision_values(part, again)
                    again.count(exact.model.header.total_sv)
                    decisions.charge(rows, again)
                    _native.predict(task, again, False, elected)
                    tally.reference_rows += again.reference_rows
                elif not coupled:
                    exact.model.decision_values(part, again, wanted)
                    again.count(exact.model.header.total_sv)
                    decisions.put(rows, again)
                    # What the rounding of the fast evaluation leaves open in turn: LIBSVM's own order of operations.
                    open_still = [
                        row
                        for row in _native.unsettled(task, again, probability, exact.tolerance)
                        if again.radius[row, 0] > 0
                    ]
                    tally.reference_rows += again.reference_rows
                tally.reference_rows += len(open_still)
                if open_still:
                    exact.model.reference_values(part.select(open_still), again)
                    again.count(exact.model.header.total_sv)
                    decisions.put([rows[row] for row in open_still], again)
        _native.predict(task, decisions, probability, predictions)
        if elects and rows:
            predictions.put(rows, elected)
        if exact is not None:
            exact.check(False)
        if model.ordered:
            tally.kernel_evaluations += decisions.kernel_evaluations
        lines = _native.format_lines(
            task, predictions, decisions if values else None, stopped, decisions if evaluations else None
        )
        for piece in (lines,) if bad_rows is None else bad_rows.fill(lines, chunk.rows):
            write(piece)
        if tally.score is not None:
            tally.score.add(chunk, predictions)
        tally.rows += chunk.rows
        if on_chunk is not None:
            on_chunk(tally)
    if exact is not None:
        exact.check(True)
    return tally


def columns(
    model: Model, header: Header, *, probability: bool = False, values: bool = False, evaluations: bool = False
) -> int:
    """How many numbers a line of `predict` has. header: whose probabilities they are."""
    of_probabilities = (
        0 if not probability or header.regression else len(header.label or []) if header.classification else 2
    )
    stopped = model.ordered and not model.proves
    return 1 + of_probabilities + values * model.pairs * (1 + model.certified * (1 + stopped)) + evaluations


def _evaluable(evaluate: "Callable[[_native.Chunk], None]", chunk: _native.Chunk, bad_rows: BadRows) -> _native.Chunk:
    """The rows of the chunk that can be evaluated, and have been when this returns; the others, for which `evaluate`
    raises RowError, are bad rows. They are tried in windows, which double where all is well: a row is tried a few
    times at most, however many are bad."""
    good: list[int] = []
    bad: list[tuple[int, str]] = []
    at, window = 0, 1
    while at < chunk.rows:
        rows = list(range(at, min(at + window, chunk.rows)))
        try:
            evaluate(chunk.select(rows))
        except RowError as fault:
            good += rows[: fault.row]
            bad.append((at + fault.row, fault.why))
            at, window = at + fault.row + 1, 1
        else:
            good += rows
            at, window = at + len(rows), 2 * window
    bad_rows.drop(bad)
    chunk = chunk.select(good)
    evaluate(chunk)
    return chunk


def _thresholds(header: Header) -> "list[tuple[float, float]]":
    """Where the answer of a model with one decision function jumps, besides 0, with a margin for the rounding of
    what comes after: the value of even odds, the marks of a density."""
    if header.classification and header.pairs == 1 and header.probA and header.probB and header.probA[0] != 0:
        a, b = header.probA[0], header.probB[0]
        # 1 / (1 + e^t) and one minus it are both 1/2 to rounding for |t| < 1e-15; t = a f + b itself rounds by a few
        # ulps of b.
        return [(-b / a, (1e-14 + 1e-15 * abs(b)) / abs(a))]
    return [(mark, 0.0) for mark in header.prob_density_marks or []] if header.svm_type == "one_class" else []
