#!/usr/bin/env python3
"""Measure what gamma / gamma_MAX says about approx: the thresholds of `fastsvm bound`.

    scripts/measure_grades.py DATA_DIR [MODEL TEST]... [--only NAMES] [--json FILE]

Trains on 2,000 rows of data sets in DATA_DIR, at several gamma, as multiples of the rows' gamma_MAX about the mean, and
several C. Compiles each model, and each MODEL, at degrees 2 and 3 with a certificate, and counts, on 2,000 other rows
(MODEL: at most 4,000 of TEST), labels that differ from the exact model's and rows proven. TEST: rows, or - for points
between two support vectors. Prints Markdown; --json stores every measurement.
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import sqrt

import numpy as np
from libsvm_training import Kernel, Trainer, as_chunk, dense, read_rows, say
from tables import markdown

from fastsvm_cli import _native
from fastsvm_cli.bounds import gamma_max
from fastsvm_cli.commands.bound.report import ProvenRows
from fastsvm_cli.comparisons import agreement, agreement_with_exact
from fastsvm_cli.methods.approx.expansion import certify_seconds, compile_maclaurin, file_bytes
from fastsvm_cli.methods.approx.grade import Mean, largest, squared_distances
from fastsvm_cli.models import parse_libsvm
from fastsvm_cli.text.read_rows import read_bytes

SETS = [
    "a9a",
    "ijcnn1",
    "letter.scale",
    "optdigits_scale",
    "satimage.scale",
    "segment_scale",
    "spambase_scale",
    "u20",
]
RATIOS, COSTS, DEGREES = (0.25, 0.5, 1, 2, 3, 5, 10, 30), (1, 10, 1000), (2, 3)
TRAINED, TESTED = 2000, 4000
#: Limits of an expansion; of a certificate, in seconds.
MOST_BYTES, MOST_SECONDS = 8e6, 60.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("data_dir")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--json")
    args = parser.parse_args()
    models = [measured_model(*each) for each in zip(args.files[::2], args.files[1::2])]
    names = [name for name in args.only.split(",") if name]
    with ProcessPoolExecutor(2) as pool:
        trained = [each for found in pool.map(partial(series, args.data_dir), names) for each in found]
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"models": models, "series": trained}, file, indent=1)
    if models:
        print(model_table(models), end="\n\n")
    if trained:
        print(series_table(trained))


def gamma_max_of(rows: "_native.Chunk") -> float:
    """Return gamma_MAX about the mean, for support vectors as long as these rows."""
    mean = Mean().add(rows)
    norm = sqrt(largest(squared_distances(rows, mean.indices, mean.point)))
    return gamma_max(norm, norm)


def series(data_dir: str, name: str) -> "list[dict]":
    _native.set_threads(1)
    rows = read_rows(os.path.join(data_dir, name))
    order = np.random.default_rng(1).permutation(rows.rows)
    taken = min(TRAINED, rows.rows // 2)
    train, test = (rows.select(sorted(each.tolist())) for each in (order[:taken], order[taken:][:TRAINED]))
    trainer = Trainer(dense(train, rows.max_index), Kernel("rbf", 1.0))
    limit, out = gamma_max_of(train), []
    for times in RATIOS:
        trainer.kernel = Kernel("rbf", times * limit)
        for cost in COSTS:
            model = trainer.train(np.asarray(train.leading)[:, 0], cost)
            out.append({"name": name, "times": times, "c": cost, **measure(model, test)})
        say(f"{name}: {times} x gamma_MAX")
    return out


def measured_model(path: str, test: str) -> dict:
    model = parse_libsvm(read_bytes(path), path, warn=False)
    rows = between(model.vectors, TESTED) if test == "-" else read_rows(test)
    spread = [at * rows.rows // min(TESTED, rows.rows) for at in range(min(TESTED, rows.rows))]
    say(path)
    return {"name": os.path.basename(path), "made rows": test == "-", **measure(model, rows.select(spread))}


def between(vectors: "_native.Chunk", count: int) -> "_native.Chunk":
    """Return points on the segments between two random support vectors."""
    x, rng = dense(vectors, vectors.max_index), np.random.default_rng(1)
    one, other = rng.integers(0, len(x), (2, count))
    return as_chunk(x[one] + rng.random((count, 1)) * (x[other] - x[one]), np.zeros(count))


def measure(model, rows: "_native.Chunk") -> dict:
    header, features = model.header, len(_native.used_indices(model.vectors))
    limit = gamma_max_of(model.vectors)
    out = {
        "gamma": header.gamma,
        "ratio": header.gamma / limit,
        "vectors": header.total_sv,
        "rows": rows.rows,
        "regression": header.regression,
    }
    certify = certify_seconds(header, features) < MOST_SECONDS
    for degree in DEGREES:
        if file_bytes(header, features, degree) > MOST_BYTES:
            continue
        compiled = compile_maclaurin(model, fingerprint="0" * 32, degree=degree, certify=certify)
        out[f"changed {degree}"] = agreement(compiled, model, [rows]).share
        out[f"vectors changed {degree}"] = agreement_with_exact(compiled, model).share
        if certify and not header.regression:
            seen = ProvenRows(compiled)
            seen.add(rows)
            out[f"proven {degree}"] = seen.proven / seen.rows
    return out


def percent(share: "float | None") -> str:
    return "" if share is None else f"{100 * share:.2g} %" if share < 0.1 else f"{100 * min(share, 9.99):.0f} %"


def model_table(found: "list[dict]") -> str:
    keys = ["changed 2", "changed 3", "proven 2", "proven 3"]
    head = ["model", "ratio", "degree 2: differ", "degree 3", "degree 2: proven", "degree 3"]
    lines = [
        [each["name"] + " (made rows)" * each["made rows"], f"{each['ratio']:.2g}"]
        + [percent(each.get(key)) for key in keys]
        for each in sorted(found, key=lambda each: each["ratio"])
    ]
    return markdown(head, lines)


def series_table(found: "list[dict]") -> str:
    def cell(key: str, times: float, cost: float) -> str:
        values = sorted(each[key] for each in found if (each["times"], each["c"]) == (times, cost) and key in each)
        if not values:
            return ""
        return f"{percent(float(np.median(values)))} ({percent(values[0])} - {percent(values[-1])})".replace(" %", "")

    keys = ["changed 2", "changed 3", "proven 2", "proven 3"]
    head = ["ratio", "C", "degree 2: differ, %", "degree 3", "degree 2: proven, %", "degree 3"]
    return markdown(
        head, [[times, cost, *(cell(key, times, cost) for key in keys)] for times in RATIOS for cost in COSTS]
    )


if __name__ == "__main__":
    main()
