"""Border models: border samples and their normals (Mills, "When Support Vector Machines are just too slow").

A border sample b_i is a root of a decision function on the line between two vectors of opposite class; its normal n_i is the gradient there. The class of a row z is the
side of the plane through its nearest border sample on which it lies: the sign of n_i . (z - b_i). The file format is described in the README."""

from array import array

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.header import Header, one_word, read_own_header, real_number, whole_number
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.checksum import seal_compiled
from fastsvm_cli.text.features import ranges, read_ranges

_KEYS = ("fingerprint", "features", "precision", "nr_border", "level", "local")
MAX_LOCAL = 64


class Samples:
    """The border of one pair. level: the decision value at every sample; where there are none, the pair's only answer. count: n. rows: (n, 2, d) numbers, flat: each
    sample's point, then its normal."""

    def __init__(self, level: float, count: int, rows):
        self.level, self.count, self.rows = level, count, rows


class BorderModel(Model):
    """features: increasing LIBSVM indices, the d columns. samples: per pair. local: how many of the nearest samples answer together. single: numbers are written with the digits of single
    precision. fingerprint: of the file it was made from."""

    def __init__(self, header: Header, *, fingerprint: str, features: "list[int]", samples: "list[Samples]", local: int = 1, single: bool = False):
        self.header, self.fingerprint, self.features, self.samples, self.local, self.single = header, fingerprint, features, samples, local, single
        self._evaluator = None

    @property
    def evaluator(self) -> _native.Border:
        if self._evaluator is None:
            self._evaluator = _native.Border(self.features, self.local)
            for samples in self.samples:
                self._evaluator.add_pair(samples.level, samples.count, samples.rows)
        return self._evaluator

    def decision_values(self, chunk, out, until=None):
        self.evaluator.decision_values(chunk, out)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "BorderModel":
        header, own, offset, line = read_own_header(text, path, end=b"border", keys=_KEYS)
        if header.regression:
            raise ModelFormatError(path, f"a border of type {header.svm_type} found, expected classes", line)

        def word(key, choices=None):
            words, at = own[key]
            return one_word(words, key, path, at, choices)

        def numbers(key, read):
            words, at = own[key]
            if len(words) != header.pairs:
                raise ModelFormatError(path, f"{len(words)} values of '{key}' found, expected {header.pairs}", at)
            return [read(each, key, path, at) for each in words]

        counts, levels = numbers("nr_border", whole_number), numbers("level", real_number)
        if min(counts, default=0) < 0:
            raise ModelFormatError(path, "a negative number of border samples found", own["nr_border"][1])
        local = whole_number(word("local"), "local", path, own["local"][1])
        if not 1 <= local <= MAX_LOCAL:
            raise ModelFormatError(path, f"local {local} found, expected 1 to {MAX_LOCAL}", own["local"][1])
        single = word("precision", ("single", "double")) == "single"
        features = read_ranges(*own["features"], path, limit=len(text))
        d, at = len(features), offset
        samples = []
        for count, level in zip(counts, levels):
            rows = array("d")
            if count and not d:
                raise ModelFormatError(path, "border samples without features found", own["nr_border"][1])
            if count:
                try:
                    rows, at = _native.parse_numbers(text, at, 2 * count * d, single)
                except ValueError as error:
                    what, where = error.args
                    raise ModelFormatError(path, f"{what} among {2 * count * d} numbers", line + text.count(b"\n", offset, where) + 1) from None
            samples.append(Samples(level, count, rows))
        if text[at:] != b"end\n":
            raise ModelFormatError(path, "text found after the border samples that nr_border announces", line + text.count(b"\n", offset, at) + 1)
        return cls(header, fingerprint=word("fingerprint"), features=features, samples=samples, local=local, single=single)

    def to_text(self) -> bytes:
        levels = " ".join(repr(samples.level) for samples in self.samples)
        head = (
            f"{self.header.lines()}fingerprint {self.fingerprint}\n{f'features {ranges(self.features)}'.rstrip()}\nprecision {'single' if self.single else 'double'}\n"
            f"{f'nr_border {chr(32).join(str(samples.count) for samples in self.samples)}'.rstrip()}\n{f'level {levels}'.rstrip()}\nlocal {self.local}\nborder\n"
        )
        kind, d = "f" if self.single else "d", len(self.features)
        parts = [head.encode()]
        for samples in self.samples:
            for line in range(2 * samples.count):
                parts.append(_native.format_numbers(array(kind, samples.rows[line * d : (line + 1) * d])))
        return seal_compiled("border", parts)
