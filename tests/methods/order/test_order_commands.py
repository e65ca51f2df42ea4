"""fastsvm order, and predict with its models: what they print, count and refuse. The answers of ordered models are in
the zoo's parity table."""

import gzip
import json
import os
import re
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from libsvm.svmutil import svm_load_model, svm_read_problem, svm_train

from fastsvm_cli.commands.order import command
from fastsvm_cli.models.base import ExactModel, Model
from fastsvm_cli.text.fingerprint import fingerprint
from support import oracles
from support.messages import sentences
from support.oracles import data_text, random_machine, random_rows
from support.ordering import COMPILERS, Libsvm, exact_model, lines, order, spread
from support.outputs import timeless
from support.paths import DATA
from support.training import train

pytestmark = pytest.mark.usefixtures("serial_libsvm")
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


# ---- what is printed


@both
def test_order_says_what_it_made_and_predict_what_that_saves(fastsvm, tmp_path, files, method):
    machine, rows = files(method)
    done = fastsvm("order", "--method", method, "exact")
    first, size, trial, advice = done.out.splitlines()
    kinds = {"geometry": r"\d+ points in greedy order", "triangle": r"\d+ lists? by distance"}
    assert re.fullmatch(rf"{VECTORS} support vectors, {kinds[method]}", first), str(done)
    assert re.fullmatch(r"[\d.]+ KB -> [\d.]+ KB: exact.order", size), str(done)
    assert re.match(r"Trial on \d+ support vectors: \S+ % of the kernel evaluations, \S+ times as fast", trial), trial
    assert "--data" in advice and sorted(os.listdir(tmp_path)) == ["exact", "exact.order", "ordered", "rows"]
    assert (tmp_path / "exact.order").read_bytes() == (tmp_path / "ordered").read_bytes()

    piped = fastsvm("order", "--method", method, "-", input=(tmp_path / "exact").read_bytes())
    assert piped.out == (tmp_path / "ordered").read_text()
    assert piped.err.splitlines()[1].endswith(": standard output")

    ours = fastsvm("predict", "rows", "ordered", "out")
    labels = Libsvm(machine).lines(rows)
    assert (tmp_path / "out").read_text().split() == labels and len(set(labels)) == 2
    packed = gzip.compress(piped.out.encode())
    assert fastsvm("predict", "-q", "rows", "-", input=packed).out.split() == labels
    right = labels.count(str(machine.label[0]))
    assert f"({right}/{ROWS})" in ours.out
    evaluations, whole, saved = counted(ours)
    assert whole == ROWS * VECTORS and saved == pytest.approx(100 * (1 - evaluations / whole), abs=0.06)


@both
@pytest.mark.parametrize("seconds, times, warned", [(8.0, "0.75", True), (2.0, "3", False)])
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

    monkeypatch.setattr("fastsvm_cli.comparisons.support_vector_trial.thread_time", lambda: now)
    monkeypatch.setattr(ExactModel, "decision_values", takes(6.0, ExactModel.decision_values))
    monkeypatch.setattr(Model, "decision_values", takes(seconds, Model.decision_values))
    rng = np.random.default_rng(1)
    # Nearly equal vectors: two kernel values decide.
    near = [{i: 1 + 1e-3 * v for i, v in enumerate(row, 1)} for row in rng.standard_normal((300, 60)).tolist()]
    machine = oracles.Machine("one_class", "rbf", near, np.ones((300, 1)), [-1.0], gamma=0.1)
    (tmp_path / "m").write_bytes(machine.text())
    done = CliRunner().invoke(command, ["--method", method, str(tmp_path / "m"), str(tmp_path / "o")])
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
    assert fastsvm("order", "--data", "-", "exact", "o", code=1, input="").err.startswith("Error: standard input: no ")


# ---- kernel evaluations


@both
def test_evaluations_of_every_row_end_its_line(fastsvm, files, method):
    files(method, probability=True)
    for options in ([], ["--values"], ["-b", 1]):
        plain = fastsvm("predict", *options, "rows", "ordered")
        done = fastsvm("predict", *options, "--evaluations", "rows", "ordered")
        assert done.err == plain.err
        head = options[:1] == ["-b"]  # line of label names
        found = [line.rsplit(" ", 1) for line in done.out.splitlines()[head:]]
        assert [line for line, _ in found] == plain.out.splitlines()[head:]
        evaluations = [int(count) for _, count in found]
        assert next(counted(plain)) == sum(evaluations)
        assert len(set(evaluations)) > 2 if not options else min(evaluations) >= VECTORS
    summary = json.loads(fastsvm("predict", "--json", "rows", "ordered", "out").out)
    assert summary["rows_proven"] == ROWS and summary["kernel_evaluations_of_exact"] == ROWS * VECTORS
    assert summary["kernel_evaluations_per_row"] == summary["kernel_evaluations"] / ROWS > 0
    summary = json.loads(fastsvm("predict", "--json", "-", "ordered", "out", input="").out)
    assert summary["kernel_evaluations_per_row"] is None and summary["kernel_evaluations"] == 0


@both
def test_a_regression_stops_within_a_tolerance_and_else_is_evaluated_in_full(fastsvm, files, method):
    machine, rows = files(method, svm_type="epsilon_svr")
    exact, spent = Libsvm(machine).values(rows)[:, 0], []
    whole = fastsvm("predict", "rows", "ordered")
    np.testing.assert_allclose(np.array(whole.out.split(), float), exact, atol=1e-12)
    assert "(0 % saved)" in whole.err and "--tolerance E" in whole.err
    for tolerance in (3, 0.01, 1e-9):
        done = fastsvm("predict", "--tolerance", tolerance, "--evaluations", "rows", "ordered")
        value, evaluations = np.array(words(done.out), float).T
        assert np.all(np.abs(value - exact) <= tolerance) and "--tolerance E" not in done.err
        assert next(counted(done)) == evaluations.sum()
        spent.append(evaluations)
    assert all(np.all(less <= more) for less, more in pairwise(spent))
    assert spent[0].max() <= VECTORS <= spent[-1].min() and spent[0].mean() < VECTORS


@pytest.mark.parametrize("classes", [2, 4])
def test_evaluations_after_steps_and_of_an_exact_model(fastsvm, files, tmp_path, classes):
    machine, rows = files(classes=classes)
    options = ("--steps", 9, "--exact", "exact", "rows", "ordered")
    summary = json.loads(fastsvm("predict", "--json", *options, "labels").out)
    assert (tmp_path / "labels").read_text().split() == Libsvm(machine).lines(rows)
    open_rows = summary["rows_evaluated"]
    assert 0 < open_rows and summary["rows_by_reference_sum"] == 0 and (classes > 2 or open_rows < ROWS)
    assert summary["kernel_evaluations"] == 9 * ROWS + VECTORS * open_rows
    found = words(fastsvm("predict", "-q", "--evaluations", *options).out)
    assert [row[0] for row in found] == (tmp_path / "labels").read_text().split()
    counts = [row[1] for row in found]
    assert set(counts) <= {"9", "129"} and counts.count("129") == open_rows
    found = words(fastsvm("predict", "-q", "--evaluations", "--values", *options).out)
    assert [row[-1] for row in found] == counts


def test_a_bad_row_is_a_line_of_nan_with_one_for_its_evaluations(fastsvm, files, tmp_path):
    files("triangle")
    good = (tmp_path / "rows").read_text().splitlines(keepends=True)
    (tmp_path / "damaged").write_text("".join([*good[:5], "1 no row\n", *good[5:]]))
    for options, width in ((["--evaluations"], 2), (["--evaluations", "--values"], 3)):
        expected = fastsvm("predict", "-q", *options, "rows", "ordered").out.splitlines()
        done = fastsvm("predict", "--on-bad-row", "nan", *options, "damaged", "ordered")
        assert done.out.splitlines() == [*expected[:5], " ".join(["nan"] * width), *expected[5:]]
        assert next(counted(done)) == sum(int(line.split()[-1]) for line in expected)


def test_a_resumed_run_counts_the_evaluations_of_the_rows_before(fastsvm, files, tmp_path):
    files()
    whole = fastsvm("predict", "--json", "--evaluations", "rows", "ordered", "whole")
    with (tmp_path / "rows").open("a") as file:
        file.write("1 no row\n")
    fastsvm("predict", "-q", "--resume", "--evaluations", "rows", "ordered", "out", code=1)
    assert not (tmp_path / "out").exists()
    again = ("predict", "--json", "--resume", "--on-bad-row", "skip")
    assert "begun with --evaluations on" in fastsvm(*again, "rows", "ordered", "out", code=1).err
    done = fastsvm(*again, "--evaluations", "rows", "ordered", "out")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert {**json.loads(timeless(whole.out)), "bad_rows": 1} == json.loads(timeless(done.out))


# ---- --steps


def test_steps_print_intervals_and_count_the_rows_that_they_decide(fastsvm, files):
    machine, rows = files()
    model, decided = order(machine, "geometry"), []
    for steps in (6, 15):
        done = fastsvm("predict", "--steps", steps, "--values", "--evaluations", "rows", "ordered")
        expected, run_counts = lines(model.stopped_after(steps), rows, values=True)
        assert done.out.splitlines() == [f"{line} {steps}" for line in expected]
        found = re.search(rf"Decided: (\d+) of {ROWS} rows \((\S+) %\) after {steps} points\.", done.err)
        decided.append(int(found[1]))
        assert decided[-1] == ROWS - run_counts.undecided
        assert float(found[2]) == pytest.approx(100 * decided[-1] / ROWS, abs=0.01)
    assert decided[0] < decided[-1] < ROWS
    summary = json.loads(fastsvm("predict", "--json", "--steps", steps, "rows", "ordered", "out").out)
    assert "rows_proven" not in summary and summary["rows_decided"] == decided[-1]


# ---- options of order


def test_sequences_are_reproducible(fastsvm, files, tmp_path):
    files()

    def made(*options):
        return fastsvm("order", "-q", *options, "exact", "-").out

    drawn = made("--sequence", "sgma", "--seed", 1)
    assert drawn == made("--sequence", "sgma", "--seed", 1, "--threads", 1) != made("--sequence", "sgma")
    assert "\nsequence sgma\n" in drawn and "\nsequence greedy\n" in made()
    done = fastsvm("order", "--sequence", "sgma", "--points", 17, "exact", "o")
    assert "17 points in sgma order" in done.out
    assert "7 lists by distance" in fastsvm("order", "--method", "triangle", "--lists", 7, "exact", "o").out
    assert "\nnr_lists 7\n" in (tmp_path / "o").read_text()


def folded_means(y, x):
    """w+ and w- of a linear SVM: means of its support vectors weighted by coefficient."""
    model = svm_train(y, x, "-q -t 0 -c 1")
    out = []
    for sign in (1, -1):
        mean, total = {}, 0.0
        for (a,), row in zip(model.get_sv_coef(), model.get_SV()):
            if sign * a > 0:
                total += abs(a)
                for index, value in row.items():
                    mean[index] = mean.get(index, 0.0) + abs(a) * value
        out.append({index: value / total for index, value in mean.items() if index > 0})
    return out


def test_folding_begins_with_both_weight_vectors_of_a_linear_model(fastsvm, tmp_path):
    text = [line for line in (DATA / "colors.train").read_text().splitlines() if line[0] in "13"][:400]
    (tmp_path / "train").write_text("\n".join(text) + "\n")
    y, x = svm_read_problem(str(tmp_path / "train"))
    total = svm_load_model(str(train(tmp_path / "m", x, y, "-g 0.05"))).get_nr_sv()
    done = fastsvm("order", "--fold", "train", "--points", 20, "m", "o")
    assert "22 points in greedy order, 2 of them folded" in done.out
    made = (tmp_path / "o").read_text()
    found = made.splitlines()
    points = found[found.index("points") + 1].split()
    assert points[:2] == [str(total), str(total + 1)] and len(points) == 22
    rows = [line.split() for line in found[found.index("SV") + 1 + total : found.index("points")]]
    for row, expected in zip(rows, folded_means(y, x), strict=True):
        assert row[0] == "0"
        assert {int(i): float(v) for i, v in (word.split(":") for word in row[1:])} == pytest.approx(expected, abs=1e-9)
    values = [
        np.array(words(fastsvm("predict", "-q", *options, "--values", "train", name).out))[:, 1].astype(float)
        for options, name in ((["--steps", 2], "o"), ([], "m"))
    ]
    assert np.corrcoef(*values)[0, 1] > 0.5  # two points are informative
    # The file is data like any other.
    (tmp_path / "comments").write_text("".join(line + " # a comment\n" for line in text))
    assert fastsvm("order", "-q", "--fold", "comments", "--points", 20, "m", "-").out == made


# ---- refusals


@pytest.mark.parametrize("text", ["", "1 1:1\n1 2:1\n", "1 x\n"], ids=["empty", "one class", "no data"])
def test_a_file_that_cannot_be_folded_is_one_line_with_its_name(fastsvm, files, tmp_path, text):
    files()
    (tmp_path / "train").write_text(text)
    done = fastsvm("order", "--fold", "train", "exact", "o", code=1)
    assert done.err.startswith("Error: train:"), str(done)
    assert done.err.count("\n") == 1 and not (tmp_path / "o").exists(), str(done)


def test_folded_vectors_are_of_two_classes(fastsvm, files):
    for which in ({"classes": 3}, {"svm_type": "one_class"}, {"svm_type": "nu_svr"}):
        files(**which)
        assert "two classes" in fastsvm("order", "--fold", "rows", "exact", code=2).err


@pytest.mark.full(few=3)
@pytest.mark.parametrize("options, message", sentences("order"))
def test_wrong_usage_of_order_is_exit_code_2(fastsvm, files, tmp_path, options, message):
    files()
    (tmp_path / "m").write_bytes((tmp_path / "exact").read_bytes())
    (tmp_path / "train").write_text("1 1:1\n-1 2:1\n")
    done = fastsvm("order", *options.split(), "m", code=2)
    assert message in done.err and done.out == "" and not (tmp_path / "m.order").exists(), str(done)


def test_wrong_usage_of_predict_is_exit_code_2(fastsvm, files, tmp_path):
    for name, svm_type in (("rings", "c_svc"), ("waves", "epsilon_svr")):
        for method in COMPILERS:
            files(method, svm_type=svm_type, probability=True)
            (tmp_path / "exact").replace(tmp_path / name)
            (tmp_path / "ordered").replace(tmp_path / f"{name}.{method}")
    fastsvm("approx", "-q", "--certify", "rings", "approx")
    for options, message in (case.values for case in sentences("order predict")):
        done = fastsvm("predict", *options.split(), "out", code=2)
        assert message in done.err and not (tmp_path / "out").exists(), str(done)
