"""Prediction of rows, in order (native/engine/run.h)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli._native import RunCounts as RunCounts
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.prediction.answers import Audit as Audit
from fastsvm_cli.prediction.answers import Fallback as Fallback
from fastsvm_cli.prediction.answers import Predictor
from fastsvm_cli.text.byte_source import Content
from fastsvm_cli.text.line_blocks import BadRows, LineBlocks

if TYPE_CHECKING:
    from fastsvm_cli.prediction.resume import ResumableOutput
    from fastsvm_cli.text.output import Output


def answer_file(
    prediction: _native.Prediction,
    path: str,
    output: "Output | ResumableOutput",
    open_rows: "Output | None" = None,
    outside_rows: "Output | None" = None,
    *,
    on_read: "Callable[[int], None] | None" = None,
    on_chunk: "Callable[[], None] | None" = None,
    head: bool = True,
) -> None:
    """Answer the rows of a file, from the prediction's position on.

    open_rows, outside_rows: receive open rows, or those outside the bound of eq. (3.11), as LIBSVM data with line
    numbers. on_read: called with the bytes read so far. on_chunk: called after a chunk's lines. head: whether to write
    the lines before the first row.
    """
    write_beside = [None if each is None else each.write for each in (open_rows, outside_rows)]
    with Content(path, prediction.position.offset, on_read) as content:
        prediction.answer(content.read_into, content.ready, output.write, *write_beside, on_chunk, head)


def predict(
    predictor: Predictor,
    rows: "Iterable[_native.Chunk] | LineBlocks",
    write: Callable[[bytes], None],
    *,
    path: str,
    labelled: bool = True,
    bad_rows: "BadRows | None" = None,
    run_counts: "RunCounts | None" = None,
    head: bool = True,
    on_chunk: "Callable[[RunCounts], None] | None" = None,
    write_open: "Callable[[bytes], None] | None" = None,
    write_outside: "Callable[[bytes], None] | None" = None,
) -> RunCounts:
    """Write every row's line, in order, in constant memory. Raises DataFormatError for bad rows without `bad_rows`.

    predictor: with `around` if there are `bad_rows`, and `open_rows` and `outside_rows` if these are written. rows:
    chunks, each on all threads; or blocks of a file, each on one. run_counts: of earlier rows, to add to. head: whether
    to write the lines before the first row. on_chunk: called after a chunk's lines. write_open, write_outside: receive
    open rows, or those outside the bound of eq. (3.11), as LIBSVM data with line numbers.
    """
    counted, exact_user = run_counts or RunCounts(labelled), predictor.exact or predictor.audit
    run = _native.Run(
        predictor,
        counted,
        bad_rows,
        write,
        write_open,
        write_outside,
        before_writing=None if exact_user is None else lambda: exact_user.check(False),
        after_chunk=None if on_chunk is None else lambda: on_chunk(counted),
    )
    try:
        if head:
            run.begin()
        if isinstance(rows, LineBlocks):
            run.answer_blocks(rows.native)
        else:
            for chunk in rows:
                run.answer_chunk(chunk)
    except _native.RunError as error:
        raise DataFormatError(path, *error.args) from None
    if exact_user is not None:
        exact_user.check(True)
    return counted
