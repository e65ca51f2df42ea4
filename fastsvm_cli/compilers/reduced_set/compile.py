"""Exact model -> reduced set: few approximating vectors for many support vectors (Suttorp and Igel, "Resilient
Approximation of Kernel Classifiers").

given      decision functions f_p(z) = sum_i a_ip k(x_i, z) - rho_p, k the RBF kernel; the vectors of a class serve all
           of its pairs
wanted     vectors z_l, coefficients beta_lp and offsets rho'_p, few of them, with small
           rho^2 = sum_p |Psi_p - Psi'_p|^2 (eq. 3)
method     algorithm 1: vectors one by one, each placed where it takes most from what is left, all coefficients solved
           anew; then a descent on all vectors together, in which the coefficients are always the best ones (variable
           projection: Golub and Pereyra 1973), and the offset by eq. (9)
"""

from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from fastsvm_cli import _native
from fastsvm_cli.bounds import UNIT
from fastsvm_cli.comparisons.agreement import agreement
from fastsvm_cli.compilers.feature_space import FeatureSpace, Matrix, far_mean, matrix, moved, row_norms
from fastsvm_cli.compilers.partial_cholesky import PartialCholesky
from fastsvm_cli.compilers.reduced_set.duplicates import merge_duplicates
from fastsvm_cli.compilers.reduced_set.placement import (
    Residual,
    fixed_point,
    gaussian,
    initial_order,
    irprop,
    kernel_length,
)
from fastsvm_cli.compilers.reduced_set.reduced_model import assemble, with_origin
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.kernel import Kernel
from fastsvm_cli.models.reduced_set import ReducedModel

_DENSE_CELLS = 1 << 25  # support vectors times features kept as a dense matrix
_RIDGE = 1e-10  # of the kernel matrix of the approximating vectors, whose diagonal is 1
_TRIES = 10  # starts for one vector before fixed-point iteration is given up
_FINISH_ITERATIONS = 100


class Part:
    """What one set of vectors serves: x (n, d) rows with coefficients a (n, m), and the functions' m places in
    `functions`: [(function, column)]."""

    def __init__(self, x: Matrix, a: np.ndarray, functions: "list[tuple[int, int]]"):
        self.x, self.a, self.functions = x, a, functions
        self.norms = row_norms(x)

    def __len__(self) -> int:
        return self.x.shape[0]


def check_kernel(model: ExactModel) -> None:
    header = model.header
    if header.kernel_type != "rbf" or not header.gamma >= 0:
        what = (
            f"an rbf kernel with gamma {header.gamma:g}"
            if header.kernel_type == "rbf"
            else f"a {header.kernel_type} kernel"
        )
        raise ModelFormatError(model.path, f"{what} found; reduce places vectors for rbf kernels with gamma 0 or more")
    if not np.all(
        np.asarray(model.vectors.squared_norms) < 1e300
    ):  # svm-predict's distances from it may overflow, even where its coefficient is 0
        raise ModelFormatError(model.path, "the squared norm of a support vector overflows: scale the data")


class Problem:
    """What is to be approximated, of the model of a FeatureSpace.

    gamma; parts: one per class where there are more than two, one in all otherwise; columns: LIBSVM indices of the
    features (d). origin: the point (d) that the parts' vectors are told from, or None for 0. unit: what the parts'
    coefficients are told in: 1, or a power of 2 where their squares would overflow. squared_norm: (functions),
    scale: their sum, in these units; no less than what rounding leaves of it, where the coefficients cancel."""

    def __init__(self, space: FeatureSpace):
        model, header = space.model, space.model.header
        self.gamma, self.header = header.gamma, header
        x, self.columns = matrix(model.vectors)
        if x.shape[0] * x.shape[1] <= _DENSE_CELLS:
            x = x.toarray()
        self.origin = far_mean(x)
        if self.origin is not None:
            model = moved(model, x, self.columns, self.origin)
            space = FeatureSpace(model)
            x = matrix(model.vectors)[0].toarray()
        a = np.asarray(model.vectors.leading)
        largest = float(np.max(np.abs(a), initial=0.0))
        self.unit = 1.0 if 1e-100 < largest < 1e100 or largest == 0 else 2.0 ** np.floor(np.log2(largest))
        a = a / self.unit
        self.parts: list[Part] = []
        if header.classification and header.nr_class > 2:
            starts = np.concatenate(([0], np.cumsum(header.nr_sv)))
            pair = {}
            for p, i, j in header.class_pairs:
                pair[i, j] = pair[j, i] = p
            for c in range(header.nr_class):
                rows = slice(starts[c], starts[c + 1])
                self.parts.append(
                    Part(
                        x[rows],
                        a[rows],
                        [(pair[c, other], other - (other > c)) for other in range(header.nr_class) if other != c],
                    )
                )
        else:
            self.parts.append(Part(x, a[:, :1], [(0, 0)] if header.pairs else []))
        self.functions = header.pairs
        # Which (part, column) make up a function: one or two.
        self.members: list[list[tuple[int, int]]] = [[] for _ in range(self.functions)]
        for at, part in enumerate(self.parts):
            for function, column in part.functions:
                self.members[function].append((at, column))
        # b = <Psi, phi(x)> at the support vectors, and |Psi|^2.
        b, _ = space.at_support_vectors
        coefficients = space.coefficients / self.unit
        self.squared_norm = np.maximum(np.einsum("ip,ip->p", coefficients, b / self.unit), 0.0)
        self.scale = max(
            float(self.squared_norm.sum()),
            UNIT * float((np.abs(coefficients).sum(axis=0) ** 2).sum()),
            np.finfo(float).tiny,
        )


def shares(problem: Problem, count: int) -> "list[list[int]]":
    """The greedy selection (DESIGN: the largest c^2 / d of the residuals c of K a and the residual diagonal d) of
    `count` support vectors, as rows per
    part: each next one where it takes most, over all parts."""
    gains, rows = [], []
    for at, part in enumerate(problem.parts):
        for gain, row in _greedy(problem, part, min(count, len(part))):
            gains.append((gain, at))
            rows.append(row)
    # Within a part the order is kept: a later one is no use without the earlier.
    order = sorted(range(len(gains)), key=lambda i: -gains[i][0])[:count]
    wanted = (
        np.bincount([gains[i][1] for i in order], minlength=len(problem.parts))
        if order
        else np.zeros(len(problem.parts), int)
    )
    out = []
    for at in range(len(problem.parts)):
        mine = [row for row, (_, of) in zip(rows, gains) if of == at]
        out.append(mine[: wanted[at]])
    return out


def _greedy(problem: Problem, part: Part, count: int) -> "list[tuple[float, int]]":
    sparse = part.x if hasattr(part.x, "toarray") else scipy.sparse.csr_matrix(part.x)
    residual = kernel_times(part.x, part.norms, part.x, part.norms, part.a, problem.gamma)  # K a: (n, m)
    chosen = PartialCholesky(Kernel("rbf", problem.gamma), sparse, count)
    out, least = [], np.inf
    for _ in range(count):
        free = chosen.diagonal > 1e-8
        if not free.any():
            break
        gains = np.where(free, np.einsum("ij,ij->i", residual, residual) / np.where(free, chosen.diagonal, 1.0), -1.0)
        p = int(np.argmax(gains))
        least = min(least, float(gains[p]))
        column = chosen.add(p)
        residual -= np.outer(column, residual[p] / column[p])
        out.append((least, p))
    return out


def kernel_times(
    x: Matrix, norms: np.ndarray, z: Matrix, z_norms: np.ndarray, a: np.ndarray, gamma: float
) -> np.ndarray:
    """k(x, z) a for the rows of x: (n, m), in blocks."""
    out = np.empty((x.shape[0], a.shape[1]))
    wide = x.shape[1] if hasattr(x, "toarray") else 1  # which is written out block by block
    size = max(1, (1 << 24) // max(z.shape[0], wide, 1))
    for at in range(0, x.shape[0], size):
        block = x[at : at + size]
        block = block.toarray() if hasattr(block, "toarray") else block
        out[at : at + size] = gaussian(z, z_norms, block, gamma) @ a
    return out


def place(
    problem: Problem,
    at: int,
    count: int,
    *,
    init: str,
    optimizer: str,
    greedy: "list[int]",
    rng: np.random.Generator,
    on_step: "Callable[[float], None] | None" = None,
) -> "tuple[np.ndarray, np.ndarray]":
    """Algorithm 1, lines 1 to 5, for one part: (z (L, d), beta (L, m)). L falls short of `count` where fixed-point
    iteration comes to no rest."""
    part = problem.parts[at]
    if not count:
        return np.zeros((0, part.x.shape[1])), np.zeros((0, part.a.shape[1]))
    d, m = part.x.shape[1], part.a.shape[1]
    dense = part.x.toarray() if hasattr(part.x, "toarray") and part.x.shape[0] * d <= _DENSE_CELLS else part.x
    row_of = (
        (lambda row: np.asarray(dense[row].todense()).ravel())
        if hasattr(dense, "todense")
        else (lambda row: dense[row])
    )
    residual = Residual(part.x, part.norms, part.a, problem.gamma)
    starts = (
        list(greedy) if init == "greedy" else initial_order(init, part.x, part.norms, part.a, problem.gamma, count, rng)
    )
    values = (
        kernel_times(part.x, part.norms, part.x, part.norms, part.a, problem.gamma)
        if init == "greedy" and optimizer != "none"
        else None
    )
    z, factor, b = np.empty((0, d)), np.zeros((count, count)), np.empty((0, m))
    columns = np.empty((0, part.x.shape[0]))
    used: set[int] = set()
    for step in range(count):
        for attempt in range(_TRIES):
            if values is not None:  # where a support vector as it stands takes most from what is left
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
                point, rests = row_of(start), True
            else:
                point, rests = (irprop if optimizer == "irprop" else fixed_point)(residual, row_of(start))
            if not rests or not np.all(np.isfinite(point)):
                continue
            near = gaussian(z, row_norms(z), point[None], problem.gamma)[0]
            row = solve_triangular(factor[:step, :step], near, lower=True) if step else near
            pivot = 1 - row @ row
            if pivot > 1e-8:
                break
        else:
            return z, residual.beta
        factor[step, :step], factor[step, step] = row, np.sqrt(pivot)
        column = gaussian(part.x, part.norms, point[None], problem.gamma)
        if values is not None:
            columns = np.vstack([columns, column])
        z, b = np.vstack([z, point]), np.vstack([b, column @ part.a])
        half = solve_triangular(factor[: step + 1, : step + 1], b, lower=True)
        residual.z, residual.beta = z, solve_triangular(factor[: step + 1, : step + 1], half, lower=True, trans=1)
        if on_step:
            on_step((step + 1) / count)
    return z, residual.beta


class Fit:
    """Coefficients for given vectors, their squared distance and its gradient."""

    def __init__(self, problem: Problem, z: "list[np.ndarray]", gradient: bool = False):
        parts, gamma = problem.parts, problem.gamma
        self.problem, self.z = problem, z
        norms = [row_norms(each) for each in z]
        pairs_of_parts = [(s, t) for s in range(len(parts)) for t in range(len(parts))]
        kzx = {(s, t): gaussian(parts[t].x, parts[t].norms, z[s], gamma) for s, t in pairs_of_parts}
        kzz = {(s, t): gaussian(z[t], norms[t], z[s], gamma) for s, t in pairs_of_parts if s <= t}

        def block(s: int, t: int) -> np.ndarray:
            return kzz[s, t] if s <= t else kzz[t, s].T

        # b_p = <Psi_p, phi(z)>
        self.beta = [np.zeros((len(each), part.a.shape[1])) for each, part in zip(z, parts)]
        distance = np.zeros(problem.functions)
        for p, members in enumerate(problem.members):
            b = np.concatenate([sum(kzx[s, t] @ parts[t].a[:, column] for t, column in members) for s, _ in members])
            if not len(b):
                distance[p] = problem.squared_norm[p]
                continue
            k = np.block([[block(s, t) for t, _ in members] for s, _ in members])
            beta = _solve(k, b)
            distance[p] = problem.squared_norm[p] - 2 * (beta @ b) + beta @ (k @ beta)
            first = 0
            for s, column in members:
                self.beta[s][:, column] = beta[first : first + len(z[s])]
                first += len(z[s])
        self.distances = np.maximum(distance, 0.0)  # (functions)
        self.distance = float(self.distances.sum())
        if not gradient:
            return
        # Eq. (7) at the best coefficients, which do not move to first order.
        # (s, t) -> the columns of s and t that belong to one function
        shared: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        for members in problem.members:
            for s, mine in members:
                for t, theirs in members:
                    columns_of_s, columns_of_t = shared.setdefault((s, t), ([], []))
                    columns_of_s.append(mine)
                    columns_of_t.append(theirs)
        self.gradient = []
        for s in range(len(parts)):
            total = np.zeros_like(z[s])
            for t, other in enumerate(parts):
                if (s, t) not in shared or not len(z[s]):
                    continue
                columns_of_s, columns_of_t = shared[s, t]
                beta = self.beta[s][:, columns_of_s]
                w = kzx[s, t] * (beta @ other.a[:, columns_of_t].T)
                v = block(s, t) * (beta @ self.beta[t][:, columns_of_t].T)
                total += v @ z[t] - np.asarray((other.x.T @ w.T).T) + (w.sum(axis=1) - v.sum(axis=1))[:, None] * z[s]
            self.gradient.append(4 * gamma * total)


def _solve(k: np.ndarray, b: np.ndarray) -> np.ndarray:
    """k^-1 b, regularised as little as lets the factorisation through: vectors may coincide."""
    for ridge in (_RIDGE, 1e-8, 1e-6, 1e-4):
        try:
            return cho_solve(cho_factor(k + ridge * np.eye(len(b)), lower=True), b)
        except np.linalg.LinAlgError:
            continue
    return np.linalg.lstsq(k, b, rcond=None)[0]


def finish(
    problem: Problem,
    z: "list[np.ndarray]",
    on_step: "Callable[[float], None] | None" = None,
    iterations: int = _FINISH_ITERATIONS,
) -> "list[np.ndarray]":
    """Line 6 of algorithm 1: descend on all vectors at once, by L-BFGS; the coefficients are the best ones at every
    step."""
    from scipy.optimize import minimize

    shapes = [each.shape for each in z]
    sizes = np.cumsum([0, *(each.size for each in z)])
    scale, length = problem.scale, kernel_length(problem.gamma)

    def split(flat: np.ndarray) -> "list[np.ndarray]":
        return [length * flat[sizes[i] : sizes[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]

    def objective(flat: np.ndarray) -> "tuple[float, np.ndarray]":
        fit = Fit(problem, split(flat), gradient=True)
        if on_step:
            on_step(fit.distance / scale)
        return fit.distance / scale, np.concatenate([g.ravel() for g in fit.gradient]) * (length / scale)

    if not sizes[-1]:
        return z
    done = minimize(
        objective,
        np.concatenate([each.ravel() for each in z]) / length,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-12},
    )
    return split(done.x)


@np.errstate(all="ignore")  # what overflows is refused
def compile_reduced_set(
    model: ExactModel,
    *,
    fingerprint: str,
    count: int,
    init: str = "greedy",
    optimizer: str = "none",
    finishing: bool = True,
    seed: int = 0,
    on_progress: "Callable[[float, str], None] | None" = None,
    space: "FeatureSpace | None" = None,
) -> "Reduction":
    """Reduce to `count` vectors at most. init, optimizer: of algorithm 1 (placement.py); finishing: its line 6.
    seed: of what is drawn. on_progress: called with the share done and the squared distance. space: the model's,
    where it is reduced more than once. Raises ModelFormatError for kernels other than rbf, for models whose numbers
    overflow, and where not one vector could be placed."""
    check_kernel(model)
    if not model.pairs or not model.header.total_sv:
        return lossless(model, fingerprint)
    problem_model, merged = merge_duplicates(model)
    space = space or FeatureSpace(model)
    problem = Problem(space if problem_model is model else FeatureSpace(problem_model))
    count = min(count, problem_model.vectors.rows)
    if count >= problem_model.vectors.rows:
        return lossless(model, fingerprint)
    rng = np.random.default_rng(seed)
    rows = shares(problem, count)
    half = 0.5 if finishing else 1.0
    z, missing = [], 0

    def shown_of(at: int) -> "Callable[[float], None] | None":
        return on_progress and (lambda share: on_progress(half * (at + share) / len(problem.parts), ""))

    for at, (part, mine) in enumerate(zip(problem.parts, rows)):
        if optimizer == "none" and init == "greedy":
            found = part.x[mine].toarray() if hasattr(part.x, "toarray") else part.x[mine]
        else:
            found, _ = place(
                problem, at, len(mine), init=init, optimizer=optimizer, greedy=mine, rng=rng, on_step=shown_of(at)
            )
            missing += len(mine) - len(found) if optimizer == "fixed-point" else 0
        z.append(found)
    if not sum(map(len, z)):
        raise ModelFormatError(
            model.path,
            (
                "fixed-point iteration came to no rest from any of its starts, so that there is no vector to write:"
                " --optimizer irprop reaches any number"
                if missing
                else "no vector could be placed: scale the data"
            ),
        )
    if finishing:
        z = finish(problem, z, on_progress and _shown_distance(on_progress, half))
    origin = 0.0 if problem.origin is None else problem.origin
    z = [_short_numbers(each + origin, part) for each, part in zip(z, problem.parts)]
    fit = Fit(problem, [each - origin for each in z])
    beta = [problem.unit * each for each in fit.beta]
    return Reduction(
        assemble(space, problem.columns, z, beta, fingerprint), merged, fit.distance / problem.scale, missing
    )


def _shown_distance(on_progress: "Callable[[float, str], None]", done: float) -> "Callable[[float], None]":
    """What the last descent is given, with `done` of the work behind it."""
    steps = 0

    def shown(distance: float) -> None:
        nonlocal steps
        steps += 1
        on_progress(done + (1 - done) * min(1.0, steps / _FINISH_ITERATIONS), f"squared distance {distance:.2g}")

    return shown


class Reduction:
    """model: the reduced set. merged: support vectors that were equal to others or had coefficient 0. distance:
    rho^2 / sum_p |Psi_p|^2. missing: how many vectors fewer than wanted there are, because fixed-point iteration
    came to no rest."""

    def __init__(self, model: ReducedModel, merged: int, distance: float, missing: int):
        self.model, self.merged, self.distance, self.missing = model, merged, distance, missing


@np.errstate(all="ignore")
def lossless(model: ExactModel, fingerprint: str) -> Reduction:
    """The model with duplicates merged: its values differ by the rounding of the sums of coefficients."""
    check_kernel(model)
    merged, fewer = merge_duplicates(model)
    space = FeatureSpace(model)
    weight = np.abs(space.coefficients).sum(axis=0)
    return Reduction(
        with_origin(space, merged.header, merged.vectors, fingerprint, model.header.total_sv * UNIT * weight),
        fewer,
        0.0,
        0,
    )


def _short_numbers(z: np.ndarray, part: Part) -> np.ndarray:
    """Rounded to about 1/100,000 of each feature's range, so that the file is short; the coefficients are solved for
    these."""
    if not z.size:
        return z
    low, high = (
        np.asarray(
            getattr(part.x, name)(axis=0).todense() if hasattr(part.x, "todense") else getattr(part.x, name)(axis=0)
        ).ravel()
        for name in ("min", "max")
    )
    spread = np.maximum(high - low, np.ptp(z, axis=0))
    with np.errstate(divide="ignore"):
        decimals = np.where(spread > 0, 5 - np.floor(np.log10(np.where(spread > 0, spread, 1.0))), 15)
    scale = 10.0 ** np.clip(decimals, -300, 300)
    return np.round(z * scale) / scale


def _shown_with(on_progress: "Callable[[float, str], None]", words: str) -> "Callable[[float, str], None]":
    """The same, with these words in front."""
    return lambda share, more: on_progress(share, words + more)


def grow(
    model: ExactModel,
    target: float,
    chunks: "Iterable[_native.Chunk]",
    *,
    fingerprint: str,
    init: str = "greedy",
    optimizer: str = "none",
    finishing: bool = True,
    seed: int = 0,
    on_progress: "Callable[[float, str], None] | None" = None,
) -> "Reduction":
    """The smallest set found, by growing and halving the step, whose disagreement on the rows (regression: root mean
    square difference) is `target` or less; the whole model, without duplicates, where no smaller one is. The rest as
    of compile_reduced_set."""
    chunks, space = list(chunks), FeatureSpace(model)
    least, count = 0, max(len(model.header.label or [0]), 8)
    best: tuple[int, Reduction] | None = None
    while best is None or best[0] - least > max(2, best[0] // 8):
        if best is not None:
            count = (least + best[0]) // 2
        found = compile_reduced_set(
            model,
            fingerprint=fingerprint,
            count=count,
            init=init,
            optimizer=optimizer,
            finishing=finishing,
            seed=seed,
            on_progress=on_progress and _shown_with(on_progress, f"{count} vectors, "),
            space=space,
        )
        seen = agreement(found.model, model, chunks)
        if (
            seen.difference if model.header.regression else seen.disagreement
        ) <= target or count >= model.header.total_sv:
            best = (count, found)
        else:
            least, count = count, min(model.header.total_sv, count * 2)
    return best[1]
