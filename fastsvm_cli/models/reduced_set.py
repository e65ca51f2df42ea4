"""Reduced sets: true LIBSVM models, with a line behind the last support vector that says what they approximate, and
how far they can be from it. LIBSVM's readers stop before that line."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel, read_libsvm
from fastsvm_cli.models.folded import INHERITED_KEY, Folded
from fastsvm_cli.models.wanted import LABELS, Wanted
from fastsvm_cli.text.checksum import REDUCED, VERSION, seal_own_line
from fastsvm_cli.text.header import Header, line_words, real_number, whole_number


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

    @classmethod
    def parse(cls, line: bytes, pairs: int, path: str, number: int) -> "Origin":
        words = line_words(line, path, number)
        if words[1:2] not in (["1"], [str(VERSION)]):
            found = f"version '{' '.join(words[1:2])[:20]}' of the line '{REDUCED}' found"
            raise ModelFormatError(path, f"{found}, this fastsvm reads up to {VERSION}", number)
        raw_at = 5 + 2 * pairs  # where the mark of raw rows stands; else, and behind that, the checksum
        expected = raw_at + (words[1] != "1")
        folded = None
        if words[1] != "1" and len(words) == expected + 2 and words[raw_at] == INHERITED_KEY:
            folded = Folded(words[raw_at + 1], inherited=True)
        elif len(words) != expected:
            raise ModelFormatError(
                path, f"{len(words)} words in the line '{REDUCED}' found, expected {expected}", number
            )
        count, longest = (whole_number(word, REDUCED, path, number) for word in words[3:5])
        numbers = [real_number(word, REDUCED, path, number) for word in words[5 : 5 + 2 * pairs]]
        if min([count, longest, *numbers]) < 0:
            raise ModelFormatError(path, f"a negative number in the line '{REDUCED}' found", number)
        return cls(words[2], numbers[:pairs], numbers[pairs:], count, longest, folded)


class ReducedModel(ExactModel):
    """A LIBSVM model in its own right: asked for values alone, it gives those that svm-predict computes with its
    file. Asked for radii, it is a compiled model: they are of the exact model it came from."""

    certified = True

    def __init__(self, header: Header, vectors: _native.Chunk, path: str, origin: Origin):
        super().__init__(header, vectors, path)
        self.origin, self.fingerprint, self.folded = origin, origin.fingerprint, origin.folded
        starts = vectors.indptr
        self._longest = max((starts[row + 1] - starts[row] for row in range(vectors.rows)), default=0)
        self._weight: list[float] | None = None

    @classmethod
    def parse(cls, text: bytes, path: str) -> "ReducedModel":
        header, vectors, body = read_libsvm(text, path)
        if not (
            body.begins_with(REDUCED) and text.find(b"\n", body.at) + 1 == len(text) and header.kernel_type == "rbf"
        ):
            body.fail(f"text found after the {header.total_sv} support vectors that total_sv announces", body.at)
        return cls(
            header, vectors, path, Origin.parse(text[body.at :], header.pairs, path, text.count(b"\n", 0, body.at) + 1)
        )

    def to_text(self) -> bytes:
        return seal_own_line(super().to_text() + self.origin.line().encode())

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted = LABELS) -> None:
        super().decision_values(chunk, out, wanted)
        self._widen(chunk, out)

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        super().reference_values(chunk, out)
        self._widen(chunk, out)

    def _widen(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        if out.radius is None:
            return
        # The rounding of svm-predict on this model is added here: a row that the reference sum evaluated has radius 0,
        # because it is svm-predict's number, but that number is not f' in exact arithmetic, which the radius starts at.
        if self._weight is None:
            self._weight = _pair_weights(self)
        origin, none = self.origin, [0.0] * self.pairs
        gamma, rho = self.header.gamma, self.header.rho
        _native.widen(out, chunk, gamma, none, self._weight, rho, self.header.total_sv, self._longest)
        # With this model's rho in place of the exact model's: they differ by less than origin.radius.
        _native.widen(out, chunk, gamma, origin.radius, origin.weight, rho, origin.count, origin.longest)

    def plain(self) -> ExactModel:
        return ExactModel(self.header, self.vectors, self.path)


def _pair_weights(model: ExactModel) -> "list[float]":
    """sum |coefficient| of every decision function, rounded up."""
    header, coefficients = model.header, model.vectors.leading.tolist()
    if not header.classification:
        return [sum(abs(a) for (a,) in coefficients) * (1 + 1e-9)] if header.pairs else []
    columns, first = [], 0
    for size in header.nr_sv or []:  # per class: the sums of its columns
        rows = coefficients[first : first + size]
        columns.append([sum(abs(row[j]) for row in rows) for j in range(header.nr_class - 1)])
        first += size
    return [(columns[i][j - 1] + columns[j][i]) * (1 + 1e-9) for _, i, j in header.class_pairs]
