"""Kernel density estimates as models (Mills).

z gets the class with the larger sum of exp(-|z - x_k|^2 / (2 h^2)). A fixed h gives an RBF model, gamma = 1 / (2 h^2),
coefficients 1 and -1, rho 0; with h solved from a weight W, gamma depends on z.
"""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Header, class_pairs
from fastsvm_cli._native import fingerprint as fingerprint_of_text
from fastsvm_cli.errors import FileError
from fastsvm_cli.methods.border.gradients import DensityFunction
from fastsvm_cli.methods.feature_space import matrix
from fastsvm_cli.methods.folded_scaling import ScalingToFold, folded_exact, folded_model
from fastsvm_cli.models.base import ExactModel, Model

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
