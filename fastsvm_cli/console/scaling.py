"""--scale: its file, read before the rows, and what is said once these have been read; or folded into a model."""

import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from fastsvm_cli.console.exact_model import CompilerOptions
    from fastsvm_cli.methods.folding import Folding
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.models.exact import ExactModel
    from fastsvm_cli.text.scaling import Scaling


def read_scale_file(path: "str | None", labels_path: "str | None" = None) -> "Scaling | None":
    """What --scale names, or None; labels_path: what --y-scale names. Raises FileError and DataFormatError."""
    if path is None:
        return None
    from fastsvm_cli.text.data import read_bytes
    from fastsvm_cli.text.scaling import parse_scaling, with_labels

    scaling = parse_scaling(read_bytes(path), path)
    return scaling if labels_path is None else with_labels(scaling, read_bytes(labels_path), labels_path)


def warn_of_scaling(scaling: "Scaling | None", quiet: bool) -> None:
    """What svm-scale warns of, on standard error, once all rows have been read."""
    if scaling is not None and not quiet:
        for line in scaling.warnings():
            print(line, file=sys.stderr)


def read_folding(options: "CompilerOptions", model: "ExactModel | None") -> "Folding | None":
    """What --scale (and --y-scale) of a command that compiles `model` (None: the density estimate of rows) folds into
    the result; None without it. Raises FileError, DataFormatError and ModelFormatError."""
    given = vars(options)
    scaling = read_scale_file(given["scale_file"], given.get("y_scale_file"))
    if scaling is None:
        return None
    from fastsvm_cli.methods.folding import Folding

    folding = Folding(scaling)
    folding.check(model)
    return folding


def say_folded(folding: "Folding", report: TextIO) -> None:
    """The line of a summary."""
    raw = "raw rows" if folding.labels is None else "raw rows and predicts raw labels"
    print(f"{folding.path} is part of it: it takes {raw}", file=report)


def refuse_twice(scale_file: "str | None", model: "Model", model_file: str) -> None:
    """Raises UsageError for a model that scaling is folded into, where rows are to be scaled."""
    if scale_file is not None and model.folded is not None:
        import click

        raise click.UsageError(f"{model_file} takes raw rows, because --scale is folded into it: give it no --scale.")
