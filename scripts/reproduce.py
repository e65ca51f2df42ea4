#!/usr/bin/env python3
"""Run every experiment of PAPERS.md on the public files, one after the other.

    scripts/reproduce.py DATA_DIR MODEL_DIR FOLDER [--only NAME ...]
    scripts/reproduce.py --list

FOLDER gets NAME.txt of each experiment, which is also shown line by line, and the figures (SVG). An experiment whose
NAME.txt exists is skipped, so that a second run continues. Missing models are trained for minutes each. DATA_DIR and
MODEL_DIR: see scripts/README.md. Exit code 1 if an experiment failed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Name -> (processor minutes, words of its command). DATA, MODELS and FIGURES are folders.
EXPERIMENTS = {
    "tables": (16, "reproduce_tables.py DATA --models MODELS"),
    "reduced-sets": (3.2, "reproduce_reduced_set.py table DATA MODELS"),
    "reduced-set-figures": (5.9, "reproduce_reduced_set.py figures DATA MODELS --plot FIGURES"),
    "reduced-set-rivals": (0.4, "reproduce_reduced_set.py rivals DATA MODELS"),
    "fixed-point-starts": (0.1, "reproduce_reduced_set.py starts DATA MODELS"),
    "border": (21, "reproduce_border.py curve DATA MODELS --plot FIGURES"),
    "border-rivals": (5.3, "reproduce_border.py rivals DATA MODELS"),
    "border-density": (1.7, "reproduce_border.py density DATA"),
    "geometry": (1.4, "reproduce_geometry.py DATA --models MODELS --plot FIGURES"),
    "fisher": (1.2, "reproduce_fisher.py DATA"),
    "triangle": (11, "reproduce_triangle.py DATA --plot FIGURES"),
    "stops": (7.3, "reproduce_stops.py DATA"),
}


def command(name, data, models, folder):
    folders = {"DATA": data, "MODELS": models, "FIGURES": folder}
    script, *words = EXPERIMENTS[name][1].split()
    return [sys.executable, "-u", str(HERE / script), *(str(folders.get(word, word)) for word in words)]


def run(words, found):
    """Show the lines of a command while they come, and write them to the file. Return the exit code."""
    partial = found.with_suffix(".partial")
    with partial.open("w") as out:
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in child.stdout:
            out.write(line)
            print(f"    {line}", end="", flush=True)
    if child.wait() == 0:
        partial.rename(found)
    return child.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, metavar in (("data", "DATA_DIR"), ("models", "MODEL_DIR"), ("folder", "FOLDER")):
        parser.add_argument(name, metavar=metavar, type=Path, nargs="?")
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="names, processor minutes, commands")
    options = parser.parse_args()
    if options.list:
        for name in options.only:
            minutes, words = EXPERIMENTS[name]
            print(f"{name:<20} {minutes:>3} min  {words}")
        return
    if options.folder is None:
        parser.error("DATA_DIR, MODEL_DIR and FOLDER are required")
    failed = []
    for at, name in enumerate(options.only, 1):
        words = command(name, options.data.resolve(), options.models.resolve(), options.folder.resolve())
        print(f"[{at} of {len(options.only)}] {name}: {' '.join(words[2:])}", flush=True)
        found = options.folder / f"{name}.txt"
        if found.exists():
            continue
        options.folder.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        if code := run(words, found):
            failed.append(name)
        print(f"    {f'exit code {code}' if code else 'done'} after {time.monotonic() - start:.0f} s", flush=True)
    if failed:
        sys.exit(f"Error: {', '.join(failed)} failed")


if __name__ == "__main__":
    main()
