"""The screen of `bound`: grade, next command, and facts."""

import sys
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from fastsvm_cli.commands.bound.advice import grade_line, training_line, tried_line
from fastsvm_cli.console.terminal import show

_CENTERS = {"origin": "origin", "mean": "mean", "own": "own centers"}


def show_report(report: dict) -> None:
    """Print a `bound_report` with its advice: of models on data files or, without both, of every file."""
    for title, facts, lines in _blocks(report):
        grade = grade_line(facts)
        head = [Text(title, "bold"), *([] if grade is None else [Text(f"  grade: {grade}")])]
        show(head, soft_wrap=not sys.stdout.isatty())
        for at, command in enumerate(facts.get("next", [])):  # unfolded, to be copied
            print(f"  {'or:   ' if at else 'next:  '}{command}")
        table = Table(show_header=False, box=None, padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in [("approx, tried", tried_line(facts)), *lines]:
            if value is not None:
                table.add_row(name, Text(value))
        show([table], soft_wrap=not sys.stdout.isatty())


def _blocks(report: dict) -> "Iterator[tuple[str, dict, list[tuple[str, str | None]]]]":
    for pair in report["pairs"]:
        model = next(each for each in report["models"] if each["file"] == pair["model"])
        data = next(each for each in report["data"] if each["file"] == pair["data"])
        lines = [("bound", ("none needed" if pair["exact"] else "none") if pair["gamma"] is None else None)]
        lines += [*_limits(pair), *_proven(pair), *_of_model(model), *_of_data(data)]
        yield f"{pair['model']} on {pair['data']}", pair, lines
    if report["pairs"]:
        return
    for data in report["data"]:
        lines = [("advice", training_line(data)), *_of_data(data)]
        limits = [f"{data[f'gamma_max_{name}']:.6g} about the {name}" for name in ("origin", "mean")]
        yield data["file"], data, [*lines, ("gamma_MAX", ", ".join(limits))]
    for model in report["models"]:
        yield model["file"], model, [*_of_model(model), *_limits(model)]


def _of_data(data: dict) -> "list[tuple[str, str | None]]":
    norms = [f"{data[f'largest_norm_{name}']:.6g} about the {name}" for name in ("origin", "mean")]
    mean = f"{data['entries'] / data['rows']:.4g}"
    entries = f"{mean} {'entry' if mean == '1' else 'entries'} per row"
    return [
        ("rows", f"{data['rows']:,}; largest index {data['largest_index']:,}; {entries}"),
        ("largest norm", ", ".join(norms)),
    ]


def _of_model(model: dict) -> "list[tuple[str, str | None]]":
    what = f"{'compiled, ' if model['compiled'] else ''}{model['kernel_type']}, {model['total_sv']:,} support vectors"
    gamma = "" if model["gamma"] is None else f", gamma {model['gamma']:.6g}"
    unbounded = None
    if model["gamma"] is None:
        unbounded = _unbounded(model["kernel_type"])
    elif not any(f"gamma_max_{name}" in model for name in _CENTERS):
        unbounded = "none: this kind of model has no expansion"
    certified = "yes: every row gets an error bound" if model["certified"] else None
    return [("model", what + gamma), ("certified", certified), ("bound", unbounded)]


def _limits(facts: dict) -> "Iterator[tuple[str, str | None]]":
    for name, words in _CENTERS.items():
        if f"gamma_max_{name}" in facts:
            against = _against(facts["gamma"], facts[f"gamma_max_{name}"])
            key = f"share_inside_{name}"
            inside = (
                f"; {_share(facts[key], facts[f'rows_inside_{name}'], facts['rows'])} inside" if key in facts else ""
            )
            yield f"gamma_MAX, {words}", against + inside


def _proven(pair: dict) -> "Iterator[tuple[str, str | None]]":
    if "share_proven" in pair:
        yield "rows proven", _share(pair["share_proven"], pair["rows_proven"], pair["rows"])
    if "radius_median" in pair:
        radii = ", ".join(f"{pair[f'radius_{name}']:.3g}" for name in ("median", "95", "largest"))
        yield "radius", f"{radii} (median, 95 %, largest)"


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
