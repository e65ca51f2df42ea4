"""--scale: its file, read before the rows, and what is said once these have been read; or part of a model."""

import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.models.carried import Carried
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


def read_range(
    path: "str | None", labels_path: "str | None", model: "Model | None", model_file: str
) -> "Scaling | None":
    """Likewise, of a command that compiles `model` (None: the density estimate of rows), from a file of this name.
    Raises FileError, DataFormatError, and ModelFormatError where the range does not go with the model."""
    scaling = read_scale_file(path, labels_path)
    if scaling is not None:
        from fastsvm_cli.models.carried import check

        check(scaling, model, model_file)
    return scaling


def carried(scaling: "Scaling | None", model_file: str) -> "Carried | None":
    """The range for a compiled model to carry, or None. model_file: the model it was compiled from, for messages."""
    if scaling is None:
        return None
    from fastsvm_cli.models.carried import Carried

    return Carried(scaling, model_file)


def say_raw_rows(scaling: "Scaling", what: str, report: TextIO) -> None:
    """The line of a summary. what: has become of the range file."""
    raw = "raw rows" if scaling.native.label_line() is None else "raw rows and predicts raw labels"
    print(f"{scaling.path} is {what}: it takes {raw}", file=report)


def refuse_twice(scale_file: "str | None", model: "Model", model_file: str) -> None:
    """Raises UsageError for a model that takes raw rows, where rows are to be scaled."""
    if scale_file is None or model.raw_rows is None:
        return
    import click

    raise click.UsageError(f"{model_file} takes raw rows, {model.raw_rows}: give it no --scale.")
