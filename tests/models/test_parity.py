"""The exact model against LIBSVM 3.37 in this process, LIBSVM's program, and the formulas."""

import itertools
from math import floor, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libsvm.svmutil import svm_problem, svm_save_model, svm_train

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support import oracles
from support.evaluation import parse, reference
from support.in_process import Libsvm, both, decide, written_lines
from support.oracles import Machine, random_machine, random_rows
from support.profiles import seeded

pytestmark = pytest.mark.usefixtures("serial_libsvm")
KERNEL_OPTIONS = [
    "-t 0",
    *(f"-t 1 -d {degree} -r {coef0}" for degree in range(5) for coef0 in (0.5, -0.5)),
    "-t 2",
    "-t 3 -r 0.1",
    "-t 4",
]


def is_text_of(word, number, *, digits, error):
    """Whether `word` is printf's %.<digits>g of a number within `error` of `number`."""
    return word in {f"{v:.{digits}g}" for v in (number, number - error, number + error)} or (
        number != 0 and abs(float(word) - number) <= error + 10.0 ** (floor(log10(abs(number))) - digits + 1) / 2
    )


def assert_same_answers(model, theirs, rows, *, probability, errors=None):
    """fastsvm's text against LIBSVM's. errors: of probabilities, per row, beyond the last digit."""
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
    # Two independent readings of the formulas.
    np.testing.assert_allclose(oracles.probabilities(machine, theirs.values(rows)), exact, rtol=1e-9, atol=1e-12)


def train(folder, rows, labels, options):
    """(model, LIBSVM's model) of svm-train; None if it contains nan (nu-SVC of a constant kernel)."""
    path = folder / "trained.model"
    kernel = options.split("-t ")[1][0]
    svm_save_model(str(path), svm_train(svm_problem(labels, rows, isKernel=kernel == "4"), f"-q {options}"))
    if b"nan" in path.read_bytes():
        with pytest.raises(ModelFormatError, match="expected a finite number"):
            parse_model(path.read_bytes(), "trained.model")
        return None
    return parse_model(path.read_bytes(), "trained.model"), Libsvm(path)


def problem(rng, kernel, classes):
    """Training rows, test rows, labels, kernel options. Some test rows are training rows, or have other features."""
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
    if kernel == "-t 0":  # the solver's stopping depends on the size of the kernel
        kernel += f" -c {1 / (scale**2 * d)!r} -e {0.01 * max(1, scale**2)!r}"
    elif kernel == "-t 4":
        z = oracles.dense(train_rows + test_rows, sorted(set().union(*train_rows, *test_rows))) / scale
        inner = [dict(enumerate([serial, *row])) for serial, row in enumerate((z @ z[:n].T).astype(float).tolist(), 1)]
        return inner[:n], inner[n:], labels, kernel
    return train_rows, test_rows, labels, f"{kernel} -g {gamma!r}"


@pytest.mark.full(few=1)
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


@pytest.mark.full(few=5)
@pytest.mark.parametrize("kernel", KERNEL_OPTIONS)
def test_one_class_is_libsvms(tmp_path, kernel):
    for seed in range(6):
        rng = np.random.default_rng([seed, KERNEL_OPTIONS.index(kernel), 2])
        rows, test_rows, labels, kernel_options = problem(rng, kernel, 1)
        model, theirs = train(tmp_path, rows, labels, f"-s 2 -n 0.5 -e 0.01 {kernel_options} -b 1")
        for probability in (False, True)[: 1 + model.header.has_probability]:
            assert_same_answers(model, theirs, test_rows, probability=probability)


@pytest.mark.full(few=6)
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
    """svm-predict does so without probabilities only: a difference in the README."""
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


@st.composite
def cases(draw, kernels=oracles.KERNELS, types=oracles.SVM_TYPES):
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
        # One vector in four nearly repeats another, with nearly the opposite coefficient below.
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


@seeded()
@given(cases())
def test_the_reference_sum_is_libsvms_bit_for_bit(tmp_path_factory, case):
    machine, rows = case
    model, theirs = both(machine, tmp_path_factory.mktemp("case"))
    np.testing.assert_array_equal(reference(model, parse(rows)), theirs.values(rows))


@seeded()
@given(cases(kernels=("linear", "polynomial", "rbf", "sigmoid")))
def test_the_fast_evaluation_stays_within_its_claimed_rounding(case):
    machine, rows = case
    model, chunk = parse_model(machine.text(), "a.model"), parse(rows)
    values, _ = decide(model, chunk)
    exact = reference(model, chunk)
    for row, fast, slow in zip(rows, values, exact):
        assert np.all(np.abs(fast - slow) <= oracles.rounding_radius(machine, row, fast)), (fast, slow)


@seeded()
@given(cases())
def test_decision_values_are_the_formulas(case):
    machine, rows = case
    values, _ = decide(parse_model(machine.text(), "a.model"), parse(rows))
    for row, fast, exact, size in zip(
        rows, values, oracles.decision_values(machine, rows), oracles.magnitudes(machine, rows)
    ):
        allowed = oracles.rounding_radius(machine, row, fast)
        assert np.all(np.abs(fast - exact) <= np.where(np.isfinite(allowed), allowed, 1e-9 * size)), (fast, exact)


@seeded()
@given(cases(), st.booleans())
def test_every_line_of_an_untrained_model_is_libsvms(tmp_path_factory, case, probability):
    machine, rows = case
    model, theirs = both(machine, tmp_path_factory.mktemp("case"))
    # Coefficients of 1e10 magnify rounding, but labels agree.
    slope = max(map(abs, machine.probA or []), default=0)
    radii = [oracles.rounding_radius(machine, row, values) for row, values in zip(rows, theirs.values(rows))]
    errors = [1e-9 + 10 * slope * max(radius[np.isfinite(radius)], default=0) for radius in radii]
    assert_same_answers(model, theirs, rows, probability=probability, errors=errors)


def test_probabilities_of_unscaled_data_are_libsvms(tmp_path):
    """Features near 100000 leave |x|^2 + |z|^2 - 2 x.z five digits, a probability needs six."""
    rng = np.random.default_rng(8)
    for classes in (2, 3):
        rows = random_rows(rng, 60, [1, 2, 3, 4, 5], offset=1e5)
        labels = [1 + int(row.get(1, 0) > 1e5) + (row.get(2, 0) > 1e5) * (classes - 2) for row in rows]
        model, theirs = train(tmp_path, rows, labels, "-t 2 -g 0.3 -b 1")
        assert_same_answers(model, theirs, random_rows(rng, 100, [1, 2, 3, 4, 5], offset=1e5), probability=True)


@pytest.mark.full(few=7)
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
