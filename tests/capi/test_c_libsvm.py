"""LIBSVM's functions in libfastsvm answer as LIBSVM does, also for rows that are not valid LIBSVM text."""

import ctypes
import random
import subprocess

import numpy as np
import pytest
from libsvm.svm import libsvm, svm_node
from libsvm.svmutil import svm_load_model

from support.places import GOLDEN
from support.processes import PATIENCE

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("serial_libsvm")]

NAMES = [f"{name}.model" for name in ("c_svc", "nu_svc", "three_classes", "one_class", "epsilon_svr", "nu_svr")]
HEAD = "type, classes, vectors, whether there are probabilities, labels, sigma"


def odd_rows(rng, count):
    """Rows of (index, value), sorted or not; some indices are negative or repeated, some values odd."""
    for _ in range(count):
        kind = rng.randrange(4)
        indices = [rng.choice([1, 2, 3, 4, 5, 6, 0, 2147483647, -5, 9]) for _ in range(rng.randrange(6))]
        if kind == 0:
            indices = sorted({index for index in indices if index >= 0})
        odd = [0.5, -1.0, float("nan"), float("inf"), float("-inf"), 1e308, 0.0, -0.0, 1e-320, 3.0]
        yield [(index, rng.choice(odd) if kind > 1 else rng.gauss(0, 1)) for index in indices]


def serial_rows(rng, count):
    """Rows of a precomputed kernel: values are found by position, not by index."""
    for _ in range(count):
        yield [(rng.choice([k, 7]), rng.choice([float("nan"), rng.random(), rng.random()])) for k in range(25)]


def in_process(name, rows):
    """LIBSVM's numbers, as clients/libsvm.c prints them."""
    model = svm_load_model(str(GOLDEN / name))
    classes = model.get_nr_class()
    by_class = libsvm.svm_get_svm_type(model) < 2
    pairs = classes * (classes - 1) // 2 if by_class else 1
    probable = libsvm.svm_check_probability_model(model) and libsvm.svm_get_svm_type(model) < 3
    for row in rows:
        nodes = (svm_node * (len(row) + 1))(*[svm_node(*entry) for entry in row], svm_node(-1, 0))
        values, odds = (ctypes.c_double * pairs)(), (ctypes.c_double * classes)()
        numbers = [libsvm.svm_predict(model, nodes), libsvm.svm_predict_values(model, nodes, values), *values]
        yield numbers + ([libsvm.svm_predict_probability(model, nodes, odds), *odds] if probable else [])


def answered(client, words, rows):
    lines = "".join(" ".join(f"{index}:{value!r}" for index, value in row) + "\n" for row in rows)
    words = [str(client("libsvm")), *map(str, words)]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    head, *found = done.stdout.splitlines()
    return head.split(), [[float(word) for word in line.split()] for line in found]


@pytest.mark.parametrize("name", [*NAMES, "exponential.precomputed"])
def test_rows_that_no_text_can_hold_are_answered_as_libsvm_does(client, name):
    rng = random.Random(5)
    rows = list(serial_rows(rng, 60) if name.endswith("precomputed") else odd_rows(rng, 300))
    head, found = answered(client, [GOLDEN / name], rows)
    model = svm_load_model(str(GOLDEN / name))
    assert [int(word) for word in head[:3]] == [model.get_svm_type(), model.get_nr_class(), model.get_nr_sv()], HEAD
    assert bool(int(head[3])) == model.is_probability_model()
    if model.get_svm_type() < 2:
        assert [int(word) for word in head[4:-1]] == model.get_labels()
    for row, mine, theirs in zip(rows, found, in_process(name, rows)):
        assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-12, nan_ok=True), row
        if model.get_svm_type() < 3:
            assert mine[0] == theirs[0], row


#: Kernels to insert into a golden model.
KERNELS = {"linear": "linear", "polynomial": "polynomial\ndegree 3\ncoef0 0.5", "sigmoid": "sigmoid\ncoef0 -0.25"}


@pytest.mark.parametrize(
    "name", ["c_svc.model", "three_classes.model", "epsilon_svr.model", "exponential.precomputed", *KERNELS]
)
def test_a_model_that_the_program_filled_in_gives_libsvms_numbers(client, tmp_path, name):
    """RNAz and ViennaRNA fill in models. Numbers agree bit for bit."""
    path = GOLDEN / name
    if name in KERNELS:
        path = tmp_path / name
        path.write_text((GOLDEN / "three_classes.model").read_text().replace("rbf", KERNELS[name], 1))
    rng = random.Random(6)
    rows = list(serial_rows(rng, 60) if name.endswith("precomputed") else odd_rows(rng, 200))
    head, found = answered(client, ["own", path], rows)
    assert head == answered(client, [path], [])[0]
    for row, mine, theirs in zip(rows, found, in_process(path, rows)):
        assert np.array_equal(mine, theirs, equal_nan=True), row


def test_a_file_that_is_no_model_is_none(client):
    done = subprocess.run([str(client("libsvm")), str(GOLDEN / "data")], input="", text=True, timeout=PATIENCE)
    assert done.returncode == 3
