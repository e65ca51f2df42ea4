"""Files of ordered models: read, refused in one line if corrupted, and as large as their entries. Golden files are
written back byte for byte in tests/models, every other ordered model in support.ordering.order."""

import subprocess
import sys

import numpy as np
import pytest

from fastsvm_cli.models import parse_model
from support.checksums import with_checksum
from support.evaluation import HAND, error_of
from support.messages import model_changes
from support.oracles import random_machine
from support.ordering import COMPILERS, exact_model
from support.processes import PATIENCE

OPTIONS = {"geometry": {"folded": [{1: 0.5}, {2: 0.25, 4: -1.0}]}, "triangle": {"lists": 2}}
ERRORS = model_changes("order")


def text_of(name):
    """A hand-made model in this order, or one with a kernel that LIBSVM does not know."""
    method, _, own = name.partition("-")
    model, options = parse_model(HAND.encode(), "m"), OPTIONS[method]
    if own:
        vectors = [{1: 1.0}, {2: 1.0}, {1: -1.0, 3: 0.5}]
        model = exact_model(random_machine(np.random.default_rng(1), "c_svc", "exponential", vectors, gamma=0.5))
        options = {}
    return COMPILERS[method](model, fingerprint="0123456789abcdef", **options).to_text()


def test_numbers_may_be_broken_into_other_lines():
    text = text_of("geometry")
    broken = text.replace(b"points\n4 5 ", b"points\n4\n5 ")
    assert broken != text and parse_model(with_checksum(broken), "m").to_text() == text


@pytest.mark.parametrize("case", ERRORS)
def test_a_corrupted_file_is_refused_in_one_clear_line(case):
    """With a valid checksum, so that the error itself is reported."""
    message, name, (old, new) = ERRORS[case]
    text = text_of(name)
    assert parse_model(text, "m").to_text() == text and old in text
    found = error_of(with_checksum(text.replace(old, new, 1)))
    assert found == message if message.startswith("m:") else message in found


MEMORY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20))
from fastsvm_cli import _native
from fastsvm_cli.methods.order.geometry import compile_geometry
from fastsvm_cli.methods.order.triangle import compile_triangle
from fastsvm_cli.models import parse_model
_native.set_threads(2)
exact = parse_model(sys.stdin.buffer.read(), "m")
out = _native.Decisions(1)
for compiler in (compile_geometry, compile_triangle):
    model = parse_model(compiler(exact, fingerprint="f").to_text(), "o")
    model.decision_values(exact.vectors.select([0, 1, 2]), out)
print("done")
"""


@pytest.mark.full
def test_many_features_of_which_few_are_not_zero_take_no_dense_memory():
    """800 support vectors of 200 entries each in separate columns: 2 MB sparse, 1 GB dense."""
    rng = np.random.default_rng(3)
    rows = [{200 * r + i: float(v) for i, v in enumerate(np.round(rng.random(200), 2), 1)} for r in range(800)]
    given = random_machine(rng, "one_class", "rbf", rows, gamma=0.01).text()
    words = [sys.executable, "-I", "-c", MEMORY]
    env = {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, input=given, capture_output=True, timeout=PATIENCE, env=env)
    assert done.stdout == b"done\n", done.stderr.decode()[-600:]
