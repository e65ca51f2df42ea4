"""The examples in docstrings, and the scripts about the Python interface, run as they stand."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import fastsvm_cli
import fastsvm_cli.estimators
from support.arrays import sparse_rows
from support.places import DATA, SCRIPTS
from support.training import train_on

MODULES = [f"fastsvm_cli.estimators.{each.name}" for each in pkgutil.iter_modules(fastsvm_cli.estimators.__path__)]


@pytest.mark.parametrize("name", [*MODULES, "fastsvm_cli.dask", "fastsvm_cli.sklearn"])
def test_examples(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    rows, y = sparse_rows("rings.test")
    globs = {"fastsvm_cli": fastsvm_cli, "numpy": np, "X": rows.toarray(), "y": y}
    module = importlib.import_module(name)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    said = []
    for test in finder.find(module, name, extraglobs=globs):
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize("name", ["load", "FastSVM", "predict_file", "compile", "to_libsvm"])
def test_public_things_have_examples(name):
    assert ">>>" in getattr(fastsvm_cli, name).__doc__


@pytest.mark.full
def test_the_tutorial_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPTS / "python_tutorial.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "proven or exact: 0 labels differ" in done.stdout and "\nexact: 0 labels differ" in done.stdout
    assert done.stdout.count("the same labels: True") == 2


@pytest.mark.full
def test_the_measurement_runs(tmp_path):
    """On a small model of many classes and one of two: every label of the exact method is SVC's."""
    train_on(tmp_path / "colors.model", "colors.train", "-g 0.05", 150)
    train_on(tmp_path / "rings.model", "rings.train", "-g 0.1 -b 1", 150)
    for name in ("colors", "rings"):
        (tmp_path / f"{name}.test").write_bytes((DATA / f"{name}.test").read_bytes())
    script = [sys.executable, SCRIPTS / "measure_python.py"]
    done = subprocess.run(
        [*script, tmp_path, "--rows", "200", "--seconds", "0.001"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if re.match(r"exact, \d thread", line)]
    assert len(lines) == 4 and all(line[-1] == "0" for line in lines)
    done = subprocess.run([*script, "--memory", "--rows", "30000"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "30000 rows of 20 features" in done.stdout, done.stderr
