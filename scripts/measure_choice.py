#!/usr/bin/env python3
"""Compare what `bench --try` picks with the best model in hindsight.

    scripts/measure_choice.py FOLDER [--names a9a u20] [--halves 3] [--busy 2] [--picks-only] [--json FILE]

FOLDER: NAME.model and NAME.test. The model is picked on a random half of the test rows and judged on the other half,
beside every candidate of a fixed list: approx of degree 1 to 4 with one center and of degrees 2 and 3 with 4 and 16,
reduce at 11 ratios with and without the final descent, two cascades and the two orders. The best in hindsight is the
fastest that the judging half permits: by the rule of the budget, with its bound, or by the count alone, which also
takes models that are over the budget on other rows. Speeds are of one thread, in processor time, reading included.
--halves: number of pairs of halves. --busy: number of processes that use the processors meanwhile. --picks-only:
without the candidates.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from random import Random

from tables import markdown

from fastsvm_cli import _native
from fastsvm_cli.benchmarks.chooser import Choice, Entrant, FileRows
from fastsvm_cli.benchmarks.timing import factor, race, warm_up
from fastsvm_cli.comparisons import Budget, Changed
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.methods.method import compile_source, read_source
from fastsvm_cli.text.read_rows import read_chunks

RATIOS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
CANDIDATES = [
    *(("approx", {"degree": degree}) for degree in (1, 2, 3, 4)),
    *(("approx", {"centers": centers, "degree": degree}) for centers in (4, 16) for degree in (2, 3)),
    *(("reduce", {"ratio": ratio, "no_finish": True}) for ratio in RATIOS),
    *(("reduce", {"ratio": ratio}) for ratio in RATIOS),
    *(("cascade", {"budget": share}) for share in (0.6, 1.0)),  # of the budget
    *((name, {}) for name in ("geometry", "triangle")),
]
MOST_BYTES, TIME_LIMIT, SECONDS = 64e6, 30.0, 25.0


class GivenUp(Exception):
    pass


def compiled(source):
    """Yield the models of CANDIDATES that do not depend on rows, with their names."""
    for command, options in CANDIDATES:
        if command == "cascade":
            continue
        begin = time.process_time()

        def watch(share, words="", begin=begin):
            if time.process_time() - begin > SECONDS:
                raise GivenUp

        try:
            found = compile_source(command, source, options, watch)
        except (FastsvmError, ValueError, GivenUp, MemoryError):
            continue
        if found.size <= MOST_BYTES:
            yield " ".join([command, *(f"{name} {value}" for name, value in options.items())]), found.model


def cascades(source, calibration, budget):
    for command, options in CANDIDATES:
        if command == "cascade":
            given = {"budget": options["budget"] * budget, "data": [calibration.chunk()]}
            try:
                yield f"cascade budget {given['budget']:g}", compile_source(command, source, given).model
            except (FastsvmError, ValueError):
                continue


def judged(rows, reference, name, model):
    """Return an entrant with its share of changed labels, and a first time."""
    out = Entrant(rows, model)
    out.name = name
    out.rough = warm_up(out, rows.count)
    out.changed = Changed(reference, rows.answers(model, False) != reference)
    out.share = out.changed.share
    return out


def halves(rows, seed):
    """Return row numbers of two random halves: time series may have an even period."""
    order = list(range(rows))
    Random(seed).shuffle(order)
    return sorted(order[: rows // 2]), sorted(order[rows // 2 :])


def measure(path, options, folder):
    """Yield a record for each pair of halves."""
    source, budget = read_source(str(path)), options.budget
    rows = _native.Chunk.concatenate(list(read_chunks(str(path.with_suffix(".test")))))
    others = [] if options.picks_only else list(compiled(source))
    for seed in range(options.halves):
        parts = []
        for name, numbers in zip(("pick", "judge"), halves(rows.rows, seed)):
            file = pathlib.Path(folder, f"{path.stem}.{name}")
            file.write_bytes(_native.format_rows(rows.select(numbers)))
            parts.append(FileRows(str(file), source.model))
        pick, judge = parts
        wall, begin = time.perf_counter(), time.process_time()
        choice = Choice(source, pick, Budget(budget), time_limit=TIME_LIMIT, max_bytes=MOST_BYTES).run()
        out = {
            "model": path.stem,
            "halves": seed,
            "rows": pick.count,
            "picked": choice.picked.name,
            "processor": time.process_time() - begin,
            "wall": time.perf_counter() - wall,
            "not_tried": [each.name for each in choice.waiting],
        }
        if not options.picks_only:
            out.update(in_hindsight(source, choice, pick, judge, others, budget))
        yield out


def in_hindsight(source, choice, pick, judge, others, budget):
    reference = judge.answers(source.model, False)
    exact = judged(judge, reference, "exact model", source.model)
    picked = judged(judge, reference, choice.picked.name, choice.picked.model)
    entrants = [picked, *(judged(judge, reference, *each) for each in (*others, *cascades(source, pick, budget)))]
    inside = sorted((each for each in entrants if each.share <= budget), key=lambda each: each.rough)
    permitted = [each for each in inside if Budget(budget).permits(each.changed)]
    racing = list(dict.fromkeys([exact, picked, *inside[:6], *permitted[:6]]))
    race(racing, 20.0, keep=exact)
    gains = {each: factor(exact.timings, each.timings, judge.reading)[0] for each in racing}
    best, by_rule = (max((exact, *some[:6]), key=lambda each: gains[each]) for some in (inside, permitted))
    return {
        "gain": gains[picked],
        "differ": picked.share,
        "best": best.name,
        "best_gain": gains[best],
        "best_differ": best.share,
        "rule_best": by_rule.name,
        "rule_best_gain": gains[by_rule],
        "rule_best_differ": by_rule.share,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--budget", type=float, default=0.005)
    parser.add_argument("--halves", type=int, default=1)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--picks-only", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # as in the commands; numpy reads it when it is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    names = options.names or sorted(each.stem for each in options.folder.glob("*.model"))
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for name in names:
                for each in measure(options.folder / f"{name}.model", options, folder):
                    found.append(each)
                    print(each, file=sys.stderr, flush=True)
    finally:
        for each in burning:
            each.kill()
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    print(f"{_native.instruction_set()}, one thread, budget {100 * options.budget:g} %")
    if options.picks_only:
        rows = [
            (each["model"], each["picked"], f"{each['processor']:.1f} s", f"{each['wall']:.1f} s") for each in found
        ]
        print(markdown(("model", "picked", "processor", "wall"), rows))
        return
    heads = (
        "model",
        "picked",
        "times exact",
        "differ",
        "best by the rule",
        "times exact",
        "best by the count",
        "times exact",
    )
    print(
        markdown(
            heads,
            (
                (
                    each["model"],
                    each["picked"],
                    f"{each['gain']:.2f}",
                    f"{100 * each['differ']:.2g} %",
                    each["rule_best"],
                    f"{each['rule_best_gain']:.2f}",
                    each["best"],
                    f"{each['best_gain']:.2f}",
                )
                for each in found
            ),
        )
    )
    for key, words in (("rule_best_gain", "by the rule"), ("best_gain", "by the count")):
        near = sum(each["gain"] >= 0.9 * each[key] for each in found)
        print(f"within 10 % of the best {words}: {near} of {len(found)}")
    print(f"over the budget: {sum(each['differ'] > options.budget for each in found)} of {len(found)}")


if __name__ == "__main__":
    main()
