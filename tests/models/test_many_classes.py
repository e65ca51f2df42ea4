"""Models of many classes: svm-predict's labels from few pairs, in bounded memory; -b 1 by LIBSVM's sums."""

import subprocess

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import parse_model
from fastsvm_cli.text.read_rows import smaller_chunks
from support import oracles
from support.evaluation import parse, reference
from support.in_process import both, written_lines
from support.oracles import Machine, random_machine, random_rows
from support.paths import FASTSVM
from support.processes import peak_memory

pytestmark = pytest.mark.usefixtures("serial_libsvm")


def small_classes(rng, classes, per_class, d=3, *, kernel="rbf", probability=False):
    """Classes of a few vectors with random coefficients: a tournament without a sure winner."""
    vectors = random_rows(rng, classes * per_class, list(range(1, d + 1)))
    machine = random_machine(
        rng, "c_svc", kernel, vectors, nr_class=classes, probability=probability, gamma=0.5, coef0=0.3, degree=2
    )
    machine.nr_sv = [per_class] * classes
    return machine


def predicts_in(*words, cwd):
    """Peak memory of `fastsvm predict`, in megabytes. Buffers of its many threads must not add up."""
    return peak_memory(FASTSVM, "predict", "-q", "--threads", 32, *words, "/dev/null", cwd=cwd) / 1e6


# ---- memory


@pytest.mark.full
@pytest.mark.parametrize(
    "classes, per_class, rows, options",
    [
        (300, 2, ["1 1:0.5 2:-0.25\n"] * 2_000, []),
        (26, 2, ["1\n"] * 100_000, []),
        (26, 2, ["1\n"] * 80_000, ["--unlabelled"]),
        (26, 400, ["1 1:0.5 2:-0.25\n"] * 2_000, []),
        (400, 1, ["1 1:1e9\n"] * 300, []),  # too long for any bound of rounding: the reference sum
        (100, 2, ["1 1:0.5\n"] * 3_000, ["--values"]),
        (100, 2, ["1 1:0.5\n"] * 600, ["-b", "1"]),
        (150, 2, ["1 1:0.5 3:1\n"] * 3_000, []),
    ],
)
def test_memory_does_not_grow_with_rows_times_pairs_nor_with_threads(tmp_path, classes, per_class, rows, options):
    machine = small_classes(np.random.default_rng(1), classes, per_class, probability="-b" in options)
    (tmp_path / "model").write_bytes(machine.text())
    lines = [line.partition(" ")[2] or "\n" for line in rows] if "--unlabelled" in options else rows
    (tmp_path / "rows").write_text("".join(lines))
    (tmp_path / "row").write_text(lines[0])
    alone = predicts_in(*options, "row", "model", cwd=tmp_path)  # the program and the model
    assert predicts_in(*options, "rows", "model", cwd=tmp_path) < alone + 100


@pytest.mark.full
def test_compiled_models_of_many_classes_are_bounded_too(tmp_path):
    (tmp_path / "model").write_bytes(small_classes(np.random.default_rng(2), 150, 1).text())
    for command in (["approx", "--certify"], ["order", "--method", "triangle"]):
        subprocess.run([FASTSVM, *command, "-q", "model", "compiled"], cwd=tmp_path, check=True)
        (tmp_path / "row").write_text("1 1:0.5\n")
        (tmp_path / "rows").write_text("1 1:0.5\n" * 3_000)
        alone = predicts_in("row", "compiled", cwd=tmp_path)
        assert predicts_in("rows", "compiled", cwd=tmp_path) < alone + 100, command


def test_chunks_are_parted_by_rows_times_pairs():
    chunk = parse([{1: float(i)} for i in range(1, 1101)])
    for pairs, most in ((1, 1100), (1000, 524), (1 << 18, 2), (1 << 21, 1)):
        parts = list(smaller_chunks([chunk], pairs))
        assert [part.rows for part in parts] == [min(most, 1100 - at) for at in range(0, 1100, most)]
        assert [part.first_line for part in parts] == [1 + at for at in range(0, 1100, most)]
        np.testing.assert_array_equal(
            np.concatenate([np.asarray(part.values) for part in parts]), np.asarray(chunk.values)
        )


# ---- labels


@pytest.mark.full(few=7)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial", "sigmoid"])
@pytest.mark.parametrize("classes, per_class", [(3, 1), (3, 40), (5, 2), (7, 17), (12, 33), (40, 1), (40, 3)])
def test_labels_of_a_tournament_are_libsvms(tmp_path, kernel, classes, per_class):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        machine = small_classes(rng, classes, per_class, kernel=kernel)
        rows = [*random_rows(rng, 120, [1, 2, 3, 9]), {}, {9: 1.0}, *machine.vectors[:20]]
        model, theirs = both(machine, tmp_path)
        text, run_counts = written_lines(model, [parse(rows)])
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows)
        assert run_counts.reference_rows == 0


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial", "sigmoid"])
def test_labels_where_every_vote_is_a_matter_of_rounding_are_libsvms(tmp_path, kernel):
    """Vectors and their mirror images: every decision value is 0 up to rounding."""
    rng = np.random.default_rng(5)
    for classes in (3, 6, 20):
        x = rng.standard_normal((classes * 6, 4))
        mirrored = np.vstack([np.vstack([part, part[:, ::-1]]) for part in x.reshape(classes, 6, 4)])
        a = rng.uniform(0.1, 3, (classes, 6, classes - 1))
        coef = np.concatenate([np.concatenate([part, -part]) for part in a])
        machine = Machine(
            "c_svc",
            kernel,
            [dict(enumerate(row, 1)) for row in mirrored.tolist()],
            coef,
            [0.0] * (classes * (classes - 1) // 2),
            gamma=0.3,
            coef0=0.2,
            degree=3,
            label=list(range(classes)),
            nr_sv=[12] * classes,
        )
        left = rng.standard_normal((150, 2))
        rows = [dict(enumerate(row, 1)) for row in np.hstack([left, left[:, ::-1]]).tolist()]
        model, theirs = both(machine, tmp_path)
        text, run_counts = written_lines(model, [parse(rows)])
        expected = theirs.lines(rows)
        assert [line.split() for line in text.decode().splitlines()] == expected
        assert run_counts.reference_rows == len(rows) and len({line[0] for line in expected}) > 1


@pytest.mark.full
def test_labels_alone_are_those_of_all_values(best_instruction_set):
    rng = np.random.default_rng(6)
    for density in (0.02, 0.5, 1.0):
        vectors = random_rows(rng, 300, list(range(1, 121)), density=density)
        machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=9, gamma=0.02)
        model = parse_model(machine.text(), "m")
        chunk = parse(random_rows(rng, 200, list(range(1, 130)), density=density))
        for build in _native.instruction_sets():
            assert _native.select_instruction_set(build)
            for threads in (1, 2):
                _native.set_threads(threads)
                assert written_lines(model, [chunk])[0] == b"".join(
                    line.split(b" ")[0] + b"\n" for line in written_lines(model, [chunk], values=True)[0].splitlines()
                )


def test_labels_alone_are_for_those_who_can_do_with_them():
    rng = np.random.default_rng(7)
    machine = small_classes(rng, 4, 5, probability=True)
    model, chunk = parse_model(machine.text(), "m"), parse(random_rows(rng, 100, [1, 2, 3]))
    task, compiled = model.header.task(), compile_maclaurin(model, fingerprint="f")
    alone, predictions = _native.Decisions(model.pairs, False, True), _native.Predictions()
    model.decision_values(chunk, alone)
    for refused in (
        lambda: _native.Decisions(model.pairs, True, True),
        lambda: model.evaluator.fast_values(chunk, alone),
        lambda: model.reference_values(chunk, alone),
        lambda: compiled.decision_values(chunk, alone),
        lambda: _native.predict(task, alone, True, predictions),
        lambda: _native.format_lines(task, predictions, alone),
    ):
        with pytest.raises(ValueError, match=r"labels alone have no (values|radii|probabilities)"):
            refused()


# ---- LIBSVM's sums, many rows side by side


@pytest.mark.full(few=2)
@pytest.mark.parametrize("density", [0.03, 0.4, 1.0])
def test_sums_of_rows_side_by_side_are_libsvms_bit_for_bit(tmp_path, instruction_set, density):
    for seed, (kernel, svm_type, classes) in enumerate(
        [
            ("rbf", "c_svc", 3),
            ("rbf", "c_svc", 2),
            ("linear", "c_svc", 4),
            ("polynomial", "c_svc", 3),
            ("sigmoid", "nu_svc", 5),
            ("rbf", "epsilon_svr", 2),
            ("polynomial", "one_class", 2),
        ]
    ):
        rng = np.random.default_rng(seed)
        indices = sorted(rng.choice(np.arange(0, 90), 40, replace=False).tolist())
        offset = float(rng.choice([0, 0, 1e5]))
        machine = random_machine(
            rng,
            svm_type,
            kernel,
            random_rows(rng, 50, indices, density=density, offset=offset),
            nr_class=classes,
            gamma=0.3,
            coef0=-0.4,
            degree=3,
        )
        rows = [
            *random_rows(rng, 68, [*indices, 95, 2147483647], density=density, offset=offset),
            {},
            {2000000000: 1e-3},
        ]
        model, theirs = both(machine, tmp_path)
        expected, chunk = theirs.values(rows), parse(rows)
        for count in (1, 2, 7, 8, 9, 31, 32, 33, 40, 70):
            np.testing.assert_array_equal(reference(model, chunk.slice(0, count)), expected[:count])


# ---- probabilities


def near_ties(theirs, rng, offset, d, count):
    """Rows at and next to a change of LIBSVM's most probable class, found by bisection."""
    out = []
    while len(out) < count:
        a, b = (offset + rng.standard_normal(d) for _ in range(2))
        row = lambda share: {i: float(v) for i, v in enumerate(a + share * (b - a), 1)}  # noqa: E731
        label = lambda share: theirs.probabilities([row(share)])[0][0]  # noqa: E731
        low, high = 0.0, 1.0
        if label(low) == label(high):
            continue
        first = label(low)
        while np.nextafter(low, high) < high and (low + high) / 2 not in (low, high):
            middle = (low + high) / 2
            low, high = (middle, high) if label(middle) == first else (low, middle)
        out += [row(share) for share in (low, high, np.nextafter(low, 0), np.nextafter(high, 1))]
    return out


@pytest.mark.full(few=2)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e5])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_coupled_labels_next_to_ties_are_libsvms_and_probabilities_too(tmp_path, kernel, offset):
    rng = np.random.default_rng(int(offset) + len(kernel))
    compared = 0
    for _ in range(4):
        machine = random_machine(
            rng,
            "c_svc",
            kernel,
            random_rows(rng, 30, [1, 2, 3], offset=offset),
            nr_class=3,
            probability=True,
            gamma={"polynomial": 1 / (1 + offset**2)}.get(kernel, 0.5),
            coef0=0.5,
            degree=2,
        )
        _, theirs = both(machine, tmp_path)
        # Offsets and slopes put the boundaries among the rows.
        sample = theirs.values(random_rows(rng, 60, [1, 2, 3], offset=offset)) + np.array(machine.rho)
        machine.rho, machine.label = np.median(sample, axis=0).tolist(), [1, 2, 3]
        machine.probA, machine.probB = (-2 / np.maximum(sample.std(axis=0), 1e-300)).tolist(), [0.1, 0.0, -0.1]
        model, theirs = both(machine, tmp_path)
        if len(set(theirs.probabilities(random_rows(rng, 60, [1, 2, 3], offset=offset))[0])) < 2:
            continue
        rows = near_ties(theirs, rng, offset, 3, 40)
        text, run_counts = written_lines(model, [parse(rows)], probability=True)
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows, True)
        assert run_counts.reference_rows == len(rows)
        compared += 1
    assert compared >= 2


def test_an_ordered_models_coupled_answers_are_libsvms(tmp_path, fastsvm):
    rng = np.random.default_rng(11)
    machine = random_machine(
        rng, "c_svc", "rbf", random_rows(rng, 90, [1, 2, 3]), nr_class=4, probability=True, gamma=0.5
    )
    machine.label = [4, 3, 2, 1]
    _, theirs = both(machine, tmp_path)
    rows = [*near_ties(theirs, rng, 0.0, 3, 60), {}]
    (tmp_path / "rows").write_bytes(oracles.data_text(rows))
    fastsvm("order", "-q", "a.model", "a.order")
    fastsvm("predict", "-q", "-b", 1, "rows", "a.order", "out")
    assert [line.split() for line in (tmp_path / "out").read_text().splitlines()] == theirs.lines(rows, True)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_what_overflows_has_libsvms_probabilities(tmp_path, classes):
    """LIBSVM's min and max turn NaN into 1e-7, by their order of comparison."""
    rng = np.random.default_rng(classes)
    huge = random_rows(rng, 12, [1, 2], scale=1e120)
    machine = random_machine(
        rng, "c_svc", "polynomial", huge, nr_class=classes, probability=True, gamma=1.0, coef0=1.0, degree=3
    )
    machine.label = list(range(classes))
    rows = [*random_rows(rng, 20, [1, 2], scale=1e120), *random_rows(rng, 20, [1, 2], scale=1e-120), {}]
    model, theirs = both(machine, tmp_path)
    assert not np.all(np.isfinite(theirs.values(rows)))
    text, _ = written_lines(model, [parse(rows)], probability=True)
    assert [line.split() for line in text.decode().splitlines()] == theirs.lines(rows, True)
    assert "nan" not in text.decode()
