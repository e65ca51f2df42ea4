#!/usr/bin/env python3
"""One SVC by scikit-learn, scikit-learn-intelex, onnxruntime (skl2onnx) and fastsvm: microseconds per row of predict,
and labels that differ.

  measure_sklearn.py PACKAGES TRAIN TEST [-c C] [-g G] [--rows N] [--train-rows N] [--threads N] [--seconds S]

PACKAGES is a virtual environment with the two rivals, which nothing else here needs:
  python3 -m venv PACKAGES; PACKAGES/bin/pip install scikit-learn-intelex skl2onnx onnxruntime
One that is missing there is left out. TRAIN and TEST are LIBSVM's files, given as dense float64 arrays (float32 to
onnxruntime, which has no double). scikit-learn-intelex trains an SVC of its own; the others have scikit-learn's."""

import argparse
import pathlib
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import fastsvm_cli

METHODS = {
    "fastsvm exact": {"method": "exact"},
    "fastsvm order": {"method": "order"},
    "fastsvm degree 2": {"method": "approx", "degree": 2},
    "fastsvm degree 3": {"method": "approx", "degree": 3},
    "fastsvm reduce 0.05": {"method": "reduce", "ratio": 0.05},
}


def seconds_of(call, least):
    """The median of three calls, or of as many as take `least` seconds, after one that warms up."""
    call()
    times = []
    while len(times) < 3 or sum(times) < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def by_intelex(options, X, y):
    """predict of scikit-learn-intelex's SVC."""
    import daal4py
    from sklearnex.svm import SVC as Theirs

    daal4py.daalinit(options.threads)
    return Theirs(C=options.c, gamma=options.g).fit(X, y).predict


def by_onnx(options, svc, columns):
    """predict of the SVC by onnxruntime."""
    import onnxruntime
    from skl2onnx import to_onnx

    text = to_onnx(svc, np.zeros((1, columns), np.float32), options={"zipmap": False}).SerializeToString()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(text, settings, providers=["CPUExecutionProvider"])
    (given,), wanted = session.get_inputs(), session.get_outputs()[0].name
    return lambda X: session.run([wanted], {given.name: X.astype(np.float32)})[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("-c", type=float, default=1.0)
    parser.add_argument("-g", type=float, default=0.1)
    parser.add_argument("--rows", type=int, default=2000, help="of TEST")
    parser.add_argument("--train-rows", type=int, help="of TRAIN [all]")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="least time per number")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # what skl2onnx asks of scikit-learn
    sys.path += map(str, options.packages.glob("lib*/python*/site-packages"))  # behind what is here

    X, y = load_svmlight_file(options.train)
    columns = X.shape[1]
    X, y = X[: options.train_rows].toarray(), y[: options.train_rows]
    rows = load_svmlight_file(options.test, n_features=columns)[0][: options.rows].toarray()
    svc = SVC(C=options.c, gamma=options.g).fit(X, y)
    expected = svc.predict(rows)
    print(
        f"{options.test}: {len(svc.support_)} vectors, {columns} features, {len(svc.classes_)} classes,"
        f" {len(rows)} rows, {options.threads} thread{'s' * (options.threads > 1)}"
    )
    makers = {
        "scikit-learn": lambda: svc.predict,
        "scikit-learn-intelex": lambda: by_intelex(options, X, y),
        "onnxruntime": lambda: by_onnx(options, svc, columns),
    }
    for name, how in METHODS.items():
        makers[name] = lambda how=how: fastsvm_cli.compile(svc, n_threads=options.threads, **how).predict
    print(f"{'':<22}{'us/row':>10}{'faster':>9}{'differ':>9}{'ready in':>11}")
    base = None
    for name, make in makers.items():
        start = time.perf_counter()
        try:
            predict = make()
        except (ImportError, fastsvm_cli.FastsvmError) as fault:
            print(f"{name:<22}left out: {fault}")
            continue
        ready = time.perf_counter() - start
        taken = seconds_of(lambda: predict(rows), options.seconds) / len(rows) * 1e6
        base = base or taken
        different = int(np.sum(np.asarray(predict(rows)).ravel() != expected))
        print(f"{name:<22}{taken:>10.3f}{base / taken:>8.1f}x{different:>9}{ready:>10.2f}s", flush=True)


if __name__ == "__main__":
    main()
