"""Every label of an ordered model is svm-predict's."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.prediction.pipeline import predict
from support import oracles
from support.evaluation import parse
from support.oracles import OWN_KERNELS, Machine, random_machine, random_rows
from support.ordering import (
    COMPILERS,
    HUGE,
    UNKNOWN,
    Libsvm,
    after,
    decide,
    decided,
    exact_model,
    lines,
    order,
    random_case,
    random_options,
    spread,
    truths,
    uncovered,
)

pytestmark = pytest.mark.usefixtures("serial_libsvm")


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
        tolerance = float(rng.choice([1e-3, 0.03, 0.3]) * np.max(oracles.magnitudes(machine, rows), initial=1e-30))
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
@pytest.mark.parametrize("seed", range(5))
def test_labels_of_rbf_models_are_svm_predicts(tmp_path, seed):
    shares = {method: Share() for method in COMPILERS}
    for trial in range(100):
        rng = np.random.default_rng([1, seed, trial])
        machine, rows = random_case(rng, "rbf")
        theirs = Libsvm(machine, tmp_path).lines(rows)
        for method, share in shares.items():
            check_labels(rng, machine, rows, method, share, theirs)
    for share in shares.values():
        share.check(100)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # see test_ordering_warns_of_nothing
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
@pytest.mark.parametrize("seed", range(2))
def test_labels_of_linear_and_polynomial_models_are_svm_predicts(tmp_path, kernel, seed):
    share = Share()
    for trial in range(110):
        rng = np.random.default_rng([2, seed, trial])
        machine, rows = random_case(rng, kernel)
        check_labels(rng, machine, rows, "geometry", share, Libsvm(machine, tmp_path).lines(rows))
    share.check(110)


@pytest.mark.full
@pytest.mark.parametrize("kernel", OWN_KERNELS)
def test_labels_of_kernels_that_libsvm_has_as_precomputed_ones_are_svm_predicts(tmp_path, kernel):
    shares = {method: Share() for method in (COMPILERS if kernel == "exponential" else ["geometry"])}
    for trial in range(100):
        rng = np.random.default_rng([3, trial])
        machine, rows = random_case(rng, kernel)
        rows = [row for row in rows if max(map(abs, row.values()), default=0) < 1e50]  # a kernel file holds no nan
        theirs = Libsvm(machine, tmp_path).lines(rows)
        for method, share in shares.items():
            check_labels(rng, machine, rows, method, share, theirs)
    for share in shares.values():
        share.check(100)


def test_a_single_class_and_no_support_vectors_are_answered(tmp_path):
    rows = [{}, {1: 1.0}, {UNKNOWN: 1e200}]
    for method in COMPILERS:
        machine = Machine("c_svc", "rbf", [], np.zeros((0, 0)), [], gamma=0.5, label=[3], nr_sv=[0])
        ours, run_counts = lines(order(machine, method), rows)
        assert ours == Libsvm(machine, tmp_path).lines(rows) == ["3"] * 3 and run_counts.kernel_evaluations == 0
        for svm_type, classes in (("c_svc", 2), ("c_svc", 4), ("one_class", 2), ("epsilon_svr", 2)):
            machine = random_machine(np.random.default_rng(4), svm_type, "rbf", [], nr_class=classes, gamma=0.5)
            model, expected = order(machine, method), Libsvm(machine, tmp_path).lines(rows)
            assert lines(model, rows)[0] == expected
            if model.header.regression:
                assert lines(model, rows, tolerance=0.1)[0] == expected


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method", COMPILERS)
def test_where_symmetry_makes_f_zero_the_labels_are_still_svm_predicts(tmp_path, method):
    """The classes mirror each other in the first feature: only the order of operations decides."""
    rng, seen, by_reference = np.random.default_rng(5), [], 0
    for _ in range(30):
        n, d = int(rng.integers(2, 60)), int(rng.integers(2, 8))
        x, a = rng.standard_normal((n, d)), rng.uniform(0.1, 2, n)
        back = rng.permutation(n)
        vectors = [
            dict(enumerate(row, 1)) for row in np.vstack([x, (x * np.where(np.arange(d) == 0, -1, 1))[back]]).tolist()
        ]
        machine = Machine(
            "c_svc",
            "rbf",
            vectors,
            np.concatenate([a, -a[back]])[:, None],
            [0.0],
            gamma=float(10 ** rng.uniform(-2, 0)),
            label=[3, -4],
            nr_sv=[n, n],
        )
        rows = [dict(enumerate([0.0, *row], 1)) for row in rng.standard_normal((10, d - 1)).tolist()]
        ours, run_counts = lines(order(machine, method, **random_options(rng, machine, method)), rows)
        assert ours == Libsvm(machine, tmp_path).lines(rows)
        seen += ours
        by_reference += run_counts.reference_rows
    assert by_reference == len(seen) and 0.1 < seen.count("3") / len(seen) < 0.9


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method", COMPILERS)
@pytest.mark.parametrize("tolerance", [0.0, 1e-12, 1e-3])
def test_values_of_regression_are_within_any_tolerance(tmp_path, method, tolerance):
    """Values that only LIBSVM's order of operations gives are within it, too."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        n = int(rng.integers(2, 80))
        machine = random_machine(
            rng, "epsilon_svr", "rbf", random_rows(rng, n, [1, 2, 3]), gamma=float(10 ** rng.uniform(-2, 1))
        )
        machine.coef *= 1e4
        rows = [*random_rows(rng, 10, [1, 2, 3, UNKNOWN]), dict(machine.vectors[0])]
        ours, _ = lines(order(machine, method), rows, tolerance=tolerance)
        error = np.abs(np.array(ours, float) - Libsvm(machine, tmp_path).values(rows)[:, 0])
        assert np.all(error <= tolerance), error.max()


@pytest.mark.parametrize("method", COMPILERS)
def test_a_larger_tolerance_costs_fewer_kernel_evaluations(method):
    rng = np.random.default_rng(7)
    machine = random_machine(rng, "nu_svr", "rbf", random_rows(rng, 400, [1, 2, 3]), gamma=0.3)
    model, rows = order(machine, method), random_rows(rng, 50, [1, 2, 3])
    costs = [lines(model, rows, tolerance=tolerance)[1].kernel_evaluations for tolerance in (1e-9, 0.1, 10.0, 1e4)]
    assert costs == sorted(costs, reverse=True) and costs[-1] < 0.3 * 50 * 400 < costs[0]


@pytest.mark.full(few=2)
@pytest.mark.parametrize("method", COMPILERS)
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("c_svc", 4), ("one_class", 2), ("nu_svr", 2)])
def test_probabilities_and_values_are_the_exact_models_to_the_byte(method, svm_type, classes):
    rng = np.random.default_rng(8)
    for trial in range(20):
        machine = random_machine(
            rng,
            svm_type,
            "rbf",
            random_rows(rng, int(rng.integers(1, 90)), [1, 2, 3]),
            nr_class=classes,
            gamma=0.4,
            probability=True,
        )
        if trial % 2:
            machine.coef[1::2], machine.vectors[1::2] = (
                -machine.coef[:-1:2][: len(machine.coef[1::2])],
                machine.vectors[:-1:2][: len(machine.vectors[1::2])],
            )
        exact, model = exact_model(machine), order(machine, method)
        rows = [*random_rows(rng, 15, [1, 2, 3, UNKNOWN]), {}, dict(machine.vectors[0])]
        for options in ({"probability": True}, {"values": True}, {"probability": True, "values": True}):
            assert lines(model, rows, **options)[0] == lines(exact, rows, **options)[0]
        if machine.svm_type == "nu_svr":
            assert lines(model, rows)[0] == lines(exact, rows)[0]


def test_the_transcription_of_libsvms_order_of_operations_is_libsvms_bit_for_bit(tmp_path):
    for trial in range(60):
        rng = np.random.default_rng([9, trial])
        machine, rows = random_case(rng, ["linear", "polynomial", "rbf"][trial % 3])
        rows = rows[:12]
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(oracles.libsvm_values(machine, rows), Libsvm(machine, tmp_path).values(rows))


@pytest.mark.full
@pytest.mark.parametrize("kernel", OWN_KERNELS)
def test_the_reference_sum_of_own_kernels_is_libsvms_of_a_kernel_file_bit_for_bit(tmp_path, kernel):
    for trial in range(60):
        rng = np.random.default_rng([10, trial])
        machine, rows = random_case(rng, kernel)
        model, rows = exact_model(machine), [row for row in rows if max(map(abs, row.values()), default=0) < 1e50]
        out = _native.Decisions(model.pairs)
        model.reference_values(parse(rows), out)
        np.testing.assert_array_equal(np.array(out.value), Libsvm(machine, tmp_path).values(rows))
        np.testing.assert_array_equal(np.array(out.value), oracles.libsvm_values(machine, rows))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("degree, size, coef0", [(20, 1e5, 1.0), (50, 100.0, 1.0), (50, 1e-3, 1e-4), (3, 1e60, 1.0)])
def test_a_normalized_polynomial_whose_squares_leave_a_doubles_range_has_the_labels_of_its_kernel_file(
    tmp_path, degree, size, coef0
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
    assert lines(model, vectors)[0] == [
        "1" if value > 0 else "-1" for value in oracles.libsvm_values(machine, vectors)[:, 0]
    ]


@pytest.mark.full
def test_every_build_of_the_hot_loops_gives_svm_predicts_labels_and_sound_intervals(tmp_path, instruction_set):
    for trial in range(25):
        rng = np.random.default_rng([50, trial])
        machine, rows = random_case(rng, "rbf")
        theirs, expected = Libsvm(machine, tmp_path), truths(machine, rows, tmp_path)
        for method in COMPILERS:
            share = Share()
            check_labels(rng, machine, rows, method, share, theirs.lines(rows))
            if share.refused:
                continue
            model = order(machine, method)
            value, radius = (
                after(model, parse(rows), 33)
                if method == "geometry" and model.points
                else decided(model, parse(rows), 0.0)[:2]
            )
            assert not uncovered(value, radius, *expected).any()
    for kernel in ("linear", "polynomial", *OWN_KERNELS):
        rng = np.random.default_rng(51)
        machine = spread(rng, 100, kernel)
        rows = random_rows(rng, 40, [1, 2, 3, 4, 5])
        for method in COMPILERS if kernel == "exponential" else ["geometry"]:
            assert lines(order(machine, method), rows)[0] == Libsvm(machine, tmp_path).lines(rows)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method", COMPILERS)
@pytest.mark.parametrize("classes", [2, 4])
def test_lines_and_counts_depend_neither_on_threads_nor_on_chunks(tmp_path, best_instruction_set, method, classes):
    rng = np.random.default_rng(52)
    vectors = random_rows(rng, 300, list(range(1, 8)), density=0.7)
    machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=classes, gamma=0.5)
    rows = random_rows(rng, 1500, list(range(1, 9)), density=0.7)
    chunk = parse(rows)
    seen = {"\n".join(Libsvm(machine, tmp_path).lines(rows)) + "\n"}
    counts = set()
    for threads in (1, 2, 3):
        _native.set_threads(threads)
        for size in (1500, 311, 7):
            model, written = order(machine, method), []
            run_counts = predict(
                model,
                [chunk.select(list(range(at, min(at + size, 1500)))) for at in range(0, 1500, size)],
                written.append,
                path="rows",
            )
            seen.add(b"".join(written).decode())
            counts.add(run_counts.kernel_evaluations)
    assert len(seen) == 1 and len(counts) == 1
