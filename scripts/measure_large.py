#!/usr/bin/env python3
"""Measure the compilation of a large model: processor seconds, seconds, and peak memory.

    scripts/measure_large.py [--vectors N,N,...] [--features D] [COMMAND ...]
    scripts/measure_large.py --vectors 100000 'order --method triangle' 'approx --certify'

Models are random RBF, of two classes, and the same in every run. Default COMMANDs: 'order --method geometry' and
'reduce --vectors 100'.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

COMMANDS = ["order --method geometry", "reduce --vectors 100"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("commands", nargs="*", metavar="COMMAND", default=COMMANDS)
    parser.add_argument("--vectors", default="100000,300000", metavar="N,N,...")
    parser.add_argument("--features", type=int, default=20, metavar="D")
    args = parser.parse_args()
    program = Path(sys.executable).with_name("fastsvm")
    with tempfile.TemporaryDirectory() as folder:
        for total in map(int, args.vectors.split(",")):
            model = Path(folder) / "large.model"
            write_model(model, total, args.features)
            for command in args.commands:
                words = [str(program), *shlex.split(command), "--quiet", str(model), str(Path(folder) / "out")]
                processor, elapsed, peak = run(words)
                print(
                    f"{total} vectors, {args.features} features, {command}: {processor:.1f} s of the processor,"
                    f" {elapsed:.1f} s, {peak:.0f} MB",
                    flush=True,
                )


def write_model(path: Path, total: int, features: int) -> None:
    rng = np.random.default_rng(total)
    half = total // 2
    a = rng.uniform(0.05, 1, total)
    a[half:] *= -a[:half].sum() / a[half:].sum()
    with path.open("w") as file:
        file.write(
            f"svm_type c_svc\nkernel_type rbf\ngamma {2 / features:g}\nnr_class 2\ntotal_sv {total}\nrho 0.1\n"
            f"label 1 -1\nnr_sv {half} {total - half}\nSV\n"
        )
        for i in range(total):
            x = rng.random(features)
            x[: features // 4] += 0.1 * (i < half)
            file.write(f"{a[i]:.6g} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(x, 1)) + "\n")


def run(words: "list[str]") -> "tuple[float, float, float]":
    """Return (processor seconds, seconds, peak MB)."""
    start = perf_counter()
    child = subprocess.Popen(words)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{shlex.join(words)}: exit code {child.returncode}")
    return used.ru_utime + used.ru_stime, perf_counter() - start, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
