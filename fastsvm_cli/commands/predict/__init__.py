"""The command ``fastsvm predict``."""

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from fastsvm_cli.commands.predict.options import PredictOptions
from fastsvm_cli.console.file_checks import check_inputs
from fastsvm_cli.console.options import FileCommand

if TYPE_CHECKING:
    from fastsvm_cli._native import Prediction
    from fastsvm_cli.commands.predict.resume import ResumableOutput
    from fastsvm_cli.text.output import Output


@click.command("predict", cls=FileCommand, params=PredictOptions.parameters())
def command(**parsed):
    """Predict rows with any model file, exact or compiled.

    A drop-in replacement for svm-predict: the same arguments, output lines and summary. TEST_FILE may be - (standard
    input), or compressed with gzip, bzip2, xz or zstd. Without OUTPUT_FILE, or with -, rows go to standard output as
    they arrive, and the summary to standard error.

    An exact model gets svm-predict's labels. A certified model (approx --certify, reduce) proves a radius for each
    decision value, a bound of its distance from svm-predict's; a label is proven if it is the same everywhere within
    the radius.

    \b
      fastsvm predict test.txt train.model.approx out
      zcat big.gz | fastsvm predict - train.model.approx | sort | uniq -c
      fastsvm predict --open-rows open.txt test.txt train.model.approx out
      fastsvm predict --audit 1% test.txt train.model.cascade out
      fastsvm predict --dask tcp://head:8786 's3://rows/*' train.model s3://out
    """
    from fastsvm_cli import _native
    from fastsvm_cli.commands.predict.resume import ResumableOutput
    from fastsvm_cli.console.progress import Progress, bytes_read
    from fastsvm_cli.prediction import answer_file
    from fastsvm_cli.text.output import Output, is_standard_output

    options = PredictOptions(**parsed)
    if options.dask is not None:
        from fastsvm_cli.commands.predict.on_dask import predict_on_dask

        return predict_on_dask(options)
    check_inputs(*options.inputs)  # the core does not know that standard input was closed
    prediction = _native.Prediction(options.request)
    prediction.prepare()
    prediction.begin()

    def rows_output(file):
        return nullcontext() if file is None else Output(file)

    outputs = [each for each in (options.output, options.open_file, options.outside_file) if each is not None]
    rows_on_screen = any(map(is_standard_output, outputs)) and sys.stdout.isatty()
    rows_typed = options.test_file == "-" and sys.stdin is not None and sys.stdin.isatty()
    with (
        Progress("predict", quiet=options.quiet or rows_on_screen or rows_typed, rows=True) as progress,
        _output(options, prediction) as output,
        rows_output(options.open_file) as open_rows,
        rows_output(options.outside_file) as outside_rows,
    ):
        rows_before = prediction.run_counts.rows

        def on_chunk():
            if isinstance(output, ResumableOutput):
                output.on_chunk()
            progress.count(prediction.run_counts.rows - rows_before)

        answer_file(
            prediction,
            options.test_file,
            output.write,
            open_rows,
            outside_rows,
            on_read=bytes_read(options.test_file, progress),
            on_chunk=on_chunk,
            head=not (isinstance(output, ResumableOutput) and output.begun),
        )
    if code := prediction.end():
        raise click.exceptions.Exit(code)


def _output(options: PredictOptions, prediction: "Prediction") -> "Output | ResumableOutput":
    import os

    from fastsvm_cli import _native
    from fastsvm_cli.commands.predict.resume import ResumableOutput
    from fastsvm_cli.text.output import Output

    if not options.resume:
        return Output(options.output)

    def say(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr)

    status = os.stat(options.test_file)
    made_with = {
        **dict(prediction.made_with()),
        "instructions": repr(_native.instruction_set()),
        "TEST_FILE's bytes": str(status.st_size),
        "TEST_FILE's time": str(status.st_mtime_ns),
    }
    about_bad_rows = {"on_bad_row": options.on_bad_row, "max_line": options.max_line}
    return ResumableOutput(options.output, options.inputs, made_with, about_bad_rows, prediction, say)
