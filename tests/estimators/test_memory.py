"""Memory grows neither with rows times pairs, nor with copies of the rows."""

import sys

import numpy as np
import pytest

from support.oracles import random_machine, random_rows
from support.processes import outcome

ROWS, COLUMNS = 25_000, 256


@pytest.mark.full
@pytest.mark.parametrize(
    "form", ["X", "X[:, ::-1]", "numpy.asfortranarray(X)", "X.astype('f4')", "scipy.sparse.csr_array(X)"]
)
def test_many_rows_take_little_more_than_their_labels(tmp_path, form):
    """325 decision values for all rows would be 65 MB, a copy of the rows 51 MB."""
    rng = np.random.default_rng(0)
    vectors = random_rows(rng, 26, list(range(1, COLUMNS + 1)))
    machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=26, gamma=0.5)
    (tmp_path / "model").write_bytes(machine.text())
    code = f"""
import resource, numpy, scipy.sparse, fastsvm_cli
fast = fastsvm_cli.load("model")
X = numpy.random.default_rng(0).random(({ROWS}, {COLUMNS}))
X = {form}
fast.predict(X[:2500]), fast.decision_function(X[:2500])
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
labels = fast.predict(X)
print(peak() - before, len(labels))
before = peak()
fast.decision_function(X)  # 5 MB of result
print(peak() - before)
"""
    done = outcome([sys.executable, "-c", code], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    grown, rows = map(int, first.split())
    assert rows == ROWS and grown < 40
    assert int(second) < 40
