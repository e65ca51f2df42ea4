#!/usr/bin/env python3
"""Compare rows 51 to 54 of Table 4 of DeCoste (2002), kernel Fisher discriminants, with ours; measure `approx` and
`reduce` on models in which every row has a coefficient.

    scripts/reproduce_fisher.py DATA_DIR [--sonar FILE] [--seed S] [--svm-predict PATH]

Table 4: kernels and --sonar as in reproduce_geometry.py; regularisation is cross-validated. k: points until the label
is decided. |a+|, |a-|: numbers of positive and negative coefficients.

Machines: models by kernel_fisher.py, and an SVM, of the same rows, at most 4,000. `differ`: labels other than the
uncompiled model's. Exit code 1 if `fastsvm predict` and svm-predict differ. DATA_DIR holds sonar_scale, haberman_scale,
banana_scale, spambase_scale, a9a, a9a.t, ijcnn1, ijcnn1.t. Needs the test extras.
"""

import argparse
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # coefficients depend on the order of sums, hence reduced sets

import numpy as np
import svm_predict
from kernel_fisher import METHODS, fit, model_text, rbf_model_text
from libsvm_training import kernel_matrix, read_rows, say
from reproduce_geometry import PROBLEMS, first_decided, problem, scalings, summary
from tables import markdown

from fastsvm_cli import _native
from fastsvm_cli.methods.order.orders import compile_geometry, with_vectors
from fastsvm_cli.methods.training import libsvm_problem, train
from fastsvm_cli.models import parse_model

PAPER = {  # rows 51 to 54
    "sonar": ("97, 111", "88.6 / 93, 3..187", "2.3"),
    "haberman": ("149, 157", "4.8 / 4, 1..25", "63.8"),
}
RIDGES = [10.0**e for e in range(-6, 3)]
MACHINES = {  # training file: (test file, gamma, C and 1 / R of ls-svm, R of fisher)
    "banana_scale": (None, 10, 10, 1),
    "spambase_scale": (None, 0.1, 10, 1),
    "a9a": ("a9a.t", 0.01, 1, 1),
    "ijcnn1": ("ijcnn1.t", 0.05, 100, 0.01),
}
MOST, FOLDS = 4000, 5
FASTSVM = os.path.join(os.path.dirname(sys.executable), "fastsvm")


# ---- rows 51 to 54


def best_ridge(gram, y, seed):
    folds = np.random.default_rng(seed).permutation(len(y)) % FOLDS

    def right(ridge):
        count = 0
        for fold in range(FOLDS):
            mine, rest = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            a, b = fit(gram[np.ix_(mine, mine)], y[mine], "fisher", ridge)
            count += int(((gram[np.ix_(rest, mine)] @ a + b > 0) == (y[rest] > 0)).sum())
        return count

    return max(RIDGES, key=right)


def fisher_of(of, seed):
    gram = kernel_matrix(of.kernel, of.x, of.x)
    ridge = best_ridge(gram, of.y, seed)
    a, b = fit(gram, of.y, "fisher", ridge)
    serials = [b"0:%d" % serial for serial in range(1, len(of.y) + 1)]
    text = model_text(of.y, (1, -1), a, b, "kernel_type precomputed\n", serials)
    return with_vectors(parse_model(text, "fisher"), [of.rows], "training rows", of.kernel), a, ridge


def table_4(options):
    rows = []
    for name in PROBLEMS:
        for scaling in scalings(options, name):
            say(f"{name} {scaling}")
            of = problem(options, name, scaling)
            model, a, ridge = fisher_of(of, options.seed)
            for sequence in ("greedy", "sgma"):
                ordered = compile_geometry(
                    model, fingerprint="-", sequence=sequence, points=len(a), folded=of.folded, seed=options.seed
                )
                k = first_decided(ordered, of.rows)
                k[k == 0] = len(a)
                signs = f"{(a > 0).sum()}, {(a < 0).sum()}"
                rows.append([name, scaling, f"{ridge:g}", signs, sequence, summary(k), f"{len(a) / k.mean():.1f}"])
        signs, k, gain = PAPER[name]
        rows.append([name, "the paper", "-", signs, "sgma", k, gain])
    head = ["data", "features", "R", "|a+|, |a-|", "sequence", "k: mean / median, min..max", "rows / mean k"]
    print("Table 4, rows 51 to 54: kernel Fisher discriminants, training rows, with folded vectors\n")
    print(f"{markdown(head, rows)}\n")


# ---- machines


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def lines(path):
    with open(path) as file:
        return file.read().split()


def split(options, name):
    rng, rest = np.random.default_rng(options.seed), MACHINES[name][0]
    rows = read_rows(os.path.join(options.data_dir, name))
    order = rng.permutation(rows.rows)
    mine = order[: MOST if rest else min(MOST, rows.rows // 2)]
    if rest:
        test = read_rows(os.path.join(options.data_dir, rest))
    else:
        test = rows.select(np.sort(order[rows.rows // 2 :]).tolist())
    return rows.select(np.sort(mine).tolist()), test


def machines(options, builds):
    rows, same = [], True
    for name, (_, gamma, cost, ridge) in MACHINES.items():
        say(name)
        mine, test = split(options, name)
        with tempfile.TemporaryDirectory() as folder:
            paths = {method: os.path.join(folder, method) for method in ("test", "svm", *METHODS)}
            with open(paths["test"], "wb") as file:
                file.write(_native.format_rows(test))
            train(*libsvm_problem([mine]), f"-m 1000 -g {gamma} -c {cost}", paths["svm"])
            for method in METHODS:
                with open(paths[method], "wb") as file:
                    file.write(rbf_model_text(mine, gamma, method, 1 / cost if method == "ls-svm" else ridge))
            for method in ("svm", *METHODS):
                found, labels = measure(builds[0], paths["test"], paths[method], folder)
                same &= labels
                rows.append([name, method, *found, labels])
    head = ["data", "machine", "vectors", "accuracy %", "approx: differ %", "times as small", "reduce to", "differ %"]
    print("Machines: what `approx` (degree 2) and `reduce --ratio 0.02` make of them\n")
    print(markdown([*head, "accuracy %", "labels as svm-predict's"], rows))
    return same


def measure(build, test, model, folder):
    """Return (cells, whether the labels are svm-predict's)."""
    out, theirs, compiled, reduced = (os.path.join(folder, name) for name in ("out", "theirs", "compiled", "reduced"))
    with open(test) as file:
        truth = [float(line.split(None, 1)[0]) for line in file]

    def labels(path):
        run(FASTSVM, "predict", "-q", test, path, out)
        return lines(out)

    def differ(some):
        return f"{100 * np.mean([a != b for a, b in zip(some, exact, strict=True)]):.2g}"

    def accuracy(some):
        return f"{100 * np.mean([float(a) == y for a, y in zip(some, truth)]):.2f}"

    exact = labels(model)
    run(build.path, test, model, theirs)
    run(FASTSVM, "approx", "-q", model, compiled)
    run(FASTSVM, "reduce", "-q", "--ratio", "0.02", model, reduced)
    few = labels(reduced)
    count = {
        path: next(line.split()[1] for line in open(path) if line.startswith("total_sv")) for path in (model, reduced)
    }
    size = os.path.getsize(model) / os.path.getsize(compiled)
    cells = [count[model], accuracy(exact), differ(labels(compiled)), f"{size:.3g}", count[reduced], differ(few)]
    return [*cells, accuracy(few)], exact == lines(theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir")
    parser.add_argument("--sonar", metavar="FILE")
    parser.add_argument("--seed", type=int, default=0)
    svm_predict.add_option(parser)
    options = parser.parse_args()
    builds = svm_predict.chosen(options)
    _native.set_threads(1)
    table_4(options)
    sys.exit(not machines(options, builds))


if __name__ == "__main__":
    main()
