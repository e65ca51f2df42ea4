"""Content of compiled model files."""

from collections.abc import Sequence

from fastsvm_cli import _native
from fastsvm_cli.text.header import Header


def read_compiled(
    text: bytes, path: str, *, end: str, keys: "Sequence[str]", optional: "Sequence[str]" = ()
) -> "tuple[Header, _native.OwnKeys, _native.Body]":
    """Return the header, the kind's own keys, and the body after the line `end`. Raises ModelFormatError."""
    header, own, body = _native.read_compiled(text, path, end, list(keys), list(optional))
    return Header(**header), own, body


def ranges(features: "list[int]") -> str:
    """Return the line `features` without its key: 1 2 3 7 -> 1:3 7"""
    out, first = [], None
    for at, index in enumerate(features):
        if first is None:
            first = index
        if at + 1 == len(features) or features[at + 1] != index + 1:
            out.append(f"{first}:{index}" if index > first else str(index))
            first = None
    return " ".join(out)
