"""Computations of scripts/ beyond the program."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from libsvm.svmutil import svm_save_model, svm_train

from fastsvm_cli.models import load_model
from support.paths import DATA, SCRIPTS
from support.training import train_on

sys.path.append(str(SCRIPTS))

import kernel_fisher
import reduced_set_data
import reproduce
import reproduce_triangle
from libsvm_training import Kernel, Trainer, as_chunk, dense, predicted
from svm_predict import Build

from support.processes import outcome

GAMMA, RIDGE = 0.3, 0.5


def problem(n=60, seed=3):
    """(x, y, gram): two overlapping clouds; classes are mixed and of different sizes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.35, 1.0, -1.0)
    y[0] = 1.0
    x = np.round(rng.normal(size=(n, 4)) + 0.6 * y[:, None], 3)
    return x, y, np.exp(-GAMMA * ((x[:, None] - x[None]) ** 2).sum(2))


def write_rows(path, x, y):
    rows = (" ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1) if v) for row in x.tolist())
    path.write_text("".join(f"{label:g} {row}\n" for label, row in zip(y, rows)))


def write_model(folder, *options):
    """(exit code, standard error) of kernel_fisher.py on `rows`"""
    script = [sys.executable, str(SCRIPTS / "kernel_fisher.py"), *map(str, options), "rows"]
    done = outcome(script, cwd=folder)
    return done.returncode, done.stderr


def test_least_squares_svm_solves_its_system():
    _, y, gram = problem()
    a, b = kernel_fisher.fit(gram, y, "ls-svm", RIDGE)
    np.testing.assert_allclose(gram @ a + b + RIDGE * a, y, atol=1e-10)
    assert abs(a.sum()) < 1e-10


def test_kernel_fisher_is_the_least_under_its_constraints():
    _, y, gram = problem()
    a, b = kernel_fisher.fit(gram, y, "fisher", RIDGE)

    def slack(a, b):
        return gram @ a + b - y

    for side in (y > 0, y < 0):
        assert abs(slack(a, b)[side].sum()) < 1e-9
    least = (slack(a, b) ** 2).sum() + RIDGE * (a**2).sum()
    # Any step of `a` is worse, with steps of b and along y that restore both sums to 0.
    rng = np.random.default_rng(0)
    sums = np.array([[(gram @ y)[side].sum(), side.sum()] for side in (y > 0, y < 0)])
    for _ in range(20):
        step = 1e-3 * rng.normal(size=len(y))
        scale, shift = np.linalg.solve(sums, [-(gram @ step)[side].sum() for side in (y > 0, y < 0)])
        other = a + step + scale * y, b + shift
        assert max(abs(slack(*other)[side].sum()) for side in (y > 0, y < 0)) < 1e-9
        assert (slack(*other) ** 2).sum() + RIDGE * (other[0] ** 2).sum() > least


@pytest.mark.full
@pytest.mark.parametrize("method", kernel_fisher.METHODS)
def test_models_predict_right_in_libsvm_and_here(tmp_path, fastsvm, svm_predict, method):
    """Labels agree for the formula, fastsvm and svm-predict. Labels that make no machine are refused."""
    x, y, gram = problem()
    write_rows(tmp_path / "rows", x, y)
    assert write_model(tmp_path, "--method", method, "--gamma", GAMMA, "--ridge", RIDGE) == (0, "")
    a, b = kernel_fisher.fit(gram, y, method, RIDGE)
    expected = gram @ a + b
    fastsvm("predict", "-q", "--values", "rows", "rows.model", "values")
    subprocess.run([svm_predict, "rows", "rows.model", "theirs"], cwd=tmp_path, check=True, capture_output=True)
    labels, values = np.loadtxt(tmp_path / "values").T
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert (labels == np.where(expected > 0, 1.0, -1.0)).all() and (np.loadtxt(tmp_path / "theirs") == labels).all()
    (tmp_path / "rows.model").unlink()
    for refused, found in (([1, 2, 3], 3), ([1, 1, 1], 1), ([0.5, 1, 1], 2)):
        write_rows(tmp_path / "rows", np.ones((3, 1)), refused)
        printed = f"Error: {found} classes found, expected 2, with integers for labels\n"
        assert write_model(tmp_path, "--gamma", 1) == (1, printed) and not (tmp_path / "rows.model").exists()


def test_one_script_runs_every_experiment_of_the_papers(tmp_path, capsys):
    """One that fails leaves no result."""
    named = {words.split()[0] for words in reproduce.EXPERIMENTS.values()}
    assert named == {path.name for path in SCRIPTS.glob("reproduce_*.py")}
    words = reproduce.command("border", data="/data", models="/models", folder="/folder")
    assert words[2:] == [str(SCRIPTS / "reproduce_border.py"), "curve", "/data", "/models", "--plot", "/folder"]
    found = tmp_path / "found.txt"
    for code in (3, 0):
        assert reproduce.run([sys.executable, "-c", f"print('line'); exit({code})"], found) == code
        assert found.exists() == (code == 0) and "    line\n" in capsys.readouterr().out
    assert found.read_text() == "line\n"


def test_builds_tell_their_version(svm_predict, tmp_path):
    build = Build(svm_predict)
    assert re.fullmatch(r"LIBSVM \d\.\d\d( \(\S+ \S+\))?", build.name), build.name
    assert str(build) == f"{build.name}, {Path(svm_predict).resolve()}"
    (tmp_path / "svm.c").write_text("int libsvm_version = 299;\nint main() { return libsvm_version == 0; }\n")
    subprocess.run(["g++", "-x", "c", "svm.c", "-o", "svm-predict"], cwd=tmp_path, check=True)
    assert Build(str(tmp_path / "svm-predict")).name == "LIBSVM 2.99"
    subprocess.run(["strip", "svm-predict"], cwd=tmp_path, check=True)
    assert Build(str(tmp_path / "svm-predict")).name == "LIBSVM of unknown version"
    with pytest.raises(SystemExit, match=r"^Error: no/such: no such program"):
        Build("no/such")


@pytest.mark.parametrize("kind", ["rbf", "exponential"])
def test_kernel_evaluations_per_row_add_up(kind):
    """Per row they add up to the counts of all rows at once; by vector they are at most the number of vectors."""
    x, y, _ = problem(n=120)
    trainer, rows = Trainer(x, Kernel(kind, 4.0)), as_chunk(x[:40], y[:40])
    data = SimpleNamespace(d=x.shape[1], classes=[-1.0, 1.0])
    models = [trainer.train(y * sign, 10.0) for sign in (1, -1)]
    program, by_vector = reproduce_triangle.evaluations_per_row(models, data, rows, 2)
    expected = [predicted(reproduce_triangle.METHODS["triangle"](model, 2), rows)[2] for model in models]
    count = reproduce_triangle.ByVector(data.d)
    for model in models:
        count.add(model, reproduce_triangle.METHODS["triangle"](model, 2).pivots, dense(rows, data.d))
    assert program.shape == by_vector.shape == (40,)
    assert program.sum() == sum(expected) and by_vector.sum() == count.count["by vector"]
    assert (by_vector > 0).all() and by_vector.max() <= sum(model.header.total_sv for model in models)
    assert len(set(by_vector)) > 1


@pytest.mark.full
@pytest.mark.parametrize("shift", [0.0, 4096.0])
def test_what_is_seen_of_a_reduced_set_is_what_is_predicted(tmp_path, fastsvm, shift):
    """Far from 0, vectors are stored relative to their mean. A feature without a support vector affects only a row's
    norm."""
    x, y, _ = problem(n=200)
    x = np.round(x * 16) / 16 + shift  # the shift loses no digit
    seen = reduced_set_data.Test(
        reduced_set_data.train(x[:100], y[:100], GAMMA, 1.0),
        (np.column_stack([x[100:], np.tile([0, 0.5], 50)]), np.arange(1, 6)),
        y[100:],
        ((x[:100], np.arange(1, 5)), y[:100]),
    )
    assert (seen.problem.origin is not None) == (shift > 0)
    write_rows(tmp_path / "rows", np.column_stack([x[100:], np.tile([0, 0.5], 50)]), y[100:])
    features = [{j + 1: float(v) for j, v in enumerate(row) if v} for row in x[:100]]
    svm_save_model(str(tmp_path / "model"), svm_train(y[:100].tolist(), features, f"-q -g {GAMMA} -c 1"))
    fastsvm("predict", "-q", "--values", "rows", "model", "values")
    exact = np.loadtxt(tmp_path / "values")[:, 1]
    np.testing.assert_allclose(seen.exact, exact, atol=1e-9)
    assert seen.accuracy == np.mean((exact > 0) == (y[100:] > 0))  # the first row's label is 1
    # All support vectors: the same function, at distance 0.
    z = seen.problem.parts[0].x
    distance, differ, accuracy, trained = seen.see(z)
    assert distance < 1e-6 and differ == 0 and accuracy == seen.accuracy
    # Some of them: as `reduce` without moving vectors.
    fastsvm("reduce", "-q", "--vectors", "12", "--no-finish", "model", "reduced")
    reduced = load_model(str(tmp_path / "reduced"))
    fastsvm("predict", "-q", "--values", "rows", "reduced", "values")
    values = np.loadtxt(tmp_path / "values")[:, 1]
    z = dense(reduced.vectors, 4) - (seen.problem.origin if shift else 0)
    beta = np.asarray(reduced.vectors.leading)
    np.testing.assert_allclose(seen.reduced(z, beta)(*seen.rows), values, atol=1e-6)
    assert seen.see(z)[1:3] == (np.mean((values > 0) != (exact > 0)), np.mean((values > 0) == (y[100:] > 0)))


@pytest.mark.full
def test_the_benchmark_tabulates_and_compares(tmp_path):
    """The models are small; a figure that changed beyond the errors is named."""
    for folder in ("tuned", "published", "models"):
        (tmp_path / folder).mkdir()
    rows = (DATA / "rings.test").read_bytes()
    for path, options in (("tuned/rings", ""), ("tuned/rings.prob", "-b 1"), ("published/cpc2", "-b 1")):
        train_on(tmp_path / f"{path}.model", "rings.train", f"-g 0.1 {options}", 200)
    (tmp_path / "tuned/rings.test").write_bytes(rows)
    (tmp_path / "published/cpc2.rows").write_bytes(rows)
    found = tmp_path / "found.json"
    script = [sys.executable, SCRIPTS / "benchmark.py", "--runs", "1", "--json", found]
    script += ["--tuned", tmp_path / "tuned", "--published", tmp_path / "published", "tuned", "published", "few-rows"]
    out = outcome(list(map(str, script)), check=True).stdout
    assert len(re.findall(r"^\| rings +\| [\d.,]+x +\| [\d.,]+x +\| [\d.,]+x +\|$", out, re.MULTILINE)) == 1
    assert re.search(r"^\| cpc2 +\| `-b 1` +\| [\d.,]+x +\|$", out, re.MULTILINE) and "1 row: svm-predict" in out
    before = json.loads(found.read_text())
    before["tables"]["tuned"]["rings"]["labels"][""] = [1e9, 0.0, "x"]
    (tmp_path / "old.json").write_text(json.dumps(before))
    script += ["--compare", tmp_path / "old.json"]
    out = outcome(list(map(str, script)), check=True).stdout
    assert "\ntuned, rings, labels: 1e+09 +- 0 before, " in out
