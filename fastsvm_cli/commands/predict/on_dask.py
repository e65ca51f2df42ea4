"""The run of ``fastsvm predict --dask``."""

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fastsvm_cli.commands.predict.options import PredictOptions


def predict_on_dask(options: "PredictOptions") -> None:
    """Predict on a Dask cluster; raise FastsvmError."""
    from fastsvm_cli.cluster.blocks import absolute
    from fastsvm_cli.cluster.run import PartsMissing, run
    from fastsvm_cli.cluster.work import Job
    from fastsvm_cli.console.file_checks import check_inputs
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.models import read_model_text
    from fastsvm_cli.system import raising
    from fastsvm_cli.text.read_rows import read_bytes

    def say(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr)

    model_file, *others = options.inputs[1:]
    check_inputs(model_file, *others)
    contents = {path: read_bytes(path) for path in others}
    contents[model_file] = read_model_text(model_file)
    job = Job(absolute(options.output), {name: getattr(options, name) for name in options.records()}, contents)
    prediction = job.prediction()
    prediction.begin()
    with raising(), Progress("predict", quiet=options.quiet) as progress:
        try:
            seen = run(
                job,
                url=options.test_file,
                address=options.dask or "",
                block=options.block,
                say=say,
                progress=progress,
            )
        except PartsMissing as missing:
            for line in missing.lines:
                print(f"Error: {line}", file=sys.stderr)
            raise
    for line in seen.named:
        say(f"Warning: {line}")
    if len(seen.instructions) > 1:
        kinds = ", ".join(sorted(seen.instructions))
        say(f"Note: workers had different processors ({kinds}): last digits may differ from one machine's.")
    if code := prediction.end():
        raise click.exceptions.Exit(code)
