"""fastsvm order, and predict with its models: arguments, streams, exit codes, svm-predict's output."""

import gzip
import json
import os
import re

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model

from support import oracles
from support.ordering import METHODS, RBF
from support.paths import DATA
from support.processes import outcome

DATA_TRIES = "--data tries the model on rows like those to predict."

# ---- the whole path


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["rings", "colors", "rings-one-class"])
def test_train_order_predict(svm_predict, fastsvm, tmp_path, trained, name, method):
    model, test = trained[name]
    done = fastsvm("order", "--method", method, model)
    total = svm_load_model(str(model)).get_nr_sv()
    kinds = {"geometry": r"\d+ points in greedy order", "triangle": r"\d+ lists? by distance"}
    lines = done.out.splitlines()
    assert re.fullmatch(rf"{total} support vectors, {kinds[method]}", lines[0]), str(done)
    assert re.fullmatch(rf"[\d.]+ (bytes|KB|MB) -> [\d.]+ (bytes|KB|MB): {name}.model.order", lines[1]), str(done)
    assert re.fullmatch(
        r"Trial on \d+ support vectors: [\d.e+]+ % of the kernel evaluations, [\d.e+-]+ times as fast as the exact"
        r" model in memory\.",
        lines[2],
    ), str(done)
    assert lines[3:] == [f"Most rows are farther from the border: {DATA_TRIES}"] and os.listdir(tmp_path) == [
        f"{name}.model.order"
    ]
    assert (tmp_path / f"{name}.model.order").read_text().startswith(f"fastsvm_model {method} 2\n")

    theirs = outcome([svm_predict, str(test), str(model), "theirs"], cwd=tmp_path, check=True)
    ours = fastsvm("predict", test, f"{name}.model.order", "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert ours.out == theirs.stdout
    assert len(set((tmp_path / "ours").read_text().split())) > 1
    done_evaluations, whole, saved = re.fullmatch(
        r"Kernel evaluations: (\d+) of (\d+) \((\S+) % saved\)\.\n", ours.err
    ).groups()
    rows = len(test.read_text().splitlines())
    assert int(whole) == rows * total
    assert float(saved) == pytest.approx(100 * (1 - int(done_evaluations) / int(whole)), abs=0.06)


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_regression_stops_within_a_tolerance_and_else_is_evaluated_in_full(fastsvm, trained, ordered, method):
    (model, test), stopping = trained["waves"], ordered("waves", method)
    exact = np.array(fastsvm("predict", "-q", test, model).out.split(), float)
    whole = fastsvm("predict", test, stopping)
    np.testing.assert_array_equal(np.array(whole.out.split(), float), exact)
    assert "(0 % saved)" in whole.err and "--tolerance E" in whole.err
    evaluations = []
    for tolerance in (1e-6, 0.01, 5):
        done = fastsvm("predict", "--tolerance", tolerance, test, stopping)
        assert np.all(np.abs(np.array(done.out.split(), float) - exact) <= tolerance * (1 + 1e-9))
        evaluations.append(int(re.search(r"Kernel evaluations: (\d+) of", done.err)[1]))
        assert "--tolerance E" not in done.err
    assert evaluations == sorted(evaluations, reverse=True)
    assert evaluations[-1] < len(exact) * svm_load_model(str(model)).get_nr_sv()


@pytest.mark.full
def test_summary_as_json(fastsvm, trained, ordered):
    model, test = trained["rings"]
    rows, total = 6000, svm_load_model(str(model)).get_nr_sv()
    for method in METHODS:
        done = fastsvm("predict", "--json", test, ordered("rings", method), "out")
        summary = json.loads(done.out)
        assert summary["rows_proven"] == rows and done.err == "" and done.out.count("\n") == 1
        assert summary["rows"] == rows
        assert summary["kernel_evaluations_of_exact"] == rows * total and 0 < summary["kernel_evaluations"]
        plain = fastsvm("predict", test, ordered("rings", method), "out")
        assert f"Kernel evaluations: {summary['kernel_evaluations']} of {rows * total} " in plain.err
        assert f"({summary['correct']}/{rows})" in plain.out
    summary = json.loads(fastsvm("predict", "--json", "--steps", 20, test, ordered("rings", "geometry"), "out").out)
    assert "rows_proven" not in summary and 0 < summary["rows_decided"] < rows
    assert 0 < summary["rows_decided"] < rows and 0 < summary["kernel_evaluations"] <= 20 * rows
    assert (
        json.loads(fastsvm("predict", "--json", "-", ordered("rings", "geometry"), "out", input="").out)[
            "kernel_evaluations"
        ]
        == 0
    )


@pytest.mark.full
@pytest.mark.parametrize(
    "method, name, head, label",
    [
        ("geometry", "single", "nr_class 1\ntotal_sv 0\nrho\nlabel 3\nnr_sv 0\n", "3"),
        ("triangle", "empty", "nr_class 2\ntotal_sv 0\nrho 0.5\n", "-1"),
    ],
)
def test_no_rows_and_no_support_vectors_end_well(fastsvm, tmp_path, ordered, method, name, head, label):
    done = fastsvm("predict", "-", ordered("rings", method), input="")
    assert done.out == "" and done.err.splitlines()[-1] == "Kernel evaluations: 0 of 0."
    (tmp_path / "m").write_text(f"svm_type {'c_svc' if name == 'single' else 'one_class'}\n{RBF}{head}SV\n")
    done = fastsvm("order", "--method", method, "m", "o")
    assert done.out.startswith("0 support vectors, 0 ") and "Trial" not in done.out and done.err == ""
    done = fastsvm("predict", "-", "o", input="1 1:1\n1\n")
    assert done.out == f"{label}\n{label}\n" and "Kernel evaluations: 0 of 0." in done.err


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_ordered_models_go_through_pipes_and_compressed_files(fastsvm, tmp_path, trained, ordered, method):
    model, test = trained["colors"]
    done = fastsvm("order", "--method", method, "-", input=model.read_bytes())
    assert done.out == ordered("colors", method).read_text()
    assert done.out.startswith(f"fastsvm_model {method} 2\n") and done.out.endswith("\nend\n")
    assert "support vectors," in done.err
    assert done.err.splitlines()[1].endswith(": standard output") and "Trial on" in done.err
    (tmp_path / "z.gz").write_bytes(gzip.compress(done.out.encode()))
    labels = fastsvm("predict", "-q", test, model).out
    assert (
        labels
        == fastsvm("predict", "-q", test, "-", input=done.out).out
        == fastsvm("predict", "-q", "--threads", 1, test, "z.gz").out
    )


@pytest.mark.parametrize("method", ["geometry", "triangle"])
@pytest.mark.parametrize(
    "exact, ordered, times, warned", [(6.0, 8.0, "0.75", True), (6.0, 6.0, "1", False), (6.0, 2.0, "3", False)]
)
def test_the_trial_warns_where_there_is_no_gain(tmp_path, monkeypatch, exact, ordered, times, warned, method):
    """The clock advances by a given time per evaluation. By the page, triangle never gains, and geometry gains at small
    gamma: the warning must not recommend triangle."""
    from click.testing import CliRunner

    from fastsvm_cli.commands.order import command
    from fastsvm_cli.models.base import ExactModel, Model

    now = 100.0

    def takes(seconds, evaluate):
        def timed(*arguments):
            nonlocal now
            end = now + seconds
            evaluate(*arguments)
            now = end  # including the exact model's time for some rows

        return timed

    monkeypatch.setattr("fastsvm_cli.comparisons.support_vector_trial.thread_time", lambda: now)
    monkeypatch.setattr(ExactModel, "decision_values", takes(exact, ExactModel.decision_values))
    monkeypatch.setattr(Model, "decision_values", takes(ordered, Model.decision_values))
    rng = np.random.default_rng(1)
    # Nearly equal vectors: two kernel values decide.
    near = [{i: 1 + 1e-3 * v for i, v in enumerate(row, 1)} for row in rng.standard_normal((300, 60)).tolist()]
    machine = oracles.Machine("one_class", "rbf", near, np.ones((300, 1)), [-1.0], gamma=0.1)
    (tmp_path / "m").write_bytes(machine.text())
    done = CliRunner().invoke(command, ["--method", method, str(tmp_path / "m"), str(tmp_path / "o")])
    assert done.exit_code == 0, (done.output, done.exception)
    trial = (
        rf"^Trial on 300 support vectors: (\S+) % of the kernel evaluations, {times} times as fast as the exact"
        r" model in memory\.$"
    )
    assert 0 < float(re.search(trial, done.output, re.M)[1]) < (10 if method == "geometry" else 101)
    other = "" if method == "geometry" else "; try --method geometry"
    words = "Warning: on these support vectors, fastsvm predict with the exact model is faster"
    assert DATA_TRIES in done.output
    assert (f"{words}{other}.\n" in done.output) == ("Warning" in done.output) == warned, done.output


def test_the_trial_counts_the_rows_of_data(fastsvm, trained, tmp_path):
    """The share is that of predict on these rows."""
    model, _ = trained["rings"]
    lines = (DATA / "rings.train").read_text().splitlines(keepends=True)[:200]
    (tmp_path / "rows").write_text("".join(lines))
    printed = fastsvm("order", "--data", "rows", model, "o").out
    share = float(re.search(r"^Trial on 200 rows of rows: (\S+) % of the kernel evaluations, ", printed, re.M)[1])
    saved = float(re.search(r"\((\S+) % saved\)", fastsvm("predict", "rows", "o", "out").err)[1])
    assert share == pytest.approx(100 - saved, rel=0.02)
    (tmp_path / "rows").write_text("")
    assert "rows: no rows found, expected some" in fastsvm("order", "--data", "rows", model, "o", code=1).err


# ---- --steps


@pytest.mark.full
def test_steps_print_intervals_and_the_odds_of_eq_32(fastsvm, trained, ordered, tmp_path):
    (model, test), stopping = trained["rings"], ordered("rings", "geometry")
    labels = fastsvm("predict", "-q", test, model).out.split()
    exact = np.array(
        [line.split()[1] for line in fastsvm("predict", "-q", "--values", test, model).out.splitlines()], float
    )
    rows, decided = 6000, []
    for steps in (1, 10, 40):
        done = fastsvm("predict", "--steps", steps, "--values", test, stopping, "out")
        words = np.array([line.split() for line in (tmp_path / "out").read_text().splitlines()])
        value, radius, odds = words[:, 1:].astype(float).T
        assert np.all(np.abs(value - exact) <= radius)
        assert odds == pytest.approx([oracles.odds(v - r, v + r) for v, r in zip(value, radius)], abs=0.01)
        sure = np.abs(value) > radius
        assert np.all(odds[sure & (value > 0)] == 1) and np.all(odds[sure & (value < 0)] == 0)
        assert (words[sure, 0] == np.array(labels)[sure]).all()
        count, share = re.search(
            rf"Decided: (\d+) of {rows} rows \((\S+) %\) after {steps} points\.", done.err
        ).groups()
        assert sure.sum() <= int(count) and float(share) == pytest.approx(100 * int(count) / rows, abs=0.01)
        decided.append(int(count))
        assert int(re.search(r"Kernel evaluations: (\d+) of", done.err)[1]) <= steps * rows
    assert fastsvm("predict", "-q", "--steps", steps, test, stopping).out.split() == words[:, 0].tolist()
    assert decided == sorted(decided) and decided[0] < decided[-1]


def test_steps_and_an_exact_model_give_svm_predicts_labels(fastsvm, trained, ordered):
    model, test = trained["rings"]
    done = fastsvm("predict", "--steps", 40, "--exact", model, test, ordered("rings", "geometry"))
    assert done.out == fastsvm("predict", "-q", test, model).out
    assert 0 < int(re.search(r"Proven: (\d+) of 6000 rows", done.err)[1]) < 6000


# ---- other commands
