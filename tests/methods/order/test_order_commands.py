"""fastsvm order, and predict with its models: kernel evaluations, folding, when a trial warns. Their screens are in
screens/commands.txt, answers are in the zoo's parity table."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from libsvm.svmutil import svm_load_model, svm_read_problem, svm_train

from fastsvm_cli._native import fingerprint
from fastsvm_cli.commands.order import command as order
from fastsvm_cli.models import ExactModel, Model, load_model
from support import oracles
from support.messages import sentences
from support.model_files import libsvm_rows
from support.oracles import data_text, random_machine, random_rows
from support.ordering import COMPILERS, Libsvm, exact_model, spread
from support.outputs import timeless
from support.paths import DATA, GOLDEN
from support.training import train

both = pytest.mark.parametrize("method", COMPILERS)
VECTORS, ROWS = 120, 70


@pytest.fixture
def files(tmp_path):
    """Write the files exact, ordered and rows; return the machine and the rows."""

    def write(method="geometry", classes=2, probability=False, svm_type="c_svc"):
        rng = np.random.default_rng(72)
        vectors = spread(rng, VECTORS, "rbf", d=3).vectors
        machine = random_machine(rng, svm_type, "rbf", vectors, nr_class=classes, gamma=0.5, probability=probability)
        (tmp_path / "exact").write_bytes(machine.text())
        compiled = COMPILERS[method](exact_model(machine), fingerprint=fingerprint(machine.text()))
        (tmp_path / "ordered").write_bytes(compiled.to_text())
        rows = random_rows(rng, ROWS, [1, 2, 3], scale=2)
        (tmp_path / "rows").write_bytes(data_text(rows, [machine.label[0] if machine.label else 1] * ROWS))
        return machine, rows

    return write


def counted(done):
    """Kernel evaluations of predict, those of the exact model, % saved."""
    return map(float, re.search(r"Kernel evaluations: (\d+) of (\d+) \((\S+) % saved\)", done.err).groups())


def words(text):
    return [line.split() for line in text.splitlines()]


# ---- the trial


@both
@pytest.mark.parametrize("seconds, times, warned", [(8.0, "0.75", True), (6.0, "1", False), (2.0, "3", False)])
def test_the_trial_warns_where_there_is_no_gain(tmp_path, monkeypatch, seconds, times, warned, method):
    """The clock advances by a given time per evaluation: 6 seconds of the exact model's. By the page, triangle never
    gains, and geometry gains at small gamma: the warning must not recommend triangle."""
    now = 100.0

    def takes(seconds, evaluate):
        def timed(*arguments):
            nonlocal now
            end = now + seconds
            evaluate(*arguments)
            now = end  # including the exact model's time for some rows

        return timed

    monkeypatch.setattr("fastsvm_cli.comparisons.thread_time", lambda: now)
    monkeypatch.setattr(ExactModel, "decision_values", takes(6.0, ExactModel.decision_values))
    monkeypatch.setattr(Model, "decision_values", takes(seconds, Model.decision_values))
    rng = np.random.default_rng(1)
    # Nearly equal vectors: two kernel values decide.
    near = [{i: 1 + 1e-3 * v for i, v in enumerate(row, 1)} for row in rng.standard_normal((300, 60)).tolist()]
    machine = oracles.Machine("one_class", "rbf", near, np.ones((300, 1)), [-1.0], gamma=0.1)
    (tmp_path / "m").write_bytes(machine.text())
    done = CliRunner().invoke(order, ["--method", method, str(tmp_path / "m"), str(tmp_path / "o")])
    assert done.exit_code == 0, (done.output, done.exception)
    share = re.search(rf"300 support vectors: (\S+) % of the kernel evaluations, {times} times", done.output)[1]
    assert 0 < float(share) < (10 if method == "geometry" else 101)
    assert ("Warning: on these support vectors" in done.output) == warned
    assert ("try --method geometry" in done.output) == (warned and method == "triangle")


def test_the_trial_counts_the_rows_of_data(fastsvm, files):
    """The share is that of predict on these rows."""
    files()
    printed = fastsvm("order", "--data", "rows", "exact", "o").out
    share = float(re.search(rf"^Trial on {ROWS} rows of rows: (\S+) % of the kernel evaluations, ", printed, re.M)[1])
    *_, saved = counted(fastsvm("predict", "rows", "o", "out"))
    assert share == pytest.approx(100 - saved, rel=0.02)


# ---- kernel evaluations


@both
def test_evaluations_of_every_row_end_its_line(fastsvm, files, method):
    files(method, probability=True)
    for options in ([], ["--values"]):
        plain = fastsvm("predict", *options, "rows", "ordered")
        done = fastsvm("predict", *options, "--evaluations", "rows", "ordered")
        assert done.err == plain.err
        found = [line.rsplit(" ", 1) for line in done.out.splitlines()]
        assert [line for line, _ in found] == plain.out.splitlines()
        evaluations = [int(count) for _, count in found]
        assert next(counted(plain)) == sum(evaluations)
        assert min(evaluations) >= VECTORS if options else len(set(evaluations)) > 2


@both
def test_a_regression_stops_within_a_tolerance(fastsvm, files, method):
    machine, rows = files(method, svm_type="epsilon_svr")
    exact, spent = Libsvm(machine).values(rows)[:, 0], []
    for tolerance in (3, 0.01, 1e-9):
        done = fastsvm("predict", "--tolerance", tolerance, "--evaluations", "rows", "ordered")
        value, evaluations = np.array(words(done.out), float).T
        assert np.all(np.abs(value - exact) <= tolerance) and "--tolerance E" not in done.err
        assert next(counted(done)) == evaluations.sum()
        spent.append(evaluations)
    assert all(np.all(less <= more) for less, more in pairwise(spent))
    assert spent[0].max() <= VECTORS <= spent[-1].min() and spent[0].mean() < VECTORS


def test_evaluations_after_steps_and_of_an_exact_model(fastsvm, files):
    machine, rows = files(classes=4)
    options = ("--steps", 9, "--exact", "exact", "rows", "ordered")
    found = words(fastsvm("predict", "-q", "--evaluations", *options).out)
    assert [row[0] for row in found] == Libsvm(machine).lines(rows)
    summary, counts = json.loads(fastsvm("predict", "--json", *options, "out").out), [row[1] for row in found]
    assert counts.count("129") == summary["rows_evaluated"] > 0 and set(counts) <= {"9", "129"}
    assert summary["kernel_evaluations"] == sum(map(int, counts))


def test_evaluations_beside_a_bad_row_and_of_a_resumed_run(fastsvm, files, tmp_path):
    files("triangle")
    expected = fastsvm("predict", "-q", "--evaluations", "rows", "ordered").out.splitlines()
    good = (tmp_path / "rows").read_text().splitlines(keepends=True)
    (tmp_path / "damaged").write_text("".join([*good[:5], "1 no row\n", *good[5:]]))
    command = ("predict", "--json", "--evaluations", "--on-bad-row", "nan")
    whole = fastsvm(*command, "damaged", "ordered", "whole")
    assert (tmp_path / "whole").read_text().splitlines() == [*expected[:5], "nan nan", *expected[5:]]
    assert json.loads(whole.out)["kernel_evaluations"] == sum(int(line.split()[1]) for line in expected)
    fastsvm("predict", "-q", "--resume", "--evaluations", "damaged", "ordered", "out", code=1)
    assert not (tmp_path / "out").exists()
    refused = fastsvm("predict", "--resume", "--on-bad-row", "nan", "damaged", "ordered", "out", code=1)
    assert "begun with --evaluations on" in refused.err
    done = fastsvm(*command, "--resume", "damaged", "ordered", "out")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert json.loads(timeless(whole.out)) == json.loads(timeless(done.out))


# ---- folding


def test_folding_begins_with_both_weight_vectors_of_a_linear_model(fastsvm, tmp_path):
    """Means of the linear model's support vectors, weighted by coefficient."""
    text = [line for line in (DATA / "colors.train").read_text().splitlines() if line[0] in "13"][:200]
    (tmp_path / "train").write_text("\n".join(text) + "\n")
    y, x = svm_read_problem(str(tmp_path / "train"))
    total = svm_load_model(str(train(tmp_path / "m", x, y, "-g 0.05"))).get_nr_sv()
    done = fastsvm("order", "--fold", "train", "--points", 20, "m", "o")
    assert "22 points in greedy order, 2 of them folded" in done.out
    made = load_model(str(tmp_path / "o"))
    assert list(made.points[:2]) == [total, total + 1] and len(made.points) == 22
    linear = svm_train(y, x, "-q -t 0 -c 1")
    a = np.array(linear.get_sv_coef())[:, 0]
    vectors = np.array([[row.get(i, 0.0) for i in range(1, 20)] for row in linear.get_SV()])
    for folded, weights in zip(libsvm_rows(made.all_vectors)[-2:], (np.maximum(a, 0), np.maximum(-a, 0))):
        expected = weights @ vectors / weights.sum()
        np.testing.assert_allclose([folded.get(i, 0.0) for i in range(1, 20)], expected, atol=1e-9)
    values = [
        np.array(words(fastsvm("predict", "-q", *options, "--values", "train", name).out))[:, 1].astype(float)
        for options, name in ((["--steps", 2], "o"), ([], "m"))
    ]
    assert np.corrcoef(*values)[0, 1] > 0.5  # two points are informative
    # The file is data like any other.
    (tmp_path / "comments").write_text("".join(line + " # a comment\n" for line in text))
    again = fastsvm("order", "-q", "--fold", "comments", "--points", 20, "m", "-").out
    assert again == (tmp_path / "o").read_text()


# ---- refusals


def test_wrong_usage_of_predict_is_exit_code_2(fastsvm, tmp_path):
    (tmp_path / "rings").symlink_to(GOLDEN / "c_svc.model")
    waves = (GOLDEN / "epsilon_svr.model").read_text()
    (tmp_path / "waves").write_text(waves.replace("\nSV\n", "\nprobA 0.5\nSV\n"))
    for name in ("rings", "waves"):
        for method in COMPILERS:
            fastsvm("order", "-q", "--method", method, name, f"{name}.{method}")
    (tmp_path / "approx").symlink_to(GOLDEN / "version2" / "c_svc-certified.approx")
    (tmp_path / "rows").write_text("1 1:1\n")
    for options, message in (case.values for case in sentences("order predict")):
        done = fastsvm("predict", *options.split(), "out", code=2)
        assert message in done.err and not (tmp_path / "out").exists(), str(done)
