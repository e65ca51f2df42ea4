"""Maclaurin expansion (Claesen, De Smet, Suykens, De Moor, section 3). Imports numpy only where needed: it is slow."""

from array import array
from collections.abc import Iterator, Sequence
from math import comb, factorial, isfinite
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli._native import MAX_DEGREE, Center, Expansion, Header, MaclaurinFile
from fastsvm_cli.errors import ModelFormatError, spelled
from fastsvm_cli.methods import Progress, part_of, silent
from fastsvm_cli.methods.method import require
from fastsvm_cli.models import ExactModel, Model, center_point

if TYPE_CHECKING:
    from fastsvm_cli.methods.approx.certificates import AddUp

FORMED = 1 << 28  # numbers in memory during compression


class TooLargeError(ModelFormatError):
    """Compiled model beyond the size limit."""


def reason_against(model: ExactModel, degree: "int | None" = None) -> "str | None":
    """Return why a model has no expansion of this degree, or None."""
    header = model.header
    if header.kernel_type == "rbf":
        if header.gamma >= 0:
            return None
        return f"gamma {header.gamma:g} found; approx compiles rbf kernels of gamma 0 or more"
    own = own_degree(header)
    if header.kernel_type not in ("linear", "polynomial") or own > MAX_DEGREE:
        of = f" of degree {header.degree}" if header.kernel_type == "polynomial" else ""
        return (
            f"a {header.kernel_type} kernel{of} found; approx compiles rbf, linear and polynomial kernels of degree up"
            f" to {MAX_DEGREE}"
        )
    if degree is not None and degree != own:
        return f"a {header.kernel_type} kernel of degree {own} found: it compiles exactly, and at no other degree"
    return None


def compile_maclaurin(
    model: ExactModel,
    *,
    fingerprint: str,
    center: "str | None" = None,
    single: "bool | None" = None,
    degree: "int | None" = None,
    certify: bool = False,
    clusters: int = 1,
    rank: "int | None" = None,
    tolerance: "float | None" = None,
    max_bytes: float = float("inf"),
    on_progress: Progress = silent,
    add_up: "AddUp | None" = None,
) -> Model:
    """Expand every decision function to `degree` (1 to 4; default 2, or a finite kernel's own).

    center: "mean" of the support vectors (default), "origin" or "pair" (mean per pair); RBF only. single: precision
    stored; by default for RBF. clusters: number of centers. rank: eigenvalues of M to keep; tolerance: largest change
    of a decision value by dropping others, for rows as near the center as the support vectors.
    """
    header, vectors = model.header, model.vectors
    require(model.path, reason_against(model, degree))
    degree = own_degree(header) if degree is None else degree
    gaussian = header.kernel_type == "rbf"
    one = _OneExpansion(model, degree, gaussian if single is None else single, certify, rank, tolerance, add_up)
    functions = _decision_functions(header, vectors)
    if clusters > 1 and gaussian:  # check a lower bound before costly clustering
        clusters = min(clusters, max(vectors.rows, 1))
        one.check_size(max(header.pairs, clusters), clusters, max_bytes)
    clusters = clusters if gaussian else 1
    # Nanoseconds of clusters, expansions and certificates.
    clustering = 20.0 * vectors.rows * clusters * (len(one.features) + 20) * (clusters > 1)
    work = sum(one.work(len(rows), clusters) for rows, _ in functions) + 1.0
    clustered = clustering / (clustering + work)
    about = list(
        one.about_centers(functions, center if gaussian else "origin", clusters, part_of(on_progress, 0.0, clustered))
    )
    if tolerance is None:  # else the size is unknown
        one.check_size(sum(len(shares) for _, shares in about), clusters, max_bytes)
    work = sum(one.work(len(rows)) for _, shares in about for _, rows, _ in shares) / (1 - clustered) + 1e-9
    done = clustered * work
    centers, expansions = [], []
    for number, (point, shares) in enumerate(about):
        used = shares[0][1] if len(shares) == 1 else sorted(set().union(*(rows for _, rows, _ in shares)))
        largest = _native.ExpandedVectors(vectors, one.features, used).largest_squared_distance(point)
        if not isfinite(largest):
            why = "the squared distance of a support vector from the center overflows"
            raise ModelFormatError(model.path, f"{why}: scale the data")
        centers.append(Center(point, largest))
        for pair, rows, a in shares:
            following = done + one.work(len(rows))
            shown = part_of(on_progress, done / work, following / work)
            expansions.append(one.expand(number, centers[-1], pair, rows, a, shown))
            done = following
            on_progress(done / work)
    starts = vectors.indptr
    file = MaclaurinFile(
        header,
        degree=degree,
        features=one.features,
        single=one.single,
        fingerprint=fingerprint,
        centers=centers,
        expansions=expansions,
        highest_norm=one.highest_norm,
        longest_vector=max((starts[row + 1] - starts[row] for row in range(vectors.rows)), default=0),
        folded=model.inheritance,
    )
    return Model(file, model.path)


#: Pair, rows, and their coefficients.
_Share = tuple[int, list[int], list[float]]


class _OneExpansion:
    def __init__(
        self,
        model: ExactModel,
        degree: int,
        single: bool,
        certify: bool,
        rank: "int | None",
        tolerance: "float | None",
        add_up: "AddUp | None",
    ):
        self._model, self._degree, self.single, self._certify = model, degree, single, certify
        self._rank, self._tolerance, self._add_up = rank, tolerance, add_up
        self._gaussian = model.header.kernel_type == "rbf"
        self._factors = _factors(model.header, degree)
        self.features = _native.used_indices(model.vectors)
        self.highest_norm = 0
        if certify:
            import fastsvm_cli.methods.approx.certificates as certificates
            from fastsvm_cli.methods.feature_space import matrix

            require(model.path, certificates.reason_against(model))
            self.highest_norm = certificates.certified_degree(degree, self._gaussian)
            self._x, _ = matrix(model.vectors)
            self._certificate_of = certificates.certificate
        d = len(self.features)
        self._compressed = bool(degree == 2 and d and (rank is not None or tolerance is not None))
        self._numbers = coefficient_count(d, degree)  # at least
        if self._compressed:
            from fastsvm_cli.methods.approx.compression import COPIES

            if COPIES * d * d > FORMED:
                raise TooLargeError(
                    model.path,
                    f"{d} features found: their matrix takes {8e-9 * COPIES * d * d:.3g} GB before it is compressed,"
                    f" expected at most {8e-9 * FORMED:.3g} GB",
                )
            self._numbers = min(self._numbers, compressed_count(d, min(rank or 1, d)))

    def work(self, rows: int, clusters: int = 1) -> float:
        """Estimate nanoseconds."""
        return float(rows * (rows / clusters * 2 * self._certify + self._numbers))

    def check_size(self, count: int, clusters: int, max_bytes: float) -> None:
        header = self._model.header
        estimate = count * self._numbers * (12 if self.single else 20)  # bytes, as measured
        if estimate > max_bytes:
            what = (
                f"{header.pairs} decision function{'s' * (header.pairs != 1)} of {len(self.features)} features, degree"
                f" {self._degree}{f', {clusters} centers' * (clusters > 1)}"
            )
            raise TooLargeError(
                self._model.path,
                f"the compiled model would take about {estimate / 1e6:.3g} MB ({what}), beyond the limit of"
                f" {max_bytes / 1e6:.3g} MB ({spelled('max_size')})",
            )

    def about_centers(
        self, functions: "list[tuple[list[int], list[float]]]", center: "str | None", clusters: int, progress: Progress
    ) -> "Iterator[tuple[array[float], list[_Share]]]":
        """Yield each center with the shares of the functions, (rows, coefficients), about it."""
        everything = range(self._model.vectors.rows)
        if center == "pair":
            for p, (rows, a) in enumerate(functions):
                yield self._mean(rows), [(p, rows, a)]
        elif clusters > 1 and everything and self.features:
            from fastsvm_cli.methods.feature_space import clusters_of

            cluster = clusters_of(self._model.vectors, clusters, self._model.path, progress)
            for k in sorted(set(cluster)):
                mine = [
                    (p, [row for row in rows if cluster[row] == k], [b for row, b in zip(rows, a) if cluster[row] == k])
                    for p, (rows, a) in enumerate(functions)
                ]
                # A pair without support vectors in a cluster has no expansion there; without any, an empty one about
                # the first center.
                own = [(p, rows, a) for p, rows, a in mine if rows or (k == min(cluster) and not functions[p][0])]
                yield self._mean([row for row in everything if cluster[row] == k]), own
        else:
            point = array("d", bytes(8 * len(self.features))) if center == "origin" else self._mean(list(everything))
            yield point, [(p, rows, a) for p, (rows, a) in enumerate(functions)]

    def _mean(self, rows: "list[int]") -> "array[float]":
        ranges = _native.ExpandedVectors(self._model.vectors, self.features, rows).column_ranges()
        return array("d", center_point(*ranges))

    def expand(
        self, number: int, center: Center, pair: int, rows: "list[int]", a: "list[float]", on_progress: Progress
    ) -> Expansion:
        """Expand a pair's share, of these rows and coefficients, about the center of this number."""
        header = self._model.header
        gamma = header.gamma if self._gaussian else 0.0
        expanded = _native.ExpandedVectors(self._model.vectors, self.features, rows)
        total = expanded.expand(a, center.point, self._gaussian, gamma, self._factors)
        rank, dropped = 0, 0.0
        stored, finite = _native.stored(total, self.single)
        if self._compressed:
            from fastsvm_cli.methods.approx.compression import compress

            self._require(_native.stored(total, False)[1], single=False)
            d, largest = len(self.features), center.largest_norm
            fewer = compress(total, d, self.single, self._rank, self._tolerance, gamma, largest, proven=self._certify)
            if fewer is not None:
                rank, stored, dropped = fewer
                finite = _native.stored(stored, False)[1]
        self._require(finite, self.single)
        certificate = None
        if self._certify:
            certificate = self._certificate_of(
                self._x[rows],
                a,
                center.point,
                header,
                self._factors,
                total,
                stored,
                rank,
                dropped,
                on_progress,
                self._add_up,
            )
            bounds = [*certificate.truncation, *certificate.error, certificate.weight, certificate.count]
            if not all(map(isfinite, bounds)):
                raise ModelFormatError(self._model.path, "a number of the certificate overflows: scale the data")
        return Expansion(pair, number, stored, certificate, rank)

    def _require(self, finite: bool, single: bool) -> None:
        if not finite:
            precision = "single" if single else "double"
            why = f"a coefficient of the expansion overflows {precision} precision: scale the data"
            raise ModelFormatError(self._model.path, why)


def own_degree(header: Header) -> int:
    """Return the default degree, a finite kernel's only one."""
    if header.kernel_type == "rbf":
        return 2
    return header.degree if header.kernel_type == "polynomial" else 1


def _factors(header: Header, degree: int) -> "list[float]":
    # K(x, z) = sum_k factor_k (x.z)^k: eqs. (3.7), (3.13) to (3.16)
    if header.kernel_type == "rbf":
        return [_power(2 * header.gamma, k) / factorial(k) for k in range(degree + 1)]
    if header.kernel_type == "linear":
        return [0.0, 1.0]
    return [comb(degree, k) * _power(header.coef0, degree - k) * _power(header.gamma, k) for k in range(degree + 1)]


def _power(base: float, exponent: int) -> float:
    try:
        return base**exponent
    except OverflowError:
        return float("inf") if base > 0 or exponent % 2 == 0 else float("-inf")


def _decision_functions(header: Header, vectors: _native.Chunk) -> "list[tuple[list[int], list[float]]]":
    # (rows, nonzero coefficients) per pair
    if header.pairs == 1 and vectors.leading_count == 1:
        return [_nonzero(range(vectors.rows), vectors.leading.cast("B").cast("d").tolist() if vectors.rows else [])]
    coefficients = vectors.leading.tolist()
    starts = [0]
    for size in header.nr_sv or []:
        starts.append(starts[-1] + size)
    out = []
    for _, i, j in header.class_pairs:
        mine, theirs = range(starts[i], starts[i + 1]), range(starts[j], starts[j + 1])
        a = [*(coefficients[row][j - 1] for row in mine), *(coefficients[row][i] for row in theirs)]
        out.append(_nonzero([*mine, *theirs], a))
    return out


def _nonzero(rows: "Sequence[int]", a: "list[float]") -> "tuple[list[int], list[float]]":
    if 0.0 not in a:
        return list(rows), a
    return [row for row, b in zip(rows, a) if b != 0], [b for b in a if b != 0]


_NUMBER_BYTES = 11  # per coefficient in a file
_CERTIFY_OPERATIONS = 2e9  # per second


def coefficient_count(d: int, degree: int) -> int:
    """Return the coefficients of a polynomial of d variables."""
    return comb(d + degree, degree)


def compressed_count(d: int, rank: int) -> int:
    """Return the coefficients of degree 2 with a matrix of this rank."""
    return 1 + d + rank * (1 + d)


def file_bytes(header: Header, features: int, degree: int, expansions: int = 1) -> int:
    """Estimate the bytes of a compiled model's file. expansions: per decision function."""
    return coefficient_count(features, degree) * header.pairs * expansions * _NUMBER_BYTES


def certify_seconds(header: Header, features: int) -> float:
    """Estimate the seconds of a certificate."""
    return header.total_sv**2 * features / 2 / _CERTIFY_OPERATIONS * max(1, header.nr_class - 1)
