"""Border samples, and kernel density estimates as models (Mills, "When Support Vector Machines are just too slow").

Samples b_i have f(b_i) = level and normals n_i = grad f(b_i): f(z) is near level + n_i.(z - b_i) at the nearest b_i.
They are roots on lines between rows on opposite sides, random in the paper; here, one may be a row that the samples get
wrong, the other near it.

By a density estimate, z gets the class with the larger sum of exp(-|z - x_k|^2 / (2 h^2)). A fixed h gives an RBF
model, gamma = 1 / (2 h^2), coefficients 1 and -1, rho 0; with h solved from a weight W, gamma depends on z.
"""

from math import isfinite
from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Header, Kernel, class_pairs
from fastsvm_cli._native import fingerprint as fingerprint_of_text
from fastsvm_cli.errors import FileError, ModelFormatError, spelled
from fastsvm_cli.methods.border.samples import (
    CLOUD_CELLS,
    DecisionFunction,
    SampledBorder,
    Sampling,
    drawn_rows,
    rows_for,
    sample_border,
)
from fastsvm_cli.methods.feature_space import FeatureSpace, Matrix, fast_values, matrix, row_norms, squared_distances
from fastsvm_cli.methods.folded_scaling import ScalingToFold, folded_exact, folded_model
from fastsvm_cli.methods.method import require
from fastsvm_cli.models import ExactModel, Model


class MachineFunction(DecisionFunction):
    """Decision function f(z) = sum_i a_i K(x_i, z) - rho; no precomputed kernel. x: (n, d) dense or sparse."""

    def __init__(self, x: Matrix, a: np.ndarray, rho: float, kernel: Kernel):
        self.a, self.rho, self.kernel = a, rho, kernel
        # Fewer digits are lost about the mean; RBF kernels do not depend on the origin.
        self._center = x.mean(axis=0) if kernel.type == "rbf" and isinstance(x, np.ndarray) and len(x) else 0.0
        self.x = x = x - self._center if isinstance(self._center, np.ndarray) else x
        self.norms = row_norms(x)

    def _block(self, z: np.ndarray, left_out: "np.ndarray | None") -> "tuple[np.ndarray, np.ndarray]":
        if left_out is not None:
            raise TypeError("left_out is of a density")
        z = z - self._center
        kernel, gamma = self.kernel, self.kernel.gamma
        own = 0.0  # coefficient of z itself in the gradient
        # values and slope: (m, n).
        dots = np.asarray(self.x @ z.T).T if kernel.type != "rbf" else np.empty(0)
        if kernel.type == "linear":
            values, slope = dots, np.ones_like(dots)
        elif kernel.type == "rbf":
            values = np.exp(-gamma * squared_distances(self.x, self.norms, z))
            slope = 2 * gamma * values
            own = -(slope @ self.a)[:, None]
        elif kernel.type == "polynomial":
            inner = gamma * dots + kernel.coef0
            values = inner**kernel.degree
            slope = kernel.degree * gamma * inner ** (kernel.degree - 1) if kernel.degree else np.zeros_like(inner)
        else:  # sigmoid
            values = np.tanh(gamma * dots + kernel.coef0)
            slope = gamma * (1 - values**2)
        gradient = np.asarray((self.x.T @ (slope * self.a).T).T) + own * z
        return values @ self.a - self.rho, gradient


class DensityFunction(DecisionFunction):
    """Difference of two classes' probabilities by Gaussian kernel density estimates (Mills).

    R(z) = P(first class | z) - P(second | z) = sum_i y_i k_i / sum_i k_i, k_i = exp(-|z - x_i|^2 / (2 h^2)).

    x: (n, d) dense; y: (n), 1 or -1. bandwidth: h; None: solved at every z for sum_i k_i = weight < n.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, bandwidth: "float | None", weight: float = 0.0):
        self._center = x.mean(axis=0)
        self.x, self.y, self.bandwidth, self.weight = x - self._center, y, bandwidth, weight
        self.norms = row_norms(self.x)

    def bandwidths(self, z: np.ndarray) -> np.ndarray:
        """Return the bandwidth at each row z: (m)."""
        return np.sqrt(1 / (2 * self._gamma(squared_distances(self.x, self.norms, z - self._center), 1.0)))

    def _gamma(self, squares: np.ndarray, counts: "np.ndarray | float") -> np.ndarray:
        # 1 / (2 h^2); counts: 0 for rows left out, else 1
        if self.bandwidth is not None:
            return np.full(len(squares), 1 / (2 * self.bandwidth**2))
        # Newton's method on log(sum k) over log(g): decreasing, and flat at both ends, so it needs a bracket: n e^{-g
        # max s} <= sum k <= n e^{-g min s}.
        share = np.log(len(self.y) / self.weight)
        tiny = np.finfo(float).tiny
        unit = np.maximum(squares.max(axis=1), tiny)
        squares = squares / unit[:, None]
        low = np.full(len(squares), share)
        with np.errstate(over="ignore"):
            high = np.minimum(share / np.maximum(squares.min(axis=1), tiny), 1e300)
        g = np.sqrt(low) * np.sqrt(np.minimum(high, low * 1e6))
        for _ in range(200):
            k = counts * np.exp(-g[:, None] * squares)
            total = k.sum(axis=1)
            miss = np.log(total / self.weight)
            done = np.abs(miss) < 1e-12
            if done.all():
                break
            low, high = np.where(miss > 0, g, low), np.where(miss < 0, g, high)
            slope = g * (k * squares).sum(axis=1) / total  # -d log(total) / d log(g)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                newton = g * np.exp(np.clip(miss / slope, -50, 50))
                middle = np.sqrt(low) * np.sqrt(high)
            following = np.where((newton > low) & (newton < high), newton, middle)
            if np.all((following == g) | done):
                break
            g = np.where(done, g, following)
        return g / unit

    def _block(self, z: np.ndarray, left_out: "np.ndarray | None") -> "tuple[np.ndarray, np.ndarray]":
        z = z - self._center
        squares = squared_distances(self.x, self.norms, z)
        counts: np.ndarray | float = 1.0
        if left_out is not None:
            counts = np.ones_like(squares)
            counts[np.flatnonzero(left_out >= 0), left_out[left_out >= 0]] = 0.0
        g = self._gamma(squares, counts)
        # With a fixed bandwidth only ratios of the k matter: relative to the largest, not all underflow.
        nearest = (
            np.where(counts > 0, squares, np.inf).min(axis=1, keepdims=True) if self.bandwidth is not None else 0.0
        )
        k = counts * np.exp(-g[:, None] * np.maximum(squares - nearest, 0.0))
        total = k.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            r = (k @ self.y) / total
            pull = k @ self.x - total[:, None] * z  # sum_k k_k (x_k - z)
            mine = (k * self.y) @ self.x - (k @ self.y)[:, None] * z
            if self.bandwidth is not None:  # the total varies with z
                gradient = 2 * g[:, None] * (mine - r[:, None] * pull) / total[:, None]
            else:
                # The bandwidth keeps the total constant: grad h = -h sum_k k_k (x_k - z) / sum_k k_k s_k. (Mills prints
                # 1 / s_k. Differentiating sum k = W gives s_k; finite differences confirm it.)
                moved = ((k * self.y * squares).sum(axis=1) / (k * squares).sum(axis=1))[:, None]
                gradient = 2 * g[:, None] * (mine - moved * pull) / total[:, None]
        return r, gradient


@np.errstate(all="ignore")  # overflows are refused, or give no root
def compile_border(
    model: ExactModel,
    *,
    fingerprint: str,
    raw: bool = False,
    chunks: "list[_native.Chunk] | None" = None,
    seed: int = 0,
    **how: Any,
) -> SampledBorder:
    """Sample the border of a classification or one-class model.

    raw: at f = 0 despite probability parameters. chunks: rows to draw from; default: support vectors. how: of Sampling.
    """
    header = model.header
    require(model.path, reason_against(model))
    sampling = Sampling(np.random.default_rng(seed), **how)
    rows = rows_for(model, chunks, sampling.rng)
    # Keep every feature of a row: |x|^2 depends on features that the gradient ignores.
    x, _ = matrix(model.vectors, rows.columns)
    x = x.toarray() if x.shape[0] * x.shape[1] <= CLOUD_CELLS else x
    coefficients = FeatureSpace(model).coefficients
    values = fast_values(model, rows.chunk)
    if not np.all(np.isfinite(values)):
        raise ModelFormatError(
            model.path, "a decision value overflows on the rows that the border would be drawn through: scale the data"
        )
    functions = []
    for p in range(model.pairs):
        mine = np.flatnonzero(coefficients[:, p])
        function = MachineFunction(x[mine], coefficients[mine, p], header.rho[p], model.kernel)
        if header.classification and header.probA and header.probB and not raw and header.probA[p] != 0:
            function.level = -header.probB[p] / header.probA[p]
        if not isfinite(function.level):
            raise ModelFormatError(
                model.path,
                f"both classes are as likely at a decision value that overflows: sample where it is 0"
                f" ({spelled('raw')})",
            )
        functions.append(function)
    return sample_border(
        header,
        functions,
        rows,
        values,
        unseen=values,
        fingerprint=fingerprint,
        sampling=sampling,
        folded=model.inheritance,
    )


@np.errstate(all="ignore")
def compile_density_border(
    chunks: "list[_native.Chunk]",
    path: str,
    *,
    fingerprint: str,
    bandwidth: "float | None",
    weight: float = 0.0,
    seed: int = 0,
    **how: Any,
) -> SampledBorder:
    """Sample the border where two density estimates are equal. how: of Sampling."""
    sampling = Sampling(np.random.default_rng(seed), **how)
    found, whole = classes_of(chunks, path)
    position = {label: at for at, label in enumerate(found)}
    x, columns = dense_rows(chunks, path)
    functions, members = [], []
    for _, i, j in class_pairs(len(found)):
        mine = np.flatnonzero((whole == i) | (whole == j))
        if bandwidth is None:
            check_weight(weight, len(mine), found[i], found[j], path)
        members.append(mine)
        functions.append(DensityFunction(x[mine], np.where(whole[mine] == i, 1.0, -1.0), bandwidth, weight))
    rows = drawn_rows(chunks, position, columns, sampling.rng)
    values = np.stack([function.value_and_gradient(rows.x)[0] for function in functions], axis=1)
    # Leave each row out of its own estimate.
    unseen = np.empty_like(values)
    for p, (function, mine) in enumerate(zip(functions, members)):
        own = np.full(len(whole), -1)
        own[mine] = np.arange(len(mine))
        unseen[:, p] = function.value_and_gradient(rows.x, own[rows.positions])[0]
    if not (np.all(np.isfinite(values)) and np.all(np.isfinite(unseen))):
        raise FileError(path, "the density estimates overflow: scale the data")
    spread = bandwidth or float(np.median(functions[0].bandwidths(rows.x[:200])))
    # P(first) - P(second) is tanh of the border decision (Mills): LIBSVM's sigmoid with A = -2, B = 0.
    header = density_header(found, whole, spread, -2.0)
    return sample_border(header, functions, rows, values, unseen=unseen, fingerprint=fingerprint, sampling=sampling)


def reason_against(model: ExactModel) -> "str | None":
    """Return why the model has no border, or None."""
    header = model.header
    if header.regression:
        return f"a model of type {header.svm_type} found, expected classes: the values of a regression have no border"
    if header.kernel_type == "precomputed":
        return "a precomputed kernel found, which has no gradient"
    return None


def needs_rows(model: ExactModel) -> bool:
    """Return whether a model needs rows: one-class support vectors are on one side of the border."""
    return model.header.svm_type == "one_class"


_SHOWN = 200  # rows for the header's median bandwidth


def classes_of(chunks: "list[_native.Chunk]", path: str) -> "tuple[list[int], np.ndarray]":
    """Return (labels in svm-train's order, class per row (n)): integers of two or more classes."""
    labels = np.concatenate([np.asarray(chunk.leading)[:, 0] for chunk in chunks])
    fraction = next((label for label in labels.tolist() if label != int(label) or abs(label) >= 2**31), None)
    if fraction is not None:
        raise FileError(path, f"a label {fraction:g} found, expected whole numbers: classes")
    found = list(dict.fromkeys(labels.astype(int).tolist()))
    if len(found) == 2 and found == [-1, 1]:
        found = [1, -1]  # as LIBSVM does
    if len(found) < 2:
        raise FileError(path, f"rows of {len(found)} class found, expected 2 or more")
    position = {label: at for at, label in enumerate(found)}
    return found, np.array([position[int(label)] for label in labels])


def dense_rows(chunks: "list[_native.Chunk]", path: str) -> "tuple[np.ndarray, np.ndarray]":
    """Return (rows (n, d), LIBSVM indices (d)), if they are not too many numbers."""
    columns = np.unique(np.concatenate([np.asarray(chunk.indices) for chunk in chunks]))
    total = sum(chunk.rows for chunk in chunks)
    if total * max(len(columns), 1) > _native.MOST_DENSITY_CELLS:
        raise FileError(path, _native.too_many_cells(total, len(columns)))
    return np.vstack([matrix(chunk, columns)[0].toarray() for chunk in chunks]), columns


def check_weight(weight: float, rows: int, first: int, second: int, path: str) -> None:
    """Require 0 < weight < rows."""
    if not 0 < weight < rows:
        why = f"{rows} rows of the classes {first} and {second} found, expected more than the weight {weight:g}"
        raise FileError(path, why)


def density_header(found: "list[int]", classes: np.ndarray, bandwidth: float, probabilities: "float | None") -> Header:
    """Return a density's LIBSVM header. bandwidth: clipped; 1 for NaN. probabilities: A of every sigmoid."""
    bandwidth = min(max(bandwidth, 1e-100), 1e100) if bandwidth == bandwidth else 1.0
    pairs = len(class_pairs(len(found)))
    return Header(
        "c_svc",
        "rbf",
        nr_class=len(found),
        total_sv=len(classes),
        rho=[0.0] * pairs,
        gamma=1 / (2 * bandwidth**2),
        label=found,
        nr_sv=np.bincount(classes).tolist(),
        probA=None if probabilities is None else [probabilities] * pairs,
        probB=None if probabilities is None else [0.0] * pairs,
    )


@np.errstate(all="ignore")
def compile_density(
    chunks: "list[_native.Chunk]",
    path: str,
    *,
    fingerprint: str,
    bandwidth: "float | None",
    weight: float = 0.0,
    folding: "ScalingToFold | None" = None,
) -> Model:
    """Return an ExactModel for a `bandwidth` (needed by `folding`), a density model for a `weight`."""
    found, classes = classes_of(chunks, path)
    # By class, in file order.
    order = np.argsort(classes, kind="stable")
    rows = _native.Chunk.concatenate(chunks).select(order.tolist())
    if bandwidth is not None:
        # -1 against earlier classes, 1 against later ones.
        signs = np.where(np.arange(len(found) - 1) < np.arange(len(found))[:, None], -1.0, 1.0)
        vectors = _native.Chunk.from_csr(signs[classes[order]], rows.indptr, rows.indices, rows.values)
        model = ExactModel(_native.LibsvmFile(density_header(found, classes, bandwidth, None), vectors), path)
        if folding is None:
            return model
        exact = folded_exact(model, folding, "scale the rows with svm-scale, and give --scale to predict")
        return folded_model(exact, fingerprint, folding)
    for _, i, j in class_pairs(len(found)):
        check_weight(weight, int(np.sum((classes == i) | (classes == j))), found[i], found[j], path)
    x, _ = dense_rows(chunks, path)
    mine = classes <= 1
    spread = DensityFunction(x[mine], np.ones(mine.sum()), None, weight).bandwidths(x[:_SHOWN])
    header = density_header(found, classes, float(np.median(spread)), -1.0)
    return Model(_native.DensityFile(header, fingerprint=fingerprint, weight=weight, rows=rows), path)


def rows_fingerprint(chunks: "list[_native.Chunk]") -> str:
    """Return the fingerprint of rows as LIBSVM text."""
    return fingerprint_of_text(b"".join(map(_native.format_rows, chunks)))
