import sys

import click

from fastsvm_cli.console.exact_model import output_name, read_exact_model, size_line, text_to_write
from fastsvm_cli.console.files import check_files, summary_stream
from fastsvm_cli.console.options import FileCommand, threads_option

METHODS = ("geometry", "triangle", "blocks")


@click.command("order", cls=FileCommand)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="geometry",
    show_default=True,
    help=(
        "geometry: intervals from the kernel values of a few points; kernels that are inner products (linear,"
        " polynomial and RBF with gamma and coef0 of 0 or more). triangle: lists by distance from a pivot; RBF. blocks:"
        " bounds for blocks of neighbouring support vectors; RBF, for large gamma, few features, many classes."
    ),
)
@click.option(
    "--points",
    type=click.IntRange(1),
    metavar="K",
    help=(
        "geometry: how many points at most, before a row is evaluated in full [default: max(d, sqrt(d n)) for n support"
        " vectors of d entries, but 2,048 at most]."
    ),
)
@click.option(
    "--sequence",
    type=click.Choice(["greedy", "sgma"]),
    help=(
        "geometry: their order. greedy [default]: what takes most from the uncertainty of the decision functions; sgma:"
        " what takes most from the kernel matrix, as in the paper."
    ),
)
@click.option(
    "--fold",
    "fold_file",
    metavar="TRAIN_FILE",
    help=(
        "geometry, two classes: train a linear SVM (C = 1) on this file, and begin with its two folded weight vectors."
    ),
)
@click.option(
    "--lists",
    type=click.IntRange(1),
    metavar="K",
    help=(
        "triangle: pivots, each with a list, the support vectors nearest to the means of as many clusters (k-means, 30"
        " rounds) [default: the number of classes]."
    ),
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of what is drawn: the candidates of sgma, the start of k-means.",
)
@click.option(
    "--kernel",
    "own_kernel",
    type=click.Choice(["exponential", "normalized-polynomial"]),
    help=(
        "For a model trained through a precomputed kernel (-t 4): exp(-gamma |x-z|), or k(x,z)/sqrt(k(x,x)k(z,z)) with"
        " k = (gamma x.z + coef0)^degree."
    ),
)
@click.option("--gamma", type=click.FloatRange(0, min_open=True), help="Of --kernel.")
@click.option(
    "--coef0", type=click.FloatRange(0, min_open=True), help="Of --kernel normalized-polynomial [default: 1]."
)
@click.option("--degree", type=click.IntRange(1, 50), help="Of --kernel normalized-polynomial [default: 3].")
@click.option(
    "--vectors",
    "vectors_file",
    metavar="TRAIN_FILE",
    help="With --kernel: the rows that the model's serial numbers stand for.",
)
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No summary, no warnings, no progress bar.")
@click.argument("model_file")
@click.argument("output_file", required=False)
def command(
    method,
    points,
    sequence,
    fold_file,
    lists,
    seed,
    own_kernel,
    gamma,
    coef0,
    degree,
    vectors_file,
    threads,
    quiet,
    model_file,
    output_file,
):
    """Order the support vectors of a LIBSVM model, so that prediction stops early with the exact label.

    A row is evaluated until what is left of its sum cannot change the label any more; the few rows that get to no end
    are evaluated in full. The labels are those of svm-predict, always, and the ordered model needs no second file: it
    holds the exact one. OUTPUT_FILE is MODEL_FILE.order in the current directory unless named; - is standard output.

    The summary tells how a trial on the model's own support vectors went; they lie nearer to the border between the
    classes than most rows.

    \b
      fastsvm order train.model
      fastsvm predict test.txt train.model.order out
    \b
    Intervals from 50 points:
      fastsvm predict --steps 50 --values test.txt train.model.order
    """

    from fastsvm_cli import _native
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.models.kernel import Kernel
    from fastsvm_cli.text.data import read_chunks
    from fastsvm_cli.text.output import Output

    for name, value, of in (
        ("--points", points, "geometry"),
        ("--sequence", sequence, "geometry"),
        ("--fold", fold_file, "geometry"),
        ("--lists", lists, "triangle"),
    ):
        if value is not None and method != of:
            raise click.UsageError(f"{name} goes with --method {of}.")
    if (own_kernel is None) != (vectors_file is None):
        raise click.UsageError(
            "--kernel and --vectors go together: a precomputed model knows neither its kernel nor its vectors."
        )
    if own_kernel is None and (gamma is not None or coef0 is not None or degree is not None):
        raise click.UsageError("--gamma, --coef0 and --degree go with --kernel; other models name their own.")
    if own_kernel is not None and gamma is None:
        raise click.UsageError("--kernel needs --gamma.")
    if own_kernel == "exponential" and (coef0 is not None or degree is not None):
        raise click.UsageError("--coef0 and --degree are for --kernel normalized-polynomial.")

    output_file = output_name(output_file, model_file, ".order")
    check_files(output_file, model_file, fold_file, vectors_file)
    _native.set_threads(threads)
    source = read_exact_model(model_file)
    model = source.model
    if own_kernel is not None and model.header.kernel_type != "precomputed":
        raise click.UsageError(
            f"--kernel is for models of a precomputed kernel; {model_file} has a {model.header.kernel_type} kernel."
        )
    if fold_file is not None and not (model.header.classification and model.header.nr_class == 2):
        raise click.UsageError("--fold is for models of two classes: their linear SVM has two folded vectors.")

    report = summary_stream(output_file)
    if own_kernel is not None:
        from fastsvm_cli.compilers.ordered.precomputed import looks_untrained, with_vectors

        kernel = (
            Kernel("exponential", gamma)
            if own_kernel == "exponential"
            else Kernel("normalized_polynomial", gamma, 1.0 if coef0 is None else coef0, degree or 3)
        )
        model = with_vectors(model, read_chunks(vectors_file), vectors_file, kernel)
        if not quiet and looks_untrained(model):
            print(
                f"Warning: with these vectors and this kernel the support vectors of {model_file} are not where"
                " training puts them, on the margin: is --gamma, or the file, another one?",
                file=sys.stderr,
            )
    with Progress("order", quiet=quiet) as progress:
        if method == "geometry":
            from fastsvm_cli.compilers.ordered.geometry import compile_geometry, folded_vectors

            folded = None if fold_file is None else folded_vectors(_linear_model(fold_file))
            ordered = compile_geometry(
                model,
                fingerprint=source.fingerprint,
                sequence=sequence or "greedy",
                points=points,
                folded=folded,
                seed=seed,
                on_progress=progress,
            )
        elif method == "triangle":
            from fastsvm_cli.compilers.ordered.triangle import compile_triangle

            ordered = compile_triangle(model, fingerprint=source.fingerprint, lists=lists, seed=seed)
        else:
            from fastsvm_cli.compilers.ordered.blocks import compile_blocks

            ordered = compile_blocks(model, fingerprint=source.fingerprint)
    result = text_to_write(ordered, model_file)
    with Output(output_file) as output:
        output.write(result)
    if quiet:
        return
    from fastsvm_cli.comparisons.trial import trial

    print(f"{model.header.total_sv} support vectors, {ordered.ordered_by}", file=report)
    print(size_line(source.size, len(result), output_file), file=report)
    tried = trial(ordered, ordered.exact)
    if tried is None:
        return
    print(
        f"Trial on {tried.rows} support vectors: {100 * tried.evaluations:.3g} % of the kernel evaluations,"
        f" {tried.speed_up:.3g} times as fast as the exact model.",
        file=report,
    )
    if tried.speed_up < 1:
        others = ", ".join(name for name in METHODS if name != method)
        print(
            "Warning: no gain is to be expected of this model over fastsvm predict with the exact one; try another"
            f" --method ({others}).",
            file=sys.stderr,
        )


def _linear_model(train_file):
    """A linear SVM of the file's rows, C = 1."""
    import os
    import tempfile
    from pathlib import Path

    # libsvm-official's OpenMP: its threads change no number, wait for each other on a busy machine, and end the process
    # where none can start.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    from fastsvm_cli.compilers.training import libsvm_problem, load_libsvm, train
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.stopping import raising
    from fastsvm_cli.text.data import read_chunks

    labels, rows = libsvm_problem(read_chunks(train_file))
    if len(set(labels)) != 2:
        raise FileError(train_file, f"rows of {len(set(labels))} classes found, expected 2")
    load_libsvm()
    with raising(), tempfile.TemporaryDirectory() as folder:
        return train(labels, rows, "-t 0 -c 1", str(Path(folder) / "linear.model"))
