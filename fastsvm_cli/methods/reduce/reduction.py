"""Reduced sets (Suttorp and Igel, "Resilient Approximation of Kernel Classifiers").

Few vectors minimise rho^2 = sum_p |Psi_p - Psi'_p|^2 (eq. 3); those of a class serve all its pairs. Algorithm 1 places
them one by one, then follow a descent on all with optimal coefficients (variable projection: Golub and Pereyra 1973),
and the offset by eq. (9). Equal support vectors merge (Downs, Gates and Masters, "Exact Simplification of Support
Vector Solutions", 2001).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from fastsvm_cli import _native
from fastsvm_cli._native import Header
from fastsvm_cli.bounds import LOST_PRODUCT, UNIT
from fastsvm_cli.errors import ModelFormatError, spelled
from fastsvm_cli.methods import Progress, part_of, silent
from fastsvm_cli.methods.feature_space import FeatureSpace, classes_of_vectors, dense, require_finite, too_many_vectors
from fastsvm_cli.methods.method import require
from fastsvm_cli.methods.reduce.placement import (
    FINISH_ITERATIONS,
    Fit,
    Part,
    Problem,
    Residual,
    finish,
    finish_seconds,
    fixed_point,
    gaussian,
    initial_order,
    irprop,
    shares,
)
from fastsvm_cli.models import ExactModel, Precision


def merge_duplicates(model: ExactModel) -> "tuple[ExactModel, int]":
    """Return (model without duplicates or zero coefficients, number removed).

    Only equal vectors, beyond two classes of one class, merge exactly: others are linearly independent in an RBF
    kernel's feature space.
    """
    header, vectors = model.header, model.vectors
    coefficients = np.asarray(vectors.leading)
    classes = classes_of_vectors(header) if header.nr_class > 2 else np.zeros(vectors.rows, int)
    first: dict[tuple, int] = {}
    total = coefficients.copy()
    chosen = []
    for row, key in enumerate(zip(classes.tolist(), row_keys(vectors, lambda values: [values]))):
        if key in first:
            total[first[key]] += coefficients[row]
        else:
            first[key] = row
            chosen.append(row)
    require_finite(model.path, "the sum of the coefficients of equal support vectors", total)
    used = (total != 0).any(axis=1).tolist()
    chosen = [row for row in chosen if used[row]]
    if len(chosen) == vectors.rows:
        return model, 0
    return some_vectors(model, chosen, total), vectors.rows - len(chosen)


def row_keys(rows: _native.Chunk, columns_of: "Callable[[np.ndarray], Sequence[np.ndarray]]") -> "list[bytes]":
    """Return a key for each row, of its indices and columns_of(values), without zeros."""
    values = np.asarray(rows.values)
    stored = values != 0  # drops -0 too
    starts = np.concatenate(([0], np.cumsum(stored)))[np.asarray(rows.indptr)].tolist()
    fields = np.column_stack([np.asarray(rows.indices)[stored], *columns_of(values[stored])])
    text, width = fields.tobytes(), fields.itemsize * fields.shape[1]
    return [text[width * start : width * stop] for start, stop in zip(starts, starts[1:])]


def some_vectors(model: ExactModel, chosen: "list[int]", coefficients: np.ndarray) -> ExactModel:
    """Return the model of the chosen support vectors. coefficients: of all, (total_sv, columns)."""
    header, rows = model.header, model.vectors.select(chosen)
    vectors = _native.Chunk.from_csr(coefficients[chosen], rows.indptr, rows.indices, rows.values)
    of = classes_of_vectors(header)[chosen]
    nr_sv = np.bincount(of, minlength=header.nr_class).tolist() if header.classification else None
    return ExactModel(_native.LibsvmFile(header.changed(nr_sv=nr_sv, total_sv=len(chosen)), vectors), model.path)


def assemble(
    space: FeatureSpace, columns: np.ndarray, z: "list[np.ndarray]", beta: "list[np.ndarray]", fingerprint: str
) -> ExactModel:
    """Return the LIBSVM model of vectors z (L, d) and coefficients beta (L, m), with offsets by eq. (9).

    z, beta: per class or all together.
    """
    model, header = space.model, space.model.header
    require_finite(model.path, "a number of the reduced set", *z, *beta)
    nr_sv: list[int] | None
    if len(z) == 1 and header.classification:
        # One set serves both classes: a coefficient's sign is the class.
        first = beta[0][:, 0] > 0
        order = np.argsort(~first, kind="stable")
        z, beta = [z[0][order]], [beta[0][order]]
        nr_sv = [int(first.sum()), int((~first).sum())]
    else:
        nr_sv = [len(each) for each in z] if header.classification else None
    vectors = _native.Chunk.from_dense(np.concatenate(beta), np.concatenate(z), columns)
    changed = header.changed(nr_sv=nr_sv, total_sv=vectors.rows)
    reduced = FeatureSpace(ExactModel(_native.LibsvmFile(changed, vectors), model.path))
    # Eq. (9): mean of f(x) - Psi'(x) over a function's support vectors.
    exact, _ = space.at_support_vectors
    approximate, _ = reduced.inner_products(model.vectors)
    own = space.coefficients != 0
    difference = ((exact - approximate) * own).sum(axis=0) / np.maximum(own.sum(axis=0), 1)
    changed = changed.changed(rho=(np.array(header.rho) - difference).tolist())
    return with_origin(space, changed, vectors, fingerprint, _distances(space, reduced))


def _distances(space: FeatureSpace, reduced: FeatureSpace) -> np.ndarray:
    # |Psi - Psi'|, rounded up (B28 of PROOFS.md): (pairs)
    b, error = space.inner_products(reduced.model.vectors)
    own, own_error = reduced.at_support_vectors
    beta = reduced.coefficients
    total = space.squared_norms - 2 * (beta * b).sum(axis=0) + (beta * own).sum(axis=0)
    size = np.abs(beta)
    slack = (size * (2 * error + own_error)).sum(axis=0) + (len(beta) + 12) * UNIT * (
        (size * (2 * np.abs(b) + np.abs(own))).sum(axis=0) + np.abs(total)
    )
    lost = 8 * len(beta) * LOST_PRODUCT
    return np.sqrt(np.maximum(0.0, total) + slack * (1 + 1e-9) + lost) * (1 + 1e-12)


def with_origin(
    space: FeatureSpace, header: Header, vectors: _native.Chunk, fingerprint: str, distance: np.ndarray
) -> ExactModel:
    """Return the model with its radius: distance (pairs), at least |Psi - Psi'|, plus changes of rho."""
    model = space.model
    radius = (distance + np.abs(np.array(header.rho) - np.array(model.header.rho))) * (1 + 1e-12)
    weight = np.abs(space.coefficients).sum(axis=0) * (1 + 1e-9)
    require_finite(model.path, "the radius of the reduced set", radius, weight)
    longest = int(np.max(np.diff(np.asarray(model.vectors.indptr)), initial=0))
    origin = _native.Origin(radius.tolist(), weight.tolist(), model.header.total_sv, longest)
    file = _native.LibsvmFile(header, vectors, fingerprint=fingerprint, origin=origin, folded=model.inheritance)
    return ExactModel(file, model.path)


_TRIES = 10  # starts for one vector before giving up


def reason_against(model: ExactModel) -> "str | None":
    """Return why the model has no reduced set, or None."""
    header = model.header
    if header.kernel_type == "rbf" and header.gamma >= 0:
        return too_many_vectors(model)
    rbf = header.kernel_type == "rbf"
    what = f"an rbf kernel with gamma {header.gamma:g}" if rbf else f"a {header.kernel_type} kernel"
    return f"{what} found; reduce places vectors for rbf kernels with gamma 0 or more"


def _check(model: ExactModel) -> None:
    require(model.path, reason_against(model))
    # svm-predict's distances from such a vector may overflow, even if its coefficient is 0.
    if not np.all(np.asarray(model.vectors.squared_norms) < 1e300):
        raise ModelFormatError(model.path, "the squared norm of a support vector overflows: scale the data")


def place(
    problem: Problem,
    at: int,
    count: int,
    *,
    init: str,
    optimizer: str,
    greedy: "list[int]",
    rng: np.random.Generator,
    on_step: Progress = silent,
) -> "tuple[np.ndarray, np.ndarray]":
    """Run algorithm 1, lines 1 to 5, for part `at`; `greedy` has the rows to start from if `init` is "greedy".

    Return (z (L, d), beta (L, m)), L < `count` if 10 starts fail in a row or none is left.
    """
    part = problem.parts[at]
    d, m = part.x.shape[1], part.a.shape[1]
    if not count:
        return np.zeros((0, d)), np.zeros((0, m))
    residual = Residual(part.x, part.a, problem.gamma)
    residual.kernel, residual.moments = part.kernel, part.moments  # the final fit has them, too
    starts = list(greedy) if init == "greedy" else initial_order(init, part.x, part.a, problem.gamma, count, rng)
    values = part.values if init == "greedy" and optimizer != "none" else None
    z, factor, b = np.empty((0, d)), np.zeros((count, count)), np.empty((0, m))
    columns = np.empty((0, part.x.shape[0]))
    used: set[int] = set()
    for step in range(count):
        for attempt in range(_TRIES):
            if values is not None:  # the one that reduces the rest most
                left = values - columns.T @ residual.beta
                order = np.argsort(-np.einsum("ij,ij->i", left, left))
                start = next((int(row) for row in order if int(row) not in used), None)
            elif starts and attempt == 0:
                start = starts.pop(0)
            else:
                free = np.setdiff1d(np.arange(len(part)), list(used))
                start = int(rng.choice(free)) if len(free) else None
            if start is None:
                return z, residual.beta
            used.add(start)
            if optimizer == "none":
                point, rests = part.row(start), True
            else:
                point, rests = (irprop if optimizer == "irprop" else fixed_point)(residual, part.row(start))
            if not rests or not np.all(np.isfinite(point)):
                continue
            near = gaussian(z, problem.gamma)(point[None])[0]
            row = solve_triangular(factor[:step, :step], near, lower=True) if step else near
            pivot = 1 - row @ row
            if pivot > 1e-8:
                break
        else:
            return z, residual.beta
        factor[step, :step], factor[step, step] = row, np.sqrt(pivot)
        column = residual.kernel(point[None])
        if values is not None:
            columns = np.vstack([columns, column])
        z, b = np.vstack([z, point]), np.vstack([b, column @ part.a])
        half = solve_triangular(factor[: step + 1, : step + 1], b, lower=True)
        residual.z, residual.beta = z, solve_triangular(factor[: step + 1, : step + 1], half, lower=True, trans=1)
        on_step((step + 1) / count)
    return z, residual.beta


@np.errstate(all="ignore")  # overflows are refused
def compile_reduced_set(
    model: ExactModel,
    *,
    fingerprint: str,
    count: int,
    init: str = "greedy",
    optimizer: str = "none",
    finishing: bool = True,
    seed: int = 0,
    on_progress: Progress = silent,
    space: "FeatureSpace | None" = None,
) -> "Reduction":
    """Reduce to at most `count` vectors. init, optimizer: of algorithm 1; finishing: its line 6."""
    _check(model)
    if not model.pairs or not model.header.total_sv:
        return lossless(model, fingerprint)
    problem_model, merged = merge_duplicates(model)
    n = problem_model.vectors.rows
    count = min(count, n)
    known = space is not None
    space = space or FeatureSpace(model)
    problem = Problem(space if problem_model is model else FeatureSpace(problem_model))
    # Nanoseconds: values at the problem's support vectors, selection, placement, descent, values at the model's.
    steps = [n * (n + len(model.vectors.indices) / 20), n * count * (count / 4 + 50)]
    steps.append(n * count * (count / 20 + (0.0 if optimizer == "none" else 1000.0)))
    steps.append(1e9 * finish_seconds(n, count, len(problem.parts)) * finishing)
    steps.append(0.0 if problem.space is space else steps[0])
    ends = (np.cumsum(steps) / (sum(steps) + 1)).tolist()

    on_progress = _rising(on_progress)

    def shown(begin: float, end: float) -> Progress:
        return part_of(on_progress, begin, end, "")

    if not known:
        space.on_progress = shown(ends[3], ends[4])
    if not known or problem.space is not space:
        problem.space.on_progress = shown(0.0, ends[0])
    if count >= n:
        return lossless(model, fingerprint)
    rng = np.random.default_rng(seed)
    rows = shares(problem, count, shown(ends[0], ends[1]))
    z, missing = [], 0

    for at, (part, mine) in enumerate(zip(problem.parts, rows)):
        if optimizer == "none" and init == "greedy":
            found = dense(part.x[mine])
        else:
            on_step = part_of(shown(ends[1], ends[2]), at / len(problem.parts), (at + 1) / len(problem.parts))
            found, _ = place(
                problem, at, len(mine), init=init, optimizer=optimizer, greedy=mine, rng=rng, on_step=on_step
            )
            missing += len(mine) - len(found) if optimizer == "fixed-point" else 0
        z.append(found)
    if not sum(map(len, z)):
        why = "no vector could be placed: scale the data"
        if missing:
            why = "fixed-point iteration came to no rest from any of its starts, so that there is no vector to write:"
            why += f" {spelled('optimizer', 'irprop')} reaches any number"
        raise ModelFormatError(model.path, why)
    if finishing:
        z = finish(problem, z, _shown_distance(on_progress, ends[2]))
    origin = 0.0 if problem.origin is None else problem.origin
    z = [short_numbers(each + origin, part) for each, part in zip(z, problem.parts)]
    fit = Fit(problem, [each - origin for each in z])
    beta = [problem.unit * each for each in fit.beta]
    return Reduction(
        assemble(space, problem.columns, z, beta, fingerprint), merged, fit.distance / problem.scale, missing
    )


def _rising(on_progress: Progress) -> Progress:
    most = 0.0

    def rise(share: float, words: str) -> None:
        nonlocal most
        most = max(most, share)
        on_progress(most, words)

    return rise


def _shown_distance(on_progress: Progress, done: float) -> Progress:
    steps = 0

    def shown(distance: float) -> None:
        nonlocal steps
        steps += 1
        on_progress(done + (1 - done) * min(1.0, steps / FINISH_ITERATIONS), f"squared distance {distance:.2g}")

    return shown


class Reduction:
    """A reduced model.

    merged: duplicates and zero coefficients dropped. distance: rho^2 / sum_p |Psi_p|^2 (eq. 3). missing: vectors
    lacking as fixed-point iteration did not converge. sample: rows on which a target was decided, or None.
    """

    def __init__(self, model: ExactModel, merged: int, distance: float = 0.0, missing: int = 0):
        self.model, self.merged, self.distance, self.missing = model, merged, distance, missing
        self.sample: Any = None  # a Sample of target.py

    @property
    def warning(self) -> "str | None":
        """Why the target was not reached, or None."""
        return None if self.sample is None else self.sample.shortfall


@np.errstate(all="ignore")
def lossless(model: ExactModel, fingerprint: str) -> Reduction:
    """Merge duplicates only. Values change by rounding (B29 of PROOFS.md)."""
    _check(model)
    merged, fewer = merge_duplicates(model)
    space = FeatureSpace(model)
    weight = np.abs(space.coefficients).sum(axis=0)
    rounding = model.header.total_sv * UNIT * weight
    return Reduction(with_origin(space, merged.header, merged.vectors, fingerprint, rounding), fewer)


def short_numbers(z: np.ndarray, part: Part) -> np.ndarray:
    """Round vectors to about 1/100,000 of each feature's range."""
    if not z.size:
        return z
    low, high = (dense(ends).ravel() for ends in (part.x.min(axis=0), part.x.max(axis=0)))
    spread = np.maximum(high - low, np.ptp(z, axis=0))
    with np.errstate(divide="ignore"):
        decimals = np.where(spread > 0, 5 - np.floor(np.log10(np.where(spread > 0, spread, 1.0))), 15)
    scale = 10.0 ** np.clip(decimals, -300, 300)
    return np.round(z * scale) / scale


@np.errstate(all="ignore")  # overflows are refused
def refit(model: ExactModel, chunks: "Iterable[_native.Chunk]") -> ExactModel:
    """Return the model with probability parameters fitted to labelled rows.

    Classification: Platt's sigmoid, per pair whose classes both occur (Lin, Lin and Weng, "A note on Platt's
    probabilistic outputs for support vector machines"). Regression: the scale of Laplace noise, as in svm-train.
    One-class: unchanged.
    """
    header = model.header
    decisions = _native.Decisions(model.pairs)
    values, labels = [], []
    for chunk in chunks:
        model.decision_values(chunk, decisions, Precision.values())
        values.append(np.array(decisions.value))
        labels.append(np.array(chunk.leading)[:, 0])
    f, y = np.concatenate(values), np.concatenate(labels)
    if header.regression:
        error = np.abs(y - f[:, 0])
        spread = np.sqrt(2 * error.mean() ** 2)
        header = header.changed(probA=[float(error[error <= 5 * spread].mean())])
    elif header.classification:
        a, b, label = header.probA, header.probB, header.label
        for pair, i, j in header.class_pairs:
            mine = (y == label[i]) | (y == label[j])
            first = y[mine] == label[i]
            if first.any() and not first.all():
                a[pair], b[pair] = _sigmoid(f[mine, pair], first)
        header = header.changed(probA=a, probB=b)
    fitted = f"a probability parameter fitted to the rows of {spelled('data')}"
    require_finite(model.path, fitted, header.probA or [], header.probB or [])
    return model.with_header(header)


def _sigmoid(f: np.ndarray, first: np.ndarray) -> "tuple[float, float]":
    # P(first) = 1 / (1 + exp(A f + B))
    positive, negative = int(first.sum()), int((~first).sum())
    target = np.where(first, (positive + 1) / (positive + 2), 1 / (negative + 2))

    def objective(parameters: np.ndarray) -> "tuple[float, np.ndarray]":
        t = parameters[0] * f + parameters[1]
        slope = target - 1 / (1 + np.exp(np.clip(t, -700, 700)))
        return float(np.sum(np.logaddexp(0, t) - (1 - target) * t)), np.array([slope @ f, slope.sum()])

    done = minimize(
        objective, [0.0, np.log((negative + 1) / (positive + 1))], jac=True, method="BFGS", options={"gtol": 1e-6}
    )
    return float(done.x[0]), float(done.x[1])
