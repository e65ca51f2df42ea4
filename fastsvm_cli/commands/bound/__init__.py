"""The command ``fastsvm bound``."""

import os
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.files import check_document, check_inputs, check_outputs, check_plot, warn_of_scaling

if TYPE_CHECKING:
    from fastsvm_cli.commands.bound.report import Drawn


class BoundOptions(shared.DataOptions):
    """Options of ``fastsvm bound``."""

    as_json: bool = shared.json("Print one JSON document on standard output.")
    quiet: bool = shared.quiet("Print no warnings or progress bar.")
    plot_file: "str | None" = shared.plot_option(
        "Figure of the share of rows proven, by degree and radius; needs one model and one data file"
    )
    data_or_model: "tuple[str, ...]" = shared.argument(nargs=-1)

    def check(self) -> None:
        """Refuse options that conflict."""
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
        """Refuse options that conflict with so many models and data files."""
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
    3.05 %. It is a worst case. It is given about the origin and about the mean, which fastsvm approx uses. If the
    model's gamma over gamma_MAX about the mean is below 1, approx is suggested, else bench --try. For data alone, or a
    model alone, rows and support vectors are assumed to be equally long.

    A model is also compiled in memory, as approx does, if that takes about a second at most, and compared with the
    exact model on up to 4,000 evenly spread rows of the data file or, without one, on support vectors.
    """
    from fastsvm_cli.console.progress import Progress

    options = BoundOptions(**parsed)
    inputs = (*options.data_or_model, options.scale_file)
    outputs = [] if options.plot_file is None else [options.plot_file]
    check_inputs(*inputs)
    check_outputs(outputs, *inputs)
    check_document(inputs, outputs)

    from fastsvm_cli.commands.bound.report import Reading, bound_report  # imports numpy
    from fastsvm_cli.commands.bound.screen import advise, show_report

    with Progress("bound", quiet=options.quiet) as progress:
        reading = Reading(options, progress)
        report = bound_report(reading)
        advise(report, reading.models, reading.sampled, options.as_typed)
    warn_of_scaling(reading.scaling, options.quiet)
    if options.as_json:
        from fastsvm_cli.text.numbers import json_document

        click.echo(json_document(report, 2))
    else:
        show_report(report)
    if options.plot_file is not None:
        _draw(reading.drawn, report["pairs"][0], options.plot_file)


def _draw(drawn: "list[Drawn]", pair: dict, plot_file: str) -> None:
    from fastsvm_cli.figures.bound import Proven, draw
    from fastsvm_cli.figures.style import write

    names = [os.path.basename(pair[name]) if pair[name] != "-" else "standard input" for name in ("data", "model")]
    write(draw(names[0], names[1], [Proven.of(*each) for each in drawn]), plot_file)
