#!/usr/bin/env python3
"""Compare scikit-learn's SVC with fastsvm on the same arrays: microseconds per row, labels that differ, and the time of
one row.

  measure_python.py FOLDER [NAME...] [--rows N] [--seconds S]   every NAME.model and NAME.test in FOLDER, of LIBSVM
  measure_python.py --memory [--rows N]                         10 million rows of 20 features: time, and memory

The SVC is the model of NAME.model, with its attributes set directly, so that the training is equal. Rows with more than
a quarter of all features are given as a dense array, others as CSR. For predict_proba, models without sigmoids get the
same invented ones (A = -2, B = 0). scikit-learn's SVC predicts on one thread.
"""

import argparse
import copy
import math
import pathlib
import resource
import sys
import tempfile
import time
import warnings

import numpy as np
import scipy.sparse
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import fastsvm_cli
from fastsvm_cli.models.exact import ExactModel

DEGREE = 3  # of approx, besides 2
METHODS = ("predict", "decision_function", "predict_proba")


def as_svc(model: ExactModel, columns: int, dense: bool) -> SVC:
    """Return LIBSVM's RBF model as a fitted SVC, but with LIBSVM's order of classes."""
    header, chunk = model.header, model.vectors
    k, n = header.nr_class, chunk.rows
    vectors = scipy.sparse.csr_matrix(
        (np.array(chunk.values), np.array(chunk.indices) - 1, np.array(chunk.indptr)), shape=(n, columns)
    )
    coefficients = np.ascontiguousarray(np.array(chunk.leading).T)  # (k - 1, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svc = SVC(gamma=header.gamma, probability=True)
        svc.probability = False
        few = np.eye(k, columns)
        svc.fit(few if dense else scipy.sparse.csr_matrix(few), np.arange(k))
        svc.probability = True
    svc.classes_ = np.array(header.label)
    svc.support_ = np.arange(n, dtype=np.int32)
    svc._n_support = np.array(header.nr_sv, dtype=np.int32)
    svc.support_vectors_ = np.ascontiguousarray(vectors.toarray()) if dense else vectors
    if dense:
        svc._dual_coef_ = svc.dual_coef_ = coefficients
    else:
        svc._dual_coef_ = svc.dual_coef_ = scipy.sparse.csr_matrix(
            (coefficients.ravel(), np.tile(np.arange(n), k - 1), np.arange(k) * n), shape=(k - 1, n)
        )
    svc._intercept_ = -np.array(header.rho)
    svc.intercept_ = svc._intercept_
    svc._probA, svc._probB = np.array(header.probA), np.array(header.probB)
    svc.shape_fit_ = (n, columns)
    return svc


def seconds_of(call, least: float) -> float:
    """Return the median of three calls, or of as many as take `least` seconds."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if times[0] > 3 * least and len(times) == 1:  # once is enough
            break
    return float(np.median(times))


def compiled(path: pathlib.Path, exact: ExactModel, degree: int) -> fastsvm_cli.FastSVM:
    """Return the model that `fastsvm approx --degree` makes."""
    import subprocess

    out = path.with_name(f"{path.name}.{degree}")
    command = ["approx", "-q", "--degree", str(degree), str(path), str(out)]
    subprocess.run([sys.executable, "-m", "fastsvm_cli", *command], check=True)
    model = fastsvm_cli.load_model(str(out))
    model.header.probA, model.header.probB = exact.header.probA, exact.header.probB
    return fastsvm_cli.FastSVM(model)


def measure(folder: pathlib.Path, name: str, rows: int, least: float, scratch: pathlib.Path) -> "dict[str, float]":
    path = folder / f"{name}.model"
    model = fastsvm_cli.load_model(str(path))
    assert isinstance(model, ExactModel) and model.header.kernel_type == "rbf" and model.header.classification
    header = model.header
    if not header.has_probability:
        header.probA, header.probB = [-2.0] * header.pairs, [0.0] * header.pairs
    X, _ = load_svmlight_file(str(folder / f"{name}.test"))
    columns = max(X.shape[1], model.max_index)
    X = X[:rows]
    X.resize((X.shape[0], columns))
    dense = X.nnz > 0.25 * X.shape[0] * columns
    if dense:
        X = X.toarray()
    link = scratch / f"{name}.model"
    link.symlink_to(path.resolve())
    theirs = as_svc(model, columns, dense)
    rivals: dict[str, object] = {"SVC": theirs}
    ours = {"exact": fastsvm_cli.FastSVM(model, n_features_in=columns)}
    for degree in (2, DEGREE):
        # With more features, the polynomial would have millions of coefficients.
        if degree == 2 or math.comb(columns + degree, degree) * header.pairs < 3e6:
            ours[f"degree {degree}"] = compiled(link, model, degree).set_params(n_features_in=columns)
    for label, fast in ours.items():
        for threads in (1, 2):
            rivals[f"{label}, {threads} thread{'s' * (threads > 1)}"] = copy.copy(fast).set_params(n_threads=threads)

    print(
        f"\n{name}: {header.total_sv} vectors, {columns} features, {header.nr_class} classes, {X.shape[0]} rows, "
        f"{'dense' if dense else 'CSR'}"
    )
    print(
        f"{'microseconds per row':<22}"
        + "".join(f"{method:>18}" for method in METHODS)
        + f"{'one row':>10}{'differ':>9}"
    )
    expected = theirs.predict(X)
    faster: dict[str, float] = {}
    base: dict[str, float] = {}
    for label, rival in rivals.items():
        line = f"{label:<22}"
        for method in METHODS:
            call = getattr(rival, method)
            if label != "SVC":
                call(X[:300])  # builds tables once
            taken = seconds_of(lambda: call(X), least) / X.shape[0] * 1e6
            base.setdefault(method, taken)
            line += f"{taken:>9.2f} {base[method] / taken:>7.1f}x"
            if method == "predict":
                faster[label] = base[method] / taken
        one = X[:1]
        single = [seconds_of(lambda: rival.predict(one), 0) for _ in range(max(1, int(300 * least)))]
        different = int(np.sum(rival.predict(X) != expected))
        print(line + f"{np.median(single) * 1e6:>10.1f}{different:>9}", flush=True)
    return faster


def memory(rows: int) -> None:
    """Measure on a sliding window over one array, so that X takes only 8 bytes per row."""
    rng = np.random.default_rng(0)
    x = rng.random((500, 20))
    svc = SVC(gamma=0.1).fit(x, x[:, 0] + x[:, 1] > 1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model"
        fastsvm_cli.to_libsvm(svc, path)
        fast = compiled(path, fastsvm_cli.load_model(str(path)), 2)  # type: ignore[arg-type]
    X = np.lib.stride_tricks.sliding_window_view(rng.random(rows + 19), 20)
    fast.predict(X[:10_000])

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    before, start = peak(), time.perf_counter()
    labels = fast.predict(X)
    taken = time.perf_counter() - start
    print(
        f"{rows} rows of 20 features ({rows * 160 / 1e9:.2f} GB as an array of their own), degree 2: {taken:.1f} s, "
        f"{taken / rows * 1e6:.2f} microseconds a row; memory grew by {peak() - before:.0f} MB, "
        f"{labels.nbytes / 2**20:.0f} MB of them the labels"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, help="rows of each test file (2000); of --memory (10000000)")
    parser.add_argument("--seconds", type=float, default=0.2, help="least time per number")
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    if options.memory:
        memory(options.rows or 10_000_000)
        return
    if options.folder is None:
        parser.error("name the folder of NAME.model and NAME.test, or --memory")
    names = options.names or sorted(path.name.removesuffix(".model") for path in options.folder.glob("*.model"))
    all_faster: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            found = measure(options.folder, name, options.rows or 2000, options.seconds, pathlib.Path(scratch))
            for label, faster in found.items():
                all_faster.setdefault(label, []).append(faster)
    print("\nfaster than SVC.predict, geometric mean:")
    for label, each in all_faster.items():
        if label != "SVC":
            print(f"  {label:<20} {np.exp(np.mean(np.log(each))):6.1f}x of {len(each)}")


if __name__ == "__main__":
    main()
