#!/usr/bin/env python3
"""Check that `fastsvm predict --scale`, and models that carry their range, write svm-scale's and svm-predict's bytes.

    scripts/check_scale.py [options] data_dir

Half of the rows give the model and the range file, which some cases edit. The other half is predicted in three ways:

    svm-scale -r range test > scaled; svm-predict scaled model out
    fastsvm predict --scale range test model out
    fastsvm approx --certify --scale range model m; fastsvm predict --exact model test m out

Prints the entries per row before and after scaling, and how many lines of the second and third differ from the first.
For regression, the second is compared with fastsvm predict on scaled rows, and the third, by order --carry, with the
second, to nine digits. Exit code 1 if a line differs.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

FASTSVM = str(Path(sys.executable).parent / "fastsvm")
UP, WIDE, ODD = "-l 0 -u 1", "-l -1 -u 1", "-l 0.1 -u 3.7"
#: (data file, options of svm-train, of svm-scale, edit of the range file).
CASES = [
    ("a9a.t", "-g 0.02", UP, ""),
    ("a9a.t", "-g 0.01", WIDE, ""),
    ("abalone_scale", "-s 3 -g 0.3", WIDE, ""),
    ("abalone_scale", "-s 3 -g 0.3", f"{UP} -y 0 1", ""),
    ("abalone_scale", "-s 4 -g 0.3", f"{WIDE} -y -1 1", "left out"),
    ("abalone_scale", "-s 3 -t 0", f"{ODD} -y 2 7.25", ""),
    ("banana_scale", "-g 2", WIDE, ""),
    ("fourclass_scale", "-g 2", ODD, ""),
    ("haberman_scale", "-g 1", UP, "constant"),
    ("heart_scale", "-g 0.1", WIDE, "left out"),
    ("heart_scale", "-t 0", WIDE, ""),
    ("ijcnn1.t", "-g 0.1 -c 10", WIDE, ""),
    ("ijcnn1.t", "-g 0.5", UP, "constant"),
    ("letter.scale", "-g 0.1", WIDE, ""),
    ("letter.scale", "-s 1 -n 0.1 -g 1", UP, "left out"),
    ("mnist1.t", "-g 0.01", UP, ""),
    ("mnist1.t", "-g 0.001", WIDE, ""),
    ("optdigits_scale", "-g 0.02", UP, ""),
    ("satimage.scale", "-g 0.1", WIDE, ""),
    ("segment_scale", "-t 1 -d 2 -g 0.1 -r 1", WIDE, ""),
    ("sonar_scale", "-s 2 -n 0.3 -g 0.02", WIDE, ""),
    ("spambase_scale", "-g 0.05", WIDE, "constant"),
    ("spambase_scale", "-g 0.05", UP, "left out"),
    ("u20", "-g 0.05", WIDE, ""),
]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000, help="of each half, at most (default: 3000)")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases whose line holds these words")
    parser.add_argument("--libsvm", metavar="DIR", help="where svm-scale, svm-train and svm-predict are")
    parser.add_argument("data_dir")
    return parser.parse_args()


def stretched(line):
    label, *pairs = line.split()
    entries = (pair.split(":") for pair in pairs)
    return " ".join([label, *(f"{i}:{float(v) * (1 + 0.37 * int(i)) + int(i) % 3:.9g}" for i, v in entries)]) + "\n"


def halves(path, rows):
    with open(path) as file:
        lines = [line for line in file if line.strip()]
    lines = random.Random(1).sample(lines, min(2 * rows, len(lines)))
    return ["".join(map(stretched, part)) for part in (lines[::2], lines[1::2])]


def edited(text, how):
    lines, out, inside = text.splitlines(), [], False
    for at, line in enumerate(lines):
        words = line.split()
        inside = inside or words == ["x"]
        fifth = inside and len(words) == 3 and int(words[0]) % 5 == 2 and at
        if fifth and how == "left out":
            continue
        out.append(f"{words[0]} {words[1]} {words[1]}" if fifth and how == "constant" else line)
    return "\n".join(out) + "\n"


def run(folder, *words, output=subprocess.DEVNULL):
    subprocess.run(list(map(str, words)), cwd=folder, check=True, stdout=output, stderr=subprocess.DEVNULL)


def numbers(path):
    with open(path) as file:
        return [[float(word) for word in line.split()] for line in file]


def y_back(ranges):
    """Return (from, scale, to): the raw label of y is to + (y - from) * scale."""
    words = ranges.split()
    if words[0] != "y":
        return 0.0, 1.0, 0.0
    lower, upper, low, high = map(float, words[1:5])
    return lower, (high - low) / (upper - lower), low


def lines_that_differ(one, other):
    with open(one) as first, open(other) as second:
        a, b = first.read().splitlines(), second.read().splitlines()
    return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))


def check(folder, source, training, scaling, how, rows, program):
    train, test = halves(source, rows)
    (folder / "train").write_text(train)
    (folder / "test").write_text(test)
    run(folder, program("svm-scale"), *scaling.split(), "-s", "range", "train")
    if how:
        (folder / "range").write_text(edited((folder / "range").read_text(), how))
    for name in ("train", "test"):
        with open(folder / f"{name}.scaled", "wb") as file:
            run(folder, program("svm-scale"), "-r", "range", name, output=file)
    run(folder, program("svm-train"), "-q", *training.split(), "train.scaled", "model")
    run(folder, program("svm-predict"), "test.scaled", "model", "theirs")
    run(folder, FASTSVM, "predict", "-q", "--scale", "range", "test", "model", "ours")
    beside = ""
    regression = training.startswith(("-s 3", "-s 4"))
    if regression:
        run(folder, FASTSVM, "predict", "-q", "test.scaled", "model", "plain")
        apart = max(abs(a - b) for (a,), (b,) in zip(numbers(folder / "ours"), numbers(folder / "theirs")))
        beside = f" ({apart:.0e})"
    differ = lines_that_differ(folder / "ours", folder / ("plain" if regression else "theirs"))
    certify = [] if regression else ["--certify"]
    run(folder, FASTSVM, "approx", "-q", *certify, "--max-size", "2000", "--scale", "range", "model", "carrying")
    if regression:  # a carried range gives raw labels
        run(folder, FASTSVM, "order", "-q", "--carry", "range", "model", "ordered")
        run(folder, FASTSVM, "predict", "-q", "test", "ordered", "carried")
        lower, scale, low = y_back((folder / "range").read_text())
        expected = [low + (value - lower) * scale for (value,) in numbers(folder / "ours")]
        other = sum(abs(a - b) > 1e-9 * scale for (a,), b in zip(numbers(folder / "carried"), expected, strict=True))
    else:
        run(folder, FASTSVM, "predict", "-q", "--exact", "model", "test", "carrying", "carried")
        other = lines_that_differ(folder / "carried", folder / "theirs")
    found = numbers(folder / "ours")
    entries = [text.count(":") / len(found) for text in (test, (folder / "test.scaled").read_text())]
    cells = [len(found), f"{entries[0]:.1f}", f"{entries[1]:.1f}", f"{differ}{beside}"]
    return [*cells, other], not differ and not other


def main():
    options = parsed()

    def program(name):
        return os.path.join(os.path.abspath(options.libsvm), name) if options.libsvm else name

    widths = (16, 22, 24, 9, 6, 8, 8, 11, 7)
    heads = ("data", "svm-train", "svm-scale", "range", "rows", "entries", "scaled", "lines", "carried")
    print("".join(f"{head:<{width}}" for head, width in zip(heads, widths)).rstrip(), flush=True)
    good = total = 0
    for name, training, scaling, how in CASES:
        if options.only not in f"{name} {training} {scaling} {how}":
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(options.data_dir, name)
            cells, equal = check(Path(folder), source, training, scaling, how, options.rows, program)
        total, good = total + 1, good + equal
        cells = [name, training, scaling, how or "-", *cells]
        print("".join(f"{cell!s:<{width}}" for cell, width in zip(cells, widths)).rstrip(), flush=True)
    print(f"{good} of {total} to the byte")
    sys.exit(0 if good == total else 1)


if __name__ == "__main__":
    main()
