"""Kernel density estimates of variable bandwidth (Mills, "When Support Vector Machines are just too slow"): training
rows that answer by themselves, without an SVM.

For a pair of classes, P(first | z) = S_first / (S_first + S_second), S_c the sum of exp(-|z - x|^2 / (2 h^2)) over
the rows x of class c, with the bandwidth h for which S_first + S_second is `weight` at z. The decision value is the
log odds, log(S_first / S_second), from which LIBSVM's sigmoid with A = -1 and B = 0 makes that probability; the
paper's R(z) is tanh of half of it. Of a fixed bandwidth this is a LIBSVM model with coefficients 1 and -1
(methods/border/density.py). The file format is described in FORMAT.md."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.folded import OWN_KEYS, Folded
from fastsvm_cli.models.wanted import LABELS, Wanted
from fastsvm_cli.text.body import read_compiled
from fastsvm_cli.text.header import Header

_KEYS = ("fingerprint", "weight")
#: Rows times features, which are held as a dense matrix.
MOST_CELLS = 1 << 28


class DensityModel(Model):
    """A density estimate of every class, whose bandwidth is solved for at every row.

    rows: native Chunk of the training rows with their labels, class by class in the header's order. weight: W, the sum
    of the kernel values of a pair's rows, below the number of these for every pair of classes. fingerprint: of the file
    it was made from. folded: of raw rows: the training rows here are as `own_rows`, about another origin."""

    kind = "density"
    fingerprint: str
    unbounded = "a density estimate found, whose gamma is another one for every row: it has no bound"

    def __init__(
        self, header: Header, *, fingerprint: str, weight: float, rows: _native.Chunk, folded: "Folded | None" = None
    ):
        self.header, self.fingerprint, self.weight, self.rows, self.folded = header, fingerprint, weight, rows, folded
        self._evaluator: _native.Density | None = None

    @property
    def max_index(self) -> int:
        return max(self.rows.max_index, super().max_index)

    @property
    def used_indices(self) -> "list[int]":
        return _native.used_indices(self.rows)

    @property
    def nbytes(self) -> int:
        return self.rows.values.nbytes + self.rows.indices.nbytes

    @property
    def evaluator(self) -> _native.Density:
        if self._evaluator is None:
            self._evaluator = _native.Density(self.header.nr_sv, self.weight, self.rows)
        return self._evaluator

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted = LABELS) -> None:
        self.evaluator.decision_values(self.own_rows(chunk), out)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "DensityModel":
        header, own, body = read_compiled(text, path, end="rows", keys=_KEYS, optional=OWN_KEYS)
        if not header.classification or header.nr_class < 2:
            body.fail("a density estimate without two classes found", body.at - 1)
        assert header.label is not None and header.nr_sv is not None  # it has classes
        weight = own.real("weight")
        fewest = sorted(header.nr_sv)[:2]
        if fewest[0] < 1 or not 0 < weight < sum(fewest):
            why = f"weight {own.word('weight')[:40]} and classes of {fewest[0]} and {fewest[1]} rows found"
            own.fail("weight", f"{why}, expected a weight above 0 and below the rows of any two classes")
        rows = body.rows(header.total_sv)
        body.end(after="the rows that total_sv announces")
        labels, first = rows.leading, 0
        for label, count in zip(header.label, header.nr_sv):
            for row in range(first, first + count):
                if labels[row, 0] != label:
                    why = f"a row of another class than {label} found, which 'nr_sv' announces"
                    raise ModelFormatError(path, why, rows.first_line + row)
            first += count
        features = len(_native.used_indices(rows))
        if rows.rows * features > MOST_CELLS:
            raise ModelFormatError(path, too_many(rows.rows, features))
        folded = Folded.read(own, path)
        return cls(header, fingerprint=own.word("fingerprint"), weight=weight, rows=rows, folded=folded)

    def to_text(self) -> bytes:
        folded = "" if self.folded is None else self.folded.lines()
        head = f"{self.header.lines()}fingerprint {self.fingerprint}\n{folded}weight {self.weight!r}\nrows\n"
        return self.sealed([head.encode(), _native.format_rows(self.rows)])


def too_many(rows: int, features: int) -> str:
    """The sentence for more rows than can be held: of so many features they would take too much memory."""
    size = f"{rows * features * 8e-9:.1f} GB as a dense matrix, expected at most {MOST_CELLS * 8e-9:.1f} GB"
    return f"{rows} rows of {features} features found, which take {size}: take fewer rows"
