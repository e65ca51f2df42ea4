"""Scaling that is folded into a model (--scale of approx, reduce and border): the model takes raw rows.

A scaled feature is slope x + offset. Rows are multiplied by the slopes, which keeps 0 where it is and sparse rows
sparse; the offsets are part of the model's numbers. Of one slope for all features a model may hold that, too: then
there are no factors, as in a LIBSVM model. What is compiled from such a LIBSVM model takes raw rows because that one
does, and is marked. The keys of files are described in FORMAT.md."""

from collections.abc import Sequence

from fastsvm_cli import _native
from fastsvm_cli.errors import RowError
from fastsvm_cli.text.body import OwnKeys
from fastsvm_cli.text.header import real_number, whole_number

#: The keys of compiled models that have it: both of one where it was folded in, or the other where it is inherited.
OWN_KEYS: "tuple[str, ...]" = ("scale", "factors")
INHERITED_KEY = "raw_rows"
KEYS: "tuple[str, ...]" = (*OWN_KEYS, INHERITED_KEY)


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
        if self.inherited:
            return None
        why = "svm-predict's labels are of rows that svm-scale has rounded, which a model of raw rows proves nothing of"
        return f"--scale is folded into it: {why}"

    def rows(self, chunk: _native.Chunk) -> _native.Chunk:
        """Raw rows as the model's numbers are meant for. Raises RowError."""
        if self.factors is None:
            return chunk
        if self._native is None:
            self._native = _native.Factors(self.features, self.factors)
        try:
            return self._native.multiply(chunk)
        except ValueError as fault:
            why = "a value found, too large for a double once it is scaled, as this model scales it"
            raise RowError(fault.args[0], why) from None

    def lines(self) -> str:
        """The lines of its keys."""
        if self.inherited:
            return f"{INHERITED_KEY} {self.digest}\n"
        pairs = zip(self.features, self.factors or ())
        return f"scale {self.digest}\n" + " ".join(["factors", *(f"{j}:{factor!r}" for j, factor in pairs)]) + "\n"

    @classmethod
    def read(cls, own: OwnKeys, path: str) -> "Folded | None":
        """What the keys of a compiled model say; None where they are not there. Raises ModelFormatError."""
        given = [key for key in OWN_KEYS if key in own]
        if INHERITED_KEY in own:
            if given:
                own.fail(given[0], f"'{given[0]}' found, and '{INHERITED_KEY}', expected one of them")
            return cls(own.word(INHERITED_KEY), inherited=True)
        if not given:
            return None
        if len(given) == 1:
            own.fail(given[0], f"'{given[0]}' found, expected {' and '.join(OWN_KEYS)} together")
        words, line = own.words("factors")
        features: list[int] = []
        factors: list[float] = []
        for word in words:
            index, colon, factor = word.partition(":")
            if not colon:
                own.fail("factors", f"'{word[:40]}' found, expected index:factor")
            features.append(whole_number(index, "factors", path, line))
            factors.append(real_number(factor, "factors", path, line))
            if features[-1] < 0 or (len(features) > 1 and features[-1] <= features[-2]) or not factors[-1]:
                own.fail("factors", f"'{word[:40]}' found, expected increasing indices, and no factor 0")
        return cls(own.word("scale"), features, factors)
