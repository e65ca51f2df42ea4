"""Outputs written in this process and in others."""

import re
import subprocess

from fastsvm_cli.text.files import Output
from support.paths import GOLDEN, PROGRAM
from support.processes import PATIENCE, wait_until

MODEL = GOLDEN / "c_svc.model"


def write(path, *buffers):
    with Output(str(path)) as output:
        for buffer in buffers:
            output.write(buffer)


def answered(rows, path, **streams):
    """A process that writes to one of its streams."""
    words = [PROGRAM, "-q", rows, MODEL, path]
    return subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, **streams)


def written_so_far(path):
    """Number of unfinished outputs at `path` that have content. Checks make and remove empty ones."""
    found = 0
    for each in path.parent.glob(f".{path.name}.*.tmp"):
        try:
            found += each.stat().st_size > 0
        except FileNotFoundError:
            pass
    return found


def a_writer(path):
    """A process that has written half an output, and waits."""

    before = written_so_far(path)
    process = subprocess.Popen([PROGRAM, "-q", "-", MODEL, path], stdin=subprocess.PIPE)
    process.stdin.write(b"1 1:1\n")
    process.stdin.flush()
    assert wait_until(lambda: written_so_far(path) > before)
    return process


def timeless(text):
    """Output of --json without its timings."""
    return re.sub(r',\s*"(seconds|rows_per_second)": [^,}\s]+', "", text)
