"""The output of commands: the transcript screens/commands.txt."""

import os
import re
import shlex

from support.forked import fastsvm
from support.messages import cases
from support.paths import GOLDEN, TESTS

MODELS = {"m": "c_svc.model", "classes": "three_classes.model", "values": "epsilon_svr.model", "rows": "data"}
C_SVC = (GOLDEN / "c_svc.model").read_text()
HEAD = "svm_type {}\nkernel_type rbf\ngamma 0.5\nnr_class {}\ntotal_sv 0\n{}SV\n"
HUGE = "1 1:1e200 2:3e180\n-1 1:-1e200\n"
TEXTS = {
    **dict(cases("files of screens")),
    "sharp": re.sub("gamma .*", "gamma 5", C_SVC),
    "sigmoid": C_SVC.replace("rbf", "sigmoid\ncoef0 0"),
    "powers": C_SVC.replace("rbf", "polynomial\ndegree 2\ncoef0 1"),
    "rough": re.sub("gamma .*", "gamma 30", (GOLDEN / "epsilon_svr.model").read_text()),
    "one_label": HEAD.format("c_svc", 1, "rho\nlabel 7\nnr_sv 0\n"),
    "constant": HEAD.format("nu_svr", 2, "rho 0.3\n"),
    # a range file with a hole, features 9 and 11
    "holes": "x\n-1 1\n" + "".join(f"{feature} -4 4\n" for feature in (*range(1, 9), 10)),
    # dense rows that look like lines of a model
    "blanks": "1 0.5 0 1\n" * 30,
    # norms that overflow
    "huge": HUGE,
    "huge.model": HEAD.format("c_svc", 2, "rho 0\nlabel 1 -1\nnr_sv 1 1\n").replace("sv 0", "sv 2") + HUGE,
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
