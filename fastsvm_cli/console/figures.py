"""What the commands share that draw: --plot, checked before anything long is done, and the file that it writes."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

_KINDS = ("svg", "png", "pdf")


def plot_option(words: str) -> "Callable":
    """--plot FILE, and what it draws."""
    return click.option(
        "--plot",
        "plot_file",
        metavar="FILE",
        help=f"{words} (.svg, .png or .pdf; needs matplotlib: pip install 'fastsvm[plot]').",
    )


def check_plot(plot_file: "str | None") -> None:
    """Raises UsageError for a file that is none of the kinds; ClickException where there is no matplotlib."""
    if plot_file is None:
        return
    if not plot_file.endswith(tuple(f".{kind}" for kind in _KINDS)):
        raise click.UsageError(f"--plot writes .svg, .png or .pdf, and '{plot_file}' is none of them.")
    try:
        import matplotlib  # noqa: F401
    except Exception:
        raise click.ClickException("--plot needs matplotlib: pip install 'fastsvm[plot]'") from None


def write_figure(figure: "Figure", plot_file: str) -> None:
    """As its name ends; whole or not at all. Raises FileError."""
    from fastsvm_cli.figures.style import content
    from fastsvm_cli.text.output import Output

    drawn = content(figure, plot_file.rpartition(".")[2])
    with Output(plot_file) as output:
        output.write(drawn)
