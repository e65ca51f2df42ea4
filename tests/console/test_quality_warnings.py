"""Warnings about rows that hardly fit the model's training data."""

import warnings

import pytest

import fastsvm_cli
from fastsvm_cli.prediction import RunCounts
from support.compiling import compile_all, linked
from support.forked import fastsvm
from support.messages import table
from support.paths import PROGRAM
from support.processes import outcome

HEAD = "svm_type {}\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0\n{}SV\n"
TWO = "1 1:1 3:1\n-1 2:1\n"
CLASSES = HEAD.format("c_svc", "label 4 7\nnr_sv 1 1\n")
#: Ten vectors; all but one have feature 3, the last.
WIDE = CLASSES.replace("_sv 2", "_sv 10").replace("_sv 1 1", "_sv 9 1") + "1 1:1 3:1\n" * 9 + "-1 1:1\n"
FROM_0 = WIDE.replace(" 1:1", " 0:1")
MODELS = {
    "m": CLASSES + TWO,
    "one": HEAD.format("one_class", "") + TWO,
    "value": HEAD.format("epsilon_svr", "") + TWO,
    "constant": HEAD.format("epsilon_svr", "") + "1\n-1\n",
    "wide": WIDE,
    "less": WIDE.replace("1 1:1 3:1\n", "1 1:1\n", 1),
    "from_0": FROM_0,
    "serials": FROM_0.replace("rbf\ngamma 0.5", "precomputed").replace(" 3:1", ""),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warnings")
    for name, text in MODELS.items():
        (folder / name).write_text(text)
    compile_all(folder, "approx --certify wide wide.fast", "approx --certify from_0 from_0.fast")
    return folder


@pytest.fixture
def directory(models, tmp_path):
    return linked(models, tmp_path)


def lines_of(text):
    """`5 x 4 1:1, 5 x 7 1:1` gives ten lines."""
    times = (each.split(" x ") for each in text.split(", ")) if text != "-" else ()
    return "".join(f"{line}\n" * int(count) for count, line in times)


@pytest.mark.full(few=12)
@pytest.mark.parametrize("words, text, expected", table("messages.txt", "warnings of rows"))
def test_what_is_said_of_rows(directory, words, text, expected):
    """By fastsvm predict; without options, by fastsvm-predict and predict_file too."""
    (directory / "rows").write_text(lines_of(text))
    found = fastsvm(["predict", *words.split(), "out"], cwd=directory, text=True, check=True).stderr
    assert found == (f"Warning: {expected}.\n" if expected != "-" else "")
    if not words.startswith("-"):
        assert outcome([PROGRAM, *words.split(), "out"], cwd=directory).stderr == found
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fastsvm_cli.predict_file(*(directory / name for name in (*words.split(), "out")))
        assert [f"Warning: {each.message}\n" for each in caught] == ([found] if found else [])


def test_the_features_of_several_parts_are_those_of_the_whole():
    one, whole = RunCounts(True), RunCounts(True)
    names = "rows", "rows_beyond", "rows_with_zero", "largest_feature"
    one.add_values({**one.values(), **dict(zip(names, (5, 1, 2, 7)))})
    whole.add_values({**whole.values(), **dict(zip(names, (6, 3, 4, 3)))})
    whole.add_values(one.values())
    assert (whole.rows, whole.rows_beyond, whole.rows_with_zero, whole.largest_feature) == (11, 4, 6, 7)


def test_a_run_that_goes_on_counts_all_rows(directory):
    (directory / "rows").write_text("4 1:1\n" * 3 + "1 1:1\n" * 7 + "x\n")
    fastsvm(["predict", "--resume", "rows", "m", "out"], cwd=directory)
    done = fastsvm(["predict", "--on-bad-row=skip", "--resume", "rows", "m", "out"], cwd=directory, text=True)
    assert "Warning: 7 of 10 rows have labels other than the model's (4, 7).\n" in done.stderr


def test_predict_file_warns_in_its_own_words(directory):
    (directory / "rows").write_text("0.5,1,1\n" * 10)
    with pytest.warns(UserWarning, match="; if the first column is no label, pass unlabelled=True."):
        fastsvm_cli.predict_file(directory / "rows", directory / "m", directory / "out", dense=True)
