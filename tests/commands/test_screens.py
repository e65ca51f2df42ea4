"""The output of commands: the transcript screens/commands.txt."""

import os
import re
import shlex

from support.forked import fastsvm
from support.paths import GOLDEN, TESTS

MODELS = {"m": "c_svc.model", "classes": "three_classes.model", "values": "epsilon_svr.model", "rows": "data"}
C_SVC = (GOLDEN / "c_svc.model").read_text()
HEAD = "svm_type {}\nkernel_type rbf\ngamma 0.5\nnr_class {}\ntotal_sv 0\n{}SV\n"
HUGE = "1 1:1e200 2:3e180\n-1 1:-1e200\n"
TEXTS = {
    "sharp": re.sub("gamma .*", "gamma 5", C_SVC),
    "sigmoid": C_SVC.replace("rbf", "sigmoid\ncoef0 0"),
    "powers": C_SVC.replace("rbf", "polynomial\ndegree 2\ncoef0 1"),
    "rough": re.sub("gamma .*", "gamma 30", (GOLDEN / "epsilon_svr.model").read_text()),
    "one_label": HEAD.format("c_svc", 1, "rho\nlabel 7\nnr_sv 0\n"),
    "constant": HEAD.format("nu_svr", 2, "rho 0.3\n"),
    # the same rows in three forms, and dense ones that look like lines of a model
    "bare": "1:0.5 2:-0.25\n2:0.3 4:-0.6\n",
    "cells": "1,0.5,-0.25,0,0\n-1,0,0.3,0,-0.6\n",
    "tabs": "0.5\t-0.25\t0\t0\n0\t0.3\t0\t-0.6\n",
    # a range file with a hole, features 9 and 11, and rows in it
    "holes": "x\n-1 1\n" + "".join(f"{feature} -4 4\n" for feature in (*range(1, 9), 10)),
    "raw": "1 1:1 9:5\n-1 1:1\n",
    "blanks": "1 0.5 0 1\n" * 30,
    # norms that overflow
    "huge": HUGE,
    "huge.model": HEAD.format("c_svc", 2, "rho 0\nlabel 1 -1\nnr_sv 1 1\n").replace("sv 0", "sv 2") + HUGE,
    # large coefficients that cancel: a fourth difference of the kernel, which degree 2 loses
    "cancelling": "svm_type c_svc\nkernel_type rbf\ngamma 0.3\nnr_class 2\ntotal_sv 5\nrho 0\nlabel 1 -1\nnr_sv 3 2\n"
    "SV\n1e4 1:-0.8\n6e4\n1e4 1:0.8\n-4e4 1:-0.4\n-4e4 1:0.4\n",
    "line": "".join(f"1 1:{x / 50}\n" for x in range(-50, 51)),
}


def lasting(text):
    """Without times and versions, and with six digits: the last ones depend on the processor."""
    text = re.sub(r'("(seconds|rows_per_second|fastsvm)": )[^,}\n]+', r"\1...", text)
    text = re.sub(r"[\d.]+ times as fast", "... times as fast", text)
    text = re.sub(r"(-> \d+ vectors\n.* -> )\d+ bytes", r"\1... bytes", text)
    text = re.sub(r"Warning: (on these support vectors,|\d+ decision functions? of degree) .*\n", "", text)
    return re.sub(r"\d+\.\d{6,}(e-\d+)?", lambda found: f"{float(found[0]):.6g}", text)


def test_commands_print_what_the_transcript_says(tmp_path, screen):
    """Each output: standard output, then standard error. Later commands use the files of earlier ones. To add a
    command, write its line and run pytest --rewrite-screens."""
    for name, golden in MODELS.items():
        (tmp_path / name).write_bytes((GOLDEN / golden).read_bytes())
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    printed = []
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # xdist sets it
    for line in (TESTS / "screens" / "commands.txt").read_text().splitlines():
        if line.startswith("$ fastsvm "):
            done = fastsvm(shlex.split(line)[2:], cwd=tmp_path, env=environment, text=True)
            printed.append(f"{line}\n{lasting(done.stdout + done.stderr)}")
            assert done.returncode == 0, printed[-1]
    screen("commands", "\n".join(printed))
