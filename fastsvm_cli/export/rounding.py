"""Whether a precision holds an exported model's numbers, and how far its rounding moves decision values.

Every number goes through `written`. `check_range` judges single precision's range on rows as large as the model's
vectors (or within reach of its expansions), with gradual underflow. `tolerance` estimates rounding, to judge labels
that differ: no proof, as it assumes no cancellation.

Radii of decision values are proven (B40 to B42 of PROOFS.md). Both targets evaluate:

    high = (norm + drift) (1 + theta),  R = root(high) (1 + 8 v) + shift
    radius = up * sum_e ((weight + tiny) (b_0 + b_1 R + ...) + flat + slope R + tail min(1, reach R^(K + 1))
                         + |term| (x1 norm + x0)),  infinite unless x1 norm + x0 < limit

norm: |z - m|^2; weight: the exponential, or 1; term: the expansion's. Kernel sums have term 0 and weight 1 per pair.
"""

from math import comb, factorial, inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.description import (
    VANISHES,
    Description,
    Expansion,
    KernelSums,
    Polynomials,
    Samples,
    entries,
    orderings,
    pair_coefficients,
)

if TYPE_CHECKING:
    from fastsvm_cli import _native

#: Error of an exponential, in units of the precision.
EXP = 16
#: Vectors per partial sum in single precision.
AT_ONCE = 256
_MOST, _NORMAL = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)
#: Rounding of a vector that an RBF kernel may see, in units of its width.
_WIDTH = 0.1
#: (scale, error, largest): sizes of each pair's values and of what underflow changes in them, (pairs); the largest size
#: of any step.
Sizes = tuple[np.ndarray, np.ndarray, float]


def unit(single: bool) -> float:
    """Return the unit roundoff of single or double precision."""
    return 2.0**-24 if single else 2.0**-53


def least(single: bool) -> float:
    """Return the largest error of a result that underflows."""
    return 2.0**-149 if single else 2.0**-1074


_LEAST = least(True)


def written(numbers: Any, single: bool, path: str) -> np.ndarray:
    """Round numbers to the precision, which must reach them."""
    array = np.asarray(numbers, dtype=np.float64)
    with np.errstate(over="ignore"):
        out = array.astype(np.float32 if single else np.float64)
    if not np.isfinite(out).all():
        found = array[~np.isfinite(out)].flat[0]
        end = ": --precision double" if single and np.isfinite(found) else ", the largest precision of a target"
        raise ModelFormatError(path, f"{found:.3g} found, beyond {'single' if single else 'double'} precision{end}")
    return out


def check_range(description: "Description") -> None:
    """Refuse a model whose decision values single precision's range, not its rounding, changes."""
    scale, error, largest = _sizes(description)
    too_large, too_small = not largest < _MOST, (error > unit(True) * scale).any()
    if too_large or too_small:
        why = f"numbers too {'large' if too_large else 'small'} for single precision found"
        raise ModelFormatError(description.path, f"{why}: --precision double")


def longest_row(description: "Description", single: bool) -> "float | None":
    """Return a length of rows, a power of 10, up to which no step overflows; None if none overflows.

    Beyond the range, distances are infinite, and kernel values 0, as they should. In double precision, svm-predict's
    numbers overflow, too.
    """
    if description.of_distances or not single:
        return None
    with np.errstate(all="ignore"):
        slope, offset = 1.0, 0.0
        if description.scaling is not None:
            slopes, offsets = description.scaling
            slope, offset = float(abs(slopes).max()), float(np.sqrt((offsets**2).sum()))
        lengths = (10.0**k for k in range(37, -38, -1))
        return next((each for each in lengths if _sizes(description, slope * each + offset)[2] < _MOST), 0.0)


@np.errstate(all="ignore")
def _sizes(description: "Description", length: "float | None" = None) -> Sizes:
    # length: of the scaled row; by default, of the longest vector
    body, rho = description.body, np.array(description.header.rho)
    if isinstance(body, KernelSums):
        scale, error, largest = _range_of_kernels(body, description.header.pairs, length)
    elif isinstance(body, Polynomials):
        scale, error, largest = _range_of_polynomials(body, description.header.pairs, length)
    else:
        scale, error, largest = _range_of_samples(body, length)
    scale, error = scale + abs(rho), error + _lost(rho)
    if description.scaling is not None and _lost(description.scaling[0]).any():
        error = error + np.inf
    if description.labels_back is not None:
        _, size, to = map(abs, description.labels_back)
        largest = max(largest, size * float(scale.max()) + to)
        if _lost(np.array(description.labels_back)).any():
            error = error + np.inf
    return scale, error, max(largest, float(scale.max(initial=0)))


def _lost(numbers: np.ndarray) -> np.ndarray:
    small = np.where(abs(numbers) < _NORMAL, numbers, 0.0)
    return abs(small - small.astype(np.float32))


def _range_of_kernels(body: KernelSums, pairs: int, length: "float | None") -> Sizes:
    kernel, d = body.kernel, body.vectors.shape[1]
    squares = float((body.vectors**2).sum(axis=1).max(initial=0))
    gamma, reach = abs(kernel.gamma), np.sqrt(squares)
    row = reach if length is None else length
    if kernel.of_distances:
        largest = max(8 * squares, gamma)
        vanishes = gamma * _MOST > VANISHES  # a squared distance beyond the precision gives 0, as it should
        if np.sqrt(gamma) * reach * unit(True) > _WIDTH or (gamma and not vanishes):
            largest = np.inf
        value = power = np.exp(np.maximum(-kernel.gamma * 4 * squares, 0.0))
        error = value * (gamma * 4 * (d + 2) + 4 * squares) * _LEAST + _LEAST
    else:
        base = np.float64(gamma * reach * row + abs(kernel.coef0))
        moved = (d * (gamma * (1 + reach) + reach) + squares + 1) * _LEAST if gamma else _lost(np.array(kernel.coef0))
        largest = max(2 * reach * row, gamma * max(reach, row), base)
        if kernel.type == "sigmoid":
            value, power, error = np.tanh(base), 1.0, moved + _LEAST
        else:
            degree = max(kernel.degree, 0)
            value, power = base**degree, max(1.0, base) ** degree
            error = degree * base ** max(degree - 1, 0) * moved + power * _LEAST * (degree > 0)
    of_pairs = pair_coefficients(body.coefficients, body.counts, pairs)
    sizes = np.array([abs(each).sum() for each in of_pairs])
    lost = np.array([(_lost(each) * value + (each != 0) * _LEAST).sum() for each in of_pairs])
    return sizes * value, sizes * error + lost, max(largest, float(sizes.max() * max(power, 1.0)))


def _range_of_polynomials(body: Polynomials, pairs: int, length: "float | None") -> Sizes:
    d, gamma, reach = body.centers.shape[1], body.gamma, body.reach if length is None else length
    lengths, weights = np.array([reach]), np.ones(1)
    if gamma is not None:
        exponents = np.arange(0, 8.5, 0.5)
        lengths, weights = np.sqrt(exponents / gamma), np.exp(-exponents)
    scale, error, largest = np.zeros(pairs), np.zeros(pairs), 4 * reach**2
    for each in body.expansions:
        size, lost, most = np.zeros(len(lengths)), np.zeros(len(lengths)), 0.0
        for k, level in enumerate(each.levels):
            size += tensor_norm(level, k, d) * lengths**k
            lost += _lost(level).sum() * lengths**k + (level != 0).sum() * _LEAST * (lengths ** max(k - 1, 0)) * (k > 0)
            most += abs(level).sum() * reach**k
        if each.rank:
            norms = np.sqrt((each.directions**2).sum(axis=1))
            weight, moved = abs(each.weights), _lost(each.directions).sum(axis=1)
            size += weight @ norms**2 * lengths**2
            lost += (_lost(each.weights) @ norms**2 + 2 * weight @ (norms * moved)) * lengths**2
            lost += (each.weights != 0).sum() * (1 + d * weight.max() * norms.max() * lengths) * _LEAST
            most += float(weight @ norms**2) * reach**2 + float(norms.max()) * reach
        if gamma is not None:
            lost += size * (gamma * 4 * (d + 2) * _LEAST + _LEAST)
        scale[each.pair] += (weights * size).max()
        error[each.pair] += (weights * lost).max()
        largest = max(largest, most)
    return scale, error, largest


def _range_of_samples(body: "Samples", length: "float | None") -> Sizes:
    scale, error, largest = [], [], 0.0
    for level, points, normals in body.pairs:
        squares, norm = (float((x**2).sum(axis=1).max(initial=0)) for x in (points, normals))
        reach = np.sqrt(squares) + (np.sqrt(squares) if length is None else length)
        scale.append(abs(level) + np.sqrt(norm) * reach)
        error.append(_lost(np.array(level)) + (_lost(normals).sum(axis=1) * reach).max(initial=0))
        if len(points) > 1 and points.shape[1] * _LEAST > unit(True) * squares:
            error[-1] += np.inf  # the nearest sample
        largest = max(largest, 2 * reach**2)
    return np.array(scale), np.array(error), largest


def sum_length(n: int, v: float) -> int:
    """Return the most roundings of a term in a sum over n vectors."""
    return n if v < 1e-10 else min(n, AT_ONCE) + -(-n // AT_ONCE)


def tolerance(description: "Description", chunk: "_native.Chunk", single: bool) -> np.ndarray:
    """Return sizes, (rows, pairs), below which rounding, also of rows and by svm-scale, may change a sign."""
    v, header = unit(single), description.header
    z, rest = spread(description, chunk)
    low = least(single)
    size = np.sqrt((z * z).sum(axis=1) + rest)  # (rows)
    moved = (4 * v if single else 0.0) * size  # rounding of the row
    if description.scaling is not None:
        moved = moved + 5.1e-6 * size + 4 * v * np.abs(description.scaling[1]).max(initial=0)
    d, rho = z.shape[1], np.abs(np.array(header.rho))
    body = description.body
    if isinstance(body, KernelSums):
        found = _of_kernels(body, header.pairs, z, rest, moved, v, low)
    elif isinstance(body, Polynomials):
        found = _of_polynomials(body, header.pairs, z, rest, moved, v, low)
    else:
        # Rounding in a plane's sum; another nearest sample is not covered.
        largest = [np.sqrt((normals**2).sum(axis=1).max(initial=0)) for _, _, normals in body.pairs]
        reach = [np.sqrt((points**2).sum(axis=1).max(initial=0)) for _, points, _ in body.pairs]
        found = (d + 8) * v * np.array(largest) * (size[:, None] + np.array(reach)) + np.outer(moved, largest)
        found += 3 * v * np.abs([level for level, _, _ in body.pairs])
    return found + 3 * v * rho + low


def largest_move(description: "Description", single: bool) -> float:
    """Return about the effect of rounding on kernel sums with |K| <= 1; else 0."""
    body = description.body
    if not isinstance(body, KernelSums) or body.kernel.type not in ("rbf", "sigmoid"):
        return 0.0
    per_pair = pair_coefficients(body.coefficients, body.counts, description.header.pairs)
    return EXP * unit(single) * max(float(np.abs(each).sum()) for each in per_pair)


def spread(description: "Description", chunk: "_native.Chunk") -> "tuple[np.ndarray, np.ndarray]":
    """Return scaled used columns, (rows, d), and the others' squares, (rows)."""
    rows, indices, values = entries(chunk)
    columns = indices - description.first_index
    within = (columns >= 0) & (columns < description.inputs)
    x = np.zeros((chunk.rows, description.inputs))
    x[rows[within], columns[within]] = values[within]
    rest = np.zeros(chunk.rows)
    if description.scaling is not None:
        x = x * description.scaling[0] + description.scaling[1]
    elif description.of_distances:
        rest += np.bincount(rows[~within], values[~within] ** 2, minlength=chunk.rows)
    return x[:, description.used], rest + (x[:, description.rest] ** 2).sum(axis=1)


def _of_kernels(body: KernelSums, pairs: int, z, rest, moved, v: float, low: float) -> np.ndarray:
    kernel, (n, d) = body.kernel, body.vectors.shape
    center = body.vectors.mean(axis=0) if n else np.zeros(d)
    out = np.zeros((len(z), pairs))
    sizes = [np.abs(each) for each in pair_coefficients(body.coefficients, body.counts, pairs)]
    x = np.sqrt((body.vectors**2).sum(axis=1))
    about = np.sqrt(((body.vectors - center) ** 2).sum(axis=1))
    for row in range(len(z)):
        length = float(np.sqrt((z[row] ** 2).sum() + rest[row]))
        if kernel.of_distances:
            squares = ((body.vectors - z[row]) ** 2).sum(axis=1) + rest[row]
            far = about + np.sqrt(((z[row] - center) ** 2).sum() + rest[row])
            exponent = (d + 8) * v * far**2 + 3 * v * squares + 4 * (d + 2) * low
            relative = np.expm1(np.minimum(abs(kernel.gamma) * exponent + low * squares, 50.0)) + EXP * v
            value, apart, delta = np.exp(-kernel.gamma * squares), np.sqrt(squares), moved[row] + 2 * v * x
            ends = np.exp(-kernel.gamma * np.array([np.maximum(apart - delta, 0), apart + delta]) ** 2)
            error = abs(ends - value).max(axis=0) + np.maximum(value, ends.max(axis=0)) * relative + low
        else:
            base = np.abs(kernel.gamma) * (np.abs(body.vectors) @ np.abs(z[row])) + abs(kernel.coef0)
            error = (d + 8) * v * base + np.abs(kernel.gamma) * x * (moved[row] + v * length)
            error = error + low * (d * (abs(kernel.gamma) * (1 + length) + length) + length * x + 1)
            if kernel.type == "sigmoid":
                value = np.minimum(base, 1.0)
                error = error + EXP * v * value + low
            else:
                degree = max(kernel.degree, 0)
                value = base**degree
                error = degree * (base + error) ** max(degree - 1, 0) * error + 2 * degree * v * value
                error = error + 2 * degree * low * np.maximum(base, 1.0) ** degree
        for pair, size in enumerate(sizes):
            out[row, pair] = size @ error + (sum_length(n, v) + 3) * v * (size @ value) + low * (size > 0) @ (1 + value)
    return out


def tensor_norm(level: np.ndarray, degree: int, d: int) -> float:
    """Return a symmetric tensor's Frobenius norm, from coefficients of monomials."""
    largest = float(abs(level).max(initial=0)) or 1.0  # whose square may leave the range of doubles
    return largest * float(np.sqrt(((level / largest) ** 2 / orderings(degree, d)).sum()))


def path_length(degree: int, d: int, rank: int) -> int:
    """Return the most roundings of a product in an expansion."""
    return degree * (d + 4) + 20 + rank + (d * (d + 1) if degree > 2 else 0)


def _of_polynomials(body: Polynomials, pairs: int, z, rest, moved, v: float, low: float) -> np.ndarray:
    d, out = z.shape[1], np.zeros((len(z), pairs))
    for each in body.expansions:
        about = z - body.centers[each.center]
        squares = (about**2).sum(axis=1) + rest
        length = np.sqrt(squares)
        norms = [tensor_norm(level, k, d) for k, level in enumerate(each.levels)]
        if each.rank:
            norms.append(float(np.abs(each.weights) @ (each.directions**2).sum(axis=1)))
        error = np.zeros(len(z))
        for k, norm in enumerate(norms):
            error += norm * (path_length(body.degree, d, each.rank) * v * length**k)
            error += 2 * low * (length**k + length ** max(k - 1, 0) * (k > 0)) * (1 if k > 1 else d)
            error += norm * k * length ** max(k - 1, 0) * moved
        if body.gamma is not None:
            weight = np.exp(-body.gamma * squares)
            exponent = body.gamma * ((d + 12) * v * squares + 2 * length * moved) + EXP * v
            size = sum(norm * length**k for k, norm in enumerate(norms))
            error = weight * (error + size * np.expm1(np.minimum(exponent, 50.0)))
        out[:, each.pair] += error
    return out


_U = 2.0**-53
#: Relative rounding of svm-scale's six digits.
_SIX_DIGITS = 5.0001e-6


class Radius:
    """Upper bounds in the formula of radii, which the target rounds up.

    centers: (nr_centers, 2), drift and shift. about: center of each expansion. rows: (expansions, K +
    5), b_0, ..., b_K, flat, slope, tail, reach. power: K.
    """

    def __init__(self, description: "Description", single: bool):
        self.description, self.v = description, unit(single)
        v, self.inputs = self.v, description.inputs
        self.theta = (1.2 * self.inputs + 24) * v
        self.tiny, self.limit = (2.0**-100, 0.01) if single else (2.0**-960, 0.01)
        self._lost = 2.0**-122 if single else 2.0**-1010
        self.x0 = self.x1 = 0.0
        self.about: list[int] = []
        self._rows: list[tuple[list[float], float, float, float, float]] = []
        if not self.theta < 1e-2:
            self._refuse(f"{self.inputs} features found, too many for radii in this precision")

    def _refuse(self, why: str) -> None:
        raise ModelFormatError(self.description.path, f"{why}: --no-radius leaves them out")

    @property
    def up(self) -> float:
        """Factor that rounds a sum up."""
        return 1 + 8 * self.v * (len(self.about) + self.power + 64)

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

    def add(self, about: int, b: "list[float]", flat: float, slope: float, tail: float, reach: float) -> None:
        """Add an expansion; raise `flat` above any underflow."""
        if not all(np.isfinite([*b, flat, slope, tail, reach])):
            self._refuse("numbers found that overflow")
        self.about.append(about)
        self._rows.append((b, flat + 2.0**-90 * (self.v > _U) * (1 + sum(b)) + 1e-200, slope, tail, reach))

    def exponent(self, gamma: float) -> None:
        """Set x1 and x0 for a weight e^{-gamma norm}."""
        self.x1 = 1.06 * gamma * (self.theta + 4 * self.v)
        self.x0 = 1.2 * gamma * float(self.centers[:, 0].max(initial=0)) + (EXP + 1) * self.v

    def scaled(self, gamma: "float | None", weight: float) -> "tuple[float, float]":
        """Return (flat, slope) that bound rounding of scaled rows, also to svm-scale's digits."""
        description = self.description
        if description.scaling is None:
            return 0.0, 0.0
        if gamma is None:
            self._refuse("scaled rows and a kernel that is not rbf found, which have no radius")
            return inf, inf
        lipschitz = 0.8578 * sqrt(gamma) * weight
        share = _SIX_DIGITS + 8 * self.v
        offsets = float(np.sqrt((description.scaling[1] ** 2).sum()))
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
        _radius_of_polynomials(out, description.body, model)
    elif isinstance(description.body, KernelSums):
        _radius_of_kernels(out, description.body, model, differences)
    else:
        raise AssertionError("a border has no certificates")
    return out


def _svm_predict(kernel_error: float, weight: float, count: float, rho: float) -> float:
    # svm-predict's rounding (B5) for |K| <= 1
    return 1.01 * (weight * (kernel_error + (1.01 * (count + 6) + 4) * _U) + 2 * _U * abs(rho)) + 1e-150 * weight


def _radius_of_polynomials(out: Radius, body: Polynomials, model: Any) -> None:
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
        out.add(each.center, b, flat, slope, 1.0001 * tail, reach)


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


def _radius_of_kernels(out: Radius, body: KernelSums, model: Any, differences: bool) -> None:
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
        out.add(0, b, flat + more + 5 * v * (abs(header.rho[pair]) + size), slope, 0.0, 0.0)


def rounded_up(numbers: Any, single: bool) -> np.ndarray:
    """Round positive numbers up to the precision, without underflow."""
    array = np.asarray(numbers, dtype=np.float64)
    if not single:
        return array
    with np.errstate(over="ignore"):
        out = array.astype(np.float32)
    out = np.where(out.astype(np.float64) < array, np.nextafter(out, np.float32(inf)), out)
    return np.where(array > 0, np.maximum(out, np.float32(2.0**-110)), out).astype(np.float64)
