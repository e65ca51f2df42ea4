"""Compile methods for Python, with the commands' options."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from fastsvm_cli import _native
from fastsvm_cli.console.exact_model import SourceModel, demand_compilable, read_back
from fastsvm_cli.errors import in_python
from fastsvm_cli.methods import find
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.data import read_chunks


def compile_source(
    name: str, source: SourceModel, given: "dict[str, Any]", on_progress: "Callable[..., None] | None" = None
) -> "tuple[Model, float]":
    """Compile an exact model. Return the model, read back from its text, and the option target (a share) or 0.

    given: {long option name, _ for -: value}; a flag is True; None: not given. `data` may be a list of chunks. Raise
    TypeError for an unknown option, ValueError for a conflict, ModelFormatError and FileError."""
    method, variant = find(name)
    path, rows, given = source.model.path, None, dict(given)
    if isinstance(given.get("data"), list):
        rows, given["data"] = given["data"], "data"
    with in_python():
        try:
            options = method.read_options(given, variant, path)
            with _threads(options.threads):
                demand_compilable(source.model)
                method.check_model(source.model, options)
                if rows is None and given.get("data") is not None:
                    rows = list(read_chunks(options.data_file))
                if rows is not None and not sum(chunk.rows for chunk in rows):
                    raise click.UsageError("data without a row found, expected some")
                compiled = method.compile(source, options, on_progress or silent, rows)
            text, model = read_back(compiled.model, path)
            options.check_size(len(text))
        except click.ClickException as fault:
            raise ValueError(f"{method.name}: {fault.format_message()}") from None
    return model, getattr(options, "target", None) or 0.0


@contextmanager
def _threads(count: int) -> "Iterator[None]":
    if not count:
        yield
        return
    before = _native.set_threads_here(count)
    try:
        yield
    finally:
        _native.set_threads_here(before)


def silent(share: float, words: str = "") -> None:
    pass
