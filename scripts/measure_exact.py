#!/usr/bin/env python3
"""Measure a kernel evaluation of an exact model on every level, and numpy's product of two matrices.

    scripts/measure_exact.py [--rows DATA] [--seconds S] [MODEL ...]

Without models: random RBF kernels of 4,096 support vectors. With models: those, on the rows of DATA or their own
support vectors. One thread, in memory, processor time, the least of the runs in S seconds.

Prints nanoseconds per kernel evaluation, GFlop/s (two operations per feature), and their share of the speed of
numpy's product. `labels`: all levels, with each level's share of rows. `double`: for --values and -b 1.
`matrix`: kernel values with 100 rows. `sums`: its product with a column. `reference`: LIBSVM's own sums.
FASTSVM_INSTRUCTIONS selects the instruction set.
"""

import argparse
import sys
from time import process_time

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.methods.feature_space import KernelMatrix
from fastsvm_cli.methods.feature_space import matrix as sparse_matrix
from fastsvm_cli.models import ExactModel, Precision, load_model, parse_libsvm

SHAPES = [(4096, 20), (4096, 100), (4096, 780)]  # support vectors, features
#: (features, levels, share of non-zero features, gamma).
GRIDS = [(60, 2, 0.25, 0.05), (123, 2, 0.11, 0.01), (42, 3, 0.67, 0.03), (64, 17, 0.8, 0.001)]
ROWS = 480
PEAK_SIZE = 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--rows", metavar="DATA")
    parser.add_argument("--seconds", type=float, default=0.5)
    args = parser.parse_args()
    _native.set_threads(1)
    peaks = {single: peak(single, args.seconds) for single in (True, False)}
    print(
        f"{_native.instruction_set()}: numpy {peaks[True]:.0f} GFlop/s in single precision, {peaks[False]:.0f} double"
    )
    if not args.models:
        for total, features in SHAPES:
            measure(f"{total} x {features}", *made_up(total, features), peaks, args.seconds)
        for features, levels, share, gamma in GRIDS:
            name = f"{SHAPES[0][0]} x {features} of {levels} levels"
            measure(name, *on_grid(SHAPES[0][0], features, levels, share, gamma), peaks, args.seconds)
    for path in args.models:
        model = load_model(path)
        if not isinstance(model, ExactModel):
            sys.exit(f"{path}: a compiled model found, expected an exact one")
        chunk = model.vectors
        if args.rows:
            with open(args.rows, "rb") as file:
                chunk, error, _, _ = _native.parse(file.read())
            if error is not None:
                sys.exit(f"{args.rows}: {error}")
        measure(path, model, chunk, peaks, args.seconds)


def peak(single: bool, seconds: float) -> float:
    square = np.ones((PEAK_SIZE, PEAK_SIZE), np.float32 if single else np.float64)
    taken, _ = least(lambda: square @ square, seconds)
    return 2e-9 * PEAK_SIZE**3 / taken


def least(run, seconds: float):
    run()
    best, total, result = float("inf"), 0.0, None
    while total < seconds:
        start = process_time()
        result = run()
        taken = process_time() - start
        best, total = min(best, taken), total + max(taken, 1e-6)
    return best, result


def made_up(total: int, features: int) -> "tuple[ExactModel, _native.Chunk]":
    rng = np.random.default_rng(features)

    def rows(n):
        return rng.random((n, features)) + np.where(np.arange(n) % 2, 0.3, 0.0)[:, None]

    return two_classes(rows(total), rows(ROWS), 1 / features)


def on_grid(total: int, features: int, levels: int, share: float, gamma: float) -> "tuple[ExactModel, _native.Chunk]":
    rng = np.random.default_rng(features)

    def rows(n):
        return rng.integers(1, levels, (n, features)) * (rng.random((n, features)) < share)

    return two_classes(rows(total), rows(ROWS), gamma)


def two_classes(vectors: np.ndarray, rows: np.ndarray, gamma: float) -> "tuple[ExactModel, _native.Chunk]":
    vectors = np.concatenate([vectors[1::2], vectors[::2]])
    total, half = len(vectors), len(vectors) // 2

    def entries(row):
        return " ".join(f"{c + 1}:{v!r}" for c, v in enumerate(row.tolist()) if v)

    text = "\n".join(f"{1.0 if i < half else -1.0} {entries(row)}" for i, row in enumerate(vectors))
    head = (
        f"svm_type c_svc\nkernel_type rbf\ngamma {gamma!r}\nnr_class 2\ntotal_sv {total}\nrho 0\nlabel 1 -1\n"
        f"nr_sv {half} {total - half}\nSV\n"
    )
    data = "\n".join(f"0 {entries(row)}" for row in rows)
    return parse_libsvm(f"{head}{text}\n".encode(), "made up"), _native.parse(f"{data}\n".encode())[0]


def measure(name: str, model: ExactModel, chunk: _native.Chunk, peaks: "dict[bool, float]", seconds: float) -> None:
    features = len(_native.used_indices(model.vectors))
    print(f"{name}: {model.header.total_sv} vectors, {features} features, {chunk.rows} rows")

    def line(level: str, run, single: bool, rows: int, note: str = "") -> None:
        taken, _ = least(run, seconds)
        each = 1e9 * taken / max(rows * model.header.total_sv, 1)
        speed = 2 * features / each
        share = f"{100 * speed / peaks[single]:5.1f} % of numpy's"
        print(f"  {level:10s} {each:8.3f} ns {speed:8.1f} GFlop/s {share}{note}")

    values = _native.Decisions(model.pairs)
    if model.header.elects:
        alone = _native.Decisions(model.pairs, False, True)
        model.decision_values(chunk, alone)
        decided = [100 * count / max(chunk.rows, 1) for count in alone.level_rows]
        shares = ", ".join(
            f"{share:.1f} % {level}"
            for level, share in zip(("grid", "single", "double", "reference"), decided)
            if share
        )
        line("labels", lambda: model.decision_values(chunk, alone), True, chunk.rows, f"; rows: {shares}")
    line("double", lambda: model.decision_values(chunk, values, Precision.values()), False, chunk.rows)
    vectors, columns = sparse_matrix(model.vectors)
    matrix = KernelMatrix(model.kernel, vectors)
    z = sparse_matrix(chunk.select(list(range(min(100, chunk.rows)))), columns)[0].toarray()
    weights = np.ones((model.header.total_sv, 1))
    line("matrix", lambda: matrix(z), False, len(z))
    line("sums", lambda: matrix.times(z, weights), False, len(z))
    few = chunk.select(list(range(min(32, chunk.rows))))
    line("reference", lambda: model.reference_values(few, values), False, few.rows)


if __name__ == "__main__":
    main()
