"""The exact model against LIBSVM 3.37 in this process, against LIBSVM's own program, and against the formulas."""

import itertools
from math import floor, log10

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from libsvm.svmutil import svm_problem, svm_read_problem, svm_save_model, svm_train

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction.scores import summary_lines
from fastsvm_cli.text.data import read_chunks
from support import oracles
from support.evaluation import parse, reference
from support.in_process import Libsvm, both, mirrored, run_both, written_lines
from support.oracles import Machine, data_text, random_machine, random_rows
from support.places import DATA

SIZES = (0, 1, 2, 5, 7, 13, 40, 100)
KERNEL_OPTIONS = [
    "-t 0",
    *(f"-t 1 -d {degree} -r {coef0}" for degree in range(5) for coef0 in (0.5, -0.5)),
    "-t 2",
    "-t 3 -r 0.1",
    "-t 4",
]


pytestmark = pytest.mark.usefixtures("serial_libsvm")


@pytest.fixture
def all_threads():
    yield
    _native.set_threads(0)


def decide(model, chunk, until=None):
    out = _native.Decisions(model.pairs)
    model.decision_values(chunk, out, until)
    return np.array(out.value), out


def is_text_of(word, number, *, digits, error):
    """`word` is printf's %.<digits>g of a number at most `error` away from `number`."""
    return word in {f"{v:.{digits}g}" for v in (number, number - error, number + error)} or (
        number != 0 and abs(float(word) - number) <= error + 10.0 ** (floor(log10(abs(number))) - digits + 1) / 2
    )


def assert_same_answers(model, theirs, rows, *, probability, errors=None):
    """fastsvm's pipeline and its text against LIBSVM's, row by row. errors: of probabilities, per row, beyond the
    last digit printed."""
    chunk = parse(rows)
    machine = Machine.read(model.to_text())
    text, _ = written_lines(model, [chunk], probability=probability)
    ours, expected = [line.split() for line in text.decode().splitlines()], theirs.lines(rows, probability)
    assert len(ours) == len(expected)
    if theirs.regression:
        size = oracles.magnitudes(machine, rows)[:, 0]
        for (a,), (b,), allowed in zip(ours, expected, size):
            assert abs(float(a) - float(b)) <= 1e-9 * allowed, (a, b)
        return
    if not probability:
        assert ours == expected
        return
    assert ours[0] == expected[0]
    _, exact = theirs.probabilities(rows)
    for a, b, row, error in zip(ours[1:], expected[1:], exact, errors or [1e-9] * len(rows)):
        assert f"{float(a[0]):g}" == b[0], (a, b)  # labels of seven digits: see below
        assert len(a) == len(b)
        for word, p in zip(a[1:], row):
            assert is_text_of(word, p, digits=6, error=error), (a, b)
    # The formulas, on LIBSVM's own decision values: the transcription and the program are two different readings of
    # them.
    np.testing.assert_allclose(oracles.probabilities(machine, theirs.values(rows)), exact, rtol=1e-9, atol=1e-12)


def train(folder, rows, labels, options):
    """(model, LIBSVM's model) of what svm-train writes; None where that is not a number (nu-SVC of a constant
    kernel): such a file is refused."""
    path = folder / "trained.model"
    kernel = options.split("-t ")[1][0]
    svm_save_model(str(path), svm_train(svm_problem(labels, rows, isKernel=kernel == "4"), f"-q {options}"))
    if b"nan" in path.read_bytes():
        with pytest.raises(ModelFormatError, match="expected a finite number"):
            parse_model(path.read_bytes(), "trained.model")
        return None
    return parse_model(path.read_bytes(), "trained.model"), Libsvm(path)


def problem(rng, kernel, classes):
    """Seeded training rows, test rows (some of them training rows, some with features no training row has), labels,
    kernel options."""
    n, d = int(rng.integers(max(12, 4 * classes), 80)), int(rng.integers(1, 21))
    scale, density = float(rng.choice([1e-4, 1.0, 1.0, 1e3])), float(rng.choice([0.15, 0.6, 1.0]))
    indices = sorted(rng.choice(np.arange(1, 60), d, replace=False).tolist())
    train_rows = random_rows(rng, n, indices, density=density, scale=scale)
    test_rows = [
        *random_rows(rng, 12, [*indices, 70, 2000000000], density=density, scale=scale),
        *train_rows[:10],
        {},
        {999: scale},
    ]
    names = {
        1: [1],
        2: [[-1, 1], [0, 1], [1000000, -3]][rng.integers(3)],
        3: [7, -3, 1000000],
        6: [3, 1, 2, 12345678, -5, 0],
    }[classes]
    labels = [names[i % classes] for i in range(n)]
    gamma = float(rng.choice([0.1, 1.0])) / (scale**2 * d * density)
    if kernel == "-t 0":  # the solver's patience depends on the size of the kernel
        kernel += f" -c {1 / (scale**2 * d)!r} -e {0.01 * max(1, scale**2)!r}"
    elif kernel == "-t 4":
        z = oracles.dense(train_rows + test_rows, sorted(set().union(*train_rows, *test_rows))) / scale
        inner = [dict(enumerate([serial, *row])) for serial, row in enumerate((z @ z[:n].T).astype(float).tolist(), 1)]
        return inner[:n], inner[n:], labels, kernel
    return train_rows, test_rows, labels, f"{kernel} -g {gamma!r}"


@pytest.mark.parametrize("probability", [False, True], ids=["labels", "probabilities"])
@pytest.mark.parametrize("kernel", KERNEL_OPTIONS)
def test_classification_is_libsvms(tmp_path, kernel, probability):
    compared = 0
    for seed, svm_type, classes in itertools.product(range(3), ("-s 0 -e 0.01", "-s 1 -n 0.2 -e 0.01"), (1, 2, 3, 6)):
        rng = np.random.default_rng([seed, classes, len(svm_type), KERNEL_OPTIONS.index(kernel)])
        rows, test_rows, labels, kernel_options = problem(rng, kernel, classes)
        trained = train(tmp_path, rows, labels, f"{svm_type} {kernel_options} -b {int(probability)}")
        if trained is None:
            continue
        compared += 1
        for b in {probability, False}:
            assert_same_answers(*trained, test_rows, probability=b)
    assert compared >= 12


@pytest.mark.parametrize("kernel", KERNEL_OPTIONS)
def test_one_class_is_libsvms(tmp_path, kernel):
    for seed in range(6):
        rng = np.random.default_rng([seed, KERNEL_OPTIONS.index(kernel), 2])
        rows, test_rows, labels, kernel_options = problem(rng, kernel, 1)
        model, theirs = train(tmp_path, rows, labels, f"-s 2 -n 0.5 -e 0.01 {kernel_options} -b 1")
        for probability in (False, True)[: 1 + model.header.has_probability]:
            assert_same_answers(model, theirs, test_rows, probability=probability)


@pytest.mark.parametrize("kernel", KERNEL_OPTIONS)
def test_regression_is_libsvms(tmp_path, kernel):
    for seed, svm_type in enumerate(("-s 3 -p 0.1 -e 0.01", "-s 4 -n 0.4 -e 0.01") * 3):
        rng = np.random.default_rng([seed, KERNEL_OPTIONS.index(kernel), 3])
        rows, test_rows, _, kernel_options = problem(rng, kernel, 1)
        targets = rng.standard_normal(len(rows)).tolist()
        model, theirs = train(tmp_path, rows, targets, f"{svm_type} {kernel_options} -b {seed % 3 // 2}")
        assert_same_answers(model, theirs, test_rows, probability=bool(seed % 3 // 2))


def test_one_class_probabilities_of_a_trained_model_are_among_the_ten_steps(tmp_path):
    rng = np.random.default_rng(5)
    rows = random_rows(rng, 200, [1, 2, 3])
    model, theirs = train(tmp_path, rows, [1] * 200, "-s 2 -n 0.5 -t 2 -g 0.5 -b 1")
    assert model.header.prob_density_marks is not None
    assert_same_answers(model, theirs, rows + random_rows(rng, 100, [1, 2, 3], scale=3), probability=True)
    lines, _ = written_lines(model, [parse(rows)], probability=True)
    assert len({line.split()[1] for line in lines.splitlines()[1:]}) > 5


def test_labels_of_seven_digits_are_printed_in_full(tmp_path):
    """svm-predict does so without probabilities; with them it prints six digits, one of the differences the README
    lists."""
    rng = np.random.default_rng(3)
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 20, [1, 2]), nr_class=3, probability=True, gamma=0.5)
    machine.label = [1000000, 1234567, -123456789]
    model, theirs = both(machine, tmp_path)
    rows = random_rows(rng, 50, [1, 2])
    for probability, labels in ((False, theirs.labels(rows)), (True, theirs.probabilities(rows)[0])):
        text, _ = written_lines(model, [parse(rows)], probability=probability)
        assert [line.split()[0] for line in text.decode().splitlines()[int(probability) :]] == [
            "%d" % label for label in labels
        ]
        assert len(set(labels)) > 1


# ---- models nobody trained: every number in full, sizes and scales that training would not give


@st.composite
def cases(draw, kernels=oracles.KERNELS, types=oracles.SVM_TYPES):
    """A machine and rows for it, small, from a seed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kernel, svm_type = draw(st.sampled_from(kernels)), draw(st.sampled_from(types))
    n, d = draw(st.integers(0, 40)), draw(st.integers(1, 25))
    nr_class = draw(st.sampled_from([2, 3, 6])) if n else 2
    density, offset = draw(st.sampled_from([0.05, 0.5, 1.0])), draw(st.sampled_from([0, 0, 1, 30, 1000]))
    scale = draw(st.sampled_from([1e-150, 1e-6, 1e-2, 1, 1, 1, 10, 1e5]))
    indices = sorted(rng.choice(np.arange(0 if kernel != "precomputed" else 1, 80), d, replace=False).tolist())
    gamma = float(draw(st.sampled_from([0.01, 0.3, 5])) / (scale**2 * d))
    if kernel == "precomputed":
        vectors = [{0: int(i)} for i in rng.integers(0, 30, n)]
        rows = [dict(enumerate(rng.normal(0, scale, 30).tolist())) for _ in range(8)]
    else:
        # One vector in four almost repeats another, with almost the opposite coefficient below.
        vectors = random_rows(rng, n, indices, density=density, scale=scale, offset=offset * scale)
        for i in range(1, n, 4):
            vectors[i] = {index: value * (1 + 1e-9 * rng.standard_normal()) for index, value in vectors[i - 1].items()}
        rows = random_rows(rng, 8, [*indices, 90, 2147483647], density=density, scale=scale, offset=offset * scale)
        rows += [dict(x) for x in vectors[:6]] + [{}]
    parameters = {"gamma": gamma, "coef0": float(rng.normal()), "degree": int(rng.integers(0, 6))}
    machine = random_machine(rng, svm_type, kernel, vectors, nr_class=nr_class, probability=True, **parameters)
    machine.coef *= 10.0 ** draw(st.sampled_from([-8, 0, 0, 10]))
    if draw(st.booleans()):
        machine.rho = [0.0] * len(machine.rho)
        machine.coef[1::4] = -machine.coef[: len(machine.coef) - 1 : 4][: len(machine.coef[1::4])]
    return machine, rows


anything = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)


@anything
@given(cases())
def test_the_reference_sum_is_libsvms_bit_for_bit(tmp_path_factory, case):
    machine, rows = case
    model, theirs = both(machine, tmp_path_factory.mktemp("case"))
    np.testing.assert_array_equal(reference(model, parse(rows)), theirs.values(rows))


@anything
@given(cases(kernels=("linear", "polynomial", "rbf", "sigmoid")))
def test_the_fast_evaluation_stays_within_its_claimed_rounding(case):
    machine, rows = case
    model, chunk = parse_model(machine.text(), "a.model"), parse(rows)
    values, _ = decide(model, chunk)
    exact = reference(model, chunk)
    for row, fast, slow in zip(rows, values, exact):
        assert np.all(np.abs(fast - slow) <= oracles.rounding_radius(machine, row, fast)), (fast, slow)


@anything
@given(cases())
def test_decision_values_are_the_formulas(case):
    machine, rows = case
    values, _ = decide(parse_model(machine.text(), "a.model"), parse(rows))
    for row, fast, exact, size in zip(
        rows, values, oracles.decision_values(machine, rows), oracles.magnitudes(machine, rows)
    ):
        allowed = oracles.rounding_radius(machine, row, fast)
        assert np.all(np.abs(fast - exact) <= np.where(np.isfinite(allowed), allowed, 1e-9 * size)), (fast, exact)


@anything
@given(cases(), st.booleans())
def test_every_line_of_an_untrained_model_is_libsvms(tmp_path_factory, case, probability):
    machine, rows = case
    model, theirs = both(machine, tmp_path_factory.mktemp("case"))
    # Coefficients of 1e10 magnify the rounding of decision values, in either program; their labels agree all the same.
    slope = max(map(abs, machine.probA or []), default=0)
    radii = [oracles.rounding_radius(machine, row, values) for row, values in zip(rows, theirs.values(rows))]
    errors = [1e-9 + 10 * slope * max(radius[np.isfinite(radius)], default=0) for radius in radii]
    assert_same_answers(model, theirs, rows, probability=probability, errors=errors)


def test_probabilities_of_unscaled_data_are_libsvms(tmp_path):
    """Features around 100000 leave |x|^2 + |z|^2 - 2 x.z five digits: too few for a probability of six."""
    rng = np.random.default_rng(8)
    for classes in (2, 3):
        rows = random_rows(rng, 60, [1, 2, 3, 4, 5], offset=1e5)
        labels = [1 + int(row.get(1, 0) > 1e5) + (row.get(2, 0) > 1e5) * (classes - 2) for row in rows]
        model, theirs = train(tmp_path, rows, labels, "-t 2 -g 0.3 -b 1")
        assert_same_answers(model, theirs, random_rows(rng, 100, [1, 2, 3, 4, 5], offset=1e5), probability=True)


@pytest.mark.parametrize("offset", [1e4, 1e5, 1e6, 1e7])
@pytest.mark.parametrize("svm_type", ["-s 0", "-s 1 -n 0.3", "-s 2 -n 0.3", "-s 3 -p 0.01", "-s 4"])
def test_labels_and_values_of_unscaled_data_are_libsvms(tmp_path, svm_type, offset):
    rng = np.random.default_rng(21)
    indices = [1, 2, 3, 4, 5]
    rows = [{i: round(v, 3) for i, v in row.items()} for row in random_rows(rng, 80, indices, offset=offset)]
    model, theirs = train(tmp_path, rows, [int(row[1] > offset) for row in rows], f"{svm_type} -t 2 -g 0.3")
    tests = random_rows(rng, 200, indices, offset=offset) + rows
    assert_same_answers(model, theirs, tests, probability=False)
    assert len(set(theirs.labels(tests))) > 1


# ---- where only the order of operations decides


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
    text, tally = written_lines(model, [parse(rows)])
    assert tally.reference_rows == len(rows)
    expected = theirs.lines(rows)
    assert [line.split() for line in text.decode().splitlines()] == expected
    assert 20 < sum(line == expected[0] for line in expected) < 180  # rounding does decide


def test_rows_far_from_zero_need_no_reference_sum(tmp_path):
    machine, rows = mirrored(np.random.default_rng(2), "rbf")
    machine.rho = [0.01]
    model, theirs = both(machine, tmp_path)
    text, tally = written_lines(model, [parse(rows)])
    assert tally.reference_rows == 0
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
        text, tally = written_lines(model, [parse(rows)])
        assert tally.reference_rows > 0
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
    """Folding adds one term per feature of the row; LIBSVM adds up each support vector first, and so keeps what is
    lost one by one."""
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
    """-b 1, where f is near -B / A and not near 0: LIBSVM subtracts rho from the whole sum, not the sum's terms from
    rho one by one."""
    many, slope = 1000, 2.0**20
    x = dict.fromkeys(range(1, many + 1), 0.4 * oracles.UNIT)
    machine = Machine("c_svc", "linear", [x, {}], np.array([[1.0], [-1.0]]), [1.0], label=[1, -1], nr_sv=[1, 1])
    machine.probA, machine.probB = (
        [-slope],
        [slope * (200 * oracles.UNIT - 1)],
    )  # even odds at f = -1 + 200 u; f = -1 + 400 u in truth
    row = dict.fromkeys(x, 1.0)
    model, theirs = both(machine, tmp_path)
    text, _ = written_lines(model, [parse([row])], probability=True)
    assert [line.split()[0] for line in text.decode().splitlines()] == [line[0] for line in theirs.lines([row], True)]


@pytest.mark.parametrize("kernel", ["polynomial", "rbf"])
def test_many_support_vectors_may_add_up_to_nothing_in_libsvms_order(tmp_path, kernel):
    """1 + 0.8 u + 0.8 u + ... stays 1 one by one; added up side by side the small ones first make a difference."""
    many = 200
    coef = np.array([1.0, *[0.8 * oracles.UNIT] * many, -1e-30])[:, None]
    machine = Machine(
        "c_svc", kernel, [{1: 1.0}] * (many + 2), coef, [1 + 80 * oracles.UNIT], 1.0, 0.0, 1, [1, -1], [many + 1, 1]
    )
    model, theirs = both(machine, tmp_path)
    row = {1: 1.0}
    assert theirs.labels([row]) == [-1]
    assert oracles.labels(machine, oracles.decision_values(machine, [row])) == [1]
    text, tally = written_lines(model, [parse([row])])
    assert (text, tally.reference_rows) == (b"-1\n", 1)


def test_a_squared_norm_may_lose_what_a_distance_keeps(tmp_path):
    """|x|^2 = 1 + 0.8 u + 0.8 u + ... stays 1 one by one; in |x - z|^2 with z_1 = x_1 the small ones are all there
    is."""
    many = 1000
    x = {1: 1.0, **dict.fromkeys(range(2, many + 2), (0.8 * oracles.UNIT) ** 0.5)}
    machine = Machine(
        "c_svc", "rbf", [x], np.array([[1.0]]), [1 - 400 * oracles.UNIT], 1.0, label=[1, -1], nr_sv=[1, 0]
    )
    model, theirs = both(machine, tmp_path)
    rows = [{1: 1.0}]
    assert theirs.labels(rows) == [-1]
    text, tally = written_lines(model, [parse(rows)])
    assert (text, tally.reference_rows) == (b"-1\n", 1)


def test_a_power_that_multiplies_rounding_beyond_first_order_has_no_radius():
    """60,000 products and a degree of two billion: n u is 0.014, and (1 + u)^n - 1 no longer covered by 1.05 n u."""
    x = dict.fromkeys(range(1, 60001), 0.001)
    machine = Machine(
        "c_svc", "polynomial", [x, {}], np.array([[1.0], [-1.0]]), [0.0], 1.0, 0.9, 2**31 - 1, [1, -1], [1, 1]
    )
    for rows, bounded in (([x], False), ([{1: 1e-3}], True)):
        out = _native.Decisions(1, True)
        parse_model(machine.text(), "m").evaluator.fast_values(parse(rows), out)
        assert (out.radius[0, 0] < float("inf")) == bounded


def test_even_odds_give_libsvms_label(tmp_path):
    """-b 1 with two classes: rows where A f + B is 0, or almost."""
    rng = np.random.default_rng(6)
    machine, rows = mirrored(rng, "rbf")
    for a, b in ((-2.0, 0.0), (-2.0, 0.5), (1.5, -3.0), (0.0, 0.0), (0.0, 0.3)):
        machine.probA, machine.probB = [a], [b]
        machine.rho = [b / a] if a else [0.0]  # f = -B / A in truth
        model, theirs = both(machine, tmp_path)
        text, tally = written_lines(model, [parse(rows)], probability=True)
        assert tally.reference_rows == len(rows) or a == 0
        assert [line.split()[0] for line in text.decode().splitlines()] == [
            line[0] for line in theirs.lines(rows, True)
        ], (a, b)


def test_where_even_odds_are_lost_to_rounding_the_label_is_libsvms(tmp_path):
    """1 / (1 + e^t) is 1/2 for the smallest t > 0, and the first class wins a tie: the side of t = 0 is not all that
    decides."""
    machine, rows = mirrored(np.random.default_rng(7), "rbf")
    machine.coef *= 1e6
    machine.probA, machine.probB, machine.rho = (
        [oracles.UNIT / 2],
        [0.0],
        [-1.0],
    )  # t = 2^-54 in truth, where e^-t begins to differ from 1
    model, theirs = both(machine, tmp_path)
    text, _ = written_lines(model, [parse(rows)], probability=True)
    expected = [line[0] for line in theirs.lines(rows, True)]
    assert len(set(expected[1:])) == 2
    assert [line.split()[0] for line in text.decode().splitlines()] == expected


def test_a_row_on_the_brink_of_one_more_iteration_has_libsvms_probabilities(tmp_path):
    """Coupled probabilities jump where the iteration's stopping test flips: between two neighbouring numbers, found
    by bisection."""
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
        text, tally = written_lines(model, [parse(rows)], probability=True)
        assert tally.reference_rows > 0
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows, True)
    assert brinks >= 3


def test_a_value_on_a_density_mark_gives_libsvms_step(tmp_path):
    """-b 1 of one class jumps at each mark."""
    rng = np.random.default_rng(10)
    machine, rows = mirrored(rng, "rbf", svm_type="one_class")
    machine.rho, machine.marks = (
        [-0.25],
        [
            -1.0,
            -0.5,
            -0.25,
            0.0,
            0.125,
            0.25,
            0.5,
            0.75,
            1.0,
            2.0,
        ],
    )  # f = 0.25 in truth
    model, theirs = both(machine, tmp_path)
    text, tally = written_lines(model, [parse(rows)], probability=True)
    assert tally.reference_rows == len(rows)
    expected = theirs.lines(rows, True)
    assert len({tuple(line) for line in expected[1:]}) == 2
    assert [line.split() for line in text.decode().splitlines()] == expected


def test_a_value_equal_to_a_mark_takes_libsvms_step(tmp_path):
    """Below the first mark, above the last one, or below the next: which of them an equal value is."""
    marks = [-0.5, -0.25, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.5]
    for value in (*marks, -0.75, 2.0):
        machine = Machine("one_class", "rbf", [{1: 1.0}], np.array([[1.0]]), [1.0 - value], gamma=1.0, marks=marks)
        model, theirs = both(machine, tmp_path)
        assert theirs.values([{1: 1.0}]) == value
        text, _ = written_lines(model, [parse([{1: 1.0}])], probability=True)
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines([{1: 1.0}], True)


# ---- layouts: strips, column lists, folded and unfolded linear models, every build of the hot loops


def assert_close(values, machine, rows, relative=1e-12):
    exact, size = oracles.decision_values(machine, rows), oracles.magnitudes(machine, rows)
    assert values.shape == exact.shape
    assert np.all(np.abs(values - exact) <= relative * size)


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
def test_every_build_of_the_hot_loops_agrees(best_instruction_set, name, kernel, density):
    if not _native.select_instruction_set(name):
        assert name != "baseline"
        pytest.skip(f"this processor has no {name}")
    rng = np.random.default_rng(11)
    for nr_class, n, d in ((2, 100, 40), (3, 40, 7), (6, 77, 33), (2, 1, 1)):
        indices = list(range(1, d + 1))
        vectors = random_rows(rng, n, indices, density=density)
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=nr_class, gamma=1 / d, coef0=0.3, degree=3)
        rows = random_rows(rng, 70, [*indices, d + 5], density=density)
        values, _ = decide(parse_model(machine.text(), "a.model"), parse(rows))
        assert_close(values, machine, rows)


def test_the_fast_exponential_is_right_from_one_to_nothing(best_instruction_set):
    """K = exp(-t) from t = 0 past where it underflows."""
    distances = np.sqrt(np.concatenate([[0.0], np.geomspace(1e-300, 800, 4000), np.linspace(690, 760, 500)]))
    machine = Machine("epsilon_svr", "rbf", [{1: 0.0}], np.array([[1.0]]), [0.0], gamma=1.0)
    rows = [{1: float(v)} for v in distances]
    exact = oracles.decision_values(machine, rows)[:, 0].astype(float)
    for name in ("baseline", "avx2", "avx512"):
        if _native.select_instruction_set(name):
            values, out = decide(parse_model(machine.text(), "a.model"), parse(rows))
            assert out.reference_rows == 0
            # Beside the exponential's own error, distance and exponent are rounded: 3 u t.
            allowed = (7 + 4 * distances**2) * oracles.UNIT * exact + 4e-308
            assert np.all(np.abs(values[:, 0] - exact) <= allowed), name


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
@pytest.mark.parametrize("density", [0.05, 1.0], ids=["column lists", "strips"])
def test_every_size_of_model_and_data(kernel, density):
    rng = np.random.default_rng(12)
    for n, d in itertools.product(SIZES, SIZES):
        count = SIZES[(SIZES.index(n) + SIZES.index(d)) % len(SIZES)]
        svm_type, nr_class = [
            ("c_svc", 2),
            ("nu_svc", 3),
            ("one_class", 2),
            ("nu_svr", 2),
            ("c_svc", 1 if n == 0 else 5),
        ][(n + d) % 5]
        indices = sorted(rng.choice(np.arange(0, 3 * d), d, replace=False).tolist())
        vectors = random_rows(rng, n, indices, density=density)
        parameters = {"gamma": 1 / max(d, 1), "coef0": -0.2, "degree": int(rng.integers(4))}
        machine = random_machine(rng, svm_type, kernel, vectors, nr_class=nr_class, **parameters)
        model = parse_model(machine.text(), "a.model")
        rows = random_rows(rng, count, [*indices, 1000], density=rng.choice([0.1, 1.0]))
        values, _ = decide(model, parse(rows))
        assert_close(values, machine, rows)
        assert oracles.labels(machine, reference(model, parse(rows))) == pytest.approx(
            labels_of(model, rows), rel=1e-9, abs=1e-9
        )


def labels_of(model, rows):
    text, _ = written_lines(model, [parse(rows)] if rows else [])
    return [float(line) for line in text.split()]


def test_every_number_of_rows_around_a_block_gives_the_same_values(tmp_path):
    rng = np.random.default_rng(13)
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 50, list(range(1, 9))), nr_class=3, gamma=0.2)
    rows = random_rows(rng, 300, list(range(1, 9)), density=0.7)
    model = parse_model(machine.text(), "a.model")
    whole, _ = decide(model, parse(rows))
    for count in (*SIZES[1:], 63, 64, 65, 127, 128, 129, 300):
        np.testing.assert_array_equal(decide(model, parse(rows[:count]))[0], whole[:count])
    np.testing.assert_array_equal(np.vstack([decide(model, parse([row]))[0] for row in rows]), whole)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
def test_features_no_support_vector_has_count_in_the_norm_only(kernel):
    rng = np.random.default_rng(14)
    machine = random_machine(rng, "c_svc", kernel, random_rows(rng, 20, [3, 5, 9]), gamma=0.2, coef0=0.1, degree=2)
    rows = [
        {1: 0.5, 3: 0.25, 4: -0.5, 9: 0.1, 10: 0.7, 2147483647: 0.3},
        {1: 1.0},
        {2147483647: 2.0},
        {3: 0.25, 9: 0.1},
    ]
    model = parse_model(machine.text(), "a.model")
    values, _ = decide(model, parse(rows))
    assert_close(values, machine, rows)
    if kernel != "rbf":
        np.testing.assert_array_equal(values[0], values[3])


@pytest.mark.parametrize("density", [0.02, 0.2], ids=["column lists", "strips"])
def test_a_linear_model_of_many_pairs_is_not_folded_and_agrees(tmp_path, density):
    """Folding costs pairs x features numbers: beyond 30 million the support vectors stay as they are."""
    rng = np.random.default_rng(15)
    classes, d = 300, 700
    vectors = random_rows(rng, classes, list(range(1, d + 1)), density=density)
    vectors[0] = dict.fromkeys(range(1, d + 1), 1.0)
    machine = random_machine(rng, "c_svc", "linear", vectors, nr_class=classes)
    machine.nr_sv = [1] * classes
    assert len(machine.pairs) * d > 3e7
    model, theirs = both(machine, tmp_path)
    rows = random_rows(rng, 8, list(range(1, d + 1)), density=density)
    values, out = decide(model, parse(rows))
    assert out.reference_rows == 0
    exact = theirs.values(rows)
    norms = np.sqrt([sum(v * v for v in row.values()) for row in rows])[:, None]
    largest = np.abs(machine.coef).max() * np.sqrt(d) * norms
    assert np.all(np.abs(values - exact) <= 1e-13 * largest)
    assert labels_of(model, rows) == theirs.labels(rows)


def test_a_huge_index_costs_no_dense_vector(tmp_path):
    rng = np.random.default_rng(16)
    indices = [1, 2, 5000000, 2000000000, 2147483647]
    for kernel in ("linear", "rbf"):
        machine = random_machine(rng, "c_svc", kernel, random_rows(rng, 30, indices), gamma=0.3)
        model, theirs = both(machine, tmp_path)
        rows = random_rows(rng, 40, [*indices, 4999999, 1999999999], density=0.8)
        values, _ = decide(model, parse(rows))
        assert_close(values, machine, rows)
        assert labels_of(model, rows) == theirs.labels(rows)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e160, 1e200, 1e300])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "sigmoid"])
@pytest.mark.parametrize("svm_type", ["c_svc", "one_class", "epsilon_svr"])
def test_overflow_and_underflow_end_as_libsvms(tmp_path, svm_type, kernel, scale):
    rng = np.random.default_rng(17)
    machine = random_machine(rng, svm_type, kernel, random_rows(rng, 20, [1, 2, 3]), gamma=0.5, coef0=0.1, degree=3)
    model, theirs = both(machine, tmp_path)
    rows = random_rows(rng, 30, [1, 2, 3, 4], scale=scale)
    np.testing.assert_allclose(labels_of(model, rows), theirs.labels(rows), rtol=1e-9)


# ---- the pipeline around it


@pytest.mark.parametrize("probability", [False, True])
def test_lines_depend_neither_on_threads_nor_on_chunks(tmp_path, all_threads, probability):
    rng = np.random.default_rng(18)
    vectors = random_rows(rng, 60, list(range(1, 30)), density=0.4)
    machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=4, probability=True, gamma=0.1)
    model = parse_model(machine.text(), "a.model")
    (tmp_path / "rows").write_bytes(data_text(random_rows(rng, 700, list(range(1, 33)), density=0.4)))
    seen = set()
    for threads, size in itertools.product((1, 2, 3), (1, 5000, 100000, 1 << 21)):
        _native.set_threads(threads)
        chunks = list(read_chunks(str(tmp_path / "rows"), size=size))
        assert (len(chunks) > 5) == (size <= 5000)
        seen.add(written_lines(model, chunks, probability=probability, values=True)[0])
    assert len(seen) == 1


def test_the_order_of_rows_does_not_change_their_lines():
    rng = np.random.default_rng(19)
    machine = random_machine(
        rng, "c_svc", "rbf", random_rows(rng, 40, list(range(1, 12)), density=0.5), nr_class=3, gamma=0.1
    )
    model = parse_model(machine.text(), "a.model")
    rows = random_rows(rng, 200, list(range(1, 12)), density=0.5)
    order = rng.permutation(200)
    straight = written_lines(model, [parse(rows)], values=True)[0].splitlines()
    mixed = written_lines(model, [parse([rows[i] for i in order])], values=True)[0].splitlines()
    assert [straight[i] for i in order] == mixed


def summary(labels, targets, regression):
    """svm-predict's last lines."""
    if not regression:
        correct = sum(a == b for a, b in zip(labels, targets))
        return ["Accuracy = %g%% (%d/%d) (classification)" % (correct / len(targets) * 100, correct, len(targets))]
    n, p, t = len(targets), np.array(labels), np.array(targets)
    square = (n * (p @ t) - p.sum() * t.sum()) ** 2 / ((n * (p @ p) - p.sum() ** 2) * (n * (t @ t) - t.sum() ** 2))
    return [
        "Mean squared error = %g (regression)" % np.mean((p - t) ** 2),
        "Squared correlation coefficient = %g (regression)" % square,
    ]


@pytest.mark.parametrize("svm_type", oracles.SVM_TYPES)
def test_scores_are_svm_predicts(tmp_path, svm_type):
    rng = np.random.default_rng(20)
    machine = random_machine(rng, svm_type, "rbf", random_rows(rng, 30, [1, 2]), gamma=0.5)
    model, theirs = both(machine, tmp_path)
    rows = random_rows(rng, 150, [1, 2])
    targets = (
        rng.choice(machine.label or [-1, 1], 150).tolist()
        if not theirs.regression
        else rng.standard_normal(150).tolist()
    )
    _, tally = written_lines(model, [parse(rows[:70], targets[:70]), parse(rows[70:], targets[70:])])
    assert summary_lines(model.header, tally.score) == summary(theirs.labels(rows), targets, theirs.regression)


# ---- LIBSVM's own program


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Models on the data of this repository: name -> (model file, test file)"""
    folder = tmp_path_factory.mktemp("commands")
    jobs = {
        "rings": ("rings.train", "rings.test", "-g 0.5 -c 10"),
        "colors-linear": ("colors.train", "colors.test", "-t 0 -c 0.1"),
        "rings-one-class": ("rings.train", "rings.test", "-s 2 -n 0.3 -g 0.5"),
        "rings-probability": ("rings.train", "rings.test", "-g 0.5 -b 1"),
        "rings-one-class-probability": ("rings.train", "rings.test", "-s 2 -n 0.3 -g 0.5 -b 1"),
        "colors": ("colors.train", "colors.test", "-g 0.05"),
        "colors-polynomial": ("colors.train", "colors.test", "-t 1 -d 3 -g 0.1 -r 1"),
        "colors-probability": ("colors.train", "colors.test", "-g 0.05 -b 1"),
        "waves": ("waves.train", "waves.train", "-s 3 -g 1 -p 0.02"),
        "waves-nu": ("waves.train", "waves.train", "-s 4 -g 1 -n 0.5 -b 1"),
    }
    for name, (train_file, _, options) in jobs.items():
        y, x = svm_read_problem(str(DATA / train_file))
        svm_save_model(str(folder / f"{name}.model"), svm_train(y[:1200], x[:1200], f"-q {options}"))
    return {name: (folder / f"{name}.model", DATA / test_file) for name, (_, test_file, _) in jobs.items()}


@pytest.mark.parametrize(
    "name",
    [
        "rings",
        "rings-one-class",
        "rings-probability",
        "colors",
        "colors-linear",
        "colors-polynomial",
        "colors-probability",
    ],
)
def test_the_command_writes_what_svm_predict_writes(svm_predict, fastsvm, tmp_path, commands, name):
    model, test = commands[name]
    theirs, ours = run_both(svm_predict, fastsvm, tmp_path, test, model)
    assert ours == theirs
    assert len(set(ours[0].split())) > 1


def test_the_command_writes_the_probabilities_svm_predict_writes(svm_predict, fastsvm, tmp_path, commands):
    model, test = commands["colors-probability"]
    theirs, ours = run_both(svm_predict, fastsvm, tmp_path, test, model, "-b", "1")
    assert ours == theirs


@pytest.mark.parametrize("name", ["rings-probability", "rings-one-class-probability", "colors-probability", "waves-nu"])
def test_the_command_writes_the_probabilities_of_libsvm_337(fastsvm, tmp_path, commands, name):
    """Debian's svm-predict is older: two classes were coupled by iteration then, and one class had no probabilities."""
    model, test = commands[name]
    y, x = svm_read_problem(str(test))
    theirs = Libsvm(model)
    done = fastsvm("predict", "-b", 1, test, model, "ours")
    ours, expected = [line.split() for line in (tmp_path / "ours").read_text().splitlines()], theirs.lines(x, True)
    if theirs.regression:
        np.testing.assert_allclose(np.array(ours, float), np.array(expected, float), rtol=1e-12, atol=1e-12)
        said = ["Prob. model for test data: target value = predicted value + z,"]
        said += ["z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=%g" % theirs.model.get_svr_probability()]
    else:
        assert ours == expected
        said = []
    labels = theirs.labels(x) if theirs.regression else theirs.probabilities(x)[0]
    assert done.out.splitlines() == said + summary(labels, y, theirs.regression)


@pytest.mark.parametrize("name", ["waves", "waves-nu"])
def test_the_command_writes_svm_predicts_regression_values_but_for_rounding(
    svm_predict, fastsvm, tmp_path, commands, name
):
    model, test = commands[name]
    theirs, ours = run_both(svm_predict, fastsvm, tmp_path, test, model)
    assert ours[1] == theirs[1]
    np.testing.assert_allclose(
        np.array(ours[0].split(), float), np.array(theirs[0].split(), float), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("options", ["", "-q", "-b 1", "-b 1 -q"])
@pytest.mark.parametrize("name", ["rings", "rings-probability", "colors-probability", "waves", "waves-nu"])
@pytest.mark.parametrize("rows", [0, 1])
def test_no_row_and_one_row_end_as_svm_predicts(svm_predict, fastsvm, tmp_path, commands, name, options, rows):
    model, test = commands[name]
    if "-b" in options and name in ("rings", "waves"):
        options = options.replace("-b 1", "-b 0")  # models without probabilities
    (tmp_path / "rows").write_text("".join(test.read_text().splitlines(keepends=True)[:rows]))
    theirs, ours = run_both(svm_predict, fastsvm, tmp_path, "rows", model, *options.split())
    assert ours[1] == theirs[1]
    if name.startswith("waves"):
        np.testing.assert_allclose(
            np.array(ours[0].split(), float), np.array(theirs[0].split(), float), rtol=1e-12, atol=1e-12
        )
    elif name == "rings-probability" and "-b" in options:
        assert [line.split()[0] for line in ours[0].splitlines()] == [
            line.split()[0] for line in theirs[0].splitlines()
        ]
    else:
        assert ours[0] == theirs[0]
