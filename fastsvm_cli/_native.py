"""Placeholder, not installed. Once built, Python finds the compiled core first."""

from pathlib import Path
from typing import Any

_CHECKOUT = Path(__file__).resolve().parent.parent

raise ImportError(
    f"fastsvm in {_CHECKOUT} is source code that is not built: install it (pip install {_CHECKOUT}), and start Python"
    " in another folder"
)


def __getattr__(name: str) -> Any: ...  # for type checkers
