#!/usr/bin/env python3
"""Measure cascades: NAME.model and NAME.test of a folder; half of the rows calibrate, the other half is measured.

Times are whole processes of fastsvm-predict on one thread, file to file, medians; the floor is `approx --degree 1`.
--seeds: of the halves and of the cascade; labels that differ are counted for each, times for the first.

--rows: the measured rows are repeated up to this number, and the cascade is made for such runs.

  scripts/measure_cascade.py TUNED [--names a9a u20] [--seeds 20] [--runs 11] [--rows 100000]
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.methods.cascade.calibration import calibrate
from fastsvm_cli.models import load_model
from fastsvm_cli.models.base import LABELS
from fastsvm_cli.text.read_rows import read_chunks

#: A budget of 0.1 % needs 2,995 rows to test on.
MANY_ROWS = 6000


def winners(model, rows):
    decisions = model.decisions(LABELS)
    model.decision_values(rows, decisions)
    return np.array(decisions.winner)


def seconds(model_file, rows_file, folder):
    words = ["fastsvm-predict", "-q", "--threads", "1", rows_file, model_file, f"{folder}/out"]
    start = time.perf_counter()
    subprocess.run(words, check=True)
    return time.perf_counter() - start


def measure(path, seeds, runs, least, folder):
    """Print a line; return the logarithm of the speed-up, 0 without a cascade."""
    name, gain, spread = path.stem, 0.0, []
    model, rows = load_model(str(path)), _native.Chunk.concatenate(list(read_chunks(str(path.with_suffix(".test")))))
    exact = winners(model, rows)
    budget = 0.001 if rows.rows // 2 >= MANY_ROWS else 0.005
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(rows.rows)
        mine, others = (np.sort(part).tolist() for part in np.array_split(order, 2))
        start = time.perf_counter()
        how = {"budget": budget, "confidence": 0.95, "seed": seed, "job": least or None}
        try:
            found = calibrate(model, rows.select(mine), "rows", fingerprint="0" * 32, **how)
        except FastsvmError as error:
            if not seed:
                print(f"{name:16} {error}")
                return 0.0
            continue
        took, measured = time.perf_counter() - start, rows.select(others)
        spread.append((np.mean(winners(found.model, measured) != exact[others]), found.bound))
        if seed:
            continue
        files = {each: f"{folder}/{each}" for each in ("rows", "cascade", "floor")}
        times = max(-(-least // len(others)), 1)
        pathlib.Path(files["rows"]).write_bytes(_native.format_rows(measured) * times)
        pathlib.Path(files["cascade"]).write_bytes(found.model.to_text())
        subprocess.run(["fastsvm", "approx", "-q", "--degree", "1", path, files["floor"]], check=True)
        models = {"exact": path, "cascade": files["cascade"], "floor": files["floor"]}
        spent = {each: [] for each in models}
        for _ in range(runs):
            for each, file in models.items():
                spent[each].append(seconds(file, files["rows"], folder))
        ms = {each: 1e3 * statistics.median(some) for each, some in spent.items()}
        gain = math.log(ms["exact"] / ms["cascade"])
        print(
            f"{name:16} {times * len(others)} rows: exact {ms['exact']:.1f} ms, cascade {ms['cascade']:.1f}, floor"
            f" {ms['floor']:.1f}: {math.exp(gain):.2f} times; {100 * found.shares[-1]:.2g} % left to the exact model;"
            f" made in {took:.1f} s"
        )
    shares = np.array(spread)
    print(
        f"{'':16} labels that differ: {100 * shares[:, 0].mean():.3f} % (largest {100 * shares[:, 0].max():.3f} %),"
        f" bound {100 * shares[:, 1].mean():.3f} %, exceeded in {int((shares[:, 0] > shares[:, 1]).sum())} of"
        f" {len(spread)} made, {seeds - len(spread)} refused"
    )
    return gain


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args()
    _native.set_threads(1)
    print(f"{_native.instruction_set()}, {os.cpu_count()} processors, one thread")
    names = options.names or sorted(each.stem for each in options.folder.glob("*.model"))
    with tempfile.TemporaryDirectory() as folder:
        gains = [
            measure(options.folder / f"{name}.model", options.seeds, options.runs, options.rows, folder)
            for name in names
        ]
    print(f"geometric mean: {math.exp(statistics.fmean(gains)):.2f} times the exact model")


if __name__ == "__main__":
    main()
