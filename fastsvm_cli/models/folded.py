"""Scaling that is folded into a model (--scale of approx, reduce and border): the model takes raw rows.

A scaled feature is slope x + offset. Rows are multiplied by the slopes, which keeps 0 where it is and sparse rows
sparse; the offsets are part of the model's numbers. Of one slope for all features a model may hold that, too: then
there are no factors, as in a LIBSVM model. What is compiled from such a LIBSVM model takes raw rows because that one
does, and is marked. The keys of files are described in FORMAT.md."""

from collections.abc import Sequence

from fastsvm_cli import _native

#: The key of a compiled model that inherits it.
INHERITED_KEY = "raw_rows"


class Folded:
    """What is folded in.

    digest: the fingerprint of the file of --scale. features: (d) increasing LIBSVM indices; all others are left out of
    the rows. factors: (d), not 0, what their values are multiplied by; None: rows are taken as they are. inherited: it
    was folded into the LIBSVM model that this one was compiled from, whose rows are raw ones, too; what is proven is
    that model's label."""

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
        """What is compiled from the LIBSVM model that has it has this."""
        return Folded(self.digest, inherited=True)

    @property
    def unproven(self) -> "str | None":
        """Why a model that has it proves nothing of what it was compiled from; None where that takes raw rows, too."""
        return _native.no_certificates(True, not self.inherited, False, True) or None

    @property
    def native(self) -> "_native.Factors | None":
        """What rows are multiplied by; None: they are taken as they are."""
        if self.factors is not None and self._native is None:
            self._native = _native.Factors(self.features, self.factors)
        return self._native

    def rows(self, chunk: _native.Chunk) -> _native.Chunk:
        """Raw rows as the model's numbers are meant for. Raises RowError."""
        return chunk if self.native is None else self.native.multiply(chunk)

    def lines(self) -> str:
        """The lines of its keys."""
        if self.inherited:
            return f"{INHERITED_KEY} {self.digest}\n"
        pairs = zip(self.features, self.factors or ())
        return f"scale {self.digest}\n" + " ".join(["factors", *(f"{j}:{factor!r}" for j, factor in pairs)]) + "\n"

    @classmethod
    def read(cls, found: "tuple[str, list[int], list[float], bool] | None") -> "Folded | None":
        """What the keys of a compiled model say; None where they are not there."""
        if found is None:
            return None
        digest, features, factors, inherited = found
        return cls(digest, inherited=True) if inherited else cls(digest, features, factors)
