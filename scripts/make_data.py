#!/usr/bin/env python3
"""Make the data sets that data/README.md describes, the same on every machine.

    scripts/make_data.py

Needs only the standard library.
"""

import math
import pathlib
import random

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def row(label, features):
    """Return a LIBSVM line with four decimals, without zeros."""
    pairs = (f"{index}:{value:.4f}".rstrip("0").rstrip(".") for index, value in sorted(features.items()) if value)
    return " ".join([label, *pairs]) + "\n"


def rings(rng):
    z = [rng.random() for _ in range(8)]
    radius = math.sqrt(sum((x - 0.5) ** 2 for x in z))
    inside = radius < 0.8
    if rng.random() < 0.05:
        inside = not inside
    return row("+1" if inside else "-1", {i + 1: x for i, x in enumerate(z)})


def colors(rng):
    label = rng.choices([1, 2, 3, 7], weights=[5, 3, 2, 1])[0]
    chosen = {}
    for group in range(12):
        favourite = (label * (group + 3)) % 5
        pick = favourite if rng.random() < 0.45 else rng.randrange(5)
        chosen[group * 5 + pick + 1] = 1
    return row(str(label), chosen)


def waves(rng):
    x = [rng.uniform(-1, 1) for _ in range(3)]
    y = math.sin(2 * x[0]) + x[1] * x[2] + rng.gauss(0, 0.05)
    return row(f"{y:.4f}", {i + 1: v for i, v in enumerate(x)})


def write(name, make, rows, seed):
    rng = random.Random(seed)
    (DATA / name).write_text("".join(make(rng) for _ in range(rows)))


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    write("rings.train", rings, 3000, seed=1)
    write("rings.test", rings, 6000, seed=2)
    write("colors.train", colors, 1200, seed=3)
    write("colors.test", colors, 2000, seed=4)
    write("waves.train", waves, 600, seed=5)
