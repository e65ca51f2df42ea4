"""svm-predict and fastsvm on the same files, which may be damaged."""

import re
import subprocess
import sys
from pathlib import Path

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction import Predictor
from fastsvm_cli.text.read_rows import read_chunks
from support.processes import PATIENCE

#: A garbage model must not keep a LIBSVM program running, or take all memory. A preexec_fn would copy this process each
#: time.
LIMITED = ["prlimit", "--cpu=20", f"--as={1 << 33}"]


def theirs(svm_predict, folder, data, model, probability=False):
    """Rows and summary; None if svm-predict refuses the files or crashes."""
    (folder / "data").write_bytes(data)
    (folder / "model").write_bytes(model)
    done = subprocess.run(
        [*LIMITED, svm_predict, "-b", str(int(probability)), "data", "model", "out"],
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE,
    )
    summary = [line for line in done.stdout.decode().splitlines() if line.endswith(")")]
    return None if done.returncode else (folder / "out").read_text().split("\n")[:-1] + summary


def ours(folder, data, model, probability=False):
    """Rows and summary; None if fastsvm refuses the files, in one line."""
    (folder / "data").write_bytes(data)
    try:
        read = parse_model(model, "model", warn=False)
        if probability and not read.header.has_probability:
            return None
        written = []
        predictor = Predictor(read, probability=probability)
        run_counts = predictor.write(read_chunks(str(folder / "data")), written.append, "data")
    except FastsvmError as error:
        assert len(str(error).splitlines()) == 1 and str(error).isprintable()
        return None
    return b"".join(written).decode().split("\n")[:-1] + _native.score_lines(read.header, run_counts.score)


def alike(a, b):
    """Same lines, numbers to rounding."""
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


def theirs_337(folder, jobs):
    """Rows of LIBSVM 3.37 for each (data, model, probability); None if it refuses the files or crashes. Each is
    answered in a fork of a process that has loaded only LIBSVM's Python package."""
    for at, (data, model, _) in enumerate(jobs):
        (folder / f"data-{at}").write_bytes(data)
        (folder / f"model-{at}").write_bytes(model)
    probabilities = "".join(str(int(probability)) for *_, probability in jobs)
    subprocess.run(
        [*LIMITED, sys.executable, "-c", _EACH_BY_ITSELF, str(folder), probabilities],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    written = [folder / f"out-{at}" for at in range(len(jobs))]
    return [each.read_text().splitlines() if each.exists() else None for each in written]


_EACH_BY_ITSELF = """
import os, sys
from pathlib import Path
from libsvm.svm import libsvm
from libsvm.svmutil import svm_read_problem
from support.in_process import Libsvm

folder = Path(sys.argv[1])
for at, probability in enumerate(sys.argv[2]):
    child = os.fork()
    if not child:
        try:
            model, (_, rows) = Libsvm(folder / f"model-{at}"), svm_read_problem(str(folder / f"data-{at}"))
            if probability == "0" or libsvm.svm_check_probability_model(model.model):
                text = "".join(" ".join(line) + "\\n" for line in model.lines(rows, probability == "1"))
                (folder / f"out-{at}").write_text(text)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""
