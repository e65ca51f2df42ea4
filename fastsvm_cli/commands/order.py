"""The command ``fastsvm order``."""

import sys
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console.compiler_options import read_exact_model, size_line, write_model
from fastsvm_cli.console.file_checks import summary_stream
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import embedded_scaling, read_scale_file, refuse_twice, say_raw_rows, warn_of_scaling
from fastsvm_cli.errors import FileError, display
from fastsvm_cli.methods.order import METHOD, OrderOptions

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.models.base import ExactModel
    from fastsvm_cli.text.scaling import Scaling


@click.command("order", cls=FileCommand, params=METHOD.Options.parameters())
def command(**parsed):
    """Order support vectors so that rows stop early, with the exact label.

    Takes any LIBSVM model. A row is evaluated until the rest of its sum cannot change the label; the few others are
    evaluated in full. Labels are always svm-predict's. The ordered model contains the exact one, so that no second file
    is needed. The default OUTPUT_FILE is MODEL_FILE.order in the current directory; - is standard output.

    The summary reports a trial, of one thread in memory: on rows of --data, or on support vectors. A classifier's lie
    nearer to the border than most rows, and usually gain less. A warning says if the exact model is faster there.

    \b
      fastsvm order train.model
      fastsvm predict test.txt train.model.order out

    Intervals from 50 points:

    \b
      fastsvm predict --steps 50 --values test.txt train.model.order
    """
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.models.embedded_scaling import check

    options = METHOD.Options(**parsed)
    files = (options.scale_file, options.carry_file, options.y_scale_file)
    options.begin(".order", options.data_file, options.fold_file, options.vectors_file, *files)
    scaling = read_scale_file(options.scale_file)
    source = read_exact_model(options.model_file)
    METHOD.check_model(source.model, options)
    refuse_twice(options.scale_file, source.model, options.model_file)
    ranges = read_scale_file(options.carry_file, options.y_scale_file)
    if ranges is not None and options.own_kernel is None:
        check(ranges, source.model, options.model_file)

    data = _rows(options.data_file, ranges or source.model.row_scaling())
    report = summary_stream(options.output_file)
    with Progress("order", quiet=options.quiet, announced=True) as progress:
        ordered = METHOD.compile(source, options, progress, scaling=scaling).model
    warn_of_scaling(scaling, options.quiet)
    if ranges is not None and options.own_kernel is not None:  # the ordered model has vectors
        check(ranges, ordered, options.model_file)
    ordered.embedded_scaling = embedded_scaling(ranges, options.model_file)
    size = write_model(ordered, options)
    if options.quiet:
        return
    from fastsvm_cli.comparisons.support_vector_trial import trial

    print(f"{ordered.header.total_sv} support vectors, {ordered.ordered_by}", file=report)
    print(size_line(source.size, size, options.output_file), file=report)
    if ranges is not None:
        say_raw_rows(ranges, "embedded", report)
    tried = trial(ordered, ordered.exact, data)
    if tried is None:
        return
    which = "support vectors" if options.data_file is None else f"rows of {display(options.data_file)}"
    print(
        f"Trial on {tried.rows} {which}: {100 * tried.evaluations:.3g} % of the kernel evaluations,"
        f" {tried.speed_up:.3g} times as fast as the exact model in memory.",
        file=report,
    )
    if options.data_file is None:
        farther = "" if ordered.header.regression else "Most rows are farther from the border: "
        print(f"{farther}--data tries the model on rows like those to predict.", file=report)
    if tried.speed_up < 1:
        _warn_of_speed(options, ordered.exact)


def _rows(path: "str | None", scaling: "Scaling | None") -> "Chunk | None":
    if path is None:
        return None
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.text.read_rows import read_chunks

    chunks = list(read_chunks(path, scaling=scaling))
    if not chunks:
        raise FileError(path, "no rows found, expected some to measure on")
    return Chunk.concatenate(chunks)


def _warn_of_speed(options: OrderOptions, exact: "ExactModel") -> None:
    from fastsvm_cli.methods.order.geometry import reason_against

    # triangle was slower than every measured exact model.
    other = options.method != "geometry" and reason_against(exact) is None
    which = "support vectors" if options.data_file is None else "rows"
    print(
        f"Warning: on these {which}, fastsvm predict with the exact model is"
        f" faster{'; try --method geometry' if other else ''}.",
        file=sys.stderr,
    )
