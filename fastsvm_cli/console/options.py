"""What the commands share: options, and the hint that follows an error."""

from collections.abc import Callable

import click

from fastsvm_cli.errors import DataFormatError, FastsvmError, ModelFormatError


class FileCommand(click.Command):
    """A command whose errors about a file say what to type instead, where the mistake is plain."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except (DataFormatError, ModelFormatError) as error:
            from fastsvm_cli.console.hints import hint

            words = hint(error, self.name or "", context.params)
            if words is None:
                raise
            raise FastsvmError(f"{error}; {words}") from None


def _one_character(context: click.Context, parameter: click.Parameter, value: str) -> str:
    value = {"\\t": "\t", "tab": "\t", "space": " "}.get(value, value)
    if len(value) != 1 or not value.isascii() or value.isalnum() or value in "+-.\n\r":
        raise click.BadParameter("expected one character that cannot be part of a number (or \\t)")
    return value


def data_options(command: "Callable") -> "Callable":
    """How the data file is written: --dense, --delim, --unlabelled, --max-line (in bytes)."""
    for option in (
        click.option(
            "--max-line",
            type=click.FloatRange(0, min_open=True),
            default=256.0,
            show_default=True,
            metavar="MB",
            callback=lambda context, parameter, value: max(int(value * 1e6), 1),
            help="The longest line the data may have; a longer one is no row. Needs memory for a few times as much.",
        ),
        click.option("--unlabelled", is_flag=True, help="Rows have no label in front."),
        click.option(
            "--delim",
            "delimiter",
            default=",",
            show_default=True,
            metavar="C",
            callback=_one_character,
            help="The delimiter of --dense; a blank stands for any run of blanks, \\t for a tab.",
        ),
        click.option(
            "--dense", is_flag=True, help="The data is delimited numbers: a label, then the value of feature 1, 2, ..."
        ),
    ):
        command = option(command)
    return command


threads_option = click.option(
    "--threads",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Threads to use [default: all the process may run on].",
)
