"""Warnings about rows that hardly fit the model's training data."""

import warnings

import pytest

import fastsvm_cli
from fastsvm_cli.prediction.pipeline import RunCounts
from support import forked
from support.paths import FASTSVM
from support.processes import outcome

HEAD = "svm_type {}\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0\n{}SV\n1 1:1 3:1\n-1 2:1\n"
CLASSES = HEAD.format("c_svc", "label 4 7\nnr_sv 1 1\n")
MODELS = {"m": CLASSES, "one": HEAD.format("one_class", ""), "value": HEAD.format("epsilon_svr", "")}
NONE = "none of the 10 rows has a label that the model answers (4, 7)"
FOUR = "the rows of rows have 4 features, and the model has 3"
LEAVE_OUT = "if the first column is the label, leave --unlabelled out"
ADVICE = "; if the first column is no label, add --unlabelled"


@pytest.fixture
def directory(tmp_path):
    for name, text in MODELS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def warned(directory, *words, text):
    (directory / "rows").write_text(text)
    done = forked.fastsvm(["predict", *words, "out"], cwd=directory, text=True)
    assert done.returncode == 0, done
    return [line.removeprefix("Warning: ").removesuffix(".") for line in done.stderr.splitlines()]


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
        ("--dense rows m", "4,1,1,1,0\n" * 10, [FOUR]),
        ("--dense --unlabelled rows m", "4,1,1,1\n" * 10, [f"{FOUR}; {LEAVE_OUT}"]),
        ("--dense rows m", "4\n" * 10, ["no row of rows contains the delimiter ','"]),
        ("--dense --unlabelled --delim tab rows m", "4\n" * 10, [r"no row of rows contains the delimiter '\t'"]),
        ("-q --dense rows m", "1,1,1,1,0\n" * 10, []),
        ("--json rows m", "1 1:1\n" * 10, [NONE]),
    ],
)
def test_what_is_said_of_rows(directory, words, text, expected):
    assert warned(directory, *words.split(), text=text) == expected


WIDE = CLASSES.replace("1 1:1 3:1\n-1 2:1\n", "1 1:1 3:1\n" * 9 + "-1 1:1\n").replace("_sv 2", "_sv 10")
WIDE = WIDE.replace("nr_sv 1 1", "nr_sv 9 1")
FROM_0 = WIDE.replace(" 1:1", " 0:1")
ANOTHER_SET = ": they may be rows of another data set"
LACKS_0 = (
    "{} of 20 rows have a feature 0, which the model lacks: if they count features from 0, count them from 1"
    " (zero_based=False of scikit-learn's dump_svmlight_file)"
)
HAS_0 = (
    "no row has a feature 0, which 10 of the model's 10 vectors have: if the rows count features from 1, count them"
    " from 0 (zero_based=True of scikit-learn's dump_svmlight_file)"
)
BEYOND = "11 of 20 rows have features beyond 3, the model's last" + ANOTHER_SET
NONE_BEYOND = "no row has a feature beyond {}, and 9 of the model's 10 vectors do" + ANOTHER_SET


@pytest.mark.parametrize(
    "model, text, expected",
    [
        (WIDE, "4 1:1\n" * 20, NONE_BEYOND.format(1)),
        (WIDE, "4\n" * 20, NONE_BEYOND.format(0).replace("9", "10")),
        (WIDE, "4 1:1\n" * 19, None),  # few rows
        (WIDE, "4 1:1\n" * 19 + "4 3:1\n", None),
        (WIDE.replace("1 1:1 3:1\n", "1 1:1\n", 1), "4 1:1\n" * 20, None),  # two vectors of ten lack it, too
        (WIDE, "4 1:1 4:1\n" * 11 + "4 3:1\n" * 9, BEYOND),
        (WIDE, "4 1:1 4:1\n" * 10 + "4 3:1\n" * 10, None),
        (WIDE, "4 1:1\n" * 19 + "4 0:1 4:1\n", LACKS_0.format(1)),
        (WIDE, "4 0:1 2:1\n" * 20, LACKS_0.format(20)),  # and not of another data set
        (FROM_0, "4 1:1 4:1\n" * 20, HAS_0),
        (FROM_0, "4 1:1 4:1\n" * 19 + "4 0:1 3:1\n", BEYOND.replace("11", "19")),
        (FROM_0, "4 0:1 3:1\n" * 20, None),
        (
            WIDE.replace("rbf\ngamma 0.5", "precomputed").replace(" 1:1", " 0:1").replace(" 3:1", ""),
            "4 0:1 1:2\n" * 20,
            None,
        ),
        (HEAD.format("epsilon_svr", "").replace("1 1:1 3:1\n-1 2:1\n", "1\n-1\n"), "4 1:1\n" * 20, None),  # a constant
    ],
)
def test_features_of_another_data_set(directory, model, text, expected):
    """By fastsvm predict, fastsvm-predict and predict_file."""
    (directory / "m").write_text(model)
    found = warned(directory, "rows", "m", text=text)
    assert found == ([] if expected is None else [expected])
    done = outcome([f"{FASTSVM}-predict", "rows", "m", "out"], cwd=directory)
    assert done.stderr == "".join(f"Warning: {each}.\n" for each in found)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fastsvm_cli.predict_file(directory / "rows", directory / "m", directory / "out")
    assert [str(each.message) for each in caught] == [f"{each}." for each in found]


@pytest.mark.full
def test_expansions_know_their_features_but_no_vectors(directory):
    (directory / "wide").write_text(WIDE)
    forked.fastsvm(["approx", "-q", "--certify", "wide", "m"], cwd=directory, check=True)
    assert warned(directory, "rows", "m", text="4 1:1\n" * 20) == []
    assert warned(directory, "rows", "m", text="4 4:1\n" * 11 + "4 3:1\n" * 9) == [BEYOND]
    assert warned(directory, "rows", "m", text="4 0:1\n" * 20) == [LACKS_0.format(20)]
    (directory / "wide").write_text(FROM_0)
    forked.fastsvm(["approx", "-q", "--certify", "wide", "m"], cwd=directory, check=True)
    assert warned(directory, "rows", "m", text="4 0:1\n" * 20) == []


def test_the_features_of_several_parts_are_those_of_the_whole():
    one, whole = RunCounts(True), RunCounts(True)
    one.rows, one.rows_beyond, one.rows_with_zero, one.largest_feature = 5, 1, 2, 7
    whole.rows, whole.rows_beyond, whole.rows_with_zero, whole.largest_feature = 6, 3, 4, 3
    whole.add_values(one.values())
    assert (whole.rows, whole.rows_beyond, whole.rows_with_zero, whole.largest_feature) == (11, 4, 6, 7)


def test_a_run_that_goes_on_counts_all_rows(directory, fastsvm):
    (directory / "rows").write_text("4 1:1\n" * 3 + "1 1:1\n" * 7 + "x\n")
    fastsvm("predict", "--resume", "rows", "m", "out", code=1)
    done = fastsvm("predict", "--on-bad-row=skip", "--resume", "rows", "m", "out")
    assert "Warning: 7 of 10 rows have labels other than the model's (4, 7).\n" in done.err


def test_predict_file_warns_in_its_own_words(directory):
    (directory / "rows").write_text("0.5,1,1\n" * 10)
    arguments = directory / "rows", directory / "m", directory / "out"
    with pytest.warns(UserWarning, match="; if the first column is no label, pass unlabelled=True."):
        fastsvm_cli.predict_file(*arguments, dense=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastsvm_cli.predict_file(*arguments, dense=True, unlabelled=True)
