"""Scaling folded into a LIBSVM model, which then takes raw rows, and so do models compiled from it."""

from fastsvm_cli import _native

#: Key of a compiled model that inherits it.
INHERITED_KEY = "raw_rows"


class Folded:
    """digest: fingerprint of the file of --scale.
    inherited: from the LIBSVM model that this one was compiled from and whose labels it proves."""

    def __init__(self, digest: str, inherited: bool = False):
        self.digest, self.inherited = digest, inherited

    def passed_on(self) -> "Folded":
        return Folded(self.digest, inherited=True)

    @property
    def unproven(self) -> "str | None":
        """Why the model proves nothing about its source; None if that takes raw rows too."""
        return _native.no_certificates(True, not self.inherited, False, True) or None

    def line(self) -> str:
        """Return a compiled model's line."""
        return f"{INHERITED_KEY} {self.digest}\n"


def inherited(raw_rows: "str | None") -> "Folded | None":
    """raw_rows: the digest in a compiled model."""
    return None if raw_rows is None else Folded(raw_rows, inherited=True)
