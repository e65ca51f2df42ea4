"""The tables that `bound` prints."""

import sys
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from fastsvm_cli.commands.bound.advice import advice_lines
from fastsvm_cli.console.terminal import show

_CENTERS = {"origin": "about the origin", "mean": "about the mean", "own": "about its own centers"}


def show_report(report: dict) -> None:
    """Print every data file, model, and model on a data file of `bound_report`, with its advice."""
    for title, lines, commands in _tables(report):
        heading = Text(title, "bold")  # in a str, [ begins a style
        table = Table(title=heading, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 2))
        table.add_column(overflow="fold")
        table.add_column(overflow="fold")
        for name, value in lines:
            table.add_row(name, Text(value))
        show([table], soft_wrap=not sys.stdout.isatty())
        for at, command in enumerate(commands):  # unfolded, to be copied
            print(f"  {'or:  ' if at else 'next:'} {command}")


def _tables(report: dict) -> "Iterator[tuple[str, list[tuple[str, str]], list[str]]]":
    for data in report["data"]:
        lines = [
            ("rows", f"{data['rows']:,}"),
            ("largest index", f"{data['largest_index']:,}"),
            ("entries per row", f"{data['entries'] / data['rows']:.4g}"),
        ]
        for name in ("origin", "mean"):
            lines.append((f"largest norm {_CENTERS[name]}", f"{data[f'largest_norm_{name}']:.6g}"))
        for name in ("origin", "mean"):
            lines.append((f"gamma_MAX {_CENTERS[name]}", f"{data[f'gamma_max_{name}']:.6g}"))
        yield data["file"], lines + advice_lines(data), data.get("next", [])
    for model in report["models"]:
        what = (
            f"{'compiled, ' if model['compiled'] else ''}{model['kernel_type']}, {model['total_sv']:,} support vectors"
        )
        lines = [("model", what)]
        if model["certified"]:
            lines.append(("certified", "yes: every row gets an error bound"))
        if model["gamma"] is None:
            lines.append(("bound", _unbounded(model["kernel_type"])))
        else:
            lines.append(("gamma", f"{model['gamma']:.6g}"))
            if not any(f"gamma_max_{name}" in model for name in _CENTERS):
                lines.append(("bound", "none: this kind of model has no expansion"))
        for name, words in _CENTERS.items():
            if f"gamma_max_{name}" in model:
                lines.append((f"gamma_MAX {words}", _against(model["gamma"], model[f"gamma_max_{name}"])))
        # On rows, their ratio decides.
        advice = [] if report["pairs"] else advice_lines(model)
        yield model["file"], lines + advice, model.get("next", [])
    for pair in report["pairs"]:
        lines = []
        if pair["gamma"] is None:
            lines.append(("bound", "none needed" if pair["exact"] else "none"))
        for name, words in _CENTERS.items():
            if f"gamma_max_{name}" in pair:
                lines.append((f"gamma_MAX {words}", _against(pair["gamma"], pair[f"gamma_max_{name}"])))
                lines.append(
                    (
                        f"rows inside {words}",
                        _share(pair[f"share_inside_{name}"], pair[f"rows_inside_{name}"], pair["rows"]),
                    )
                )
        if "share_proven" in pair:
            lines.append(("rows proven", _share(pair["share_proven"], pair["rows_proven"], pair["rows"])))
        if "radius_median" in pair:
            lines.append(
                (
                    "radius: median, 95 %, largest",
                    ", ".join(f"{pair[f'radius_{name}']:.3g}" for name in ("median", "95", "largest")),
                )
            )
        yield f"{pair['model']} on {pair['data']}", lines + advice_lines(pair), pair.get("next", [])


def _share(share: float, count: int, rows: int) -> str:
    return f"{100 * share:.4g} % ({count:,} of {rows:,})"


def _against(gamma: float, limit: float) -> str:
    ratio = gamma / limit if limit else float("inf")
    return f"{limit:.6g} (gamma is {ratio:.3g} x that)"


def _unbounded(kernel_type: str) -> str:
    if kernel_type == "linear":
        return "none needed: the expansion of this kernel is exact (LIBLINEAR trains such models)"
    if kernel_type == "polynomial":
        return "none needed: the expansion of this kernel is exact"
    return "none: this kernel has no expansion here"
