"""Kernel density estimates of variable bandwidth (Mills, "When Support Vector Machines are just too slow"): training
rows that answer by themselves, without an SVM.

For a pair of classes, P(first | z) = S_first / (S_first + S_second), S_c the sum of exp(-|z - x|^2 / (2 h^2)) over
the rows x of class c, with the bandwidth h for which S_first + S_second is `weight` at z. The decision value is the
log odds, log(S_first / S_second), from which LIBSVM's sigmoid with A = -1 and B = 0 makes that probability; the
paper's R(z) is tanh of half of it. Of a fixed bandwidth this is a LIBSVM model with coefficients 1 and -1
(compilers/border/density.py). The file format is described in the README."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.header import Header, one_word, read_own_header, real_number
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.checksum import seal_compiled

_KEYS = ("fingerprint", "weight")
#: Rows times features, which are held as a dense matrix.
MOST_CELLS = 1 << 28


class DensityModel(Model):
    """rows: native Chunk of the training rows with their labels, class by class in the header's order. weight: W, below
    the number of rows of every pair of classes. fingerprint: of the file it was made from."""

    def __init__(self, header: Header, *, fingerprint: str, weight: float, rows: _native.Chunk):
        self.header, self.fingerprint, self.weight, self.rows = header, fingerprint, weight, rows
        self._evaluator = None

    @property
    def evaluator(self) -> _native.Density:
        if self._evaluator is None:
            self._evaluator = _native.Density(self.header.nr_sv, self.weight, self.rows)
        return self._evaluator

    def decision_values(self, chunk, out, until=None):
        self.evaluator.decision_values(chunk, out)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "DensityModel":
        header, own, offset, line = read_own_header(text, path, end=b"rows", keys=_KEYS)
        if not header.classification or header.nr_class < 2:
            raise ModelFormatError(path, "a density estimate without two classes found", line)
        words, at = own["weight"]
        weight = real_number(one_word(words, "weight", path, at), "weight", path, at)
        fewest = sorted(header.nr_sv)[:2]
        if fewest[0] < 1 or not 0 < weight < sum(fewest):
            why = f"weight {words[0][:40]} and classes of {fewest[0]} and {fewest[1]} rows found"
            raise ModelFormatError(path, f"{why}, expected a weight above 0 and below the rows of any two classes", at)
        rows, fault, _, rest = _native.parse(text, first_line=line + 1, offset=offset, max_rows=header.total_sv)
        # The line `end` is no row; where it is met among them, rows are missing.
        if rows.rows < header.total_sv and (fault is None or text[rest:] == b"end\n"):
            raise ModelFormatError(path, f"{rows.rows} rows found, expected {header.total_sv}", line + 1 + rows.rows)
        if fault is not None:
            raise ModelFormatError(path, fault[1], fault[0])
        if text[rest:] != b"end\n":
            raise ModelFormatError(path, "text found after the rows that total_sv announces", line + 1 + rows.rows)
        labels, first = rows.labels, 0
        for label, count in zip(header.label, header.nr_sv):
            for row in range(first, first + count):
                if labels[row, 0] != label:
                    why = f"a row of another class than {label} found, which 'nr_sv' announces"
                    raise ModelFormatError(path, why, line + 1 + row)
            first += count
        features = len(_native.used_indices(rows))
        if rows.rows * features > MOST_CELLS:
            raise ModelFormatError(path, too_many(rows.rows, features))
        fingerprint = one_word(own["fingerprint"][0], "fingerprint", path, own["fingerprint"][1])
        return cls(header, fingerprint=fingerprint, weight=weight, rows=rows)

    def to_text(self) -> bytes:
        head = f"{self.header.lines()}fingerprint {self.fingerprint}\nweight {self.weight!r}\nrows\n"
        return seal_compiled("density", [head.encode(), _native.format_rows(self.rows)])


def too_many(rows: int, features: int) -> str:
    """What is wrong with so many."""
    size = f"{rows * features * 8e-9:.1f} GB as a dense matrix, expected at most {MOST_CELLS * 8e-9:.1f} GB"
    return f"{rows} rows of {features} features found, which take {size}: take fewer rows"
