"""Reduced sets: true LIBSVM models, with a line behind the last support vector that says what they approximate, and
how far they can be from it. LIBSVM's readers stop before that line."""

from fastsvm_cli import _native
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.folded import INHERITED_KEY, Folded
from fastsvm_cli.text.checksum import REDUCED, VERSION, seal_own_line
from fastsvm_cli.text.header import Header


class Origin:
    """The exact model that a reduced set stands for, and how far it can be from it.

    fingerprint: of the exact model's file. radius: (pairs), at least |f - f'| for every row in exact arithmetic, f the
    exact model's decision function and f' the reduced set's (B28 and B29 of bounds.py). For the rounding of svm-predict
    on the exact model (B5): weight, (pairs), its sum |a_i|; count, its support vectors; longest, the most entries in
    one of them. folded: the mark that it takes raw rows (ExactModel.inheritance), or None."""

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
        """The line, but for its last word, the checksum."""
        words = [REDUCED, str(VERSION), self.fingerprint, str(self.count), str(self.longest)]
        raw_rows = [] if self.folded is None else [INHERITED_KEY, self.folded.digest]
        return " ".join([*words, *map(repr, self.radius), *map(repr, self.weight), *raw_rows])


class ReducedModel(ExactModel):
    """A LIBSVM model in its own right: asked for values alone, it gives those that svm-predict computes with its
    file. Asked for radii, it is a compiled model: they are of the exact model it came from."""

    certified = True

    def __init__(self, header: Header, vectors: _native.Chunk, path: str, origin: Origin):
        super().__init__(header, vectors, path)
        self.origin, self.fingerprint, self.folded = origin, origin.fingerprint, origin.folded

    @classmethod
    def parse(cls, text: bytes, path: str) -> "ReducedModel":
        header, vectors, line, _ = _native.read_libsvm(text, path)
        assert line is not None  # the kind was chosen by it
        fingerprint, radius, weight, count, longest, raw_rows = line
        folded = None if raw_rows is None else Folded(raw_rows, inherited=True)
        origin = Origin(fingerprint, radius, weight, count, longest, folded)
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
