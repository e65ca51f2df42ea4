#!/usr/bin/env python3
"""Compare one SVC in scikit-learn, alone and under fastsvm's patch, scikit-learn-intelex, onnxruntime (skl2onnx) and
fastsvm: microseconds per row, and the difference from scikit-learn's answers.

  measure_sklearn.py PACKAGES TRAIN TEST [-c C] [-g G] [--methods NAME...] [--rows N...] [--train-rows N] [--threads N]
      [--seconds S]

PACKAGES is a virtual environment with the two rivals, which nothing else here needs:
  python3 -m venv PACKAGES; PACKAGES/bin/pip install scikit-learn-intelex skl2onnx onnxruntime
A missing rival is omitted. TRAIN and TEST are LIBSVM's files, given as dense float64 arrays (float32 to onnxruntime,
which has no double). scikit-learn-intelex trains its own SVC; the others use scikit-learn's.
"""

import argparse
import contextlib
import pathlib
import sys
import time
import types
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import fastsvm_cli
import fastsvm_cli.sklearn
from fastsvm_cli import _native

METHODS = {
    "fastsvm exact": {"method": "exact"},
    "fastsvm order": {"method": "order"},
    "fastsvm degree 2": {"method": "approx", "degree": 2},
    "fastsvm degree 3": {"method": "approx", "degree": 3},
    "fastsvm reduce 0.05": {"method": "reduce", "ratio": 0.05},
}


def seconds_of(call, least):
    """Return the median of three calls, or of as many as take `least` seconds."""
    times = []
    while len(times) < 3 or sum(times) < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def by_intelex(options, X, y):
    """Return the fitted SVC of scikit-learn-intelex."""
    import daal4py
    from sklearnex.svm import SVC as Theirs

    daal4py.daalinit(options.threads)
    return Theirs(C=options.c, gamma=options.g, probability="predict_proba" in options.methods).fit(X, y)


def by_onnx(options, svc, columns):
    """Return an object that predicts like the SVC, with onnxruntime."""
    import onnxruntime
    from skl2onnx import to_onnx

    text = to_onnx(svc, np.zeros((1, columns), np.float32), options={"zipmap": False}).SerializeToString()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(text, settings, providers=["CPUExecutionProvider"])
    (given,), wanted = session.get_inputs(), session.get_outputs()[0].name
    return types.SimpleNamespace(predict=lambda X: session.run([wanted], {given.name: X.astype(np.float32)})[0])


def apart(found, expected, labels):
    """Return how many labels differ, or the largest difference of numbers."""
    found = np.asarray(found).reshape(expected.shape)
    return f"{np.sum(found != expected)}" if labels else f"{np.max(abs(found - expected)):.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("-c", type=float, default=1.0)
    parser.add_argument("-g", type=float, default=0.1)
    parser.add_argument("--methods", nargs="+", default=["predict"], help="decision_function, predict_proba")
    parser.add_argument("--rows", type=int, nargs="+", default=[2000], help="of TEST")
    parser.add_argument("--train-rows", type=int, help="of TRAIN [all]")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="least time per number")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # from skl2onnx's use of scikit-learn, and about probability
    sys.path += map(str, options.packages.glob("lib*/python*/site-packages"))  # after the packages here

    X, y = load_svmlight_file(options.train)
    columns = X.shape[1]
    X, y = X[: options.train_rows].toarray(), y[: options.train_rows]
    test = load_svmlight_file(options.test, n_features=columns)[0][: max(options.rows)].toarray()
    svc = SVC(C=options.c, gamma=options.g, probability="predict_proba" in options.methods, random_state=0).fit(X, y)
    print(
        f"{options.test}: {len(svc.support_)} vectors, {columns} features, {len(svc.classes_)} classes,"
        f" {options.threads} thread{'s' * (options.threads > 1)}, {_native.instruction_set()}"
    )
    makers = {
        "scikit-learn": lambda: svc,
        "scikit-learn, patched": lambda: svc,
        "scikit-learn-intelex": lambda: by_intelex(options, X, y),
        "onnxruntime": lambda: by_onnx(options, svc, columns),
    }
    for name, how in METHODS.items():
        makers[name] = lambda how=how: fastsvm_cli.compile(svc, n_threads=options.threads, **how)
    made = {}
    for name, make in makers.items():
        try:
            made[name] = make()
        except (ImportError, fastsvm_cli.FastsvmError) as fault:
            print(f"{name:<24}left out: {fault}")
    for method in options.methods:
        for rows in options.rows:
            what = f"{method}, {rows} row{'s' * (rows > 1)}"
            print(f"{what:<26}{'us/row':>10}{'faster':>9}{'apart':>9}{'first call':>12}")
            show(options, method, test[:rows], made)


def show(options, method, rows, made):
    """Print a line for each of `made` that has the method."""
    expected = base = None
    for name, model in made.items():
        if not hasattr(model, method):
            continue
        patched = fastsvm_cli.sklearn.patched(options.threads) if "patched" in name else contextlib.nullcontext()
        with patched:
            ask = getattr(model, method)
            start = time.perf_counter()
            found = ask(rows)
            first = time.perf_counter() - start
            for _ in range(1 + 200 // len(rows)):  # until the patch has compiled the model
                ask(rows)
            taken = seconds_of(lambda: ask(rows), options.seconds) / len(rows) * 1e6
        if base is None:
            expected, base = found, taken
        difference = apart(found, expected, method == "predict")
        print(f"{name:<24}{taken:>10.3f}{base / taken:>8.1f}x{difference:>9}{first * 1e3:>9.1f} ms", flush=True)


if __name__ == "__main__":
    main()
