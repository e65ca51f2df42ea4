"""LIBSVM models whose last line, which LIBSVM ignores, names the exact model and bounds the distance from it."""

from fastsvm_cli import _native
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.folded import INHERITED_KEY, Folded, inherited
from fastsvm_cli.text.checksum import REDUCED, VERSION, seal_own_line
from fastsvm_cli.text.header import Header


class Origin:
    """The exact model of a reduced set, as in the last line (FORMAT.md).

    radius: (pairs), of B28 and B29 of bounds.py. weight, (pairs), count, longest: for svm-predict's rounding (B5)."""

    def __init__(
        self,
        fingerprint: str,
        radius: "list[float]",
        weight: "list[float]",
        count: int,
        longest: int,
        folded: "Folded | None" = None,
    ):
        self.fingerprint, self.radius, self.weight, self.count, self.longest, self.folded = (
            fingerprint,
            radius,
            weight,
            count,
            longest,
            folded,
        )

    def line(self) -> str:
        """Return the line without its checksum."""
        words = [REDUCED, str(VERSION), self.fingerprint, str(self.count), str(self.longest)]
        raw_rows = [] if self.folded is None else [INHERITED_KEY, self.folded.digest]
        return " ".join([*words, *map(repr, self.radius), *map(repr, self.weight), *raw_rows])


class ReducedModel(ExactModel):
    """A LIBSVM model, certified about its exact model. Without radii, its values are svm-predict's for its own file."""

    certified = True

    def __init__(self, header: Header, vectors: _native.Chunk, path: str, origin: Origin):
        super().__init__(header, vectors, path)
        self.origin, self.fingerprint, self.folded = origin, origin.fingerprint, origin.folded

    @classmethod
    def parse(cls, text: bytes, path: str) -> "ReducedModel":
        header, vectors, line, _, _ = _native.read_libsvm(text, path)
        assert line is not None
        fingerprint, radius, weight, count, longest, raw_rows = line
        origin = Origin(fingerprint, radius, weight, count, longest, inherited(raw_rows))
        return cls(Header(**header), vectors, path, origin)

    def to_text(self) -> bytes:
        return seal_own_line(super().to_text() + self.origin.line().encode())

    def make_native(self) -> "_native.Model":
        origin = self.origin
        return _native.ReducedModel(
            self.header, self.svm_model, origin.radius, origin.weight, origin.count, origin.longest
        )

    def plain(self) -> ExactModel:
        return ExactModel(self.header, self.vectors, self.path)
