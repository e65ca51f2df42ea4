"""JSON that every reader takes: JSON has no nan and no infinity, which stand as null."""

import json
from math import isfinite


def json_document(value: object, indent: int) -> str:
    """value: dicts, lists, numbers, strings, None."""
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
