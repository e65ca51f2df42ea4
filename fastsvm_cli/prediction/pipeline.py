"""Rows -> answers -> lines, in order, for every model, with the exact model to fall back on."""

from collections.abc import Callable, Iterable
from time import perf_counter

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.models.base import Model
from fastsvm_cli.prediction.answers import Answer, Answerer, Fallback, Request
from fastsvm_cli.prediction.side_by_side import SideBySide, size_for
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.header import Header
from fastsvm_cli.text.line_blocks import BLOCK_BYTES, LineBlock, LineBlocks

#: How long a thread should work on a block: long enough that handing it over does not count, short enough that the last
#: block of a file does not keep one thread busy while the others have nothing left to do.
_BLOCK_SECONDS = 0.01
_LEAST_BLOCK_BYTES = 1 << 16


class Tally:
    """Counts over the rows of a run.

    rows: all that were answered. outside: those outside the bound of Claesen et al., eq. (3.11). evaluated: those that
    the radii did not settle, so that the exact model evaluated them. reference_rows: those that only LIBSVM's own order
    of operations decides. grid_rows, single_rows, double_rows: those that an exact model's cheaper evaluations settled:
    from whole numbers, in single and in double precision. kernel_evaluations: all of them together, of an ordered
    model. undecided: rows whose answer the radii leave open, of a model that stops early (--steps) or where such rows
    are written elsewhere (--open-rows). unknown_labels: rows whose own label the model never answers, zero_labels:
    those of them whose label is 0. score: svm-predict's sums, or None for unlabelled data."""

    #: The fields of `score`.
    SUMS = ("correct", "total", "error", "sump", "sumt", "sumpp", "sumtt", "sumpt")

    def __init__(self, labelled: bool):
        self.rows = self.outside = self.evaluated = self.reference_rows = self.kernel_evaluations = self.undecided = 0
        self.grid_rows = self.single_rows = self.double_rows = 0
        self.unknown_labels = self.zero_labels = 0
        self.score = _native.Score() if labelled else None

    def add(self, answer: Answer, task: "_native.Task") -> None:
        """Count the rows of an answer. task: the model's."""
        self.rows += answer.chunk.rows
        self.outside += answer.outside
        self.evaluated += answer.evaluated
        self.reference_rows += answer.reference_rows
        grid, single, double, _ = answer.rung_rows
        self.grid_rows += grid
        self.single_rows += single
        self.double_rows += double
        self.kernel_evaluations += answer.kernel_evaluations
        self.undecided += answer.undecided
        if self.score is not None:
            self.score.add(answer.chunk, answer.predictions)
            unknown, zeros = _native.unknown_labels(task, answer.chunk)
            self.unknown_labels += unknown
            self.zero_labels += zeros

    def values(self) -> "dict[str, int | float]":
        """Its counts and sums: what a checkpoint, or a receipt, holds."""
        counts = {name: value for name, value in vars(self).items() if name != "score"}
        return counts if self.score is None else {**counts, **{name: getattr(self.score, name) for name in self.SUMS}}

    def add_values(self, values: "dict[str, int | float]") -> None:
        """Count the rows of another Tally, by its `values`; bit for bit the same one, if no row has been counted.
        Raises KeyError where one is not there."""
        for name in self.values():
            owner = self.score if name in self.SUMS else self
            setattr(owner, name, getattr(owner, name) + values[name])


class _Job:
    """A block of lines, to be parsed and answered on any thread.

    answer: once it is done; None where its decision values are too many to be held while it waits for its turn.
    seconds: that it took."""

    def __init__(self, block: LineBlock):
        self.block = block
        self.answer: Answer | None = None
        self.seconds = 0.0

    def do(self, answerer: Answerer) -> None:
        start = perf_counter()
        self._do(answerer)
        self.seconds = perf_counter() - start

    def _do(self, answerer: Answerer) -> None:
        self.block.parse()
        chunk = self.block.chunk
        if chunk is not None and answerer.at_once(chunk):
            self.answer = answerer.answer(chunk)


def predict(
    model: Model,
    rows: "Iterable[_native.Chunk] | LineBlocks",
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
    """Predict every row and write its line, in order; memory does not grow with the input.

    rows: in chunks, each done on all threads, one after the other; or in the blocks of a file, which are parsed and
    done side by side, a thread each. path: the data's, for messages. probability: as `-b 1`. values: append decision
    values, and radii where the model has them.
    evaluations: append the number of kernel evaluations, of an ordered model.
    exact: evaluate the rows that a certified model leaves open, so that every answer is svm-predict's. tolerance: what
    a value of an ordered regression model may be off by, so that it can stop early. bad_rows: what becomes of rows that
    cannot be read or evaluated, and those of the blocks; without it they raise DataFormatError. tally: of the rows
    before these, which is added to. head: whether to write what stands before the first row. on_chunk: called when a
    chunk's lines are written.
    write_open: given the rows whose answer a certified model's radii leave open, as LIBSVM data with line numbers;
    open_tolerance: the radius that a regression value may have where there is no `exact`. write_outside: likewise the
    rows outside the bound of eq. (3.11).
    """
    request = Request(
        model,
        probability=probability,
        values=values,
        evaluations=evaluations,
        exact=exact,
        tolerance=tolerance,
        open_rows=write_open is not None,
        open_tolerance=open_tolerance,
        outside_rows=write_outside is not None,
        around=bad_rows is not None,
    )
    if head and request.head:
        if exact is not None:
            exact.check(False)
        write(request.head)
    tally, task = tally or Tally(labelled), model.header.task()

    def numbered(chunk: _native.Chunk, which: "list[int]") -> bytes:
        lines = chunk.line_numbers(which) if bad_rows is None else bad_rows.lines(which)
        return _native.format_rows(chunk.select(which), lines)

    def finish(answer: Answer) -> None:
        if answer.bad:
            assert bad_rows is not None
            bad_rows.drop(answer.bad)
        tally.add(answer, task)
        if write_outside is not None and answer.outside_rows:
            write_outside(numbered(answer.chunk, answer.outside_rows))
        if write_open is not None:
            if exact is not None:
                exact.check(False)
            if answer.open_rows:
                write_open(numbered(answer.chunk, answer.open_rows))
        if exact is not None:
            exact.check(False)
        lines = answer.lines
        for piece in (lines,) if bad_rows is None else bad_rows.fill(lines, answer.chunk.rows):
            write(piece)
        if answer.fault is not None:
            raise DataFormatError(path, *answer.fault)
        if on_chunk is not None:
            on_chunk(tally)

    answerer = Answerer(request)
    if isinstance(rows, LineBlocks):
        _side_by_side(request, rows, answerer, finish, path)
    else:
        for chunk in rows:
            for answer in answerer.answers(chunk):
                finish(answer)
    if exact is not None:
        exact.check(True)
    return tally


def _side_by_side(
    request: Request, blocks: LineBlocks, answerer: Answerer, finish: "Callable[[Answer], None]", path: str
) -> None:
    """Blocks of a file, each on a thread, finished in order. Raises DataFormatError."""

    def new_worker() -> "Callable[[_Job], None]":
        own = Answerer(request)
        return lambda job: job.do(own)

    with SideBySide(new_worker, _native.get_threads()) as crew:
        for job in crew.run(map(_Job, blocks), blocks.ready):
            block = job.block
            if block.size >= _LEAST_BLOCK_BYTES:
                blocks.size = size_for(_BLOCK_SECONDS, block.size, job.seconds, _LEAST_BLOCK_BYTES, BLOCK_BYTES)
            block.settle()
            if block.chunk is not None and (block.chunk.rows or request.around):
                for answer in answerer.answers(block.chunk) if job.answer is None else (job.answer,):
                    finish(answer)
            if block.fault is not None:
                raise DataFormatError(path, *block.fault)


def columns(
    model: Model, header: Header, *, probability: bool = False, values: bool = False, evaluations: bool = False
) -> int:
    """How many numbers an output line of `predict` has. header: of the model whose probabilities stand in it (of a
    reduced set with --exact, the exact one)."""
    of_probabilities = (
        0 if not probability or header.regression else len(header.label or []) if header.classification else 2
    )
    stopped = model.ordered and not model.proves
    return 1 + of_probabilities + values * model.pairs * (1 + model.certified * (1 + stopped)) + evaluations
