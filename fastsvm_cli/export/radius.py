"""Radius of an exported model's decision values (B40 to B42 of PROOFS.md).

Both targets evaluate:

    high = (norm + drift) (1 + theta),  R = root(high) (1 + 8 v) + shift
    radius = up * sum_e ((weight + tiny) (b_0 + b_1 R + ...) + flat + slope R + tail min(1, reach R^(K + 1))
                         + |term| (x1 norm + x0)),  infinite unless x1 norm + x0 < limit

norm: |z - m|^2; weight: the exponential, or 1; term: the expansion's. Kernel sums have term 0 and weight 1 per pair.
"""

from math import comb, factorial, inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.description import KernelSums, Polynomials, orderings, pair_coefficients
from fastsvm_cli.export.precision import EXP, path_length, sum_length, unit

if TYPE_CHECKING:
    from fastsvm_cli.export.description import Description, Expansion

_U = 2.0**-53
#: Relative rounding of svm-scale's six digits.
_SIX_DIGITS = 5.0001e-6


class Radius:
    """Upper bounds in the formula of radii, which the target rounds up.

    centers: (nr_centers, 2), drift and shift. pairs, about: pair and center of each expansion. rows: (expansions, K +
    5), b_0, ..., b_K, flat, slope, tail, reach. power: K.
    """

    def __init__(self, description: "Description", single: bool):
        self.description, self.v = description, unit(single)
        v, self.inputs = self.v, description.inputs
        self.theta = (1.2 * self.inputs + 24) * v
        self.tiny, self.limit = (2.0**-100, 0.01) if single else (2.0**-960, 0.01)
        self._lost = 2.0**-122 if single else 2.0**-1010
        self.x0 = self.x1 = 0.0
        self.pairs: list[int] = []
        self.about: list[int] = []
        self._rows: list[tuple[list[float], float, float, float, float]] = []
        if not self.theta < 1e-2:
            self._refuse(f"{self.inputs} features found, too many for radii in this precision")

    def _refuse(self, why: str) -> None:
        raise ModelFormatError(self.description.path, f"{why}: --no-radius leaves them out")

    @property
    def up(self) -> float:
        """Factor that rounds a sum up."""
        return 1 + 8 * self.v * (len(self.pairs) + self.power + 64)

    @property
    def power(self) -> int:
        """K."""
        return max(len(b) for b, *_ in self._rows) - 1

    @property
    def rows(self) -> np.ndarray:
        """Bounds per expansion."""
        width = self.power + 1
        return np.array([[*b, *[0.0] * (width - len(b)), *rest] for b, *rest in self._rows])

    def centers_of(self, points: np.ndarray) -> None:
        """Set the rounding of distances from these points, (centers, d)."""
        lengths = np.sqrt((points**2).sum(axis=1)) * (1 + 1e-9)
        drift = 6 * self.v**3 * lengths**2 + (self.inputs + 1) * self._lost
        self.centers = np.column_stack([drift, 2.2 * self.v * lengths + sqrt(self._lost)])
        self.lengths = lengths

    def add(
        self, pair: int, about: int, b: "list[float]", flat: float, slope: float, tail: float, reach: float
    ) -> None:
        """Add an expansion; raise `flat` above any underflow."""
        if not all(np.isfinite([*b, flat, slope, tail, reach])):
            self._refuse("numbers found that overflow")
        self.pairs.append(pair)
        self.about.append(about)
        self._rows.append((b, flat + 2.0**-90 * (self.v > _U) * (1 + sum(b)) + 1e-200, slope, tail, reach))

    def exponent(self, gamma: float) -> None:
        """Set x1 and x0 for a weight e^{-gamma norm}."""
        self.x1 = 1.06 * gamma * (self.theta + 4 * self.v)
        self.x0 = 1.2 * gamma * float(self.centers[:, 0].max(initial=0)) + (EXP + 1) * self.v

    def scaled(self, gamma: "float | None", weight: float) -> "tuple[float, float]":
        """Return (flat, slope) that bound rounding of scaled rows, also to svm-scale's digits."""
        description = self.description
        if description.slopes is None or description.offsets is None:
            return 0.0, 0.0
        if gamma is None:
            self._refuse("scaled rows and a kernel that is not rbf found, which have no radius")
            return inf, inf
        lipschitz = 0.8578 * sqrt(gamma) * weight
        share = _SIX_DIGITS + 8 * self.v
        offsets = float(np.sqrt((description.offsets**2).sum()))
        exact = 32 * _U * sqrt(self.inputs) * description.scaled_to  # rounding of the range file's lines
        flat = share * float(self.lengths.max()) + 20 * self.v * offsets + exact
        return lipschitz * flat, lipschitz * share


def radius_of(description: "Description", single: bool, differences: bool) -> "Radius | None":
    """Return the radius of a `certified` model, else None.

    differences: kernel sums compute distances from differences, not about a center.
    """
    model: Any = description.certified
    if model is None:
        return None
    out = Radius(description, single)
    if isinstance(description.body, Polynomials):
        _of_polynomials(out, description.body, model)
    elif isinstance(description.body, KernelSums):
        _of_kernels(out, description.body, model, differences)
    else:
        raise AssertionError("a border has no certificates")
    return out


def _svm_predict(kernel_error: float, weight: float, count: float, rho: float) -> float:
    # svm-predict's rounding (B5) for |K| <= 1
    return 1.01 * (weight * (kernel_error + (1.01 * (count + 6) + 4) * _U) + 2 * _U * abs(rho)) + 1e-150 * weight


def _of_polynomials(out: Radius, body: Polynomials, model: Any) -> None:
    header, v, d = model.header, out.v, body.centers.shape[1]
    out.centers_of(body.centers)
    if body.gamma is not None:
        out.exponent(body.gamma)
    elif body.centers.any():
        out._refuse("a finite kernel about another center than 0 found")
    count = len(body.expansions)
    out.x0 += (count + 8) * v
    weights, terms = [0.0] * header.pairs, [0.0] * header.pairs
    seen: set[int] = set()
    certificates = [each.certificate for each in model.expansions if each.certificate is not None]
    for each, certificate in zip(body.expansions, certificates):
        weights[each.pair] += certificate.weight * (1 + 1e-9)
        terms[each.pair] += certificate.count
    s = model.longest_vector
    for each, certificate in zip(body.expansions, certificates):
        pair, first = each.pair, each.pair not in seen
        seen.add(pair)
        b = _evaluated(out, body, each, v, d)
        b = [1.02 * (mine + error) for mine, error in zip(b, certificate.error)]
        tail = reach = flat = slope = 0.0
        rho = header.rho[pair]
        if body.gamma is not None:
            *norms, tail = certificate.truncation
            for k, norm in enumerate(norms, model.degree + 1):
                b.append(1.03 * norm * sqrt((2 * body.gamma) ** k / factorial(k)))
            last = model.highest_norm + 1
            reach = 1.0001 * sqrt((2 * body.gamma) ** last / factorial(last))
            if first:
                kernel = (0.4 * (out.inputs + s + 5) + 4) * _U
                flat = _svm_predict(kernel, weights[pair], terms[pair], rho)
        elif first:
            degree = header.degree if header.kernel_type == "polynomial" else 1
            gamma, coef0 = (header.gamma, header.coef0) if header.kernel_type == "polynomial" else (1.0, 0.0)
            relative = (1.01 * degree * (min(out.inputs, s) + 8) + 6.1) * _U
            share = _svm_predict(relative, weights[pair], terms[pair], 0.0)
            x = sqrt(model.centers[0].largest_norm) * (1 + 1e-9) + 1e-150
            for k in range(degree + 1):  # of (gamma x R + coef0)^degree
                b[k] += 1.01 * share * comb(degree, k) * (abs(gamma) * x) ** k * abs(coef0) ** (degree - k)
            flat = 2.1 * _U * abs(rho) + 1e-290 * weights[pair]
        if first:
            more, slope = out.scaled(body.gamma, weights[pair])
            flat += more + 4.2 * v * abs(rho)
        out.add(pair, each.center, b, flat, slope, 1.0001 * tail, reach)


def _evaluated(out: Radius, body: Polynomials, each: "Expansion", v: float, d: int) -> "list[float]":
    # Per degree, R^k's factor for rounding a polynomial and its numbers
    kind = np.float32 if v > _U else np.float64
    steps = 1.02 * (path_length(body.degree, d, each.rank) + 2.2 * body.degree + 4) * v
    if not steps < 1e-2:
        out._refuse(f"an expansion of degree {body.degree} in {d} features found, too long for radii in this precision")
    found = []
    for k, level in enumerate(each.levels):
        with np.errstate(over="ignore"):
            change = level - level.astype(kind).astype(np.float64)
        of = orderings(k, d)
        size, moved = (float(np.sqrt((numbers**2 / of).sum())) * (1 + 1e-9) for numbers in (level, change))
        found.append(steps * size + 1.01 * moved + (len(level) + 1) * out._lost)
    if each.rank:
        size = float(np.abs(each.weights) @ (each.directions**2).sum(axis=1)) * (1 + 1e-9)
        found.append((steps + 3.2 * v) * size + (each.rank * (d + 2) + 1) * out._lost)
    return found


def _of_kernels(out: Radius, body: KernelSums, model: Any, differences: bool) -> None:
    # B42
    header, v, origin, gamma = model.header, out.v, model.origin, body.kernel.gamma
    n, d = body.vectors.shape
    center = np.zeros((1, d)) if differences or not n else body.vectors.mean(axis=0)[None, :]
    out.centers_of(center)
    x = float(np.sqrt(((body.vectors - center) ** 2).sum(axis=1).max(initial=0))) * (1 + 1e-9)
    steps, linear = (out.inputs + 12) * v, 0.87 * sqrt(gamma) * v
    constant = 0.39 * steps + (EXP + 4) * 1.05 * v + 2 * linear * x
    constant += (12 if differences and v > _U else sum_length(n, v) + 12) * v  # a compensated sum
    if not differences:
        out.x1, out.x0 = 4.4 * gamma * steps, 4.4 * gamma * (steps * x * x + float(out.centers[0, 0]))
    for pair, of_pair in enumerate(pair_coefficients(body.coefficients, body.counts, header.pairs)):
        size = float(np.abs(of_pair).sum()) * (1 + 1e-9)
        b = [size * constant]
        if not differences:
            squared = 1.03 * gamma * steps
            b = [size * (constant + squared * x * x), size * (2.2 * linear + 2 * squared * x), size * squared]
        kernel = (0.4 * (out.inputs + origin.longest + 5) + 4) * _U
        rho = abs(header.rho[pair]) + origin.radius[pair]
        flat = origin.radius[pair] + _svm_predict(kernel, origin.weight[pair], origin.count, rho)
        more, slope = out.scaled(gamma, origin.weight[pair])
        out.add(pair, 0, b, flat + more + 5 * v * (abs(header.rho[pair]) + size), slope, 0.0, 0.0)


def rounded_up(numbers: Any, single: bool) -> np.ndarray:
    """Round positive numbers up to the precision, without underflow."""
    array = np.asarray(numbers, dtype=np.float64)
    if not single:
        return array
    with np.errstate(over="ignore"):
        out = array.astype(np.float32)
    out = np.where(out.astype(np.float64) < array, np.nextafter(out, np.float32(inf)), out)
    return np.where(array > 0, np.maximum(out, np.float32(2.0**-110)), out).astype(np.float64)
