"""Every formula again, written to be read: slow, dense, in extended precision. What the tests hold the program against; it shares no code
with the package. A row is a dict {LIBSVM index: value}."""

from dataclasses import dataclass, field
from itertools import combinations
from math import comb, exp, fabs, factorial, inf, sqrt

import numpy as np

EXTENDED = np.longdouble
UNIT = 2.0**-53
SVM_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")
KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
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
        """(pairs, total_sv): the coefficient of every support vector in every decision function, 0 where it has no part."""
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
        keys |= {"label": self.label or None, "probA": self.probA, "probB": self.probB, "prob_density_marks": self.marks}
        keys |= {"nr_sv": self.nr_sv or None}
        lines = [_line(key, value if isinstance(value, list) else [value]) for key, value in keys.items() if value is not None]
        lines += ["SV", *(row_text(" ".join(map(_number, a)), x) for a, x in zip(self.coef.tolist(), self.vectors))]
        return ("\n".join(lines) + "\n").encode()

    @classmethod
    def read(cls, text: bytes) -> "Machine":
        head, _, body = text.decode().partition("SV\n")
        keys = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        reals = {key: [float(word) for word in words] for key, words in keys.items() if key not in ("svm_type", "kernel_type")}
        leading = int(keys["nr_class"][0]) - 1
        rows = [line.split() for line in body.splitlines()]
        return cls(
            svm_type=keys["svm_type"][0], kernel=keys["kernel_type"][0], rho=reals["rho"],
            vectors=[{int(i): float(v) for i, v in (word.split(":") for word in row[leading:])} for row in rows],
            coef=np.array([[float(word) for word in row[:leading]] for row in rows]).reshape(len(rows), leading),
            gamma=reals.get("gamma", [0.0])[0], coef0=reals.get("coef0", [0.0])[0], degree=int(reals.get("degree", [0])[0]),
            label=[int(v) for v in reals.get("label", [])], nr_sv=[int(v) for v in reals.get("nr_sv", [])],
            probA=reals.get("probA"), probB=reals.get("probB"), marks=reals.get("prob_density_marks"),
        )  # fmt: skip


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
        return np.array([[row[int(x[0])] for x in machine.vectors] for row in rows], EXTENDED).reshape(len(rows), len(machine.vectors))
    columns = sorted(set(machine.features).union(*rows))
    z, x = dense(rows, columns), dense(machine.vectors, columns)
    if machine.kernel == "rbf":
        return np.exp(-EXTENDED(machine.gamma) * np.array([((x - row) ** 2).sum(axis=1) for row in z]).reshape(len(z), len(x)))
    inner = z @ x.T
    if machine.kernel == "linear":
        return inner
    base = EXTENDED(machine.gamma) * inner + machine.coef0
    return np.tanh(base) if machine.kernel == "sigmoid" else base**machine.degree


def decision_values(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """f(z) = sum_i a_i K(x_i, z) - rho: (rows, pairs)"""
    return kernel_values(machine, rows) @ machine.pair_coefficients.T.astype(EXTENDED) - np.array(machine.rho, EXTENDED)


def magnitudes(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """sum_i |a_i K(x_i, z)| + |rho|, what a rounding is relative to: (rows, pairs)"""
    return np.abs(kernel_values(machine, rows)) @ np.abs(machine.pair_coefficients.T) + np.abs(machine.rho)


def labels(machine: Machine, values) -> list:
    """One vote per decision function; the first of the classes with most votes. +1 or -1 for one class, f(z) itself for regression."""
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
    """Wu, Lin and Weng (2004), second method: min sum_ij (r_ji p_i - r_ij p_j)^2 with sum p = 1, by LIBSVM's iteration and its stop."""
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
    """What fastsvm says rounding can put between its fast evaluation and LIBSVM's sum: (pairs). Infinite: it makes no claim."""
    q, s = len(row), max(map(len, machine.vectors), default=0)
    norms = [sqrt(sum(v * v for v in x.values())) for x in machine.vectors]
    z, x = sqrt(sum(v * v for v in row.values())), max(norms, default=0.0)
    coefficients = np.abs(machine.pair_coefficients)
    weight = coefficients @ np.array(norms) if machine.kernel == "linear" else coefficients.sum(axis=1)
    of = np.repeat(np.arange(machine.nr_class), machine.nr_sv) if machine.classification else None
    count = np.array([np.isin(of, pair).sum() for pair in machine.pairs] if machine.classification else [len(machine.vectors)])
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
    return weight * (common + 2.1 * UNIT * (count + 6)) * scale + 3 * UNIT * (np.abs(values) + np.abs(machine.rho)) + 1e-290


# ---- Maclaurin expansions (Claesen, De Smet, Suykens, De Moor); `point` is a row, the centre m


def about(machine: Machine, rows: "list[dict]", point: dict) -> "tuple[np.ndarray, np.ndarray]":
    """x - m (total_sv, d) and z - m (rows, d)"""
    columns = sorted(set(machine.features).union(point, *rows))
    m = dense([point], columns)
    return dense(machine.vectors, columns) - m, dense(rows, columns) - m


def expansion(machine: Machine, pair: int, point: dict, features: "list[int]", degree: int) -> "list[np.ndarray]":
    """The tensors c, v (d), M (d, d), ... of one decision function about a centre: eqs. (3.7), (3.8), and (3.13) to (3.16) for finite kernels;
    T_k = factor_k sum_i a_i x~_i^k, with a_i e^(-gamma |x~_i|^2) for a_i where the kernel is RBF."""
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
    """(e^(-gamma |z - m|^2) (c + v.(z - m) + (z - m)'M(z - m) + ...) - rho, the same with the size of every term), both (rows); without the
    exponential for finite kernels. Coefficients that err by u of themselves change the value by u times the second at most."""
    columns = sorted(set(machine.features).union(point, *rows))
    known = sorted(set(machine.features).union(point))
    tensors = expansion(machine, pair, point, known, degree)
    sizes = [np.abs(tensor) for tensor in tensors]
    everywhere = dense(rows, columns) - dense([point], columns)
    z = everywhere[:, np.isin(columns, known)]  # beyond these, every tensor is 0
    weight = np.exp(-EXTENDED(machine.gamma) * (everywhere**2).sum(axis=1)) if machine.kernel == "rbf" else np.ones(len(rows), EXTENDED)
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
    rows = [{i: float(offset + scale * rng.standard_normal()) for i in indices if rng.random() < density} for _ in range(n)]
    for r in range(n):
        if n > 4 and rng.random() < 0.1:
            rows[r] = dict(rows[rng.integers(n)])
        elif n > 4 and offset == 0 and rng.random() < 0.05:
            rows[r] = {}
    return rows


def random_machine(rng, svm_type: str, kernel: str, vectors: "list[dict]", *, nr_class=2, probability=False, **parameters) -> Machine:
    """A model nobody trained: any coefficients make a decision function."""
    n, classification = len(vectors), svm_type in ("c_svc", "nu_svc")
    classes = nr_class if classification else 2
    pairs = classes * (classes - 1) // 2
    machine = Machine(svm_type, kernel, vectors, rng.standard_normal((n, classes - 1)), rng.normal(0, 0.5, pairs).tolist(), **parameters)
    if classification:
        cuts = np.sort(rng.integers(0, n + 1, classes - 1))
        machine.nr_sv = np.diff([0, *cuts, n]).tolist()
        machine.label = [int(v) for v in rng.permutation([1, -1, 0, 7, -3, 1000000, *range(100, 100 + classes)])[:classes]]
    if probability and classification:
        machine.probA, machine.probB = (-rng.uniform(0.3, 3, pairs)).tolist(), rng.normal(0, 0.3, pairs).tolist()
    elif probability and svm_type == "one_class":
        machine.marks = np.sort(rng.normal(0, 1, 10)).tolist()
    elif probability:
        machine.probA = [float(rng.uniform(0.1, 1))]
    return machine
