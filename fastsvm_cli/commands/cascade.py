"""The command ``fastsvm cascade``."""

import sys

import click

from fastsvm_cli.console.compiler_options import read_exact_model, size_line, write_model
from fastsvm_cli.console.file_checks import summary_stream
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import embedded_scaling, read_range, say_raw_rows, warn_of_scaling
from fastsvm_cli.methods.cascade import METHOD


@click.command("cascade", cls=FileCommand, params=METHOD.Options.parameters())
def command(**parsed):
    """Put cheap stages in front of the exact model, calibrated on rows.

    For models of any gamma. Takes RBF, polynomial and sigmoid classifiers and one-class models. A row stops at the
    first stage whose margin is large enough; the exact model answers the rest. The stages are fitted to the exact
    model, and their thresholds tested on rows of --data that no fit has seen.

    The guarantee is statistical, not a proof: with the given confidence, at most the share --budget of rows drawn like
    those of --data get another label than the exact model's. 0.1 % with 95 % confidence needs 2,995 rows to test on
    without a difference, beside some to fit on: give 5,000 or more. The confidence is of all runs: a run that finds no
    cascade keeps the budget, too. fastsvm predict --audit measures the share on rows to come.

    The cascade contains the exact model, which answers --values and -b 1. The default OUTPUT_FILE is MODEL_FILE.cascade
    in the current directory; - is standard output.

    \b
      fastsvm cascade --data rows.txt train.model
      fastsvm predict test.txt train.model.cascade out
    """
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.text.read_rows import read_chunks

    options = METHOD.Options(**parsed)
    options.begin(".cascade", options.data_file, options.scale_file)
    source = read_exact_model(options.model_file)
    METHOD.check_model(source.model, options)
    scaling = read_range(options.scale_file, None, source.model, options.model_file)
    assert options.data_file is not None  # required
    rows = list(read_chunks(options.data_file, labelled=not options.unlabelled, scaling=scaling))

    report = summary_stream(options.output_file)
    with Progress("cascade", quiet=options.quiet, announced=True) as progress:
        found = METHOD.compile(source, options, progress, rows)
    warn_of_scaling(scaling, options.quiet)
    model = found.model
    model.embedded_scaling = embedded_scaling(scaling, options.model_file)
    size = write_model(model, options)
    if found.warning is not None:
        print(f"Warning: {found.warning}.", file=sys.stderr)
    if options.quiet:
        return
    for number, (stage, share) in enumerate(zip(model.stages, found.shares), 1):
        print(f"stage {number}: {_described(stage)} answers {_percent(share)} of the rows", file=report)
    print(f"exact model: {model.header.total_sv} support vectors, {_percent(found.shares[-1])}", file=report)
    print(size_line(source.size, size, options.output_file), file=report)
    if scaling is not None:
        say_raw_rows(scaling, "embedded", report)
    print(
        f"{found.evaluations:.4g} kernel evaluations a row, {found.gain:.3g} times as fast as the exact model (for a"
        f" run of {options.rows:,} rows, with reading)",
        file=report,
    )
    whose = "the rows of each class" if options.each_class else "rows"
    print(
        f"guaranteed with {100 * options.confidence:.10g} % confidence: at most {100 * options.budget:.10g} % of"
        f" {whose} like these differ; in the test {model.differing} of {model.tested} did"
        f" ({_percent(model.differing / model.tested)})",
        file=report,
    )


def _described(stage) -> str:
    if stage.vectors:
        return f"{stage.vectors} vectors{' and a linear function' if stage.degree else ''}"
    return "a linear function" if stage.degree == 1 else f"a polynomial of degree {stage.degree}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
