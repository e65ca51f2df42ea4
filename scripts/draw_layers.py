#!/usr/bin/env python3
"""Draw the layers of the program and a row's way through them: the figure of fastsvm_cli/README.md.

    scripts/draw_layers.py scripts/figures/layers.svg

Needs matplotlib.
"""

import argparse
from pathlib import Path

import matplotlib
from matplotlib.patches import FancyBboxPatch

from fastsvm_cli import figures

#: Layers from the top: name, its modules. A layer imports only those below it.
LAYERS = (
    ("process", "__main__.py  cli.py"),
    ("interfaces", "commands/  estimators/  dask.py  sklearn.py"),
    ("methods and measurement", "methods/  benchmarks/  figures.py  export/"),
    ("shared by commands", "console/  comparisons.py  cluster/"),
    ("prediction", "prediction.py  models/  text/  system.py  bounds.py"),
    ("core (C++)", "native/"),
)
#: A row's way through the core: module, what happens there.
WAY = (
    ("engine/line_blocks", "bytes: blocks of whole lines"),
    ("text/", "a block: rows of index:value"),
    ("exact/ or models/", "rows: decision values and radii"),
    ("answers/", "values: labels, lines"),
    ("engine/run", "lines in order, and counts"),
)
WIDTH, ROW = 5.6, 0.42


def box(axis, left, bottom, width, words, below, colour):
    axis.add_patch(
        FancyBboxPatch(
            (left, bottom), width, ROW, boxstyle="round,pad=0,rounding_size=0.05", facecolor=colour, edgecolor="0.3",
            linewidth=0.7,
        )
    )  # fmt: skip
    axis.text(left + 0.1, bottom + 0.28, words, weight="bold", va="center")
    axis.text(left + 0.1, bottom + 0.12, below, va="center", color="0.2")


def draw():
    gap = 0.12
    rows = max(len(LAYERS), len(WAY))
    height = rows * (ROW + gap) + 0.5
    with figures.applied():
        matplotlib.rcParams.update({"font.size": 9})
        figure = figures.empty_figure(height)
        figure.set_size_inches(WIDTH, height)
        axis = figure.add_axes((0, 0, 1, 1))
        axis.set_xlim(0, WIDTH), axis.set_ylim(0, height), axis.axis("off")
        top = height - 0.4
        axis.text(0.1, height - 0.2, "Layers: each imports those below it", va="center")
        axis.text(3.28, height - 0.2, "A row's way through the core", va="center")
        for at, (name, modules) in enumerate(LAYERS):
            colour = "#FBE3CC" if at == len(LAYERS) - 1 else "#DCEBF7"
            box(axis, 0.1, top - at * (ROW + gap) - ROW, 2.9, name, modules, colour)
        for at, (module, what) in enumerate(WAY):
            bottom = top - at * (ROW + gap) - ROW
            box(axis, 3.28, bottom, 2.2, module, what, "#FBE3CC")
            if at:
                end, start = (4.38, bottom + ROW), (4.38, bottom + ROW + gap)
                axis.annotate("", end, start, arrowprops={"arrowstyle": "->", "shrinkA": 0, "shrinkB": 0})
        return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", type=Path)
    options = parser.parse_args()
    options.figure.write_bytes(figures.content(draw(), options.figure.suffix[1:]))


if __name__ == "__main__":
    main()
