#!/usr/bin/env python3
"""Time whole processes of svm-predict and fastsvm side by side, and print the Markdown tables of ratios on the front
page and in scripts/README.md.

    scripts/benchmark.py --models MODEL_DIR --data DATA_DIR
    scripts/benchmark.py --tuned FOLDER --published FOLDER --instructions avx2,avx512_vnni --json new.json
    scripts/benchmark.py ... --compare old.json

MODEL_DIR and DATA_DIR: as in scripts/README.md. --tuned: NAME.model, NAME.test and, for probabilities, NAME.prob.model.
--published: NAME.model and NAME.rows. Programs run in turn, each into a new file. A ratio is that of the medians, +-
the spread of the ratios of single rounds. --compare lists ratios that moved by more than both spreads. Run it on an
idle machine.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fastsvm_cli.benchmarks import environment

BIN = Path(sys.executable).parent
SHARED = {
    "a9a_g0.01_c1": "a9a.t",
    "ijcnn1_g0.05_c1": "ijcnn1.t",
    "mnist1_g0.0001_c10": "mnist1.t",
    "u20_g0.1_c1": "u20.t",
}
#: Tools that ask svm-predict for probabilities.
ASKED_FOR_PROBABILITIES = ("cpc2", "rnaz_decision", "multiloc2")
LONG = 0.5  # least seconds of svm-predict: rows are repeated until it takes that long


class Case:
    """Row of a table: the same task for svm-predict (`words`), and for fastsvm in several ways."""

    def __init__(self, table, name, rows, words, ways):
        self.table, self.name, self.rows, self.words, self.ways = table, name, rows, words, ways


def shared_cases(models, data, folder):
    for name, rows in SHARED.items():
        model = models / f"{name}.model"
        ways = {"exact model": [model]}
        for degree in (2, 3):
            made = folder / f"{name}.degree{degree}"
            words = [BIN / "fastsvm", "approx", "-q", "--certify", "--degree", degree, model, made]
            if subprocess.run(list(map(str, words)), capture_output=True).returncode == 0:
                ways[f"degree {degree}"] = [made]
                ways[f"degree {degree}, --exact"] = ["--exact", model, made]
        yield Case("compiled", name, data / rows, [model], ways)


def tuned_cases(tuned):
    for model in sorted(tuned.glob("*.model")):
        name = model.name.removesuffix(".model")
        rows = tuned / f"{name.removesuffix('.prob')}.test"
        if name.endswith(".prob"):
            words = ["-b", "1", model]
            yield Case("tuned, -b 1", name.removesuffix(".prob"), rows, words, {"exact model": words})
        else:
            yield Case("tuned, labels", name, rows, [model], {"exact model": [model], "--values": ["--values", model]})


def published_cases(published):
    for model in sorted(published.glob("*.model")):
        words = ["-b", "1", model] if model.name.startswith(ASKED_FOR_PROBABILITIES) else [model]
        rows = model.with_suffix(".rows")
        yield Case("published", model.name.removesuffix(".model"), rows, words, {"exact model": words})


def seconds(program, words, rows, out, instructions):
    """Return the seconds of one process, from start to end."""
    out.unlink(missing_ok=True)
    *options, model = map(str, words)
    environment = {**os.environ, "FASTSVM_INSTRUCTIONS": instructions}
    start = time.perf_counter()
    subprocess.run([program, *options, rows, model, out], check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def fastsvm_words(words):
    """Return the options for fastsvm-predict: those of svm-predict, and -q."""
    return ["-q", *words]


def long_enough(case, svm_predict, out, folder):
    """Return the rows, repeated until svm-predict takes LONG seconds, and how often."""
    taken = seconds(svm_predict, case.words, case.rows, out, "")
    times = max(1, min(200, round(LONG / taken)))
    if times == 1:
        return case.rows, 1
    rows = folder / f"{case.name}.{times}"
    rows.write_bytes(case.rows.read_bytes() * times)
    return rows, times


def measure(case, svm_predict, instructions, runs, folder):
    """Return {way: (ratio, spread)}, and the seconds of svm-predict."""
    out = folder / "out"
    rows, times = long_enough(case, svm_predict, out, folder)
    reference, found = [], {(way, name): [] for name in instructions for way in case.ways}
    for _ in range(runs):
        reference.append(seconds(svm_predict, case.words, rows, out, ""))
        for (way, name), taken in found.items():
            taken.append(seconds(BIN / "fastsvm-predict", fastsvm_words(case.ways[way]), rows, out, name))
    median = statistics.median(reference)
    result = {}
    for (way, name), taken in found.items():
        single = [each / other for each, other in zip(reference, taken)]
        ratio = median / statistics.median(taken)
        spread = 1.4826 * statistics.median(abs(each - statistics.median(single)) for each in single)
        result[f"{way} ({name})"] = (ratio, spread)
    return {"svm_predict": median, "times": times, "ratios": result}


def table(title, found):
    """Return a Markdown table, a row per case."""
    ways = list(dict.fromkeys(way for each in found.values() for way in each["ratios"]))
    rows = [["model", "svm-predict, s", *ways]]
    for name, each in found.items():
        cells = [f"{each['ratios'][way][0]:.3g}x" if way in each["ratios"] else "" for way in ways]
        rows.append([name, f"{each['svm_predict']:.3g}", *cells])
    for way in ways if len(found) > 1 else []:
        known = [each["ratios"][way][0] for each in found.values() if way in each["ratios"]]
        if way == ways[0]:
            rows.append(["geometric mean", ""])
        rows[-1].append(f"{statistics.geometric_mean(known):.3g}x")
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths))} |" for row in rows]
    lines.insert(1, f"| {' | '.join('-' * width for width in widths)} |")
    return "\n".join([f"**{title}**", "", *lines, ""])


def moved(now, before):
    """Yield sentences about ratios that differ by more than both spreads."""
    for key, each in now["cases"].items():
        for way, (ratio, spread) in each["ratios"].items():
            old = before["cases"].get(key, {"ratios": {}})["ratios"].get(way)
            if old is not None and abs(ratio - old[0]) > spread + old[1]:
                yield f"{key}, {way}: {old[0]:.3g} +- {old[1]:.2g} before, {ratio:.3g} +- {spread:.2g} now"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("models", "data", "tuned", "published", "json", "compare"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--svm-predict", default=shutil.which("svm-predict"))
    parser.add_argument("--instructions", default="")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    instructions = options.instructions.split(",")
    machine = environment.describe(0)
    head = (
        f"{machine['processor']}, {machine['cores']} cores; {options.instructions or machine['kernels']};"
        f" fastsvm {machine['fastsvm']}; {machine['system']}. Times the speed of {options.svm_predict}."
    )
    print(head, "", sep="\n")
    found = {"machine": machine, "cases": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = []
        if options.models:
            cases += shared_cases(options.models, options.data, folder)
        if options.tuned:
            cases += sorted(tuned_cases(options.tuned), key=lambda case: case.table)
        if options.published:
            cases += published_cases(options.published)
        for title in dict.fromkeys(case.table for case in cases):
            results = {}
            for case in (case for case in cases if case.table == title):
                results[case.name] = measure(case, options.svm_predict, instructions, options.runs, folder)
                found["cases"][f"{title}: {case.name}"] = results[case.name]
            print(table(title, results), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    if options.compare:
        for sentence in moved(found, json.loads(options.compare.read_text())):
            print(sentence)


if __name__ == "__main__":
    main()
