"""Every label of an ordered model is svm-predict's."""

from contextlib import suppress

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import Precision
from fastsvm_cli.prediction.pipeline import predict
from support import oracles
from support.evaluation import parse
from support.oracles import OWN_KERNELS, random_machine, random_rows
from support.ordering import (
    COMPILERS,
    HUGE,
    KERNELS,
    UNKNOWN,
    Libsvm,
    after,
    assert_covered,
    decide,
    exact_model,
    lines,
    methods_for,
    order,
    random_case,
    random_options,
    stopped,
    truths,
)

pytestmark = [
    pytest.mark.usefixtures("serial_libsvm"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # see test_ordering_warns_of_nothing
]


class Share:
    """Counts of outcomes: a test whose cases all end alike tests nothing."""

    def __init__(self):
        self.models = self.refused = self.rows = self.decided = self.evaluations = self.possible = self.reference = 0

    def check(self, models):
        assert self.models == models and self.refused <= 0.03 * models, vars(self)
        # Rows are decided by radii, by exact evaluation and by the reference sum.
        assert 0.5 * self.rows < self.decided < 0.98 * self.rows and self.reference > 0, vars(self)
        assert self.evaluations < 1.4 * self.possible, vars(self)


def check_labels(rng, machine, rows, method, share, expected):
    """expected: LIBSVM's lines. Regression values may differ by a tolerance."""
    share.models += 1
    try:
        model = order(machine, method, **random_options(rng, machine, method))
    except ModelFormatError as failure:
        assert method == "geometry" and "scale the data" in str(failure)
        share.refused += 1
        return
    tolerance = None
    if model.header.regression:
        rows, expected = zip(*((row, line) for row, line in zip(rows, expected) if HUGE not in map(abs, row.values())))
        size = np.max(oracles.magnitudes(machine, rows), initial=1e-30)
        tolerance = float(rng.choice([0.0, 1e-12, 1e-3, 0.03, 0.3, 0.3]) * size)
    ours, run_counts = lines(model, rows, tolerance=tolerance)
    if tolerance is None:
        assert ours == expected, (method, machine)
    else:
        error = np.abs(np.array(ours, float) - np.array(expected, float))
        assert np.all(error <= tolerance), (method, machine, error, tolerance)
    left = decide(model, parse(rows), _native.Decisions(model.pairs), tolerance or 0.0)
    share.rows += len(rows)
    share.decided += len(rows) - len(left)
    share.evaluations += run_counts.kernel_evaluations
    share.possible += len(rows) * len(machine.vectors)
    share.reference += run_counts.reference_rows


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "kernel, seed", [*(("rbf", seed) for seed in range(3)), *((kernel, 0) for kernel in KERNELS["geometry"][1:])]
)
def test_labels_are_svm_predicts(kernel, seed):
    shares = {method: Share() for method in methods_for(kernel)}
    for trial in range(60):
        rng = np.random.default_rng([1, seed, trial])
        machine, rows = random_case(rng, kernel)
        theirs = Libsvm(machine).lines(rows)
        for method, share in shares.items():
            check_labels(rng, machine, rows, method, share, theirs)
    for share in shares.values():
        share.check(60)


@pytest.mark.full(few=1)
def test_intervals_of_every_build_of_the_hot_loops_are_sound(instruction_set):
    """Labels of every build are in the zoo's parity table."""
    for trial, kernel in enumerate(KERNELS["geometry"] * 4):
        rng = np.random.default_rng([50, trial])
        machine, rows = random_case(rng, kernel)
        for method in methods_for(kernel):
            with suppress(ModelFormatError):
                model, chunk = order(machine, method), parse(rows)
                assert_covered(trial, *stopped(model, chunk)[:2], *truths(machine, rows))
                if method == "geometry" and model.points:
                    assert_covered(trial, *after(model, chunk, 33), *truths(machine, rows))


@pytest.mark.parametrize("method, classes", [("geometry", 4), ("triangle", 2)])
def test_lines_and_counts_depend_neither_on_threads_nor_on_chunks(best_instruction_set, method, classes):
    rng = np.random.default_rng(52)
    vectors = random_rows(rng, 200, list(range(1, 8)), density=0.7)
    machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=classes, gamma=0.5)
    rows = random_rows(rng, 700, list(range(1, 9)), density=0.7)
    chunk = parse(rows)
    texts, counts = {"\n".join(Libsvm(machine).lines(rows)) + "\n"}, set()
    for threads in (1, 3):
        _native.set_threads(threads)
        for size in (700, 311, 7):
            model, written = order(machine, method), []
            chunks = [chunk.select(list(range(at, min(at + size, 700)))) for at in range(0, 700, size)]
            counts.add(predict(model, chunks, written.append, path="rows").kernel_evaluations)
            texts.add(b"".join(written).decode())
    assert len(texts) == 1 and len(counts) == 1


@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("c_svc", 4), ("one_class", 2), ("nu_svr", 2)])
def test_probabilities_and_values_are_the_exact_models_to_the_byte(svm_type, classes):
    rng = np.random.default_rng(8)
    for trial in range(10):
        n = 2 * int(rng.integers(1, 45))
        machine = random_machine(
            rng, svm_type, "rbf", random_rows(rng, n, [1, 2, 3]), nr_class=classes, gamma=0.4, probability=True
        )
        if trial % 2:  # opposed duplicates
            machine.coef[1::2], machine.vectors[1::2] = -machine.coef[::2], machine.vectors[::2]
        exact, rows = exact_model(machine), [*random_rows(rng, 15, [1, 2, 3, UNKNOWN]), {}, dict(machine.vectors[0])]
        for method in COMPILERS:
            model = order(machine, method)
            for options in ({"probability": True}, {"values": True}, {"probability": True, "values": True}):
                assert lines(model, rows, **options)[0] == lines(exact, rows, **options)[0]
            assert svm_type != "nu_svr" or lines(model, rows)[0] == lines(exact, rows)[0]


@pytest.mark.parametrize("method", COMPILERS)
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("nu_svc", 5)])
def test_for_labels_the_exact_model_computes_no_more_than_labels_of_open_rows(method, svm_type, classes):
    rng = np.random.default_rng(81)
    vectors = random_rows(rng, 90, range(1, 7))
    machine = random_machine(rng, svm_type, "rbf", vectors, gamma=0.2, nr_class=classes)
    model = order(machine, method, **({"points": 3} if method == "geometry" else {}))
    rows = random_rows(rng, 150, range(1, 7))
    chunk = parse(rows)
    left = decide(model, chunk, _native.Decisions(model.pairs))
    assert len(left) > 10 or method == "triangle"  # three points decide few rows
    theirs = Libsvm(machine)

    def answered(out, precision):
        model.decision_values(chunk, out, precision)
        found = _native.Predictions()
        _native.predict(model.header.task(), out, False, found)
        assert list(found.label) == theirs.labels(rows)

    out = _native.Decisions(model.pairs)
    answered(out, Precision.labels())
    assert np.all(np.asarray(out.evaluations)[left] >= len(vectors))
    if model.pairs == 1:  # each value has the sign of its label
        np.testing.assert_array_equal(np.asarray(out.value) > 0, theirs.values(rows) > 0)
    answered(out, Precision.values())  # leaves nothing of the previous run
    precise = _native.Decisions(model.pairs, True)  # with radii, values are wanted
    answered(precise, Precision.labels())
    np.testing.assert_allclose(np.asarray(precise.value)[left], theirs.values(rows)[left], rtol=1e-12, atol=1e-12)


# ---- LIBSVM's order of operations


@pytest.mark.full(few=2)
@pytest.mark.parametrize("kernel", KERNELS["geometry"])
def test_the_oracle_and_the_reference_sum_are_libsvms_bit_for_bit(kernel):
    """Of kernels that LIBSVM does not know: those of a kernel file."""
    for trial in range(30):
        rng = np.random.default_rng([9, trial])
        machine, rows = random_case(rng, kernel)
        theirs, out = Libsvm(machine).values(rows), _native.Decisions(len(machine.pairs))
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(oracles.libsvm_values(machine, rows), theirs)
        if kernel in OWN_KERNELS:
            exact_model(machine).reference_values(parse(rows), out)
            np.testing.assert_array_equal(np.array(out.value), theirs)


@pytest.mark.parametrize("degree, size, coef0", [(20, 1e5, 1.0), (50, 100.0, 1.0), (50, 1e-3, 1e-4), (3, 1e60, 1.0)])
def test_a_normalized_polynomial_whose_squares_leave_a_doubles_range_has_the_labels_of_its_kernel_file(
    degree, size, coef0
):
    """The kernel file holds 0, infinity or nan for values between -1 and 1. Either an error, or the same labels."""
    rng = np.random.default_rng(11)
    vectors = random_rows(rng, 12, [1, 2], scale=size)
    machine = random_machine(rng, "one_class", "normalized_polynomial", vectors, gamma=1.0, coef0=coef0, degree=degree)
    machine.coef, machine.rho = np.abs(machine.coef), [0.0]
    theirs = oracles.libsvm_values(machine, vectors)[:, 0]
    if np.all(np.isfinite(theirs)):
        machine.rho = [float(theirs.max() + oracles.decision_values(machine, vectors).max()) / 2]
    else:
        machine.coef[0] *= -0.01  # infinite terms of both signs
    try:
        model = order(machine, "geometry")
    except ModelFormatError:
        return
    expected = ["1" if value > 0 else "-1" for value in oracles.libsvm_values(machine, vectors)[:, 0]]
    assert lines(model, vectors)[0] == expected
