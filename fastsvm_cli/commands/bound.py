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
    as_json: bool = shared.json("Print one JSON document on standard output.")
    quiet: bool = shared.quiet("Print no warnings or progress bar.")
    plot_file: "str | None" = plot_option(
        "Figure of the share of rows proven, by degree and radius; needs one model and one data file"
    )
    data_or_model: "tuple[str, ...]" = shared.argument(nargs=-1)

    def check(self) -> None:
        super().check()
        check_plot(self.plot_file)
        if self.plot_file is not None and len(self.data_or_model) != 2:
            raise click.UsageError("--plot is of one model on one data file: name these two.")

    def check_found(self, models: int, data: int) -> None:
        about_rows = self.first_given("scale_file", "dense", "unlabelled", "max_line") if not data else None
        if about_rows is not None:
            raise click.UsageError(f"{about_rows} is about rows of data, and here are models alone.")
        if self.plot_file is not None and (models, data) != (1, 1):
            what = "two models" if models else "two data files"
            raise click.UsageError(f"--plot is of one model on one data file, and these are {what}.")


@click.command("bound", cls=shared.FileCommand, params=BoundOptions.parameters())
def command(**parsed):
    """Tell whether an approximation will hold, before training or after.

    \b
      fastsvm bound train.txt                          gamma_MAX, before training
      fastsvm bound train.model                        its gamma against gamma_MAX
      fastsvm bound train.model test.txt               rows inside the bound
      fastsvm bound certified.approx test.txt          and rows proven
      fastsvm bound --plot p.svg train.model test.txt  what each degree proves
      fastsvm bound --json any.model                   kind, origin, size, range

    gamma_MAX (Claesen et al., eq. 3.11) is the gamma below which every kernel term of the degree-2 expansion is within
    3.05 %. It is a worst case: labels usually survive a gamma several times larger. It is given about the origin and
    about the mean; fastsvm approx uses the mean, which lowers typical norms, but not always the largest. For data
    alone, or a model alone, rows and support vectors are assumed to be equally long.
    """
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.text.output import check_output

    options = BoundOptions(**parsed)
    inputs = (*options.data_or_model, options.scale_file)
    check_inputs(*inputs)
    if options.plot_file is not None:
        check_output(options.plot_file, inputs)
    check_document(inputs, [options.plot_file] if options.plot_file is not None else [])

    from fastsvm_cli.comparisons.inside_bound import Reading, bound_report  # imports numpy

    drawn: list[Drawn] = []

    def watch(models: "list[tuple[str, Model]]", data: "list[str]") -> "list[ProvenRows]":
        options.check_found(len(models), len(data))
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
        )
        report = bound_report(options.data_or_model, reading)
    warn_of_scaling(reading.scaling, options.quiet)
    if options.as_json:
        from fastsvm_cli.text.numbers import json_document

        click.echo(json_document(report, 2))
    else:
        _show(report)
    if options.plot_file is not None:
        _draw(drawn, report["pairs"][0], options.plot_file)


class Drawn(NamedTuple):
    """degree: 0 without an expansion."""

    words: str
    degree: int
    size: int
    seen: "ProvenRows"


def _models_to_draw(path: str, model: "Model", quiet: bool) -> "list[Drawn]":
    from fastsvm_cli.comparisons.proven_rows import ProvenRows
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import ModelFormatError
    from fastsvm_cli.methods.approx.by_degree import by_degree
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
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.figures.bound import Proven, draw
    from fastsvm_cli.figures.style import write

    if not pair["rows"]:
        raise FileError(pair["data"], "no rows found, expected some to draw what is proven of them")
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


_CENTERS = {"origin": "about the origin", "mean": "about the mean", "own": "about its own centers"}


def _show(report: dict) -> None:
    from rich.table import Table
    from rich.text import Text

    from fastsvm_cli.console.terminal import show

    for title, lines in _tables(report):
        heading = Text(title, "bold")  # in a str, [ begins a style
        table = Table(title=heading, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 2))
        table.add_column(overflow="fold")
        table.add_column(overflow="fold")
        for name, value in lines:
            table.add_row(name, Text(value))
        show([table], soft_wrap=not sys.stdout.isatty())


def _tables(report: dict):
    for data in report["data"]:
        lines = [
            ("rows", f"{data['rows']:,}"),
            ("largest index", f"{data['largest_index']:,}"),
            ("entries per row", f"{data['entries'] / max(data['rows'], 1):.4g}"),
        ]
        for name in ("origin", "mean"):
            lines.append((f"largest norm {_CENTERS[name]}", f"{data[f'largest_norm_{name}']:.6g}"))
        for name in ("origin", "mean"):
            lines.append((f"gamma_MAX {_CENTERS[name]}", f"{data[f'gamma_max_{name}']:.6g}"))
        yield data["file"], lines
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
        if "gamma_max_mean" in model and model["gamma"]:
            lines.append(
                (
                    "verdict",
                    _verdict(model["gamma"] < model["gamma_max_mean"], "rows with norms up to its support vectors'"),
                )
            )
        yield model["file"], lines
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
        if "share_inside_mean" in pair and pair["rows"]:
            lines.append(("verdict", _verdict(pair["rows_inside_mean"] == pair["rows"], "these rows")))
        if "share_proven" in pair:
            lines.append(("rows proven", _share(pair["share_proven"], pair["rows_proven"], pair["rows"])))
        if "radius_median" in pair:
            lines.append(
                (
                    "radius: median, 95 %, largest",
                    ", ".join(f"{pair[f'radius_{name}']:.3g}" for name in ("median", "95", "largest")),
                )
            )
        yield f"{pair['model']} on {pair['data']}", lines


def _verdict(inside: bool, rows: str) -> str:
    if inside:
        return f"approx should hold on {rows}; if C is large, use approx --certify"
    return f"approx may change labels on {rows}: bench measures how many"


def _share(share: "float | None", count: int, rows: int) -> str:
    return f"{'-' if share is None else f'{100 * share:.4g} %'} ({count:,} of {rows:,})"


def _against(gamma: float, limit: float) -> str:
    ratio = gamma / limit if limit else float("inf")
    return f"{limit:.6g} (gamma is {ratio:.3g} x that)"


def _unbounded(kernel_type: str) -> str:
    if kernel_type in ("linear", "polynomial"):
        return "none needed: the expansion of this kernel is exact"
    return "none: this kernel has no expansion here"
