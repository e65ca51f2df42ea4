#!/usr/bin/env python3
"""Print tables from the output of `fastsvm bench --json`.

scripts/tabulate_bench.py bench.json          the medians, in Markdown
scripts/tabulate_bench.py --runs bench.json   every run, as CSV: clock, case, run, seconds
"""

import argparse
import csv
import json
import sys
from pathlib import Path

from tables import markdown

COLUMNS = (
    "model",
    "bytes",
    "end to end",
    "faster",
    "in memory, per row",
    "faster",
    "labels that differ",
    "rows proven",
)


def cells(case, rows):
    clocks = []
    for key, unit, factor in (("end_to_end", "s", 1), ("scoring", "us", 1e6)):
        timed = case[key]
        clocks.append(f"{factor * timed['median']:.3g} +- {factor * timed['spread']:.1g} {unit}" if timed else "")
        clocks.append(f"{timed['speed_up']:.3g}" if timed and timed["speed_up"] else "")
    share, proven = case["disagreement"], case.get("rows_proven")
    return (
        case["name"],
        str(case["size"] or ""),
        *(clocks if case["failed"] is None else (case["failed"], "", "", "")),
        "" if share is None else f"{case['labels_that_differ']} ({100 * share:.3g} %)",
        "" if proven is None else f"{100 * proven / rows:.4g} %",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--runs", action="store_true")
    options = parser.parse_args()
    document = json.loads(options.bench.read_text())
    if options.runs:
        table = csv.writer(sys.stdout, lineterminator="\n")
        table.writerow(("clock", "case", "run", "seconds"))
        for case in document["cases"]:
            for clock in ("end_to_end", "scoring"):
                for run, seconds in enumerate((case[clock] or {"runs": []})["runs"], 1):
                    table.writerow((clock, case["name"], run, repr(seconds)))
        return
    print(markdown(COLUMNS, (cells(case, document["rows"]) for case in document["cases"])))


if __name__ == "__main__":
    main()
