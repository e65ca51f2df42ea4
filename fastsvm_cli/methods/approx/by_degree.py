"""A model expanded at every degree, to see what each of them proves."""

from collections.abc import Callable

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.costs import certify_seconds, file_bytes
from fastsvm_cli.methods.approx.expansion import compile_maclaurin, own_degree, refusal
from fastsvm_cli.methods.method import demand, part_of
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.maclaurin import MAX_DEGREE
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.numbers import size_text

#: What no expansion here may exceed: the size of its file in bytes, and the seconds it takes.
MOST_BYTES, MOST_SECONDS = 64e6, 30.0


class Expanded:
    """degree: of a certified expansion. model, size: it, and the bytes of its file; None and 0 where it is left out.
    skipped: why it is, or None."""

    def __init__(self, degree: int, model: "Model | None", size: int, skipped: "str | None" = None):
        self.degree, self.model, self.size, self.skipped = degree, model, size, skipped


def by_degree(model: ExactModel, on_progress: "Callable[[float], None] | None" = None) -> "list[Expanded]":
    """Certified expansions about the mean, of degree 1 to 4; of a finite kernel the one that it has. What would be too
    large or take too long is left out. Raises ModelFormatError for kernels without one, and what overflows."""
    demand(model.path, refusal(model))
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
        text = found.to_text()  # with the digits that a file has
        out.append(Expanded(degree, parse_model(text, model.path), len(text)))
    return out
