import os
import sys
from contextlib import nullcontext

import click

from fastsvm_cli.console.files import check_outputs, summary_stream
from fastsvm_cli.console.options import FileCommand, data_options, threads_option


@click.command("predict", cls=FileCommand)
@click.option(
    "-b",
    "--probability",
    type=click.IntRange(0, 1),
    default=0,
    show_default=True,
    help="1: predict probabilities too, as svm-predict -b 1.",
)
@click.option("-q", "--quiet", is_flag=True, help="No summary, no warnings, no progress bar.")
@click.option(
    "--values",
    is_flag=True,
    help=(
        "Append the decision values to every row: one per pair of classes, in the order of the model's labels (1/2,"
        " 1/3, ..., 2/3, ...); then, from a certified model, their radii."
    ),
)
@click.option(
    "--evaluations",
    is_flag=True,
    help=(
        "With a model of fastsvm order: end every row with the number of kernel evaluations it took, as often as they"
        " were done."
    ),
)
@click.option(
    "--exact",
    "exact_file",
    metavar="MODEL",
    help=(
        "The LIBSVM model that MODEL_FILE was compiled from (with --certify): rows whose label is not proven are"
        " evaluated with it, so that every label is svm-predict's."
    ),
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    metavar="E",
    help=(
        "For regression. With --exact: evaluate the rows whose radius exceeds E (--open-rows: write them). With "
        "an ordered model: stop as soon as a value is proven within E of svm-predict's."
    ),
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="K",
    help=(
        "With a model of fastsvm order --method geometry: stop every row after K points. --values then prints value,"
        " radius and the probability that it is positive, as DeCoste's eq. (32); labels may differ from svm-predict's"
        " where the radius reaches beyond zero."
    ),
)
@click.option("--json", "as_json", is_flag=True, help="The summary as one line of JSON.")
@click.option(
    "--on-bad-row",
    type=click.Choice(["stop", "skip", "nan"]),
    default="stop",
    show_default=True,
    help=(
        "What becomes of a line that is no row, or a row that the model cannot evaluate. stop: it ends the run. skip:"
        " it is left out. nan: a line of nan stands in its place. With the last two, the first ten are named, all are"
        " counted."
    ),
)
@click.option(
    "--resume",
    is_flag=True,
    help=(
        "Keep what is finished in OUTPUT_FILE.partial until the end: if the run is stopped, the same command goes on "
        "from there. For files only."
    ),
)
@click.option(
    "--open-rows",
    "open_file",
    metavar="FILE",
    help=(
        "Write the rows whose label a certified model's radii leave open, as LIBSVM data with their line numbers (1"
        " 3:0.5 # 17). With --exact these are the rows that were evaluated exactly, without it those that would have to"
        " be. Rows of --unlabelled data get the label 0."
    ),
)
@click.option(
    "--outside-rows",
    "outside_file",
    metavar="FILE",
    help="Write the rows outside the bound of an RBF expansion (Claesen et al., eq. 3.11) likewise.",
)
@threads_option
@data_options
@click.argument("test_file")
@click.argument("model_file")
@click.argument("output_file", required=False)
def command(
    probability,
    quiet,
    values,
    evaluations,
    exact_file,
    tolerance,
    steps,
    as_json,
    on_bad_row,
    resume,
    open_file,
    outside_file,
    threads,
    dense,
    delimiter,
    unlabelled,
    max_line,
    test_file,
    model_file,
    output_file,
):
    """Predict the rows of TEST_FILE with any model file, exact or compiled.

    A drop-in for svm-predict: the same arguments, output lines and summary. TEST_FILE may be - (standard input), and
    may be compressed with gzip, bzip2, xz or zstd. Without OUTPUT_FILE (or with -), rows go to standard output and the
    summary to standard error; rows are written as they arrive.

    \b
      fastsvm predict test.txt train.model.approx out
      zcat big.gz | fastsvm predict - train.model.approx | sort | uniq -c
      fastsvm predict --open-rows open.txt test.txt train.model.approx out
    """
    from fastsvm_cli import _native
    from fastsvm_cli.console.fallback import ExactFile, fallback
    from fastsvm_cli.console.progress import Progress, bytes_read
    from fastsvm_cli.errors import ModelFormatError
    from fastsvm_cli.models import check_start, parse_model
    from fastsvm_cli.prediction.pipeline import columns, predict
    from fastsvm_cli.prediction.scores import summary_lines, summary_values
    from fastsvm_cli.text.bad_rows import BadRows
    from fastsvm_cli.text.blocks import Blocks, Place
    from fastsvm_cli.text.data import read_bytes
    from fastsvm_cli.text.fingerprint import fingerprint
    from fastsvm_cli.text.output import Output, demand_standard_output, is_standard_output

    if test_file == "-" and model_file == "-":
        raise click.UsageError("TEST_FILE and MODEL_FILE cannot both be standard input.")
    if resume and (open_file is not None or outside_file is not None):
        option = "--outside-rows" if open_file is None else "--open-rows"
        raise click.UsageError(f"--resume keeps the lines of OUTPUT_FILE alone: it does not go with {option}.")
    if resume:
        _check_files(test_file, output_file)
    output_file = "-" if output_file is None else output_file
    output_files = [output_file, *(file for file in (open_file, outside_file) if file is not None)]
    check_outputs(output_files, test_file, model_file, exact_file)
    if as_json and not quiet and not any(map(is_standard_output, output_files)):
        demand_standard_output()
    _native.set_threads(threads)
    exact_model = ExactFile(exact_file) if exact_file is not None else None  # read beside the other one
    text = read_bytes(model_file, lambda start: check_start(start, model_file))
    model, digest = parse_model(text, model_file), fingerprint(text) if resume else None
    del text
    header = model.header
    if dense and header.kernel_type == "precomputed" and not model.ordered:
        raise click.UsageError("--dense does not go with a precomputed kernel, whose rows carry serial numbers.")
    if probability and not header.has_probability:
        raise click.ClickException(
            f"{model_file}: the model has no probability estimates; train it with svm-train -b 1"
        )

    if steps is not None:
        stopped = model.stopped_after(steps)
        if stopped is None:
            raise click.UsageError(
                f"--steps goes with a model of fastsvm order --method geometry, which {model_file} is not."
            )
        if probability:
            raise click.UsageError("--steps stops before the value that -b 1 needs.")
        model = stopped
    if evaluations and not model.ordered:
        why = f"goes with a model of fastsvm order, which {model_file} is not"
        raise click.UsageError(f"--evaluations {why}: others evaluate as much for every row.")
    proven_within = model.ordered and header.regression and exact_file is None and open_file is None
    within = tolerance if proven_within else None
    if within is not None and (steps is not None or values or probability):
        raise click.UsageError("--tolerance stops a row early: it does not go with --steps, --values or -b 1.")
    if open_file is not None and probability and model.reduced and exact_model is None:
        why = "a reduced set has probability parameters of its own"
        raise click.UsageError(f"--open-rows with -b 1 needs --exact: {why}.")
    if outside_file is not None and not model.bounded:
        why = "the model has no bound (eq. 3.11): only RBF expansions, from fastsvm approx, have one"
        raise ModelFormatError(model_file, why)
    to_file = all(_is_plain_file(file) for file in output_files)
    exact = fallback(
        model,
        model_file,
        exact_model,
        tolerance if within is None else None,
        wait=resume or not to_file,
        open_rows=open_file is not None,
    )
    if exact is not None and probability and model.reduced:
        header = exact.model.header
    if exact is not None and probability and header.classification and header.nr_class > 2 and not quiet:
        print(
            "Note: probabilities of more than two classes are coupled by an iteration that proves nothing: every row is"
            " evaluated exactly.",
            file=sys.stderr,
        )

    open_tolerance = tolerance if open_file is not None and exact is None and tolerance is not None else 0.0
    report = summary_stream(*output_files)

    def say(line):
        if not quiet and not as_json:
            print(line, file=report)

    def warn(line):
        if not quiet:
            print(line, file=sys.stderr)

    if header.has_probability and not probability:
        say("Model supports probability estimates, but disabled in prediction.")
    if probability and header.regression:
        assert header.probA is not None  # it has probability estimates
        sigma = _native.format_g(header.probA[0])
        say(
            "Prob. model for test data: target value = predicted value + z,\nz: Laplace distribution"
            f" e^(-|z|/sigma)/(2sigma),sigma={sigma}"
        )

    bad_rows = None
    if on_bad_row != "stop":
        width = columns(model, header, probability=bool(probability), values=values, evaluations=evaluations)
        nan = b" ".join([b"nan"] * width) + b"\n"
        bad_rows = BadRows(test_file, nan if on_bad_row == "nan" else b"", lambda message: warn(f"Warning: {message}"))
    place = Place()

    def open_output():
        if not resume:
            return Output(output_file)
        from fastsvm_cli.prediction.resume import Origin, ResumableOutput

        options = {"-b": probability, "--values": values, "--evaluations": evaluations}
        options |= {"--exact": exact_file is not None}
        options |= {"--tolerance": tolerance, "--steps": steps}
        options |= {"--dense": dense, "--delim": delimiter, "--unlabelled": unlabelled}
        assert digest is not None  # --resume asks for it
        origin = Origin(test_file, model_file, digest, options, on_bad_row, max_line)
        inputs = [file for file in (test_file, model_file, exact_file) if file is not None]
        return ResumableOutput(output_file, inputs, origin, place, bad_rows, labelled=not unlabelled, say=warn)

    def rows_output(file):
        return nullcontext() if file is None else Output(file)

    rows_on_screen = any(map(is_standard_output, output_files)) and sys.stdout.isatty()
    with (
        Progress("predict", quiet=quiet or rows_on_screen) as progress,
        open_output() as output,
        rows_output(open_file) as open_rows,
        rows_output(outside_file) as outside_rows,
    ):
        if not resume or not output.whole:
            going_on = {"tally": output.tally, "head": not output.begun, "on_chunk": output.on_chunk} if resume else {}
            with Blocks(
                test_file,
                labelled=not unlabelled,
                dense=dense,
                delimiter=delimiter,
                max_line=max_line,
                on_read=bytes_read(test_file, progress),
                place=place,
                bad_rows=bad_rows,
            ) as blocks:
                tally = predict(
                    model,
                    blocks,
                    output.write,
                    path=test_file,
                    probability=bool(probability),
                    values=values,
                    evaluations=evaluations,
                    labelled=not unlabelled,
                    exact=exact,
                    tolerance=within,
                    bad_rows=bad_rows,
                    write_open=open_rows.write if open_rows is not None else None,
                    open_tolerance=open_tolerance,
                    write_outside=outside_rows.write if outside_rows is not None else None,
                    **going_on,
                )
        else:
            tally = output.tally

    if as_json:
        import json

        summary: dict[str, object] = {"rows": tally.rows}
        if bad_rows is not None:
            summary["bad_rows"] = bad_rows.count
        if tally.score is not None:
            summary.update(summary_values(header, tally.score))
        if model.bounded:
            summary["rows_outside_bound"] = tally.outside
        if exact is not None:
            summary.update(rows_proven=tally.rows - tally.evaluated, rows_evaluated=tally.evaluated)
        if open_file is not None:
            summary["rows_open"] = tally.undecided if exact is None else tally.evaluated
        if model.proves or exact is not None:
            summary["rows_by_reference_sum"] = tally.reference_rows
        if model.ordered:
            summary.update(
                kernel_evaluations=tally.kernel_evaluations, kernel_evaluations_of_exact=tally.rows * header.total_sv
            )
            summary["kernel_evaluations_per_row"] = tally.kernel_evaluations / tally.rows if tally.rows else None
        if steps is not None:
            summary["rows_decided"] = tally.rows - tally.undecided
        if not quiet:
            print(json.dumps(summary), file=report)
        return
    if tally.score is not None:
        for line in summary_lines(header, tally.score):
            say(line)
    if bad_rows is not None and bad_rows.count:
        share = f"{bad_rows.count} of {bad_rows.count + tally.rows} lines"
        warn(f"Bad rows: {share}, {'each a line of nan' if on_bad_row == 'nan' else 'left out'}.")
    if exact is not None and not quiet:
        proven = tally.rows - tally.evaluated
        share = f" ({100 * proven / tally.rows:.4g} %)" if tally.rows else ""
        print(
            f"Proven: {proven} of {tally.rows} rows{share}; {tally.evaluated} evaluated exactly, {tally.reference_rows}"
            " of them by the reference sum.",
            file=sys.stderr,
        )
    elif model.ordered and not quiet:
        _say_saved(model, tally, steps, within)
    elif open_file is not None and not quiet:
        proven = tally.rows - tally.undecided
        share = f" ({100 * proven / tally.rows:.4g} %)" if tally.rows else ""
        print(f"Proven: {proven} of {tally.rows} rows{share}; {tally.undecided} left open.", file=sys.stderr)
    elif tally.outside and not quiet:
        percent = 100 * tally.outside / tally.rows
        print(
            f"Note: {tally.outside} of {tally.rows} rows ({percent:.3g} %) are outside the bound of the expansion"
            " (Claesen et al., eq. 3.11): nothing is known of how near their values are to the exact model's. fastsvm"
            " bench tells how many labels differ.",
            file=sys.stderr,
        )


def _is_plain_file(path: str) -> bool:
    from fastsvm_cli.text.output import is_standard_output

    return not is_standard_output(path) and (os.path.isfile(path) or not os.path.exists(path))


def _check_files(test_file: str, output_file: "str | None") -> None:
    """What can be gone on with, after a stop, is a file."""
    from fastsvm_cli.text.partial import can_be_kept

    kinds = (os.path.isfile, os.path.isdir)  # a folder, and what is not there, is named where it is opened
    if test_file == "-" or (os.path.exists(test_file) and not any(kind(test_file) for kind in kinds)):
        why = "standard input and pipes cannot be read again"
        raise click.UsageError(f"--resume needs a TEST_FILE that is a file: {why}.")
    if not can_be_kept(output_file):
        raise click.UsageError("--resume needs an OUTPUT_FILE that is a file, to keep what is finished beside it.")


def _say_saved(model, tally, steps, within):
    whole = tally.rows * model.header.total_sv
    share = f" ({100 * (1 - tally.kernel_evaluations / whole):.4g} % saved)" if whole else ""
    print(f"Kernel evaluations: {tally.kernel_evaluations} of {whole}{share}.", file=sys.stderr)
    if steps is not None and not model.header.regression:
        decided = tally.rows - tally.undecided
        part = f" ({100 * decided / tally.rows:.4g} %)" if tally.rows else ""
        print(f"Decided: {decided} of {tally.rows} rows{part} after {steps} points.", file=sys.stderr)
    elif model.header.regression and within is None and steps is None:
        print(
            "Note: values of a regression model are evaluated in full; --tolerance E stops each as soon as it is"
            " within E.",
            file=sys.stderr,
        )
