"""Prediction of rows, in order (native/engine/run.h)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli._native import RunCounts as RunCounts
from fastsvm_cli.prediction.answers import Fallback as Fallback
from fastsvm_cli.prediction.answers import Predictor
from fastsvm_cli.text.byte_source import Content

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
    chunks: "Iterable[_native.Chunk]",
    write: Callable[[bytes], None],
    *,
    path: str,
    labelled: bool = True,
) -> RunCounts:
    """Write the line of every row in memory, in order. Raises DataFormatError for a row that cannot be evaluated."""
    run_counts = RunCounts(labelled)
    predictor.write(chunks, run_counts, write, path)
    return run_counts
