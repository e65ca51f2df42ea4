"""Maclaurin models (Claesen et al., "Fast Prediction with SVM Models Containing RBF Kernels"). Format: FORMAT.md."""

from array import array
from collections.abc import Iterator
from math import comb

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.centers import Center
from fastsvm_cli.models.folded import Folded, inherited
from fastsvm_cli.models.kernel import KERNELS, Kernel
from fastsvm_cli.text.header import Header, ranges

MAX_DEGREE = 4


class Certificate:
    """Upper bounds for an expansion's radius (native/models/certificate.h)."""

    def __init__(self, truncation: "list[float]", error: "list[float]", weight: float, count: float):
        self.truncation, self.error, self.weight, self.count = truncation, error, weight, count

    def numbers(self) -> "list[float]":
        return [*self.truncation, *self.error, self.weight, self.count]


class Expansion:
    """The term exp(-gamma |z - m|^2) (c + v.(z - m) + (z - m)'M(z - m) + ...) of a decision function, without the
    exponential for finite kernels.

    pair, center: numbers of the decision function and of the center. coefficients: c, v (d), M, ..., flat, in the order
    of FORMAT.md. rank: of a compressed M, or 0; lambda (rank) and q (rank, d) then replace it."""

    def __init__(self, pair: int, center: int, coefficients, certificate: "Certificate | None" = None, rank: int = 0):
        self.pair, self.center, self.coefficients, self.certificate, self.rank = (
            pair,
            center,
            coefficients,
            certificate,
            rank,
        )


class MaclaurinModel(Model):
    """Expansions about shared centers. single, highest_norm, longest_vector: lines `precision`, `certified`,
    `longest_vector` of FORMAT.md; highest_norm is 0 without certificates."""

    kind = "maclaurin"
    fingerprint: str
    features: "list[int]"
    centers: "list[Center]"

    def __init__(
        self,
        header: Header,
        *,
        degree: int,
        features: "list[int]",
        single: bool,
        fingerprint: str,
        centers: "list[Center]",
        expansions: "list[Expansion]",
        highest_norm: int = 0,
        longest_vector: int = 0,
        folded: "Folded | None" = None,
    ):
        self.header, self.degree, self.features, self.single, self.fingerprint = (
            header,
            degree,
            features,
            single,
            fingerprint,
        )
        self.centers, self.expansions = centers, expansions
        self.highest_norm, self.longest_vector = highest_norm, longest_vector
        self.certified = highest_norm > 0
        self.folded = folded

    @property
    def nbytes(self) -> int:
        return 8 * sum(len(expansion.coefficients) for expansion in self.expansions)

    def make_native(self) -> "_native.Model":
        evaluator = _native.Maclaurin(self.features, self.bounded, self.header.gamma, self.degree, self.header.rho)
        for center in self.centers:
            evaluator.add_center(center.point, center.largest_norm)
        for each in self.expansions:
            place = each.pair, each.center, each.coefficients
            if each.rank:
                evaluator.add_compressed(*place, each.rank, self.single, each.certificate)
            else:
                evaluator.add_expansion(*place, self.single, each.certificate)
        header, kernel = self.header, Kernel("polynomial", 1.0, 0.0, 1)
        if header.kernel_type != "linear":
            kernel = Kernel(header.kernel_type, header.gamma, header.coef0, header.degree)
        evaluator.set_rounding(
            KERNELS.index(kernel.type), kernel.gamma, kernel.coef0, kernel.degree, self.longest_vector
        )
        return _native.MaclaurinModel(header, evaluator, self.certified)

    @property
    def products(self) -> float:
        """Approximate products for a row with `longest_vector` entries."""
        q = min(self.longest_vector or len(self.features), len(self.features))
        return float(sum(e.rank * q if e.rank else coefficient_count(q, self.degree) for e in self.expansions))

    @classmethod
    def parse(cls, text: bytes, path: str) -> "MaclaurinModel":
        found = _native.read_maclaurin(text, path)
        features = found["features"]
        return cls(
            Header(**found.pop("header")),
            centers=[Center(features, *each) for each in found.pop("centers")],
            expansions=[
                Expansion(pair, center, coefficients, certificate and Certificate(*certificate), rank)
                for pair, center, coefficients, certificate, rank in found.pop("expansions")
            ],
            folded=inherited(found.pop("raw_rows")),
            **found,
        )

    def to_text(self) -> bytes:
        parts = [
            self.header.lines(),
            f"maclaurin_degree {self.degree}\n",
            f"precision {'single' if self.single else 'double'}\n",
            f"fingerprint {self.fingerprint}\n",
            f"features {ranges(self.features)}".rstrip() + "\n",
            "" if self.folded is None else self.folded.line(),
            f"nr_centers {len(self.centers)}\n",
            f"nr_expansions {len(self.expansions)}\n",
            f"certified {self.highest_norm}\nlongest_vector {self.longest_vector}\n" if self.certified else "",
            "expansions\n",
        ]
        text = ["".join(parts).encode()]
        d = len(self.features)
        for center in self.centers:
            text += [
                b"center\n",
                _native.format_numbers(array("d", [center.largest_norm])),
                _numbers_text(center.point, False) if d else b"",
            ]
        for expansion in self.expansions:
            text.append(b"expansion %d %d\n" % (expansion.pair, expansion.center))
            if expansion.certificate is not None:
                text += [b"certificate\n", _numbers_text(expansion.certificate.numbers(), False)]
            at = 0
            if expansion.rank:
                text.append(b"rank %d\n" % expansion.rank)
            for length in (
                [1, d, expansion.rank] + [d] * expansion.rank if expansion.rank else _line_lengths(d, self.degree)
            ):
                text.append(_numbers_text(expansion.coefficients[at : at + length], self.single))
                at += length
        return self.sealed(text)


def packed_size(k: int, d: int) -> int:
    """Count the entries j1 <= ... <= jk of a symmetric tensor."""
    return comb(d + k - 1, k) if k else 1


def coefficient_count(d: int, degree: int) -> int:
    return sum(packed_size(k, d) for k in range(degree + 1))


def compressed_count(d: int, rank: int) -> int:
    return 1 + d + rank * (1 + d)


def _line_lengths(d: int, degree: int) -> "Iterator[int]":
    """Yield the coefficients per line; from degree 2, a line per first index."""
    yield 1
    if degree >= 1 and d:
        yield d
    for k in range(2, degree + 1):
        for j in range(d):
            yield packed_size(k - 1, d - j)


def _numbers_text(values, single: bool) -> bytes:
    return _native.format_numbers(array("f", values) if single else array("d", values))
