"""`predict --dask`: what the command line says, as a job for the workers of a scheduler."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsvm_cli.cluster.job import File, Job
    from fastsvm_cli.cluster.totals import Sum
    from fastsvm_cli.console.predict_options import PredictOptions
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.text.header import Header


def predict_on_dask(options: "PredictOptions", new_summary: "Callable[..., Any]") -> None:
    """The command with --dask. new_summary: commands/predict.py's Summary. Raises FastsvmError; where blocks failed,
    they have been named on standard error."""
    from fastsvm_cli.cluster.job import scaling_of
    from fastsvm_cli.cluster.run import PartsMissing, run
    from fastsvm_cli.console.fallback import ExactFile
    from fastsvm_cli.console.file_checks import check_document, check_inputs
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.console.scaling import warn_of_scaling
    from fastsvm_cli.interruption import raising
    from fastsvm_cli.models import check_start, parse_model
    from fastsvm_cli.text.bad_rows import BadRows
    from fastsvm_cli.text.data import read_bytes
    from fastsvm_cli.text.fingerprint import fingerprint

    check_inputs(*options.inputs[1:])
    if options.as_json and not options.quiet:
        check_document(options.inputs)
    scale, y_scale = _file(options.scale_file), _file(options.y_scale_file)
    scaling = scaling_of(scale, y_scale)
    exact_file = ExactFile(options.exact_file) if options.exact_file is not None else None
    text = read_bytes(options.model_file, lambda start: check_start(start, options.model_file))
    model = options.settled(parse_model(text, options.model_file))
    exact = options.fallback(model, exact_file)
    exact_text = exact_file.text() if exact_file is not None else None
    header = options.printed_header(model, exact)
    job = _job(options, model, header, text, exact_text)
    job.exact_tolerance = 0.0 if exact is None else exact.tolerance
    job.scale, job.y_scale, job.options = scale, y_scale, options.of_lines(scaling)
    summary = new_summary(options, model, header, exact, fingerprint(text) if options.as_json else "")
    summary.begin()

    def count_bad_rows(seen: "Sum") -> None:
        if options.on_bad_row != "stop":
            summary.bad_rows = BadRows(options.test_file)
            summary.bad_rows.count = seen.bad_rows

    def values(seen: "Sum") -> "dict[str, Any]":
        count_bad_rows(seen)
        return summary.values(seen.tally)

    with raising(), Progress("predict", quiet=options.quiet) as progress:
        try:
            seen = run(
                job,
                url=options.test_file,
                address=options.dask or "",
                block=options.block,
                scaling=scaling,
                say=summary.warn,
                progress=progress,
                summary=values,
            )
        except PartsMissing as missing:
            for line in missing.lines:
                print(f"Error: {line}", file=sys.stderr)
            raise
    count_bad_rows(seen)
    for line in seen.named:
        summary.warn(f"Warning: {line}")
    if len(seen.instructions) > 1:
        kinds = ", ".join(sorted(seen.instructions))
        summary.warn(f"Note: workers had different processors ({kinds}): last digits may differ from one machine's.")
    warn_of_scaling(scaling, options.quiet)
    summary.end(seen.tally)


def _job(options: "PredictOptions", model: "Model", header: "Header", text: bytes, exact_text: "bytes | None") -> "Job":
    """model: that answers. header: of the one whose answers are printed. text, exact_text: of the model files."""
    from fastsvm_cli.cluster.job import File, Job
    from fastsvm_cli.cluster.shards import is_local, local_path
    from fastsvm_cli.prediction.pipeline import columns

    out = local_path(options.output) if is_local(options.output) else options.output
    job = Job(File(options.model_file, text), out)
    if exact_text is not None:
        assert options.exact_file is not None  # it was read
        job.exact = File(options.exact_file, exact_text)
    job.probability, job.values, job.evaluations = bool(options.probability), options.values, options.evaluations
    job.steps, job.tolerance = options.steps, options.within(model)
    job.labelled, job.dense, job.delimiter = not options.unlabelled, options.dense, options.delimiter
    job.max_line, job.on_bad_row = options.max_line, options.on_bad_row
    job.nan = columns(model, header, probability=job.probability, values=job.values, evaluations=job.evaluations)
    job.regression, job.threads = header.regression, options.threads or 1
    return job


def _file(path: "str | None") -> "File | None":
    from fastsvm_cli.cluster.job import File
    from fastsvm_cli.text.data import read_bytes

    return None if path is None else File(path, read_bytes(path))
