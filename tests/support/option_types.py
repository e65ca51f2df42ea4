"""Types of the arguments of compile, from the records of the methods."""

from fastsvm_cli.console.options import Choice, Count, Integer, Share
from fastsvm_cli.estimators.compile import _AUTO
from fastsvm_cli.methods import methods


def option_types():
    """Types of the options of every method and of "auto" by name; names of one letter are other spellings."""
    types = {name: [type(value).__name__] for name, value in _AUTO.items()}
    for name, (attribute, record) in (pair for each in methods() for pair in each.keywords.items() if len(pair[0]) > 1):
        types.setdefault(name, []).extend(_types(attribute, record.type))
    return {name: " | ".join(dict.fromkeys([*found, "None"])) for name, found in types.items()}


def _types(attribute, kind):
    if isinstance(kind, Choice):
        return [f"Literal[{', '.join(map(repr, kind.choices))}]"]
    if kind is str:
        return ["Any"] if attribute == "data_file" else ["Path"] if attribute.endswith("_file") else ["str"]
    if kind is bool:
        return ["bool"]
    return ["int"] if isinstance(kind, (Integer, Count)) else ["float", "str"] if isinstance(kind, Share) else ["float"]
