"""Scaling folded into a model (--scale of approx, reduce and border): the model takes raw rows.

A scaled feature is slope x + offset. Rows are multiplied by the slopes, which keeps zeros; the offsets are part of the
model's numbers. If all features share one slope, the model's numbers may include it too, without factors, as in a
LIBSVM model. A model compiled from such a LIBSVM model takes raw rows too, and is marked. Keys: FORMAT.md."""

from collections.abc import Sequence

from fastsvm_cli import _native

#: Key in the file of a compiled model that inherits it.
INHERITED_KEY = "raw_rows"


class Folded:
    """Folded scaling.

    digest: fingerprint of the file of --scale.
    features: (d) increasing LIBSVM indices; others are dropped.
    factors: (d) nonzero multipliers; None: rows are unchanged.
    inherited: folded into the LIBSVM model that this one was compiled from and whose labels it proves."""

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
        """Return the mark for a model compiled from the LIBSVM model."""
        return Folded(self.digest, inherited=True)

    @property
    def unproven(self) -> "str | None":
        """Reason why the model proves nothing about its origin; None if that takes raw rows too."""
        return _native.no_certificates(True, not self.inherited, False, True) or None

    @property
    def native(self) -> "_native.Factors | None":
        """Factors of rows; None: rows are unchanged."""
        if self.factors is not None and self._native is None:
            self._native = _native.Factors(self.features, self.factors)
        return self._native

    def rows(self, chunk: _native.Chunk) -> _native.Chunk:
        """Return raw rows multiplied by the factors. Raises RowError."""
        return chunk if self.native is None else self.native.multiply(chunk)

    def lines(self) -> str:
        """Return the lines of its keys."""
        if self.inherited:
            return f"{INHERITED_KEY} {self.digest}\n"
        pairs = zip(self.features, self.factors or ())
        return f"scale {self.digest}\n" + " ".join(["factors", *(f"{j}:{factor!r}" for j, factor in pairs)]) + "\n"

    @classmethod
    def read(cls, found: "tuple[str, list[int], list[float], bool] | None") -> "Folded | None":
        """Return the scaling in a compiled model's keys, or None."""
        if found is None:
            return None
        digest, features, factors, inherited = found
        return cls(digest, inherited=True) if inherited else cls(digest, features, factors)
