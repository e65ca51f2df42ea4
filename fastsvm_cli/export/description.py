"""Description of a model's computation for any target (README.md).

A row becomes `z`, its scaled `used` columns, and, for a kernel of distances, `rest`, the others' sum of squares. Rho is
subtracted from a body's sums, except for a border.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import ExactModel, Model, Precision

#: Limit of numbers in tables, to avoid files of gigabytes.
MOST_NUMBERS = 1 << 28
#: Limit of columns: rows are dense.
MOST_INPUTS = 1 << 22
#: e^-x is 0 in single precision for larger x.
VANISHES = 104.0


class KernelSums:
    """Body: a kernel expansion, sum_i a_i K(x_i, z).

    vectors: (n, d). coefficients: (n, c) in LIBSVM's layout: for class i, column j belongs to the pair of i with j if j
    < i, else with j + 1. counts: vectors per class, or one number.
    """

    def __init__(self, kernel: Kernel, vectors: np.ndarray, coefficients: np.ndarray, counts: "list[int]"):
        self.kernel, self.vectors, self.coefficients, self.counts = kernel, vectors, coefficients, counts


class Expansion:
    """The term e^{-gamma |z - m|^2} (c + v.(z - m) + ...) of `pair`; m is centers[center].

    levels: per degree, coefficients of the monomials z_j1 ... z_jk, j1 <= ... <= jk, in lexicographic order. With rank,
    they stop at degree 1; weights (rank) and directions (rank, d) add sum_r weights_r (q_r.(z - m))^2.
    """

    def __init__(self, pair: int, center: int, levels: "list[np.ndarray]", weights: np.ndarray, directions: np.ndarray):
        self.pair, self.center, self.levels, self.weights, self.directions = pair, center, levels, weights, directions
        self.rank = len(weights)


class Polynomials:
    """Body: expansions about centers, (nr_centers, d).

    gamma: None without the exponential. reach: distance from a center up to which single precision must hold the terms;
    with gamma, the exponential is 0 beyond.
    """

    def __init__(
        self, gamma: "float | None", degree: int, centers: np.ndarray, expansions: "list[Expansion]", reach: float
    ):
        self.gamma, self.degree, self.centers, self.expansions = gamma, degree, centers, expansions
        self.reach = reach if gamma is None else np.sqrt(VANISHES / gamma)


class Samples:
    """Body: a border, or constants.

    pairs: (level, points (n, d), normals (n, d)); if n is 0, the value is the level.
    """

    def __init__(self, pairs: "list[tuple[float, np.ndarray, np.ndarray]]"):
        self.pairs = pairs


Body: TypeAlias = KernelSums | Polynomials | Samples


class Description:
    """A model's arithmetic, for a writer of any target. Column j of a row is feature j + first_index."""

    def __init__(self, model: Model, body: Body, used: np.ndarray, inputs: int, path: str, fingerprint: "str | None"):
        self.header, self.kind, self.first_index = model.header, model.kind, model.first_index
        self.body, self.used, self.inputs, self.path, self.fingerprint = body, used, inputs, path, fingerprint
        # Slopes and offsets, (inputs) each: x becomes slope x + offset, 0 for a dropped column.
        self.scaling: tuple[np.ndarray, np.ndarray] | None = None
        self.scaled_to = 0.0  # the range file's limit with the larger absolute value
        self.labels_back: tuple[float, float, float] | None = None  # (from, scale, to): y becomes to + (y - from) scale
        self.classes: Any = None
        self.certified: Model | None = None

    @property
    def of_distances(self) -> bool:
        """Whether the squares of unused columns count."""
        if isinstance(self.body, KernelSums):
            return self.body.kernel.of_distances
        return isinstance(self.body, Polynomials) and self.body.gamma is not None

    @property
    def rest(self) -> np.ndarray:
        """Features of no vector, which distances need: (count), int64."""
        if not self.of_distances:
            return np.zeros(0, dtype=np.int64)
        others = np.setdiff1d(np.arange(self.inputs), self.used)
        if self.scaling is None:
            return others
        return others[np.any([each[others] != 0 for each in self.scaling], axis=0)]

    def scale(self, slopes: np.ndarray, offsets: np.ndarray) -> None:
        """Scale rows by (inputs) slopes and offsets first."""
        if self.scaling is not None:
            slopes, offsets = self.scaling[0] * slopes, self.scaling[0] * offsets + self.scaling[1]
        self.scaling = slopes, offsets


def describe(
    model: "Model", path: str, fingerprint: "str | None" = None, inputs: int = 0, radius: bool = True
) -> Description:
    """Describe a model of any kind that some target can hold.

    inputs: least columns of a row. radius: with radii of a certified model.
    """
    exact: Any = model.exact if model.ordered else model  # it answers as its exact one
    if (why := getattr(exact, "uncompilable", None)) is not None:
        raise ModelFormatError(path, why)
    if exact.serials:
        raise ModelFormatError(path, "a precomputed kernel found, whose rows are kernel values: nothing is exported")
    if model.header.pairs < 1:
        raise ModelFormatError(path, "a model of one class found, expected two or more: nothing is computed")
    first = model.first_index
    inputs = max(inputs, model.max_index + 1 - first, 1)
    if inputs > MOST_INPUTS:
        last = inputs - 1 + first
        why = f"feature {last} found, expected at most {MOST_INPUTS:,}: an exported model takes dense rows"
        raise ModelFormatError(path, why)
    # Without an entry, column 0 is as good as any.
    features = np.array(model.used_indices or [first], dtype=np.int64)
    if exact.kind not in _BODIES:
        raise ModelFormatError(path, f"a {model.kind} model found, which no target computes")
    body = _BODIES[exact.kind](exact, features, path)
    out = Description(model, body, features - first, inputs, path, fingerprint)
    _add_scaling(out, model)
    out.certified = model if radius and model.certified else None
    return out


def _kernel_sums(model: "ExactModel", features: np.ndarray, path: str) -> Body:
    header, kernel, chunk = model.header, model.kernel, model.vectors
    if kernel.type not in ("linear", "polynomial", "rbf", "sigmoid"):
        raise ModelFormatError(path, f"a {kernel.type} kernel found, expected one of LIBSVM's own")
    n, d = chunk.rows, len(features)
    columns = header.nr_class - 1 if header.classification else 1
    coefficients = np.array(chunk.leading, dtype=np.float64).reshape(n, columns)
    rows, indices, values = entries(chunk)
    if not n or not (values.any() or kernel.of_distances):
        constants = _constants(model)
        if np.isfinite(constants).all():
            return Samples([(value, np.zeros((0, d)), np.zeros((0, d))) for value in constants])
    if kernel.type == "linear":
        weights = _linear(model, features, coefficients)
        if weights is not None:
            return weights
        kernel = Kernel("polynomial", gamma=1.0, degree=1)
    _check_size(n * d, path)
    vectors = np.zeros((n, d))
    vectors[rows, np.searchsorted(features, indices)] = values
    return KernelSums(kernel, vectors, coefficients, list(header.nr_sv or [n]) if header.classification else [n])


def entries(chunk: _native.Chunk) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Return row, LIBSVM index and value of every entry, (nnz) each."""
    rows = np.repeat(np.arange(chunk.rows), np.diff(np.asarray(chunk.indptr)))
    return rows, np.asarray(chunk.indices), np.asarray(chunk.values)


def _constants(model: "ExactModel") -> np.ndarray:
    decisions, empty = model.decisions(Precision.values()), _native.Chunk.from_dense(np.zeros(1), np.zeros((1, 1)))
    model.reference_values(empty, decisions)
    return np.array(decisions.value)[0]


def _linear(model: "ExactModel", features: np.ndarray, coefficients: np.ndarray) -> "Polynomials | None":
    # None if a product leaves the range of doubles, as kernel sums might not.
    header, chunk = model.header, model.vectors
    _check_size(header.pairs * len(features), model.path)
    rows, indices, values = entries(chunk)
    columns = np.searchsorted(features, indices)
    per_vector = pair_coefficients(coefficients, list(header.nr_sv or [chunk.rows]), header.pairs)
    none, about = np.zeros(0), np.zeros((1, len(features)))
    expansions = []
    for pair in range(header.pairs):
        with np.errstate(over="ignore", under="ignore"):
            products = per_vector[pair][rows] * values
            weights = np.bincount(columns, products, minlength=len(features))
        vanished = (abs(products) < np.finfo(np.float64).tiny) & (per_vector[pair][rows] != 0) & (values != 0)
        if vanished.any() or not np.isfinite(weights).all():
            return None
        expansions.append(Expansion(pair, 0, [np.zeros(1), weights], none, np.zeros((0, len(features)))))
    with np.errstate(over="ignore"):
        reach = float(np.sqrt(np.bincount(rows, values**2, minlength=1).max()))
    return Polynomials(None, 1, about, expansions, reach)


def pair_coefficients(coefficients: np.ndarray, counts: "Sequence[int]", pairs: int) -> np.ndarray:
    """Return every pair's coefficients, (pairs, n), from LIBSVM's layout. counts: vectors per class, or one number."""
    if len(counts) < 2:
        return np.repeat(coefficients[:, :1].T, pairs, axis=0)
    starts, out = np.cumsum([0, *counts]), np.zeros((pairs, len(coefficients)))
    for pair, i, j in _native.class_pairs(len(counts)):
        for mine, column in ((i, j - 1), (j, i)):
            rows = slice(starts[mine], starts[mine + 1])
            out[pair, rows] = coefficients[rows, column]
    return out


def _polynomials(model: Any, features: np.ndarray, path: str) -> Polynomials:
    d, expansions = len(features), []
    times_of = [orderings(k, d) for k in range(model.degree + 1)]
    for each in model.expansions:
        numbers = np.array(each.coefficients, dtype=np.float64)
        if not model.features:
            numbers = np.append(numbers[:1], np.zeros(model.degree))
        if model.single:  # the file's decimals identify floats
            numbers = numbers.astype(np.float32).astype(np.float64)
        weights, directions = np.zeros(0), np.zeros((0, d))
        if each.rank:
            levels = [numbers[:1], numbers[1 : 1 + d]]
            weights = numbers[1 + d : 1 + d + each.rank]
            directions = numbers[1 + d + each.rank :].reshape(each.rank, d)
        else:
            levels, at = [], 0
            for times in times_of:
                levels.append(numbers[at : at + len(times)] * times)
                at += len(times)
        expansions.append(Expansion(each.pair, each.center, levels, weights, directions))
    gamma = model.header.gamma if model.header.kernel_type == "rbf" else None
    centers = np.zeros((len(model.centers), d))
    for point, center in zip(centers, model.centers):
        point[: len(center.point)] = center.point
    reach = float(np.sqrt(max((center.largest_norm for center in model.centers), default=0.0)))
    return Polynomials(gamma, model.degree, centers, expansions, reach)


def monomials(k: int, d: int) -> np.ndarray:
    """Return indices j1 <= ... <= jk, in lexicographic order: (C(d + k - 1, k), k)."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(k):
        least = rows[:, -1] if rows.shape[1] else np.zeros(len(rows), dtype=np.int64)
        times = d - least
        start = np.repeat(np.cumsum(times) - times, times)
        rows = np.column_stack(
            [np.repeat(rows, times, axis=0), np.arange(times.sum()) - start + np.repeat(least, times)]
        )
    return rows


def orderings(k: int, d: int) -> np.ndarray:
    """Return how many entries of a symmetric tensor belong to each of `monomials`."""
    from math import factorial

    rows = monomials(k, d)
    out, run = np.full(len(rows), float(factorial(k))), np.ones(len(rows))
    for at in range(1, k):  # divide by the factorial of every run of equal indices
        run = np.where(rows[:, at] == rows[:, at - 1], run + 1, 1)
        out /= run
    return out


def _samples(model: Any, features: np.ndarray, path: str) -> Samples:
    if model.local > 1:
        raise ModelFormatError(
            path, f"a border of {model.local} nearest samples found, expected --local 1 to export it"
        )
    pairs = []
    for samples in model.samples:
        rows = np.zeros((samples.count, 2, len(features)))
        rows[:, :, : len(model.features)] = np.reshape(samples.rows, (samples.count, 2, len(model.features)))
        pairs.append((samples.level, rows[:, 0], rows[:, 1]))
    return Samples(pairs)


#: Exportable kinds -> (model, features, path) to the body.
_BODIES: "dict[str, Callable[[Any, np.ndarray, str], Body]]" = {
    "LIBSVM": _kernel_sums,
    "maclaurin": _polynomials,
    "border": _samples,
}


def _add_scaling(out: Description, model: "Model") -> None:
    if model.embedded_scaling is None:
        return
    affine = model.embedded_scaling.scaling().unrounded().affine()
    slopes, offsets = np.zeros(out.inputs), np.zeros(out.inputs)
    for index, slope, offset in zip(affine.features, affine.slopes, affine.offsets):
        column = index - out.first_index
        if column >= 0:
            slopes[column], offsets[column] = slope, offset
    out.scaling = slopes, offsets
    out.labels_back = model.embedded_scaling.labels_back
    words = model.embedded_scaling.texts[0].split()
    if b"x" in words:
        out.scaled_to = max(abs(float(word)) for word in words[words.index(b"x") + 1 :][:2])


def _check_size(numbers: int, path: str) -> None:
    if numbers > MOST_NUMBERS:
        raise ModelFormatError(path, f"a table of {numbers:,} numbers found, expected at most {MOST_NUMBERS:,}")
