"""Figures of the reproduced experiments: panels side by side, written as SVG."""

from pathlib import Path

import matplotlib
from matplotlib import pyplot

from fastsvm_cli.figures import ticks_between

matplotlib.use("Agg")
matplotlib.rcParams.update(
    {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "savefig.dpi": 100,  # of rasterized parts
        "svg.fonttype": "none",  # smaller and searchable
        "svg.hashsalt": "fastsvm",  # deterministic ids
    }
)
#: Colours of ours or the first curve, and of the paper's or the second.
BLUE, RED = "#1f4e8c", "#c1440e"


def panels(count, height=4.0, **shared):
    """Return a figure and its axes. shared: arguments of pyplot.subplots."""
    return pyplot.subplots(1, count, figsize=(4.6 * count, height), **shared)


def set_plain_ticks(axis, low, high):
    """Label a logarithmic axis with plain numbers, not with powers of ten."""
    ticks = ticks_between(low, high, 6)
    axis.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def save(figure, folder, name):
    """Write folder/name and close the figure."""
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    print(f"Drawn: {path}", flush=True)
