"""The command ``fastsvm predict``."""

import sys
from contextlib import nullcontext
from time import monotonic
from typing import TYPE_CHECKING

import click

from fastsvm_cli.commands.predict.options import PredictOptions
from fastsvm_cli.console.file_checks import check_document, check_outputs, require_exists, summary_stream
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import read_scale_file, warn_of_scaling
from fastsvm_cli.errors import FileError, display

if TYPE_CHECKING:
    from fastsvm_cli.prediction.answers import Predictor
    from fastsvm_cli.prediction.pipeline import RunCounts
    from fastsvm_cli.prediction.resume import ResumableOutput
    from fastsvm_cli.text.line_blocks import BadRows
    from fastsvm_cli.text.read_rows import Position
    from fastsvm_cli.text.scaling import Scaling


#: Of --audit's bound.
CONFIDENCE = 0.95


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
    import os

    from fastsvm_cli import _native
    from fastsvm_cli.commands.predict.fallback import ExactFile
    from fastsvm_cli.console.progress import Progress, bytes_read
    from fastsvm_cli.models import check_start, parse_model
    from fastsvm_cli.prediction.pipeline import Predictor, predict
    from fastsvm_cli.text.fingerprint import fingerprint
    from fastsvm_cli.text.line_blocks import BadRows, LineBlocks, Position
    from fastsvm_cli.text.output import Output, is_standard_output
    from fastsvm_cli.text.read_rows import read_bytes

    options = PredictOptions(**parsed)
    if options.dask is not None:
        from fastsvm_cli.commands.predict.on_dask import predict_on_dask

        return predict_on_dask(options, Summary)
    check_outputs(options.outputs, *options.inputs)
    for each in options.outputs:
        _native.refuse_model_output(os.fsencode(each))
    if options.as_json and not any(map(is_standard_output, options.outputs)):
        check_document(options.inputs, options.outputs)
    _native.set_threads(options.threads)
    given = read_scale_file(options.scale_file, options.y_scale_file)
    # Read in parallel with the model.
    exact_model = ExactFile(options.exact_file) if options.exact_file is not None else None
    text = read_bytes(options.model_file, lambda start: check_start(start, options.model_file))
    model, digest = (
        parse_model(text, options.model_file),
        fingerprint(text) if options.resume or options.as_json else "",
    )
    del text
    model = options.checked(model)
    scaling = given or model.row_scaling()
    audit, exact = options.audited(model, exact_model), options.fallback(model, exact_model)
    predictor = Predictor(model, exact=exact, audit=audit, **options.answer_options(model))
    summary = Summary(options, predictor, digest)
    require_exists(options.test_file)  # a missing file is named before anything else is printed
    summary.begin()

    if options.on_bad_row != "stop":
        say = summary.warn
        summary.bad_rows = BadRows(
            options.test_file, options.on_bad_row == "nan", lambda message: say(f"Warning: {message}")
        )
    position = Position()

    def open_output():
        if not options.resume:
            return Output(options.output)
        return _resumable_output(options, digest, given, position, summary)

    def rows_output(file):
        return nullcontext() if file is None else Output(file)

    rows_on_screen = any(map(is_standard_output, options.outputs)) and sys.stdout.isatty()
    rows_typed = options.test_file == "-" and sys.stdin is not None and sys.stdin.isatty()
    with (
        Progress("predict", quiet=options.quiet or rows_on_screen or rows_typed, rows=True) as progress,
        open_output() as output,
        rows_output(options.open_file) as open_rows,
        rows_output(options.outside_file) as outside_rows,
    ):
        going_on = {}
        if options.resume:
            summary.rows_before = output.run_counts.rows
            going_on = {"run_counts": output.run_counts, "head": not output.begun}

        def on_chunk(counts):
            if options.resume:
                output.on_chunk(counts)
            progress.count(counts.rows - summary.rows_before)

        with LineBlocks(
            options.test_file,
            **options.reading(model),
            on_read=bytes_read(options.test_file, progress),
            position=position,
            bad_rows=summary.bad_rows,
            scaling=scaling,
        ) as blocks:
            counts = predict(
                predictor,
                blocks,
                output.write,
                path=options.test_file,
                labelled=not options.unlabelled,
                bad_rows=summary.bad_rows,
                write_open=open_rows.write if open_rows is not None else None,
                write_outside=outside_rows.write if outside_rows is not None else None,
                on_chunk=on_chunk,
                **going_on,
            )
        if options.fail_on_empty and not counts.rows:
            raise FileError(options.test_file, "no row to predict found, expected some (--fail-on-empty)")
    warn_of_scaling(scaling, options.quiet)
    summary.end(counts, position.fields)


def _resumable_output(
    options: PredictOptions, digest: str, scaling: "Scaling | None", position: "Position", summary: "Summary"
) -> "ResumableOutput":
    import os

    from fastsvm_cli import _native
    from fastsvm_cli.prediction.resume import ResumableOutput

    status = os.stat(options.test_file)
    made_with = {
        **options.made_with(digest, scaling),
        "instructions": _native.instruction_set(),
        "TEST_FILE's bytes": status.st_size,
        "TEST_FILE's time": status.st_mtime_ns,
    }
    return ResumableOutput(
        options.output,
        options.inputs,
        made_with,
        {"on_bad_row": options.on_bad_row, "max_line": options.max_line},
        position,
        summary.bad_rows,
        labelled=not options.unlabelled,
        say=summary.warn,
    )


class Summary:
    """A run's notes, warnings and summary. digest: of the model file. rows_before: answered by an earlier run."""

    def __init__(self, options: PredictOptions, predictor: "Predictor", digest: str):
        self.options, self.predictor, self._digest = options, predictor, digest
        self.bad_rows: BadRows | None = None
        self.rows_before = 0
        self._report = summary_stream(*options.outputs)

    def say(self, line: str) -> None:
        """Print a line of the summary, unless quiet or with ``--json``."""
        if not self.options.quiet and not self.options.as_json:
            print(line, file=self._report)

    def warn(self, line: str) -> None:
        """Print a warning on standard error, unless quiet."""
        if not self.options.quiet:
            print(line, file=sys.stderr)

    def begin(self) -> None:
        """Print the notes that precede the first row."""
        if note := self.predictor.opening_note():
            self.warn(note)
        for line in self.predictor.opening_lines():
            self.say(line)

    def end(self, counts: "RunCounts", fields: int = -1) -> None:
        """Print warnings and the summary; exit with 3 beyond --max-disagreement. fields: of a --dense row, or -1."""
        self._tell(counts, fields)
        limit, upper = self.options.max_disagreement, self._upper(counts)
        if limit is None or upper is None or upper <= limit:
            return
        print(
            f"Error: {display(self.options.model_file)}: up to {100 * upper:.3g} % of the labels may differ from the"
            f" exact model's ({counts.audit_differing} of {counts.audited} sampled ones do; {100 * CONFIDENCE:.0f} %"
            f" confidence), more than {100 * limit:.3g} % (--max-disagreement)",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(3)

    def _tell(self, counts: "RunCounts", fields: int) -> None:
        from fastsvm_cli.console.quality_warnings import quality_warnings

        options = self.options
        for warning in quality_warnings(
            self.predictor.model,
            counts,
            display(options.test_file),
            dense=options.dense,
            delimiter=options.delimiter,
            unlabelled=options.unlabelled,
            fields=fields,
        ):
            self.warn(f"Warning: {warning}")
        if options.as_json:
            import json

            from fastsvm_cli.prediction.scores import run_document

            seconds, rows = monotonic() - options.start, counts.rows - self.rows_before
            found = run_document(self.predictor.model, self._digest, self.values(counts), seconds, rows)
            # Unlike a summary, it is a result.
            print(json.dumps(found), file=sys.stderr if self._report is sys.stderr else sys.stdout)
            return
        if counts.score is not None:
            from fastsvm_cli.prediction.scores import summary_lines

            for line in summary_lines(self.predictor.printed_header, counts.score):
                self.say(line)
        bad_rows = self.bad_rows
        if bad_rows is not None and bad_rows.count:
            became = "each a line of nan" if self.options.on_bad_row == "nan" else "left out"
            self.warn(f"Bad rows: {bad_rows.count} of {bad_rows.count + counts.rows} lines, {became}.")
        upper = self._upper(counts)
        if upper is not None:
            self.warn(
                f"Audit: {counts.audit_differing} of {counts.audited} sampled labels differ from the exact model's;"
                f" with {100 * CONFIDENCE:.0f} % confidence, at most {100 * upper:.3g} % of all."
            )
        for note in self.predictor.closing_notes(counts, options.steps):
            self.warn(note)

    def values(self, counts: "RunCounts") -> "dict[str, object]":
        """Return the numbers of the run by their JSON keys."""
        from fastsvm_cli.prediction.scores import run_values

        return run_values(
            self.predictor,
            counts,
            open_rows=self.options.open_file is not None,
            stopped=self.options.steps is not None,
            bad_rows=None if self.bad_rows is None else self.bad_rows.count,
            audit_upper=self._upper(counts),
        )

    def _upper(self, counts: "RunCounts") -> "float | None":
        if self.options.audit is None:
            return None
        from fastsvm_cli.comparisons.sampled import upper_bound

        return upper_bound(counts.audit_differing, counts.audited, CONFIDENCE)
