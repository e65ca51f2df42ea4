import sys

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


@click.command("reduce", cls=FileCommand)
@click.option("--vectors", type=click.IntRange(1), metavar="L", help="So many vectors, at most.")
@click.option(
    "--ratio",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="R",
    help="So many times the support vectors, as 0.05.",
)
@click.option(
    "--target",
    type=click.FloatRange(0, min_open=True),
    metavar="E",
    help=(
        "As many as bring the share of labels that differ (0.002: 2 in 1,000) on --data, or on the support vectors, to"
        " E or below; for regression, the root mean square difference of the values."
    ),
)
@click.option(
    "--data",
    "data_file",
    metavar="FILE",
    help=(
        "Rows to measure disagreement on; where they have labels, accuracy too, and a model's probability parameters"
        " are fitted to them."
    ),
)
@click.option("--lossless", is_flag=True, help="Merge equal support vectors, and nothing else.")
@click.option(
    "--init",
    type=click.Choice(["greedy", "random", "alpha", "cluster"]),
    default="greedy",
    show_default=True,
    help=(
        "Where vectors start: the support vector that takes most from what is left; drawn; drawn by coefficient; kernel"
        " k-means (20 rounds, on 4,000 drawn support vectors of a side where there are more)."
    ),
)
@click.option(
    "--optimizer",
    type=click.Choice(["none", "irprop", "fixed-point"]),
    default="none",
    show_default=True,
    help=(
        "How each is placed before the next is added: where it starts; by iRprop+ (100 steps); by fixed-point iteration"
        " (1,000 steps, from 10 starts; it often comes to no rest). The paper's recipe: --init random --optimizer"
        " irprop."
    ),
)
@click.option(
    "--no-finish",
    "finishing",
    is_flag=True,
    flag_value=False,
    default=True,
    help="No descent on all vectors at the end (L-BFGS, 100 rounds): seconds, and several times the squared distance.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of what is drawn.")
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No summary, no progress bar.")
@click.argument("model_file")
@click.argument("output_file", required=False)
def command(
    vectors,
    ratio,
    target,
    data_file,
    lossless,
    init,
    optimizer,
    finishing,
    seed,
    threads,
    quiet,
    model_file,
    output_file,
):
    """Replace the support vectors of an RBF model by a few others: a smaller LIBSVM model.

    The output is a true LIBSVM model: svm-predict, and everything else that reads such models, gets faster without a
    change. Every svm_type and number of classes. The vectors are placed so that the decision functions change least in
    the kernel's feature space; behind the last of them a line that LIBSVM skips holds how far, so that fastsvm predict
    --exact can prove labels with it. OUTPUT_FILE is MODEL_FILE.reduced in the current directory unless named; - is
    standard output.

    \b
      fastsvm reduce --ratio 0.01 --data test.txt train.model
      svm-predict test.txt train.model.reduced out
    """
    from fastsvm_cli import _native
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.prediction.scores import summary_lines
    from fastsvm_cli.text.data import read_chunks
    from fastsvm_cli.text.output import Output

    wanted = [
        name
        for name, value in (
            ("--vectors", vectors),
            ("--ratio", ratio),
            ("--target", target),
            ("--lossless", lossless or None),
        )
        if value is not None
    ]
    if len(wanted) != 1:
        raise click.UsageError(
            f"{' and '.join(wanted)} do not go together."
            if wanted
            else "how many vectors? Say --vectors L, --ratio R or --target E (or --lossless)."
        )
    if lossless and (init != "greedy" or optimizer != "none" or not finishing):
        raise click.UsageError("--lossless places no vectors: it does not go with --init, --optimizer or --no-finish.")
    if optimizer == "none" and init == "cluster" and target is not None:
        raise click.UsageError(
            "--target grows a set vector by vector; kernel k-means makes another one for every number."
        )
    output_file = output_name(output_file, model_file, ".reduced")
    check_files(output_file, model_file, data_file)
    _native.set_threads(threads)
    source = read_exact_model(model_file)
    model = source.model
    rows = list(read_chunks(data_file)) if data_file else None
    if rows is not None and not rows:
        raise FileError(data_file, "no rows found, expected some to measure on")

    from fastsvm_cli.comparisons.agreement import agreement
    from fastsvm_cli.compilers.reduced_set.compile import compile_reduced_set, grow
    from fastsvm_cli.compilers.reduced_set.compile import lossless as merge
    from fastsvm_cli.compilers.reduced_set.probabilities import refit

    total = model.header.total_sv
    how = dict(fingerprint=source.fingerprint, init=init, optimizer=optimizer, finishing=finishing, seed=seed)
    with Progress("reduce", quiet=quiet) as progress:
        if lossless:
            found = merge(model, source.fingerprint)
        elif target is not None:
            found = grow(model, target, rows or [model.vectors], on_progress=progress, **how)
        else:
            found = compile_reduced_set(
                model, count=vectors or max(1, round(ratio * total)), on_progress=progress, **how
            )
        reduced = found.model
        if rows and model.header.has_probability and not lossless:
            refit(reduced, rows)
    result = text_to_write(reduced, model_file)
    with Output(output_file) as output:
        output.write(result)
    if quiet:
        return
    report = summary_stream(output_file)
    merged = f", {found.merged} of them equal to others or of coefficient 0" if found.merged else ""
    print(f"{total} support vectors{merged} -> {reduced.header.total_sv} vectors", file=report)
    print(size_line(source.size, len(result), output_file), file=report)
    if not lossless:
        print(
            f"squared distance {found.distance:.3g} of |Psi|^2, radius {max(reduced.origin.radius, default=0.0):.3g}",
            file=report,
        )
    seen = agreement(reduced, model, rows or [model.vectors])
    print(agreement_line(seen, data_file or "the support vectors"), file=report)
    if rows:
        print(
            f"{summary_lines(model.header, seen.score)[0]}; the exact model:"
            f" {summary_lines(model.header, seen.reference_score)[0]}",
            file=report,
        )
    if found.missing:
        print(
            f"Warning: fixed-point iteration came to no rest, so that there are {found.missing} vectors fewer than"
            " wanted; --optimizer irprop reaches any number.",
            file=sys.stderr,
        )
    warn_of_disagreement(seen, "more --vectors", wanted=0.0 if model.header.regression else target or 0.0)
