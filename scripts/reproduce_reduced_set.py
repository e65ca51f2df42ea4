#!/usr/bin/env python3
"""The experiments of Suttorp and Igel (2007), figures 2 to 5, and rivals, beside `fastsvm reduce`.

    scripts/reproduce_reduced_set.py figures DATA_DIR MODEL_DIR [--trials 25] [--plot FOLDER]    banana, spambase, mnist1
    scripts/reproduce_reduced_set.py rivals DATA_DIR MODEL_DIR                                     k-means centres, dlib's reduced2
    scripts/reproduce_reduced_set.py table DATA_DIR MODEL_DIR                                      size, disagreement, stock svm-predict

DATA_DIR holds banana_scale, spambase_scale, mnist1.t, a9a.t, ...; MODEL_DIR the models that their names say. Needs svm-predict on PATH for `table`, matplotlib for --plot.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as `fastsvm reduce`: the order of its sums depends on it

import numpy as np

from fastsvm_cli import _native, read_chunks
from fastsvm_cli.compilers.duplicates import merge_duplicates
from fastsvm_cli.compilers.functions import inner_products, matrix
from fastsvm_cli.compilers.placement import gaussian
from fastsvm_cli.compilers.reduced_set import Fit, Problem, finish, kernel_times, place, shares
from fastsvm_cli.models import load_model


def train(rows, labels, gamma, cost):
    """An exact model of dense rows, by LIBSVM."""
    from libsvm.svmutil import svm_save_model, svm_train

    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model")
        features = [{i + 1: float(v) for i, v in enumerate(row) if v} for row in rows]
        svm_save_model(path, svm_train(labels.tolist(), features, f"-q -g {gamma} -c {cost}"))
        return load_model(path)


def read(path):
    chunks = list(read_chunks(str(path)))
    columns = np.unique(np.concatenate([np.asarray(c.indices) for c in chunks]))
    x = np.vstack([matrix(c, columns)[0].toarray() for c in chunks])
    return x, np.concatenate([np.asarray(c.labels)[:, 0] for c in chunks]), columns


class Test:
    """Rows to compare labels on: a two-class model's and a reduced set's."""

    def __init__(self, model, x, y):
        self.model, self.y = model, y
        self.problem = Problem(merge_duplicates(model)[0])
        columns = self.problem.columns
        self.x = x[0][:, np.searchsorted(x[1], columns)] if len(columns) else x[0]
        self.norms = np.einsum("ij,ij->i", x[0], x[0])
        part = self.problem.parts[0]
        self.exact = kernel_times(self.x, self.norms, part.x, part.norms, part.a, self.problem.gamma)[:, 0] - model.header.rho[0]
        self.at_vectors = inner_products(model, model.vectors)[0][:, 0]

    def see(self, z, beta=None):
        """(rho^2 / |Psi|^2, share of labels that differ, accuracy)"""
        problem = self.problem
        fit = Fit(problem, [z])
        beta = problem.unit * (fit.beta[0] if beta is None else beta)
        z = z if problem.origin is None else z + problem.origin
        norms = np.einsum("ij,ij->i", z, z)
        whole, _ = matrix(self.model.vectors, problem.columns)
        whole = whole.toarray()
        own = kernel_times(whole, np.einsum("ij,ij->i", whole, whole), z, norms, beta, problem.gamma)[:, 0]
        offset = np.mean(self.at_vectors - own) - self.model.header.rho[0]
        f = kernel_times(self.x, self.norms, z, norms, beta, problem.gamma)[:, 0] + offset
        first, second = self.model.header.label
        label = np.where(f > 0, first, second)
        return fit.distance / problem.squared_norm.sum(), float(np.mean((f > 0) != (self.exact > 0))), float(np.mean(label == self.y))

    @property
    def accuracy(self):
        first, second = self.model.header.label
        return float(np.mean(np.where(self.exact > 0, first, second) == self.y))


def cross_validated(x, y, gammas, costs):
    from libsvm.svmutil import svm_train

    features = [{i + 1: float(v) for i, v in enumerate(row) if v} for row in x]
    import contextlib
    import io

    def accuracy(gamma, cost):
        with contextlib.redirect_stdout(io.StringIO()):
            return svm_train(y.tolist(), features, f"-q -v 5 -g {gamma} -c {cost}")

    return max(((accuracy(g, c), -g, -c) for g in gammas for c in costs))


def sets(data, models):
    """name, Test, numbers of vectors"""
    rng = np.random.default_rng(0)
    x, y, columns = read(data / "banana_scale")
    order = rng.permutation(len(y))
    mine, rest = order[:400], order[400:]
    best, g, c = cross_validated(x[mine], y[mine], [0.25, 0.5, 1, 2, 4], [0.25, 0.5, 1, 2, 5, 10])
    model = train(x[mine], y[mine], -g, -c)
    print(f"banana: 400 rows, gamma {-g}, C {-c} by cross-validation ({best:.1f} %), {model.header.total_sv} support vectors, {len(rest)} test rows")
    yield "banana", Test(model, (x[rest], columns), y[rest]), [5, 10, 20, 40]
    x, y, columns = read(data / "spambase_scale")
    x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9)
    order = rng.permutation(len(y))
    mine, rest = order[: len(y) // 2], order[len(y) // 2 :]
    model = train(x[mine], y[mine], 0.005, 10)
    print(f"spambase: {len(mine)} rows, zero mean and unit variance, gamma 0.005, C 10, {model.header.total_sv} support vectors, {len(rest)} test rows")
    yield "spambase", Test(model, (x[rest], np.arange(1, x.shape[1] + 1)), y[rest]), [10, 20, 40, 80]
    model = load_model(str(models / "mnist1_g0.0001_c10.model"))
    x, y, columns = read(data / "mnist1.t")
    everywhere = np.union1d(columns, matrix(model.vectors)[1])
    wide = np.zeros((len(x), len(everywhere)))
    wide[:, np.searchsorted(everywhere, columns)] = x
    print(f"mnist1: gamma 0.0001, C 10, {model.header.total_sv} support vectors, {len(y)} test rows")
    yield "mnist1", Test(model, (wide, everywhere), y), [5, 10, 20, 40]


def figures(options):
    for name, test, numbers in sets(options.data, options.models):
        if options.only and name != options.only:
            continue
        trials = options.trials if name != "mnist1" else max(1, options.trials // 5)
        print(f"{name}: accuracy of the exact model {100 * test.accuracy:.2f} %; {trials} trials; median (10 %, 90 %)")
        print(f"{'vectors':>8} {'method':<22} {'reached':>8} {'distance':>30} {'accuracy %':>26} {'differ %':>9}")
        drawn = {}
        for count in numbers:
            for method, init, optimizer, finishing in (
                ("fixed-point", "random", "fixed-point", False), ("irprop", "random", "irprop", False), ("irprop, finished", "random", "irprop", True), ("greedy, finished", "greedy", "none", True),
            ):  # fmt: skip
                seen, reached = [], []
                for seed in range(trials if init != "greedy" else 1):
                    rows = shares(test.problem, count)
                    z, _ = place(test.problem, 0, count, init=init, optimizer=optimizer, greedy=rows[0], rng=np.random.default_rng(seed))
                    reached.append(len(z))
                    if finishing and len(z):
                        z = finish(test.problem, [z])[0]
                    if len(z) == count:
                        seen.append(test.see(z))
                whole = f"{sum(r == count for r in reached)}/{len(reached)}"
                if not seen:
                    print(f"{count:>8} {method:<22} {whole:>8}   stalled at {statistics.median(reached):g} vectors")
                    continue
                low, middle, high = (np.quantile(np.array(seen), q, axis=0) for q in (0.1, 0.5, 0.9))
                drawn.setdefault(method, []).append((count, low, middle, high))
                print(f"{count:>8} {method:<22} {whole:>8} {middle[0]:>10.3g} ({low[0]:.3g}, {high[0]:.3g}) {100 * middle[2]:>12.2f} ({100 * low[2]:.2f}, {100 * high[2]:.2f}) {100 * middle[1]:>8.2f}", flush=True)
        if options.plot:
            plot(options.plot, name, test, drawn)


def plot(folder, name, test, drawn):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
    for method, points in drawn.items():
        counts = [p[0] for p in points]
        for axis, at, scale in ((left, 0, 1), (right, 2, 100)):
            low, middle, high = ([scale * p[i][at] for p in points] for i in (1, 2, 3))
            axis.errorbar(counts, middle, [np.subtract(middle, low), np.subtract(high, middle)], marker="o", capsize=3, label=method)
    left.set(xlabel="approximating vectors", ylabel="squared distance / |Psi|^2", yscale="log", title=f"{name}: {test.model.header.total_sv} support vectors")
    right.axhline(100 * test.accuracy, color="black", linewidth=1, linestyle="--", label="exact model")
    right.set(xlabel="approximating vectors", ylabel="accuracy on test data, %")
    right.legend()
    figure.tight_layout()
    path = pathlib.Path(folder) / f"reduced_set_{name}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"wrote {path}")


def k_means(problem, count, seed=0):
    """k-means centres; the coefficients are solved anew by Fit."""
    from scipy.cluster.vq import kmeans2

    part = problem.parts[0]
    return kmeans2(part.x, count, iter=30, minit="++", seed=seed)[0]


def dlib_reduced2(problem, count, seed=0):
    """dlib's reduced_decision_function_trainer2, by its published algorithm: a linearly independent subset (the row farthest from the span of those kept takes
    the place of the one nearest to the span of the others), coefficients by projection, then L-BFGS on all vectors and coefficients together (eqs. 7, 8)."""
    from scipy.optimize import minimize

    part = problem.parts[0]
    rng = np.random.default_rng(seed)
    kept = []
    for row in rng.permutation(len(part))[: max(4000, 10 * count)]:  # its default looks at the rows in random order
        if len(kept) < count:
            kept.append(int(row))
            if len(kept) == count:
                k = gaussian(part.x[kept], part.norms[kept], part.x[kept], problem.gamma)
                inverse = np.linalg.inv(k + 1e-10 * np.eye(count))
            continue
        near = gaussian(part.x[kept], part.norms[kept], part.x[row][None], problem.gamma)[0]
        delta = 1 - near @ inverse @ near
        weakest = int(np.argmax(np.diag(inverse)))  # its distance from the span of the others is 1 / inverse_ii
        if delta > 1 / inverse[weakest, weakest]:
            kept[weakest] = int(row)
            k = gaussian(part.x[kept], part.norms[kept], part.x[kept], problem.gamma)
            inverse = np.linalg.inv(k + 1e-10 * np.eye(count))
    z = part.x[kept].copy()
    beta = Fit(problem, [z]).beta[0][:, 0]
    scale = problem.squared_norm.sum()
    n, d = z.shape

    def objective(flat):
        z, beta = flat[: n * d].reshape(n, d), flat[n * d :]
        kzx = gaussian(part.x, part.norms, z, problem.gamma)
        kzz = gaussian(z, np.einsum("ij,ij->i", z, z), z, problem.gamma)
        b, kb = kzx @ part.a[:, 0], kzz @ beta
        w, v = kzx * np.outer(beta, part.a[:, 0]), kzz * np.outer(beta, beta)
        gradient = 4 * problem.gamma * (v @ z - w @ part.x + (w.sum(axis=1) - v.sum(axis=1))[:, None] * z)
        return (scale - 2 * beta @ b + beta @ kb) / scale, np.concatenate([gradient.ravel(), 2 * (kb - b)]) / scale

    done = minimize(objective, np.concatenate([z.ravel(), beta]), jac=True, method="L-BFGS-B", options={"maxiter": 100, "ftol": 1e-7, "gtol": 1e-12})
    return done.x[: n * d].reshape(n, d)


def rivals(options):
    print(f"{'model':<12} {'vectors':>8} {'method':<24} {'distance':>10} {'seconds':>8}")
    for name, file, numbers in (("a9a", "a9a_g0.01_c1", (30, 100)), ("a9a, g 0.1", "a9a_g0.1_c1", (100,)), ("ijcnn1", "ijcnn1_g0.05_c1", (30, 89)), ("u20", "u20_g0.1_c1", (100,))):
        problem = Problem(merge_duplicates(load_model(str(options.models / f"{file}.model")))[0])
        for count in numbers:
            greedy = lambda: problem.parts[0].x[shares(problem, count)[0]]
            for method, make in (
                ("k-means, re-solved", lambda: k_means(problem, count)), ("dlib reduced2", lambda: dlib_reduced2(problem, count)), ("greedy selection", greedy),
                ("fastsvm reduce", lambda: finish(problem, [greedy()])[0]),
            ):  # fmt: skip
                start = time.perf_counter()
                z = make()
                seconds = time.perf_counter() - start
                print(f"{name:<12} {count:>8} {method:<24} {Fit(problem, [z]).distance / problem.squared_norm.sum():>10.4g} {seconds:>8.1f}", flush=True)


def median_seconds(command, repeat=3):
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def table(options):
    fastsvm = str(pathlib.Path(sys.executable).parent / "fastsvm")
    print(f"{'model':<12} {'vectors':>8} {'ratio':>6} {'differ or rms':>14} {'accuracy':>34} {'reduce s':>9} {'svm-predict':>12}")
    for name, data, model, ratios in (
        ("a9a", "a9a.t", "a9a_g0.01_c1.model", (0.0025, 0.005, 0.01, 0.02)), ("a9a, g 0.1", "a9a.t", "a9a_g0.1_c1.model", (0.01, 0.02, 0.04)), ("ijcnn1", "ijcnn1.t", "ijcnn1_g0.05_c1.model", (0.0025, 0.005, 0.01)),
        ("u20", "u20.t", "u20_g0.1_c1.model", (0.005, 0.01, 0.02)), ("letter", "letter.scale.t", "letter", (0.05, 0.1, 0.25)), ("abalone", "abalone_scale", "abalone", (0.01, 0.05, 0.1)),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            rows = str(options.data / data)
            if model.endswith(".model"):
                model = str(options.models / model)
            else:
                from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

                arguments = "-q -g 0.03 -c 10" if model == "letter" else "-q -s 3"
                source = options.data / ("letter.scale" if model == "letter" else "abalone_scale")
                model = f"{folder}/model"
                svm_save_model(model, svm_train(*svm_read_problem(str(source)), arguments))
            whole = median_seconds(["svm-predict", rows, model, f"{folder}/out"], 1)
            for ratio in ratios:
                start = time.perf_counter()
                said = subprocess.run([fastsvm, "reduce", "--ratio", str(ratio), "--data", rows, model, f"{folder}/reduced"], check=True, capture_output=True, text=True).stdout.splitlines()
                seconds = time.perf_counter() - start
                vectors = said[0].split("-> ")[1].split()[0]
                differ = said[3].split("(")[1].rstrip(")") if "(" in said[3] else said[3].split(": ")[1]
                score = said[4].split(";")[0].split(" = ")[1].split(" (class")[0]
                faster = whole / median_seconds(["svm-predict", rows, f"{folder}/reduced", f"{folder}/out"])
                print(f"{name:<12} {vectors:>8} {ratio:>6} {differ:>14} {score:>34} {seconds:>9.1f} {faster:>11.1f}x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["figures", "rivals", "table"])
    parser.add_argument("data", type=pathlib.Path, metavar="DATA_DIR")
    parser.add_argument("models", type=pathlib.Path, metavar="MODEL_DIR")
    parser.add_argument("--trials", type=int, default=25)
    parser.add_argument("--only", choices=["banana", "spambase", "mnist1"])
    parser.add_argument("--plot", metavar="FOLDER")
    options = parser.parse_args()
    _native.set_threads(0)
    {"figures": figures, "rivals": rivals, "table": table}[options.what](options)


if __name__ == "__main__":
    main()
