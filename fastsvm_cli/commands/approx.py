"""The command ``fastsvm approx``."""

import sys

import click

from fastsvm_cli.console.compiler_options import (
    agreement_line,
    read_exact_model,
    size_line,
    warn_of_disagreement,
    write_model,
)
from fastsvm_cli.console.file_checks import summary_stream
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import embedded_scaling, read_range, say_raw_rows
from fastsvm_cli.methods.approx import METHOD

# Longer than the header of any model that compiles in reasonable time.
_HEADER_BYTES = 1 << 24


@click.command("approx", cls=FileCommand, params=METHOD.Options.parameters())
def command(**parsed):
    """Compile a LIBSVM model into its Maclaurin expansion.

    At degree 2, a row costs at most d*d/2 products (sparse rows: half the square of their non-zeros), whatever the
    number of support vectors. Takes RBF models of any svm_type and number of classes. Linear kernels, and polynomial
    kernels of degree up to 4, compile exactly. The default OUTPUT_FILE is MODEL_FILE.approx in the current directory; -
    is standard output.

    Few labels change if gamma is small for the data (fastsvm bound tells beforehand) and large coefficients do not
    cancel. To make sure of all labels: --certify, then fastsvm predict --exact.

    \b
      fastsvm approx train.model
      fastsvm predict test.txt train.model.approx out
    """
    from fastsvm_cli.console.progress import Progress

    options = METHOD.Options(**parsed)
    options.begin(".approx", options.scale_file, options.y_scale_file)
    source = read_exact_model(options.model_file)
    model = source.model
    METHOD.check_model(model, options)
    scaling = read_range(options.scale_file, options.y_scale_file, model, options.model_file)

    with Progress("approx", quiet=options.quiet, announced=True) as progress:
        compiled = METHOD.compile(source, options, progress).model
    compiled.embedded_scaling = embedded_scaling(scaling, options.model_file)
    replaced = not compiled.certified and parsed["output_file"] is None and _is_certified(options.output_file)
    size = write_model(compiled, options, options.check_size)
    if options.quiet:
        return
    if replaced:
        print(
            f"Warning: {options.output_file} was a certified model, and is one without radii now: predict --exact needs"
            " --certify.",
            file=sys.stderr,
        )
    from fastsvm_cli.comparisons.support_vector_trial import agreement_with_exact, questionable_gain, trial

    report = summary_stream(options.output_file)
    d, pairs = len(compiled.features), model.header.pairs
    functions = f"{pairs} decision function{'s' * (pairs != 1)}"
    space = f"in {d} features{', certified' * compiled.certified}"
    print(f"{model.header.total_sv} support vectors -> {functions} of degree {compiled.degree} {space}", file=report)
    print(size_line(source.size, size, options.output_file), file=report)
    if scaling is not None:
        say_raw_rows(scaling, "embedded", report)
    if questionable_gain(compiled.products, model):
        tried = trial(compiled, model)
        if tried is not None and tried.speed_up < 1:
            print(
                f"Warning: {functions} of degree {compiled.degree} take{'s' * (pairs == 1)} {1 / tried.speed_up:.3g}"
                " times as long as the exact model does on its support vectors: fastsvm predict is faster with that"
                " one.",
                file=sys.stderr,
            )
    seen = agreement_with_exact(compiled, model)
    if seen is not None:
        part = "support vectors" if seen.rows == model.header.total_sv else "a sample of support vectors"
        print(agreement_line(seen, part), file=report)
        warn_of_disagreement(seen, options.better(compiled))


def _is_certified(path: str) -> bool:
    """Return whether a file is an expansion with radii, by its header."""
    from os.path import isfile

    if not isfile(path):
        return False
    with open(path, "rb") as file:
        header = file.read(_HEADER_BYTES).partition(b"\nexpansions\n")[0]
    return header.startswith(b"fastsvm_model maclaurin ") and b"\ncertified " in header
