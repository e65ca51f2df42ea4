"""Random models and rows to break ordered models; LIBSVM in this process."""

import hashlib
from math import sqrt

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import SVM_TYPES, Kernel
from fastsvm_cli.methods.order.geometry import compile_geometry
from fastsvm_cli.methods.order.precomputed import with_vectors
from fastsvm_cli.methods.order.triangle import compile_triangle
from fastsvm_cli.models import load_model, parse_model
from support import hostile, in_process, oracles
from support.evaluation import parse
from support.in_process import written_lines
from support.oracles import OWN_KERNELS, random_machine, random_rows
from support.paths import DATA, SCRIPTS

COMPILERS = {"geometry": compile_geometry, "triangle": compile_triangle}
HUGE = 1e160  # its square overflows
UNKNOWN = 1000  # an index that no support vector has
NEVER = _native.Task(SVM_TYPES.index("epsilon_svr"), [], [], [], [])  # with tolerance 0 no radius decides its rows


def decide(model, chunk, out, tolerance=0.0, task=None):
    """Fill `out` without the exact evaluation; return the undecided rows."""
    return model.decide(chunk, task or model.header.task(), tolerance, 0, out)


def exact_model(machine):
    """The model that `order` gets: precomputed, with its vectors, if LIBSVM does not know the kernel."""
    if machine.kernel not in OWN_KERNELS:
        return parse_model(machine.text(), "a.model")
    kernel = Kernel(machine.kernel, machine.gamma, machine.coef0, machine.degree)
    return with_vectors(
        parse_model(oracles.behind_serials(machine).text(), "a.model"), [parse(machine.vectors)], "train", kernel
    )


def order(machine, method, **options):
    """The ordered model, read back from its file."""
    return parse_model(COMPILERS[method](exact_model(machine), fingerprint="f", **options).to_text(), "a.order")


def random_options(rng, machine, method):
    if method == "triangle":
        return {"seed": int(rng.integers(9)), "lists": int(rng.integers(1, 6)) if rng.random() < 0.7 else None}
    options = {"seed": int(rng.integers(9)), "sequence": str(rng.choice(["greedy", "sgma"], p=[0.7, 0.3]))}
    options["points"] = int(rng.integers(1, 200)) if rng.random() < 0.7 else None
    if machine.vectors and rng.random() < 0.2:  # any vectors can serve as folded ones
        options["folded"] = random_rows(
            rng, 2, [1, 2, 3], scale=float(max(map(abs, machine.vectors[0].values()), default=1))
        )
    return options


def lines(model, rows, **options):
    text, run_counts = written_lines(model, [parse(rows)], **options)
    return text.decode().splitlines(), run_counts


class Libsvm(in_process.Libsvm):
    """A machine in LIBSVM, precomputed if LIBSVM does not know its kernel."""

    def __init__(self, machine, folder):
        self.machine, path = machine, folder / "libsvm.model"
        self.own = machine.kernel in OWN_KERNELS
        path.write_bytes((oracles.behind_serials(machine) if self.own else machine).text())
        super().__init__(path)
        path.unlink()

    def _known(self, rows):
        return oracles.precomputed_rows(self.machine, rows) if self.own else rows

    def values(self, rows):
        return super().values(self._known(rows))

    def lines(self, rows):
        return [line for (line,) in super().lines(self._known(rows))]


# ---- random models


def random_vectors(rng, n, indices, scale):
    """Vectors in few clusters or none, about the origin or far from it; duplicates, near-duplicates, zeros."""
    offset = float(rng.choice([0, 0, 0, 1, 30, 1000])) * scale
    vectors = random_rows(
        rng,
        n,
        indices,
        density=float(rng.choice([0.3, 1, 1])) if len(indices) < 20 else 0.04,
        scale=scale,
        offset=offset,
    )
    if n > 8 and len(indices) < 20 and rng.random() < 0.5:
        centers = random_rows(rng, 4, indices, scale=5 * scale)
        vectors = [
            {i: v + centers[r % 4][i] if centers[r % 4] else v for i, v in row.items()} for r, row in enumerate(vectors)
        ]
    for i in range(1, n, 5):
        kind = rng.random()
        if kind < 0.2:
            vectors[i] = {index: v * (1 + 10 ** rng.uniform(-15, -6)) for index, v in vectors[i - 1].items()}
        elif kind < 0.3:
            vectors[i] = {index: v * float(rng.choice([1e-12, 1e-3, 100])) for index, v in vectors[i].items()}
    return vectors


def random_case(rng, kernel):
    """A machine and rows."""
    n = (
        int(rng.integers(0, 8))
        if rng.random() < 0.2
        else int(rng.integers(8, 40))
        if rng.random() < 0.6
        else int(rng.integers(40, 150))
    )
    svm_type = str(rng.choice(["c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"], p=[0.6, 0.15, 0.1, 0.1, 0.05]))
    classes = 2 if n == 0 else int(rng.choice([2, 2, 2, 3, 4, 5, 10], p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.1, 0.05]))
    d = int(rng.integers(1, 7)) if rng.random() < 0.9 else 60  # sparse if 60
    indices = sorted(rng.choice(np.arange(0, 80), d, replace=False).tolist())
    scale = float(rng.choice([1e-3, 1, 1, 1, 1e3]))
    vectors = random_vectors(rng, n, indices, scale)
    unit = scale * scale * d if kernel != "exponential" else scale * sqrt(d)
    gamma = float(rng.choice([0.0, 1e-12, 1e-6, 1e6]) if rng.random() < 0.12 else 10 ** rng.uniform(-3, 2)) / unit
    parameters = {"gamma": gamma}
    if kernel == "polynomial":
        parameters |= {
            "gamma": min(gamma, 10 / unit),
            "coef0": float(rng.choice([0, 0.3, 1, 10])),
            "degree": int(rng.integers(0, 6)),
        }
    elif kernel == "normalized_polynomial":
        parameters |= {
            "gamma": min(gamma, 10 / unit),
            "coef0": float(rng.choice([0.01, 0.3, 1, 10])),
            "degree": int(rng.integers(1, 6)),
        }
    machine = random_machine(rng, svm_type, kernel, vectors, nr_class=classes, **parameters)
    if (
        rng.random() < 0.5
    ):  # the first class of a pair has positive coefficients, the second negative ones, as in trained models
        of = np.repeat(np.arange(machine.nr_class), machine.nr_sv) if machine.classification else np.arange(n) % 2
        for column in range(machine.coef.shape[1]):
            machine.coef[:, column] = np.abs(machine.coef[:, column]) * np.where(of <= column, 1, -1)
    machine.coef *= 10.0 ** rng.choice([-8, 0, 0, 0, 3, 10])
    kind = rng.random()
    if kind < 0.25:  # opposed duplicates: sums of large terms that cancel
        for i in range(1, n, 2):
            machine.vectors[i], machine.coef[i] = (
                dict(machine.vectors[i - 1]),
                -machine.coef[i - 1] * (1 + rng.choice([0, 0, 1e-12, 1e-3])),
            )
    if kind < 0.5:
        machine.rho = [0.0] * len(machine.rho)
    elif kind < 0.6:
        machine.rho = (np.array(machine.rho) * float(np.abs(machine.coef).sum())).tolist()
    rows = random_rows(rng, 4, [*indices, UNKNOWN], scale=scale * float(rng.choice([0.1, 1, 5])))
    rows += [dict(vectors[i]) for i in rng.integers(0, n, 3)] if n else []
    rows += (
        [
            {
                index: v + scale * 10 ** rng.uniform(-9, -1) * float(rng.standard_normal())
                for index, v in vectors[i].items()
            }
            for i in rng.integers(0, n, 2)
        ]
        if n
        else []
    )
    rows += [{}, {UNKNOWN: scale}, {**(vectors[0] if n else {}), UNKNOWN: scale * 10 ** rng.uniform(-9, 2)}]
    if rng.random() < 0.1:
        rows += [{1: float(rng.choice([1e20, 1e100, HUGE]))}]
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


def uncovered(value, radius, *truths):
    """Where one of the truths is beyond the radius; a NaN error is not covered."""
    with np.errstate(all="ignore"):
        error = np.max([np.abs(value - truth) for truth in truths], axis=0)
    return hostile.uncovered(error, radius)


def after(model, chunk, points):
    """Values and radii after this number of points, decided or not: (rows, pairs) each."""
    out = _native.Decisions(model.pairs, True)
    model.decide(chunk, NEVER, 0.0, points, out)
    return np.array(out.value), np.array(out.radius)


def decided(model, chunk, tolerance, task=None):
    out = _native.Decisions(model.pairs, True)
    left = decide(model, chunk, out, tolerance, task)
    return np.array(out.value), np.array(out.radius), left, out.kernel_evaluations


def truths(machine, rows, folder):
    with np.errstate(all="ignore"):
        return oracles.decision_values(machine, rows), Libsvm(machine, folder).values(rows)


# ---- for the command

METHODS = tuple(COMPILERS)
SCRIPT = SCRIPTS / "precompute_kernel.py"
JOBS = {
    "rings": ("rings.train", "rings.test", "-g 0.5 -c 10 -b 1"),
    "colors": ("colors.train", "colors.test", "-g 0.05 -b 1"),
    "rings-one-class": ("rings.train", "rings.test", "-s 2 -n 0.3 -g 0.5"),
    "rings-polynomial": ("rings.train", "rings.test", "-t 1 -d 3 -g 0.3 -r 1"),
    "colors-linear": ("colors.train", "colors.test", "-t 0 -c 0.1"),
    "waves": ("waves.train", "waves.train", "-s 3 -g 1 -p 0.02 -b 1"),
}


def order_file(model, method, path):
    fingerprint = hashlib.sha256(model.read_bytes()).hexdigest()[:32]
    path.write_bytes(COMPILERS[method](load_model(str(model)), fingerprint=fingerprint).to_text())


def cut_model(path, kernel_lines, svm_type="c_svc", total=3):
    classes = "label 1 -1\nnr_sv 2 1\n" if svm_type == "c_svc" else ""
    rows = ["0.5 1:1 2:0.5", "0.25 2:1", "-0.75 1:-1"][:total]
    path.write_text(
        f"svm_type {svm_type}\n{kernel_lines}nr_class 2\ntotal_sv {total}\nrho 0.1\n{classes}SV\n"
        + "".join(row + "\n" for row in rows)
    )
    return path


RBF, LINEAR_KERNEL = "kernel_type rbf\ngamma 0.5\n", "kernel_type linear\n"


def head(data_file, count, to, first=0):
    to.write_text("".join((DATA / data_file).read_text().splitlines(keepends=True)[first : first + count]))
    return to
