"""Text input and output; here, numbers as text."""

from math import isfinite
from typing import Any


def json_document(value: object, indent: int) -> str:
    """Return strict JSON; nan and infinity become null."""
    import json

    return json.dumps(finite(value), indent=indent, allow_nan=False)


def finite(value: "Any") -> "Any":
    """Replace non-finite numbers by None, and tuples by lists."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def size_text(n: int) -> str:
    """Return bytes as text; KB is 1000."""
    if n < 1000:
        return f"{n} bytes"
    return f"{n / 1e3:.3g} KB" if n < 1e6 else f"{n / 1e6:.3g} MB"


def percent(share: float) -> str:
    """Return a share in percent, in three digits."""
    return f"{100 * share:.3g} %"


def digits(value: float, count: int) -> str:
    """Return `count` significant digits, without exponent if large."""
    text = f"{value:.{count}g}"
    return f"{float(text):,.0f}" if "e+" in text else text
