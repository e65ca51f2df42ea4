#!/usr/bin/env python3
"""Measure cascades: NAME.model and NAME.test of a folder; half of the rows calibrate, the other half is measured.

    scripts/measure_cascade.py TUNED [--names a9a u20] [--rows 100000] [--budget 0.005]
    scripts/measure_cascade.py TUNED --names ijcnn1 satimage.scale --simulate 400 [--each-class]

Times are processor seconds of one thread: in memory (labels of parsed rows), and of fastsvm-predict, file to file, with
the measured rows repeated to --rows; medians. The floor is `approx --degree 1`, which hardly does more than read. The
budget is the least of 0.1, 0.2, 0.5 and 1 % that the calibrating half can show, unless --budget is given.

--simulate: calibrate N times on rows drawn with replacement from the test rows, whose share is then known exactly, and
count how often it is above the budget.
"""

import argparse
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.comparisons import rows_needed
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.methods.cascade.calibration import calibrate
from fastsvm_cli.models import LABELS, load_model
from fastsvm_cli.text.read_rows import read_chunks

BUDGETS = (0.001, 0.002, 0.005, 0.01)
TESTED = 0.7  # share of the calibrating rows, at least


def winners(model, rows):
    decisions = model.decisions(LABELS)
    model.decision_values(rows, decisions)
    return np.array(decisions.winner)


def seconds(model_file, rows_file, folder):
    """Return the processor seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["fastsvm-predict", "-q", "--threads", "1", rows_file, model_file, f"{folder}/out"]
    subprocess.run(words, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_memory(model, rows, runs):
    decisions, spent = model.decisions(LABELS), []
    for _ in range(runs):
        start = time.thread_time()
        model.decision_values(rows, decisions, LABELS)
        spent.append(time.thread_time() - start)
    return statistics.median(spent)


def measure(path, options, folder):
    """Print a line; return the logarithms of the speed-ups, 0 without a cascade: file to file, in memory."""
    name = path.stem
    model, rows = load_model(str(path)), _native.Chunk.concatenate(list(read_chunks(str(path.with_suffix(".test")))))
    mine, others = map(sorted, np.array_split(np.random.default_rng(0).permutation(rows.rows), 2))
    budget = options.budget or next(
        (each for each in BUDGETS if rows_needed(each, 0.95) < TESTED * len(mine)), BUDGETS[-1]
    )
    start = time.process_time()
    how = {"budget": budget, "confidence": 0.95, "job": options.rows}
    try:
        found = calibrate(model, rows.select(mine), "rows", fingerprint="0" * 32, **how)
    except FastsvmError as error:
        print(f"{name:16} {100 * budget:g} %: {error}", flush=True)
        return 0.0, 0.0
    took, measured = time.process_time() - start, rows.select(others)
    differ = np.mean(winners(found.model, measured) != winners(model, measured))
    files = {each: f"{folder}/{each}" for each in ("rows", "cascade", "floor")}
    times = max(-(-options.rows // len(others)), 1)
    pathlib.Path(files["rows"]).write_bytes(_native.format_rows(measured) * times)
    pathlib.Path(files["cascade"]).write_bytes(found.model.to_text())
    subprocess.run(["fastsvm", "approx", "-q", "--degree", "1", path, files["floor"]], check=True)
    models = {"exact": path, "cascade": files["cascade"], "floor": files["floor"]}
    spent = {each: [] for each in models}
    for _ in range(options.runs):
        for each, file in models.items():
            spent[each].append(seconds(file, files["rows"], folder))
    ms = {each: 1e3 * statistics.median(some) for each, some in spent.items()}
    memory = in_memory(model, measured, options.runs) / in_memory(found.model, measured, options.runs)
    whole = ms["exact"] / ms["cascade"]
    print(
        f"{name:16} {100 * budget:g} %: {times * len(others)} rows, exact {ms['exact']:.0f} ms, cascade"
        f" {ms['cascade']:.0f}, floor {ms['floor']:.0f}: {whole:.2f} times, in memory {memory:.2f};"
        f" {100 * found.shares[-1]:.2g} % left to the exact model; {100 * differ:.3f} % differ; made in {took:.1f} s",
        flush=True,
    )
    return math.log(whole), math.log(memory)


def simulate(path, options):
    """Count calibrations whose share, of all rows or of a class, is above the budget."""
    model, rows = load_model(str(path)), _native.Chunk.concatenate(list(read_chunks(str(path.with_suffix(".test")))))
    exact = winners(model, rows)
    of_class = [np.flatnonzero(exact == each) for each in np.unique(exact)]
    least = min(map(len, of_class)) if options.each_class else rows.rows
    budget = options.budget or next((each for each in BUDGETS if rows_needed(each, 0.95) < 0.6 * least), BUDGETS[-1])
    how = {"budget": budget, "confidence": 0.95, "job": options.rows, "each_class": options.each_class}
    made = over = 0
    shares = []
    for seed in range(options.simulate):
        drawn = np.random.default_rng(seed).integers(rows.rows, size=rows.rows).tolist()
        try:
            found = calibrate(model, rows.select(drawn), "rows", fingerprint="0" * 32, seed=seed, **how)
        except FastsvmError:
            continue
        differ = winners(found.model, rows) != exact
        share = max(differ[each].mean() for each in of_class) if options.each_class else differ.mean()
        made, over = made + 1, over + (share > budget)
        shares.append(share)
    what = "a class's labels" if options.each_class else "labels"
    print(
        f"{path.stem:16} budget {100 * budget:g} %: above it in {over} of {options.simulate} calibrations"
        f" ({100 * over / options.simulate:.2g} %), {made} made; {what} that differ: mean"
        f" {100 * np.mean(shares or [0]):.3f} %, largest {100 * max(shares, default=0):.3f} %",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--budget", type=float)
    parser.add_argument("--simulate", type=int, default=0)
    parser.add_argument("--each-class", action="store_true")
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # as in the commands; numpy reads it when it is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    _native.set_threads(1)
    print(f"{_native.instruction_set()}, {os.cpu_count()} processors, one thread")
    paths = [
        options.folder / f"{name}.model"
        for name in options.names or sorted(each.stem for each in options.folder.glob("*.model"))
    ]
    if options.simulate:
        for path in paths:
            simulate(path, options)
        return
    with tempfile.TemporaryDirectory() as folder:
        gains = [measure(path, options, folder) for path in paths]
    whole, memory = (math.exp(statistics.fmean(each)) for each in zip(*gains))
    print(f"geometric mean: {whole:.2f} times the exact model, in memory {memory:.2f}")


if __name__ == "__main__":
    main()
