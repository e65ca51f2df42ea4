"""--plot: the option, and its check before anything that takes long."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable
_KINDS = ("svg", "png", "pdf")


def plot_option(words: str) -> "Callable":
    """--plot FILE, and what it draws."""
    return click.option(
        "--plot",
        "plot_file",
        metavar="FILE",
        help=f"{words} (.svg, .png or .pdf; needs pip install 'fastsvm[plot]').",
    )


def check_plot(plot_file: "str | None") -> None:
    """Raises UsageError for a file that is none of the kinds; ClickException where there is no matplotlib. Loads it."""
    if plot_file is None:
        return
    if not plot_file.endswith(tuple(f".{kind}" for kind in _KINDS)):
        raise click.UsageError(f"--plot writes .svg, .png or .pdf, and '{plot_file}' is none of them.")
    try:
        _load_matplotlib()
    except Exception:
        raise click.ClickException("--plot needs matplotlib: pip install 'fastsvm[plot]'") from None


def _load_matplotlib() -> None:
    """Quietly, and so that nothing temporary of it stays."""
    import logging
    import os

    # It says where its cache lies if the home directory cannot be written, and when it looks for fonts.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    before = os.environ.get("MPLCONFIGDIR")
    import matplotlib  # noqa: F401

    made = os.environ.get("MPLCONFIGDIR")
    if made is None or made == before:
        return
    # A temporary folder in place of the home directory. It would go as the interpreter is taken apart, which start.py
    # leaves out.
    from functools import partial
    from shutil import rmtree

    from fastsvm_cli import interruption

    remove = partial(rmtree, made, ignore_errors=True)
    interruption.add_undo(remove)
    click.get_current_context().call_on_close(remove)
