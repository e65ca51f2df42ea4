"""The output of commands: the transcript screens/commands.txt."""

import os
import re
import shlex

from support.forked import fastsvm
from support.paths import GOLDEN, TESTS

MODELS = {"m": "c_svc.model", "classes": "three_classes.model", "values": "epsilon_svr.model", "rows": "data"}
C_SVC = (GOLDEN / "c_svc.model").read_text()
HEAD = "svm_type {}\nkernel_type rbf\ngamma 0.5\nnr_class {}\ntotal_sv 0\n{}SV\n"
TEXTS = {
    "sharp": re.sub("gamma .*", "gamma 5", C_SVC),
    "sigmoid": C_SVC.replace("rbf", "sigmoid\ncoef0 0"),
    "powers": C_SVC.replace("rbf", "polynomial\ndegree 2\ncoef0 1"),
    "rough": re.sub("gamma .*", "gamma 30", (GOLDEN / "epsilon_svr.model").read_text()),
    "one_label": HEAD.format("c_svc", 1, "rho\nlabel 7\nnr_sv 0\n"),
    "constant": HEAD.format("nu_svr", 2, "rho 0.3\n"),
}


def lasting(text):
    """Without times and versions, and with six digits: the last ones depend on the processor."""
    text = re.sub(r'("(seconds|rows_per_second|fastsvm)": )[^,}\n]+', r"\1...", text)
    text = re.sub(r"[\d.]+ times as fast", "... times as fast", text)
    text = re.sub(r"Warning: on these support vectors, .*\n", "", text)
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
