"""Sizes of files, and other numbers, as text."""


def size_text(n: int) -> str:
    """So many bytes, as three digits and a unit: bytes, KB or MB, a thousand times the one before."""
    if n < 1000:
        return f"{n} bytes"
    return f"{n / 1e3:.3g} KB" if n < 1e6 else f"{n / 1e6:.3g} MB"


def digits(value: float, count: int) -> str:
    """So many significant digits, without an exponent for large numbers."""
    text = f"{value:.{count}g}"
    return f"{float(text):,.0f}" if "e+" in text else text
