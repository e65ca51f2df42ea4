"""What svm-predict and fastsvm make of the same two files, damaged ones perhaps."""

import re
import subprocess

from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.prediction.scores import summary_lines
from fastsvm_cli.text.data import read_chunks
from support.processes import PATIENCE


def theirs(svm_predict, folder, data, model, probability=False):
    """What svm-predict makes of the files: its rows, and its summary; None where it refuses them, or dies of them."""
    (folder / "data").write_bytes(data)
    (folder / "model").write_bytes(model)
    done = subprocess.run(
        [svm_predict, "-b", str(int(probability)), "data", "model", "out"],
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE,
    )
    summary = [line for line in done.stdout.decode().splitlines() if "(" in line]
    return None if done.returncode else (folder / "out").read_text().split("\n")[:-1] + summary


def ours(folder, data, model, probability=False):
    """The same of fastsvm; None where it refuses them, in one line."""
    (folder / "data").write_bytes(data)
    try:
        read = parse_model(model, "model")
        if probability and not read.header.has_probability:
            return None
        written = []
        tally = predict(read, read_chunks(str(folder / "data")), written.append, path="data", probability=probability)
    except FastsvmError as fault:
        assert len(str(fault).splitlines()) == 1 and str(fault).isprintable()
        return None
    return b"".join(written).decode().split("\n")[:-1] + summary_lines(read.header, tally.score)


def alike(a, b):
    """The same lines, numbers to rounding."""
    words = [[re.findall(r"[-+.\w]+|\S", line) for line in lines] for lines in (a, b)]
    return [len(line) for line in words[0]] == [len(line) for line in words[1]] and all(
        x == y
        or (
            _number(x) is not None
            and _number(y) is not None
            and abs(_number(x) - _number(y)) <= 1e-5 * max(1e-2, abs(_number(x)))
        )
        or x.lstrip("-") == y.lstrip("-") == "nan"
        for left, right in zip(*words)
        for x, y in zip(left, right)
    )


def _number(word):
    try:
        return float(word)
    except ValueError:
        return None
