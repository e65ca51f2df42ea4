"""Numbers as text, for people and for programs."""

import json
from math import isfinite
from typing import Any


def json_document(value: object, indent: int) -> str:
    """JSON that every reader takes: nan and infinity, which JSON lacks, become null. value: dicts, lists, numbers,
    strings, None."""
    return json.dumps(finite(value), indent=indent, allow_nan=False)


def finite(value: "Any") -> "Any":
    """The same, with None for what is not finite, and lists for tuples."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def size_text(n: int) -> str:
    """So many bytes, as three digits and a unit: bytes, KB or MB, a thousand times the one before."""
    if n < 1000:
        return f"{n} bytes"
    return f"{n / 1e3:.3g} KB" if n < 1e6 else f"{n / 1e6:.3g} MB"


def digits(value: float, count: int) -> str:
    """So many significant digits, without an exponent for large numbers."""
    text = f"{value:.{count}g}"
    return f"{float(text):,.0f}" if "e+" in text else text
