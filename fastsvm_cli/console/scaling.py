"""Read the range files of ``--scale`` and ``--y-scale``."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.text.scaling import EmbeddedScaling, Scaling


def read_scale_file(path: "str | None", labels_path: "str | None" = None) -> "Scaling | None":
    """Read the files of --scale and --y-scale."""
    if path is None:
        return None
    from fastsvm_cli.text.read_rows import read_bytes
    from fastsvm_cli.text.scaling import parse_scaling, with_labels

    scaling = parse_scaling(read_bytes(path), path)
    return scaling if labels_path is None else with_labels(scaling, read_bytes(labels_path), labels_path)


def warn_of_scaling(scaling: "Scaling | None", quiet: bool) -> None:
    """Print svm-scale's warnings, after all rows."""
    if scaling is not None and not quiet:
        for line in scaling.warnings():
            print(line, file=sys.stderr)


def read_range(
    path: "str | None", labels_path: "str | None", model: "Model | None", model_file: str
) -> "Scaling | None":
    """Read a range file that must fit the model (None: a density estimate)."""
    scaling = read_scale_file(path, labels_path)
    if scaling is not None:
        from fastsvm_cli.text.scaling import check_embedding

        check_embedding(scaling, model, model_file)
    return scaling


def embedded_scaling(scaling: "Scaling | None", model_file: str) -> "EmbeddedScaling | None":
    """Return a scaling as a model embeds it, or None. model_file: for messages."""
    if scaling is None:
        return None
    from fastsvm_cli.text.scaling import EmbeddedScaling

    return EmbeddedScaling(scaling, model_file)


def refuse_twice(scale_file: "str | None", model: "Model", model_file: str) -> None:
    """Refuse --scale with a model of raw rows."""
    if scale_file is None or model.raw_rows is None:
        return
    import click

    raise click.UsageError(f"{model_file} takes raw rows, {model.raw_rows}: give it no --scale.")
