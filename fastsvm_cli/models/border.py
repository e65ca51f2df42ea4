"""Border models (Mills, "When Support Vector Machines are just too slow"). Format: FORMAT.md.

At a border sample b, between vectors of opposite class, a decision function is `level`; n is its gradient there. A
row's value is level + n . (z - b) for the nearest sample."""

from array import array

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.folded import Folded, inherited
from fastsvm_cli.text.header import Header, ranges

MAX_LOCAL = 64


class Samples:
    """Border samples of a pair of classes. level: decision value of all samples; without samples, of every row. rows:
    (count, 2, d), flat: each sample's point, then its normal."""

    def __init__(self, level: float, count: int, rows):
        self.level, self.count, self.rows = level, count, rows


class BorderModel(Model):
    """Border samples per pair of classes. local, single: FORMAT.md."""

    kind = "border"
    fingerprint: str
    features: "list[int]"

    def __init__(
        self,
        header: Header,
        *,
        fingerprint: str,
        features: "list[int]",
        samples: "list[Samples]",
        local: int = 1,
        single: bool = False,
        folded: "Folded | None" = None,
    ):
        self.header, self.fingerprint, self.features, self.samples, self.local, self.single = (
            header,
            fingerprint,
            features,
            samples,
            local,
            single,
        )
        self.folded = folded

    @property
    def nbytes(self) -> int:
        return 8 * sum(len(samples.rows) for samples in self.samples)

    def make_native(self) -> "_native.Model":
        evaluator = _native.Border(self.features, self.local)
        for samples in self.samples:
            evaluator.add_pair(samples.level, samples.count, samples.rows)
        return _native.BorderModel(self.header, evaluator, False)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "BorderModel":
        found = _native.read_border(text, path)
        samples = [Samples(*each) for each in found.pop("samples")]
        header, folded = Header(**found.pop("header")), inherited(found.pop("raw_rows"))
        return cls(header, samples=samples, folded=folded, **found)

    def to_text(self) -> bytes:
        counts = " ".join(str(samples.count) for samples in self.samples)
        levels = " ".join(repr(samples.level) for samples in self.samples)
        lines = [
            f"fingerprint {self.fingerprint}",
            f"features {ranges(self.features)}".rstrip(),
            f"precision {'single' if self.single else 'double'}",
            f"nr_border {counts}".rstrip(),
            f"level {levels}".rstrip(),
            f"local {self.local}",
            "border",
        ]
        if self.folded is not None:
            lines.insert(2, self.folded.line().rstrip())
        head = self.header.lines() + "".join(f"{line}\n" for line in lines)
        kind, d = "f" if self.single else "d", len(self.features)
        parts = [head.encode()]
        for samples in self.samples:
            for line in range(2 * samples.count):
                parts.append(_native.format_numbers(array(kind, samples.rows[line * d : (line + 1) * d])))
        return self.sealed(parts)
