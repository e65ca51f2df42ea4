"""Optimal coefficients, and descent on all vectors (Suttorp and Igel, algorithm 1, line 6)."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fastsvm_cli.methods.reduce.placement import gaussian, kernel_length
from fastsvm_cli.methods.reduce.problem import Problem

_RIDGE = 1e-10  # added to the kernel matrix's diagonal of ones
FINISH_ITERATIONS = 100


def finish_seconds(support_vectors: int, vectors: int, parts: int) -> float:
    """Return the estimated seconds of the final descent, `finish`."""
    return FINISH_ITERATIONS * (1e-8 * support_vectors * vectors + 6e-5 * (parts**2 - 1))


class Fit:
    """Coefficients of placed vectors, by least squares in the feature space."""

    def __init__(self, problem: Problem, z: "list[np.ndarray]", gradient: bool = False):
        parts, gamma = problem.parts, problem.gamma
        self.problem, self.z = problem, z
        pairs_of_parts = [(s, t) for s in range(len(parts)) for t in range(len(parts))]
        own = [gaussian(each, gamma) for each in z]
        kzz = {(s, t): own[t](z[s]) for s, t in pairs_of_parts if s <= t}
        # <Psi, phi(z)> and the sums of its gradient, in one pass if possible; else from k(z, x).
        sums = None
        if len(parts) == 1 and parts[0].moments is not None:
            sums = parts[0].kernel.times(z[0], parts[0].moments if gradient else parts[0].a)
            kzx = {}
        else:
            kzx = {(s, t): parts[t].kernel(z[s]) for s, t in pairs_of_parts}

        def block(s: int, t: int) -> np.ndarray:
            return kzz[s, t] if s <= t else kzz[t, s].T

        def psi(s: int, t: int, column: int) -> np.ndarray:
            return sums[:, column] if sums is not None else kzx[s, t] @ parts[t].a[:, column]

        # b_p = <Psi_p, phi(z)>
        self.beta = [np.zeros((len(each), part.a.shape[1])) for each, part in zip(z, parts)]
        distance = np.zeros(problem.functions)
        for p, members in enumerate(problem.members):
            b = np.concatenate([sum(psi(s, t, column) for t, column in members) for s, _ in members])
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
        # Eq. (7) at the optimal coefficients, constant to first order. (s, t) -> columns of s and t of the same
        # function.
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
                if sums is not None:
                    of_x, weight = beta * sums[:, 1:], beta[:, 0] * sums[:, 0]
                else:
                    w = beta @ other.a[:, columns_of_t].T
                    w *= kzx[s, t]
                    of_x, weight = np.asarray((other.x.T @ w.T).T), w.sum(axis=1)
                v = block(s, t) * (beta @ self.beta[t][:, columns_of_t].T)
                total += v @ z[t] - of_x + (weight - v.sum(axis=1))[:, None] * z[s]
            self.gradient.append(4 * gamma * total)


def _solve(k: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return beta with k beta = b, by the smallest ridge that works: vectors may coincide."""
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
    iterations: int = FINISH_ITERATIONS,
) -> "list[np.ndarray]":
    """Return the vectors after L-BFGS on all of them, with optimal coefficients at every step."""
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
