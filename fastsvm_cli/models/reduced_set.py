"""Reduced sets: true LIBSVM models, with a line behind the last support vector that says what they approximate, and how far they can be from it.
LIBSVM's readers stop before that line."""

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.header import real_number, whole_number
from fastsvm_cli.models.exact import ExactModel

WORD = "fastsvm_reduced"
VERSION = "1"


class Origin:
    """What a reduced set stands for. fingerprint: of the exact model's file. radius: (pairs), at least |f - f'| for every row, exact arithmetic. weight: (pairs)
    sum |a_i|; count: support vectors; longest: most entries in one, all three of the exact model, for the rounding of svm-predict on it."""

    def __init__(self, fingerprint: str, radius: "list[float]", weight: "list[float]", count: int, longest: int):
        self.fingerprint, self.radius, self.weight, self.count, self.longest = fingerprint, radius, weight, count, longest

    def line(self) -> str:
        words = [WORD, VERSION, self.fingerprint, str(self.count), str(self.longest), *map(repr, self.radius), *map(repr, self.weight)]
        return " ".join(words) + "\n"

    @classmethod
    def parse(cls, line: bytes, pairs: int, path: str, number: int) -> "Origin":
        words = line.decode("ascii", "replace").split()
        if words[1:2] != [VERSION]:
            raise ModelFormatError(path, f"version '{' '.join(words[1:2])[:20]}' of the line '{WORD}' found, this fastsvm reads {VERSION}", number)
        if len(words) != 5 + 2 * pairs:
            raise ModelFormatError(path, f"{len(words)} words in the line '{WORD}' found, expected {5 + 2 * pairs}", number)
        count, longest = (whole_number(word, WORD, path, number) for word in words[3:5])
        numbers = [real_number(word, WORD, path, number) for word in words[5:]]
        if min([count, longest, *numbers]) < 0:
            raise ModelFormatError(path, f"a negative number in the line '{WORD}' found", number)
        return cls(words[2], numbers[:pairs], numbers[pairs:], count, longest)


class ReducedModel(ExactModel):
    """A LIBSVM model in its own right: asked for values alone, it gives those that svm-predict computes with its file. Asked for radii, it is a compiled model: they
    are of the exact model it came from."""

    certified = True

    def __init__(self, header, vectors, path: str, origin: Origin):
        super().__init__(header, vectors, path)
        self.origin = origin

    @property
    def fingerprint(self) -> str:
        return self.origin.fingerprint

    def to_text(self) -> bytes:
        return super().to_text() + self.origin.line().encode()

    def decision_values(self, chunk, out, until=None):
        if out.radius is None:
            return super().decision_values(chunk, out, until)
        self.evaluator.fast_values(chunk, out)
        origin = self.origin
        out.widen(chunk, origin.radius, origin.weight, origin.count, origin.longest)
