"""The command ``fastsvm border``."""

import sys
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console.compiler_options import read_exact_model, size_line, write_model
from fastsvm_cli.console.file_checks import summary_stream
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import embedded_scaling, read_range, say_raw_rows, warn_of_scaling
from fastsvm_cli.methods.border import METHOD, BorderOptions

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.console.compiler_options import SourceModel
    from fastsvm_cli.methods.border.samples import SampledBorder
    from fastsvm_cli.methods.folded_scaling import ScalingToFold
    from fastsvm_cli.text.scaling import Scaling


@click.command("border", cls=FileCommand, params=METHOD.Options.parameters())
def command(**parsed):
    """Compile a model into points on the border of classes, with normals.

    A border sample is a root of the decision function on the line between two vectors of opposite classes; its normal
    is the gradient there. A row gets the class on its side of the nearest sample's plane, at the cost of one distance
    per sample. Suits few features. Takes classification models, one-class models (with --data) and any kernel but a
    precomputed one; predict -b 1 works for models with probabilities. The default OUTPUT_FILE is MODEL_FILE.border in
    the current directory; - is standard output.

    Labels are not proven. The summary says how many differ on rows not used to place samples.

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
    from fastsvm_cli.text.read_rows import read_chunks

    options = BorderOptions(**parsed)
    options.begin(".density" if options.density else ".border", options.data_file, options.scale_file)
    source = None if options.bandwidth is not None else read_exact_model(options.model_file)
    if source is not None:
        METHOD.check_model(source.model, options)
    model, folding = source.model if source is not None else None, None
    scaling = read_range(options.scale_file, None, model, options.model_file)
    if scaling is not None and options.density and options.width is not None:
        from fastsvm_cli.methods.folded_scaling import ScalingToFold

        folding = ScalingToFold(scaling)
        scaling = folding.scaling
    rows = list(read_chunks(options.rows_file, scaling=scaling)) if options.rows_file is not None else None
    if options.rows_file is not None and not sum(chunk.rows for chunk in rows or []):
        raise FileError(options.rows_file, "no rows found, expected some to draw lines between")
    warn_of_scaling(scaling, options.quiet)

    if options.density:
        _write_density(rows or [], scaling, folding, options)
        return
    with Progress("border", quiet=options.quiet, announced=True) as progress:
        if source is None:
            found = METHOD.compile_rows(rows or [], options, progress)
        else:
            found = METHOD.compile(source, options, progress, rows)
    found.model.embedded_scaling = embedded_scaling(scaling, options.model_file)
    size = write_model(found.model, options)
    if not options.quiet:
        _show(found, source, size, options)
        if scaling is not None:
            say_raw_rows(scaling, "embedded", summary_stream(options.output_file))
        _warn(found, source, rows, options)


def _show(found: "SampledBorder", source: "SourceModel | None", size: int, options: BorderOptions) -> None:
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

    from fastsvm_cli.comparisons.support_vector_trial import trial

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


def _warn(
    found: "SampledBorder", source: "SourceModel | None", rows: "list[Chunk] | None", options: BorderOptions
) -> None:
    from fastsvm_cli.methods.border.rows import looks_one_hot

    pairs, target = f"{len(found.counts)} pairs", options.target
    if found.one_sided:
        _say(f"{found.one_sided} of {pairs} of classes have no border between the rows: one class wins on all of them.")
    if found.without_root:
        what = (
            "a larger --bandwidth" if source is None else "a larger --tolerance for decision values as large as these"
        )
        _say(f"{found.without_root} of {pairs} of classes have no root within {options.tolerance:g}: choose {what}.")
    if found.short and target is None:
        _say(f"{found.short} of {pairs} have fewer samples than requested: further ones would be near-duplicates.")
    if target is not None and found.disagreement > target:
        _say(f"the target of {100 * target:.3g} % was not met.")
    elif found.disagreement > 0.05:
        better = "more --samples, another bandwidth, or an SVM" if source is None else "fastsvm approx or reduce"
        tells = "" if source is None else " (fastsvm bench tells)"
        _say(f"poor agreement is to be expected: {better} may do better{tells}.")
    if rows:
        some = rows[0]
    else:
        assert source is not None  # without a model, there are training rows
        some = source.model.vectors
    if looks_one_hot(some):
        _say(
            "most features have one value besides 0, as one-hot data has: border samples lie between categories, where"
            " no row is."
        )


def _say(words: str) -> None:
    print(f"Warning: {words}", file=sys.stderr)


def _write_density(
    rows: "list[Chunk]", scaling: "Scaling | None", folding: "ScalingToFold | None", options: BorderOptions
) -> None:
    from fastsvm_cli.methods.border.density import compile_density, rows_fingerprint

    width, weight, made_of = options.width, options.weight or 0.0, rows_fingerprint(rows)
    model = compile_density(
        rows, options.model_file, fingerprint=made_of, bandwidth=width, weight=weight, folding=folding
    )
    if folding is None:
        model.embedded_scaling = embedded_scaling(scaling, options.model_file)
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
    if scaling is not None:
        say_raw_rows(scaling, "embedded" if folding is None else "folded in", report)
