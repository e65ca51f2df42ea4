"""Kernel density estimates of variable bandwidth (Mills; native/models/density.h). Format: FORMAT.md.

The decision value is log(S_first / S_second): LIBSVM's sigmoid with A = -1 and B = 0 gives P(first | z) = S_first /
(S_first + S_second). The paper's R(z) is tanh of half the decision value."""

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.header import Header

#: Limit of rows times features, a dense matrix.
MOST_CELLS: int = _native.MOST_DENSITY_CELLS


class DensityModel(Model):
    """rows: the training rows with labels, by class in the header's order, about another origin. weight: a pair's sum
    of kernel values; below the number of its rows."""

    kind = "density"
    fingerprint: str
    unbounded = "a density estimate found, whose gamma is another one for every row: it has no bound"

    def __init__(self, header: Header, *, fingerprint: str, weight: float, rows: _native.Chunk):
        self.header, self.fingerprint, self.weight, self.rows = header, fingerprint, weight, rows

    @property
    def max_index(self) -> int:
        return max(self.rows.max_index, super().max_index)

    @property
    def used_indices(self) -> "list[int]":
        return _native.used_indices(self.rows)

    @property
    def nbytes(self) -> int:
        return self.rows.values.nbytes + self.rows.indices.nbytes

    def make_native(self) -> "_native.Model":
        evaluator = _native.Density(self.header.nr_sv, self.weight, self.rows)
        return _native.DensityModel(self.header, evaluator, False)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "DensityModel":
        found = _native.read_density(text, path)
        return cls(Header(**found.pop("header")), **found)

    def to_text(self) -> bytes:
        head = f"{self.header.lines()}fingerprint {self.fingerprint}\nweight {self.weight!r}\nrows\n"
        return self.sealed([head.encode(), _native.format_rows(self.rows)])


def too_many(rows: int, features: int) -> str:
    return _native.too_many_cells(rows, features)
