#!/usr/bin/env python3
"""Compare compile(svc) with the fastest rival on generated models: times its speed, per shape and call.

  measure_rivals.py [options] PACKAGES

PACKAGES: virtual environment with the rivals, as in measure_sklearn.py. Rivals: scikit-learn, scikit-learn-intelex,
onnxruntime, and float32 numpy (a matrix product, exp, a matrix product), which is approximate. All have one thread and
the same model, which scikit-learn-intelex trains (without it, scikit-learn) on overlapping normal clusters, a class
each, so that most rows become vectors. A cell has times the speed of the fastest rival, per input, by medians of rounds
in which all programs take turns, and the rival's first letter (none: numpy; s also for sparse rows); in bold: below 1.
A row of a table has numbers of features and vectors. decision_function: rivals in double precision.
"""

import argparse
import copy
import itertools
import json
import pathlib
import statistics
import sys
import time
import warnings
from functools import partial

import numpy as np
import scipy.sparse
from measure_sklearn import by_onnx
from sklearn.svm import SVC
from tables import markdown
from threadpoolctl import threadpool_limits

import fastsvm_cli
from fastsvm_cli import _native

INPUTS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "CSR": scipy.sparse.csr_matrix,
}


def rows_of(centers, count, rng):
    """Rows, and their classes."""
    y = rng.integers(0, len(centers), count)
    return centers[y] + rng.normal(size=(count, centers.shape[1])), y


def trained(centers, vectors, rng):
    """An SVC, and scikit-learn-intelex's of the same numbers, or None."""
    classes, features = centers.shape
    X, y = rows_of(centers, vectors, rng)
    settings = {"C": 10.0, "gamma": 0.5 / features}
    try:
        import daal4py
        from sklearnex.svm import SVC as Theirs
    except ImportError:
        theirs, svc = None, SVC(**settings).fit(X, y)
    else:
        daal4py.daalinit(1)
        theirs, svc = Theirs(**settings).fit(X, y), SVC(**settings).fit(X[:50], np.arange(50) % classes)
        for name in ("support_vectors_", "dual_coef_", "_dual_coef_", "intercept_", "_intercept_"):
            setattr(svc, name, np.ascontiguousarray(getattr(theirs, name)))
        svc.support_, svc._n_support = (np.asarray(each, np.int32) for each in (theirs.support_, theirs.n_support_))
    pairs = classes * (classes - 1) // 2
    svc.probability = True
    svc._probA, svc._probB = np.full(pairs, -1.5), np.linspace(-0.1, 0.1, pairs)
    return svc, theirs


def of_sparse(svc):
    """The same SVC, as if it had been trained on sparse rows."""
    found = copy.copy(svc)
    found._sparse = True
    for name in ("support_vectors_", "dual_coef_", "_dual_coef_"):
        matrix = getattr(svc, name)  # with its zeros
        indices = np.tile(np.arange(matrix.shape[1], dtype=np.int32), len(matrix))
        starts = np.arange(0, matrix.size + 1, matrix.shape[1], dtype=np.int32)
        setattr(found, name, scipy.sparse.csr_matrix((matrix.ravel(), indices, starts), matrix.shape))
    return found


class Numpy:
    """Ten lines of float32 numpy."""

    def __init__(self, svc):
        self.vectors, self.gamma = svc.support_vectors_.astype(np.float32), np.float32(svc._gamma)
        self.squares = (self.vectors**2).sum(1)
        starts, classes = np.cumsum([0, *svc.n_support_]), len(svc.classes_)
        self.pairs = list(itertools.combinations(range(classes), 2))
        self.coef = np.zeros((len(self.vectors), len(self.pairs)), np.float32)
        for at, (i, j) in enumerate(self.pairs):
            for of, against in ((i, j - 1), (j, i)):
                some = slice(starts[of], starts[of + 1])
                self.coef[some, at] = svc._dual_coef_[against, some]
        self.offset, self.classes = svc._intercept_.astype(np.float32), svc.classes_

    def predict(self, X):
        X = np.asarray(X, dtype=np.float32)
        K = X @ self.vectors.T
        K *= 2 * self.gamma
        K -= self.gamma * (X**2).sum(1)[:, None]
        K -= self.gamma * self.squares
        np.exp(K, out=K)
        first = K @ self.coef + self.offset > 0
        if len(self.pairs) == 1:
            return self.classes[1 - first[:, 0]]
        votes = np.zeros((len(X), len(self.classes)), np.int32)
        for at, (i, j) in enumerate(self.pairs):
            votes[:, i] += first[:, at]
            votes[:, j] += ~first[:, at]
        return self.classes[votes.argmax(1)]


def medians(calls, options):
    """{name: seconds}, by rounds in which all take turns."""
    times = {name: [] for name in calls}
    counts = {}
    for name, call in calls.items():  # warms up
        start = time.perf_counter()
        call()
        counts[name] = max(1, int(options.seconds / options.rounds / max(time.perf_counter() - start, 1e-7)))
    for _ in range(options.rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name].append((time.perf_counter() - start) / counts[name])
    return {name: statistics.median(some) for name, some in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("--features", type=int, nargs="+", default=[16, 64, 123, 512, 780])
    parser.add_argument("--vectors", type=int, nargs="+", default=[300, 3000, 14000])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 10, 26])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 1000, 100000])
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS))
    parser.add_argument("--calls", nargs="+", default=["predict", "decision_function", "predict_proba"])
    parser.add_argument("--seconds", type=float, default=0.3, help="per program and cell")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=1e10, help="rows x vectors x features; larger cells are left out")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write seconds per call")
    options = parser.parse_args()
    options.threads = 1  # of by_onnx
    warnings.simplefilter("ignore", FutureWarning)
    sys.path += map(str, options.packages.glob("lib*/python*/site-packages"))
    with threadpool_limits(1):
        found, differing = measure(options)
    report(options, found, differing)


def measure(options):
    """{(call, input, features, vectors, classes, rows): {program: seconds}}, {program: labels that differ}."""
    rng = np.random.default_rng(0)
    found, differing = {}, {}
    for shape in itertools.product(options.features, options.vectors, options.classes):
        features, vectors, classes = shape
        centers = rng.normal(size=(classes, features)) / np.sqrt(features)
        svc, intelex = trained(centers, vectors, rng)
        programs = {"fastsvm": fastsvm_cli.compile(svc, n_threads=1), "numpy": Numpy(svc), "scikit-learn": svc}
        programs["sparse"] = of_sparse(svc)
        programs |= {"intelex": intelex} if intelex is not None else {}
        try:
            programs["onnx"] = by_onnx(options, svc, features)
        except (ImportError, RuntimeError) as error:
            print(f"{shape}: without onnxruntime: {error}", file=sys.stderr)
        for call, kind, rows in itertools.product(options.calls, options.inputs, options.rows):
            if rows * vectors * features > options.most:
                continue
            X = INPUTS[kind](rows_of(centers, rows, rng)[0])
            able = ["fastsvm", "sparse"] if kind == "CSR" else ["fastsvm", "scikit-learn", "numpy", "intelex", "onnx"]
            calls = {
                name: partial(getattr(programs[name], call), X)
                for name in able
                if name in programs
                and hasattr(programs[name], call)
                and (name != "intelex" or call == "predict" or (call == "decision_function" and kind == "float64"))
            }
            if call == "predict":
                answers = {name: np.asarray(ask()) for name, ask in calls.items()}
                for name, own in answers.items():
                    apart = int(np.sum(own != answers[able[1]]))
                    differing[name] = differing.get(name, 0) + apart
            found[(call, kind, *shape, rows)] = medians(calls, options)
            print("|", call, kind, *shape, rows, cell(found[(call, kind, *shape, rows)]), file=sys.stderr, flush=True)
    return found, differing


def report(options, found, differing):
    if options.json:
        options.json.write_text(json.dumps([[*key, value] for key, value in found.items()]))
    print(f"{_native.instruction_set()}, one thread. Labels that differ from scikit-learn's: {differing}.\n")
    for call in options.calls:
        cells = list(itertools.product(options.classes, options.rows))
        head = [call, *(f"{classes} classes, {rows} row{'s' * (rows > 1)}" for classes, rows in cells)]
        lines = []
        for shape in itertools.product(options.features, options.vectors):
            keys = [[(call, kind, *shape, *each) for kind in options.inputs] for each in cells]
            of_shape = ["/".join(cell(found[key]) for key in some if key in found) for some in keys]
            lines.append([f"{shape[0]}, {shape[1]}", *of_shape])
        print(markdown(head, lines), "\n")
    ratios = {key: speed(value)[0] for key, value in found.items()}
    worst = min(ratios, key=ratios.get)
    print(
        f"Least: {ratios[worst]:.2f}, {worst}. Below 1: {sum(each < 1 for each in ratios.values())} of {len(ratios)}."
    )


def speed(seconds):
    """Times the speed of the fastest rival, and its name."""
    name, least = min(((n, s) for n, s in seconds.items() if n != "fastsvm"), key=lambda each: each[1])
    return least / seconds["fastsvm"], name


def cell(seconds):
    ratio, name = speed(seconds)
    text = f"{ratio:.{0 if ratio >= 9.95 else 1 if ratio >= 1.95 else 2}f}{name[0] if name != 'numpy' else ''}"
    return f"**{text}**" if ratio < 1 else text


if __name__ == "__main__":
    main()
