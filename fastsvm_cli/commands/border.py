import sys
from typing import TYPE_CHECKING, Any

import click

from fastsvm_cli.console.exact_model import CompilerOptions, read_exact_model, size_line, write_model
from fastsvm_cli.console.file_checks import summary_stream
from fastsvm_cli.console.options import (
    FileCommand,
    first_given,
    fold_option,
    model_arguments,
    quiet_option,
    seed_option,
    threads_option,
    was_given,
)
from fastsvm_cli.console.scaling import read_folding, say_folded, warn_of_scaling
from fastsvm_cli.console.values import POSITIVE, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastsvm_cli._native import Chunk
    from fastsvm_cli.compilers.border.samples import Border
    from fastsvm_cli.compilers.folding import Folding
    from fastsvm_cli.console.exact_model import Source
    from fastsvm_cli.models.exact import ExactModel


def _bandwidth(context, parameter, value):
    if value is None or value == "adaptive":
        return value
    try:
        width = float(value)
    except ValueError:
        width = 0.0
    if not 1e-100 <= width <= 1e100:
        raise click.BadParameter(f"'{value}' is neither 'adaptive' nor a number from 1e-100 to 1e100.")
    return width


class BorderOptions(CompilerOptions):
    """The options and arguments of `fastsvm border`. Raises UsageError for what does not go together."""

    samples: int
    target: "float | None"
    data_file: "str | None"
    scale_file: "str | None"
    sampling: str
    local: int
    tolerance: float
    raw: bool
    bandwidth: "str | float | None"
    weight: "float | None"
    density: bool
    seed: int

    def check(self) -> None:
        if self.target is not None and was_given("samples"):
            raise click.UsageError("--samples and --target do not go together.")
        if (self.bandwidth == "adaptive") != (self.weight is not None):
            raise click.UsageError(
                "--bandwidth adaptive and -W go together: the variable bandwidth needs its weight, and a fixed one has"
                " none."
            )
        if self.bandwidth is not None and (self.data_file is not None or self.raw):
            raise click.UsageError(
                "--bandwidth makes the border of a training file: it does not go with --data or --raw, which are about"
                " a model."
            )
        if not self.density:
            return
        # Of a border, and of what draws it, nothing is to be asked.
        if self.bandwidth is None:
            raise click.UsageError("--density goes with --bandwidth: it is the estimate of a training file.")
        given = first_given("samples", "target", "sampling", "local", "tolerance", "seed")
        if given is not None:
            raise click.UsageError(f"--density writes no border: it does not go with {given}.")

    def check_model(self, model: "ExactModel") -> None:
        """Raises UsageError where it needs rows that were not given, and for what does not go with the model."""
        from fastsvm_cli.compilers.border.compile import needs_rows

        if self.raw and not (model.header.classification and model.header.has_probability):
            raise click.UsageError("--raw is for models with probabilities: others are sampled so without it.")

        if needs_rows(model) and self.data_file is None:
            raise click.UsageError(
                "a one-class model needs --data TRAIN_FILE: its support vectors lie on one side of the border."
            )

    @property
    def rows_file(self) -> "str | None":
        """What rows are read from: --data, or, with --bandwidth, MODEL_FILE, which is a training file then."""
        return self.model_file if self.bandwidth is not None else self.data_file

    @property
    def width(self) -> "float | None":
        """The fixed bandwidth of a density estimate; None of an adaptive one."""
        return self.bandwidth if isinstance(self.bandwidth, float) else None


@click.command("border", cls=FileCommand)
@click.option(
    "--samples",
    type=click.IntRange(1, 100000),
    default=100,
    show_default=True,
    metavar="N",
    help="Border samples per pair of classes.",
)
@click.option(
    "--target",
    type=Target(),
    metavar="E",
    help=(
        "Instead of --samples: as many (100,000 at most) as bring the share of labels that differ (0.002 or 0.2%),"
        " on rows that placed none of them, to E or below."
    ),
)
@click.option(
    "--data",
    "data_file",
    show_default="the support vectors",
    metavar="TRAIN_FILE",
    help=(
        "Rows to draw the lines between, and to measure on: half of them for either (fewer than 50: all for both)."
        " 40,000 drawn rows at most, fewer beyond 838 features."
    ),
)
@click.option(
    "--sampling",
    type=click.Choice(["refined", "dense", "random"]),
    default="refined",
    show_default=True,
    help=(
        "Which rows lines are drawn between. random: any two on either side, as in the paper; dense: the second one"
        " near the first (the nearest of 2,000 drawn ones); refined: from the rows that the samples so far get wrong,"
        " to a near one."
    ),
)
@click.option(
    "--local",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="K",
    help="Weigh the K nearest samples instead of the nearest alone, if that lowers the share of labels that differ.",
)
@click.option(
    "--tolerance",
    type=POSITIVE,
    default=1e-4,
    show_default=True,
    metavar="E",
    help="Of the decision value at a border sample.",
)
@click.option(
    "--raw",
    is_flag=True,
    help=(
        "A model with probabilities: sample where the decision value is 0 (the labels of svm-predict -b 0), not where"
        " both classes are as likely (-b 1)."
    ),
)
@click.option(
    "--bandwidth",
    callback=_bandwidth,
    metavar="adaptive|H",
    help=(
        "No SVM: MODEL_FILE is a training file, and the border is where Gaussian kernel density estimates of the"
        " classes are equal; of bandwidth H, or of one that varies so that the weights of all rows add up to W."
    ),
)
@click.option(
    "-W",
    "--weight",
    type=POSITIVE,
    metavar="W",
    help="With --bandwidth adaptive: how many rows a density estimate rests on, about.",
)
@click.option(
    "--density",
    is_flag=True,
    help=(
        "With --bandwidth: no border, but the density estimate itself, which answers at the cost of all training "
        "rows. Of a fixed bandwidth a LIBSVM model, for svm-predict and every command here; of an adaptive one a model "
        "with probabilities."
    ),
)
@fold_option(" Rows of --data, and with --bandwidth those of MODEL_FILE, are raw ones.")
@seed_option("Of what is drawn.")
@threads_option
@quiet_option()
@model_arguments
def command(**parsed):
    """Compile a model into points on the border of classes, with normals.

    A border sample is a root of the decision function on the line between two vectors of opposite class, its normal the
    gradient there. A row belongs to the class on whose side of the nearest sample's plane it lies: as many distances as
    there are samples, whatever the number of support vectors. For few features and several classes as well; for models
    with probabilities, predict -b 1 works. Classification and one-class models (these with --data); any kernel but a
    precomputed one. OUTPUT_FILE is MODEL_FILE.border in the current directory unless named; - is standard output.

    The labels are not proven. The summary says how many differ on rows that took no part.

    \b
      fastsvm border --samples 100 train.model
      fastsvm predict test.txt train.model.border out

    Without an SVM:

    \b
      fastsvm border --bandwidth adaptive -W 20 train.txt
      fastsvm border --bandwidth adaptive -W 20 --density train.txt
    """
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.text.data import read_chunks

    options = BorderOptions(**parsed)
    options.begin(".density" if options.density else ".border", options.data_file, options.scale_file)
    source = None if options.bandwidth is not None else read_exact_model(options.model_file)
    if source is not None:
        # Before the data is read, which may be long.
        from fastsvm_cli.compilers.border.compile import refusal
        from fastsvm_cli.compilers.refusals import demand

        demand(options.model_file, refusal(source.model))
        options.check_model(source.model)
    folding = read_folding(options, source.model if source is not None else None)
    scaling = folding.scaling if folding is not None else None
    rows = list(read_chunks(options.rows_file, scaling=scaling)) if options.rows_file is not None else None
    if options.rows_file is not None and not sum(chunk.rows for chunk in rows or []):
        raise FileError(options.rows_file, "no rows found, expected some to draw lines between")
    warn_of_scaling(scaling, options.quiet)

    if options.density:
        _write_density(rows or [], folding, options)
        return
    with Progress("border", quiet=options.quiet, announced=True) as progress:
        found = compile_source(source, rows, options, progress)
    written = found.model
    if folding is not None:
        from fastsvm_cli.compilers.folding import fold_border

        written = fold_border(written, folding)
    size = write_model(written, options)
    if not options.quiet:
        _show(found, source, size, options)
        if folding is not None:
            say_folded(folding, summary_stream(options.output_file))
        _warn(found, source, rows, options)


def compile_source(
    source: "Source | None", rows: "list[Chunk] | None", options: BorderOptions, progress: "Callable[..., None]"
) -> "Border":
    """The border of a model, or, without one, of density estimates."""
    from fastsvm_cli.compilers.border.compile import compile_border, compile_density_border

    how: dict[str, Any] = dict(
        count=options.samples,
        tolerance=options.tolerance,
        sampling=options.sampling,
        local=options.local,
        target=options.target,
        seed=options.seed,
        on_progress=progress,
    )
    if source is not None:
        return compile_border(source.model, fingerprint=source.fingerprint, raw=options.raw, chunks=rows, **how)
    from fastsvm_cli.compilers.border.density import rows_fingerprint

    assert rows is not None  # what is sampled without a model has training rows
    return compile_density_border(
        rows,
        options.model_file,
        fingerprint=rows_fingerprint(rows),
        bandwidth=options.width,
        weight=options.weight or 0.0,
        **how,
    )


def _show(found: "Border", source: "Source | None", size: int, options: BorderOptions) -> None:
    """The summary. size: of the file that was written."""
    report = summary_stream(options.output_file)
    model, counts = found.model, found.counts
    together = f" ({min(counts)} to {max(counts)} for each of {len(counts)} pairs)" if len(counts) > 1 else ""
    origin = f"{model.header.total_sv} {'support vectors' if source else 'training rows'}"
    print(f"{origin} -> {sum(counts)} border samples{together} in {len(model.features)} features", file=report)
    print(size_line(source.size if source else None, size, options.output_file), file=report)
    what = options.rows_file or "support vectors"
    apart = "held out" if found.parted else "too few to hold out"
    print(
        f"labels that differ on {found.measured} rows of {what}, {apart}: {found.different}"
        f" ({100 * found.disagreement:.3g} %)",
        file=report,
    )
    if options.local > 1:
        if model.local > 1:
            print(f"local: {model.local} of the nearest samples answer together", file=report)
        else:
            print(f"local: the nearest sample alone is as good as {options.local} of them", file=report)

    from fastsvm_cli.comparisons.on_support_vectors import trial

    tried = trial(model, source.model) if source else None
    if tried is not None:
        print(
            f"Trial on {tried.rows} support vectors: {tried.speed_up:.3g} times as fast as the exact model.",
            file=report,
        )
        if tried.speed_up < 1:
            _say(
                "no gain in time is to be expected over fastsvm predict with the exact model; fewer --samples are"
                " faster."
            )


def _warn(found: "Border", source: "Source | None", rows: "list[Chunk] | None", options: BorderOptions) -> None:
    """What is to be known of the border before it is used."""
    from fastsvm_cli.compilers.border.rows import looks_one_hot

    pairs, target = f"{len(found.counts)} pairs", options.target
    if found.one_sided:
        _say(f"{found.one_sided} of {pairs} of classes have no border between the rows: one class wins on all of them.")
    if found.without_root:
        what = (
            "a larger --bandwidth" if source is None else "a larger --tolerance for decision values as large as these"
        )
        _say(f"{found.without_root} of {pairs} of classes have no root within {options.tolerance:g}: choose {what}.")
    if found.short and target is None:
        _say(f"{found.short} of {pairs} have fewer samples than asked for: further ones would be near-duplicates.")
    if target is not None and found.disagreement > target:
        _say(f"the target of {100 * target:.3g} % was not met.")
    elif found.disagreement > 0.05:
        better = "more --samples, another bandwidth, or an SVM" if source is None else "fastsvm approx or reduce"
        tells = "" if source is None else " (fastsvm bench tells)"
        _say(f"poor agreement is to be expected: {better} may do better{tells}.")
    if rows:
        some = rows[0]
    else:
        assert source is not None  # what is sampled without a model has training rows
        some = source.model.vectors
    if looks_one_hot(some):
        _say(
            "most features have one value besides 0, as one-hot data has: border samples lie between categories, where"
            " no row is."
        )


def _say(words: str) -> None:
    print(f"Warning: {words}", file=sys.stderr)


def _write_density(rows: "list[Chunk]", folding: "Folding | None", options: BorderOptions) -> None:
    """The density estimate itself, in place of a border."""
    from fastsvm_cli.compilers.border.density import compile_density, rows_fingerprint

    width, weight, made_of = options.width, options.weight or 0.0, rows_fingerprint(rows)
    model = compile_density(
        rows, options.model_file, fingerprint=made_of, bandwidth=width, weight=weight, folding=folding
    )
    size = write_model(model, options)
    if options.quiet:
        return
    report = summary_stream(options.output_file)
    if width is None:
        what = f"a density estimate of {model.header.total_sv} weights that add up to {weight:g}"
    else:
        what = f"a LIBSVM model, the density estimate of bandwidth {width:g} (gamma {model.header.gamma:g})"
    print(f"{model.header.total_sv} training rows of {model.header.nr_class} classes -> {what}", file=report)
    print(size_line(None, size, options.output_file), file=report)
    if folding is not None:
        say_folded(folding, report)
