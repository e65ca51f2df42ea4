"""Helpers for tests of bench."""

import io
import json
import os
import re
import subprocess

import numpy as np
from rich.console import Console
from scipy.stats import binomtest, median_abs_deviation

from support.forked import fastsvm
from support.messages import cases
from support.paths import DATA
from support.processes import default_signals, interrupted, wait_until
from support.training import train_on

ROWS = 120
#: Instead of this machine: builds of svm-predict differ in speed.
MACHINE = dict(cases("the machine of bench"))
STATISTICS = {
    "median": np.median,
    "spread": lambda runs: 1.4826 * median_abs_deviation(runs),
}


def ratio_and_error(reference, mine):
    """Gaussian propagation through r / m, by its partial derivatives."""
    r, m = np.median(reference), np.median(mine)
    return r / m, np.hypot(STATISTICS["spread"](reference) / m, r * STATISTICS["spread"](mine) / m**2)


def wilson(different, rows):
    return binomtest(different, rows).proportion_ci(0.95, method="wilson").high


def train(folder, name, source, options, rows=None):
    return train_on(folder / name, source, options, rows)


def first_rows(folder, name, source, rows):
    (folder / name).write_text("".join((DATA / source).read_text().splitlines(keepends=True)[:rows]))
    return folder / name


def run(*args, cwd=None):
    return fastsvm(args, cwd=cwd, check=True, text=True)


def by_name(document):
    return {case["name"]: case for case in document["cases"]}


class Clock:
    """A clock that work moves on. rate: its speed. noise: relative, of every run."""

    def __init__(self, rate=1.0, noise=0.0):
        self.now, self.rate, self._noise, self._draw = 0.0, rate, noise, np.random.default_rng(1)

    def __call__(self):
        return self.now

    def spend(self, seconds):
        self.now += self.rate * seconds * (1 + self._noise * self._draw.standard_normal() ** 2)


def rounded(found):
    """With nine digits: the last ones depend on the processor."""
    if isinstance(found, dict):
        return {key: rounded(each) for key, each in found.items()}
    if isinstance(found, list):
        return [rounded(each) for each in found]
    return float(f"{found:.9g}") if isinstance(found, float) else found


def compact(document):
    """JSON whose inner lists and objects are a line each."""
    return re.sub(r"\n( {4,}| {3}(?=[]}]))", " ", json.dumps(document, indent=1)) + "\n"


def printed(shown, width, **how):
    console = Console(file=io.StringIO(), width=width, **how)
    for each in shown:
        console.print(each)
    return console.file.getvalue()


def interrupted_when(ready, words, cwd, **environment):
    """Both streams of a process that gets Ctrl-C once `ready()`."""
    env = {**os.environ, **environment}
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    how = {"cwd": cwd, "env": env, "text": True, "start_new_session": True, "preexec_fn": default_signals}
    process = subprocess.Popen(words, **streams, **how)
    try:
        wait_until(lambda: process.poll() is not None or ready())
        assert process.poll() is None
        return interrupted(process)
    finally:
        process.kill()
