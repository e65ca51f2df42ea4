"""Certificates of Maclaurin models (bounds.py), on any processes."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from fastsvm_cli import _native, bounds
from fastsvm_cli._native import Certificate, Header
from fastsvm_cli.export.description import orderings
from fastsvm_cli.methods import Progress
from fastsvm_cli.methods.feature_space import row_norms
from fastsvm_cli.models import ExactModel
from fastsvm_cli.prediction import threads_here

if TYPE_CHECKING:
    from distributed import Client


class PairSums:
    """Sums of a certificate over pairs of support vectors, in parts of a second. Thread-safe; pickles as its arrays."""

    def __init__(self, *arrays: Any, sparse: bool):
        """Take arguments of _native.DegreeNormParts.sparse or .dense."""
        self._arrays, self._sparse = arrays, sparse
        self._parts: _native.DegreeNormParts | None = None
        self._lock = Lock()

    @property
    def parts(self) -> _native.DegreeNormParts:
        """Parts in the core, made on first use."""
        with self._lock:
            if self._parts is None:
                make = _native.DegreeNormParts.sparse if self._sparse else _native.DegreeNormParts.dense
                self._parts = make(*self._arrays)
            return self._parts

    def here(self, on_progress: Progress) -> "list[float]":
        """Return the totals, computed by this process."""
        *_, first, last = self._arrays
        found = [[0.0] * (last - first + 2)]
        for part in range(len(self.parts)):
            found.append(self.parts.sums(part))
            on_progress(self.parts.share(part + 1))
        return totals(found)

    def __reduce__(self) -> "tuple[Any, ...]":
        return partial(PairSums, sparse=self._sparse), self._arrays

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(getattr(each, "nbytes", 0) for each in self._arrays)


#: Returns totals; reports the share done.
AddUp = Callable[[PairSums, Progress], "list[float]"]


def totals(sums: "Iterable[list[float]]") -> "list[float]":
    """Add up parts in order, as the proof counts."""
    out: list[float] = []
    for part in sums:
        out = [total + each for total, each in zip(out or [0.0] * len(part), part)]
    return out


DENSE_CELLS = 1 << 28  # limit of support vectors times features
BLOCK_CELLS = 1 << 20  # of a dense block of rows
ENTRY_COST = 25  # of a product of sparse entries, in dense ones


def certified_degree(degree: int, gaussian: bool) -> int:
    """Return the highest degree with a norm of its own in certificates."""
    return degree + 5 if gaussian else max(degree, 1)


def reason_against(model: ExactModel) -> "str | None":
    """Return why a model has no certificate, or None (B7 of PROOFS.md)."""
    header = model.header
    finite = header.kernel_type != "rbf"
    for what, numbers, least in (
        ("gamma", [header.gamma], 1e-30),
        ("coef0", [header.coef0], 1e-30),
        ("rho", header.rho, 0.0),
        ("a coefficient", np.asarray(model.vectors.leading), 1e-60 * finite),
        ("a value of a support vector", np.asarray(model.vectors.values), 1e-30 * finite),
    ):
        sizes = np.abs(np.asarray(numbers, float))
        odd = sizes[(sizes != 0) & ((sizes < least) | (sizes > 1e30))]
        if len(odd):
            return f"{what} of size {odd[0]:g} found, beyond what a certificate can cover: scale the data"
    return None


def certificate(
    x: scipy.sparse.csr_matrix,
    a: "list[float] | np.ndarray",
    point: "Sequence[float] | np.ndarray",
    header: Header,
    factors: "list[float]",
    total: "Sequence[float]",
    stored: "Sequence[float]",
    rank: int,
    dropped: float,
    on_progress: Progress,
    add_up: "AddUp | None" = None,
) -> Certificate:
    """Certify one expansion of sparse x (n, d), coefficients a (n), about `point` (d).

    total, stored: packed coefficients as computed and as stored; if `rank` > 0, only the constant and v are compared,
    and `dropped` bounds the loss of M.
    """
    n, d = x.shape
    degree = len(factors) - 1
    point, a = np.asarray(point), np.array(a)
    chosen = 1 + d if rank else len(total)
    rounding = np.asarray(total)[:chosen] - np.asarray(stored)[:chosen]
    squares = squared_norms(x, point)
    norms = np.sqrt(squares)
    weight = float(np.abs(a).sum())
    gaussian = header.kernel_type == "rbf"
    exponents = header.gamma * squares if gaussian else np.zeros(n)
    damped = np.abs(a) * np.exp(-exponents)

    largest_exponent = float(np.max(exponents, initial=0.0))

    def moment(k: int, lengths: np.ndarray) -> float:
        # A term whose e^{-gamma |x~|^2} is 0 is 0 at any power.
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return float(np.where(damped > 0, damped * lengths**k, 0.0).sum())

    error, at = [], 0
    for k, factor in enumerate(factors):
        times = orderings(k, d)
        part = rounding[at : at + len(times)]  # none of a compressed M: its loss is bounded separately
        at += len(times)
        rounded = bounds.length(float((part * part * times[: len(part)]).sum()), len(times))
        computed = bounds.coefficient_error(k, factor, moment(k, norms), n, d, largest_exponent)
        error.append(rounded + computed + (dropped if k > 1 else 0.0))
    truncation = []
    if gaussian:
        last = certified_degree(degree, True)
        sums, lengths = degree_norms(x, point, squares, a, header.gamma, degree + 1, last, on_progress, add_up)
        scaled = np.sqrt(2 * header.gamma) * lengths
        largest = float(np.max(header.gamma * lengths**2, initial=0.0))
        for k in range(degree + 1, last + 1):
            truncation.append(bounds.degree_norm(sums[k - degree - 1], k, moment(k, scaled), n, d, largest))
        moments = [moment(k, scaled) for k in range(last + 1, last + 41)]
        truncation.append(bounds.tail_norm(sums[-1], last, moments, weight, n, d, largest))
        truncation = [w + 1e-120 * weight for w in truncation]  # coefficients that underflowed
    return Certificate(truncation, error, weight * (1 + 1e-9), float(n))


def squared_norms(x: scipy.sparse.csr_matrix, point: np.ndarray) -> np.ndarray:
    """Return |x_i - point|^2 (n), from differences."""
    n, d = x.shape
    out = np.empty(n)
    size = max(1, BLOCK_CELLS // max(d, 1))
    for at in range(0, n, size):
        rows = x[at : at + size].toarray() - point
        out[at : at + size] = np.einsum("ij,ij->i", rows, rows)
    return out


def degree_norms(
    x: scipy.sparse.csr_matrix,
    point: np.ndarray,
    squares: np.ndarray,
    a: np.ndarray,
    gamma: float,
    first: int,
    last: int,
    on_progress: Progress,
    add_up: "AddUp | None" = None,
) -> "tuple[list[float], np.ndarray]":
    """Return the computed squares W_first^2 to W_last^2 and W_{>last}^2, and the lengths r (n) of B43."""
    n, d = x.shape
    counts = np.bincount(x.indices, minlength=d)
    if n * d <= DENSE_CELLS and not _is_sparse(counts, n):
        dense = x.toarray()
        dense -= point
        dense_pairs = PairSums(dense, a, gamma, first, last, sparse=False)
        return (add_up or PairSums.here)(dense_pairs, on_progress), np.sqrt(squares)
    # Columns at least half full become dense and centered; products of others are corrected for the center.
    full = 2 * counts >= n
    y, center = x, np.where(full, 0.0, point)
    if full.any():
        filled = x[:, full].toarray() - point[full]
        m = filled.shape[1]
        whole = scipy.sparse.csr_matrix((filled.ravel(), np.tile(np.arange(m), n), np.arange(n + 1) * m), shape=(n, m))
        y = scipy.sparse.hstack([whole, x[:, ~full]], format="csr")
        center = np.concatenate([center[full], point[~full]])
    shift = y @ center - center @ center / 2
    lengths = np.sqrt(row_norms(y)) + np.linalg.norm(center)
    starts, columns = y.indptr.astype(np.int64), y.indices.astype(np.int32)
    pairs = PairSums(starts, columns, y.data, d, shift, squares, a, gamma, first, last, sparse=True)
    return (add_up or PairSums.here)(pairs, on_progress), lengths


def _is_sparse(counts: np.ndarray, n: int) -> bool:
    shares = counts / max(n, 1)
    shared = float((np.where(shares >= 0.5, 1.0, shares) ** 2).sum())
    return ENTRY_COST * shared < len(counts)


#: Tasks per thread, to end at about the same time.
_TASKS_EACH = 20
#: Maximum parts, of a second each, per task: the loss if a worker dies.
_MOST_PARTS = 60


def over(client: "Client") -> AddUp:
    """Return an AddUp that uses all workers of a cluster.

    Totals equal one process's, bit for bit, if processors have the same instructions.
    """
    from distributed import as_completed

    from fastsvm_cli.cluster.scheduler import requiring_workers

    def add_up(pairs: PairSums, on_progress: Progress) -> "list[float]":
        count, share, found = len(pairs.parts), 0.0, {}
        with requiring_workers(client) as threads:
            size = max(1, min(count // (_TASKS_EACH * threads), _MOST_PARTS))
            sent = client.scatter(pairs, broadcast=True, hash=False)
            slices = [(first, min(first + size, count)) for first in range(0, count, size)]
            tasks = [client.submit(_sums, sent, *each, pure=False) for each in slices]
            slice_of = dict(zip((task.key for task in tasks), slices))
            try:
                for task in as_completed(tasks, loop=client.loop):
                    found[task.key] = task.result()  # raises the task's error
                    first, end = slice_of[task.key]
                    share += pairs.parts.share(end) - pairs.parts.share(first)
                    on_progress(min(share, 1.0))
            finally:
                client.cancel(tasks)
            return totals(each for task in tasks for each in found[task.key])

    return add_up


def _sums(pairs: PairSums, first: int, last: int) -> "list[list[float]]":
    # One thread: Dask runs one per task.
    with threads_here(1):
        return [pairs.parts.sums(part) for part in range(first, last)]
