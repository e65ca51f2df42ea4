#!/usr/bin/env python3
"""Draw labels that differ, and the bound of each threshold alone, against the rows left to the exact model.

    scripts/draw_cascade.py MODEL.cascade ROWS figure.svg

ROWS: other ones than those that calibrated it. A point is one threshold of calibration.py; the ring, the cascade's. The
suffix sets the format: .svg, .png or .pdf. Needs matplotlib.
"""

import argparse
from pathlib import Path

import numpy as np

from fastsvm_cli import _native, figures
from fastsvm_cli.comparisons import upper_bound
from fastsvm_cli.methods.cascade.calibration import THRESHOLDS
from fastsvm_cli.models import LABELS, load_model
from fastsvm_cli.text.read_rows import read_chunks


def shares(model, rows, thresholds):
    """Return the shares of rows left to the exact model, and that differ, and the differing rows: (thresholds)."""
    decisions = model.exact.decisions(LABELS)
    model.exact.decision_values(rows, decisions)
    exact, cascade = np.array(decisions.winner), model.file.cascade()
    answers = [tuple(map(np.asarray, cascade.margins(rows, stage))) for stage in range(len(model.stages))]
    left, differing = [], []
    for threshold in thresholds:
        stays, wrong = np.ones(rows.rows, bool), 0
        for winner, margin in answers:
            stops = stays & (margin > threshold)
            wrong += int(np.sum(stops & (winner != exact)))
            stays &= ~stops
        left.append(stays.mean())
        differing.append(wrong)
    return np.array(left), np.array(differing)


def draw(model, rows, name):
    taken = model.stages[0].threshold
    left, differing = shares(model, rows, THRESHOLDS)
    chosen = int(np.argmin(np.abs(THRESHOLDS - taken)))
    bounds = [100 * upper_bound(int(count), rows.rows, model.confidence) for count in differing]
    with figures.applied():
        figure = figures.empty_figure(2.2)
        figure.set_layout_engine("constrained")
        axis = figure.subplots()
        axis.plot(100 * left, bounds, color=figures.BLUE, label=f"bound, {100 * model.confidence:g} % confidence")
        axis.plot(100 * left, 100 * differing / rows.rows, color=figures.VERMILLION, label="labels that differ")
        axis.axhline(100 * model.budget, color=figures.BLACK, linestyle=(0, (4, 1.5)), linewidth=0.8, label="budget")
        axis.plot(
            [100 * left[chosen]], [100 * differing[chosen] / rows.rows], "o", color=figures.BLACK, fillstyle="none",
            markersize=5, linestyle="none", label="this cascade",
        )  # fmt: skip
        axis.set_xscale("log")
        axis.set_xlim(max(100 * left.min(), 0.05) / 1.2, 100)
        figures.set_log_ticks(axis.xaxis)
        axis.set_ylim(0, 400 * model.budget)
        axis.set_xlabel("rows left to the exact model, %")
        axis.set_ylabel("of the labels, %")
        axis.set_title(f"{figures.printable(name, 40)}: {rows.rows:,} rows", loc="left")
        axis.legend(loc="upper right", frameon=True, framealpha=1, edgecolor="0.8", fancybox=False)
        return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("rows")
    parser.add_argument("figure", type=Path)
    options = parser.parse_args()
    rows = _native.Chunk.concatenate(list(read_chunks(options.rows)))
    figure = draw(load_model(options.model), rows, Path(options.rows).name)
    options.figure.write_bytes(figures.content(figure, options.figure.suffix[1:]))


if __name__ == "__main__":
    main()
