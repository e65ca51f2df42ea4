"""Examples in docstrings, and the scripts about the Python interface."""

import doctest
import importlib
import json
import pkgutil
import sys

import numpy as np
import pytest

import fastsvm_cli
import fastsvm_cli.estimators
from support.arrays import sparse_rows
from support.paths import DATA, SCRIPTS
from support.processes import outcome

sys.path.append(str(SCRIPTS))

import python_tutorial

MODULES = [f"fastsvm_cli.estimators.{each.name}" for each in pkgutil.iter_modules(fastsvm_cli.estimators.__path__)]


@pytest.mark.parametrize("name", [*MODULES, "fastsvm_cli.dask", "fastsvm_cli.sklearn"])
def test_examples(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    rows, y = sparse_rows("rings.test")
    globs = {"fastsvm_cli": fastsvm_cli, "numpy": np, "X": rows.toarray(), "y": y}
    module = importlib.import_module(name)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    printed = []
    for test in finder.find(module, name, extraglobs=globs):
        runner.run(test, out=printed.append)
    assert not runner.failures, "".join(printed)


@pytest.mark.parametrize("name", ["load", "FastSVM", "predict_file", "compile", "to_libsvm"])
def test_public_things_have_examples(name):
    assert ">>>" in getattr(fastsvm_cli, name).__doc__


def test_the_tutorial_runs(capsys, monkeypatch):
    """On a tenth of its rows."""
    rings = python_tutorial.rings
    monkeypatch.setattr(python_tutorial, "rings", lambda rows, seed: rings(rows // 10, seed))
    python_tutorial.main()
    printed = capsys.readouterr().out
    assert "proven or exact: 0 labels differ" in printed and "\nexact: 0 labels differ" in printed
    assert printed.count("the same labels: True") == 2


@pytest.mark.full
def test_the_measurement_runs(tmp_path):
    """Neither the exact method nor the patch changes a label."""
    words = [sys.prefix, DATA / "colors.train", DATA / "colors.test", "-g", "0.05", "--train-rows", "150"]
    words += ["--rows", "1", "200", "--seconds", "0.001", "--json", tmp_path / "found"]
    words += ["--methods", "predict", "decision_function"]
    outcome([sys.executable, SCRIPTS / "measure_sklearn.py", *map(str, words)], cwd=tmp_path, check=True)
    found = json.loads((tmp_path / "found").read_text())["predict, 200 rows"]
    assert found["fastsvm exact"][2] == found["scikit-learn, patched"][2] == 0


@pytest.mark.full
def test_the_comparison_with_rivals_runs(tmp_path):
    """Without scikit-learn-intelex and skl2onnx. The exact method changes no label."""
    words = [sys.prefix, "--features", 5, "--vectors", 80, "--classes", 2, 3, "--rows", 1, 40, "--seconds", 0.001]
    command = [sys.executable, SCRIPTS / "measure_rivals.py", *words, "--rounds", 1, "--json", tmp_path / "found"]
    done = outcome(list(map(str, command)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "'fastsvm': 0" in done.stdout and "Least: " in done.stdout and "| 5, 80 " in done.stdout
    found = json.loads((tmp_path / "found").read_text())
    assert len(found) == 3 * 3 * 2 * 2 and all(seconds["fastsvm"] > 0 for *_, seconds in found)
