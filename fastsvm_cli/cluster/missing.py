"""What the extra `dask` brings, where it is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastsvm_cli.errors import FastsvmError


@contextmanager
def demanded() -> "Iterator[None]":
    """Imports in this block are of the extra. Raises FastsvmError, which says what to type."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "dask").partition(".")[0]
        raise FastsvmError(f"Dask is needed, and {name} is not installed: pip install 'fastsvm[dask]'") from None
