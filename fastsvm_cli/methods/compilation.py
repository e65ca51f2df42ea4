"""Compilation by the name of a method."""

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from fastsvm_cli.console.compiler_options import SourceModel as SourceModel
from fastsvm_cli.console.compiler_options import read_back, require_compilable
from fastsvm_cli.methods import find
from fastsvm_cli.methods.parallel import threads_here
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.read_rows import read_chunks


class CompiledModel(NamedTuple):
    """A compiled model, read back from its text.

    size: bytes of the text. target: the option target, a share, or 0. warning: why a target was not reached, or a
    guarantee does not hold; or None.
    """

    model: Model
    size: int
    target: float
    warning: "str | None"


def compile_source(
    name: str, source: SourceModel, given: "dict[str, Any]", on_progress: "Callable[..., None] | None" = None
) -> CompiledModel:
    """Compile an exact model.

    given: values of options by their long names, with _ for -; True for a flag, None for an option that is not given.
    `data` may be a list of chunks. Raises TypeError for an unknown option, ValueError for a conflict, ModelFormatError
    and FileError.
    """
    method, variant = find(name)
    path, rows, given = source.model.path, None, dict(given)
    if isinstance(given.get("data"), list):
        rows, given["data"] = given["data"], "data"
    try:
        options = method.read_options(given, variant, path)
        with threads_here(options.threads or None):
            require_compilable(source.model)
            method.check_model(source.model, options)
            if rows is None and given.get("data") is not None:
                rows = list(read_chunks(options.data_file))
            if rows is not None and not sum(chunk.rows for chunk in rows):
                raise click.UsageError("data without a row found, expected some")
            compiled = method.compile(source, options, on_progress or silent, rows)
            sample, target = getattr(compiled, "sample", None), getattr(options, "target", None)
        text, model = read_back(compiled.model, path)
        options.check_size(len(text))
    except click.ClickException as error:
        raise ValueError(f"{method.name}: {error.format_message()}") from None
    warning = getattr(compiled, "warning", None) if sample is None or target is None else sample.shortfall(target)
    return CompiledModel(model, len(text), target or 0.0, warning)


def silent(share: float, words: str = "") -> None:
    """Do nothing with a progress report."""
