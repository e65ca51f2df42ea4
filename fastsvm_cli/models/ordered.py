"""Ordered models: a row stops when the rest of its sum cannot change the answer."""

from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.folded import inherited
from fastsvm_cli.models.kernel import OWN_KERNELS, Kernel
from fastsvm_cli.text.header import Header


class OrderedModel(Model):
    """A LIBSVM model and an order of its support vectors. ordered_by: its description."""

    proves = True
    ordered = True

    def __init__(self, exact: ExactModel, fingerprint: str):
        self.exact, self.header, self.fingerprint = exact, exact.header, fingerprint
        self.vectors, self.folded = exact.vectors, exact.inheritance

    @property
    def ordered_by(self) -> str:
        raise NotImplementedError

    def file_of(self, lines: str, *rest: bytes) -> bytes:
        """Return the file. lines: the kind's own keys. rest: text after the support vectors."""
        kernel = self.exact.kernel
        own = (
            [f"kernel {kernel.type} {' '.join(repr(getattr(kernel, key)) for key in OWN_KERNELS[kernel.type])}\n"]
            if kernel.type in OWN_KERNELS
            else []
        )
        raw_rows = "" if self.folded is None else self.folded.line()
        head = "".join([self.header.lines(), *own, f"fingerprint {self.fingerprint}\n", raw_rows, lines, "SV\n"])
        return self.sealed([head.encode(), _native.format_rows(self.exact.vectors), *rest])


def read_ordered(found: "dict[str, Any]", path: str) -> "dict[str, Any]":
    header, kernel = Header(**found.pop("header")), Kernel(*found.pop("kernel"))
    exact = ExactModel(header, found.pop("vectors"), path, kernel)
    exact.folded = inherited(found.pop("raw_rows"))
    return {"exact": exact, **found}
