"""The command ``fastsvm reduce``."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

import click

from fastsvm_cli.console.compiler_options import (
    agreement_line,
    read_exact_model,
    size_line,
    warn_of_disagreement,
    write_model,
)
from fastsvm_cli.console.file_checks import check_outputs, summary_stream
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import read_range, say_raw_rows
from fastsvm_cli.methods.reduce import METHOD, ReduceOptions

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.console.compiler_options import SourceModel
    from fastsvm_cli.methods.folded_scaling import ScalingToFold
    from fastsvm_cli.methods.reduce.reduction import Reduction
    from fastsvm_cli.methods.reduce.target import Sample
    from fastsvm_cli.models.base import ExactModel

_OPTIMISTIC = "; often optimistic for reduced sets: give --data"


@click.command("reduce", cls=FileCommand, params=METHOD.Options.parameters())
def command(**parsed):
    """Replace the support vectors by a few others: a smaller LIBSVM model.

    The output is a true LIBSVM model: svm-predict, and every other reader of such models, gets faster without a change.
    Takes RBF models of any svm_type and number of classes. The vectors are placed so that the decision functions change
    least in the kernel's feature space. A last line, which LIBSVM skips, bounds the change, so that fastsvm predict
    --exact can prove labels. The default OUTPUT_FILE is MODEL_FILE.reduced in the current directory; - is standard
    output.

    \b
      fastsvm reduce --ratio 0.01 --data test.txt train.model
      svm-predict test.txt train.model.reduced out
    """
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.text.read_rows import read_chunks

    options = ReduceOptions(**parsed)
    options.begin(".reduced", options.data_file, options.scale_file, options.y_scale_file)
    if options.plot_file is not None:
        scale_files = (options.scale_file, options.y_scale_file)
        check_outputs([options.output_file, options.plot_file], options.model_file, options.data_file, *scale_files)
    source = read_exact_model(options.model_file)
    scaling, folding = read_range(options.scale_file, options.y_scale_file, source.model, options.model_file), None
    if scaling is not None:
        from fastsvm_cli.methods.folded_scaling import ScalingToFold

        folding = ScalingToFold(scaling)
        source.model = _of_raw_rows(source.model, folding)
    rows = list(read_chunks(options.data_file)) if options.data_file else None
    if options.data_file and not rows:
        raise FileError(options.data_file, "no rows found, expected some to measure on")

    with Progress("reduce", quiet=options.quiet, announced=True) as progress:
        found = METHOD.compile(source, options, progress, rows)
    reduced = found.model
    written: ExactModel = reduced
    if folding is not None:
        from fastsvm_cli.methods.folded_scaling import folded_model

        written = folded_model(reduced, source.fingerprint, folding)
    size = write_model(written, options)
    if not options.quiet:
        _tell(options, source, found, size, rows, folding)
    if options.plot_file is not None:
        _draw(options, source, reduced, rows)


def _tell(
    options: ReduceOptions,
    source: "SourceModel",
    found: "Reduction",
    size: int,
    rows: "list[Chunk] | None",
    folding: "ScalingToFold | None",
) -> None:
    from fastsvm_cli.comparisons.agreement import agreement
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.prediction.scores import summary_lines

    model, reduced = source.model, found.model
    report = summary_stream(options.output_file)
    merged = f", {found.merged} of them equal to others or of coefficient 0" if found.merged else ""
    print(f"{model.header.total_sv} support vectors{merged} -> {reduced.header.total_sv} vectors", file=report)
    print(size_line(source.size, size, options.output_file), file=report)
    if folding is not None:
        say_raw_rows(folding.scaling, "folded in", report)
        _warn_of_unknown(folding, rows, report)
    if not options.lossless:
        print(
            f"squared distance {found.distance:.3g} of |Psi|^2, radius {max(reduced.origin.radius, default=0.0):.3g}",
            file=report,
        )
    sample = found.sample
    if sample is not None and sample.measured is not None:
        rows = [sample.measured]
    with Progress("reduce, compared with the exact model", announced=True) as progress:
        seen = agreement(reduced, model, rows or [model.vectors], progress)
    if sample is not None:
        for line in _sample_lines(sample, options.data_file):
            print(line, file=report)
    else:
        note = "" if options.lossless else _OPTIMISTIC if rows is None else _note_of_training(model, rows)
        print(agreement_line(seen, options.data_file or "the support vectors") + note, file=report)
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
    if sample is None:
        warn_of_disagreement(seen, "more --vectors")
    elif options.target is not None and (shortfall := sample.shortfall(options.target)) is not None:
        print(f"Warning: {shortfall}.", file=sys.stderr)


def _note_of_training(model: "ExactModel", rows: "list[Chunk]") -> str:
    """Return a note if most support vectors are among the rows."""
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.methods.reduce.held_out import among

    trained = among(model.vectors, Chunk.concatenate(rows)).mean() > 0.5 if model.header.total_sv else False
    return "; the model was trained on these rows: give others, they differ more often" if trained else ""


def _sample_lines(sample: "Sample", data_file: "str | None") -> "Iterator[str]":
    """Yield lines about the rows on which a target was decided."""
    from fastsvm_cli.methods.reduce.target import CONFIDENCE

    seen = sample.seen
    difference = f"root mean square difference, of the values' standard deviation, on {{}}: {100 * seen.share:.3g} %"
    if seen.changed is not None:
        difference = f"labels that differ on {{}}: {seen.different} of {seen.rows} ({100 * seen.share:.3g} %)"
    if sample.bound is None:
        yield difference.format("support vectors held out while placing") + _OPTIMISTIC
        return
    yield (
        difference.format(f"the tested part of {data_file}")
        + f"; with {100 * CONFIDENCE:g} % confidence at most {100 * sample.bound:.3g} % of rows like these"
    )
    if sample.held:
        yield (
            f"{sample.held} of these rows are support vectors, and were held out while placing: for rows that the model"
            " was not trained on, this is an estimate"
        )


def _draw(options: ReduceOptions, source: "SourceModel", reduced: "ExactModel", rows: "list[Chunk] | None") -> None:
    from os.path import basename

    from fastsvm_cli.benchmarks.sizes import measure_sizes
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import ModelFormatError
    from fastsvm_cli.figures.reduce import draw
    from fastsvm_cli.figures.style import write

    assert options.plot_file is not None
    if not reduced.pairs or not reduced.header.total_sv:
        raise ModelFormatError(options.model_file, "no support vectors found, expected some to draw (--plot)")
    with Progress("reduce, for the plot", quiet=options.quiet, announced=True) as progress:
        found = measure_sizes(
            source.model,
            reduced,
            rows or [],
            fingerprint=source.fingerprint,
            how=options.how,
            on_progress=progress,
        )
    data = basename(options.data_file) if options.data_file else "the support vectors"
    write(draw("standard input" if data == "-" else data, found), options.plot_file)


def _of_raw_rows(model: "ExactModel", folding: "ScalingToFold") -> "ExactModel":
    from fastsvm_cli.methods.folded_scaling import folded_exact
    from fastsvm_cli.methods.method import require
    from fastsvm_cli.methods.reduce.reduction import reason_against

    require(model.path, reason_against(model))
    instead = "leave --scale out here and give it to predict, or use fastsvm approx --scale"
    return folded_exact(model, folding, instead)


def _warn_of_unknown(folding: "ScalingToFold", rows: "list[Chunk] | None", report: "TextIO") -> None:
    """Warn of features that the range file lacks: svm-scale drops them, but a LIBSVM model counts them."""
    from fastsvm_cli._native import used_indices

    known = set(folding.affine.features)
    unknown = next((index for chunk in rows or () for index in used_indices(chunk) if index not in known), None)
    if unknown is not None:
        print(
            f"Warning: the rows have feature {unknown}, which {folding.path} does not hold: svm-scale leaves it out, a"
            " LIBSVM model counts it. Take it out of the rows, or use fastsvm approx --scale.",
            file=sys.stderr,
        )
    elif len(known) < max(known, default=0):
        print(
            f"Features that {folding.path} does not hold must not be in the rows: a LIBSVM model counts them.",
            file=report,
        )
