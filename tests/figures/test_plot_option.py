"""--plot of bound and reduce: the command does what it does without. messages.txt says what cannot be drawn."""

import json
import os

import pytest

import fastsvm_cli
from support.compiling import linked
from support.paths import GOLDEN

DEGREES = [f"degree {p}" for p in (1, 2, 3, 4)]


@pytest.fixture
def folder(models_folder, tmp_path):
    """The current directory, with links to the models."""
    return linked(models_folder, tmp_path)


@pytest.mark.full
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
    words = ["reduce", "--vectors", 12, "--no-finish", "--data", "rings.rows", "rings.model"]
    before = fastsvm(*words, "a")
    done = fastsvm(*words[:-1], "--plot", "p.svg", words[-1], "b")
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    assert done.out.replace(": b\n", ": a\n") == before.out
    svg = (folder / "p.svg").read_text()
    assert "rings.rows: 300 rows" in svg and "written: 12 vectors" in svg
    fastsvm(*"reduce -q --target 0.1 --no-finish --plot q.pdf colors.model c".split())
    assert (folder / "q.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.full
def test_the_rest_of_the_command_is_as_it_was(folder, fastsvm):
    """Data may come from a pipe; json stays json; nothing is said of a home directory that cannot be written."""
    before, rows = set(os.listdir(folder)), (folder / "rings.rows").read_bytes()
    environment = {"MPLCONFIGDIR": "/dev/null/none", "TMPDIR": str(folder)}
    done = fastsvm("bound", "--json", "--plot", "p.png", "-", "rings.4", input=rows, env=environment)
    assert json.loads(done.out) and done.err == "" and (folder / "p.png").read_bytes().startswith(b"\x89PNG")
    assert set(os.listdir(folder)) == before | {"p.png"}


@pytest.mark.full
@pytest.mark.parametrize("words", ["bound", "reduce --vectors 4"])
def test_without_matplotlib_it_is_one_line_and_nothing_is_done(folder, fastsvm, words):
    (folder / "block").mkdir()
    (folder / "block" / "matplotlib.py").write_text("raise ImportError('none')\n")
    before, files = set(os.listdir(folder)), ["rings.model"] if "reduce" in words else ["rings.rows", "rings.4"]
    done = fastsvm(*words.split(), "--plot", "p.svg", *files, env={"PYTHONPATH": str(folder / "block")}, code=1)
    assert done.err == "Error: --plot needs matplotlib: pip install 'fastsvm[plot]'\n" and done.out == ""
    assert set(os.listdir(folder)) == before


def test_from_python_there_is_no_figure():
    with pytest.raises(TypeError, match="plot"):
        fastsvm_cli.compile(str(GOLDEN / "c_svc.model"), method="reduce", vectors=5, plot="p.svg")
