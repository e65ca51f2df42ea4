"""A signal while the core works: Python's handler is called, and its exception ends the call."""

import sys

import pytest

from support.processes import default_signals, outcome

#: Hours of work, which a handler interrupts.
CODE = """
import signal
import numpy as np
from fastsvm_cli import _native

class Handled(Exception):
    pass

def tell(*_):
    raise Handled

_native.set_threads({threads})
n, d = 4000, 400
chunk = _native.Chunk.from_dense(np.empty((n, 0)), np.random.default_rng(0).random((n, d), dtype=np.float32))
vectors = list(range(n)) * 500
signal.signal(signal.SIGALRM, tell)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    expanded = _native.ExpandedVectors(chunk, list(range(1, d + 1)), vectors)
    expanded.expand(np.ones(n * 500), np.zeros(d), True, 0.1, [1.0] * 4)
except Handled:
    print("handled")
"""


@pytest.mark.full
@pytest.mark.parametrize("threads", [1, 3])
def test_a_handler_ends_a_long_call(tmp_path, threads):
    done = outcome([sys.executable, "-c", CODE.format(threads=threads)], cwd=tmp_path, preexec_fn=default_signals)
    assert done.stdout == "handled\n", done.stderr
