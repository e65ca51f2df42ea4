"""JSON that every reader takes: JSON has no nan and no infinity, which stand as null."""

import json
from math import isfinite
from typing import Any


def json_document(value: object, indent: int) -> str:
    """value: dicts, lists, numbers, strings, None."""
    return json.dumps(finite(value), indent=indent, allow_nan=False)


def finite(value: "Any") -> "Any":
    """The same, with None for what is not finite, and lists for tuples."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
