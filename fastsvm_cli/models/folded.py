"""Scaling folded into a model that takes raw rows. Keys: FORMAT.md.

A LIBSVM model's numbers include it; models compiled from that are marked. Only older compiled models have factors."""

from collections.abc import Sequence

from fastsvm_cli import _native

#: Key of a compiled model that inherits it.
INHERITED_KEY = "raw_rows"


class Folded:
    """digest: fingerprint of the file of --scale.
    features: (d) LIBSVM indices; others are dropped.
    factors: (d) nonzero; None: rows are unchanged.
    inherited: from the LIBSVM model that this one was compiled from and whose labels it proves."""

    def __init__(
        self,
        digest: str,
        features: "Sequence[int]" = (),
        factors: "Sequence[float] | None" = None,
        inherited: bool = False,
    ):
        self.digest, self.features, self.factors, self.inherited = digest, features, factors, inherited
        self._native: _native.Factors | None = None

    def passed_on(self) -> "Folded":
        return Folded(self.digest, inherited=True)

    @property
    def unproven(self) -> "str | None":
        """Why the model proves nothing about its source; None if that takes raw rows too."""
        return _native.no_certificates(True, not self.inherited, False, True) or None

    @property
    def native(self) -> "_native.Factors | None":
        if self.factors is not None and self._native is None:
            self._native = _native.Factors(self.features, self.factors)
        return self._native

    def rows(self, chunk: _native.Chunk) -> _native.Chunk:
        """Multiply by the factors. Raises RowError."""
        return chunk if self.native is None else self.native.multiply(chunk)

    def lines(self) -> str:
        if self.inherited:
            return f"{INHERITED_KEY} {self.digest}\n"
        pairs = zip(self.features, self.factors or ())
        return f"scale {self.digest}\n" + " ".join(["factors", *(f"{j}:{factor!r}" for j, factor in pairs)]) + "\n"

    @classmethod
    def read(cls, found: "tuple[str, list[int], list[float], bool] | None") -> "Folded | None":
        if found is None:
            return None
        digest, features, factors, inherited = found
        return cls(digest, inherited=True) if inherited else cls(digest, features, factors)
