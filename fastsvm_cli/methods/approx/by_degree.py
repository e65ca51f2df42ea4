"""Certified expansions of every degree, for ``bound``."""

from collections.abc import Callable

from fastsvm_cli import _native
from fastsvm_cli._native import MAX_DEGREE
from fastsvm_cli.methods.approx.costs import certify_seconds, file_bytes
from fastsvm_cli.methods.approx.expansion import compile_maclaurin, own_degree, reason_against
from fastsvm_cli.methods.method import part_of, require
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.base import ExactModel, Model
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.numbers import size_text

#: Limits per expansion.
MOST_BYTES, MOST_SECONDS = 64e6, 30.0


class Expanded:
    """A certified expansion. model: None if skipped. size: bytes of its file. skipped: reason."""

    def __init__(self, degree: int, model: "Model | None", size: int, skipped: "str | None" = None):
        self.degree, self.model, self.size, self.skipped = degree, model, size, skipped


def by_degree(model: ExactModel, on_progress: "Callable[[float], None] | None" = None) -> "list[Expanded]":
    """Return certified expansions of degrees 1 to 4 (finite kernels: their own), except large and slow ones.

    Raises ModelFormatError for kernels without one, and for overflow.
    """
    require(model.path, reason_against(model))
    header, features = model.header, len(_native.used_indices(model.vectors))
    degrees = list(range(1, MAX_DEGREE + 1)) if header.kernel_type == "rbf" else [own_degree(header)]
    out = []
    for at, degree in enumerate(degrees):
        size, seconds = file_bytes(header, features, degree), certify_seconds(header, features)
        if size > MOST_BYTES or seconds > MOST_SECONDS:
            why = size_text(size) if size > MOST_BYTES else f"about {seconds:.2g} s"
            out.append(Expanded(degree, None, 0, why))
            continue
        shown = part_of(on_progress, at / len(degrees), (at + 1) / len(degrees))
        found = compile_maclaurin(model, fingerprint=fingerprint(b""), degree=degree, certify=True, on_progress=shown)
        text = found.to_text()  # rounds as in a file
        out.append(Expanded(degree, parse_model(text, model.path), len(text)))
    return out
