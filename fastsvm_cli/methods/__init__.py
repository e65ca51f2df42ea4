"""The registry of methods: every way to compile an exact model, for the command line, Python and `bench --try`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsvm_cli.methods.method import Attempt, Method
    from fastsvm_cli.models.exact import ExactModel

#: Each is a command, and a module of that name here, whose instance of Method is named METHOD.
METHODS = ("approx", "reduce", "order", "border")


def methods() -> "list[Method]":
    """All of them. Loads nothing heavy."""
    from importlib import import_module

    return [import_module(f"fastsvm_cli.methods.{name}").METHOD for name in METHODS]


def names() -> "list[str]":
    """Of methods and of their variants, as Python has them."""
    return [*METHODS, *(variant for each in methods() for variant in each.variants)]


def find(name: str) -> "tuple[Method, str | None]":
    """The method of a name among `names`, and the variant if it is one's. Raises KeyError."""
    for each in methods():
        if name == each.name:
            return each, None
        if name in each.variants:
            return each, name
    raise KeyError(name)


def attempts(model: "ExactModel", max_bytes: float, patience: float) -> "list[Attempt]":
    """What `bench --try` and method="auto" try: every method that does not refuse the model. max_bytes: of a compiled
    model. patience: seconds a compilation may take, as far as that is known beforehand."""
    if not model.pairs or not model.header.total_sv:
        return []
    taking = [each for each in methods() if each.refusal(model) is None]
    return [attempt for each in taking for attempt in each.attempts(model, max_bytes, patience)]


def refusals(model: "ExactModel") -> "list[tuple[str, str]]":
    """(command, why) of the methods of which `attempts` has nothing because they refuse the model."""
    if not model.pairs or not model.header.total_sv:
        return [("every method", "the model has no support vectors")]
    return [refusal for each in methods() for refusal in each.refusals(model)]
