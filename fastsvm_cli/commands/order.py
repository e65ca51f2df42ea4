import sys

import click

from fastsvm_cli.console.exact_model import read_exact_model, size_line, write_model
from fastsvm_cli.console.file_checks import summary_stream
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import carried, read_scale_file, refuse_twice, say_raw_rows, warn_of_scaling
from fastsvm_cli.methods.order import METHOD


@click.command("order", cls=FileCommand, params=METHOD.Options.parameters())
def command(**parsed):
    """Order support vectors so that rows stop early, with the exact label.

    Takes any LIBSVM model. A row is evaluated until the rest of its sum cannot change the label; the few others are
    evaluated in full. Labels are always svm-predict's. The ordered model contains the exact one, so that no second file
    is needed. The default OUTPUT_FILE is MODEL_FILE.order in the current directory; - is standard output.

    The summary reports a trial on the model's own support vectors; a classifier's lie nearer to the border than most
    rows. A warning says if the exact model is as fast.

    \b
      fastsvm order train.model
      fastsvm predict test.txt train.model.order out

    Intervals from 50 points:

    \b
      fastsvm predict --steps 50 --values test.txt train.model.order
    """
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.models.carried import check

    options = METHOD.Options(**parsed)
    files = (options.scale_file, options.carry_file, options.y_scale_file)
    options.begin(".order", options.fold_file, options.vectors_file, *files)
    scaling = read_scale_file(options.scale_file)
    source = read_exact_model(options.model_file)
    METHOD.check_model(source.model, options)
    refuse_twice(options.scale_file, source.model, options.model_file)
    ranges = read_scale_file(options.carry_file, options.y_scale_file)
    if ranges is not None and options.own_kernel is None:
        check(ranges, source.model, options.model_file)

    report = summary_stream(options.output_file)
    with Progress("order", quiet=options.quiet, announced=True) as progress:
        ordered = METHOD.compile(source, options, progress, scaling=scaling).model
    warn_of_scaling(scaling, options.quiet)
    if ranges is not None and options.own_kernel is not None:  # the ordered model has vectors
        check(ranges, ordered, options.model_file)
    ordered.carried = carried(ranges, options.model_file)
    size = write_model(ordered, options)
    if options.quiet:
        return
    from fastsvm_cli.comparisons.on_support_vectors import trial

    print(f"{ordered.header.total_sv} support vectors, {ordered.ordered_by}", file=report)
    print(size_line(source.size, size, options.output_file), file=report)
    if ranges is not None:
        say_raw_rows(ranges, "carried", report)
    tried = trial(ordered, ordered.exact)
    if tried is None:
        return
    print(
        f"Trial on {tried.rows} support vectors: {100 * tried.evaluations:.3g} % of the kernel evaluations,"
        f" {tried.speed_up:.3g} times as fast as the exact model.",
        file=report,
    )
    if tried.speed_up < 1:
        from fastsvm_cli.methods.order.geometry import refusal

        # triangle was slower than every measured exact model.
        other = options.method != "geometry" and refusal(ordered.exact) is None
        print(
            "Warning: no gain is to be expected of this model over fastsvm predict with the exact one"
            f"{'; --method geometry gains at small gamma' if other else ''}.",
            file=sys.stderr,
        )
