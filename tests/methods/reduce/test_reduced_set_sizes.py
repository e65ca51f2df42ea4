"""Number of vectors of a reduced set: lossless, by ratio or count; refitted probabilities."""

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train
from scipy.optimize import approx_fprime

from fastsvm_cli.methods.reduce.duplicates import merge_duplicates
from fastsvm_cli.methods.reduce.probabilities import refit
from fastsvm_cli.methods.reduce.reduction import lossless
from fastsvm_cli.methods.reduce.target import reduce_to
from fastsvm_cli.models import load_model
from support import oracles
from support.evaluation import parse, values
from support.in_process import run_both
from support.oracles import Machine, data_text, random_rows
from support.paths import DATA
from support.reducing import INITS, OPTIMIZERS, TYPES, exact_model, labels, reduce, some_machine, split

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- refitted probabilities


def test_probabilities_are_fitted_by_platts_likelihood():
    """Minimum of Lin, Lin and Weng's objective, for every pair, on the rows of its two classes."""
    for classes in (2, 3):
        machine = some_machine(25, classes=classes, probability=True)
        model = reduce(machine, 10).model
        rng = np.random.default_rng(25)
        rows = random_rows(rng, 300, [1, 2, 3, 4, 5])
        names = np.array(machine.label)[rng.integers(0, classes, 300)]
        names = np.where(rng.random(300) < 0.6, labels(model, [parse(rows)]), names)
        f = values(model, parse(rows))
        before = list(model.header.probA)
        model = refit(model, [parse(rows[:100], names[:100].tolist()), parse(rows[100:], names[100:].tolist())])
        assert model.header.probA != before
        for p, (i, j) in enumerate(machine.pairs):
            mine = np.isin(names, [machine.label[i], machine.label[j]])
            first = names[mine] == machine.label[i]
            positive, negative = first.sum(), (~first).sum()
            t = np.where(first, (positive + 1) / (positive + 2), 1 / (negative + 2))

            def objective(parameters):
                q = 1 / (1 + np.exp(parameters[0] * f[mine, p] + parameters[1]))
                return -np.sum(t * np.log(q) + (1 - t) * np.log(1 - q))

            best = np.array([model.header.probA[p], model.header.probB[p]])
            assert np.linalg.norm(approx_fprime(best, objective, 1e-7)) < 1e-2
            assert all(objective(best) < objective(best + step) for step in np.vstack([np.eye(2), -np.eye(2)]) * 0.05)


def test_probabilities_of_pairs_that_do_not_occur_stay():
    machine = some_machine(26, classes=3, probability=True)
    model = reduce(machine, 10).model
    rows = random_rows(np.random.default_rng(26), 50, [1, 2, 3, 4, 5])
    model = refit(model, [parse(rows, [machine.label[k % 2] for k in range(50)])])
    assert model.header.probA[1:] == machine.probA[1:] and model.header.probA[0] != machine.probA[0]
    assert np.isfinite(model.header.probB).all()


def test_regression_noise_is_fitted_as_svm_train_does():
    machine = some_machine(27, "epsilon_svr", probability=True)
    model = reduce(machine, 10).model
    rng = np.random.default_rng(27)
    rows = random_rows(rng, 200, [1, 2, 3, 4, 5])
    f = values(model, parse(rows))[:, 0]
    y = f + rng.laplace(0, 0.3, 200)
    y[:3] += 40  # beyond five deviations
    model = refit(model, [parse(rows, y.tolist())])
    error = np.abs(y - f)
    assert model.header.probA == [pytest.approx(error[error <= 5 * np.sqrt(2 * error.mean() ** 2)].mean(), rel=1e-9)]
    assert model.header.probA[0] < error.mean()


@pytest.mark.full
def test_the_marks_of_one_class_stay(fastsvm, tmp_path, trained):
    model, test = trained["rings-one-class-probability"]
    fastsvm("reduce", "-q", "--vectors", 5, "--data", test, model, "out")
    assert (
        load_model(str(tmp_path / "out")).header.prob_density_marks == load_model(str(model)).header.prob_density_marks
    )


# ---- lossless


def merged_machine(machine):
    """([(vector, coefficients)], nr_sv): equal vectors (of one class, if more than two) added up, without those of
    coefficient 0."""
    of = (
        np.repeat(np.arange(machine.nr_class), machine.nr_sv)
        if machine.classification
        else np.zeros(len(machine.vectors), int)
    )
    sums, where = {}, {}
    for at, (x, a) in enumerate(zip(machine.vectors, machine.coef)):
        key = (of[at] if machine.nr_class > 2 else 0, frozenset((i, v) for i, v in x.items() if v))
        sums[key] = sums[key] + a if key in sums else a
        where.setdefault(key, at)
    stored = [key for key in sums if np.any(sums[key])]
    nr_sv = (
        [sum(of[where[key]] == c for key in stored) for c in range(machine.nr_class)] if machine.classification else []
    )
    return [(machine.vectors[where[key]], sums[key]) for key in stored], nr_sv


def with_duplicates(seed, svm_type, classes):
    """Every third vector repeats another of any class, some with explicit zeros or cancelling coefficients."""
    rng = np.random.default_rng(seed)
    machine = some_machine(seed, svm_type, classes, n=45, probability=True)
    if machine.nr_sv:
        machine.nr_sv = [45 // classes] * (classes - 1) + [45 - 45 // classes * (classes - 1)]
    for at in range(0, 45, 3):
        other = int(rng.integers(45))
        machine.vectors[at] = dict(machine.vectors[other])
        if at % 2:
            machine.vectors[at][7] = 0.0
        if at % 5 == 0 and other != at:
            machine.vectors[other] = {2: 0.5, 3: float(at)}
            machine.vectors[at] = {1: 0.0, 2: 0.5, 3: float(at), 9: -0.0}
            machine.coef[other] = -machine.coef[at]
    return machine


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_lossless_merges_equal_vectors_and_changes_nothing_else(svm_type, classes):
    merged = 0
    for seed in range(5):
        machine = with_duplicates(seed, svm_type, classes)
        exact = exact_model(machine)
        model = lossless(exact, "x").model
        assert model.header.total_sv == model.vectors.rows
        small, words = split(model.to_text())
        expected, nr_sv = merged_machine(machine)
        assert [{i: v for i, v in x.items() if v} for x in small.vectors] == [
            {i: v for i, v in x.items() if v} for x, _ in expected
        ]
        np.testing.assert_allclose(small.coef, [a for _, a in expected], rtol=1e-14)
        assert small.nr_sv == nr_sv
        for key in ("svm_type", "kernel", "gamma", "rho", "label", "probA", "probB", "marks"):
            assert getattr(small, key) == getattr(machine, key), key
        rows = [*random_rows(np.random.default_rng(seed), 20, [1, 2, 3, 4, 5, 7]), *machine.vectors[:20]]
        truth = oracles.decision_values(machine, rows)
        assert np.abs(oracles.decision_values(small, rows) - truth).max() < 1e-9
        assert np.all(
            np.abs(oracles.decision_values(small, rows) - truth) <= np.array(words[4 : 4 + len(machine.pairs)], float)
        )
        assert np.array(words[4 : 4 + len(machine.pairs)], float).max() < 1e-11
        assert np.abs(values(model, parse(rows)) - values(exact, parse(rows))).max() < 1e-9
        count = merge_duplicates(exact)[1]
        assert count == 45 - len(expected)
        merged += count
    assert merged > 10


def test_lossless_merges_across_two_classes_and_only_within_one_of_more():
    twins = [{1: 1.0}, {1: 2.0}, {1: 1.0}, {1: 3.0}]
    two = Machine(
        "c_svc", "rbf", twins, np.array([[2.0], [1.0], [-0.5], [-1.0]]), [0.1], gamma=0.5, label=[1, -1], nr_sv=[2, 2]
    )
    small, _ = split(lossless(exact_model(two), "x").model.to_text())
    assert small.vectors == [{1: 1.0}, {1: 2.0}, {1: 3.0}]
    assert small.coef[:, 0].tolist() == [1.5, 1.0, -1.0] and small.nr_sv == [2, 1]
    three = Machine("c_svc", "rbf", twins, np.ones((4, 2)), [0.1] * 3, gamma=0.5, label=[1, 2, 3], nr_sv=[2, 1, 1])
    small, _ = split(lossless(exact_model(three), "x").model.to_text())
    assert small.vectors == twins and small.nr_sv == [2, 1, 1]
    three.nr_sv = [3, 1, 0]
    small, _ = split(lossless(exact_model(three), "x").model.to_text())
    assert small.vectors == [{1: 1.0}, {1: 2.0}, {1: 3.0}]
    assert small.coef.tolist() == [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]] and small.nr_sv == [2, 1, 0]


@pytest.mark.full
def test_vectors_that_all_cancel_leave_a_model_without_vectors(svm_predict, fastsvm, tmp_path):
    machine = Machine(
        "c_svc", "rbf", [{1: 1.0}, {1: 1.0}], np.array([[2.0], [-2.0]]), [0.25], gamma=0.5, label=[3, -4], nr_sv=[1, 1]
    )
    (tmp_path / "m").write_bytes(machine.text())
    (tmp_path / "rows").write_bytes(data_text([{1: 1.0}, {2: 1.0}]))
    assert (
        "2 support vectors, 2 of them equal to others or of coefficient 0 -> 0 vectors\n"
        in fastsvm("reduce", "--lossless", "m", "small").out
    )
    (theirs, _), (ours, _) = run_both(svm_predict, fastsvm, tmp_path, "rows", "small")
    assert ours == theirs == "-4\n-4\n"
    fastsvm("reduce", "--vectors", 1, "m", "small")


@pytest.mark.full
def test_a_trained_model_with_duplicates_is_reduced_without_loss(fastsvm, tmp_path):
    y, x = svm_read_problem(str(DATA / "rings.train"))
    svm_save_model(str(tmp_path / "m"), svm_train(y[:200] + y[:100], x[:200] + x[:100], "-q -g 0.5 -c 1"))
    done = fastsvm("reduce", "--lossless", "m")
    machine, (small, _) = Machine.read((tmp_path / "m").read_bytes()), split((tmp_path / "m.reduced").read_bytes())
    expected, _ = merged_machine(machine)
    assert len(small.vectors) == len(expected) < len(machine.vectors) - 20
    first = (
        f"{len(machine.vectors)} support vectors, {len(machine.vectors) - len(expected)} of them equal to others or of"
        f" coefficient 0 -> {len(expected)} vectors"
    )
    assert done.out.splitlines()[0] == first
    assert "labels that differ on the support vectors: 0 of" in done.out and "squared distance" not in done.out
    rows = [{k: v for k, v in row.items() if v} for row in x[300:400]]
    assert np.abs(oracles.decision_values(machine, rows) - oracles.decision_values(small, rows)).max() < 1e-9


# ---- number of vectors


@pytest.mark.full
@pytest.mark.parametrize("options", [["--ratio", 0.1], ["--vectors", 100000]])
def test_a_ratio_and_more_vectors_than_there_are(fastsvm, tmp_path, trained, options):
    model, test = trained["rings"]
    total = load_model(str(model)).header.total_sv
    requested = round(0.1 * total) if options[0] == "--ratio" else total
    done = fastsvm("reduce", *options, model, "out")
    assert done.out.startswith(f"{total} support vectors -> {requested} vectors\n")
    small, _ = split((tmp_path / "out").read_bytes())
    assert len(small.vectors) == requested
    if requested == total:
        assert small.vectors == Machine.read(model.read_bytes()).vectors
        assert "squared distance 0 of |Psi|^2" in done.out


def tiny(svm_type, total, classes=2):
    machine = Machine(
        svm_type, "rbf", [{1: 1.0, 3: -0.5}][:total], np.array([[0.7]] * total).reshape(total, 1), [0.3], gamma=0.5
    )
    if svm_type == "c_svc":
        machine.label, machine.nr_sv = [1, -1], [total, 0]
    return machine


@pytest.mark.parametrize("svm_type", ["c_svc", "one_class", "nu_svr"])
@pytest.mark.parametrize("total", [0, 1])
def test_a_model_of_no_or_one_support_vector_stays_what_it_is(svm_type, total):
    machine = tiny(svm_type, total)
    exact = exact_model(machine)
    made = [
        reduce(machine, count, init=init, optimizer=optimizer)
        for count in (1, 5)
        for init in INITS
        for optimizer in OPTIMIZERS
    ]
    made += [reduce_to(exact, 1e-3, rows, fingerprint="x") for rows in (None, exact.vectors)]
    for found in made:
        small, words = split(found.model.to_text())
        assert (small.vectors, small.coef.tolist(), small.rho, small.nr_sv) == (
            machine.vectors,
            machine.coef.tolist(),
            machine.rho,
            machine.nr_sv,
        )
        assert float(words[4]) < 1e-15 and not found.missing


@pytest.mark.full
def test_a_model_of_a_single_class_and_one_without_vectors_by_the_command(fastsvm, tmp_path):
    machine = Machine("c_svc", "rbf", [], np.zeros((0, 0)), [], gamma=0.5, label=[7], nr_sv=[0])
    (tmp_path / "single").write_bytes(machine.text())
    (tmp_path / "empty").write_bytes(tiny("nu_svr", 0).text())
    (tmp_path / "rows").write_bytes(data_text([{1: 1.0}, {}]))
    for name, option, value in (("single", ["--target", 0.1], 7), ("empty", ["--vectors", 3], -0.3)):
        done = fastsvm("reduce", *option, name)
        assert done.out.startswith("0 support vectors -> 0 vectors\n") and done.err == ""
        assert [float(word) for word in fastsvm("predict", "-q", "rows", f"{name}.reduced").out.split()] == [value] * 2
    assert fastsvm("predict", "-q", "--exact", "single", "rows", "single.reduced").out == "7\n7\n"


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e3])
def test_kernels_that_do_not_tell_vectors_apart_or_nothing_else(gamma):
    for svm_type, classes in (("c_svc", 2), ("c_svc", 3), ("nu_svr", 2)):
        machine = some_machine(29, svm_type, classes, n=20, gamma=gamma)
        for init in INITS:
            small, words = split(reduce(machine, 6, init=init if classes == 2 else "greedy").model.to_text())
            assert 1 <= len(small.vectors) <= 6
            rows = [{1: 0.5}, *small.vectors, *machine.vectors]
            error = np.abs(oracles.decision_values(machine, rows) - oracles.decision_values(small, rows))
            assert np.all(error <= np.array(words[4 : 4 + len(machine.pairs)], float))
            if gamma < 1:
                assert error.max() < 1e-6
