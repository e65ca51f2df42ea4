import click

from fastsvm_cli.console.exact_model import (
    agreement_line,
    output_name,
    read_exact_model,
    size_line,
    text_to_write,
    warn_of_disagreement,
)
from fastsvm_cli.console.files import check_files, summary_stream
from fastsvm_cli.console.options import FileCommand, threads_option


@click.command("approx", cls=FileCommand)
@click.option(
    "--center",
    type=click.Choice(["mean", "origin", "pair"]),
    help=(
        "Where an RBF kernel is expanded: the mean of the support vectors [default], the origin (as in the paper), or"
        " for several classes the mean of each pair's vectors (more accurate, a center per pair to store)."
    ),
)
@click.option(
    "--degree",
    type=click.IntRange(1, 4),
    help=(
        "Of the expansion of an RBF kernel [default: 2]. Each degree more is more accurate and needs about d/degree"
        " times the numbers; finite kernels keep their own."
    ),
)
@click.option(
    "--centers",
    type=click.IntRange(1, 100000),
    metavar="K",
    help=(
        "Expand about the means of K clusters (k-means, 30 rounds) of the support vectors instead of one center: K"
        " times the cost, for much larger gamma."
    ),
)
@click.option("--rank", type=click.IntRange(1), metavar="R", help="Compress M to its R largest eigenvalues (degree 2).")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, min_open=True),
    metavar="E",
    help=(
        "Compress M to as few eigenvalues as change no decision value by more than E, for rows as near the center as"
        " the support vectors (degree 2)."
    ),
)
@click.option(
    "--certify",
    is_flag=True,
    help=(
        "Store what proves, row by row, how far a decision value can be from svm-predict's; about n_SV * n_SV * d / 2"
        " operations."
    ),
)
@click.option(
    "--precision",
    type=click.Choice(["single", "double"]),
    help=(
        "Of the stored numbers [default: single for RBF, double for linear and polynomial kernels, whose expansion is"
        " exact]."
    ),
)
@threads_option
@click.option(
    "--max-size",
    type=click.FloatRange(0, min_open=True),
    default=256,
    show_default=True,
    metavar="MB",
    help="Refuse to write a larger model.",
)
@click.option("-q", "--quiet", is_flag=True, help="No summary, no warnings, no progress bar.")
@click.argument("model_file")
@click.argument("output_file", required=False)
def command(
    center, degree, centers, rank, tolerance, certify, precision, threads, max_size, quiet, model_file, output_file
):
    """Compile a LIBSVM model into its Maclaurin expansion.

    At degree 2 a row then costs at most d*d/2 products (sparse rows: the square of their non-zeros, halved), whatever
    the number of support vectors. Any RBF model, of any svm_type and number of classes; linear kernels and polynomial
    ones of degree up to 4 compile exactly. OUTPUT_FILE is MODEL_FILE.approx in the current directory unless named; - is
    standard output.

    The labels are those of the exact model as long as gamma is small for the data: fastsvm bound tells beforehand.

    \b
      fastsvm approx train.model
      fastsvm predict test.txt train.model.approx out
    """

    from fastsvm_cli import _native
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import ModelFormatError
    from fastsvm_cli.text.output import Output
    from fastsvm_cli.text.sizes import size_text

    output_file = output_name(output_file, model_file, ".approx")
    check_files(output_file, model_file)
    _native.set_threads(threads)
    source = read_exact_model(model_file)
    model = source.model
    if center is not None and model.header.kernel_type != "rbf":
        raise click.UsageError(
            f"--center is for RBF kernels; a {model.header.kernel_type} kernel's expansion is exact about the origin."
        )
    if centers is not None and (center is not None or model.header.kernel_type != "rbf"):
        raise click.UsageError(
            "--centers is for RBF kernels, and chooses the centers itself: it does not go with --center."
        )
    if rank is not None and tolerance is not None:
        raise click.UsageError("--rank and --tolerance are two ways to say the same thing.")
    if (rank or tolerance) and (degree or 2) != 2:
        raise click.UsageError("--rank and --tolerance compress a matrix: they go with degree 2.")

    from fastsvm_cli.compilers.maclaurin.compile import (
        compile_maclaurin,
    )  # numpy and scipy: after the faults that need neither

    with Progress("approx", quiet=quiet) as progress:
        compiled = compile_maclaurin(
            model,
            fingerprint=source.fingerprint,
            center=center,
            degree=degree,
            certify=certify,
            clusters=centers or 1,
            rank=rank,
            tolerance=tolerance,
            single=None if precision is None else precision == "single",
            max_bytes=max_size * 1e6,
            on_progress=progress,
        )
    result = text_to_write(compiled, model_file)
    if len(result) > max_size * 1e6:  # --tolerance decides the size only as it goes
        raise ModelFormatError(
            model_file,
            f"the compiled model takes {size_text(len(result))}, beyond the limit of {max_size:g} MB (--max-size)",
        )
    with Output(output_file) as output:
        output.write(result)
    if quiet:
        return
    from fastsvm_cli.comparisons.trial import likeness

    report = summary_stream(output_file)
    d, pairs = len(compiled.features), model.header.pairs
    functions = f"{pairs} decision function{'s' * (pairs != 1)}"
    print(
        f"{model.header.total_sv} support vectors -> {functions} of degree {compiled.degree} in {d} features",
        file=report,
    )
    print(size_line(source.size, len(result), output_file), file=report)
    seen = likeness(compiled, model)
    if seen is not None:
        print(agreement_line(seen, "support vectors, nearer to the border than most rows"), file=report)
        gaussian = model.header.kernel_type == "rbf"
        better = (
            ["a larger --rank"] * (rank is not None)
            + ["a smaller --tolerance"] * (tolerance is not None)
            + ["a higher --degree"] * (gaussian and compiled.degree < 4)
        )
        warn_of_disagreement(
            seen, ", ".join([*better, *["more --centers", "fastsvm reduce"] * gaussian]) or "--precision double"
        )
