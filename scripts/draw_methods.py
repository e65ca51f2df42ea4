#!/usr/bin/env python3
"""Measure every method on models, and draw the labels that differ against the speed: the figure of the front page.

    scripts/draw_methods.py figures/methods.json figures/methods.svg
    scripts/draw_methods.py figures/methods.json figures/methods.svg --measure a9a.t a9a.model "a9a, gamma 0.01" \\
        --measure letter.scale.t letter.model "letter, gamma 0.5"

Without --measure, the stored figures of the .json are drawn. With it, they are replaced: every other row calibrates the
cascade; the rest, repeated to 16,000 rows, is predicted by svm-predict and by fastsvm-predict with one thread, whole
processes in turn. The ratio is of the least processor seconds of each, which other processes disturb less than wall
time; run it on an idle machine all the same.
Needs matplotlib.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import matplotlib
import svm_predict
from matplotlib.ticker import FuncFormatter

from fastsvm_cli import figures
from fastsvm_cli.benchmarks import environment

BIN = Path(sys.executable).parent
ROWS = 16_000
#: Label of a point -> the command that compiles; with --certify, prediction takes --exact.
COMPILED = {
    "approx": "approx",
    "approx --degree 3": "approx --degree 3",
    "approx --certify, --exact": "approx --certify",
    "reduce --ratio 0.1": "reduce --ratio 0.1",
    "order": "order",
    "border": "border",
    "cascade": "cascade --budget 0.5%",
}
#: Largest share drawn with a linear scale, in percent: below are models that change nothing.
LINEAR = 0.004
#: Sides of a point that its label may take: across (1: right) and up.
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))


def seconds(command):
    """Return the processor seconds of a process. Raise RuntimeError with its message."""
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    output = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(output.strip())
    return used.ru_utime + used.ru_stime


def measured(rows, model, title, build, runs, folder):
    lines = Path(rows).read_bytes().splitlines(keepends=True)
    stored, repeats = lines[1::2], -(-ROWS // len(lines[1::2]))
    (folder / "calibrate").write_bytes(b"".join(lines[::2]))
    (folder / "rows").write_bytes(b"".join(stored * repeats))
    commands, outs = {}, {}

    def add(name, program, *words):
        outs[name] = folder / f"{name}.out"
        commands[name] = [*program, *words[:-1], folder / "rows", words[-1], outs[name]]

    ours = [BIN / "fastsvm-predict", "-q", "--threads", 1]
    add("svm-predict", [build.path], model)
    add("exact model", ours, model)
    for name, words in COMPILED.items():
        made = folder / name.replace(" ", "")
        data = ["--data", folder / "calibrate", "--rows", repeats * len(stored)] if name == "cascade" else []
        words = [BIN / "fastsvm", *shlex.split(words), *data, "-q", model, made]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode:
            print(f"{title}, {name}: {done.stderr.strip()}", file=sys.stderr)
            continue
        add(name, ours, *(["--exact", model] if "--exact" in name else []), made)
    taken = {name: [] for name in commands}
    for run, (name, command) in product(range(runs), commands.items()):
        taken[name].append(seconds(command))
        print(f"{title}, run {run + 1} of {runs}, {name}: {taken[name][-1]:.3g} s", file=sys.stderr)
    labels = {name: out.read_text().split("\n")[: len(stored)] for name, out in outs.items()}
    reference = min(taken["svm-predict"])
    points = [
        {
            "method": name,
            "speed": float(f"{reference / min(taken[name]):.3g}"),
            "differ": sum(a != b for a, b in zip(labels[name], labels["svm-predict"], strict=True)),
        }
        for name in commands
    ]
    about = environment.describe(1)
    return {
        "title": title,
        "rows": len(stored),
        "repeated": repeats,
        "svm_predict": build.name,
        "seconds": float(f"{reference:.3g}"),
        "processor": about["processor"],
        "instructions": about["kernels"],
        "points": points,
    }


def draw(models):
    with figures.applied():
        matplotlib.rcParams.update({f"{each}.labelsize": 10 for each in ("axes", "xtick", "ytick")})
        matplotlib.rcParams.update({"font.size": 10, "axes.titlesize": 11})
        figure = figures.empty_figure(2.75 * len(models) + 0.25)
        figure.set_size_inches(5.6, figure.get_size_inches()[1])
        fastest = max(point["speed"] for model in models for point in model["points"])
        axes = figure.subplots(len(models), sharex=True, squeeze=False)[:, 0]
        figure.subplots_adjust(0.12, 0.1, 0.985, 0.95, hspace=0.24)
        for axis, model, colour in zip(axes, models, (figures.BLUE, figures.VERMILLION)):
            draw_panel(figure, axis, model, colour, fastest)
        axes[-1].set_xlabel("times the speed of svm-predict, one thread each")
        return figure


def draw_panel(figure, axis, model, colour, fastest):
    axis.set_xscale("log")
    axis.set_xlim(0.7, fastest * 1.8)
    axis.set_yscale("symlog", linthresh=LINEAR, linscale=1.2)
    axis.set_ylim(-1.1 * LINEAR, 100)
    axis.set_yticks([0, 0.01, 0.1, 1, 10, 100])
    plain = FuncFormatter(lambda value, _: f"{value:,g}")
    axis.yaxis.set_major_formatter(plain), axis.xaxis.set_major_formatter(plain)
    axis.yaxis.set_ticks([], minor=True)
    axis.axhspan(-1.1 * LINEAR, LINEAR, color="0.94", linewidth=0, zorder=0)
    axis.set_ylabel("labels that differ, %")
    axis.set_title(model["title"], loc="left")
    shares = [(each["method"], each["speed"], 100 * each["differ"] / model["rows"]) for each in model["points"]]
    for name, speed, share in shares:
        axis.plot([speed], [share], "s" if name == "svm-predict" else "o", color=colour, markersize=5, zorder=3)
    renderer, inverse = figure.canvas.get_renderer(), axis.transData.inverted()
    inside = axis.get_window_extent(renderer)
    taken = [line.get_window_extent(renderer) for line in axis.lines]
    for name, speed, share in shares:
        at = axis.transData.transform((speed, share))
        label = axis.annotate(name, (speed, share), xytext=(0, 0), textcoords="offset points", zorder=4)
        for distance, (side, up) in product((5, 16, 28, 40, 52), SIDES):
            label.set(ha=("right", "center", "left")[side + 1], va=("top", "center", "bottom")[up + 1])
            label.xyann = (5 * side, distance * up)
            box = label.get_window_extent(renderer)
            within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if within and not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)
        if distance > 5:
            corner = inverse.transform((min(max(at[0], box.x0), box.x1), box.y0 if up > 0 else box.y1))
            axis.plot(*zip((speed, share), corner), color="0.5", linewidth=0.6, zorder=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path)
    parser.add_argument("figure", type=Path)
    parser.add_argument("--measure", action="append", nargs=3, metavar=("ROWS", "MODEL", "TITLE"))
    parser.add_argument("--runs", type=int, default=3)
    svm_predict.add_option(parser)
    options = parser.parse_args()
    if options.measure:
        (build,) = svm_predict.chosen(options)[:1]
        found = []
        for rows, model, title in options.measure:
            with tempfile.TemporaryDirectory() as folder:
                found.append(measured(rows, Path(model).resolve(), title, build, options.runs, Path(folder)))
        options.figures.write_text(json.dumps(found, indent=1) + "\n")
    figure = draw(json.loads(options.figures.read_text()))
    options.figure.write_bytes(figures.content(figure, options.figure.suffix[1:]))


if __name__ == "__main__":
    main()
