"""The line `features` of compiled models: increasing LIBSVM indices, as ranges."""

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.header import whole_number


def ranges(features: "list[int]") -> str:
    """1 2 3 7 -> 1:3 7"""
    out, first = [], None
    for at, index in enumerate(features):
        if first is None:
            first = index
        if at + 1 == len(features) or features[at + 1] != index + 1:
            out.append(f"{first}:{index}" if index > first else str(index))
            first = None
    return " ".join(out)


def read_ranges(words: "list[str]", line: int, path: str, limit: int = 2**31) -> "list[int]":
    """1:3 7 -> 1 2 3 7. limit: bytes of the file, which holds a number per feature."""
    out: list[int] = []
    for word in words:
        first, _, last = word.partition(":")
        low = whole_number(first, "features", path, line)
        high = whole_number(last, "features", path, line) if last else low
        if low < 0 or high < low or (out and low <= out[-1]):
            raise ModelFormatError(path, f"features '{word[:40]}' found, expected increasing indices", line)
        if len(out) + high - low >= limit:
            raise ModelFormatError(path, f"features '{word[:40]}' found, more than the file has numbers for", line)
        out.extend(range(low, high + 1))
    return out
