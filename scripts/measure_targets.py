#!/usr/bin/env python3
"""Measure whether `fastsvm reduce --target` says the truth: its estimate and bound beside the share on test rows.

Reads NAME.model, NAME.train and NAME.test of a folder. Every target is given with --data NAME.train and without.
Seconds are of the processor, of this process and its threads."""

import argparse
import glob
import os
import sys
import time

from fastsvm_cli._native import Chunk
from fastsvm_cli.comparisons import agreement
from fastsvm_cli.console.options import FRACTION
from fastsvm_cli.methods.reduce.target import reduce_to
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks

COLUMNS = "model, target, rows, vectors, of, reported, bound, true, target reached, seconds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="folder of NAME.model, NAME.train and NAME.test")
    parser.add_argument("names", nargs="*", help="names of models (all of the folder)")
    parser.add_argument("--targets", nargs="*", default=["0.2%", "0.5%", "1%"], help="targets (0.2%% 0.5%% 1%%)")
    options = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(options.folder, "*.model")))
    names = options.names or [os.path.basename(path).removesuffix(".model") for path in paths]
    if not names:
        sys.exit(f"Error: {options.folder}: no *.model found, expected some")
    print(_line(COLUMNS.split(", ")), _line(["---"] * len(COLUMNS.split(", "))), sep="\n", flush=True)
    exceeded, bounds = 0, 0
    for name in names:
        model, train, test = (os.path.join(options.folder, f"{name}.{what}") for what in ("model", "train", "test"))
        exact, tested = load_model(model), list(read_chunks(test))
        for target in options.targets:
            share = FRACTION.convert(target, None, None)
            for rows in (Chunk.concatenate(list(read_chunks(train))), None):
                start = time.process_time()
                found = reduce_to(exact, share, rows, fingerprint="")
                seconds, sample = time.process_time() - start, found.sample
                assert sample is not None  # models have more vectors than the smallest set
                true = agreement(found.model, exact, tested).share
                if sample.bound is not None:
                    bounds, exceeded = bounds + 1, exceeded + (true > sample.bound)
                counts = [found.model.header.total_sv, exact.header.total_sv]
                bound = "" if sample.bound is None else _percent(sample.bound)
                reached = "no" if sample.shortfall else "yes"
                shares = [_percent(sample.seen.share), bound, _percent(true), reached]
                where = "support vectors" if rows is None else "training rows"
                print(_line([name, target, where, *counts, *shares, f"{seconds:.1f}"]), flush=True)
    print(f"\nThe share on test rows exceeds the bound in {exceeded} of {bounds} cases.")


def _line(cells: "list[object]") -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


if __name__ == "__main__":
    main()
