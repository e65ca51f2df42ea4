#!/usr/bin/env python3
"""Measure `fastsvm predict --scale` against `svm-scale -r` and predict.

    scripts/measure_scale.py [options] data_file model_file

The raw file is the data file repeated, feature i times 1 + 0.37 i; its range is svm-scale's with -l 0 -u 1, which keeps
absent features absent if their least value is 0, then with -l -1 -u 1. The model should predict fast; its labels mean
nothing here. Prints least and median seconds, and MB of raw text per second. Exit code 1 if outputs of predict differ.
"""

import argparse
import filecmp
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=40.0, help="of the raw file, in MB (default: 40)")
    parser.add_argument("--runs", type=int, default=5, help="of each (default: 5)")
    parser.add_argument("--threads", type=int, default=0, help="of fastsvm (default: all)")
    parser.add_argument("--svm-scale", default="svm-scale", help="the program (default: the one on the PATH)")
    parser.add_argument("--folder", help="where there is room (default: that of temporary files)")
    parser.add_argument("data_file")
    parser.add_argument("model_file")
    return parser.parse_args()


def stretched(line):
    label, *pairs = line.split()
    entries = (pair.split(":") for pair in pairs)
    return " ".join([label, *(f"{i}:{float(value) * (1 + 0.37 * int(i)):.9g}" for i, value in entries)]) + "\n"


def make_raw(source, target, size):
    with open(source) as file:
        text = "".join(stretched(line) for line in file if line.strip())
    with open(target, "w") as file:
        for _ in range(max(1, round(size / len(text)))):
            file.write(text)


def embed(model_file, ranges, target):
    from fastsvm_cli.models import load_model
    from fastsvm_cli.text.scaling import EmbeddedScaling, parse_scaling

    model = load_model(model_file)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(Path(ranges).read_bytes(), ranges), target)
    Path(target).write_bytes(model.to_text())


def seconds(command, output=subprocess.DEVNULL):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=output, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    options = parsed()
    fastsvm = str(Path(sys.executable).parent / "fastsvm")
    svm_scale = shutil.which(options.svm_scale)
    if svm_scale is None:
        sys.exit(f"Error: {options.svm_scale}: no such program (Debian: libsvm-tools; LIBSVM's own source: make)")
    threads = ["--threads", str(options.threads)] if options.threads else []
    predict = [fastsvm, "predict", "-q", *threads]
    model = os.path.abspath(options.model_file)
    same = True
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        raw, ranges, scaled, embedding = (os.path.join(folder, name) for name in ("raw", "range", "scaled", "model"))
        one, other, third = (os.path.join(folder, name) for name in ("one", "other", "third"))
        make_raw(options.data_file, raw, options.size * 1e6)
        megabytes = os.path.getsize(raw) / 1e6

        def restored():
            with open(scaled, "wb") as file:
                return seconds([svm_scale, "-r", ranges, raw], file)

        for lower in ("0", "-1"):
            seconds([svm_scale, "-l", lower, "-u", "1", "-s", ranges, raw])
            cases = {
                "predict on scaled rows": lambda: seconds([*predict, scaled, model, one]),
                "predict --scale": lambda: seconds([*predict, "--scale", ranges, raw, model, other]),
                "svm-scale -r": restored,
            }
            embed(model, ranges, embedding)
            cases["predict, range embedded"] = lambda: seconds([*predict, raw, embedding, third])
            times = {name: [] for name in cases}
            restored()
            for _ in range(options.runs):
                for name, run in cases.items():
                    times[name].append(run())
            both = [a + b for a, b in zip(times["svm-scale -r"], times["predict on scaled rows"])]
            times["svm-scale -r, then predict"] = both
            equal = all(filecmp.cmp(one, each, shallow=False) for each in (other, third))
            same = same and equal
            sizes = f"{megabytes:.1f} MB raw, {os.path.getsize(scaled) / 1e6:.1f} MB scaled"
            print(f"svm-scale -l {lower} -u 1, {sizes}, outputs {'equal' if equal else 'DIFFER'}")
            for name, found in times.items():
                median = statistics.median(found)
                print(f"  {name:28} {min(found):7.3f} s {median:7.3f} s {megabytes / median:8.1f} MB/s", flush=True)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
