"""What the tests of bench share."""

import csv
import json
import os
import re
import subprocess

import numpy as np
import pytest
from conftest import DATA, FASTSVM, PATIENCE
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train
from scipy.stats import binomtest, median_abs_deviation
from threadpoolctl import threadpool_limits

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ROWS = 120
STATISTICS = {
    "median": np.median,
    "mean": np.mean,
    "least": np.min,
    "most": np.max,
    "deviation": lambda runs: np.std(runs, ddof=1) if len(runs) > 1 else 0.0,
    "spread": lambda runs: 1.4826 * median_abs_deviation(runs),
}


def ratio_and_error(reference, mine):
    """Gaussian propagation through r / m, by its partial derivatives."""
    r, m = np.median(reference), np.median(mine)
    return r / m, np.hypot(STATISTICS["spread"](reference) / m, r * STATISTICS["spread"](mine) / m**2)


def wilson(different, rows):
    return binomtest(different, rows).proportion_ci(0.95, method="wilson").high


def train(folder, name, source, options, rows=None):
    y, x = svm_read_problem(str(DATA / source))
    svm_save_model(str(folder / name), svm_train(y[:rows], x[:rows], f"-q {options}"))
    return folder / name


def first_rows(folder, name, source, rows):
    (folder / name).write_text("".join((DATA / source).read_text().splitlines(keepends=True)[:rows]))
    return folder / name


def run(*args, cwd=None):
    return subprocess.run(
        [FASTSVM, *map(str, args)],
        cwd=cwd,
        env={**os.environ, **ONE_THREAD},
        check=True,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """libsvm's threads wait busily for each other: on a busy machine training takes a hundred times as long."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with rows and models: exact ones, and of rings one compiled in each way."""
    folder = tmp_path_factory.mktemp("bench")
    (
        first_rows(folder, "rows", "rings.test", ROWS),
        first_rows(folder, "colors.rows", "colors.test", 150),
        first_rows(folder, "waves.rows", "waves.train", 80),
    )
    (
        train(folder, "rings.model", "rings.train", "-g 0.2 -c 10", 800),
        train(folder, "colors.model", "colors.train", "-g 0.02 -c 1", 300),
        train(folder, "waves.model", "waves.train", "-s 3 -g 0.05 -c 5", 300),
    )
    (
        train(folder, "other.model", "rings.train", "-g 0.5 -c 1", 300),
        train(folder, "sharp.model", "colors.train", "-g 0.2 -c 10", 300),
    )
    for words in (
        "approx rings.model rings.approx",
        "approx --certify rings.model rings.cert",
        "reduce --ratio 0.05 rings.model rings.red",
        "border --samples 30 rings.model rings.border",
        "order --method geometry rings.model rings.order",
        "approx --degree 1 sharp.model sharp.approx",
        "approx colors.model colors.approx",
        "approx --certify colors.model colors.cert",
        "approx waves.model waves.approx",
        "approx --degree 1 other.model other.approx",
    ):
        command, *rest = words.split()
        run(command, "-q", *rest, cwd=folder)
    (folder / "path").mkdir()  # a PATH without svm-predict
    return folder


@pytest.fixture
def bench(fastsvm):
    """fastsvm bench, one run of each case; no compilation is given up, however busy the machine is."""

    def bench(*args, env=None, **more):
        runs = () if "--runs" in args else ("--runs", 1)
        patience = ("--patience", PATIENCE) if "--try" in args and "--patience" not in args else ()
        return fastsvm("bench", *runs, *patience, *args, env={**ONE_THREAD, **(env or {})}, **more)

    return bench


@pytest.fixture(scope="module")
def measured(place):
    """(the JSON, the lines of the CSV) of all kinds of models at once."""
    done = run(
        "bench",
        "-q",
        "--runs",
        3,
        "--json",
        "--csv",
        "raw.csv",
        *"rows rings.model rings.approx rings.cert rings.red rings.border rings.order other.approx".split(),
        cwd=place,
    )
    assert done.stderr == ""
    return json.loads(done.stdout), list(csv.DictReader(open(place / "raw.csv")))


def by_name(document):
    return {case["name"]: case for case in document["cases"]}


def markdown_tables(text):
    lines = [
        line.replace("\\|", "\0").replace("|f - f_exact|", "\0f - f_exact\0")
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]
    lines = [[cell.strip().replace("\0", "|") for cell in line.split("|")[1:-1]] for line in lines]
    at = next(at for at, line in enumerate(lines) if line[1] == "labels that differ")
    return lines[:at], lines[at:]


def terminal_tables(text):
    lines = [
        [cell.strip() for cell in re.split("[│┃]", line)] for line in text.splitlines() if "│" in line or "┃" in line
    ]
    at = next(at for at, line in enumerate(lines) if line[1] == "labels that differ")
    return lines[:at], lines[at:]
