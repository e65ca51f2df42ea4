"""Sizes of files, as text."""


def size_text(n: int) -> str:
    """Three digits and a unit of 1000."""
    if n < 1000:
        return f"{n} bytes"
    return f"{n / 1e3:.3g} KB" if n < 1e6 else f"{n / 1e6:.3g} MB"
