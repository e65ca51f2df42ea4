"""Warnings about rows that hardly fit the model's training data."""

import subprocess
import warnings

import pytest

import fastsvm_cli
from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from fastsvm_cli.text.data import read_chunks
from support import forked
from support.places import FASTSVM
from support.processes import PATIENCE

HEAD = "svm_type {}\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0\n{}SV\n1 1:1 3:1\n-1 2:1\n"
CLASSES = HEAD.format("c_svc", "label 4 7\nnr_sv 1 1\n")
MODELS = {"m": CLASSES, "one": HEAD.format("one_class", ""), "value": HEAD.format("epsilon_svr", "")}
NONE = "none of the 10 rows has a label that the model answers (4, 7)"
ADVICE = "; if the first column is no label, add --unlabelled"


@pytest.fixture
def place(tmp_path):
    for name, text in MODELS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def warned(place, *words, text):
    (place / "rows").write_text(text)
    done = forked.fastsvm(["predict", *words, "out"], cwd=place, text=True)
    assert done.returncode == 0, done
    return [line.removeprefix("Warning: ").removesuffix(".") for line in done.stderr.splitlines()]


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "words, text, expected",
    [
        ("rows m", "4 1:1\n" * 5 + "7 1:1\n" * 5, []),
        ("rows m", "1 1:1\n" * 10, [NONE]),
        ("rows m", "4.5 1:1\n" * 10, [NONE]),
        ("rows m", "4 1:1\n" * 5 + "1 1:1\n" * 5, []),  # some other class
        ("rows m", "4 1:1\n" * 4 + "1 1:1\n" * 6, ["6 of 10 rows have labels other than the model's (4, 7)"]),
        ("rows m", "0 1:1\n" * 10, []),  # LIBSVM's placeholder for unknown labels
        ("--dense rows m", "0,1,1,1\n" * 10, [NONE + ADVICE]),  # in a column it may be a feature
        ("--dense rows m", "0.5,1,1\n" * 10, [NONE + ADVICE]),
        ("--dense --unlabelled rows m", "0.5,1,1\n" * 10, []),
        ("rows one", "4 1:1\n" * 10, [NONE.replace("(4, 7)", "(1, -1)")]),
        ("rows one", "-1 1:1\n" * 10, []),
        ("rows value", "4.5 1:1\n" * 10, []),
        ("rows m", "", ["no row was predicted"]),
        # columns
        ("--dense rows m", "4,1,1,1\n" * 10, []),
        ("--dense rows m", "4,1\n" * 10, []),
        ("--dense rows m", "4,1,1,1,0\n" * 10, ["the rows of rows have 4 features, and the model has 3"]),
        (
            "--dense --unlabelled rows m",
            "4,1,1,1\n" * 10,
            [
                "the rows of rows have 4 features, and the model has 3; if the first column is the label, "
                "leave --unlabelled out"
            ],
        ),
        ("--dense rows m", "4\n" * 10, ["no row of rows contains the delimiter ','"]),
        ("--dense --unlabelled --delim tab rows m", "4\n" * 10, [r"no row of rows contains the delimiter '\t'"]),
        ("-q --dense rows m", "1,1,1,1,0\n" * 10, []),
        ("--json rows m", "1 1:1\n" * 10, [NONE]),
    ],
)
def test_what_is_said_of_rows(place, words, text, expected):
    assert warned(place, *words.split(), text=text) == expected


def test_a_run_that_goes_on_counts_all_rows(place):
    text = "4 1:1\n" * 3 + "1 1:1\n" * 7
    (place / "rows").write_text(text + "x\n")
    command = [FASTSVM, "predict", "--resume", "rows", "m", "out"]
    assert subprocess.run(command, cwd=place, capture_output=True, timeout=PATIENCE).returncode == 1
    command.insert(2, "--on-bad-row=skip")
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE)
    assert "Warning: 7 of 10 rows have labels other than the model's (4, 7).\n" in done.stderr


def test_predict_file_warns_in_its_own_words(place):
    (place / "rows").write_text("0.5,1,1\n" * 10)
    arguments = place / "rows", place / "m", place / "out"
    with pytest.warns(UserWarning, match="; if the first column is no label, pass unlabelled=True."):
        fastsvm_cli.predict_file(*arguments, dense=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastsvm_cli.predict_file(*arguments, dense=True, unlabelled=True)


def test_the_core_counts_labels(tmp_path):
    (tmp_path / "rows").write_text("4 1:1\n7\n0\n-4\n4.5\n-0\n")
    (chunk,) = read_chunks(str(tmp_path / "rows"))
    found = {
        name: _native.unknown_labels(parse_model(text.encode(), name).header.task(), chunk)
        for name, text in MODELS.items()
    }
    assert found == {"m": (4, 2), "one": (6, 2), "value": (0, 0)}
