"""The run of ``fastsvm predict --dask``."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsvm_cli.cluster.run import Sum
    from fastsvm_cli.cluster.work import File
    from fastsvm_cli.commands.predict.options import PredictOptions


def predict_on_dask(options: "PredictOptions", new_summary: "Callable[..., Any]") -> None:
    """Predict on a Dask cluster; raise FastsvmError. new_summary: the class Summary."""
    from fastsvm_cli.cluster.blocks import absolute
    from fastsvm_cli.cluster.run import PartsMissing, run
    from fastsvm_cli.cluster.work import File, Job
    from fastsvm_cli.commands.predict.fallback import ExactFile
    from fastsvm_cli.console.file_checks import check_document, check_inputs
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.console.scaling import warn_of_scaling
    from fastsvm_cli.models import check_start, parse_model
    from fastsvm_cli.prediction.answers import Predictor
    from fastsvm_cli.system.interruption import raising
    from fastsvm_cli.text.fingerprint import fingerprint
    from fastsvm_cli.text.line_blocks import BadRows
    from fastsvm_cli.text.read_rows import read_bytes

    def read(path: "str | None") -> "File | None":
        return None if path is None else File(path, read_bytes(path))

    check_inputs(*options.inputs[1:])
    if options.as_json:
        check_document(options.inputs)
    job = Job(absolute(options.output))
    job.scale, job.y_scale = read(options.scale_file), read(options.y_scale_file)
    given = job.scaling()
    exact_file = ExactFile(options.exact_file) if options.exact_file is not None else None
    text = read_bytes(options.model_file, lambda start: check_start(start, options.model_file))
    job.model, digest = File(options.model_file, text), fingerprint(text)
    job.made_with = options.made_with(digest, given)
    model = options.checked(parse_model(text, options.model_file))
    job.embedded_scaling = model.embedded_scaling
    scaling = given or model.row_scaling()
    audit = options.audited(model, exact_file)  # refuses; each worker makes its own
    exact = options.fallback(model, exact_file)
    if exact_file is not None:
        job.exact = File(exact_file.path, exact_file.text())
    if exact is not None:
        job.exact_tolerance = exact.tolerance
    if options.audit is not None:
        job.audit = options.audit, options.seed
    job.reading = options.reading(model)
    job.answer_options = options.answer_options(model)
    job.steps, job.on_bad_row, job.threads = options.steps, options.on_bad_row, options.threads or 1
    summary = new_summary(options, Predictor(model, exact=exact, audit=audit, **job.answer_options), digest)
    summary.begin()

    def values(seen: "Sum") -> "dict[str, Any]":
        if options.on_bad_row != "stop":
            summary.bad_rows = BadRows(options.test_file)
            summary.bad_rows.restore(seen.bad_rows, [])
        return summary.values(seen.run_counts)

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
    for line in seen.named:
        summary.warn(f"Warning: {line}")
    if len(seen.instructions) > 1:
        kinds = ", ".join(sorted(seen.instructions))
        summary.warn(f"Note: workers had different processors ({kinds}): last digits may differ from one machine's.")
    warn_of_scaling(scaling, options.quiet)
    summary.end(seen.run_counts)
