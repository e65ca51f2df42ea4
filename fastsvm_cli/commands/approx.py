import sys
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console.exact_model import (
    CompilerOptions,
    agreement_line,
    read_exact_model,
    size_line,
    warn_of_disagreement,
    write_model,
)
from fastsvm_cli.console.file_checks import summary_stream
from fastsvm_cli.console.options import (
    FileCommand,
    check_dask,
    check_y_scale,
    dask_option,
    fold_option,
    model_arguments,
    quiet_option,
    threads_option,
    y_scale_option,
)
from fastsvm_cli.console.scaling import read_folding, say_folded
from fastsvm_cli.console.values import LIMIT, POSITIVE

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastsvm_cli.compilers.folding import Folding
    from fastsvm_cli.console.exact_model import Source
    from fastsvm_cli.models.exact import ExactModel
    from fastsvm_cli.models.maclaurin import MaclaurinModel


class ApproxOptions(CompilerOptions):
    """The options and arguments of `fastsvm approx`. Raises UsageError for what does not go together."""

    center: "str | None"
    degree: "int | None"
    centers: "int | None"
    rank: "int | None"
    tolerance: "float | None"
    certify: bool
    precision: "str | None"
    scale_file: "str | None"
    y_scale_file: "str | None"
    max_size: float  # MB
    dask: "str | None"

    def check(self) -> None:
        if self.dask is not None and not self.certify:
            raise click.UsageError("--dask shares the sums of a certificate: it goes with --certify.")
        check_dask(self.dask)
        check_y_scale(self.scale_file, self.y_scale_file)
        if self.certify and self.scale_file is not None:
            raise click.UsageError(
                "--certify proves labels of rows that svm-scale has rounded, which a model with --scale never sees:"
                " certify without --scale, and give it to predict."
            )

    def check_model(self, model: "ExactModel") -> None:
        """Raises UsageError for what does not go together, or not with the model."""
        gaussian, kernel = model.header.kernel_type == "rbf", model.header.kernel_type
        if self.center is not None and not gaussian:
            raise click.UsageError(
                f"--center is for RBF kernels; a {kernel} kernel's expansion is exact about the origin."
            )
        if self.centers is not None and (self.center is not None or not gaussian):
            raise click.UsageError(
                "--centers is for RBF kernels, and chooses the centers itself: it does not go with --center."
            )
        if self.dask is not None and not gaussian:
            raise click.UsageError(
                f"--dask is for RBF kernels: the certificate of a {kernel} kernel has no sums over pairs of vectors."
            )
        if self.rank is not None and self.tolerance is not None:
            raise click.UsageError("--rank and --tolerance are two ways to say the same thing.")
        if self.rank or self.tolerance:
            from fastsvm_cli.compilers.maclaurin.compile import own_degree

            if (self.degree or own_degree(model.header)) != 2:
                raise click.UsageError("--rank and --tolerance compress a matrix: they go with degree 2.")

    def check_size(self, size: int) -> None:
        """Raises ModelFormatError for a file of so many bytes: --tolerance decides the size only as it goes."""
        from fastsvm_cli.errors import ModelFormatError
        from fastsvm_cli.text.sizes import size_text

        if size > self.max_size * 1e6:
            limit = f"{self.max_size:g} MB (--max-size)"
            why = f"the compiled model takes {size_text(size)}, beyond the limit of {limit}"
            raise ModelFormatError(self.model_file, why)

    def better(self, compiled: "MaclaurinModel") -> str:
        """What would bring its labels nearer to the exact model's."""
        gaussian = compiled.header.kernel_type == "rbf"
        ways = (
            ["a larger --rank"] * (self.rank is not None)
            + ["a smaller --tolerance"] * (self.tolerance is not None)
            + ["a higher --degree"] * (gaussian and compiled.degree < 4)
            + ["more --centers", "fastsvm reduce"] * gaussian
        )
        return ", ".join(ways) or "--precision double"


@click.command("approx", cls=FileCommand)
@click.option(
    "--center",
    type=click.Choice(["mean", "origin", "pair"]),
    show_default="mean",
    help=(
        "Where an RBF kernel is expanded: the mean of the support vectors, the origin (as in the paper), or for"
        " several classes the mean of each pair's vectors (more accurate, a center per pair to store)."
    ),
)
@click.option(
    "--degree",
    type=click.IntRange(1, 4),
    show_default="2",
    metavar="P",
    help=(
        "Of the expansion of an RBF kernel. Each degree more is more accurate and needs about d/degree"
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
    type=POSITIVE,
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
        " operations, fewer for sparse vectors."
    ),
)
@dask_option("With --certify: share its operations, and they alone, among the workers of a Dask cluster.")
@click.option(
    "--precision",
    type=click.Choice(["single", "double"]),
    show_default="single for RBF, double for linear and polynomial kernels, whose expansion is exact",
    help="Of the stored numbers.",
)
@fold_option()
@y_scale_option("The model predicts y itself, as it does where a range file holds y.")
@threads_option
@click.option(
    "--max-size",
    type=LIMIT,
    default=256,
    show_default=True,
    metavar="MB",
    help="Refuse to write a larger model.",
)
@quiet_option()
@model_arguments
def command(**parsed):
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
    from fastsvm_cli.console.progress import Progress

    options = ApproxOptions(**parsed)
    options.begin(".approx", options.scale_file, options.y_scale_file)
    source = read_exact_model(options.model_file)
    model = source.model
    options.check_model(model)
    folding = read_folding(options, model)

    with Progress("approx", quiet=options.quiet, announced=True) as progress:
        compiled = compile_source(source, options, progress, folding)
    written: MaclaurinModel = compiled
    if folding is not None:
        from fastsvm_cli.compilers.folding import fold_maclaurin

        written = fold_maclaurin(compiled, folding)
    size = write_model(written, options, options.check_size)
    if options.quiet:
        return
    from fastsvm_cli.comparisons.on_support_vectors import agreement_with_exact, doubtful_gain, trial

    report = summary_stream(options.output_file)
    d, pairs = len(compiled.features), model.header.pairs
    functions = f"{pairs} decision function{'s' * (pairs != 1)}"
    print(
        f"{model.header.total_sv} support vectors -> {functions} of degree {compiled.degree} in {d} features",
        file=report,
    )
    print(size_line(source.size, size, options.output_file), file=report)
    if folding is not None:
        say_folded(folding, report)
    if pairs > 1 and doubtful_gain(compiled.products, model):
        tried = trial(compiled, model)
        if tried is not None and tried.speed_up < 1:
            print(
                f"Warning: {pairs} decision functions take {1 / tried.speed_up:.3g} times as long as the exact model"
                " does on its support vectors: fastsvm predict is faster with that one.",
                file=sys.stderr,
            )
    seen = agreement_with_exact(compiled, model)
    if seen is not None:
        nearer = "" if seen.regression else ", nearer to the border than most rows"
        print(agreement_line(seen, f"support vectors{nearer}"), file=report)
        warn_of_disagreement(seen, options.better(compiled))


def compile_source(
    source: "Source", options: ApproxOptions, progress: "Callable[..., None]", folding: "Folding | None" = None
) -> "MaclaurinModel":
    """The expansion that is asked for, of scaled rows: what --scale folds into it, with all features that it needs."""
    from contextlib import ExitStack

    # numpy and scipy: after the faults that need neither.
    from fastsvm_cli.compilers.maclaurin.compile import compile_maclaurin

    with ExitStack() as stack:
        add_up = None
        if options.dask is not None:
            from fastsvm_cli.cluster.pair_sums import over
            from fastsvm_cli.cluster.scheduler import connect
            from fastsvm_cli.interruption import raising

            stack.enter_context(raising())  # told to stop, it has tasks to cancel, and workers to end
            add_up = over(stack.enter_context(connect(options.dask)))
        return compile_maclaurin(
            source.model,
            fingerprint=source.fingerprint,
            center=options.center,
            degree=options.degree,
            certify=options.certify,
            clusters=options.centers or 1,
            rank=options.rank,
            tolerance=options.tolerance,
            single=None if options.precision is None else options.precision == "single",
            max_bytes=options.max_size * 1e6,
            # A finite kernel is made of inner products, which know the support vectors' features alone.
            more_features=folding.moved if folding is not None and source.model.header.kernel_type == "rbf" else (),
            on_progress=progress,
            add_up=add_up,
        )
