"""Write the figure of ``--plot``."""

from typing import Any

import click

from fastsvm_cli.console.options import OUTPUT, Option

_KINDS = ("svg", "png", "pdf")


def plot_option(words: str) -> Any:
    """Return an option ``--plot FILE``."""
    words_ = f"{words} (.svg, .png or .pdf; needs pip install 'fastsvm[plot]')."
    return Option("--plot FILE", words_, group=OUTPUT)


def check_plot(plot_file: "str | None") -> None:
    """Load matplotlib, and require a known file type."""
    if plot_file is None:
        return
    if not plot_file.endswith(tuple(f".{kind}" for kind in _KINDS)):
        raise click.UsageError(f"--plot writes .svg, .png or .pdf, and '{plot_file}' is none of them.")
    try:
        _load_matplotlib()
    except Exception:
        raise click.ClickException("--plot needs matplotlib: pip install 'fastsvm[plot]'") from None


def _load_matplotlib() -> None:
    import logging
    import os

    # It reports an unwritable home directory, and its search for fonts.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    before = os.environ.get("MPLCONFIGDIR")
    import matplotlib  # noqa: F401

    made = os.environ.get("MPLCONFIGDIR")
    if made is None or made == before:
        return
    # A temporary folder, as the home directory is unwritable. matplotlib removes it at interpreter shutdown, which
    # start.py skips.
    from functools import partial
    from shutil import rmtree

    from fastsvm_cli import system

    remove = partial(rmtree, made, ignore_errors=True)
    system.add_undo(remove)
    click.get_current_context().call_on_close(remove)
