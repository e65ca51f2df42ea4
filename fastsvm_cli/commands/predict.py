"""The command ``fastsvm predict``."""

import os
import sys
from contextlib import nullcontext

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.files import check_inputs
from fastsvm_cli.console.options import Count, Number, Share, ZeroOrOne, option


class PredictOptions(shared.DataOptions):
    """Options of ``fastsvm predict``. request: the core's, which has a member of each attribute's name."""

    probability: int = option(
        "-b --probability 0|1", "Predict probabilities too (1), as svm-predict -b 1.", ZeroOrOne(), 0
    )
    quiet: bool = shared.quiet()
    values: bool = option(
        "--values",
        "Append the decision values, one per pair of classes in the order of the model's labels (1/2, 1/3, ..., 2/3,"
        " ...), then the radii of a certified model.",
        bool,
        group=shared.OUTPUT,
    )
    evaluations: bool = option(
        "--evaluations",
        "Append the number of kernel evaluations, repeated ones included. For models of fastsvm order.",
        bool,
        group=shared.OUTPUT,
    )
    exact_file: "str | None" = option(
        "--exact MODEL",
        "LIBSVM model that MODEL_FILE was made from, by approx --certify or reduce. It evaluates the rows whose label"
        " is not proven, so that every label is svm-predict's.",
    )
    tolerance: "float | None" = option(
        "--tolerance E",
        "Largest error of a regression value. With --exact, rows with a larger radius are evaluated exactly (with"
        " --open-rows, written); with an ordered model, rows stop once proven within E of svm-predict's value.",
        Number(0),
        group="Early stops",
    )
    steps: "int | None" = option(
        "--steps K",
        "Number of points after which every row stops (fastsvm order --method geometry). --values then prints value,"
        " radius and the probability of a positive value (DeCoste, eq. 32). Labels may differ from svm-predict's where"
        " the radius reaches beyond zero.",
        Count(1),
        group="Early stops",
    )
    audit: "float | None" = option(
        "--audit SHARE",
        "Give this share of the rows (0.01 or 1%), a random sample, to the exact model too, and count the labels that"
        " differ. The output lines stay MODEL_FILE's. --exact names the exact model, which then does only this; a"
        " cascade contains its exact model.",
        Share(),
        group=shared.CHECKS,
    )
    max_disagreement: "float | None" = option(
        "--max-disagreement P",
        "With --audit: largest share of rows that may get another label than the exact model's. If the upper bound at"
        " 95 % confidence is larger, the exit code is 3.",
        Share(),
        group=shared.CHECKS,
    )
    seed: int = shared.seed("Seed of the sample of --audit.", group=shared.CHECKS)
    as_json: bool = shared.json(
        "Print the summary as one line of JSON; on standard error if the rows go to standard output."
    )
    on_bad_row: str = option(
        "--on-bad-row",
        "Action on a malformed line, or on a row that the model cannot evaluate: stop the run, skip the row, or write"
        " a line of nan. skip and nan name the first ten and count all.",
        click.Choice(["stop", "skip", "nan"]),
        default="stop",
        group=shared.ROWS,
    )
    fail_on_empty: bool = option(
        "--fail-on-empty",
        "Exit with code 1 if no row is predicted, and leave OUTPUT_FILE as it was.",
        bool,
        group=shared.CHECKS,
    )
    resume: bool = option(
        "--resume",
        "Keep finished lines in OUTPUT_FILE.partial; after a stop, the same command continues from there. For files"
        " only.",
        bool,
        group=shared.LONG,
    )
    open_file: "str | None" = option(
        "--open-rows FILE",
        "Output file for rows whose label a certified model leaves unproven, as LIBSVM data with line numbers (1 3:0.5"
        " # 17); with --exact, these were evaluated exactly. Rows of --unlabelled data get the label 0.",
        group=shared.OUTPUT,
    )
    outside_file: "str | None" = option(
        "--outside-rows FILE",
        "Output file for rows outside the bound of an RBF expansion (Claesen et al., eq. 3.11), in the same format.",
        group=shared.OUTPUT,
    )
    scale_file: "str | None" = shared.DataOptions.scale_file  # before --y-scale
    y_scale_file: "str | None" = shared.y_scale(
        "It scales the labels, so that the summary is in the unit of the predictions."
    )
    dask: "str | None" = shared.dask(
        "Dask scheduler whose workers predict",
        " TEST_FILE is a path, URL or pattern; OUTPUT_FILE is the directory of the parts. A second run writes only the"
        " missing ones.",
    )
    #: bytes
    block: int = shared.megabytes(
        "--block", "Size of the parts of --dask. A compressed file is one part.", group=shared.CLUSTERS
    )
    threads: int = shared.threads
    test_file: str = shared.argument()
    model_file: str = shared.argument()
    output_file: "str | None" = shared.argument(required=False)

    def check(self) -> None:
        """Raise UsageError."""
        from fastsvm_cli import _native

        values = {name: getattr(self, name) for name in self.records()}
        self.request = _native.Request(**{**values, "seed": self.seed % 2**64}, given=set(self.given))
        self.request.check()
        shared.check_dask(self.dask)
        if self.dask is not None or not self.resume:
            return
        from fastsvm_cli.commands.resume import can_be_stored

        kinds = (os.path.isfile, os.path.isdir)  # opening a folder or missing file gives a better error
        if self.test_file == "-" or (
            os.path.exists(self.test_file) and not any(kind(self.test_file) for kind in kinds)
        ):
            why = "standard input and pipes cannot be read again"
            raise click.UsageError(f"--resume needs a TEST_FILE that is a file: {why}.")
        if not can_be_stored(self.output_file):
            raise click.UsageError("--resume needs an OUTPUT_FILE that is a file, to keep what is finished beside it.")

    @property
    def output(self) -> str:
        """Path of the predictions; ``-`` for standard output."""
        return "-" if self.output_file is None else self.output_file

    @property
    def inputs(self) -> "list[str]":
        """All files that the run reads."""
        files = (self.test_file, self.model_file, self.exact_file, self.scale_file, self.y_scale_file)
        return [file for file in files if file is not None]


@click.command("predict", cls=shared.FileCommand, params=PredictOptions.parameters())
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
    from fastsvm_cli.commands.resume import ResumableOutput
    from fastsvm_cli.console.terminal import Progress, bytes_read
    from fastsvm_cli.prediction import answer_file
    from fastsvm_cli.text.files import Output, is_standard_output

    options = PredictOptions(**parsed)
    if options.dask is not None:
        return _predict_on_dask(options)
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
        ResumableOutput(options, prediction) if options.resume else Output(options.output) as output,
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


def _predict_on_dask(options: PredictOptions) -> None:
    from fastsvm_cli.cluster.run import Job, PartsMissing, run
    from fastsvm_cli.cluster.stores import absolute
    from fastsvm_cli.console.terminal import Progress
    from fastsvm_cli.models import read_model_text
    from fastsvm_cli.system import raising
    from fastsvm_cli.text.read_rows import read_bytes

    model_file, *others = options.inputs[1:]
    check_inputs(model_file, *others)
    contents = {path: read_bytes(path) for path in others}
    contents[model_file] = read_model_text(model_file)
    job = Job(absolute(options.output), {name: getattr(options, name) for name in options.records()}, contents)
    prediction = job.prediction()
    prediction.begin()
    with raising(), Progress("predict", quiet=options.quiet) as progress:
        try:
            seen = run(job, options.note, progress)
        except PartsMissing as missing:
            for line in missing.lines:
                print(f"Error: {line}", file=sys.stderr)
            raise
    for line in seen.named:
        options.note(f"Warning: {line}")
    if len(seen.instructions) > 1:
        kinds = ", ".join(sorted(seen.instructions))
        options.note(f"Note: workers had different processors ({kinds}): last digits may differ from one machine's.")
    if code := prediction.end():
        raise click.exceptions.Exit(code)
