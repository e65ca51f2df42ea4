"""Computations of scripts/ beyond the program."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.linalg import null_space

from support.oracles import data_text
from support.paths import DATA, SCRIPTS
from support.processes import outcome
from support.training import train_on

sys.path.append(str(SCRIPTS))

import kernel_fisher
import reproduce

GAMMA, RIDGE = 0.3, 0.5


@pytest.fixture(scope="module")
def problem():
    """(x, y, gram): two overlapping clouds; classes are mixed and of different sizes."""
    rng = np.random.default_rng(3)
    y = np.where(rng.random(60) < 0.35, 1.0, -1.0)
    y[0] = 1.0
    x = np.round(rng.normal(size=(60, 4)) + 0.6 * y[:, None], 3)
    return x, y, np.exp(-GAMMA * ((x[:, None] - x[None]) ** 2).sum(2))


def test_least_squares_svm_solves_its_system(problem):
    _, y, gram = problem
    a, b = kernel_fisher.fit(gram, y, "ls-svm", RIDGE)
    np.testing.assert_allclose(gram @ a + b + RIDGE * a, y, atol=1e-10)
    assert abs(a.sum()) < 1e-10


def test_kernel_fisher_is_the_least_under_its_constraints(problem):
    """Least squares of the errors and of `a` among all (a, b) for which each class's errors add up to 0."""
    _, y, gram = problem
    outputs = np.column_stack([gram, np.ones(len(y))])
    sums, of_y = (np.array([each[side].sum(axis=0) for side in (y > 0, y < 0)]) for each in (outputs, y))
    squared, target = np.vstack([outputs, RIDGE**0.5 * np.eye(len(y), len(y) + 1)]), np.append(y, 0 * y)
    some, others = np.linalg.lstsq(sums, of_y, rcond=None)[0], null_space(sums)
    best = some + others @ np.linalg.lstsq(squared @ others, target - squared @ some, rcond=None)[0]
    a, b = kernel_fisher.fit(gram, y, "fisher", RIDGE)
    np.testing.assert_allclose([*a, b], best, atol=1e-8)


@pytest.mark.full
@pytest.mark.parametrize("method", kernel_fisher.METHODS)
def test_models_predict_right_in_libsvm_and_here(problem, tmp_path, fastsvm, svm_predict, method):
    """Labels agree for the formula, fastsvm and svm-predict."""
    x, y, gram = problem
    (tmp_path / "rows").write_bytes(data_text([dict(enumerate(row, 1)) for row in x.tolist()], y.astype(int).tolist()))
    words = f"{SCRIPTS}/kernel_fisher.py --method {method} --gamma {GAMMA} --ridge {RIDGE} rows"
    outcome([sys.executable, *words.split()], cwd=tmp_path, check=True)
    a, b = kernel_fisher.fit(gram, y, method, RIDGE)
    expected = gram @ a + b
    fastsvm("predict", "-q", "--values", "rows", "rows.model", "values")
    subprocess.run([svm_predict, "rows", "rows.model", "theirs"], cwd=tmp_path, check=True, capture_output=True)
    labels, values = np.loadtxt(tmp_path / "values").T
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert (labels == np.where(expected > 0, 1.0, -1.0)).all() and (np.loadtxt(tmp_path / "theirs") == labels).all()


@pytest.mark.parametrize("refused, found", [([1, 2, 3], 3), ([1, 1, 1], 1), ([0.5, 1, 1], 2)])
def test_labels_that_make_no_machine_are_refused(refused, found):
    with pytest.raises(SystemExit, match=f"^Error: {found} classes found, expected 2, with integers for labels$"):
        kernel_fisher.classes_of(np.array(refused))


def test_one_script_runs_every_experiment_of_the_papers(capsys, monkeypatch):
    named = {words.split()[0] for _, words in reproduce.EXPERIMENTS.values()}
    assert named == {path.name for path in SCRIPTS.glob("reproduce_*.py")}
    words = reproduce.command("border", data="/data", models="/models", folder="/folder")
    assert words[2:] == [str(SCRIPTS / "reproduce_border.py"), "curve", "/data", "/models", "--plot", "/folder"]
    monkeypatch.setattr(sys, "argv", ["reproduce.py", "--list"])
    reproduce.main()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(reproduce.EXPERIMENTS)


@pytest.mark.full
def test_the_check_of_a_cluster_compares_what_a_bad_row_leaves(tmp_path):
    """On small data."""
    command = [sys.executable, SCRIPTS / "check_cluster.py", "--folder", tmp_path, "--size", "0.1"]
    done = outcome([*command, "--only", "poison", "faults"])
    assert done.returncode == 0, done.stdout + done.stderr
    reported = ("exit code 1: Error: rows/b:", "parts kept", "the same bytes")
    assert all(words in done.stdout for words in reported) and not list(tmp_path.iterdir())


@pytest.mark.full
def test_the_benchmark_tabulates_and_compares(tmp_path):
    """The models are small; a figure that changed beyond the errors is named."""
    for folder in ("tuned", "published"):
        (tmp_path / folder).mkdir()
    for path, options in (("tuned/rings", ""), ("tuned/rings.prob", "-b 1"), ("published/cpc2", "-b 1")):
        train_on(tmp_path / f"{path}.model", "rings.train", f"-g 0.1 {options}", 200)
    for rows in ("tuned/rings.test", "published/cpc2.rows"):
        (tmp_path / rows).symlink_to(DATA / "rings.test")
    words = f"--runs 1 --json found --tuned {tmp_path}/tuned --published {tmp_path}/published"
    script = [sys.executable, SCRIPTS / "benchmark.py", *words.split(), "tuned", "published", "few-rows"]
    out = outcome(script, cwd=tmp_path, check=True).stdout
    assert len(re.findall(r"^\| rings +\| [\d.,]+x +\| [\d.,]+x +\| [\d.,]+x +\|$", out, re.MULTILINE)) == 1
    assert re.search(r"^\| cpc2 +\| `-b 1` +\| [\d.,]+x +\|$", out, re.MULTILINE) and "1 row: svm-predict" in out
    before = json.loads((tmp_path / "found").read_text())
    before["tables"]["tuned"]["rings"]["labels"][""] = [1e9, 0.0, "x"]
    (tmp_path / "old").write_text(json.dumps(before))
    out = outcome([*script, "--compare", "old"], cwd=tmp_path, check=True).stdout
    assert "\ntuned, rings, labels: 1e+09 +- 0 before, " in out
