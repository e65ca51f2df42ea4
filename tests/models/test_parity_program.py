"""Files predicted by fastsvm and by LIBSVM's program."""

import itertools

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction.scores import summary_lines
from fastsvm_cli.text.read_rows import read_chunks
from support import oracles
from support.evaluation import parse
from support.in_process import Libsvm, both, run_both, written_lines
from support.oracles import data_text, random_machine, random_rows
from support.paths import DATA

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- the pipeline


@pytest.mark.full
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
    _, run_counts = written_lines(model, [parse(rows[:70], targets[:70]), parse(rows[70:], targets[70:])])
    assert summary_lines(model.header, run_counts.score) == summary(theirs.labels(rows), targets, theirs.regression)


# ---- LIBSVM's program


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Models of this repository's data: name -> (model file, test file)"""
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


@pytest.mark.full
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


@pytest.mark.full
def test_the_command_writes_the_probabilities_svm_predict_writes(svm_predict, fastsvm, tmp_path, commands):
    model, test = commands["colors-probability"]
    theirs, ours = run_both(svm_predict, fastsvm, tmp_path, test, model, "-b", "1")
    assert ours == theirs


@pytest.mark.full
@pytest.mark.parametrize("name", ["rings-probability", "rings-one-class-probability", "colors-probability", "waves-nu"])
def test_the_command_writes_the_probabilities_of_libsvm_337(fastsvm, tmp_path, commands, name):
    """Debian's svm-predict couples two classes by iteration, and has no probabilities of one class."""
    model, test = commands[name]
    y, x = svm_read_problem(str(test))
    theirs = Libsvm(model)
    done = fastsvm("predict", "-b", 1, test, model, "ours")
    ours, expected = [line.split() for line in (tmp_path / "ours").read_text().splitlines()], theirs.lines(x, True)
    if theirs.regression:
        np.testing.assert_allclose(np.array(ours, float), np.array(expected, float), rtol=1e-12, atol=1e-12)
        printed = ["Prob. model for test data: target value = predicted value + z,"]
        printed += ["z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=%g" % theirs.model.get_svr_probability()]
    else:
        assert ours == expected
        printed = []
    labels = theirs.labels(x) if theirs.regression else theirs.probabilities(x)[0]
    assert done.out.splitlines() == printed + summary(labels, y, theirs.regression)


@pytest.mark.full
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


@pytest.mark.full(few=3)
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
