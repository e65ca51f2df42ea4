"""The command ``fastsvm bound``."""

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.files import check_document, check_inputs, warn_of_scaling


class BoundOptions(shared.DataOptions):
    """Options of ``fastsvm bound``."""

    as_json: bool = shared.json("Print one JSON document on standard output.")
    quiet: bool = shared.quiet("Print no warnings or progress bar.")
    data_or_model: "tuple[str, ...]" = shared.argument(nargs=-1)

    @property
    def as_typed(self) -> "list[str]":
        """Options that make another command read the same rows."""
        words = ["--dense"] * self.dense + ["--delim", self.delimiter] * ("delimiter" in self.given)
        words += ["--unlabelled"] * self.unlabelled
        return words + (["--scale", self.scale_file] if self.scale_file is not None else [])

    def check_without_data(self) -> None:
        """Refuse options of rows, where models are alone."""
        why = "{} is about rows of data, and here are models alone."
        self.refuse_given(why, "scale_file", "dense", "unlabelled", "max_line")


@click.command("bound", cls=shared.FileCommand, params=BoundOptions.parameters())
def command(**parsed):
    """Grade gamma against gamma_MAX, and name the next command.

    \b
      fastsvm bound train.txt                          gamma_MAX, before training
      fastsvm bound train.model                        its gamma against gamma_MAX
      fastsvm bound train.model test.txt               labels that approx changes
      fastsvm bound certified.approx test.txt          and rows proven
      fastsvm bound --json any.model                   kind, origin, size, range

    gamma_MAX (Claesen et al., eq. 3.11) is the gamma below which every kernel term of the degree-2 expansion is within
    3.05 %. It is a worst case. It is given about the origin and about the mean, which fastsvm approx uses. If the
    model's gamma over gamma_MAX about the mean is below 1, approx is suggested, else bench --try. For data alone, or a
    model alone, rows and support vectors are assumed to be equally long.

    A model is also compiled in memory, as approx does, if that takes about a second at most, and compared with the
    exact model on up to 4,000 evenly spread rows of the data file or, without one, on support vectors.
    """
    from fastsvm_cli.console.terminal import Progress

    options = BoundOptions(**parsed)
    inputs = (*options.data_or_model, options.scale_file)
    check_inputs(*inputs)
    check_document(inputs)

    from fastsvm_cli.commands.bound.report import Reading, advise, bound_report, show_report  # imports numpy

    with Progress("bound", quiet=options.quiet) as progress:
        reading = Reading(options, progress)
        report = bound_report(reading)
        advise(report, reading.models, reading.sampled, options.as_typed)
    warn_of_scaling(reading.scaling, options.quiet)
    if options.as_json:
        from fastsvm_cli.text import json_document

        click.echo(json_document(report, 2))
    else:
        show_report(report)
