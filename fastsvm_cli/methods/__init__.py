"""The registry of compilation methods, and reports of their progress."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsvm_cli.methods.method import Method
    from fastsvm_cli.models import ExactModel

#: Modules here with a METHOD, and commands.
METHODS = ("approx", "cascade", "reduce", "order", "border")


def methods() -> "list[Method]":
    """Return every method."""
    from importlib import import_module

    return [import_module(f"fastsvm_cli.methods.{name}").METHOD for name in METHODS]


def names() -> "list[str]":
    """Return the names of all methods and variants."""
    return [*METHODS, *(variant for each in methods() for variant in each.variants)]


def find(name: str) -> "tuple[Method, str | None]":
    """Return the method with this name, and its variant or None."""
    for each in methods():
        if name == each.name:
            return each, None
        if name in each.variants:
            return each, name
    raise KeyError(name)


def refused_by_all(model: "ExactModel") -> "str | None":
    """Return why no method takes the model, or None."""
    if not model.pairs or not model.header.total_sv:
        return "the model has no support vectors"
    return model.uncompilable


def reasons_against(model: "ExactModel") -> "list[tuple[str, str]]":
    """Return (command, reason) for every method that refuses the model."""
    if (why := refused_by_all(model)) is not None:
        return [("every method", why)]
    return [reason_against for each in methods() for reason_against in each.reasons_against(model)]


#: Receives the share done, and text.
Progress = Callable[..., None]


def silent(share: float, words: str = "") -> None:
    """Do nothing with a progress report."""


def part_of(on_progress: Progress, begin: float, end: float, *words: str) -> Progress:
    """Return on_progress from share `begin` to `end`."""
    return lambda share: on_progress(begin + (end - begin) * share, *words)
