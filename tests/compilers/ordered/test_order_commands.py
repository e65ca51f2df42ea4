"""fastsvm order and what predict does with its models, as a user meets them: arguments, streams, exit codes,
svm-predict's own output."""

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem, svm_save_model, svm_train
from threadpoolctl import threadpool_limits

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import load_model
from support import oracles
from support.ordering import COMPILERS
from support.places import DATA, GOLDEN, SCRIPTS
from support.processes import PATIENCE

METHODS = tuple(COMPILERS)
SCRIPT = SCRIPTS / "precompute_kernel.py"
LINEAR = {"linear": "-t 0", "polynomial": "-t 1 -d 2 -g 0.2 -r 1"}
JOBS = {
    "rings": ("rings.train", "rings.test", "-g 0.5 -c 10 -b 1"),
    "colors": ("colors.train", "colors.test", "-g 0.05 -b 1"),
    "rings-one-class": ("rings.train", "rings.test", "-s 2 -n 0.3 -g 0.5"),
    "rings-polynomial": ("rings.train", "rings.test", "-t 1 -d 3 -g 0.3 -r 1"),
    "colors-linear": ("colors.train", "colors.test", "-t 0 -c 0.1"),
    "waves": ("waves.train", "waves.train", "-s 3 -g 1 -p 0.02 -b 1"),
}


def train(path, rows, labels, options):
    with threadpool_limits(1, user_api="openmp"):  # many threads on a busy machine wait for each other
        svm_save_model(str(path), svm_train(labels, rows, f"-q {options}"))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """name -> (model file, test file)"""
    folder = tmp_path_factory.mktemp("trained")
    for name, (train_file, _, options) in JOBS.items():
        y, x = svm_read_problem(str(DATA / train_file))
        train(folder / f"{name}.model", x[:500], y[:500], options)
    return {name: (folder / f"{name}.model", DATA / test_file) for name, (_, test_file, _) in JOBS.items()}


@pytest.fixture(scope="module")
def ordered(trained, tmp_path_factory):
    """ordered("rings", "triangle") -> the path of that ordered model, made once, without the command: a fifth of the
    time."""
    folder = tmp_path_factory.mktemp("ordered")

    def get(name, method):
        path = folder / f"{name}.{method}"
        if not path.exists():
            order_file(trained[name][0], method, path)
        return path

    return get


def order_file(model, method, path):
    fingerprint = hashlib.sha256(model.read_bytes()).hexdigest()[:32]
    path.write_bytes(COMPILERS[method](load_model(str(model)), fingerprint=fingerprint).to_text())


def cut_model(path, kernel_lines, svm_type="c_svc", total=3):
    """A small model with these kernel lines."""
    classes = "label 1 -1\nnr_sv 2 1\n" if svm_type == "c_svc" else ""
    rows = ["0.5 1:1 2:0.5", "0.25 2:1", "-0.75 1:-1"][:total]
    path.write_text(
        f"svm_type {svm_type}\n{kernel_lines}nr_class 2\ntotal_sv {total}\nrho 0.1\n{classes}SV\n"
        + "".join(row + "\n" for row in rows)
    )
    return path


RBF, LINEAR_KERNEL = "kernel_type rbf\ngamma 0.5\n", "kernel_type linear\n"

# ---- the whole path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["rings", "colors", "rings-one-class"])
def test_train_order_predict(svm_predict, fastsvm, tmp_path, trained, name, method):
    model, test = trained[name]
    done = fastsvm("order", "--method", method, model)
    total = svm_load_model(str(model)).get_nr_sv()
    kinds = {"geometry": r"\d+ points in greedy order", "triangle": r"\d+ lists? by distance", "blocks": r"\d+ blocks"}
    lines = done.out.splitlines()
    assert re.fullmatch(rf"{total} support vectors, {kinds[method]}", lines[0]), str(done)
    assert re.fullmatch(rf"[\d.]+ (bytes|KB|MB) -> [\d.]+ (bytes|KB|MB): {name}.model.order", lines[1]), str(done)
    assert re.fullmatch(
        r"Trial on \d+ support vectors: [\d.e+]+ % of the kernel evaluations, [\d.e+-]+ times as fast as the exact"
        r" model\.",
        lines[2],
    ), str(done)
    assert len(lines) == 3 and os.listdir(tmp_path) == [f"{name}.model.order"]
    assert (tmp_path / f"{name}.model.order").read_text().startswith(f"fastsvm_model {method} 2\n")

    theirs = subprocess.run(
        [svm_predict, str(test), str(model), "theirs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    ours = fastsvm("predict", test, f"{name}.model.order", "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert ours.out == theirs.stdout
    assert len(set((tmp_path / "ours").read_text().split())) > 1
    done_evaluations, whole, saved = re.fullmatch(
        r"Kernel evaluations: (\d+) of (\d+) \((\S+) % saved\)\.\n", ours.err
    ).groups()
    rows = len(test.read_text().splitlines())
    assert int(whole) == rows * total and float(saved) == pytest.approx(
        100 * (1 - int(done_evaluations) / int(whole)), abs=0.06
    )


@pytest.mark.parametrize("name", ["rings-polynomial", "colors-linear"])
def test_kernels_that_are_inner_products_are_ordered_by_geometry(svm_predict, fastsvm, tmp_path, trained, name):
    model, test = trained[name]
    fastsvm("order", model, "ordered")
    theirs = subprocess.run(
        [svm_predict, str(test), str(model), "theirs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert fastsvm("predict", test, "ordered", "ours").out == theirs.stdout
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["rings", "colors", "waves"])
def test_probabilities_and_values_are_those_of_the_exact_model_to_the_byte(fastsvm, trained, ordered, name, method):
    model, test = trained[name]
    some = "".join(test.read_text().splitlines(keepends=True)[:400])
    for options in (["-b", 1], ["--values"]):
        exact = fastsvm("predict", "-q", *options, "-", model, input=some).out
        assert fastsvm("predict", "-q", *options, "-", ordered(name, method), input=some).out == exact and exact


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
    assert (
        evaluations == sorted(evaluations, reverse=True)
        and evaluations[-1] < len(exact) * svm_load_model(str(model)).get_nr_sv()
    )


def test_summary_as_json(fastsvm, trained, ordered):
    model, test = trained["rings"]
    rows, total = 6000, svm_load_model(str(model)).get_nr_sv()
    keys = [
        "rows",
        "accuracy",
        "correct",
        "rows_by_reference_sum",
        "kernel_evaluations",
        "kernel_evaluations_of_exact",
        "kernel_evaluations_per_row",
    ]
    for method in METHODS:
        done = fastsvm("predict", "--json", test, ordered("rings", method), "out")
        summary = json.loads(done.out)
        assert list(summary) == keys and done.err == "" and done.out.count("\n") == 1
        assert (
            summary["rows"] == rows
            and summary["kernel_evaluations_of_exact"] == rows * total
            and 0 < summary["kernel_evaluations"]
        )
        plain = fastsvm("predict", test, ordered("rings", method), "out")
        assert (
            f"Kernel evaluations: {summary['kernel_evaluations']} of {rows * total} " in plain.err
            and f"({summary['correct']}/{rows})" in plain.out
        )
    summary = json.loads(fastsvm("predict", "--json", "--steps", 20, test, ordered("rings", "geometry"), "out").out)
    assert list(summary) == [
        "rows",
        "accuracy",
        "correct",
        "kernel_evaluations",
        "kernel_evaluations_of_exact",
        "kernel_evaluations_per_row",
        "rows_decided",
    ]
    assert 0 < summary["rows_decided"] < rows and 0 < summary["kernel_evaluations"] <= 20 * rows
    assert (
        json.loads(fastsvm("predict", "--json", "-", ordered("rings", "geometry"), "out", input="").out)[
            "kernel_evaluations"
        ]
        == 0
    )


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


@pytest.mark.parametrize("method", METHODS)
def test_ordered_models_go_through_pipes_and_compressed_files(fastsvm, tmp_path, trained, ordered, method):
    model, test = trained["colors"]
    done = fastsvm("order", "--method", method, "-", input=model.read_bytes())
    assert (
        done.out == ordered("colors", method).read_text()
        and done.out.startswith(f"fastsvm_model {method} 2\n")
        and done.out.endswith("\nend\n")
    )
    assert (
        "support vectors," in done.err
        and done.err.splitlines()[1].endswith(": standard output")
        and "Trial on" in done.err
    )
    (tmp_path / "z.gz").write_bytes(gzip.compress(done.out.encode()))
    labels = fastsvm("predict", "-q", test, model).out
    assert (
        labels
        == fastsvm("predict", "-q", test, "-", input=done.out).out
        == fastsvm("predict", "-q", "--threads", 1, test, "z.gz").out
    )


def test_quiet_prints_nothing(fastsvm, trained, tmp_path):
    model, test = trained["colors-linear"]  # no gain: that is a warning, else
    done = fastsvm("order", "-q", model, "o")
    assert done.out == done.err == ""
    for options in ([], ["--steps", 3], ["--values"]):
        done = fastsvm("predict", "-q", *options, test, "o", "out")
        assert done.out == done.err == ""


@pytest.mark.parametrize(
    "exact, ordered, times, warned", [(6.0, 8.0, "0.75", True), (6.0, 6.0, "1", False), (6.0, 2.0, "3", False)]
)
def test_the_trial_warns_where_there_is_no_gain(tmp_path, monkeypatch, exact, ordered, times, warned):
    """The clock goes as far as each evaluation is said to take: what is printed follows from that alone."""
    from click.testing import CliRunner

    from fastsvm_cli.commands.order import command
    from fastsvm_cli.models.exact import ExactModel
    from fastsvm_cli.models.ordered import OrderedModel

    now = 100.0

    def takes(seconds, evaluate):
        def timed(*arguments):
            nonlocal now
            end = now + seconds
            evaluate(*arguments)
            now = end  # an ordered model gives some of its rows to the exact one: that is part of its own time

        return timed

    monkeypatch.setattr("fastsvm_cli.comparisons.trial.perf_counter", lambda: now)
    monkeypatch.setattr(ExactModel, "decision_values", takes(exact, ExactModel.decision_values))
    monkeypatch.setattr(OrderedModel, "decision_values", takes(ordered, OrderedModel.decision_values))
    rng = np.random.default_rng(1)
    # Vectors that are almost one: two kernel values say all.
    near = [{i: 1 + 1e-3 * v for i, v in enumerate(row, 1)} for row in rng.standard_normal((300, 60)).tolist()]
    machine = oracles.Machine("one_class", "rbf", near, np.ones((300, 1)), [-1.0], gamma=0.1)
    (tmp_path / "m").write_bytes(machine.text())
    done = CliRunner().invoke(command, [str(tmp_path / "m"), str(tmp_path / "o")])
    assert done.exit_code == 0, (done.output, done.exception)
    trial = (
        rf"^Trial on 300 support vectors: (\S+) % of the kernel evaluations, {times} times as fast as the exact"
        r" model\.$"
    )
    assert 0 < float(re.search(trial, done.output, re.M)[1]) < 10
    words = r"^Warning: no gain is to be expected of this model .*; try another --method \(triangle, blocks\)\.$"
    warning = re.search(words, done.output, re.M)
    assert bool(warning) == warned, done.output


# ---- --steps


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


# ---- wrong usage, and what cannot be ordered


USAGE = [
    (["--method", "triangle", "--points", 5], "--points goes with --method geometry."),
    (["--method", "blocks", "--points", 5], "--points goes with --method geometry."),
    (["--method", "triangle", "--sequence", "greedy"], "--sequence goes with --method geometry."),
    (["--method", "blocks", "--fold", "train"], "--fold goes with --method geometry."),
    (["--lists", 2], "--lists goes with --method triangle."),
    (["--method", "blocks", "--lists", 2], "--lists goes with --method triangle."),
    (["--kernel", "exponential", "--gamma", 1], "--kernel and --vectors go together"),
    (["--vectors", "train"], "--kernel and --vectors go together"),
    (["--gamma", 1], "--gamma, --coef0 and --degree go with --kernel"),
    (["--coef0", 1], "--gamma, --coef0 and --degree go with --kernel"),
    (["--degree", 2], "--gamma, --coef0 and --degree go with --kernel"),
    (["--kernel", "exponential", "--vectors", "train"], "--kernel needs --gamma."),
    (
        ["--kernel", "exponential", "--gamma", 1, "--degree", 2, "--vectors", "train"],
        "--coef0 and --degree are for --kernel normalized-polynomial.",
    ),
    (
        ["--kernel", "exponential", "--gamma", 1, "--coef0", 2, "--vectors", "train"],
        "--coef0 and --degree are for --kernel normalized-polynomial.",
    ),
    (
        ["--kernel", "exponential", "--gamma", 1, "--vectors", "train"],
        "--kernel is for models of a precomputed kernel; m has a rbf kernel.",
    ),
    (["--kernel", "exponential", "--gamma", 0, "--vectors", "train"], "'--gamma': 0.0 is not in the range"),
    (
        ["--kernel", "normalized-polynomial", "--gamma", 1, "--coef0", 0, "--vectors", "train"],
        "'--coef0': 0.0 is not in the range",
    ),
    (
        ["--kernel", "normalized-polynomial", "--gamma", 1, "--degree", 0, "--vectors", "train"],
        "'--degree': 0 is not in the range",
    ),
    (["--kernel", "sigmoid"], "'sigmoid' is not one of"),
    (["--points", 0], "'--points': 0 is not in the range"),
    (["--method", "triangle", "--lists", 0], "'--lists': 0 is not in the range"),
    (["--method", "border"], "'border' is not one of"),
    (["--sequence", "random"], "'random' is not one of"),
    (["--seed", -1], "'--seed': -1 is not in the range"),
]


@pytest.mark.parametrize(
    "options, words", USAGE, ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else ""
)
def test_wrong_usage_of_order_is_exit_code_2(fastsvm, tmp_path, options, words):
    cut_model(tmp_path / "m", RBF)
    (tmp_path / "train").write_text("1 1:1\n-1 2:1\n")
    done = fastsvm("order", *options, "m", code=2)
    assert words in done.err and done.out == "" and not (tmp_path / "m.order").exists(), str(done)


def test_folded_vectors_are_of_two_classes(fastsvm, trained, tmp_path):
    for name in ("colors", "waves", "rings-one-class"):
        assert (
            "--fold is for models of two classes"
            in fastsvm("order", "--fold", DATA / "rings.train", trained[name][0], code=2).err
        )
    assert os.listdir(tmp_path) == []


def test_wrong_usage_of_predict_is_exit_code_2(fastsvm, trained, ordered, tmp_path):
    rings, waves = trained["rings"][0], trained["waves"][0]
    fastsvm("approx", "-q", "--certify", rings, "approx")
    others = (ordered("rings", "triangle"), ordered("rings", "blocks"), "approx", rings)
    cases = [
        (["--steps", 5, "rows", model], "--steps goes with a model of fastsvm order --method geometry")
        for model in others
    ]
    cases += [
        (
            ["--steps", 5, "-b", 1, "rows", ordered("rings", "geometry")],
            "--steps stops before the value that -b 1 needs.",
        ),
        (["--steps", 0, "rows", ordered("rings", "geometry")], "'--steps': 0 is not in the range"),
        (["--tolerance", 0.1, "rows", ordered("rings", "geometry")], "--tolerance"),
        (["--tolerance", 0.1, "rows", ordered("rings", "triangle")], "--tolerance"),
        (
            ["--tolerance", 0.1, "rows", waves],
            "--tolerance goes with --exact, --open-rows, or with an ordered regression model.",
        ),
        (
            ["--tolerance", 0.1, "--steps", 5, "rows", ordered("waves", "geometry")],
            "does not go with --steps, --values or -b 1",
        ),
        (
            ["--tolerance", 0.1, "--values", "rows", ordered("waves", "blocks")],
            "does not go with --steps, --values or -b 1",
        ),
        (
            ["--tolerance", 0.1, "-b", 1, "rows", ordered("waves", "triangle")],
            "does not go with --steps, --values or -b 1",
        ),
        (["--tolerance", -1, "rows", ordered("waves", "geometry")], "'--tolerance': -1.0 is not in the range"),
    ]
    (tmp_path / "rows").write_text("1 1:1\n")
    for options, words in cases:
        done = fastsvm("predict", *options, "out", code=2)
        assert words in done.err and not (tmp_path / "out").exists(), str(done)


def test_an_ordered_model_needs_no_exact_one_and_says_so(fastsvm, trained, ordered):
    model, test = trained["rings"]
    for method in METHODS:
        done = fastsvm("predict", "--exact", model, test, ordered("rings", method), code=1)
        assert done.err.count("\n") == 1 and "LIBSVM model found" not in done.err and "exact" in done.err, str(done)


REFUSED = [
    (
        "geometry",
        "kernel_type sigmoid\ngamma 0.5\ncoef0 0.1\n",
        "a sigmoid kernel found, which is no inner product of features",
    ),
    (
        "geometry",
        "kernel_type polynomial\ndegree 2\ngamma 0.5\ncoef0 -0.1\n",
        "a polynomial kernel with negative coef0 found, which is no inner product of features",
    ),
    (
        "geometry",
        "kernel_type polynomial\ndegree 2\ngamma -0.5\ncoef0 1\n",
        "a polynomial kernel with negative gamma found, which is no inner product of features",
    ),
    (
        "geometry",
        "kernel_type rbf\ngamma -0.5\n",
        "a rbf kernel with negative gamma found, which is no inner product of features",
    ),
    (
        "triangle",
        "kernel_type linear\n",
        "a linear kernel found, expected one that falls with the distance, rbf or exponential",
    ),
    (
        "triangle",
        "kernel_type polynomial\ndegree 2\ngamma 0.5\ncoef0 1\n",
        "a polynomial kernel found, expected one that falls with the distance",
    ),
    (
        "triangle",
        "kernel_type sigmoid\ngamma 0.5\ncoef0 0.1\n",
        "a sigmoid kernel found, expected one that falls with the distance",
    ),
    (
        "triangle",
        "kernel_type rbf\ngamma -0.5\n",
        "a rbf kernel with negative gamma found, expected one that falls with the distance",
    ),
    ("blocks", "kernel_type linear\n", "a linear kernel found, expected one that falls with the distance"),
    (
        "blocks",
        "kernel_type rbf\ngamma -0.5\n",
        "a rbf kernel with negative gamma found, expected one that falls with the distance",
    ),
]


@pytest.mark.parametrize("method, kernel, words", REFUSED)
def test_a_kernel_that_a_method_knows_nothing_of_is_refused_with_the_reason(tmp_path, method, kernel, words):
    with pytest.raises(ModelFormatError, match=f"m: {words}"):
        order_file(cut_model(tmp_path / "m", kernel), method, tmp_path / "o")


@pytest.mark.parametrize("method, kernel, words", [REFUSED[1], REFUSED[4], REFUSED[9]])
def test_a_refusal_is_one_line_and_leaves_what_was_there(fastsvm, tmp_path, method, kernel, words):
    cut_model(tmp_path / "m", kernel)
    (tmp_path / "m.order").write_text("before\n")
    done = fastsvm("order", "--method", method, "m", code=1)
    assert done.err.startswith(f"Error: m: {words}") and done.err.count("\n") == 1 and done.out == "", str(done)
    assert (tmp_path / "m.order").read_text() == "before\n" and sorted(os.listdir(tmp_path)) == ["m", "m.order"]


@pytest.mark.parametrize("method", METHODS)
def test_other_files_are_refused_in_one_line(fastsvm, trained, ordered, tmp_path, method):
    test = trained["rings"][1]
    (tmp_path / "precomputed").write_text(
        "svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 0:1\n"
    )
    for path, words in (
        (ordered("rings", method), "a compiled model found, expected the LIBSVM model it was made from"),
        (
            GOLDEN / "c_svc.approx",
            "a compiled model found, expected the LIBSVM model it was made from",
        ),
        ("precomputed", "a precomputed kernel found: name its vectors with --vectors and its kernel with --kernel"),
        (test, "this looks like a data file"),
        ("nowhere", "No such file or directory"),
    ):
        done = fastsvm("order", "--method", method, path, "out", code=1)
        assert (
            words in done.err
            and done.err.startswith("Error: ")
            and done.err.count("\n") == 1
            and not (tmp_path / "out").exists()
        ), str(done)
    assert "a compiled model found" in fastsvm("approx", ordered("rings", method), "out", code=1).err


@pytest.mark.parametrize("kernel", LINEAR)
def test_a_zero_vector_among_the_support_vectors_is_no_reason_to_warn(fastsvm, tmp_path, kernel):
    """Of kernels that are 0 there, it adds nothing to the span of the points."""
    rng = np.random.default_rng(2)
    machine = oracles.random_machine(
        rng, "one_class", kernel, [*oracles.random_rows(rng, 20, [1, 2]), {}], gamma=1.0, degree=1
    )
    (tmp_path / "m").write_bytes(machine.text())
    for sequence in ("greedy", "sgma"):
        done = fastsvm("order", "--sequence", sequence, "m", "o")
        assert not re.sub(r"Warning: no gain is .*\n", "", done.err), str(done)
        assert int(re.search(r"(\d+) points", done.out)[1]) <= 2


def test_coefficients_whose_squares_overflow_give_one_line_or_a_model_that_can_be_read(fastsvm, tmp_path):
    rng = np.random.default_rng(3)
    machine = oracles.random_machine(rng, "c_svc", "rbf", oracles.random_rows(rng, 20, [1, 2]), gamma=0.5)
    machine.coef *= 1e170
    (tmp_path / "m").write_bytes(machine.text())
    for method in METHODS:
        done = fastsvm("order", "--method", method, "m", "o", code=None)
        assert "RuntimeWarning" not in done.err and done.code in (0, 1), str(done)
        if done.code == 0:
            assert (
                fastsvm("predict", "-q", "-", "o", input="1 1:1\n").out
                == fastsvm("predict", "-q", "-", "m", input="1 1:1\n").out
            )
        else:
            assert done.err.count("\n") == 1


# ---- sequences, seeds, folded vectors


def test_sequences_are_reproducible(fastsvm, trained, ordered, tmp_path):
    model, test = trained["rings"]

    def made(*options):
        return fastsvm("order", "-q", *options, model, "-").out

    drawn = made("--sequence", "sgma", "--seed", 1)
    assert drawn == made("--sequence", "sgma", "--seed", 1) != made("--sequence", "sgma")
    greedy = made("--sequence", "greedy", "--seed", 5, "--threads", 1)
    assert greedy == ordered("rings", "geometry").read_text()
    assert "\nsequence sgma\n" in drawn and "\nsequence greedy\n" in greedy
    labels = fastsvm("predict", "-q", test, model).out
    assert fastsvm("predict", "-q", test, "-", input=drawn).out == labels
    for options, said in (
        (["--sequence", "sgma", "--points", 17], "17 points in sgma order"),
        (["--method", "triangle", "--lists", 7], "7 lists by distance"),
    ):
        assert said in fastsvm("order", *options, model, "o").out
    assert fastsvm("predict", "-q", test, "o").out == labels and "\nnr_lists 7\n" in (tmp_path / "o").read_text()


def folded_means(train_file):
    """w+ and w- of a linear SVM, each the mean of its support vectors weighted by their coefficients."""
    y, x = svm_read_problem(str(train_file))
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
    lines = {
        name: [line for line in (DATA / f"colors.{name}").read_text().splitlines(keepends=True) if line[0] in "13"]
        for name in ("train", "test")
    }
    for name, rows in lines.items():
        (tmp_path / name).write_text("".join(rows[:400]))
    y, x = svm_read_problem(str(tmp_path / "train"))
    total = svm_load_model(str(train(tmp_path / "m", x, y, "-g 0.05"))).get_nr_sv()
    done = fastsvm("order", "--fold", "train", "--points", 20, "m", "o")
    assert "22 points in greedy order, 2 of them folded" in done.out
    lines = (tmp_path / "o").read_text().splitlines()
    assert "nr_folded 2" in lines and "nr_points 22" in lines
    points = lines[lines.index("points") + 1].split()
    assert points[:2] == [str(total), str(total + 1)] and len(points) == 22
    rows = [line.split() for line in lines[lines.index("SV") + 1 + total : lines.index("points")]]
    for row, expected in zip(rows, folded_means(tmp_path / "train"), strict=True):
        assert row[0] == "0" and {int(i): float(v) for i, v in (word.split(":") for word in row[1:])} == pytest.approx(
            expected, abs=1e-9
        )
    assert fastsvm("predict", "-q", "test", "o").out == fastsvm("predict", "-q", "test", "m").out
    values = [
        np.array(
            [line.split()[1] for line in fastsvm("predict", "-q", *options, "--values", "test", name).out.splitlines()],
            float,
        )
        for options, name in ((["--steps", 2], "o"), ([], "m"))
    ]
    assert np.corrcoef(*values)[0, 1] > 0.5  # two points say something already


def test_the_file_to_fold_is_data_like_any_other(fastsvm, trained, tmp_path):
    """Comments, compression, zero vectors; or one clear line."""
    model = trained["rings"][0]
    lines = (DATA / "rings.train").read_text().splitlines()[:200]
    (tmp_path / "plain").write_text("\n".join(lines) + "\n1\n")
    fastsvm("order", "-q", "--fold", "plain", model, "o")
    expected = (tmp_path / "o").read_text()
    (tmp_path / "comments").write_text("\n".join(line + " # a comment" for line in lines) + "\n1 # nothing\n")
    (tmp_path / "z.gz").write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
    for path in ("comments", "z.gz"):
        (tmp_path / "o").unlink()
        fastsvm("order", "-q", "--fold", path, model, "o")
        assert (tmp_path / "o").read_text() == expected, path


@pytest.mark.parametrize("text", ["", "1 1:1\n1 2:1\n", "1 x\n"], ids=["empty", "one class", "no data"])
def test_a_file_that_cannot_be_folded_is_one_line_with_its_name(fastsvm, trained, tmp_path, text):
    (tmp_path / "train").write_text(text)
    done = fastsvm("order", "--fold", "train", trained["rings"][0], "o", code=1)
    assert done.err.startswith("Error: train:") and done.err.count("\n") == 1 and not (tmp_path / "o").exists(), str(
        done
    )


# ---- kernels that LIBSVM has as precomputed ones


KERNELS = {
    "exponential": (["--gamma", 0.4], {"gamma": 0.4}),
    "normalized-polynomial": (
        ["--gamma", 0.3, "--coef0", 1.5, "--degree", 2],
        {"gamma": 0.3, "coef0": 1.5, "degree": 2},
    ),
}


def precompute(folder, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    return done


def head(data_file, count, to, first=0):
    to.write_text("".join((DATA / data_file).read_text().splitlines(keepends=True)[first : first + count]))
    return to


@pytest.fixture(scope="module")
def kernel_files(tmp_path_factory):
    """kernel -> a folder with train, test, train.kernel, test.kernel, kernel.model, of four classes"""
    folders = {}
    for kernel, (options, _) in KERNELS.items():
        folder = folders[kernel] = tmp_path_factory.mktemp(kernel)
        head("colors.train", 130, folder / "train")
        head("colors.test", 120, folder / "test")
        (folder / "train.kernel").write_text(precompute(folder, "--kernel", kernel, *options, "train").stdout)
        (folder / "test.kernel").write_text(
            precompute(folder, "--kernel", kernel, *options, "--against", "train", "test").stdout
        )
        svm_save_model(
            str(folder / "kernel.model"), svm_train(*svm_read_problem(str(folder / "train.kernel")), "-q -t 4 -c 5")
        )
    return folders


@pytest.mark.parametrize(
    "kernel, method", [("exponential", method) for method in METHODS] + [("normalized-polynomial", "geometry")]
)
def test_the_whole_path_of_a_kernel_that_libsvm_does_not_know(
    svm_predict, fastsvm, kernel_files, tmp_path, kernel, method
):
    folder = kernel_files[kernel]
    theirs = subprocess.run(
        [svm_predict, "test.kernel", "kernel.model", str(tmp_path / "theirs")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    done = fastsvm(
        "order",
        "--method",
        method,
        "--kernel",
        kernel,
        *KERNELS[kernel][0],
        "--vectors",
        folder / "train",
        folder / "kernel.model",
    )
    assert "not where training puts them" not in done.err
    ours = fastsvm("predict", folder / "test", "kernel.model.order", "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes() and len(
        set((tmp_path / "ours").read_text().split())
    ) > 2
    assert ours.out == theirs.stdout
    values = fastsvm("predict", "-q", "--values", folder / "test", "kernel.model.order").out
    kernel_values = fastsvm("predict", "-q", "--values", folder / "test.kernel", folder / "kernel.model").out
    np.testing.assert_allclose(
        *(np.array([line.split() for line in text.splitlines()], float) for text in (values, kernel_values)), atol=1e-9
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_file_holds_every_number_in_full(kernel_files, kernel):
    folder = kernel_files[kernel]
    (_, train), (labels, test) = (svm_read_problem(str(folder / name)) for name in ("train", "test"))
    machine = oracles.Machine("one_class", kernel.replace("-", "_"), [], np.zeros((0, 1)), [0.0], **KERNELS[kernel][1])
    lines = (folder / "test.kernel").read_text().splitlines()
    assert len(lines) == 120
    for serial, (line, label, row) in enumerate(zip(lines[:20], labels, test), 1):
        words = line.split()
        assert float(words[0]) == label and words[1] == f"0:{serial}"
        assert [word.split(":")[0] for word in words[2:]] == [str(at) for at in range(1, 131)]
        assert [float(word.split(":")[1]) for word in words[2:]] == [
            oracles.libsvm_kernel(machine, row, x) for x in train
        ]


def test_a_kernel_file_keeps_the_labels(tmp_path):
    labels = ["1234567", "-1000000", "0.123456789012", "1e-7", "-0.5", "12345.678"]
    (tmp_path / "data").write_text("".join(f"{label} 1:{at}\n" for at, label in enumerate(labels, 1)))
    lines = precompute(tmp_path, "--gamma", 1, "data").stdout.splitlines()
    assert [float(line.split()[0]) for line in lines] == [float(label) for label in labels]


def test_the_kernel_script_says_what_is_wrong_in_one_line(tmp_path):
    (tmp_path / "bad").write_text("1 1:x\n")
    done = precompute(tmp_path, "--gamma", 1, "bad", code=1)
    assert done.stderr == "Error: bad:1: '1:x' found, expected index:value\n" and done.stdout == ""
    assert "nowhere" in precompute(tmp_path, "--gamma", 1, "nowhere", code=1).stderr
    assert "--gamma" in precompute(tmp_path, "nowhere", code=2).stderr


def test_vectors_that_are_missing_are_one_line(fastsvm, kernel_files, tmp_path):
    folder = kernel_files["exponential"]
    serials = [int(row[0]) for row in svm_load_model(str(folder / "kernel.model")).get_SV()]
    head("colors.train", 20, tmp_path / "short")
    options = ["--kernel", "exponential", "--gamma", 0.4, "--vectors"]
    done = fastsvm("order", *options, "short", folder / "kernel.model", "o", code=1)
    assert (
        done.err == f"Error: short: 20 rows found, expected {max(serials)} or more: a support vector of"
        f" {folder / 'kernel.model'} has that serial number\n"
    )
    assert not (tmp_path / "o").exists()
    (tmp_path / "empty").write_text("")
    assert "0 rows found" in fastsvm("order", *options, "empty", folder / "kernel.model", "o", code=1).err
    (tmp_path / "bad").write_text("1 1:1\n1 x\n")
    assert (
        fastsvm("order", *options, "bad", folder / "kernel.model", "o", code=1).err
        == "Error: bad:2: 'x' found, expected index:value\n"
    )


def test_a_serial_number_of_no_row_is_said_to_be_one(fastsvm, tmp_path):
    """LIBSVM counts rows from 1."""
    (tmp_path / "m").write_text(
        "svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 0:0\n"
    )
    (tmp_path / "train").write_text("1 1:1\n")
    done = fastsvm("order", "--kernel", "exponential", "--gamma", 1, "--vectors", "train", "m", code=1)
    assert "expected 0 or more" not in done.err and "serial" in done.err and done.err.count("\n") == 1, str(done)


@pytest.mark.parametrize("wrong", [["--gamma", 4], ["--gamma", 0.04]], ids=str)
def test_another_gamma_is_warned_of(fastsvm, kernel_files, wrong):
    folder = kernel_files["exponential"]
    arguments = ["--kernel", "exponential", *wrong, "--vectors", folder / "train", folder / "kernel.model", "o"]
    done = fastsvm("order", *arguments)
    assert re.search(
        r"^Warning: with these vectors and this kernel the support vectors of \S+ are not where training puts them",
        done.err,
    ), str(done)
    assert fastsvm("order", "-q", *arguments).err == ""


def test_other_vectors_are_warned_of(fastsvm, kernel_files, tmp_path):
    folder = kernel_files["exponential"]
    head("colors.train", 130, tmp_path / "other", first=500)
    done = fastsvm(
        "order", "--kernel", "exponential", "--gamma", 0.4, "--vectors", "other", folder / "kernel.model", "o"
    )
    assert "are not where training puts them" in done.err


def test_vectors_of_many_chunks_stand_behind_their_serial_numbers(svm_predict, fastsvm, tmp_path):
    """The same rows, beyond the first two megabytes of the file; and a pipe."""
    head("rings.train", 60, tmp_path / "train")
    padding = "1 " + " ".join(f"{i}:0" for i in range(1, 20000)) + "\n"
    (tmp_path / "long").write_text(padding * 20 + (tmp_path / "train").read_text())
    (tmp_path / "k").write_text(precompute(tmp_path, "--gamma", 0.4, "train").stdout)
    svm_save_model(str(tmp_path / "m"), svm_train(*svm_read_problem(str(tmp_path / "k")), "-q -t 4"))
    text = (tmp_path / "m").read_text()
    (tmp_path / "moved").write_text(re.sub(r" 0:(\d+)", lambda match: f" 0:{int(match[1]) + 20}", text))
    options = ["-q", "--kernel", "exponential", "--gamma", 0.4, "--vectors"]
    fastsvm("order", *options, "train", "m", "o")
    fastsvm("order", *options, "long", "moved", "o2")
    without = [re.sub(r"(fingerprint|checksum) \w+", "", (tmp_path / name).read_text()) for name in ("o", "o2")]
    assert without[0] == without[1]
    fastsvm("order", *options, "-", "m", "o3", input=(tmp_path / "train").read_bytes())
    assert (tmp_path / "o3").read_text() == (tmp_path / "o").read_text()


def test_rows_of_a_model_with_its_vectors_are_plain_rows(fastsvm, kernel_files, tmp_path):
    """The header still says `precomputed`; its rows need no serial numbers, and may be dense."""
    folder = kernel_files["exponential"]
    fastsvm(
        "order",
        "-q",
        "--kernel",
        "exponential",
        "--gamma",
        0.4,
        "--vectors",
        folder / "train",
        folder / "kernel.model",
        "o",
    )
    labels, rows = svm_read_problem(str(folder / "test"))
    last = max(max(row, default=1) for row in rows)
    (tmp_path / "dense").write_text(
        "".join(
            ",".join([f"{label:g}", *(repr(row.get(i, 0.0)) for i in range(1, last + 1))]) + "\n"
            for label, row in zip(labels, rows)
        )
    )
    expected = fastsvm("predict", "-q", folder / "test", "o").out
    assert fastsvm("predict", "-q", "--dense", "dense", "o").out == expected


# ---- the rest of the program


@pytest.mark.parametrize("method", METHODS)
def test_bound_tells_of_an_ordered_model_or_says_what_it_is(fastsvm, trained, ordered, method):
    path = ordered("rings", method)
    for arguments in ([path], [trained["rings"][1], path]):
        done = fastsvm("bound", *arguments, code=None)  # no traceback, which the fixture looks for
        assert done.code == 0 or (
            done.code == 1 and done.err.startswith(f"Error: {path}: ") and done.err.count("\n") == 1
        ), str(done)


def test_help_of_order_fits_a_narrow_terminal_and_names_every_method(fastsvm):
    text = fastsvm("order", "--help", env={"COLUMNS": "60"}).out
    assert text.startswith("Usage: fastsvm order") and max(map(len, text.splitlines())) <= 80
    assert all(method in text for method in METHODS) and "order" in fastsvm("--help").out
