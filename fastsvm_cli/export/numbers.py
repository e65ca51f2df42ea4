"""Whether a precision holds an exported model's numbers.

Every number of a target goes through `written`. `check_range` judges the effect of single precision's range on rows as
large as the model's vectors (or within reach of its expansions), with IEEE's gradual underflow.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.description import VANISHES, KernelSums, Polynomials, pair_coefficients
from fastsvm_cli.export.tolerance import least, tensor_norm, unit

if TYPE_CHECKING:
    from fastsvm_cli.export.description import Description, Samples

_MOST, _NORMAL = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)
_LEAST = least(True)
#: Rounding of a vector that an RBF kernel may see, in units of its width.
_WIDTH = 0.1
#: (scale, error, largest): sizes of each pair's values and of what underflow changes in them, (pairs); the largest size
#: of any step.
Sizes = tuple[np.ndarray, np.ndarray, float]


def written(numbers: Any, single: bool, path: str) -> np.ndarray:
    """Return numbers, rounded to the precision. Raises ModelFormatError for those beyond it."""
    array = np.asarray(numbers, dtype=np.float64)
    with np.errstate(over="ignore"):
        out = array.astype(np.float32 if single else np.float64)
    if not np.isfinite(out).all():
        found = array[~np.isfinite(out)].flat[0]
        end = ": --precision double" if single and np.isfinite(found) else ", the largest precision of a target"
        raise ModelFormatError(path, f"{found:.3g} found, beyond {'single' if single else 'double'} precision{end}")
    return out


def check_range(description: "Description") -> None:
    """Raise ModelFormatError if single precision's range, not its rounding, changes the decision values."""
    body, rho = description.body, np.array(description.header.rho)
    with np.errstate(all="ignore"):
        if isinstance(body, KernelSums):
            scale, error, largest = _of_kernels(body, description.header.pairs)
        elif isinstance(body, Polynomials):
            scale, error, largest = _of_polynomials(body, description.header.pairs)
        else:
            scale, error, largest = _of_samples(body)
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
    """Return what underflow takes from numbers in single precision."""
    small = np.where(abs(numbers) < _NORMAL, numbers, 0.0)
    return abs(small - small.astype(np.float32))


def _of_kernels(body: KernelSums, pairs: int) -> Sizes:
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


def _of_polynomials(body: Polynomials, pairs: int) -> Sizes:
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


def _of_samples(body: "Samples") -> Sizes:
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
