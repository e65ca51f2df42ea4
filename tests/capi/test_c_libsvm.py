"""LIBSVM's functions in libfastsvm answer as LIBSVM does, also for rows that are not valid LIBSVM text."""

import ctypes
import random

import numpy as np
import pytest
from libsvm.svm import libsvm, svm_node

from support.c_library import libsvm_functions
from support.paths import GOLDEN

pytestmark = pytest.mark.full


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


def head(functions, model):
    """Type, classes, vectors, whether there are probabilities, sigma, labels."""
    labels = (ctypes.c_int * 64)()
    functions.svm_get_labels(model, labels)
    names = "svm_type", "nr_class", "nr_sv", "svr_probability"
    numbers = [getattr(functions, f"svm_get_{name}")(model) for name in names]
    return [*numbers, bool(functions.svm_check_probability_model(model)), *(labels if numbers[0] < 2 else [])]


def numbers_of(functions, model, rows):
    classes, kind = functions.svm_get_nr_class(model), functions.svm_get_svm_type(model)
    pairs = classes * (classes - 1) // 2 if kind < 2 else 1
    for row in rows:
        nodes = (svm_node * (len(row) + 1))(*[svm_node(*entry) for entry in row], svm_node(-1, 0))
        values, odds = (ctypes.c_double * pairs)(), (ctypes.c_double * classes)()
        numbers = [functions.svm_predict(model, nodes), functions.svm_predict_values(model, nodes, values), *values]
        if functions.svm_check_probability_model(model) and kind < 3:
            numbers += [functions.svm_predict_probability(model, nodes, odds), *odds]
        yield numbers


#: Kernels to insert into a golden model.
KERNELS = {"linear": "linear", "polynomial": "polynomial\ndegree 3\ncoef0 0.5", "sigmoid": "sigmoid\ncoef0 -0.25"}
NAMES = [f"{name}.model" for name in ("c_svc", "nu_svc", "three_classes", "one_class", "epsilon_svr", "nu_svr")]


@pytest.mark.parametrize("name", [*NAMES, "exponential.precomputed", *KERNELS])
def test_rows_that_no_text_can_hold_are_answered_as_libsvm_does(tmp_path, name):
    """By a model that libfastsvm has read; also by one that the program filled in, as RNAz and ViennaRNA do and LIBSVM
    does here: bit for bit."""
    ours, path = libsvm_functions(), GOLDEN / name
    if name in KERNELS:
        path = tmp_path / name
        path.write_text((GOLDEN / "three_classes.model").read_text().replace("rbf", KERNELS[name], 1))
    rng = random.Random(5)
    rows = list(serial_rows(rng, 60) if name.endswith("precomputed") else odd_rows(rng, 300))
    read, filled_in = ours.svm_load_model(bytes(path)), libsvm.svm_load_model(bytes(path))
    assert head(ours, read) == head(ours, filled_in) == head(libsvm, filled_in)
    answers = (numbers_of(*each, rows) for each in ((libsvm, filled_in), (ours, filled_in), (ours, read)))
    for row, known, same, near in zip(rows, *answers):
        assert np.array_equal(same, known, equal_nan=True), row
        assert near == pytest.approx(known, rel=1e-12, abs=1e-12, nan_ok=True), row
        assert near[0] == known[0] or head(ours, read)[0] > 2, row
    for model in (read, filled_in):
        ours.svm_free_and_destroy_model(model)
        assert not model
