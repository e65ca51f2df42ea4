"""Labels and probabilities are LIBSVM's where only the order of operations decides."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from support import oracles
from support.evaluation import parse
from support.in_process import both, decide, mirrored, written_lines
from support.oracles import Machine, random_machine, random_rows

pytestmark = pytest.mark.usefixtures("serial_libsvm")


@pytest.mark.full(few=20)
@pytest.mark.parametrize("svm_type", ["c_svc", "one_class"])
@pytest.mark.parametrize(
    "kernel, size, lean",
    [
        *(("linear", size, lean) for size, lean in ((1e-100, 0), (1e-3, 0), (1, 0), (1, 1e5), (1e6, 0))),
        *(("polynomial", size, lean) for size, lean in ((0.01, 0), (1, 0), (1, 1e5), (10, 0), (1e5, 0))),
        *(("rbf", size, lean) for size, lean in ((0.1, 0), (1, 0), (0.1, 2))),
        *(("sigmoid", size, lean) for size, lean in ((1, 0), (1, 1e5), (20, 0))),
    ],
)
def test_where_f_is_zero_the_reference_sum_gives_libsvms_label(tmp_path, kernel, size, lean, svm_type):
    machine, rows = mirrored(np.random.default_rng(1), kernel, size=size, lean=lean, svm_type=svm_type)
    model, theirs = both(machine, tmp_path)
    text, run_counts = written_lines(model, [parse(rows)])
    assert run_counts.reference_rows == len(rows)
    expected = theirs.lines(rows)
    assert [line.split() for line in text.decode().splitlines()] == expected
    assert 20 < sum(line == expected[0] for line in expected) < 180  # rounding decides


def test_rows_far_from_zero_need_no_reference_sum(tmp_path):
    machine, rows = mirrored(np.random.default_rng(2), "rbf")
    machine.rho = [0.01]
    model, theirs = both(machine, tmp_path)
    text, run_counts = written_lines(model, [parse(rows)])
    assert run_counts.reference_rows == 0
    assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
def test_near_duplicates_with_huge_opposite_coefficients_give_libsvms_label(tmp_path, kernel):
    rng = np.random.default_rng(3)
    for size in (1e6, 1e10, 1e14):
        xs = random_rows(rng, 20, [1, 2, 3, 4])
        twins = [{i: v * (1 + 1e-12 * rng.standard_normal()) for i, v in x.items()} for x in xs]
        coef = size * rng.uniform(1, 2, 20)
        machine = Machine(
            "c_svc", kernel, xs + twins, np.concatenate([coef, -coef])[:, None], [0.0], 0.5, 0.1, 3, [1, -1], [20, 20]
        )
        model, theirs = both(machine, tmp_path)
        rows = random_rows(rng, 300, [1, 2, 3, 4])
        text, run_counts = written_lines(model, [parse(rows)])
        assert run_counts.reference_rows > 0
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows)


def test_precomputed_kernels_are_always_summed_in_libsvms_order(tmp_path):
    rng = np.random.default_rng(4)
    machine = random_machine(rng, "c_svc", "precomputed", [{0: i + 1} for i in range(40)], nr_class=3)
    rows = [dict(enumerate([1.0, *rng.standard_normal(40).tolist()])) for _ in range(50)]
    model, theirs = both(machine, tmp_path)
    values, out = decide(model, parse(rows))
    assert out.reference_rows == len(rows)
    np.testing.assert_array_equal(values, theirs.values(rows))


def test_a_folded_linear_model_gives_libsvms_label_where_many_tiny_terms_decide(tmp_path):
    """ScalingToFold adds one term per feature of the row. LIBSVM sums each support vector first, which keeps tiny
    terms."""
    many, per_vector = 10000, 100
    step, tiny = 1e-3, 0.8 * oracles.UNIT
    index = iter(range(2, many + 2))
    small = [{next(index): tiny / step for _ in range(per_vector)} for _ in range(many // per_vector)]
    vectors = [{1: 1.0}, *small, {many + 2: 1.0}]
    coef = np.array([1.5, *[1.0] * len(small), -1.5])[:, None]
    machine = Machine("c_svc", "linear", vectors, coef, [4000 * oracles.UNIT], label=[1, -1], nr_sv=[len(small) + 1, 1])
    row = {1: 1.0, **dict.fromkeys(range(2, many + 2), step), many + 2: 1.0}
    model, theirs = both(machine, tmp_path)
    text, _ = written_lines(model, [parse([row])])
    assert [line.split() for line in text.decode().splitlines()] == theirs.lines([row])


def test_a_large_rho_swallows_no_terms_that_decide_even_odds(tmp_path):
    """-b 1 near f = -B / A: LIBSVM subtracts rho from the whole sum."""
    many, slope = 1000, 2.0**20
    x = dict.fromkeys(range(1, many + 1), 0.4 * oracles.UNIT)
    machine = Machine("c_svc", "linear", [x, {}], np.array([[1.0], [-1.0]]), [1.0], label=[1, -1], nr_sv=[1, 1])
    # Even odds at f = -1 + 200 u; exactly f = -1 + 400 u.
    machine.probA, machine.probB = ([-slope], [slope * (200 * oracles.UNIT - 1)])
    row = dict.fromkeys(x, 1.0)
    model, theirs = both(machine, tmp_path)
    text, _ = written_lines(model, [parse([row])], probability=True)
    assert [line.split()[0] for line in text.decode().splitlines()] == [line[0] for line in theirs.lines([row], True)]


@pytest.mark.parametrize("kernel", ["polynomial", "rbf"])
def test_many_support_vectors_may_add_up_to_nothing_in_libsvms_order(tmp_path, kernel):
    """1 + 0.8 u + 0.8 u + ... stays 1; the small terms count if added up first."""
    many = 200
    coef = np.array([1.0, *[0.8 * oracles.UNIT] * many, -1e-30])[:, None]
    machine = Machine(
        "c_svc", kernel, [{1: 1.0}] * (many + 2), coef, [1 + 80 * oracles.UNIT], 1.0, 0.0, 1, [1, -1], [many + 1, 1]
    )
    model, theirs = both(machine, tmp_path)
    row = {1: 1.0}
    assert theirs.labels([row]) == [-1]
    assert oracles.labels(machine, oracles.decision_values(machine, [row])) == [1]
    text, run_counts = written_lines(model, [parse([row])])
    assert (text, run_counts.reference_rows) == (b"-1\n", 1)


def test_a_squared_norm_may_lose_what_a_distance_keeps(tmp_path):
    """|x|^2 = 1 + 0.8 u + 0.8 u + ... stays 1; |x - z|^2 with z_1 = x_1 has the small terms only."""
    many = 1000
    x = {1: 1.0, **dict.fromkeys(range(2, many + 2), (0.8 * oracles.UNIT) ** 0.5)}
    machine = Machine(
        "c_svc", "rbf", [x], np.array([[1.0]]), [1 - 400 * oracles.UNIT], 1.0, label=[1, -1], nr_sv=[1, 0]
    )
    model, theirs = both(machine, tmp_path)
    rows = [{1: 1.0}]
    assert theirs.labels(rows) == [-1]
    text, run_counts = written_lines(model, [parse(rows)])
    assert (text, run_counts.reference_rows) == (b"-1\n", 1)


def test_a_power_that_multiplies_rounding_beyond_first_order_has_no_radius():
    """60,000 products and a degree of two billion: n u is 0.014, and 1.05 n u no longer covers (1 + u)^n - 1."""
    x = dict.fromkeys(range(1, 60001), 0.001)
    machine = Machine(
        "c_svc", "polynomial", [x, {}], np.array([[1.0], [-1.0]]), [0.0], 1.0, 0.9, 2**31 - 1, [1, -1], [1, 1]
    )
    for rows, bounded in (([x], False), ([{1: 1e-3}], True)):
        out = _native.Decisions(1, True)
        parse_model(machine.text(), "m").evaluator.fast_values(parse(rows), out)
        assert (out.radius[0, 0] < float("inf")) == bounded


def test_even_odds_give_libsvms_label(tmp_path):
    """-b 1 with two classes: A f + B is nearly 0."""
    rng = np.random.default_rng(6)
    machine, rows = mirrored(rng, "rbf")
    for a, b in ((-2.0, 0.0), (-2.0, 0.5), (1.5, -3.0), (0.0, 0.0), (0.0, 0.3)):
        machine.probA, machine.probB = [a], [b]
        machine.rho = [b / a] if a else [0.0]  # exactly f = -B / A
        model, theirs = both(machine, tmp_path)
        text, run_counts = written_lines(model, [parse(rows)], probability=True)
        assert run_counts.reference_rows == len(rows) or a == 0
        assert [line.split()[0] for line in text.decode().splitlines()] == [
            line[0] for line in theirs.lines(rows, True)
        ], (a, b)


def test_where_even_odds_are_lost_to_rounding_the_label_is_libsvms(tmp_path):
    """1 / (1 + e^t) is 1/2 even for the smallest t > 0, and a tie gives the first class."""
    machine, rows = mirrored(np.random.default_rng(7), "rbf")
    machine.coef *= 1e6
    # Exactly t = 2^-54, where e^-t begins to differ from 1.
    machine.probA, machine.probB, machine.rho = ([oracles.UNIT / 2], [0.0], [-1.0])
    model, theirs = both(machine, tmp_path)
    text, _ = written_lines(model, [parse(rows)], probability=True)
    expected = [line[0] for line in theirs.lines(rows, True)]
    assert len(set(expected[1:])) == 2
    assert [line.split()[0] for line in text.decode().splitlines()] == expected


def test_a_row_on_the_brink_of_one_more_iteration_has_libsvms_probabilities(tmp_path):
    """Probabilities jump where the stopping test flips, between neighbouring numbers."""
    rng = np.random.default_rng(9)
    brinks = 0
    for _ in range(30):
        machine = random_machine(
            rng, "c_svc", "rbf", random_rows(rng, 60, [1, 2, 3]), nr_class=3, probability=True, gamma=0.5
        )
        model, theirs = both(machine, tmp_path)
        start, step = random_rows(rng, 2, [1, 2, 3])

        def at(position):
            return {i: start.get(i, 0.0) + position * step.get(i, 0.0) for i in (1, 2, 3)}

        low, high = -1.0, 1.0
        while np.nextafter(low, high) < high:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            _, (p, q, r) = theirs.probabilities([at(low), at(middle), at(high)])
            low, high = (low, middle) if np.abs(p - q).max() > np.abs(q - r).max() else (middle, high)
        _, (p, q) = theirs.probabilities([at(low), at(high)])
        if np.abs(p - q).max() < 1e-5:
            continue  # no jump on this line
        brinks += 1
        rows = [at(low + k * np.spacing(low)) for k in range(-20, 21)]
        text, run_counts = written_lines(model, [parse(rows)], probability=True)
        assert run_counts.reference_rows > 0
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows, True)
    assert brinks >= 3


def test_a_value_on_a_density_mark_gives_libsvms_step(tmp_path):
    """-b 1 of one class jumps at each mark."""
    rng = np.random.default_rng(10)
    machine, rows = mirrored(rng, "rbf", svm_type="one_class")
    # Exactly f = 0.25.
    machine.rho, machine.marks = ([-0.25], [-1.0, -0.5, -0.25, 0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 2.0])
    model, theirs = both(machine, tmp_path)
    text, run_counts = written_lines(model, [parse(rows)], probability=True)
    assert run_counts.reference_rows == len(rows)
    expected = theirs.lines(rows, True)
    assert len({tuple(line) for line in expected[1:]}) == 2
    assert [line.split() for line in text.decode().splitlines()] == expected


def test_a_value_equal_to_a_mark_takes_libsvms_step(tmp_path):
    marks = [-0.5, -0.25, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.5]
    for value in (*marks, -0.75, 2.0):
        machine = Machine("one_class", "rbf", [{1: 1.0}], np.array([[1.0]]), [1.0 - value], gamma=1.0, marks=marks)
        model, theirs = both(machine, tmp_path)
        assert theirs.values([{1: 1.0}]) == value
        text, _ = written_lines(model, [parse([{1: 1.0}])], probability=True)
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines([{1: 1.0}], True)


@pytest.mark.full
def test_probabilities_of_two_classes_are_libsvms_to_the_last_digit(tmp_path):
    """However steep the sigmoid."""
    rng = np.random.default_rng(12)
    summed = 0
    for kernel in ("linear", "polynomial", "rbf", "sigmoid"):
        for a in (-1.7, -1e3, 1e6, -1e9, -1e12):
            machine = random_machine(
                rng, "c_svc", kernel, random_rows(rng, 60, [1, 2, 3]), probability=True, gamma=0.5, coef0=0.1, degree=3
            )
            machine.label, rows = [3, -1], random_rows(rng, 150, [1, 2, 3])
            middle = both(machine, tmp_path)[1].values(rows)
            # Among the rows, where the sigmoid is steep.
            machine.probA, machine.probB = [a], [-a * float(middle[7, 0])]
            rows += [{i: v + k * 1e-3 / a for i, v in rows[7].items()} for k in range(-50, 50)]
            model, theirs = both(machine, tmp_path)
            text, run_counts = written_lines(model, [parse(rows)], probability=True)
            summed += run_counts.reference_rows
            assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows, True), (kernel, a)
            assert run_counts.reference_rows < len(rows) / 20 or abs(a) > 1e3
    assert summed > 100


@pytest.mark.parametrize("twins, summed", [(1e9, "all"), (1.0, "none")])
def test_where_rounding_leaves_most_probabilities_open_every_row_is_summed_at_once(tmp_path, twins, summed):
    """Equal vectors with cancelling coefficients leave rounding errors. A far row, where only the coefficient 100
    counts, is summed too."""
    rng = np.random.default_rng(14)
    vectors, far = random_rows(rng, 40, [1, 2, 3]), {1: 30.0}
    coef = rng.standard_normal(40)
    coef[[0, 21]], vectors[0], vectors[21] = [twins, -twins], vectors[20], vectors[20]
    machine = Machine("c_svc", "rbf", [*vectors, far], np.append(coef, 100.0)[:, None], [0.0], gamma=0.3)
    machine.label, machine.nr_sv, machine.probA, machine.probB = [3, -1], [20, 21], [-1.3], [0.1]
    model, theirs = both(machine, tmp_path)
    rows = [far, *random_rows(rng, 99, [1, 2, 3])]
    alone = written_lines(model, [parse([far])], probability=True)[1]
    text, run_counts = written_lines(model, [parse(rows)], probability=True)
    assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows, True)
    assert (alone.reference_rows, run_counts.reference_rows) == ((1, 100) if summed == "all" else (0, 0))


def test_a_regression_value_whose_sum_could_overflow_is_libsvms(tmp_path):
    """ScalingToFold adds linear terms in another order, which may not overflow."""
    machine = Machine("epsilon_svr", "linear", [{1: 1e10, 2: -1e10}, {1: 1.0}], np.array([[1e300], [1.0]]), [0.5])
    for machine.svm_type in ("epsilon_svr", "nu_svr"):
        model, theirs = both(machine, tmp_path)
        rows = [{1: 1.0, 2: 1.0}, {1: 1.0}, {2: -2.0}, {3: 1.0}]
        text, run_counts = written_lines(model, [parse(rows)])
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows)
        assert text.startswith(b"0.5\ninf\n") and run_counts.reference_rows == 4


def test_regression_values_of_a_steep_sigmoid_kernel_are_libsvms(tmp_path):
    """Its slope multiplies the rounding of inner products by 1e10."""
    rng = np.random.default_rng(13)
    machine = random_machine(rng, "epsilon_svr", "sigmoid", random_rows(rng, 30, [1, 2, 3]), gamma=1e10)
    twins = [{i: v * (1 + 1e-13) for i, v in row.items()} for row in machine.vectors[:10]]
    # Rows nearly at right angles to a vector, where tanh is steep.
    rows = [{1: -row[2], 2: row[1]} for row in machine.vectors if {1, 2} <= row.keys()] + twins
    model, theirs = both(machine, tmp_path)
    text, _ = written_lines(model, [parse(rows)])
    for ours, (expected,) in zip(text.split(), theirs.lines(rows)):
        assert abs(float(ours) - float(expected)) <= 1e-9 * np.abs(machine.coef).sum()
