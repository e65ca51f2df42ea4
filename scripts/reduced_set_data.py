"""Data sets, models and measurements of reproduce_reduced_set.py."""

import contextlib
import io
import pathlib
import tempfile

import numpy as np
from libsvm_training import svm_save_model, svm_train

from fastsvm_cli import read_chunks
from fastsvm_cli.methods.feature_space import FeatureSpace, matrix
from fastsvm_cli.methods.reduce.placement import Fit, Problem, gaussian
from fastsvm_cli.methods.reduce.reduction import merge_duplicates
from fastsvm_cli.models import load_model

LARGE = ("mnist", "connect-4", "mnist1")
MOST_ROWS = 10_000  # to train on, and to test on


def train(rows, labels, gamma, cost):
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model")
        features = [{i + 1: float(v) for i, v in enumerate(row) if v} for row in rows]
        svm_save_model(path, svm_train(labels.tolist(), features, f"-q -g {gamma} -c {cost}"))
        return load_model(path)


def read(path):
    chunks = list(read_chunks(str(path)))
    columns = np.unique(np.concatenate([np.asarray(c.indices) for c in chunks]))
    x = np.vstack([matrix(c, columns)[0].toarray() for c in chunks])
    return x, np.concatenate([np.asarray(c.leading)[:, 0] for c in chunks]), columns


class Test:
    """x: (rows, their columns). trained: (x, y) of the training rows. Vectors are relative to problem.origin,
    coefficients in problem.unit."""

    def __init__(self, model, x, y, trained=None):
        self.model, self.y = model, y
        self.problem = Problem(FeatureSpace(merge_duplicates(model)[0]))
        self.rows = self._of(*x)
        self.exact = self.decision_values(*self.rows)
        self.at_vectors = FeatureSpace(model).at_support_vectors[0][:, 0]
        self.trained = (self._of(*trained[0]), trained[1]) if trained else None

    def _of(self, x, columns):
        """Return (x at the model's columns, relative to the origin; each row's kernel factor of other features)."""
        own = np.isin(columns, self.problem.columns)
        beyond = np.exp(-self.problem.gamma * (x[:, ~own] ** 2).sum(axis=1))
        return x[:, own] - (0.0 if self.problem.origin is None else self.problem.origin), beyond

    def _kernel_sum(self, x, beyond, z, a):
        return beyond * gaussian(z, self.problem.gamma).times(x, self.problem.unit * a)[:, 0]

    def decision_values(self, x, beyond=1.0):
        part = self.problem.parts[0]
        return self._kernel_sum(x, beyond, part.x, part.a) - self.model.header.rho[0]

    def see(self, z):
        """Return (rho^2 / |Psi|^2, share of labels that differ, accuracy, accuracy on the training rows or NaN)."""
        fit = Fit(self.problem, [z])
        f = self.reduced(z, fit.beta[0])
        trained = self.right(f(*self.trained[0]), self.trained[1]) if self.trained else np.nan
        f = f(*self.rows)
        differ = float(np.mean((f > 0) != (self.exact > 0)))
        return fit.distance / self.problem.squared_norm.sum(), differ, self.right(f, self.y), trained

    def reduced(self, z, beta):
        """Return the reduced decision function, with the offset of eq. (9)."""
        vectors, columns = matrix(self.model.vectors)
        own = self._kernel_sum(*self._of(vectors.toarray(), columns), z, beta)
        offset = np.mean(self.at_vectors - own) - self.model.header.rho[0]
        return lambda x, beyond=1.0: self._kernel_sum(x, beyond, z, beta) + offset

    def right(self, f, y):
        first, second = self.model.header.label
        return float(np.mean(np.where(f > 0, first, second) == y))

    @property
    def accuracy(self):
        return self.right(self.exact, self.y)


def cross_validated(x, y, gammas, costs):
    features = [{i + 1: float(v) for i, v in enumerate(row) if v} for row in x]

    def accuracy(gamma, cost):
        with contextlib.redirect_stdout(io.StringIO()):
            return svm_train(y.tolist(), features, f"-q -v 5 -g {gamma} -c {cost}")

    return max((accuracy(g, c), -g, -c) for g in gammas for c in costs)


def halves(rng, x, y):
    order = rng.permutation(len(y))
    mine, rest = order[: len(y) // 2][:MOST_ROWS], order[len(y) // 2 :][:MOST_ROWS]
    return (x[mine], y[mine]), (x[rest], y[rest])


def trained_test(name, gamma, cost, mine, rest):
    columns = np.arange(1, mine[0].shape[1] + 1)
    model = train(*mine, gamma, cost)
    vectors = f"{model.header.total_sv} support vectors, {len(rest[1])} test rows"
    print(f"{name}: {len(mine[1])} rows, gamma {gamma}, C {cost}, {vectors}")
    return Test(model, (rest[0], columns), rest[1], ((mine[0], columns), mine[1]))


def banana(options, rng):
    x, y, _ = read(options.data / "banana_scale")
    order = rng.permutation(len(y))
    mine, rest = order[:400], order[400:]
    best, g, c = cross_validated(x[mine], y[mine], [0.25, 0.5, 1, 2, 4], [0.25, 0.5, 1, 2, 5, 10])
    name = f"banana, by cross-validation ({best:.1f} %)"
    return trained_test(name, -g, -c, (x[mine], y[mine]), (x[rest], y[rest]))


def spambase(options, rng):
    x, y, _ = read(options.data / "spambase_scale")
    x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9)
    return trained_test("spambase, zero mean and unit variance", 0.005, 10, *halves(rng, x, y))


def small_or_large_digit(y):
    return np.where(y < 5, 1.0, -1.0)


def optdigits(options, rng):
    x, y, _ = read(options.data / "optdigits_scale")
    return trained_test("optdigits, 0 to 4 against 5 to 9", 0.02, 10, *halves(rng, x, small_or_large_digit(y)))


def mnist(options, rng):
    whole = []
    for file in ("mnist.scale", "mnist.scale.t"):
        x, y, columns = read(options.data / file)
        some = rng.permutation(len(y))[:MOST_ROWS]
        wide = np.zeros((len(some), 784))
        wide[:, columns - 1] = x[some]
        whole.append((wide, small_or_large_digit(y[some])))
    return trained_test("MNIST, 0 to 4 against 5 to 9", 0.02, 10, *whole)


def connect_4(options, rng):
    """UCI's connect-4.data, without draws."""
    with open(options.data / "connect-4.data") as file:
        rows = [line.split(",") for line in file.read().split() if not line.endswith(",draw")]
    x = np.array([[{"x": 1.0, "o": -1.0, "b": 0.0}[square] for square in row[:-1]] for row in rows])
    y = np.array([1.0 if row[-1] == "win" else -1.0 for row in rows])
    return trained_test("connect-4", 0.2, 4.5, *halves(rng, x, y))


def mnist1(options, rng):
    model = load_model(str(options.models / "mnist1_g0.0001_c10.model"))
    x, y, columns = read(options.data / "mnist1.t")
    everywhere = np.union1d(columns, matrix(model.vectors)[1])
    wide = np.zeros((len(x), len(everywhere)))
    wide[:, np.searchsorted(everywhere, columns)] = x
    print(f"mnist1: gamma 0.0001, C 10, {model.header.total_sv} support vectors, {len(y)} test rows")
    return Test(model, (wide, everywhere), y)


# name: (function, numbers of vectors, files that DATA_DIR may lack)
SETS = {
    "banana": (banana, [5, 10, 20, 40], []),
    "spambase": (spambase, [10, 20, 40, 80], []),
    "mnist": (mnist, [25, 50, 100, 200], ["mnist.scale", "mnist.scale.t"]),
    "connect-4": (connect_4, [25, 50, 100, 200], ["connect-4.data"]),
    "optdigits": (optdigits, [10, 20, 40, 80], []),
    "mnist1": (mnist1, [5, 10, 20, 40], []),
}
