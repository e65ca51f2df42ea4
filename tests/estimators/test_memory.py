"""Memory grows neither with rows times pairs, nor with copies of the rows."""

import sys

import pytest

from support.processes import outcome

ROWS, COLUMNS = 100_000, 64


@pytest.mark.full
@pytest.mark.parametrize(
    "form", ["X", "X[:, ::-1]", "numpy.asfortranarray(X)", "X.astype('f4')", "scipy.sparse.csr_array(X)"]
)
def test_many_rows_take_little_more_than_their_labels(tmp_path, form):
    """325 decision values for all rows would be 260 MB, a copy of the rows 51 MB."""
    code = f"""
import resource, numpy, scipy.sparse, fastsvm_cli
from fastsvm_cli.models import parse_model
rng = numpy.random.default_rng(0)
lines = ["svm_type c_svc", "kernel_type rbf", "gamma 0.5", "nr_class 26", "total_sv 26",
         "rho " + " ".join(["0.1"] * 325), "label " + " ".join(map(str, range(26))),
         "nr_sv " + " ".join(["1"] * 26), "SV"]
for _ in range(26):
    point = " ".join(f"{{j + 1}}:{{v:.3f}}" for j, v in enumerate(rng.random({COLUMNS})))
    lines.append(" ".join(["1"] * 25) + " " + point)
fast = fastsvm_cli.FastSVM(parse_model(("\\n".join(lines) + "\\n").encode(), "model"))
X = rng.random(({ROWS}, {COLUMNS}))
X = {form}
fast.predict(X[:5000]), fast.decision_function(X[:5000])
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
labels = fast.predict(X)
print(peak() - before, len(labels))
before = peak()
fast.decision_function(X)  # 21 MB of result
print(peak() - before)
"""
    done = outcome([sys.executable, "-c", code], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    grown, rows = map(int, first.split())
    assert rows == ROWS and grown < 40
    assert int(second) < 150
