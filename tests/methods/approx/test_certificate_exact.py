"""predict --exact with a Maclaurin model; radii of benchmark models."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction.pipeline import Fallback, predict
from fastsvm_cli.text.read_rows import read_chunks
from support import in_process
from support.evaluation import decide, parse, reference
from support.expanding import certified
from support.hostile import UNKNOWN, as_rows, hostile_machine, hostile_options, hostile_rows, uncovered
from support.oracles import EXTENDED, Machine, data_text, random_machine, random_rows
from support.profiles import tries

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- --exact


class Libsvm(in_process.Libsvm):
    """A machine evaluated by LIBSVM, with svm-predict 3.37's lines except for labels of seven digits."""

    likely_label = "%.17g"

    def __init__(self, machine, path):
        path.write_bytes(machine.text())
        super().__init__(path)

    def lines(self, rows, probability):
        return [" ".join(words).encode() for words in super().lines(rows, probability)]


def exact_lines(machine, rows, probability=False, allowed=0.0, **options):
    exact, model = certified(machine, **options)
    text, run_counts = in_process.written_lines(
        model, [parse(rows)], probability=probability, exact=Fallback(lambda: exact, allowed)
    )
    return text.splitlines(), run_counts


def balanced(rng, n, d, gamma):
    """Two classes, mirrored in the first feature: f = 0 where that feature is 0, up to LIBSVM's rounding."""
    x = rng.standard_normal((n, d))
    a = rng.uniform(0.1, 2, n)
    mirrored = x * np.where(np.arange(d) == 0, -1, 1)
    order = rng.permutation(n)
    coef = np.concatenate([a, -a[order]])[:, None]
    machine = Machine(
        "c_svc", "rbf", as_rows(np.vstack([x, mirrored[order]])), coef, [0.0], gamma=gamma, label=[3, -4], nr_sv=[n, n]
    )
    machine.probA, machine.probB = [-1.3], [0.0]
    rows = rng.standard_normal((40, d)) * np.where(np.arange(d) == 0, 0, 1)
    return machine, as_rows(rows)


@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("nu_svc", 3), ("c_svc", 4), ("one_class", 2)])
def test_exact_lines_are_libsvms(tmp_path, svm_type, classes, probability):
    rng = np.random.default_rng(15)
    decided = seen = 0
    for trial in range(tries(60)):
        n, d, gamma = int(rng.integers(2, 40)), int(rng.integers(1, 9)), 10 ** rng.uniform(-3, 0)
        vectors = random_rows(rng, n, range(1, d + 1))
        machine = random_machine(
            rng, svm_type, "rbf", vectors, nr_class=classes, gamma=float(gamma), probability=probability
        )
        if trial % 3 == 0:
            machine.coef[1::2], machine.vectors[1::2] = (
                -machine.coef[:-1:2][: len(machine.coef[1::2])],
                machine.vectors[:-1:2][: len(machine.vectors[1::2])],
            )
        rows = [*random_rows(rng, 20, range(1, d + 3)), *vectors[:10], {}, {UNKNOWN: 1e5}]
        lines, run_counts = exact_lines(machine, rows, probability, **hostile_options(rng))
        assert lines == Libsvm(machine, tmp_path / "m").lines(rows, probability), trial
        decided, seen = decided + run_counts.rows - run_counts.evaluated, seen + run_counts.rows
    # Coupled probabilities need radii near rounding error.
    assert decided > (0 if probability and classes > 2 else 0.1) * seen


@pytest.mark.full(few=1)
@pytest.mark.parametrize("probability", [False, True])
def test_where_symmetry_makes_f_zero_exact_lines_are_still_libsvms(tmp_path, probability):
    rng = np.random.default_rng(16)
    labels, by_reference = [], 0
    for _ in range(25):
        machine, rows = balanced(
            rng, int(rng.integers(2, 30)), int(rng.integers(2, 8)), float(10 ** rng.uniform(-2, 0))
        )
        lines, run_counts = exact_lines(machine, rows, probability, **hostile_options(rng))
        assert lines == Libsvm(machine, tmp_path / "m").lines(rows, probability)
        labels += [line.split()[0] for line in lines[probability:]]
        by_reference += run_counts.reference_rows
    assert by_reference == len(labels)
    # At f = 0 probabilities are equal up to rounding, and the first class is printed.
    assert 0.1 < labels.count(b"3") / len(labels) < 0.9 or probability


@pytest.mark.full
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_exact_lines_of_finite_expansions_are_libsvms(tmp_path, kernel):
    rng = np.random.default_rng(17)
    for trial in range(60):
        vectors = random_rows(rng, int(rng.integers(2, 30)), range(1, 6))
        parameters = {"gamma": 0.5, "coef0": float(rng.choice([0, 1])), "degree": int(rng.integers(0, 5))}
        machine = random_machine(rng, "c_svc", kernel, vectors, nr_class=int(rng.integers(2, 5)), **parameters)
        machine.rho = [0.0] * len(machine.rho)
        rows = [*random_rows(rng, 20, range(1, 8)), *({k: v * 1e-9 for k, v in x.items()} for x in vectors[:5]), {}]
        single = bool(trial % 2)
        lines, _ = exact_lines(machine, rows, single=single)
        assert lines == Libsvm(machine, tmp_path / "m").lines(rows, False), (trial, single)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("tolerance", [0.0, 1e-12, 1e-3, 1.0])
def test_exact_regression_values_are_within_the_tolerance(tolerance):
    rng = np.random.default_rng(18)
    for _ in range(40):
        machine, x = hostile_machine(rng)
        machine = Machine("nu_svr", "rbf", machine.vectors, machine.coef[:, :1], machine.rho[:1], gamma=machine.gamma)
        rows = hostile_rows(rng, x)
        lines, run_counts = exact_lines(machine, rows, allowed=tolerance, **hostile_options(rng))
        theirs = reference(parse_model(machine.text(), "a.model"), parse(rows))[:, 0]
        assert np.all(np.abs(np.array(lines, float) - theirs) <= tolerance)


@pytest.mark.full
def test_the_exact_model_is_made_only_when_a_row_needs_it_and_its_file_is_the_right_one_all_the_same(fastsvm, tmp_path):
    machine = Machine(
        "c_svc", "rbf", [{1: 1.0}, {1: -1.0}], np.array([[1.0], [-1.0]]), [0.0], gamma=0.1, label=[3, -4], nr_sv=[1, 1]
    )
    (tmp_path / "a.model").write_bytes(machine.text())
    (tmp_path / "clear").write_bytes(data_text([{1: 1.0}, {1: -0.7}]))
    (tmp_path / "open").write_bytes(data_text([{1: 1.0}, {2: 1.0}]))
    fastsvm("approx", "--certify", "a.model", "certified")
    certified = load_model(str(tmp_path / "certified"))
    lines, requested = [], []
    for rows in ("clear", "open"):
        exact = Fallback(lambda: requested.append(rows) or load_model(str(tmp_path / "a.model")))
        predict(certified, read_chunks(str(tmp_path / rows)), lines.append, path=rows, exact=exact)
    assert b"".join(lines).startswith(b"3\n-4\n3\n") and requested == ["open"]
    (tmp_path / "a.model").write_bytes(b"\0 not a model")
    for rows in ("clear", "open"):
        assert fastsvm("predict", "-q", "--exact", "a.model", rows, "certified", code=1).out == ""


# ---- benchmark data


@pytest.fixture(scope="module")
def benchmark_models():
    """(folder, model name, degree) -> (exact model, certified model); each is compiled once."""
    made = {}

    def get(folder, name, degree):
        if (name, degree) not in made:
            exact = load_model(str(folder / "models" / f"{name}.model"))
            made[name, degree] = exact, compile_maclaurin(exact, fingerprint="x", certify=True, degree=degree)
        return made[name, degree]

    return get


def benchmark_truth(exact, chunk):
    """(rows) decision values of a model with one decision function, in extended precision."""
    both = [exact.vectors, chunk]
    columns = np.unique(np.concatenate([np.asarray(part.indices) for part in both]))
    x, z = (np.zeros((part.rows, len(columns)), EXTENDED) for part in both)
    for to, part in zip((x, z), both):
        to[np.repeat(np.arange(part.rows), np.diff(part.indptr)), np.searchsorted(columns, part.indices)] = part.values
    coef = np.asarray(exact.vectors.leading)[:, 0].astype(EXTENDED)
    squares, gamma = (x**2).sum(axis=1), EXTENDED(exact.header.gamma)
    return (
        np.array([coef @ np.exp(-gamma * (squares - 2 * (x[:, row != 0] @ row[row != 0]) + row @ row)) for row in z])
        - exact.header.rho[0]
    )


SHARES = [
    ("a9a_g0.01_c1", "a9a.t", 2, 0.98),
    ("ijcnn1_g0.05_c1", "ijcnn1.t", 2, 0.984),
    ("mnist1_g0.0001_c10", "mnist1.t", 2, 1.0),
    ("u20_g0.1_c1", "u20.t", 2, 0.58),
    ("a9a_g0.01_c1", "a9a.t", 3, 0.999),
    ("ijcnn1_g0.05_c1", "ijcnn1.t", 3, 0.999),
    ("u20_g0.1_c1", "u20.t", 3, 0.94),
]


@pytest.mark.full
@pytest.mark.parametrize("name, data, degree, share", SHARES)
def test_the_radii_prove_the_signs_of_benchmark_rows(shared, benchmark_models, name, data, degree, share):
    _, model = benchmark_models(shared, name, degree)
    proven = total = 0
    for chunk in read_chunks(str(shared / "data" / data)):
        value, radius = decide(model, chunk)
        proven, total = proven + int((np.abs(value) > radius).sum()), total + chunk.rows
    assert proven >= share * total, proven / total


@pytest.mark.full
@pytest.mark.parametrize(
    "name, data, degree",
    [("a9a_g0.01_c1", "a9a.t", 2), ("ijcnn1_g0.05_c1", "ijcnn1.t", 3), ("u20_g0.1_c1", "u20.t", 2)],
)
def test_no_benchmark_row_is_beyond_its_radius(shared, benchmark_models, name, data, degree):
    exact, model = benchmark_models(shared, name, degree)
    chunk = next(read_chunks(str(shared / "data" / data)))
    chunk = chunk.select(list(range(300)))
    value, radius = decide(model, chunk)
    error = np.maximum(
        np.abs(value[:, 0] - benchmark_truth(exact, chunk)), np.abs(value - reference(exact, chunk))[:, 0]
    )
    assert not uncovered(error, radius[:, 0]).any()


def test_radii_asked_of_a_model_without_certificates_are_an_error_and_no_crash():
    machine = random_machine(
        np.random.default_rng(0), "c_svc", "rbf", random_rows(np.random.default_rng(1), 5, [1, 2]), gamma=0.5
    )
    model = compile_maclaurin(parse_model(machine.text(), "m"), fingerprint="f")
    with pytest.raises(ValueError, match="radii requested from a model without certificates"):
        model.decision_values(_native.parse(b"1 1:1\n")[0], _native.Decisions(1, True))
