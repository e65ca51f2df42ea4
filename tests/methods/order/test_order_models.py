"""Every label of an ordered model is svm-predict's, whatever its kernel; files of ordered models. Other traits are in
the zoo's parity table, golden files in tests/models."""

from contextlib import suppress

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import Precision, parse_model
from fastsvm_cli.prediction import Predictor
from support import oracles
from support.checksums import with_checksum
from support.evaluation import HAND, error_of, parse
from support.messages import model_changes
from support.oracles import OWN_KERNELS, random_machine, random_rows
from support.ordering import COMPILERS, KERNELS, Libsvm, decide, exact_model, order, random_case, random_options
from support.paths import FASTSVM
from support.processes import peak_memory
from support.reducing import lines
from zoo.traits import specimen

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # see test_ordering_warns_of_nothing


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method, kernel", [(method, kernel) for method in KERNELS for kernel in KERNELS[method]])
def test_labels_are_svm_predicts(method, kernel):
    """Rows are decided by radii, by exact evaluation and by the reference sum."""
    left = summed = seen = taken = 0
    for trial in range(30):
        rng = np.random.default_rng([1, trial])
        machine, rows = random_case(rng, kernel)
        with suppress(ModelFormatError):  # scale the data
            model = order(machine, method, **random_options(rng, machine, method))
            taken += 1
            if machine.classification:
                found, run_counts = lines(model, rows)
                assert found == Libsvm(machine).lines(rows), trial
                left += len(decide(model, parse(rows), _native.Decisions(model.pairs)))
                summed, seen = summed + run_counts.reference_rows, seen + len(rows)
            np.testing.assert_array_equal(Libsvm(machine).values(rows), oracles.libsvm_values(machine, rows))
    assert taken > 27 and 0.02 * seen < left < 0.5 * seen and summed > 0


@pytest.mark.parametrize("method, classes", [("geometry", 4), ("triangle", 2)])
def test_lines_and_counts_depend_neither_on_threads_nor_on_chunks(best_instruction_set, method, classes):
    rng = np.random.default_rng(52)
    vectors = random_rows(rng, 200, range(1, 8), density=0.7)
    machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=classes, gamma=0.5)
    chunk, model, found = parse(random_rows(rng, 700, range(1, 9), density=0.7)), order(machine, method), set()
    for threads, size in ((1, 700), (1, 311), (3, 700), (3, 7)):
        _native.set_threads(threads)
        written, chunks = [], [chunk.slice(at, min(at + size, 700)) for at in range(0, 700, size)]
        evaluations = Predictor(model).write(chunks, written.append, "rows").kernel_evaluations
        found.add((b"".join(written), evaluations))
    assert len(found) == 1


@pytest.mark.parametrize("method", COMPILERS)
@pytest.mark.parametrize("trait", ["duplicates", "two_classes", "four_classes", "one_class", "nu_svr", "ties_at_rho"])
def test_probabilities_and_values_are_the_exact_models_to_the_byte(method, trait):
    found = specimen(trait)
    if found.machine.probA is None and found.machine.classification:
        found.machine.probA, found.machine.probB = [-1.3], [0.1]
    exact, model = exact_model(found.machine), order(found.machine, method)
    for options in ({"probability": True}, {"values": True}, {"probability": True, "values": True}):
        assert lines(model, found.rows, **options)[0] == lines(exact, found.rows, **options)[0]


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


# ---- kernels of kernel files


@pytest.mark.parametrize("kernel", OWN_KERNELS)
def test_the_reference_sum_is_that_of_the_kernel_file_bit_for_bit(kernel):
    for trial in range(10):
        machine, rows = random_case(np.random.default_rng([9, trial]), kernel)
        out = _native.Decisions(len(machine.pairs))
        exact_model(machine).reference_values(parse(rows), out)
        np.testing.assert_array_equal(np.array(out.value), Libsvm(machine).values(rows))


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
    with suppress(ModelFormatError):
        expected = ["1" if value > 0 else "-1" for value in oracles.libsvm_values(machine, vectors)[:, 0]]
        assert lines(order(machine, "geometry"), vectors)[0] == expected


# ---- files

OPTIONS = {"geometry": {"folded": parse([{1: 0.5}, {2: 0.25, 4: -1.0}])}, "triangle": {"lists": 2}}
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


@pytest.mark.full
@pytest.mark.parametrize("method", COMPILERS)
def test_many_features_of_which_few_are_not_zero_take_no_dense_memory(tmp_path, method):
    """800 support vectors of 200 entries each in separate columns: 2 MB sparse, 1 GB dense. The trial
    takes no dense memory, either."""
    rng = np.random.default_rng(3)
    rows = [{200 * r + i: float(v) for i, v in enumerate(np.round(rng.random(200), 2), 1)} for r in range(800)]
    (tmp_path / "m").write_bytes(random_machine(rng, "one_class", "rbf", rows, gamma=0.01).text())
    assert peak_memory(FASTSVM, "order", "-q", "--method", method, "m", "o", cwd=tmp_path) < 250 << 20
