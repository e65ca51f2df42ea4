"""The command ``fastsvm bound``."""

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.file_checks import check_document, check_inputs
from fastsvm_cli.console.plot import check_plot, plot_option
from fastsvm_cli.console.scaling import read_scale_file, warn_of_scaling

if TYPE_CHECKING:
    from fastsvm_cli.comparisons.proven_rows import ProvenRows
    from fastsvm_cli.models.base import Model


class BoundOptions(shared.DataOptions):
    """Options of ``fastsvm bound``."""

    as_json: bool = shared.json("Print one JSON document on standard output.")
    quiet: bool = shared.quiet("Print no warnings or progress bar.")
    plot_file: "str | None" = plot_option(
        "Figure of the share of rows proven, by degree and radius; needs one model and one data file"
    )
    data_or_model: "tuple[str, ...]" = shared.argument(nargs=-1)

    def check(self) -> None:
        """Raise UsageError for options that conflict."""
        super().check()
        check_plot(self.plot_file)
        if self.plot_file is not None and len(self.data_or_model) != 2:
            raise click.UsageError("--plot is of one model on one data file: name these two.")

    @property
    def as_typed(self) -> "list[str]":
        """Options that make another command read the same rows."""
        words = ["--dense"] * self.dense + ["--delim", self.delimiter] * ("delimiter" in self.given)
        words += ["--unlabelled"] * self.unlabelled
        return words + (["--scale", self.scale_file] if self.scale_file is not None else [])

    def check_found(self, models: int, data: int) -> None:
        """Raise UsageError for options that conflict with the numbers of models and of data files."""
        about_rows = self.first_given("scale_file", "dense", "unlabelled", "max_line") if not data else None
        if about_rows is not None:
            raise click.UsageError(f"{about_rows} is about rows of data, and here are models alone.")
        if self.plot_file is not None and (models, data) != (1, 1):
            what = "two models" if models else "two data files"
            raise click.UsageError(f"--plot is of one model on one data file, and these are {what}.")


@click.command("bound", cls=shared.FileCommand, params=BoundOptions.parameters())
def command(**parsed):
    """Grade gamma against gamma_MAX, and name the next command.

    \b
      fastsvm bound train.txt                          gamma_MAX, before training
      fastsvm bound train.model                        its gamma against gamma_MAX
      fastsvm bound train.model test.txt               labels that approx changes
      fastsvm bound certified.approx test.txt          and rows proven
      fastsvm bound --plot p.svg train.model test.txt  what each degree proves
      fastsvm bound --json any.model                   kind, origin, size, range

    gamma_MAX (Claesen et al., eq. 3.11) is the gamma below which every kernel term of the degree-2 expansion is within
    3.05 %. It is a worst case. It is given about the origin and about the mean, which fastsvm approx uses. The model's
    gamma over gamma_MAX about the mean suggests a command: below 1, approx; up to 6, bench --try; beyond, cascade or
    the model as it is. For data alone, or a model alone, rows and support vectors are assumed to be equally long.

    A model is also compiled in memory, as approx does, if that takes about a second at most, and compared with the
    exact model on up to 4,000 evenly spread rows of the data file or, without one, on support vectors.
    """
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.text.output import check_output

    options = BoundOptions(**parsed)
    inputs = (*options.data_or_model, options.scale_file)
    check_inputs(*inputs)
    if options.plot_file is not None:
        check_output(options.plot_file, inputs)
    check_document(inputs, [options.plot_file] if options.plot_file is not None else [])

    from fastsvm_cli.commands.bound.advice import advise
    from fastsvm_cli.commands.bound.report import Reading, bound_report  # imports numpy
    from fastsvm_cli.methods.approx.grade import ROWS

    drawn: list[Drawn] = []
    found: list[Model] = []

    def watch(models: "list[tuple[str, Model]]", data: "list[str]") -> "list[ProvenRows]":
        options.check_found(len(models), len(data))
        found.extend(model for _, model in models)
        if options.plot_file is not None:
            drawn.extend(_models_to_draw(*models[0], options.quiet))
        return [each.seen for each in drawn]

    with Progress("bound", quiet=options.quiet) as progress:
        reading = Reading(
            labelled=not options.unlabelled,
            dense=options.dense,
            delimiter=options.delimiter,
            max_line=options.max_line,
            scaling=read_scale_file(options.scale_file),
            progress=progress,
            watch=watch,
            sample=ROWS,
        )
        report = bound_report(options.data_or_model, reading)
        advise(report, found, reading.sampled, options.as_typed)
    warn_of_scaling(reading.scaling, options.quiet)
    if options.as_json:
        from fastsvm_cli.text.numbers import json_document

        click.echo(json_document(report, 2))
    else:
        from fastsvm_cli.commands.bound.screen import show_report

        show_report(report)
    if options.plot_file is not None:
        _draw(drawn, report["pairs"][0], options.plot_file)


class Drawn(NamedTuple):
    """Certified model whose proven rows --plot draws. degree: 0 without an expansion. size: bytes of its file."""

    words: str
    degree: int
    size: int
    seen: "ProvenRows"


def _models_to_draw(path: str, model: "Model", quiet: bool) -> "list[Drawn]":
    from fastsvm_cli.comparisons.proven_rows import ProvenRows
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import ModelFormatError
    from fastsvm_cli.methods.approx.grade import by_degree
    from fastsvm_cli.models import parse_libsvm

    if model.certified:
        degree = getattr(model, "degree", 0) if model.centers is not None else 0
        words = f"degree {degree}" if degree else "reduced set" if model.reduced else model.kind
        return [Drawn(words, degree, len(model.to_text()), ProvenRows(model))]
    if model.fingerprint is not None:  # compiled, without radii
        raise ModelFormatError(
            path, "no radii found to draw, expected the exact model or one of fastsvm approx --certify"
        )
    with Progress("expand", quiet=quiet) as progress:
        found = by_degree(parse_libsvm(model.to_text(), path), progress)
    skipped = "; ".join(f"degree {each.degree} ({each.skipped})" for each in found if each.skipped is not None)
    out = [
        Drawn(f"degree {each.degree}", each.degree, each.size, ProvenRows(each.model))
        for each in found
        if each.model is not None
    ]
    if not out:
        raise ModelFormatError(path, f"nothing to draw: every expansion is too large or takes too long: {skipped}")
    if skipped and not quiet:
        print(f"Skipped: {skipped}.", file=sys.stderr)
    return out


def _draw(drawn: "list[Drawn]", pair: dict, plot_file: str) -> None:
    from fastsvm_cli.figures.bound import Proven, draw
    from fastsvm_cli.figures.style import write

    found = [
        Proven(
            words=each.words,
            degree=each.degree,
            size=each.size,
            rows=each.seen.rows,
            proven=None if each.seen.model.header.regression else each.seen.proven,
            curve=each.seen.curve(),
            median=each.seen.quantile(0.5),
            upper=each.seen.quantile(0.95),
        )
        for each in drawn
    ]
    names = [os.path.basename(pair[name]) if pair[name] != "-" else "standard input" for name in ("data", "model")]
    write(draw(names[0], names[1], found), plot_file)
