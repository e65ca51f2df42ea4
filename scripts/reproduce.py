#!/usr/bin/env python3
"""Run every experiment of PAPERS.md on the public files, one after the other.

    scripts/reproduce.py DATA_DIR MODEL_DIR FOLDER [--only NAME ...] [--list]

FOLDER gets NAME.txt of each experiment, which is also shown line by line, and the figures (SVG). An experiment whose
NAME.txt exists is skipped, so that a second run continues. Some take an hour; missing models are trained for minutes
each. DATA_DIR and MODEL_DIR: see scripts/README.md. Exit code 1 if an experiment failed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Name -> words of its command; DATA, MODELS and FIGURES are folders.
EXPERIMENTS = {
    "tables": "reproduce_tables.py DATA --models MODELS",
    "reduced-sets": "reproduce_reduced_set.py table DATA MODELS",
    "reduced-set-figures": "reproduce_reduced_set.py figures DATA MODELS --plot FIGURES",
    "reduced-set-rivals": "reproduce_reduced_set.py rivals DATA MODELS",
    "fixed-point-starts": "reproduce_reduced_set.py starts DATA MODELS",
    "border": "reproduce_border.py curve DATA MODELS --plot FIGURES",
    "border-rivals": "reproduce_border.py rivals DATA MODELS",
    "border-density": "reproduce_border.py density DATA",
    "geometry": "reproduce_geometry.py DATA --models MODELS --plot FIGURES",
    "fisher": "reproduce_fisher.py DATA",
    "triangle": "reproduce_triangle.py DATA --plot FIGURES",
    "stops": "reproduce_stops.py DATA",
}


def command(name, data, models, folder):
    folders = {"DATA": data, "MODELS": models, "FIGURES": folder}
    script, *words = EXPERIMENTS[name].split()
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
    for name in ("data", "models", "folder"):
        parser.add_argument(name, metavar=f"{name.upper()}_DIR" if name != "folder" else "FOLDER", type=Path)
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the commands, and run none")
    options = parser.parse_args()
    failed = []
    for at, name in enumerate(options.only, 1):
        words = command(name, options.data.resolve(), options.models.resolve(), options.folder.resolve())
        print(f"[{at} of {len(options.only)}] {name}: {' '.join(words[2:])}", flush=True)
        found = options.folder / f"{name}.txt"
        if options.list or found.exists():
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
