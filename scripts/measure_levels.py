#!/usr/bin/env python3
"""Measure the costs by which the exact evaluation chooses its levels.

    scripts/measure_levels.py [--seconds S]

Prints rows of fastsvm_cli/native/exact/escalation.cpp for every instruction set of the machine, or for
FASTSVM_INSTRUCTIONS: nanoseconds of a kernel value on each level, a constant and a cost per product (for the proof of
coupled probabilities: per class), from two random models each. One thread, in memory, processor time, the least of the
runs in S seconds.
"""

import argparse
import datetime
import os
import platform
from collections.abc import Callable
from time import process_time

import numpy as np
from measure_exact import ROWS, two_classes

from fastsvm_cli import _native
from fastsvm_cli.benchmarks.environment import describe

VECTORS = 4096
#: Features of the two models, and of models with few entries.
FEATURES, SPARSE = (16, 128), 1000
#: (levels, share of non-zero features).
GRIDS = [(2, 0.2), (200, 0.8)]
#: Costs of a grid, by its features per word.
GRID_COSTS = {16: "codes", 32: "bits", 4: "bytes", 2: "halves"}
#: Entries of rows, for the panels; shares of non-zero features, for the lists.
ENTRIES, SHARES = (4, 48), (0.01, 0.06)
ORDER = ["single", "codes", "bits", "bytes", "halves", "tiles", "entries", "lists", "several", "reference", "proof"]
#: Classes of `several`, and of `proof`.
CLASSES, PROVEN = 6, (6, 26)


class Point:
    """`evaluations` kernel values of `products` each."""

    def __init__(self, run: "Callable[[], object]", products: float, evaluations: int = VECTORS * ROWS):
        self.run, self.products, self.best, self.total = run, products, float("inf"), 0.0
        self.evaluations = evaluations

    def take(self) -> None:
        start = process_time()
        self.run()
        taken = process_time() - start
        self.best, self.total = min(self.best, taken), self.total + max(taken, 1e-6)

    @property
    def each(self) -> float:
        return 1e9 * self.best / self.evaluations


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    _native.set_threads(1)
    named = os.environ.get("FASTSVM_INSTRUCTIONS")
    print(f"    // {describe(1)['processor']}, {datetime.date.today()}.")
    for name in [named] if named else _native.instruction_sets():
        _native.select_instruction_set(name)
        # The baseline is NEON on ARM, SSE2 on x86.
        known = "neon" if name == "baseline" and platform.machine() in ("aarch64", "arm64") else name
        costs = measured(args.seconds)
        row = ", ".join("none" if key not in costs else "{%.2g, %.2g}" % costs[key] for key in ORDER)
        print(f'    {{"{known}", {row}}},', flush=True)


def measured(seconds: float) -> "dict[str, tuple[float, float]]":
    """Return {name in LevelCosts: (nanoseconds of a kernel value, of each product)}."""
    costs_of_levels = {
        "single": [single(d) for d in FEATURES],
        "tiles": [double(d, d, 1.0) for d in FEATURES],
        "entries": [double(FEATURES[1], entries, 1.0) for entries in ENTRIES],
        "lists": [double(SPARSE, None, share) for share in SHARES],
        "several": [several(d, False) for d in FEATURES],
        "reference": [several(d, True) for d in FEATURES],
        "proof": [proof(classes) for classes in PROVEN],
    }
    for levels, share in GRIDS:
        found = [on_grid(d, levels, share) for d in FEATURES]
        costs_of_levels.setdefault(GRID_COSTS[found[0][0]], [point for _, point in found])
    points = [point for level in costs_of_levels.values() for point in level]
    for point in points:
        point.run()
    while sum(point.total for point in points) < seconds:
        for point in points:
            point.take()
    out = {}
    for name, (few, many) in costs_of_levels.items():
        product = max((many.each - few.each) / (many.products - few.products), 0.0)
        out[name] = max(few.each - product * few.products, 0.0), product
    return out


def single(features: int) -> Point:
    model, chunk = two_classes(*(made_up(n, features) for n in (VECTORS, ROWS)), 1 / features)
    tiles = _native.SingleTiles(model.svm_model)
    return Point(lambda: tiles.kernel_sums(chunk), features)


def on_grid(features: int, levels: int, share: float) -> "tuple[int, Point]":
    rng = np.random.default_rng(features)
    vectors, rows = (
        rng.integers(1, levels, (n, features)) * (rng.random((n, features)) < share) for n in (VECTORS, ROWS)
    )
    model, chunk = two_classes(vectors, rows, 1 / (features * levels**2))
    tiles = _native.GridTiles.of(model.svm_model)
    return tiles.features_per_word, Point(lambda: tiles.kernel_sums(chunk), tiles.products)


def double(features: int, entries: "int | None", share: float) -> Point:
    """share: of non-zero features. entries: per row; None: by share."""
    vectors, rows = made_up(VECTORS, features, share), made_up(ROWS, features, share)
    if entries is not None:
        for row in rows:
            row[np.random.default_rng(features).permutation(features)[entries:]] = 0
        products = float(entries)
    else:
        products = float((vectors != 0).mean(axis=0) @ (rows != 0).mean(axis=0))
    model, chunk = two_classes(vectors, rows, 1 / (features * share))
    values = _native.Decisions(1)
    return Point(lambda: model.fast_values(chunk, values), products)


def several(features: int, reference: bool) -> Point:
    model, chunk = two_classes(*(made_up(n, features) for n in (VECTORS, ROWS)), 1 / features)
    vectors, pairs = model.vectors, CLASSES * (CLASSES - 1) // 2
    coef = np.random.default_rng(1).random((VECTORS, CLASSES - 1))
    rows = _native.Chunk.from_csr(coef, vectors.indptr, vectors.indices, vectors.values)
    share = VECTORS // CLASSES
    sizes = [share] * (CLASSES - 1) + [VECTORS - share * (CLASSES - 1)]
    header = model.header.changed(
        nr_class=CLASSES, rho=[0.0] * pairs, label=list(range(CLASSES)), nr_sv=sizes, gamma=1 / features
    )
    made = _native.LibsvmFile(header, rows)
    values = _native.Decisions(pairs)
    evaluate = made.model().reference_values if reference else made.fast_values
    return Point(lambda: evaluate(chunk, values), features)


def proof(classes: int) -> Point:
    """Return a point of the proof that probabilities are svm-predict's."""
    rng = np.random.default_rng(classes)
    pairs = classes * (classes - 1) // 2
    task = _native.Task(0, list(range(classes)), [-2.0] * pairs, [0.0] * pairs, [])
    decisions = _native.Decisions(pairs, True)
    decisions.resize(ROWS)
    np.asarray(decisions.value)[:] = rng.standard_normal((ROWS, pairs))
    np.asarray(decisions.radius)[:] = 1e-12
    return Point(lambda: _native.undecided_rows(task, decisions, True), classes, classes * ROWS)


def made_up(n: int, features: int, share: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng([n, features])
    return rng.random((n, features)) * (rng.random((n, features)) < share)


if __name__ == "__main__":
    main()
