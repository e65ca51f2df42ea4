#!/usr/bin/env python3
"""Compare one SVC in scikit-learn, alone and under fastsvm's patch, scikit-learn-intelex, onnxruntime (skl2onnx) and
fastsvm: microseconds per row, and the difference from scikit-learn's answers.

  measure_sklearn.py [options] PACKAGES TRAIN TEST

PACKAGES: virtual environment with the two rivals; a missing rival is omitted:
  python3 -m venv PACKAGES; PACKAGES/bin/pip install scikit-learn-intelex skl2onnx onnxruntime
TRAIN, TEST: LIBSVM's files, given as dense float64 arrays (float32 to onnxruntime). scikit-learn-intelex trains its own
SVC. FILE gets {call: {program: [microseconds, spread, labels that differ or the largest difference]}}.
"""

import argparse
import contextlib
import json
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
from fastsvm_cli.benchmarks.timing import Timings

METHODS = {
    "fastsvm exact": {"method": "exact"},
    "fastsvm order": {"method": "order"},
    "fastsvm degree 2": {"method": "approx", "degree": 2},
    "fastsvm degree 3": {"method": "approx", "degree": 3},
    "fastsvm reduce 0.05": {"method": "reduce", "ratio": 0.05},
}


def timings_of(call, least):
    times = []
    while len(times) < 3 or sum(times) < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return Timings(times)


def by_intelex(options, X, y):
    import daal4py
    from sklearnex.svm import SVC as Theirs

    daal4py.daalinit(options.threads)
    return Theirs(C=options.c, gamma=options.g, probability="predict_proba" in options.methods).fit(X, y)


def by_onnx(options, svc, columns):
    import onnxruntime
    from skl2onnx import to_onnx

    text = to_onnx(svc, np.zeros((1, columns), np.float32), options={"zipmap": False}).SerializeToString()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(text, settings, providers=["CPUExecutionProvider"])
    (given,), (labels, shares) = session.get_inputs(), (each.name for each in session.get_outputs())

    def ask(output):
        return lambda X: session.run([output], {given.name: X.astype(np.float32)})[0]

    found = types.SimpleNamespace(predict=ask(labels))
    if svc.probability:
        found.predict_proba = ask(shares)
    return found


def apart(found, expected, labels):
    found = np.asarray(found).reshape(expected.shape)
    return int(np.sum(found != expected)) if labels else float(np.max(abs(found - expected)))


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
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # by skl2onnx, and about probability
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
        except (ImportError, fastsvm_cli.FastsvmError) as error:
            print(f"{name:<24}left out: {error}")
    found = {}
    for method in options.methods:
        for rows in options.rows:
            what = f"{method}, {rows} row{'s' * (rows > 1)}"
            print(f"{what:<26}{'us/row':>10}{'faster':>9}{'apart':>9}{'first call':>12}")
            found[what] = measure(options, method, test[:rows], made)
    if options.json:
        options.json.write_text(json.dumps(found))


def measure(options, method, rows, made):
    """Print and return {name: (microseconds, spread, difference)}."""
    expected = base = None
    result = {}
    for name, model in made.items():
        if not hasattr(model, method):
            continue
        patched = fastsvm_cli.sklearn.patched(options.threads) if "patched" in name else contextlib.nullcontext()
        with patched:
            ask = getattr(model, method)
            start = time.perf_counter()
            answers = ask(rows)
            first = time.perf_counter() - start
            for _ in range(1 + 200 // len(rows)):  # until the patch has compiled the model
                ask(rows)
            timings = timings_of(lambda: ask(rows), options.seconds)
        taken, spread = (1e6 * each / len(rows) for each in (timings.median, timings.spread))
        if base is None:
            expected, base = answers, taken
        difference = apart(answers, expected, method == "predict")
        print(f"{name:<24}{taken:>10.3f}{base / taken:>8.1f}x{difference:>9.2g}{first * 1e3:>9.1f} ms", flush=True)
        result[name] = taken, spread, difference
    return result


if __name__ == "__main__":
    main()
