"""Whether a precision holds an exported model's numbers, and how far its rounding moves decision values.

Every number goes through `written`. `check_range` judges single precision's range on rows as large as the model's
vectors (or within reach of its expansions), with gradual underflow. `tolerance` estimates rounding, to judge labels
that differ: no proof, as it assumes no cancellation.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.description import VANISHES, KernelSums, Polynomials, orderings, pair_coefficients

if TYPE_CHECKING:
    from fastsvm_cli import _native
    from fastsvm_cli.export.description import Description, Samples

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
    body, rho = description.body, np.array(description.header.rho)
    with np.errstate(all="ignore"):
        if isinstance(body, KernelSums):
            scale, error, largest = _range_of_kernels(body, description.header.pairs)
        elif isinstance(body, Polynomials):
            scale, error, largest = _range_of_polynomials(body, description.header.pairs)
        else:
            scale, error, largest = _range_of_samples(body)
        scale, error = scale + abs(rho), error + _lost(rho)
        if description.slopes is not None and _lost(description.slopes).any():
            error = error + np.inf
        if description.labels_back is not None:
            _, size, to = map(abs, description.labels_back)
            largest = max(largest, size * float(scale.max()) + to)
            if _lost(np.array(description.labels_back)).any():
                error = error + np.inf
        largest = max(largest, float(scale.max(initial=0)))
        too_large, too_small = not largest < _MOST, (error > unit(True) * scale).any()
    if too_large or too_small:
        why = f"numbers too {'large' if too_large else 'small'} for single precision found"
        raise ModelFormatError(description.path, f"{why}: --precision double")


def _lost(numbers: np.ndarray) -> np.ndarray:
    small = np.where(abs(numbers) < _NORMAL, numbers, 0.0)
    return abs(small - small.astype(np.float32))


def _range_of_kernels(body: KernelSums, pairs: int) -> Sizes:
    kernel, d = body.kernel, body.vectors.shape[1]
    squares = float((body.vectors**2).sum(axis=1).max(initial=0))
    gamma, reach = abs(kernel.gamma), np.sqrt(squares)
    if kernel.of_distances:
        largest = max(8 * squares, gamma)
        vanishes = gamma * _MOST > VANISHES  # a squared distance beyond the precision gives 0, as it should
        if np.sqrt(gamma) * reach * unit(True) > _WIDTH or (gamma and not vanishes):
            largest = np.inf
        value = power = np.exp(np.maximum(-kernel.gamma * 4 * squares, 0.0))
        error = value * (gamma * 4 * (d + 2) + 4 * squares) * _LEAST + _LEAST
    else:
        base = np.float64(gamma * squares + abs(kernel.coef0))
        moved = (d * (gamma * (1 + reach) + reach) + squares + 1) * _LEAST if gamma else _lost(np.array(kernel.coef0))
        largest = max(2 * squares, gamma * reach, base)
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


def _range_of_polynomials(body: Polynomials, pairs: int) -> Sizes:
    d, gamma, reach = body.centers.shape[1], body.gamma, body.reach
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


def _range_of_samples(body: "Samples") -> Sizes:
    scale, error, largest = [], [], 0.0
    for level, points, normals in body.pairs:
        squares, norm = (float((x**2).sum(axis=1).max(initial=0)) for x in (points, normals))
        reach = 2 * np.sqrt(squares)
        scale.append(abs(level) + np.sqrt(norm) * reach)
        error.append(_lost(np.array(level)) + (_lost(normals).sum(axis=1) * reach).max(initial=0))
        if len(points) > 1 and points.shape[1] * _LEAST > unit(True) * squares:
            error[-1] += np.inf  # the nearest sample
        largest = max(largest, 8 * squares)
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
    if description.slopes is not None:
        assert description.offsets is not None  # set together
        moved = moved + 5.1e-6 * size + 4 * v * np.abs(description.offsets).max(initial=0)
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
    starts, indices = np.asarray(chunk.indptr), np.asarray(chunk.indices)
    rows, values = np.repeat(np.arange(chunk.rows), np.diff(starts)), np.asarray(chunk.values)
    columns = indices - description.first_index
    within = (columns >= 0) & (columns < description.inputs)
    x = np.zeros((chunk.rows, description.inputs))
    x[rows[within], columns[within]] = values[within]
    rest = np.zeros(chunk.rows)
    if description.slopes is not None and description.offsets is not None:
        x = x * description.slopes + description.offsets
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
