#!/usr/bin/env python3
"""Run the experiments of Suttorp and Igel (2007), figures 1 to 5, and rivals, with `fastsvm reduce`.

    scripts/reproduce_reduced_set.py figures DATA_DIR MODEL_DIR [--only NAME] [--trials 25] [--plot FOLDER]
    scripts/reproduce_reduced_set.py rivals DATA_DIR MODEL_DIR                        k-means centres, dlib's reduced2
    scripts/reproduce_reduced_set.py table DATA_DIR MODEL_DIR [--svm-predict PATH]    size, disagreement, svm-predict
    scripts/reproduce_reduced_set.py starts DATA_DIR MODEL_DIR                        where fixed-point iteration rests

DATA_DIR holds banana_scale, spambase_scale, optdigits_scale, mnist1.t; for `table` a9a.t, ijcnn1.t, u20.t,
letter.scale, letter.scale.t, abalone_scale; optionally mnist.scale, mnist.scale.t, UCI's connect-4.data. MODEL_DIR
holds the models mnist1_g0.0001_c10, a9a_g0.01_c1, a9a_g0.1_c1, ijcnn1_g0.05_c1, u20_g0.1_c1.

mnist and optdigits are the digits 0 to 4 against 5 to 9. Needs svm-predict for `table`, matplotlib for --plot.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in `fastsvm reduce`: the order of sums depends on it

import numpy as np
import svm_predict
from libsvm_training import svm_read_problem, svm_save_model, svm_train
from reduced_set_data import LARGE, SETS, read, train

from fastsvm_cli import _native
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.methods.reduce.placement import (
    Fit,
    Problem,
    Residual,
    finish,
    fixed_point,
    gaussian,
    initial_order,
    shares,
)
from fastsvm_cli.methods.reduce.reduction import merge_duplicates, place
from fastsvm_cli.models import load_model


def figures(options):
    for name, (make, numbers, files) in SETS.items():
        if options.only not in (None, name):
            continue
        missing = [file for file in files if not (options.data / file).exists()]
        if missing:
            print(f"{name}: left out, {missing[0]} is not among the data")
            continue
        test = make(options, np.random.default_rng(0))
        trials = options.trials if name not in LARGE else max(1, options.trials // 5)
        print(f"{name}: accuracy of the exact model {100 * test.accuracy:.2f} %; {trials} trials; median (10 %, 90 %)")
        print(f"{'vectors':>8} {'method':<22} {'reached':>8} {'distance':>30} {'accuracy %':>26} {'differ %':>9}")
        drawn, clouds = {}, {}
        for count in numbers:
            for method, init, optimizer, finishing in (
                ("fixed-point", "random", "fixed-point", False),
                ("irprop", "random", "irprop", False),
                ("irprop, finished", "random", "irprop", True),
                ("greedy, finished", "greedy", "none", True),
            ):
                seen, reached = [], []
                for seed in range(trials if init != "greedy" else 1):
                    rows = shares(test.problem, count)
                    z, _ = place(
                        test.problem,
                        0,
                        count,
                        init=init,
                        optimizer=optimizer,
                        greedy=rows[0],
                        rng=np.random.default_rng(seed),
                    )
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
                clouds.setdefault(method, []).extend(seen)
                drawn.setdefault(method, []).append((count, low, middle, high))
                print(
                    f"{count:>8} {method:<22} {whole:>8} {middle[0]:>10.3g} ({low[0]:.3g}, {high[0]:.3g})"
                    f" {100 * middle[2]:>12.2f} ({100 * low[2]:.2f}, {100 * high[2]:.2f}) {100 * middle[1]:>8.2f}",
                    flush=True,
                )
        if options.plot:
            plot(options.plot, name, test, drawn, clouds)
            if name == "banana":
                plot_decision_functions(options.plot, test)


def plot(folder, name, test, drawn, clouds):
    """Draw figures 2 to 5."""
    from paper_figures import panels, save, set_plain_ticks

    figure, (left, right, cloud) = panels(3)
    at, rows = (3, "training") if test.trained else (2, "test")
    for method, points in clouds.items():
        cloud.scatter([p[0] for p in points], [100 * p[at] for p in points], s=10, alpha=0.7, label=method)
    distance = "squared distance / |Psi|^2"
    cloud.set(xlabel=distance, ylabel=f"accuracy on {rows} data, %", xscale="log", title="every trial")
    for method, points in drawn.items():
        counts = [p[0] for p in points]
        for axis, at, scale in ((left, 0, 1), (right, 2, 100)):
            low, middle, high = ([scale * p[i][at] for p in points] for i in (1, 2, 3))
            axis.errorbar(
                counts,
                middle,
                [np.subtract(middle, low), np.subtract(high, middle)],
                marker="o",
                capsize=3,
                label=method,
            )
    left.set(
        xlabel="approximating vectors",
        ylabel="squared distance / |Psi|^2",
        yscale="log",
        title=f"{name}: {test.model.header.total_sv} support vectors",
    )
    right.axhline(100 * test.accuracy, color="black", linewidth=1, linestyle="--", label="exact model")
    right.set(xlabel="approximating vectors", ylabel="accuracy on test data, %")
    right.legend()
    set_plain_ticks(left.yaxis, *left.get_ylim())
    set_plain_ticks(cloud.xaxis, *cloud.get_xlim())
    save(figure, folder, f"reduced_set_{name}.svg")


def plot_decision_functions(folder, test):
    """Draw figure 1."""
    from paper_figures import RED, panels, save

    problem, ((x, _), y) = test.problem, test.trained
    part, rng = problem.parts[0], np.random.default_rng(0)
    z, _ = place(problem, 0, 25, init="random", optimizer="irprop", greedy=shares(problem, 25)[0], rng=rng)
    z = finish(problem, [z])[0]

    figure, axes = panels(2, 4.6, sharex=True, sharey=True)
    points = np.vstack([x, z])
    sides = [np.linspace(points[:, j].min() - 0.1, points[:, j].max() + 0.1, 200) for j in range(2)]
    edges = [each[end] for each in sides for end in (0, -1)]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    functions = [
        (test.decision_values, part.x, "support vectors"),
        (test.reduced(z, Fit(problem, [z]).beta[0]), z, "approximating vectors"),
    ]
    for axis, (f, vectors, name) in zip(axes, functions):
        values = f(grid).reshape(200, 200)
        most = np.abs(values).max()
        axis.imshow(
            values,
            "gray",
            aspect="auto",
            origin="lower",
            extent=edges,
            interpolation="none",
            alpha=0.6,
            vmin=-most,
            vmax=most,
        )
        axis.contour(*sides, values, levels=[0], colors="black", linewidths=1)
        for positive, color in ((True, "white"), (False, "black")):
            of = (y == test.model.header.label[0]) == positive
            axis.scatter(*x[of].T, s=6, color=color, edgecolors="0.4", linewidths=0.3)
        axis.scatter(*vectors.T, s=45, facecolors="none", edgecolors=RED, linewidths=1.2)
        axis.set(title=f"{len(vectors)} {name}", xlim=edges[:2], ylim=edges[2:])
    save(figure, folder, "reduced_set_banana_functions.svg")


def starts(options):
    kinds, count = ("random", "alpha", "cluster", "greedy"), 15
    print("starts of fixed-point iteration that come to rest, banana, 400 rows, C 1")
    print("".join(f"{head:>16}" for head in ("gamma", "support vectors", *kinds)))
    x, y, _ = read(options.data / "banana_scale")
    rows = np.random.default_rng(0).permutation(len(y))[:400]
    for gamma in (0.25, 0.5, 1, 2, 4, 10):
        model = train(x[rows], y[rows], gamma, 1)
        problem = Problem(FeatureSpace(merge_duplicates(model)[0]))
        part, rests = problem.parts[0], []
        for kind in kinds:
            rng = np.random.default_rng(1)
            of_kind = (
                initial_order(kind, part.x, part.a, gamma, count, rng)
                if kind != "greedy"
                else shares(problem, count)[0]
            )
            rests.append(sum(fixed_point(Residual(part.x, part.a, gamma), part.x[row])[1] for row in of_kind))
        cells = (gamma, model.header.total_sv, *(f"{rest} of {count}" for rest in rests))
        print("".join(f"{cell:>16}" for cell in cells), flush=True)


def k_means(problem, count, seed=0):
    from scipy.cluster.vq import kmeans2

    part = problem.parts[0]
    return kmeans2(part.x, count, iter=30, minit="++", seed=seed)[0]


def dlib_reduced2(problem, count, seed=0):
    """Run dlib's reduced_decision_function_trainer2: a linearly independent subset, then L-BFGS on vectors and
    coefficients (eqs. 7, 8)."""
    from scipy.optimize import minimize

    part = problem.parts[0]
    rng = np.random.default_rng(seed)
    taken_rows = []
    for row in rng.permutation(len(part))[: max(4000, 10 * count)]:  # dlib visits rows in random order
        if len(taken_rows) < count:
            taken_rows.append(int(row))
            if len(taken_rows) == count:
                k = gaussian(part.x[taken_rows], problem.gamma)(part.x[taken_rows])
                inverse = np.linalg.inv(k + 1e-10 * np.eye(count))
            continue
        near = gaussian(part.x[taken_rows], problem.gamma)(part.x[row][None])[0]
        delta = 1 - near @ inverse @ near
        weakest = int(np.argmax(np.diag(inverse)))  # its distance from the span of the others is 1 / inverse_ii
        if delta > 1 / inverse[weakest, weakest]:
            taken_rows[weakest] = int(row)
            k = gaussian(part.x[taken_rows], problem.gamma)(part.x[taken_rows])
            inverse = np.linalg.inv(k + 1e-10 * np.eye(count))
    z = part.x[taken_rows].copy()
    beta = Fit(problem, [z]).beta[0][:, 0]
    scale = problem.squared_norm.sum()
    n, d = z.shape

    def objective(flat):
        z, beta = flat[: n * d].reshape(n, d), flat[n * d :]
        kzx = part.kernel(z)
        kzz = gaussian(z, problem.gamma)(z)
        b, kb = kzx @ part.a[:, 0], kzz @ beta
        w, v = kzx * np.outer(beta, part.a[:, 0]), kzz * np.outer(beta, beta)
        gradient = 4 * problem.gamma * (v @ z - w @ part.x + (w.sum(axis=1) - v.sum(axis=1))[:, None] * z)
        return (scale - 2 * beta @ b + beta @ kb) / scale, np.concatenate([gradient.ravel(), 2 * (kb - b)]) / scale

    done = minimize(
        objective,
        np.concatenate([z.ravel(), beta]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 100, "ftol": 1e-7, "gtol": 1e-12},
    )
    return done.x[: n * d].reshape(n, d)


def rivals(options):
    print(f"{'model':<12} {'vectors':>8} {'method':<24} {'distance':>10} {'seconds':>8}")
    for name, file, numbers in (
        ("a9a", "a9a_g0.01_c1", (30, 100)),
        ("a9a, g 0.1", "a9a_g0.1_c1", (100,)),
        ("ijcnn1", "ijcnn1_g0.05_c1", (30, 89)),
        ("u20", "u20_g0.1_c1", (100,)),
    ):
        problem = Problem(FeatureSpace(merge_duplicates(load_model(str(options.models / f"{file}.model")))[0]))
        for count in numbers:

            def greedy():
                return problem.parts[0].x[shares(problem, count)[0]]

            for method, make in (
                ("k-means, re-solved", lambda: k_means(problem, count)),
                ("dlib reduced2", lambda: dlib_reduced2(problem, count)),
                ("greedy selection", greedy),
                ("fastsvm reduce", lambda: finish(problem, [greedy()])[0]),
            ):
                start = time.perf_counter()
                z = make()
                seconds = time.perf_counter() - start
                print(
                    f"{name:<12} {count:>8} {method:<24}"
                    f" {Fit(problem, [z]).distance / problem.squared_norm.sum():>10.4g} {seconds:>8.1f}",
                    flush=True,
                )


def median_seconds(command, repeat=3):
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def table(options):
    fastsvm = str(pathlib.Path(sys.executable).parent / "fastsvm")
    build = svm_predict.chosen(options)[0].path
    print(
        f"{'model':<12} {'vectors':>8} {'ratio':>6} {'differ or rms':>14} {'accuracy':>34} {'reduce s':>9}"
        f" {'svm-predict':>12}"
    )
    for name, data, model, ratios in (
        ("a9a", "a9a.t", "a9a_g0.01_c1.model", (0.0025, 0.005, 0.01, 0.02)),
        ("a9a, g 0.1", "a9a.t", "a9a_g0.1_c1.model", (0.01, 0.02, 0.04)),
        ("ijcnn1", "ijcnn1.t", "ijcnn1_g0.05_c1.model", (0.0025, 0.005, 0.01)),
        ("u20", "u20.t", "u20_g0.1_c1.model", (0.005, 0.01, 0.02)),
        ("letter", "letter.scale.t", "letter", (0.05, 0.1, 0.25)),
        ("abalone", "abalone_scale", "abalone", (0.01, 0.05, 0.1)),
    ):
        with tempfile.TemporaryDirectory() as folder:
            rows = str(options.data / data)
            if model.endswith(".model"):
                model = str(options.models / model)
            else:
                arguments = "-q -g 0.03 -c 10" if model == "letter" else "-q -s 3"
                source = options.data / ("letter.scale" if model == "letter" else "abalone_scale")
                model = f"{folder}/model"
                svm_save_model(model, svm_train(*svm_read_problem(str(source)), arguments))
            whole = median_seconds([build, rows, model, f"{folder}/out"], 1)
            for ratio in ratios:
                start = time.perf_counter()
                output = subprocess.run(
                    [fastsvm, "reduce", "--ratio", str(ratio), "--data", rows, model, f"{folder}/reduced"],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout.splitlines()
                seconds = time.perf_counter() - start
                vectors = output[0].split("-> ")[1].split()[0]
                differ = output[3].rpartition("(")[2].partition("%")[0] + "%"
                score = output[4].split(";")[0].split(" = ")[1].split(" (class")[0]
                faster = whole / median_seconds([build, rows, f"{folder}/reduced", f"{folder}/out"])
                print(
                    f"{name:<12} {vectors:>8} {ratio:>6} {differ:>14} {score:>34} {seconds:>9.1f} {faster:>11.1f}x",
                    flush=True,
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["figures", "rivals", "table", "starts"])
    parser.add_argument("data", type=pathlib.Path, metavar="DATA_DIR")
    parser.add_argument("models", type=pathlib.Path, metavar="MODEL_DIR")
    parser.add_argument("--trials", type=int, default=25)
    parser.add_argument("--only", choices=list(SETS))
    parser.add_argument("--plot", metavar="FOLDER")
    svm_predict.add_option(parser)
    options = parser.parse_args()
    _native.set_threads(0)
    {"figures": figures, "rivals": rivals, "table": table, "starts": starts}[options.what](options)


if __name__ == "__main__":
    main()
