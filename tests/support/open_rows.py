"""Rows that a fast model leaves undecided; rows whose numbers are hard to write."""

import re
import struct

import numpy as np

from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support import oracles
from support.bad_rows import BAD
from support.evaluation import decide, stopped_after
from support.messages import cases

#: Name -> file of the compiled model, options of predict.
CASES = {name: (file, options.split()) for name, file, options in cases("models that leave rows open")}
UNKNOWN = 2_000_000_000  # an index that no support vector has


def awkward(rng, labels, rows):
    """Rows that need all digits: zero vectors, negative zeros, tiny numbers, unknown indices, comments."""
    for at, (label, row) in enumerate(zip(labels, rows)):
        row = {index: value * (1 + rng.uniform(-1e-9, 1e-9)) for index, value in row.items()}
        if at % 7 == 1:
            row[UNKNOWN] = 10 ** rng.uniform(-3, 0.5)
        if at % 11 == 3:
            row[2] = -0.0
        if at % 13 == 5:
            row[3] = 5e-324
        if at % 17 == 6:
            row = {}
        if at % 19 == 8:
            label = rng.choice([0.1, 1e-7, 1e300, -0.0, 123456789.123])
        yield oracles.row_text(label, row) + rng.choice(["", "", " # a comment: 17", " "]) + "\n"


def bits(value):
    return struct.pack(">d", value)


def parsed(line):
    """(label, {index: value}, line number or None), numbers as their 64 bits."""
    words, _, comment = line.partition("#")
    label, *entries = words.split()
    pairs = (entry.split(":") for entry in entries)
    number = int(comment) if re.fullmatch(r" \d+\n?", comment) else None
    return bits(float(label)), {int(index): bits(float(value)) for index, value in pairs}, number


def undecided_by_radii(case, values, radii):
    """(rows) bool, by the definition"""
    if case == "regression":
        return radii[:, 0] > float(CASES[case][1][1])
    if values.shape[1] == 1:
        return np.abs(values[:, 0]) <= radii[:, 0]
    classes = int((1 + (1 + 8 * values.shape[1]) ** 0.5) / 2)
    out = []
    for value, radius in zip(values, radii):
        low, high, pair = np.zeros(classes, int), np.zeros(classes, int), 0
        for i in range(classes):
            for j in range(i + 1, classes):
                if abs(value[pair]) > radius[pair]:
                    winner = i if value[pair] > 0 else j
                    low[winner] += 1
                    high[winner] += 1
                else:
                    high[[i, j]] += 1
                pair += 1
        decided = [
            all(low[w] > high[c] or (low[w] == high[c] and w < c) for c in range(classes) if c != w)
            for w in range(classes)
        ]
        out.append(not any(decided))
    return np.array(out)


def expected_open(models, case, path):
    """Line numbers of the open rows of a file."""
    model = load_model(str(models / CASES[case][0]))
    if case == "steps":
        model = stopped_after(model, 9)
    found = []
    for chunk in read_chunks(str(path)):
        is_open = undecided_by_radii(case, *decide(model, chunk))
        found += (np.flatnonzero(is_open) + chunk.first_line).tolist()
    return found


def is_row(line):
    return line not in BAD and not line.lstrip(" \t").startswith("#")
