"""Labels that approx and reduce change, measured on support vectors."""

import re

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli.comparisons import support_vector_trial
from fastsvm_cli.comparisons.agreement import agreement
from fastsvm_cli.models import load_model
from support.evaluation import parse, values
from support.oracles import Machine, random_machine
from support.paths import DATA
from support.reducing import as_rows, exact_model

pytestmark = pytest.mark.usefixtures("serial_libsvm")

JOBS = {
    "held": ("rings.train", "-g 0.1 -c 10"),
    "wrong": ("rings.train", "-g 5 -c 10"),
    "classes": ("colors.train", "-g 2"),
    "values": ("waves.train", "-s 3 -g 30 -p 0.02"),
    "smooth": ("waves.train", "-s 3 -g 0.01 -c 10 -p 0.02"),
}
LINE = r"labels that differ on (?:a sample of )?support vectors: (\d+) of (\d+) \((\S+) %\)"
MEASURED = r"fastsvm cascade --data ROWS, or the exact model as it is \(fastsvm bench --try measures them all\)\.\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trial")
    for name, (train, options) in JOBS.items():
        y, x = svm_read_problem(str(DATA / train))
        svm_save_model(str(folder / name), svm_train(y[:600], x[:600], f"-q {options}"))
    return folder


@pytest.mark.full
@pytest.mark.parametrize("name", ["held", "wrong", "classes"])
def test_approx_counts_the_labels_that_differ_on_support_vectors(fastsvm, tmp_path, models, name):
    """The count is compared with predictions by both files."""
    done = fastsvm("approx", models / name, "out")
    differ, rows, percent = re.fullmatch(LINE, done.out.splitlines()[-1]).groups()
    vectors = (models / name).read_text().partition("SV\n")[2].splitlines()
    assert int(rows) == min(1000, len(vectors))
    classes = len(load_model(str(models / name)).header.label)
    (tmp_path / "rows").write_text("".join("0 " + line.split(" ", classes - 1)[-1] + "\n" for line in vectors))
    one, other = (fastsvm("predict", "-q", "rows", file).out.split() for file in (models / name, "out"))
    assert int(differ) == sum(a != b for a, b in zip(one, other, strict=True))
    assert float(percent) == pytest.approx(100 * int(differ) / int(rows), rel=5e-3)
    if name == "held":
        assert done.err == "" and float(percent) <= 1
    else:
        assert float(percent) > 1
        assert re.fullmatch(
            rf"Warning: {re.escape(percent)} % of these labels are not the exact model's; try a higher --degree, more"
            rf" --centers, fastsvm reduce, {MEASURED}",
            done.err,
        ), done.err


@pytest.mark.full
def test_the_ways_out_are_those_that_there_are(fastsvm, models):
    fastsvm("approx", "-q", models / "wrong", "out")
    assert (
        "try more --centers, fastsvm reduce, fastsvm cascade"
        in fastsvm("approx", "--degree", 4, models / "wrong", "out").err
    )
    assert "try a larger --rank, a higher --degree, more" in fastsvm("approx", "--rank", 1, models / "wrong", "out").err
    assert (
        "try a smaller --tolerance, a higher --degree"
        in fastsvm("approx", "--tolerance", 5, models / "wrong", "out").err
    )


@pytest.mark.full
def test_regression_is_measured_by_the_spread_of_the_values(fastsvm, models, tmp_path):
    for name, warned in (("values", True), ("smooth", False)):
        done = fastsvm("approx", "--degree", 4, models / name, "out")
        difference, percent = re.fullmatch(
            r"root mean square difference on support vectors: (\S+) \((\S+) % of the spread of the values\)",
            done.out.splitlines()[-1],
        ).groups()
        exact, model = load_model(str(models / name)), load_model(str(tmp_path / "out"))
        truth, ours = values(exact, exact.vectors)[:, 0], values(model, exact.vectors)[:, 0]
        assert float(difference) == pytest.approx(np.sqrt(np.mean((ours - truth) ** 2)), rel=5e-3)
        assert float(percent) == pytest.approx(100 * np.sqrt(np.mean((ours - truth) ** 2)) / truth.std(), rel=5e-3)
        assert (done.err != "") == warned == (float(percent) > 1)
        assert not warned or re.fullmatch(
            rf"Warning: values are off by {re.escape(percent)} % of their spread; try more --centers, fastsvm reduce,"
            rf" {MEASURED.partition(', ')[2]}",
            done.err,
        )


@pytest.mark.full
def test_quiet_says_nothing(fastsvm, models):
    for words in (["approx", "-q"], ["reduce", "-q", "--vectors", 2, "--no-finish"]):
        done = fastsvm(*words, models / "wrong", "out")
        assert done.out == done.err == ""


def test_summaries_go_where_the_model_does_not(fastsvm, models):
    assert re.search(LINE, fastsvm("approx", models / "held", "-").err)
    assert "labels that differ" not in fastsvm("approx", models / "held", "-").out


@pytest.mark.full
def test_reduce_warns_of_a_set_that_is_too_small(fastsvm, models):
    done = fastsvm("reduce", "--vectors", 2, "--no-finish", models / "wrong", "out")
    line = r"labels that differ on the support vectors: \d+ of \d+ \((\S+) %\); often optimistic for reduced sets: give"
    percent = re.search(line, done.out)[1]
    assert float(percent) > 1 and re.fullmatch(
        rf"Warning: {re.escape(percent)} % of these labels are not the exact model's; try more --vectors, {MEASURED}",
        done.err,
    )
    assert (
        "Warning" not in fastsvm("reduce", "--target", 0.5, models / "wrong", "out").err
    )  # the target was the user's choice
    done = fastsvm("reduce", "--vectors", 2, "--no-finish", "--data", DATA / "rings.test", models / "wrong", "out")
    assert "labels are not the exact model's" in done.err
    assert fastsvm("reduce", "--lossless", models / "wrong", "out").err == ""


@pytest.mark.parametrize("total, rows", [(1, 1), (7, 7), (999, 999), (1000, 1000), (2500, 1000)])
def test_the_rows_are_spread_over_the_file(total, rows):
    machine = random_machine(
        np.random.default_rng(0), "c_svc", "rbf", as_rows(np.arange(total)[:, None] + 1.0), gamma=0.5
    )
    chunk = support_vector_trial.spread(exact_model(machine).vectors, 1000)
    seen = np.asarray(chunk.values)
    assert len(seen) == rows and seen[0] == 1 and np.all(np.diff(seen) > 0) and seen[-1] > total - total / rows


@pytest.mark.full
@pytest.mark.parametrize("entries, rows", [(10, 1000), (100, 500), (400, 125), (2000, 100)])
def test_large_models_are_tried_on_fewer_rows(monkeypatch, entries, rows):
    """Evaluating the exact model takes about as many operations as reading it."""
    monkeypatch.setattr(support_vector_trial, "WORK", 50_000_000)
    machine = random_machine(np.random.default_rng(0), "nu_svr", "rbf", as_rows(np.ones((1000, entries))), gamma=0.5)
    model = exact_model(machine)
    assert support_vector_trial.agreement_with_exact(model, model).rows == rows


def test_models_without_support_vectors_are_not_tried(fastsvm, tmp_path):
    (tmp_path / "single").write_bytes(
        Machine("c_svc", "rbf", [], np.zeros((0, 0)), [], gamma=0.5, label=[7], nr_sv=[0]).text()
    )
    (tmp_path / "empty").write_bytes(Machine("nu_svr", "rbf", [], np.zeros((0, 1)), [0.3], gamma=0.5).text())
    for name in ("single", "empty"):
        done = fastsvm("approx", name)
        assert done.err == "" and len(done.out.splitlines()) == 2


def test_an_exact_expansion_differs_nowhere(fastsvm, tmp_path):
    machine = random_machine(
        np.random.default_rng(0),
        "c_svc",
        "polynomial",
        as_rows(np.random.default_rng(1).standard_normal((50, 4))),
        gamma=0.5,
        coef0=1.0,
        degree=3,
    )
    (tmp_path / "m").write_bytes(machine.text())
    done = fastsvm("approx", "m", "out")
    assert re.fullmatch(LINE, done.out.splitlines()[-1])[1] == "0" and done.err == ""


@pytest.mark.parametrize("off, doubtful", [(0.0, False), (1e-9, False), (1e-3, True)])
def test_values_that_are_all_the_same_have_no_spread_to_measure_by(off, doubtful):
    """Differences are then relative to a millionth of the values' size."""
    one, other = (
        exact_model(Machine("nu_svr", "rbf", [{1: 1.0}], np.array([[1.0]]), [rho], gamma=0.5))
        for rho in (-4.0, -4.0 - off)
    )
    seen = agreement(other, one, [parse([{1: 1.0}, {1: 1.0}])])
    assert seen.spread == 0 and seen.share == pytest.approx(off / 5e-6, rel=1e-6, abs=1e-9)
    assert (seen.share > support_vector_trial.DOUBTFUL) == doubtful


def test_the_spread_is_that_of_all_rows_however_they_are_parted():
    model = exact_model(Machine("nu_svr", "rbf", [{1: 0.0}], np.array([[1.0]]), [-4.0], gamma=0.5))
    rows = [{1: float(x)} for x in np.linspace(0, 3, 12)]
    expected = np.std(values(model, parse(rows)))
    for parts in ([rows], [rows[:5], rows[5:]], [rows[:1], rows[1:7], rows[7:]]):
        assert agreement(model, model, [parse(part) for part in parts]).spread == pytest.approx(expected, rel=1e-12)
