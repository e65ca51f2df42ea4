"""Random models and rows to break ordered models; LIBSVM in this process."""

from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Header, Kernel
from fastsvm_cli.methods.order.orders import compile_geometry, compile_triangle, with_vectors
from fastsvm_cli.models import Model, parse_model
from support import in_process, oracles, reducing
from support.evaluation import parse
from support.oracles import EXTENDED, OWN_KERNELS, random_machine, random_rows

COMPILERS = {"geometry": compile_geometry, "triangle": compile_triangle}
KERNELS = {"geometry": ["rbf", "linear", "polynomial", *OWN_KERNELS], "triangle": ["rbf", "exponential"]}
HUGE = 1e160  # its square overflows
UNKNOWN = 1000  # an index that no support vector has
NEVER = Header("epsilon_svr", "rbf", 2, 0, [0.0]).task()  # with tolerance 0 no radius decides its rows


def methods_for(kernel):
    return [method for method in COMPILERS if kernel in KERNELS[method]]


def decide(model, chunk, out, tolerance=0.0, task=None):
    """Fill `out` without the exact evaluation; return the undecided rows."""
    return model.decide(chunk, task or model.header.task(), tolerance, 0, out)


def exact_model(machine):
    """The model that `order` gets: precomputed, with its vectors, if LIBSVM does not know the kernel."""
    if machine.kernel not in OWN_KERNELS:
        return reducing.exact_model(machine)
    kernel = Kernel(machine.kernel, machine.gamma, machine.coef0, machine.degree)
    return with_vectors(
        parse_model(oracles.behind_serials(machine).text(), "a.model"), [parse(machine.vectors)], "train", kernel
    )


def order(machine, method, **options):
    """The ordered model, read back from its file."""
    text = COMPILERS[method](exact_model(machine), fingerprint="f", **options).to_text()
    model = parse_model(text, "a.order")
    assert model.to_text() == text
    return model


def with_points(machine, points, vectors=(), rng=None, slack=0.0):
    """A geometry model of any points, of support vectors and further vectors. slack: error of the file's numbers, which
    the file declares."""
    exact, vectors = exact_model(machine), [*machine.vectors, *vectors]
    text = "".join(oracles.row_text(" ".join(["0"] * machine.coef.shape[1]), row) + "\n" for row in vectors)
    all_vectors = _native.parse(text.encode(), leading_count=machine.coef.shape[1])[0]
    out = _native.Decisions(exact.pairs, True)
    exact.fast_values(all_vectors.select(points), out)
    b = np.array(out.value) + np.array(machine.rho)
    error = (np.array(out.radius) + 4 * oracles.UNIT * (np.abs(b) + np.abs(np.array(out.value)))).max(axis=0)
    if slack:
        b += slack * rng.choice([-1, 1], b.shape)
        error += slack
    a, k = machine.pair_coefficients.astype(EXTENDED), oracles.kernel_values(machine, machine.vectors)
    squared_norm, size = (((a @ k) * a).sum(axis=1) for a, k in ((a, k), (np.abs(a), np.abs(k))))
    upper = (np.maximum(squared_norm, 0) + 1e-15 * size).astype(float)
    how = dict(all_vectors=all_vectors, points=list(points), b=np.ascontiguousarray(b).ravel())
    sums = dict(squared_norm=upper.tolist(), b_error=error.tolist())
    return Model(_native.GeometryFile(exact.file, fingerprint="f", sequence="any", **how, **sums))


def random_options(rng, machine, method):
    if method == "triangle":
        return {"seed": int(rng.integers(9)), "lists": int(rng.integers(1, 6)) if rng.random() < 0.7 else None}
    options = {"seed": int(rng.integers(9)), "sequence": str(rng.choice(["greedy", "sgma"], p=[0.7, 0.3]))}
    options["points"] = int(rng.integers(1, 200)) if rng.random() < 0.7 else None
    if machine.vectors and rng.random() < 0.2:  # any vectors can serve as folded ones
        scale = float(max(map(abs, machine.vectors[0].values()), default=1))
        options["folded"] = parse(random_rows(rng, 2, [1, 2, 3], scale=scale))
    return options


class Libsvm(in_process.Libsvm):
    """A machine in LIBSVM, precomputed if LIBSVM does not know its kernel."""

    def __init__(self, machine):
        self.machine, self.own = machine, machine.kernel in OWN_KERNELS
        with TemporaryDirectory() as folder:
            path = Path(folder) / "libsvm.model"
            path.write_bytes((oracles.behind_serials(machine) if self.own else machine).text())
            super().__init__(path)

    def _known(self, rows):
        return oracles.precomputed_rows(self.machine, rows) if self.own else rows

    def values(self, rows):
        return super().values(self._known(rows))

    def lines(self, rows):
        return [line for (line,) in super().lines(self._known(rows))]


# ---- random models


def random_vectors(rng, n, indices, scale):
    """Vectors in few clusters or none, about the origin or far from it; duplicates, near-duplicates, zeros."""
    offset, few = float(rng.choice([0, 0, 0, 1, 30, 1000])) * scale, len(indices) < 20
    density = float(rng.choice([0.3, 1, 1])) if few else 0.04
    vectors = random_rows(rng, n, indices, density=density, scale=scale, offset=offset)
    if n > 8 and few and rng.random() < 0.5:
        centers = random_rows(rng, 4, indices, scale=5 * scale)
        vectors = [{i: v + centers[r % 4].get(i, 0.0) for i, v in row.items()} for r, row in enumerate(vectors)]
    for i in range(1, n, 5):
        kind = rng.random()
        if kind < 0.2:
            vectors[i] = {index: v * (1 + 10 ** rng.uniform(-15, -6)) for index, v in vectors[i - 1].items()}
        elif kind < 0.3:
            vectors[i] = {index: v * float(rng.choice([1e-12, 1e-3, 100])) for index, v in vectors[i].items()}
    return vectors


def trained_signs(machine, of):
    """The first class of a pair has positive coefficients, the second negative ones. of: classes of the vectors."""
    return np.abs(machine.coef) * np.where(of[:, None] <= np.arange(machine.coef.shape[1]), 1, -1)


def random_case(rng, kernel):
    """A machine and rows."""
    n = int(rng.integers(*((0, 8), (8, 40), (40, 150))[rng.choice(3, p=[0.2, 0.5, 0.3])]))
    svm_type = str(rng.choice(["c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"], p=[0.6, 0.15, 0.1, 0.1, 0.05]))
    classes = 2 if n == 0 else int(rng.choice([2, 3, 4, 5, 10], p=[0.6, 0.15, 0.1, 0.1, 0.05]))
    d = int(rng.integers(1, 7)) if rng.random() < 0.9 else 60  # sparse if 60
    indices = sorted(rng.choice(np.arange(0, 80), d, replace=False).tolist())
    scale = float(rng.choice([1e-3, 1, 1, 1, 1e3]))
    vectors = random_vectors(rng, n, indices, scale)
    unit = scale * scale * d if kernel != "exponential" else scale * sqrt(d)
    gamma = float(rng.choice([0.0, 1e-12, 1e-6, 1e6]) if rng.random() < 0.12 else 10 ** rng.uniform(-3, 2)) / unit
    parameters = {"gamma": gamma}
    if "polynomial" in kernel:
        least = 0 if kernel == "polynomial" else 1
        coef0, degree = float(rng.choice([0.01 * least, 0.3, 1, 10])), int(rng.integers(least, 6))
        parameters = {"gamma": min(gamma, 10 / unit), "coef0": coef0, "degree": degree}
    machine = random_machine(rng, svm_type, kernel, vectors, nr_class=classes, **parameters)
    if rng.random() < 0.5:
        of = np.repeat(np.arange(machine.nr_class), machine.nr_sv) if machine.classification else np.arange(n) % 2
        machine.coef = trained_signs(machine, of)
    machine.coef *= 10.0 ** rng.choice([-8, 0, 0, 0, 3, 10])
    kind = rng.random()
    if kind < 0.25:  # opposed duplicates: sums of large terms that cancel
        for i in range(1, n, 2):
            machine.vectors[i] = dict(machine.vectors[i - 1])
            machine.coef[i] = -machine.coef[i - 1] * (1 + rng.choice([0, 0, 1e-12, 1e-3]))
    if kind < 0.5:
        machine.rho = [0.0] * len(machine.rho)
    elif kind < 0.6:
        machine.rho = (np.array(machine.rho) * float(np.abs(machine.coef).sum())).tolist()
    rows = random_rows(rng, 4, [*indices, UNKNOWN], scale=scale * float(rng.choice([0.1, 1, 5])))
    if n:
        rows += [dict(vectors[i]) for i in rng.integers(0, n, 3)]
        for i in rng.integers(0, n, 2):
            near = scale * 10 ** rng.uniform(-12, -1)
            rows.append({index: v + near * float(rng.standard_normal()) for index, v in vectors[i].items()})
    rows += [{}, {UNKNOWN: scale}, {**(vectors[0] if n else {}), UNKNOWN: scale * 10 ** rng.uniform(-9, 2)}]
    if rng.random() < 0.1:  # a kernel file of an own kernel holds no NaN
        rows += [{1: float(rng.choice([1e20] if kernel in OWN_KERNELS else [1e20, 1e100, HUGE]))}]
    return machine, rows


def spread(rng, n, kernel, d=5, classes=2):
    """Well-conditioned kernel matrix; the coefficients of two classes add up to 0."""
    vectors = [dict(enumerate(row, 1)) for row in rng.standard_normal((n, d)).tolist()]
    machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=classes, gamma=0.5, coef0=1.0, degree=5)
    if classes == 2:
        k = n // 2
        a = rng.uniform(0.1, 1, n)
        a[k:] *= -a[:k].sum() / a[k:].sum()
        machine.nr_sv, machine.coef = [k, n - k], a[:, None]
    return machine


# ---- intervals


def truths(machine, rows):
    with np.errstate(all="ignore"):
        return oracles.decision_values(machine, rows), Libsvm(machine).values(rows)


def after(model, chunk, points):
    """Values and radii after this number of points, decided or not: (rows, pairs) each."""
    out = _native.Decisions(model.pairs, True)
    model.decide(chunk, NEVER, 0.0, points, out)
    return np.array(out.value), np.array(out.radius)


def stopped(model, chunk, tolerance=0.0, task=None):
    """Value, radius and evaluations of every row when it stops; the rows that never stop."""
    out = _native.Decisions(model.pairs, True)
    left = decide(model, chunk, out, tolerance, task)
    if task is NEVER:
        np.testing.assert_array_equal(np.flatnonzero(~(np.array(out.radius)[:, 0] <= tolerance)), left)
    return np.array(out.value), np.array(out.radius), np.array(out.evaluations), left
