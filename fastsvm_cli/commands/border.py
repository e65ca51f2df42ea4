import sys

import click

from fastsvm_cli.console.exact_model import output_name, read_exact_model, size_line, text_to_write
from fastsvm_cli.console.files import check_files, summary_stream
from fastsvm_cli.console.options import FileCommand, threads_option


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
    type=click.FloatRange(0, min_open=True),
    metavar="E",
    help=(
        "Instead of --samples: as many (100,000 at most) as bring the share of labels that differ (0.002: 2 in 1,000),"
        " on rows that placed none of them, to E or below."
    ),
)
@click.option(
    "--data",
    "data_file",
    metavar="TRAIN_FILE",
    help=(
        "Rows to draw the lines between, and to measure on: half of them for either (fewer than 50: all for both)."
        " 40,000 drawn rows at most, fewer beyond 838 features [default: the support vectors]."
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
    type=click.FloatRange(0, min_open=True),
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
    "weight",
    type=click.FloatRange(0, min_open=True),
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
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of what is drawn.")
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No summary, no warnings, no progress bar.")
@click.argument("model_file")
@click.argument("output_file", required=False)
def command(
    samples,
    target,
    data_file,
    sampling,
    local,
    tolerance,
    raw,
    bandwidth,
    weight,
    density,
    seed,
    threads,
    quiet,
    model_file,
    output_file,
):
    """Compile a LIBSVM model into border samples: points on the border between two classes, with normals.

    A border sample is a root of the decision function on the line between two vectors of opposite class, its normal the
    gradient there. A row belongs to the class on whose side of the nearest sample's plane it lies: as many distances as
    there are samples, whatever the number of support vectors. For few features and several classes as well; for models
    with probabilities, predict -b 1 works. Classification and one-class models (these with --data); any kernel but a
    precomputed one. OUTPUT_FILE is MODEL_FILE.border in the current directory unless named; - is standard output.

    The labels are not proven. The summary says how many differ on rows that took no part.

    \b
      fastsvm border --samples 100 train.model
      fastsvm predict test.txt train.model.border out
    \b
    Without an SVM:
      fastsvm border --bandwidth adaptive -W 20 train.txt
      fastsvm border --bandwidth adaptive -W 20 --density train.txt
    """
    from fastsvm_cli import _native
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.text.data import read_chunks
    from fastsvm_cli.text.output import Output

    source_of_samples = click.get_current_context().get_parameter_source("samples")
    if target is not None and source_of_samples is not None and source_of_samples.name == "COMMANDLINE":
        raise click.UsageError("--samples and --target do not go together.")
    if (bandwidth == "adaptive") != (weight is not None):
        raise click.UsageError(
            "--bandwidth adaptive and -W go together: the variable bandwidth needs its weight, and a fixed one has"
            " none."
        )
    if bandwidth is not None and (data_file is not None or raw):
        raise click.UsageError(
            "--bandwidth makes the border of a training file: it does not go with --data or --raw, which are about a"
            " model."
        )
    if density:
        _check_density(bandwidth)
    output_file = output_name(output_file, model_file, ".density" if density else ".border")
    check_files(output_file, model_file, data_file)
    _native.set_threads(threads)
    rows_file = model_file if bandwidth is not None else data_file
    source = None if bandwidth is not None else read_exact_model(model_file)
    if source is not None:
        # Before the data is read, which may be long.
        from fastsvm_cli.compilers.border.compile import needs_rows, refusal
        from fastsvm_cli.compilers.refusals import demand

        demand(model_file, refusal(source.model))
        if needs_rows(source.model) and data_file is None:
            raise click.UsageError(
                "a one-class model needs --data TRAIN_FILE: its support vectors lie on one side of the border."
            )
    rows = list(read_chunks(rows_file)) if rows_file is not None else None
    if rows is not None and not sum(chunk.rows for chunk in rows):
        raise FileError(rows_file, "no rows found, expected some to draw lines between")

    if density:
        width = None if bandwidth == "adaptive" else bandwidth
        _write_density(rows, model_file, output_file, width, weight or 0.0, quiet)
        return

    from fastsvm_cli.comparisons.trial import trial
    from fastsvm_cli.compilers.border.compile import compile_border, compile_density_border, looks_one_hot

    how = dict(count=samples, tolerance=tolerance, sampling=sampling, local=local, target=target, seed=seed)
    with Progress("border", quiet=quiet) as progress:
        if source is None:
            found = compile_density_border(
                rows,
                model_file,
                fingerprint=_fingerprint(rows),
                bandwidth=None if bandwidth == "adaptive" else bandwidth,
                weight=weight or 0.0,
                on_progress=progress,
                **how,
            )
        else:
            found = compile_border(
                source.model, fingerprint=source.fingerprint, raw=raw, chunks=rows, on_progress=progress, **how
            )
    result = text_to_write(found.model, model_file)
    with Output(output_file) as output:
        output.write(result)
    if quiet:
        return
    report = summary_stream(output_file)
    model = found.model
    counts = [pair.count for pair in model.samples]
    together = f" ({min(counts)} to {max(counts)} for each of {len(counts)} pairs)" if len(counts) > 1 else ""
    origin = f"{model.header.total_sv} {'support vectors' if source else 'training rows'}"
    print(f"{origin} -> {sum(counts)} border samples{together} in {len(model.features)} features", file=report)
    print(size_line(source.size if source else None, len(result), output_file), file=report)
    what = rows_file or "support vectors"
    apart = "held out" if found.parted else "too few to hold out"
    print(
        f"labels that differ on {found.measured} rows of {what}, {apart}: {found.different}"
        f" ({100 * found.disagreement:.3g} %)",
        file=report,
    )
    if local > 1:
        print(
            (
                f"local: {model.local} of the nearest samples answer together"
                if model.local > 1
                else f"local: the nearest sample alone is as good as {local} of them"
            ),
            file=report,
        )

    def warn(words):
        print(f"Warning: {words}", file=sys.stderr)

    tried = trial(model, source.model) if source else None
    if tried is not None:
        print(
            f"Trial on {tried.rows} support vectors: {tried.speed_up:.3g} times as fast as the exact model.",
            file=report,
        )
        if tried.speed_up < 1:
            warn(
                "no gain in time is to be expected over fastsvm predict with the exact model; fewer --samples are"
                " faster."
            )
    if found.one_sided:
        warn(
            f"{found.one_sided} of {len(counts)} pairs of classes have no border between the rows: one class wins on"
            " all of them."
        )
    if found.without_root:
        what = (
            "a larger --bandwidth" if source is None else "a larger --tolerance for decision values as large as these"
        )
        warn(
            f"{found.without_root} of {len(counts)} pairs of classes have no root within {tolerance:g}: choose {what}."
        )
    if found.short and target is None:
        warn(
            f"{found.short} of {len(counts)} pairs have fewer samples than asked for: further ones would be"
            " near-duplicates."
        )
    if target is not None and found.disagreement > target:
        warn(f"the target of {100 * target:.3g} % was not met.")
    elif found.disagreement > 0.05:
        better = "more --samples, another bandwidth, or an SVM" if source is None else "fastsvm approx or reduce"
        warn(
            f"poor agreement is to be expected: {better} may do"
            f" better{' (fastsvm bench tells)' * (source is not None)}."
        )
    if rows:
        some = rows[0]
    else:
        assert source is not None  # what is sampled without a model has training rows
        some = source.model.vectors
    if looks_one_hot(some):
        warn(
            "most features have one value besides 0, as one-hot data has: border samples lie between categories, where"
            " no row is."
        )


def _check_density(bandwidth) -> None:
    """Of a border, and of what draws it, nothing is to be asked."""
    if bandwidth is None:
        raise click.UsageError("--density goes with --bandwidth: it is the estimate of a training file.")
    context = click.get_current_context()
    for name in ("samples", "target", "sampling", "local", "tolerance", "seed"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise click.UsageError(f"--density writes no border: it does not go with --{name}.")


def _write_density(rows, train_file, output_file, bandwidth, weight, quiet) -> None:
    from fastsvm_cli.compilers.border.density import compile_density
    from fastsvm_cli.text.output import Output

    model = compile_density(rows, train_file, fingerprint=_fingerprint(rows), bandwidth=bandwidth, weight=weight)
    result = text_to_write(model, train_file)
    with Output(output_file) as output:
        output.write(result)
    if quiet:
        return
    report = summary_stream(output_file)
    if bandwidth is None:
        what = f"a density estimate of {model.header.total_sv} weights that add up to {weight:g}"
    else:
        what = f"a LIBSVM model, the density estimate of bandwidth {bandwidth:g} (gamma {model.header.gamma:g})"
    print(f"{model.header.total_sv} training rows of {model.header.nr_class} classes -> {what}", file=report)
    print(size_line(None, len(result), output_file), file=report)


def _fingerprint(rows) -> str:
    """Of the training rows, in their canonical text."""
    from fastsvm_cli import _native
    from fastsvm_cli.text.fingerprint import fingerprint

    return fingerprint(b"".join(_native.format_rows(chunk) for chunk in rows))
