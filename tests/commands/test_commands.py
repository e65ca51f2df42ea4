"""The installed command: pipes, full disks, other forms of rows, limits. test_screens.py has its output."""

import json
import subprocess
import sys

import click
import pytest

from fastsvm_cli import cli
from fastsvm_cli.cli import COMMANDS
from fastsvm_cli.console.options import Share
from support.paths import FASTSVM, GOLDEN, PROGRAM
from support.processes import PATIENCE, outcome

MODEL = GOLDEN / "c_svc.model"
ROWS = "1 1:0.5 2:-0.25 4:1 7:0.125 8:-0.75\n-1 2:0.3 7:-0.6\n1\n" * 20


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows").write_text(ROWS)
    return "rows"


def test_lines_and_models_go_through_pipes(fastsvm, rows, tmp_path):
    """The summary is then on standard error."""
    fastsvm("predict", rows, MODEL, "file")
    for output in ([], ["-"], ["/dev/stdout"]):
        done = fastsvm("predict", rows, MODEL, *output)
        assert done.out == (tmp_path / "file").read_text() and "Accuracy" in done.err
    made = fastsvm("approx", "-", input=MODEL.read_bytes())
    assert made.out.startswith("fastsvm_model maclaurin 2\n") and "support vectors ->" in made.err
    (tmp_path / "m").write_text(made.out)
    assert fastsvm("predict", rows, "-", input=made.out).out == fastsvm("predict", rows, "m").out
    (file,), (piped,) = (
        json.loads(fastsvm("bound", "--json", *words, input=ROWS).out)["data"] for words in ([rows], ["-"])
    )
    del file["next"], piped["next"]
    assert {**file, "file": "-"} == piped


@pytest.mark.parametrize("words", [[FASTSVM, "predict"], [PROGRAM], [FASTSVM, "predict", "--on-bad-row", "nan"]])
def test_a_slow_pipe_gets_each_answer_at_once(words):
    """Also for a bad row."""
    process = subprocess.Popen([*words, "-q", "-", MODEL], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in (b"1 1:0.5\n", b"foo\n", b"\n", b"-1 2:1\n") if "nan" in words else [b"1 1:0.5\n"] * 3:
        process.stdin.write(line)
        process.stdin.flush()
        # It would block for ever if rows were collected.
        assert process.stdout.readline() in ((b"1\n", b"-1\n") if b":" in line else (b"nan\n",))
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


def test_python_runs_the_command_too(fastsvm):
    assert outcome([sys.executable, "-m", "fastsvm_cli", "--version"]).stdout == fastsvm("--version").out


@pytest.mark.parametrize("error", [ModuleNotFoundError("x", name="nowhere"), ImportError("x"), RuntimeError("x")])
def test_a_fault_of_our_own_keeps_its_traceback(monkeypatch, error):
    """A package that is not required, say, is imported by mistake."""

    def fail(context):
        raise error

    monkeypatch.setattr(sys, "argv", ["fastsvm", "predict"])
    monkeypatch.setattr(cli.fastsvm, "invoke", fail)
    with pytest.raises(type(error)) as caught:
        cli.main()
    assert caught.value is error


def test_an_empty_file_is_an_error_where_it_is_to(fastsvm, tmp_path):
    (tmp_path / "empty").write_text("# no row\n"), (tmp_path / "one").write_text("1 1:0.5\n")
    assert fastsvm("predict", "empty", MODEL, "out").code == 0 and (tmp_path / "out").read_text() == ""
    assert fastsvm("predict", "--fail-on-empty", "one", MODEL, "out").code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_is_nan_and_none_but_a_limit_infinite(name):
    options = cli.fastsvm.get_command(None, name).params
    numbers = [each for each in options if isinstance(each.type, (click.types.FloatParamType, Share))]
    for each in numbers:
        for word in ("nan", "inf") if each.name != "max_size" else ("nan",):
            with pytest.raises(click.BadParameter, match=word):
                each.type.convert(word, each, None)
        if each.name == "max_size":
            assert each.type.convert("inf", each, None) == float("inf")
    assert numbers or name == "export"  # export takes only whole numbers


def test_there_is_no_more_of_anything_than_the_core_can_count(fastsvm, rows):
    most = 10**23
    fastsvm("order", "-q", "--seed", most, "--points", most, MODEL, "geometry")
    fastsvm("order", "-q", "--method", "triangle", "--seed", most, "--lists", 3, MODEL, "triangle")
    plain = fastsvm("predict", "-q", rows, MODEL).out
    for words in (["geometry"], ["triangle"], ["geometry", "--steps", most]):
        assert fastsvm("predict", "-q", "--threads", most, rows, *words).out == plain
