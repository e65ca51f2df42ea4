"""--plot of bound and reduce: the command does what it does without; what cannot be drawn."""

import json
import os
import shutil

import pytest

import fastsvm_cli
from support.benching import ONE_THREAD
from support.compiling import linked

DEGREES = [f"degree {p}" for p in (1, 2, 3, 4)]


@pytest.fixture
def folder(models_folder, tmp_path):
    """The current directory, with links to the models."""
    return linked(models_folder, tmp_path)


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "model, words",
    [
        ("rings.model", DEGREES),
        ("rings.4", ["degree 4"]),
        ("rings.red", ["reduced set"]),
        ("linear.model", DEGREES[:1]),
    ],
)
def test_bound_draws_and_prints_what_it_did(folder, fastsvm, model, words):
    before = fastsvm("bound", "rings.rows", model).out
    done = fastsvm("bound", "--plot", "p.svg", "rings.rows", model)
    assert done.out == before and done.err == ""
    svg = (folder / "p.svg").read_text()
    assert [each for each in (*DEGREES, "reduced set") if f">{each}" in svg] == words
    assert "rings.rows: 300 rows" in svg


@pytest.mark.full
def test_reduce_writes_the_same_model_with_and_without_a_figure(folder, fastsvm):
    words = ["reduce", "--vectors", 12, "--data", "rings.rows", "rings.model"]
    before = fastsvm(*words, "a", env=ONE_THREAD)
    done = fastsvm(*words[:-1], "--plot", "p.svg", words[-1], "b", env=ONE_THREAD)
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    assert done.out.replace(": b\n", ": a\n") == before.out
    svg = (folder / "p.svg").read_text()
    assert "rings.rows: 300 rows" in svg and "written: 12 vectors" in svg
    fastsvm(*"reduce -q --target 0.1 --no-finish --plot q.pdf colors.model c".split(), env=ONE_THREAD)
    assert (folder / "q.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.full
def test_the_rest_of_the_command_is_as_it_was(folder, fastsvm):
    """Data may come from a pipe; json stays json; nothing is said of a home directory that cannot be written."""
    rows = (folder / "rings.rows").read_bytes()
    fastsvm("bound", "--plot", "p.png", "-", "rings.4", input=rows)
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(fastsvm("bound", "--json", "--plot", "p.svg", "rings.rows", "rings.4").out)
    before = set(os.listdir(folder))
    environment = {**ONE_THREAD, "MPLCONFIGDIR": "/dev/null/none", "TMPDIR": str(folder)}
    assert fastsvm("bound", "--plot", "q.svg", "rings.rows", "rings.2", env=environment).err == ""
    assert set(os.listdir(folder)) == before | {"q.svg"}


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "words, code, reported",
    [
        ("bound --plot p.gif rings.rows rings.model", 2, "none of them"),
        ("bound --plot p.svg rings.rows", 2, "one model on one data file: name these two"),
        ("bound --plot p.svg rings.4 rings.model", 2, "these are two models"),
        ("bound --plot p.svg rings.rows colors.rows", 2, "these are two data files"),
        ("bound --plot p.svg rings.rows sigmoid.model", 1, "a sigmoid kernel found"),
        ("bound --plot p.svg rings.rows rings.approx", 1, "no radii found"),
        ("bound --plot p.svg empty rings.4", 1, "no rows found"),
        ("bound --plot rings.svg rings.svg rings.4", 1, "would replace the input"),
        ("bound --plot nowhere/p.svg rings.rows rings.4", 1, "No such file"),
        ("reduce --vectors 5 --plot p.gif rings.model", 2, "none of them"),
        ("reduce --lossless --plot p.svg rings.model", 2, "does not go with --lossless"),
        ("reduce --vectors 5 --plot nowhere/p.svg rings.model", 1, "No such file"),
        ("reduce --vectors 5 --plot rings.svg rings.svg", 1, "would replace the input"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line_before_any_work(folder, fastsvm, words, code, reported):
    (folder / "empty").touch()
    shutil.copy(folder / ("rings.rows" if words.startswith("bound") else "rings.model"), folder / "rings.svg")
    before = set(os.listdir(folder))
    done = fastsvm(*words.split(), code=code)
    assert reported in done.err and done.err.count("Error: ") == 1 and set(os.listdir(folder)) == before, str(done)


@pytest.mark.parametrize(
    "words", ["bound --plot p.svg rings.rows rings.4", "reduce --vectors 4 --plot p.svg rings.model"]
)
def test_without_matplotlib_it_is_one_line_and_nothing_is_done(folder, fastsvm, words):
    (folder / "block" / "matplotlib").mkdir(parents=True)
    (folder / "block" / "matplotlib" / "__init__.py").write_text("raise ImportError('none')\n")
    before = set(os.listdir(folder))
    done = fastsvm(*words.split(), env={"PYTHONPATH": str(folder / "block")}, code=1)
    assert done.err == "Error: --plot needs matplotlib: pip install 'fastsvm[plot]'\n" and done.out == ""
    assert set(os.listdir(folder)) == before


def test_from_python_there_is_no_figure(folder):
    with pytest.raises(TypeError, match="plot"):
        fastsvm_cli.compile(str(folder / "rings.model"), method="reduce", vectors=5, plot="p.svg")
