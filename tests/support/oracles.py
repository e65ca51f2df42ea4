"""Every formula again, written to be read: slow, dense, in extended precision. What the tests hold the program
against; it shares no code with the package. A row is a dict {LIBSVM index: value}."""

from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb, exp, fabs, factorial, inf, sqrt

import numpy as np

EXTENDED = np.longdouble
UNIT = 2.0**-53
SVM_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")
KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
OWN_KERNELS = (
    "exponential",
    "normalized_polynomial",
)  # fastsvm's: LIBSVM knows their values only, as a precomputed kernel
MIN_PROBABILITY = 1e-7


@dataclass
class Machine:
    """A LIBSVM model. coef: (total_sv, nr_class - 1), in LIBSVM's places."""

    svm_type: str
    kernel: str
    vectors: "list[dict]"
    coef: np.ndarray
    rho: "list[float]"
    gamma: float = 0.0
    coef0: float = 0.0
    degree: int = 0
    label: "list[int]" = field(default_factory=list)
    nr_sv: "list[int]" = field(default_factory=list)
    probA: "list[float] | None" = None
    probB: "list[float] | None" = None
    marks: "list[float] | None" = None

    @property
    def classification(self):
        return self.svm_type in ("c_svc", "nu_svc")

    @property
    def nr_class(self):
        return len(self.label) if self.classification else 2

    @property
    def pairs(self):
        """[(i, j)] with i < j: the classes of every decision function; one (0, 1) where there are no classes."""
        return list(combinations(range(self.nr_class), 2))

    @property
    def features(self):
        return sorted(set().union(*self.vectors)) if self.vectors else []

    @property
    def pair_coefficients(self):
        """(pairs, total_sv): the coefficient of every support vector in every decision function, 0 where it has no
        part."""
        if not self.classification:
            return self.coef.T
        of = np.repeat(np.arange(self.nr_class), self.nr_sv)
        out = np.zeros((len(self.pairs), len(self.vectors)))
        for row, (i, j) in zip(out, self.pairs):
            row[of == i] = self.coef[of == i, j - 1]
            row[of == j] = self.coef[of == j, i]
        return out

    def text(self) -> bytes:
        """As svm-train writes it, every number in full."""
        keys = {"svm_type": self.svm_type, "kernel_type": self.kernel}
        keys |= {"degree": self.degree} if self.kernel == "polynomial" else {}
        keys |= {"gamma": self.gamma} if self.kernel in ("polynomial", "rbf", "sigmoid") else {}
        keys |= {"coef0": self.coef0} if self.kernel in ("polynomial", "sigmoid") else {}
        keys |= {"nr_class": self.nr_class, "total_sv": len(self.vectors), "rho": self.rho}
        keys |= {
            "label": self.label or None,
            "probA": self.probA,
            "probB": self.probB,
            "prob_density_marks": self.marks,
        }
        keys |= {"nr_sv": self.nr_sv or None}
        lines = [
            _line(key, value if isinstance(value, list) else [value])
            for key, value in keys.items()
            if value is not None
        ]
        lines += ["SV", *(row_text(" ".join(map(_number, a)), x) for a, x in zip(self.coef.tolist(), self.vectors))]
        return ("\n".join(lines) + "\n").encode()

    @classmethod
    def read(cls, text: bytes) -> "Machine":
        head, _, body = text.decode().partition("SV\n")
        keys = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        reals = {
            key: [float(word) for word in words]
            for key, words in keys.items()
            if key not in ("svm_type", "kernel_type")
        }
        leading = int(keys["nr_class"][0]) - 1
        rows = [line.split() for line in body.splitlines()]
        return cls(
            svm_type=keys["svm_type"][0],
            kernel=keys["kernel_type"][0],
            rho=reals["rho"],
            vectors=[{int(i): float(v) for i, v in (word.split(":") for word in row[leading:])} for row in rows],
            coef=np.array([[float(word) for word in row[:leading]] for row in rows]).reshape(len(rows), leading),
            gamma=reals.get("gamma", [0.0])[0],
            coef0=reals.get("coef0", [0.0])[0],
            degree=int(reals.get("degree", [0])[0]),
            label=[int(v) for v in reals.get("label", [])],
            nr_sv=[int(v) for v in reals.get("nr_sv", [])],
            probA=reals.get("probA"),
            probB=reals.get("probB"),
            marks=reals.get("prob_density_marks"),
        )


def _line(key: str, values: list) -> str:
    return " ".join([key, *map(_number, values)])


def _number(value) -> str:
    return value if isinstance(value, str) else repr(value)


def row_text(label, row: dict) -> str:
    return " ".join([str(label), *(f"{index}:{float(value)!r}" for index, value in sorted(row.items()))])


def data_text(rows: "list[dict]", labels=None) -> bytes:
    return "".join(row_text(label, row) + "\n" for label, row in zip(labels or [0] * len(rows), rows)).encode()


def dense(rows: "list[dict]", columns: "list[int]") -> np.ndarray:
    out = np.zeros((len(rows), len(columns)), EXTENDED)
    place = {index: c for c, index in enumerate(columns)}
    for r, row in enumerate(rows):
        for index, value in row.items():
            out[r, place[index]] = value
    return out


# ---- exact models


def kernel_values(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """(rows, total_sv)"""
    if machine.kernel == "precomputed":
        return np.array([[row[int(x[0])] for x in machine.vectors] for row in rows], EXTENDED).reshape(
            len(rows), len(machine.vectors)
        )
    return kernel_matrix(machine, rows, machine.vectors)


def kernel_matrix(machine: Machine, rows: "list[dict]", others: "list[dict]") -> np.ndarray:
    """K of any rows with any others: (rows, others)"""
    columns = sorted(set().union(*rows, *others))
    z, x = dense(rows, columns), dense(others, columns)
    gamma = EXTENDED(machine.gamma)
    if machine.kernel in ("rbf", "exponential"):
        squares = np.array([((x - row) ** 2).sum(axis=1) for row in z], EXTENDED).reshape(len(z), len(x))
        return np.exp(-gamma * (squares if machine.kernel == "rbf" else np.sqrt(squares)))
    inner = z @ x.T
    if machine.kernel == "linear":
        return inner
    if machine.kernel == "sigmoid":
        return np.tanh(gamma * inner + machine.coef0)
    values = (gamma * inner + machine.coef0) ** machine.degree
    if machine.kernel == "polynomial":
        return values
    return values / np.sqrt(
        np.outer(*((gamma * (part**2).sum(axis=1) + machine.coef0) ** machine.degree for part in (z, x)))
    )


def self_kernel(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """K(z, z) of every row: (rows)"""
    return np.array([kernel_matrix(machine, [row], [row])[0, 0] for row in rows], EXTENDED)


def decision_values(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """f(z) = sum_i a_i K(x_i, z) - rho: (rows, pairs)"""
    return kernel_values(machine, rows) @ machine.pair_coefficients.T.astype(EXTENDED) - np.array(machine.rho, EXTENDED)


def magnitudes(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """sum_i |a_i K(x_i, z)| + |rho|, what a rounding is relative to: (rows, pairs)"""
    return np.abs(kernel_values(machine, rows)) @ np.abs(machine.pair_coefficients.T) + np.abs(machine.rho)


def labels(machine: Machine, values) -> list:
    """One vote per decision function; the first of the classes with most votes. +1 or -1 for one class, f(z) itself
    for regression."""
    if not machine.classification:
        return [(1 if f > 0 else -1) if machine.svm_type == "one_class" else float(f) for (f,) in values]
    out = []
    for row in values:
        votes = [0] * machine.nr_class
        for (i, j), f in zip(machine.pairs, row):
            votes[i if f > 0 else j] += 1
        out.append(machine.label[votes.index(max(votes))])
    return out


def pairwise(machine: Machine, values) -> np.ndarray:
    """(nr_class, nr_class): Platt's 1 / (1 + exp(A f + B)) of every pair, for one row's decision values."""
    r = np.zeros((machine.nr_class,) * 2)
    for (i, j), f, a, b in zip(machine.pairs, values, machine.probA, machine.probB):
        t = float(f) * a + b
        p = exp(-t) / (1 + exp(-t)) if t >= 0 else 1 / (1 + exp(t))
        r[i, j] = min(max(p, MIN_PROBABILITY), 1 - MIN_PROBABILITY)
        r[j, i] = 1 - r[i, j]
    return r


def couple(r: np.ndarray) -> np.ndarray:
    """Wu, Lin and Weng (2004), second method: min sum_ij (r_ji p_i - r_ij p_j)^2 with sum p = 1, by LIBSVM's
    iteration and its stop."""
    k = len(r)
    if k == 2:
        return np.array([r[0, 1], r[1, 0]])
    q = -r.T * r
    np.fill_diagonal(q, (r**2).sum(axis=0))
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        if np.max(np.abs(q @ p - p @ q @ p)) < 0.005 / k:
            break
        for t in range(k):
            p[t] += (p @ q @ p - q[t] @ p) / q[t, t]
            p /= p.sum()
    return p


def one_class_probability(marks: "list[float]", value: float) -> "tuple[float, float]":
    """The share of marks below the value, 0.001 and 0.999 outside them: (normal, outlier)."""
    if value < marks[0]:
        p = 0.001
    elif value > marks[-1]:
        p = 0.999
    else:
        p = next((i / len(marks) for i in range(1, len(marks)) if value < marks[i]), 0.0)
    return p, 1 - p


def probabilities(machine: Machine, values) -> np.ndarray:
    """(rows, nr_class)"""
    if machine.svm_type == "one_class":
        return np.array([one_class_probability(machine.marks, f) for (f,) in values])
    return np.array([couple(pairwise(machine, row)) for row in values]).reshape(len(values), machine.nr_class)


def rounding_radius(machine: Machine, row: dict, values) -> np.ndarray:
    """What fastsvm says rounding can put between its fast evaluation and LIBSVM's sum: (pairs). Infinite: it makes
    no claim."""
    q, s = len(row), max(map(len, machine.vectors), default=0)
    norms = [sqrt(sum(v * v for v in x.values())) for x in machine.vectors]
    z, x = sqrt(sum(v * v for v in row.values())), max(norms, default=0.0)
    coefficients = np.abs(machine.pair_coefficients)
    weight = coefficients @ np.array(norms) if machine.kernel == "linear" else coefficients.sum(axis=1)
    of = np.repeat(np.arange(machine.nr_class), machine.nr_sv) if machine.classification else None
    count = np.array(
        [np.isin(of, pair).sum() for pair in machine.pairs] if machine.classification else [len(machine.vectors)]
    )
    base = fabs(machine.gamma) * x * z + fabs(machine.coef0)
    scale = 1.0
    if machine.kernel == "rbf":
        delta = machine.gamma * (max(q, s) + 6) * UNIT * (x + z) ** 2
        common = 1.02 * delta + (0.4 * (q + s + 5) + 14) * UNIT if delta < 1e-2 else inf
    elif machine.kernel == "polynomial":
        common, scale = 2.1 * UNIT * (machine.degree * (min(q, s) + 8) + 8), base**machine.degree
    elif machine.kernel == "sigmoid":
        common = 2.1 * UNIT * ((min(q, s) + 6) * base + 8)
    else:  # folded: a term for every entry of the row
        common, scale = 1.05 * UNIT * (min(q, s) + q + 16), z
    return (
        weight * (common + 2.1 * UNIT * (count + 6)) * scale
        + 3 * UNIT * (np.abs(values) + np.abs(machine.rho))
        + 1e-290
    )


# ---- LIBSVM's own order of operations: doubles, one after the other


def libsvm_kernel(machine: Machine, x: dict, z: dict) -> float:
    """Kernel::k_function of svm.cpp; for OWN_KERNELS what scripts/precompute_kernel.py writes."""

    def dot(a, b):
        total = 0.0
        for index in sorted(a.keys() & b.keys()):
            total += a[index] * b[index]
        return total

    def squared_distance(a, b):
        total = 0.0
        for index in sorted(a.keys() | b.keys()):
            difference = a.get(index, 0.0) - b.get(index, 0.0)
            total += difference * difference
        return total

    def power(base, times):
        result = 1.0
        while times > 0:
            if times % 2:
                result *= base
            base, times = base * base, times // 2
        return result

    def polynomial(a, b):
        return power(machine.gamma * dot(a, b) + machine.coef0, machine.degree)

    if machine.kernel == "linear":
        return dot(x, z)
    if machine.kernel == "polynomial":
        return polynomial(x, z)
    if machine.kernel == "rbf":
        return exp(-machine.gamma * squared_distance(x, z))
    if machine.kernel == "exponential":
        return exp(-machine.gamma * sqrt(squared_distance(x, z)))
    assert machine.kernel == "normalized_polynomial"
    return float(
        np.float64(polynomial(x, z)) / np.sqrt(np.float64(polynomial(x, x) * polynomial(z, z)))
    )  # numpy: x / 0 is no exception


def libsvm_values(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """svm_predict_values of svm.cpp: (rows, pairs)"""
    out = np.empty((len(rows), len(machine.pairs)))
    starts = np.cumsum([0, *machine.nr_sv]).tolist()
    coef = machine.coef.tolist()
    for r, row in enumerate(rows):
        k = [libsvm_kernel(machine, row, x) for x in machine.vectors]
        for p, (i, j) in enumerate(machine.pairs):
            total = 0.0
            if not machine.classification:
                for a, value in zip(coef, k):
                    total += a[0] * value
            else:
                for s in range(starts[i], starts[i + 1]):
                    total += coef[s][j - 1] * k[s]
                for s in range(starts[j], starts[j + 1]):
                    total += coef[s][i] * k[s]
            out[r, p] = total - machine.rho[p]
    return out


def behind_serials(machine: Machine) -> Machine:
    """The model that LIBSVM has of a kernel it does not know: serial numbers 1, 2, ... for vectors."""
    return replace(
        machine, kernel="precomputed", vectors=[{0: serial} for serial in range(1, len(machine.vectors) + 1)]
    )


def precomputed_rows(machine: Machine, rows: "list[dict]") -> "list[dict]":
    """The rows that LIBSVM is given for such a model: 0:serial 1:K(z, x_1) 2:K(z, x_2) ..."""
    return [
        {0: serial, **{at: libsvm_kernel(machine, row, x) for at, x in enumerate(machine.vectors, 1)}}
        for serial, row in enumerate(rows, 1)
    ]


# ---- intervals from a few kernel values (DeCoste)


def cholesky(k: np.ndarray) -> np.ndarray:
    lower = np.zeros_like(k)
    for i in range(len(k)):
        for j in range(i):
            lower[i, j] = (k[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
        lower[i, i] = np.sqrt(k[i, i] - lower[i, :i] @ lower[i, :i])
    return lower


def forward(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """lower^-1 right"""
    out = np.zeros_like(right)
    for i in range(len(lower)):
        out[i] = (right[i] - lower[i, :i] @ out[:i]) / lower[i, i]
    return out


def intervals(machine: Machine, points: "list[dict]", rows: "list[dict]") -> "tuple[np.ndarray, np.ndarray]":
    """Centers and radii after 0, 1, ... points, (points + 1, rows, pairs) each: with K_S = L L', y = L^-1 k(S, z) and g
    = L^-1 <w, phi(S)>,

    f(z) = g.y - rho  +-  sqrt(|w|^2 - |g|^2) sqrt(K(z, z) - |y|^2).
    """
    a = machine.pair_coefficients.T.astype(EXTENDED)  # (total_sv, pairs)
    lower = cholesky(kernel_matrix(machine, points, points))
    y, g = forward(lower, kernel_matrix(machine, points, rows)), forward(lower, kernel_values(machine, points) @ a)
    squared_norm = np.einsum("ip,ij,jp->p", a, kernel_values(machine, machine.vectors), a)

    def so_far(terms):
        return np.concatenate([np.zeros((1, *terms.shape[1:]), EXTENDED), np.cumsum(terms, axis=0)])

    center = so_far(y[:, :, None] * g[:, None, :]) - np.array(machine.rho, EXTENDED)
    beside_w = np.sqrt(np.maximum(0, squared_norm - so_far(g**2)))
    beside_z = np.sqrt(np.maximum(0, self_kernel(machine, rows) - so_far(y**2)))
    return center, beside_w[:, None, :] * beside_z[:, :, None]


def papers_interval(machine: Machine, points: "list[dict]", rows: "list[dict]") -> "tuple[np.ndarray, np.ndarray]":
    """G_L and G_H after all the points, (rows) each, as DeCoste has them: eqs. (3) to (31), from distances alone.
    For two classes whose coefficients add up to 0."""
    a = machine.pair_coefficients[0].astype(EXTENDED)
    s, n, k = np.maximum(a, 0).sum(), len(a), len(points)
    # Points of feature space as sums over points, vectors and rows: S_1..S_k, N, P, then a Q per row. (6), (7)
    everything = [*points, *machine.vectors, *rows]
    weights = np.zeros((k + 2 + len(rows), len(everything)), EXTENDED)
    weights[:k, :k], weights[k + 2 :, k + n :] = np.eye(k), np.eye(len(rows))
    weights[k, k : k + n], weights[k + 1, k : k + n] = np.maximum(-a, 0) / s, np.maximum(a, 0) / s
    gram = weights @ kernel_matrix(machine, everything, everything) @ weights.T
    c = s * s * (gram[k, k] - gram[k + 1, k + 1])  # (10)
    d2 = np.diag(gram)[:, None] - 2 * gram + np.diag(gram)[None, :]  # (5)
    v = np.zeros((k + 2, k + 1), EXTENDED)  # table 1

    def coordinates(squares, width):  # table 2, from the squared distances to S_1, S_2, ...
        out = np.zeros(k + 1, EXTENDED)
        for j in range(width):
            out[j] = ((squares[0] + v[j + 1] @ v[j + 1] - squares[j + 1]) / 2 - out[:j] @ v[j + 1, :j]) / v[j + 1, j]
        return out

    for i in range(1, k + 2):
        v[i] = coordinates(d2[i], i - 1)
        v[i, i - 1] = np.sqrt(np.maximum(0, d2[i, 0] - v[i] @ v[i]))
    w, low, high = k - 1, [], []
    (n_w, n_x), (p_w, p_x, p_y) = (v[k, :w], v[k, w]), (v[k + 1, :w], v[k + 1, w], v[k + 1, w + 1])
    for squares in d2[k + 2 :]:
        q = coordinates(squares, w)[:w]
        radius = np.sqrt(np.maximum(0, squares[0] - q @ q))  # (16)
        so_far = ((q - n_w) ** 2 - (q - p_w) ** 2).sum()  # (30)
        axis = np.hypot(p_x - n_x, p_y)
        x = radius * (p_x - n_x) / axis if axis else EXTENDED(0)  # (28)
        y = np.sqrt(np.maximum(0, radius**2 - x**2))
        g = [
            so_far + (qx - n_x) ** 2 - (qx - p_x) ** 2 + qy**2 - (qy - p_y) ** 2 for qx in (x, -x) for qy in (y, -y)
        ]  # (31)
        for to, extreme in ((low, min(g)), (high, max(g))):
            to.append((extreme * s - c / s) / 2 - machine.rho[0])  # (13), (14)
    return np.array(low), np.array(high)


def odds(low: float, high: float) -> float:
    """DeCoste's eq. (32): the probability that the value in this interval is positive."""
    return max(high, 0) / (max(high, 0) + max(-low, 0))


# ---- stopping early by the triangle inequality (Acevedo-Rodriguez et al.)


def papers_stops(machine: Machine, pivots: "list[int]", row: dict) -> "list[int]":
    """After how many terms of the list of the nearest pivot, in the order of the distance from it, conditions (10)
    and (11) stop a row; and, of the exponential kernel, conditions (16) and (17): all terms where they never do. One
    decision function. d^low is that of the first term left."""
    columns = sorted(set(machine.features).union(row))
    x, z = dense(machine.vectors, columns), dense([row], columns)[0]
    pivot = min(pivots, key=lambda p: ((x[p] - z) ** 2).sum())  # (12)
    from_pivot, to_row = np.sqrt(((x - x[pivot]) ** 2).sum(axis=1)), np.sqrt(((x[pivot] - z) ** 2).sum())
    order = np.argsort(from_pivot, kind="stable")
    d, a = from_pivot[order], machine.pair_coefficients[0].astype(EXTENDED)[order]
    f = np.concatenate([[0], np.cumsum(a * kernel_values(machine, [row])[0][order])]) - EXTENDED(machine.rho[0])  # (8)
    gamma, n = EXTENDED(machine.gamma), len(a)

    def kernel(distance):
        return np.exp(-gamma * (distance if machine.kernel == "exponential" else distance**2))

    def stop(bounds):
        for at in range(n):
            (low_positive, high_positive), (low_negative, high_negative) = (
                bounds(at, np.maximum(sign * a[at:], 0)) for sign in (1, -1)
            )
            if f[at] > high_negative - low_positive or -f[at] > high_positive - low_negative:
                return at
        return n

    def by_distance(at, left):
        return left.sum() * kernel(d[-1] + to_row), left.sum() * kernel(max(0, d[at] - to_row))

    def by_factors(at, left):
        return (left @ kernel(d[at:])) * np.exp(-gamma * to_row), (left @ kernel(d[at:])) * np.exp(gamma * to_row)

    return [stop(by_distance)] + ([stop(by_factors)] if machine.kernel == "exponential" else [])


# ---- Maclaurin expansions (Claesen, De Smet, Suykens, De Moor); `point` is a row, the centre m


def about(machine: Machine, rows: "list[dict]", point: dict) -> "tuple[np.ndarray, np.ndarray]":
    """x - m (total_sv, d) and z - m (rows, d)"""
    columns = sorted(set(machine.features).union(point, *rows))
    m = dense([point], columns)
    return dense(machine.vectors, columns) - m, dense(rows, columns) - m


def expansion(machine: Machine, pair: int, point: dict, features: "list[int]", degree: int) -> "list[np.ndarray]":
    """The tensors c, v (d), M (d, d), ... of one decision function about a centre: eqs. (3.7), (3.8), and (3.13) to
    (3.16) for finite kernels; T_k = factor_k sum_i a_i x~_i^k, with a_i e^(-gamma |x~_i|^2) for a_i where the kernel
    is RBF."""
    x = dense(machine.vectors, features) - dense([point], features)
    a = machine.pair_coefficients[pair].astype(EXTENDED)
    gamma, b = EXTENDED(machine.gamma), EXTENDED(machine.coef0)
    if machine.kernel == "rbf":
        a = a * np.exp(-gamma * (x**2).sum(axis=1))
        factors = [(2 * gamma) ** k / factorial(k) for k in range(degree + 1)]
    elif machine.kernel == "linear":
        factors = [0, 1]
    else:
        factors = [comb(machine.degree, k) * b ** (machine.degree - k) * gamma**k for k in range(machine.degree + 1)]
    tensors, d = [], len(features)
    for k, factor in enumerate(factors):
        power = np.ones((len(x), 1), EXTENDED)  # x~_i^(k - 1), (total_sv, d^(k - 1))
        for _ in range(k - 1):
            power = (power[:, :, None] * x[:, None, :]).reshape(len(x), power.shape[1] * x.shape[1])
        tensors.append(factor * ((power.T * a) @ x if k else a.sum()).reshape((d,) * k))
    return tensors


def apply(tensors: "list[np.ndarray]", z: np.ndarray) -> EXTENDED:
    """c + v.z + z'Mz + ..."""
    total = EXTENDED(0)
    for tensor in tensors:
        while tensor.ndim:
            tensor = tensor @ z
        total += tensor
    return total


def expansion_values(machine: Machine, pair: int, rows: "list[dict]", point: dict, degree: int = 2):
    """(e^(-gamma |z - m|^2) (c + v.(z - m) + (z - m)'M(z - m) + ...) - rho, the same with the size of every term),
    both (rows); without the exponential for finite kernels. Coefficients that err by u of themselves change the
    value by u times the second at most."""
    columns = sorted(set(machine.features).union(point, *rows))
    known = sorted(set(machine.features).union(point))
    tensors = expansion(machine, pair, point, known, degree)
    sizes = [np.abs(tensor) for tensor in tensors]
    everywhere = dense(rows, columns) - dense([point], columns)
    z = everywhere[:, np.isin(columns, known)]  # beyond these, every tensor is 0
    weight = (
        np.exp(-EXTENDED(machine.gamma) * (everywhere**2).sum(axis=1))
        if machine.kernel == "rbf"
        else np.ones(len(rows), EXTENDED)
    )
    value = weight * np.array([apply(tensors, row) for row in z], EXTENDED) - machine.rho[pair]
    return value, weight * np.array([apply(sizes, np.abs(row)) for row in z], EXTENDED)


def exponents(machine: Machine, rows: "list[dict]", point: dict):
    """2 gamma (x - m).(z - m): what the exponential series is cut in. (rows, total_sv)"""
    x, z = about(machine, rows, point)
    return 2 * EXTENDED(machine.gamma) * (z @ x.T)


def largest_squared_norm(machine: Machine, point: dict, used=None) -> float:
    """max |x - m|^2 over the support vectors (or those `used`)"""
    x, _ = about(machine, [], point)
    return float(max((x[range(len(x)) if used is None else used] ** 2).sum(axis=1), default=0.0))


def bound_ratio(machine: Machine, rows: "list[dict]", point: dict, used=None) -> np.ndarray:
    """16 gamma^2 |x_M - m|^2 |z - m|^2: a row is inside the bound of eq. (3.11) where this is below 1. (rows)"""
    _, z = about(machine, rows, point)
    return 16 * machine.gamma**2 * largest_squared_norm(machine, point, used) * (z**2).sum(axis=1)


# ---- models and rows to try


def random_rows(rng, n: int, indices: "list[int]", *, density=1.0, scale=1.0, offset=0.0) -> "list[dict]":
    """Rows with a share `density` of the indices, some of them duplicates and, about the origin, zero vectors."""
    rows = [
        {i: float(offset + scale * rng.standard_normal()) for i in indices if rng.random() < density} for _ in range(n)
    ]
    for r in range(n):
        if n > 4 and rng.random() < 0.1:
            rows[r] = dict(rows[rng.integers(n)])
        elif n > 4 and offset == 0 and rng.random() < 0.05:
            rows[r] = {}
    return rows


def random_machine(
    rng, svm_type: str, kernel: str, vectors: "list[dict]", *, nr_class=2, probability=False, **parameters
) -> Machine:
    """A model nobody trained: any coefficients make a decision function."""
    n, classification = len(vectors), svm_type in ("c_svc", "nu_svc")
    classes = nr_class if classification else 2
    pairs = classes * (classes - 1) // 2
    machine = Machine(
        svm_type,
        kernel,
        vectors,
        rng.standard_normal((n, classes - 1)),
        rng.normal(0, 0.5, pairs).tolist(),
        **parameters,
    )
    if classification:
        cuts = np.sort(rng.integers(0, n + 1, classes - 1))
        machine.nr_sv = np.diff([0, *cuts, n]).tolist()
        machine.label = [
            int(v) for v in rng.permutation([1, -1, 0, 7, -3, 1000000, *range(100, 100 + classes)])[:classes]
        ]
    if probability and classification:
        machine.probA, machine.probB = (-rng.uniform(0.3, 3, pairs)).tolist(), rng.normal(0, 0.3, pairs).tolist()
    elif probability and svm_type == "one_class":
        machine.marks = np.sort(rng.normal(0, 1, 10)).tolist()
    elif probability:
        machine.probA = [float(rng.uniform(0.1, 1))]
    return machine


# ---- border samples (Mills)


@dataclass
class BorderFile:
    """A border model as its file has it. samples: per pair (n, 2, d), point and normal."""

    header: "dict[str, list]"
    features: "list[int]"
    levels: "list[float]"
    local: int
    samples: "list[np.ndarray]"

    @classmethod
    def read(cls, text: bytes) -> "BorderFile":
        head, _, body = text.decode().partition("\nborder\n")
        keys = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        features = []
        for word in keys["features"]:
            first, _, last = word.partition(":")
            features += range(int(first), int(last or first) + 1)
        numbers, samples = iter(body.splitlines()), []
        for count in keys["nr_border"]:
            lines = [[EXTENDED(float(word)) for word in next(numbers).split()] for _ in range(2 * int(count))]
            samples.append(np.array(lines, EXTENDED).reshape(int(count), 2, len(features)))
        assert [line.split()[0] for line in numbers] in (["end"], ["checksum", "end"])
        return cls(keys, features, [float(word) for word in keys["level"]], int(keys["local"][0]), samples)

    def text(self, head: str, precision="double") -> bytes:
        """head: the header's lines."""
        lines = [
            "fingerprint f",
            " ".join(["features", *map(str, self.features)]),
            f"precision {precision}",
            _line("nr_border", [len(s) for s in self.samples]),
        ]
        lines += [_line("level", self.levels), f"local {self.local}", "border"]
        lines += [
            " ".join(repr(float(v)) for v in line) for samples in self.samples for sample in samples for line in sample
        ]
        return ("\n".join([f"fastsvm_model border 1\n{head}{lines[0]}", *lines[1:], "end"]) + "\n").encode()

    def points(self, pair: int) -> "list[dict]":
        return [dict(zip(self.features, point.tolist())) for point in self.samples[pair][:, 0].astype(float)]


def border_values(border: BorderFile, rows: "list[dict]") -> "tuple[np.ndarray, np.ndarray]":
    """level + n_i.(z - b_i) at the nearest sample i; or its mean over the `local` nearest ones, weighted by (1 - s /
    S)^2, s the squared distances and S that of the next one (of the farthest, where there is no next): (rows,
    pairs). And how much farther the next sample is than each that counts, of its distance, at least: (rows, pairs)."""
    out, gaps = np.empty((len(rows), len(border.samples)), EXTENDED), np.full((len(rows), len(border.samples)), np.inf)
    for r, row in enumerate(rows):
        z = np.array([row.get(index, 0.0) for index in border.features], EXTENDED)
        beyond = sum(EXTENDED(value) ** 2 for index, value in row.items() if index not in border.features)
        for p, (samples, level) in enumerate(zip(border.samples, border.levels)):
            if not len(samples):
                out[r, p] = level
                continue
            score = (samples[:, 0] ** 2).sum(axis=1) / 2 - samples[:, 0] @ z  # (|z - b|^2 - |z|^2) / 2
            order = np.argsort(score, kind="stable")
            squares = np.maximum(0, (z**2).sum() + beyond + 2 * score[order])
            plane = level + ((z - samples[order, 0]) * samples[order, 1]).sum(axis=1)
            used = min(border.local, len(samples) - 1) if border.local > 1 else 0
            weights = (1 - squares[:used] / squares[used]) ** 2 if used and squares[used] > 0 else np.zeros(0)
            out[r, p] = weights @ plane[:used] / weights.sum() if weights.sum() > 0 else plane[0]
            steps = np.diff(score[order[: used + 2]])
            gaps[r, p] = float(steps.min() / (1 + np.abs(score).max())) if len(steps) else np.inf
    return out, gaps


def density_weights(x: np.ndarray, z: np.ndarray, h) -> np.ndarray:
    return np.exp(-((((x - z) / h) ** 2).sum(axis=1)) / 2)


def density_bandwidth(x: np.ndarray, z: np.ndarray, weight: float):
    """h at which the weights of all rows at z add up to `weight`, by halving."""
    x, z = x.astype(EXTENDED), z.astype(EXTENDED)
    low, high = EXTENDED(-3000), EXTENDED(3000)  # of log h
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if density_weights(x, z, np.exp(middle)).sum() < weight else (low, middle)
    return np.exp(low)


def density(x: np.ndarray, y: np.ndarray, z: np.ndarray, bandwidth, weight=None) -> EXTENDED:
    """R(z) = sum_i y_i k_i / sum_i k_i; bandwidth None: solved for the weight."""
    h = density_bandwidth(x, z, weight) if bandwidth is None else EXTENDED(bandwidth)
    k = density_weights(x.astype(EXTENDED), z.astype(EXTENDED), h)
    return (k @ y) / k.sum()


def density_log_odds(rows: "list[dict]", classes: "list[int]", z: dict, weight: float) -> "list[EXTENDED]":
    """log(S_i / S_j) of every pair of classes at z, S_c the sum of the weights of class c, of the bandwidth at which
    the weights of both classes add up to `weight`: Mills's R is (S_i - S_j) / weight."""
    columns = sorted(set(z).union(*rows))
    x, at, classes = dense(rows, columns), dense([z], columns)[0], np.array(classes)
    out = []
    for i in range(max(classes) + 1):
        for j in range(i + 1, max(classes) + 1):
            h = density_bandwidth(x[(classes == i) | (classes == j)], at, weight)
            of_i, of_j = ((((x[classes == c] - at) / h) ** 2).sum(axis=1) / 2 for c in (i, j))
            out.append(log_sum_exp(-of_i) - log_sum_exp(-of_j))
    return out


def log_sum_exp(exponents: np.ndarray) -> EXTENDED:
    return exponents.max() + np.log(np.exp(exponents - exponents.max()).sum())


def slope(function, z: np.ndarray, step: float) -> np.ndarray:
    """The gradient by central differences."""
    z, out = z.astype(EXTENDED), np.empty(len(z), EXTENDED)
    for j in range(len(z)):
        ahead, behind = z.copy(), z.copy()
        ahead[j], behind[j] = z[j] + step, z[j] - step
        out[j] = (function(ahead) - function(behind)) / (ahead[j] - behind[j])
    return out
