"""Malformed lines with --on-bad-row skip or nan: the good rows' lines are those of the file without them, and errors
are named and counted."""

import json
import random
import subprocess

import pytest

from fastsvm_cli.text.line_blocks import NAMED
from support.bad_rows import BAD, PRECOMPUTED, spoil
from support.messages import BLANK, SKIPPED, no_label, no_number
from support.outputs import timeless
from support.paths import FASTSVM
from support.processes import PATIENCE
from support.reading import COMPRESS

#: Model -> options.
GOOD = {
    "rings.model": ["", "-b 1", "--values", "-b 1 --values"],
    "rings.approx": ["--values"],
    "rings.cert": ["--values", "-b 1 --values", "--exact rings.model", "--exact rings.model --values -b 1"],
    "colors.model": ["-b 1", "--values"],
    "colors.cert": ["-b 1 --values --exact colors.model"],
    "colors.red": ["--values", "-b 1 --exact colors.model"],
    "waves.model": ["", "-b 1 --values"],
    "one.model": ["-b 1 --values", ""],
    "rings.order": ["--values", "--steps 3 --values"],
    "colors.order": ["--steps 3 --values", "-b 1"],
}


@pytest.mark.full(few=1)
@pytest.mark.parametrize("model, options", [(model, each) for model in GOOD for each in GOOD[model]])
def test_the_good_rows_are_those_of_the_file_without_the_bad_ones(fastsvm, models, tmp_path, model, options):
    name = model.split(".")[0]
    options = [str(models / word) if word.endswith(".model") else word for word in options.split()]
    lines = (models / f"{name}.rows").read_text().splitlines(keepends=True)
    text, where = spoil(lines, random.Random(model + str(options)))
    (tmp_path / "good").write_text("".join(lines)), (tmp_path / "bad").write_text(text)
    whole = fastsvm("predict", *options, "good", models / model, "expected")
    summary = json.loads(timeless(fastsvm("predict", "--json", *options, "good", models / model, "expected").out))
    expected = (tmp_path / "expected").read_text().splitlines()

    done = fastsvm("predict", "--on-bad-row", "skip", *options, "bad", models / model, "out")
    assert (tmp_path / "out").read_text().splitlines() == expected and done.out == whole.out
    named = [line for line in done.err.splitlines() if line.startswith("Warning: ")]
    assert named == [f"Warning: bad:{number}: {BAD[line]}" for number, line in where[:NAMED]]
    rest = [line for line in done.err.splitlines() if line not in named]
    assert sorted(rest) == sorted(
        [f"Bad rows: {len(where)} of {len(lines) + len(where)} lines, left out.", *whole.err.splitlines()]
    )

    done = fastsvm("predict", "--on-bad-row", "nan", "--json", *options, "bad", models / model, "out")
    assert json.loads(timeless(done.out)) == {**summary, "bad_rows": len(where)}
    found = (tmp_path / "out").read_text().splitlines()
    head = len(expected) - len(lines)  # first line of -b 1
    bad = {number for number, _ in where}
    assert len(found) == head + len(lines) + len(where)
    assert [line for at, line in enumerate(found, 1 - head) if at not in bad] == expected
    columns = len(expected[-1].split())
    assert {line for at, line in enumerate(found, 1 - head) if at in bad} == {" ".join(["nan"] * columns)}


def test_a_bad_row_ends_the_run_unless_it_is_said(fastsvm, models, tmp_path):
    (tmp_path / "bad").write_text("1 1:1\nfoo\n1 1:1\n")
    (tmp_path / "out").write_text("before\n")
    for options in ([], ["--on-bad-row", "stop"]):
        done = fastsvm("predict", *options, "bad", models / "rings.approx", "out", code=1)
        assert done.err.splitlines()[-1] == f"Error: bad:2: {no_label('foo')}{SKIPPED}"
        assert (tmp_path / "out").read_text() == "before\n"
    assert (
        json.loads(fastsvm("predict", "--json", "bad", models / "rings.approx", "out", code=1, input="").out or "{}")
        == {}
    )
    assert "bad_rows" not in json.loads(
        fastsvm("predict", "--json", models / "rings.rows", models / "rings.approx", "out").out
    )


def test_without_bad_rows_nothing_is_said_of_them(fastsvm, models):
    plain = fastsvm("predict", models / "rings.rows", models / "rings.approx", "out")
    done = fastsvm("predict", "--on-bad-row", "skip", models / "rings.rows", models / "rings.approx", "out")
    assert (done.out, done.err) == (plain.out, plain.err)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("text", ["", "foo", "foo\n", "\n\n\n", "foo\nbar", "x\n" * 100_000])
def test_a_file_of_bad_rows_alone_is_read_to_its_end(fastsvm, models, tmp_path, text):
    (tmp_path / "bad").write_text(text)
    lines = len(text.splitlines())
    for mode, expected in (("skip", ""), ("nan", "nan\n" * lines)):
        done = fastsvm("predict", "--on-bad-row", mode, "--json", "bad", models / "rings.approx", "out")
        assert (tmp_path / "out").read_text() == expected
        reported = json.loads(done.out)
        assert (reported["rows"], reported["bad_rows"], reported["accuracy"], reported["correct"]) == (
            0,
            lines,
            None,
            0,
        )
        assert done.err.count("Warning: bad:") == min(lines, NAMED)
    assert (
        fastsvm("predict", "--on-bad-row", "nan", "-b", 1, "bad", models / "rings.model").out
        == "labels 1 -1\n" + "nan nan nan\n" * lines
    )


def test_a_slow_pipe_gets_an_answer_for_a_bad_row_at_once(models):
    process = subprocess.Popen(
        [FASTSVM, "predict", "-q", "--on-bad-row", "nan", "-", str(models / "rings.approx")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for line, answers in (
        (b"1 1:0.5\n", (b"1\n", b"-1\n")),
        (b"foo\n", (b"nan\n",)),
        (b"\n", (b"nan\n",)),
        (b"-1 2:1\n", (b"1\n", b"-1\n")),
    ):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() in answers  # would hang if rows were gathered
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("kind", [None, *COMPRESS])
def test_bad_rows_of_compressed_files(fastsvm, models, tmp_path, kind):
    text, where = spoil((models / "rings.rows").read_text().splitlines(keepends=True) * 50, random.Random(1))
    (tmp_path / "bad").write_bytes(COMPRESS[kind](text.encode()) if kind else text.encode())
    done = fastsvm("predict", "--on-bad-row", "nan", "bad", models / "rings.approx")
    assert [at for at, line in enumerate(done.out.splitlines(), 1) if line == "nan"] == [number for number, _ in where]


@pytest.mark.full(few=2)
@pytest.mark.parametrize("mode", ["skip", "nan"])
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_compressed_file_that_is_cut_off_is_no_bad_row(fastsvm, models, tmp_path, kind, mode):
    (tmp_path / "cut").write_bytes(COMPRESS[kind]((models / "rings.rows").read_bytes() * 20)[:-9])
    (tmp_path / "out").write_text("before\n")
    done = fastsvm("predict", "--on-bad-row", mode, "cut", models / "rings.approx", "out", code=1)
    assert done.err.splitlines()[-1] == f"Error: cut: the {kind} data ends too early"
    assert (tmp_path / "out").read_text() == "before\n"


def test_dense_rows_are_as_long_as_the_first_good_one(fastsvm, models, tmp_path):
    (tmp_path / "dense.csv").write_text("label,a,b\n\n1,0.5,-1\n1,2\n-1,0.5,1,7\n-1,x,1\n-1,0,0.25\n")
    (tmp_path / "same").write_text("1 1:0.5 2:-1\n-1 2:0.25\n")
    done = fastsvm("predict", "--dense", "--on-bad-row", "nan", "dense.csv", models / "rings.approx")
    first, second = fastsvm("predict", "same", models / "rings.approx").out.splitlines()
    assert done.out.splitlines() == ["nan", "nan", first, "nan", "nan", "nan", second]
    assert [
        line.removeprefix("Warning: dense.csv:") for line in done.err.splitlines() if line.startswith("Warning: ")
    ] == [
        f"1: {no_label('label')}",
        f"2: {BLANK}",
        "4: 1 values found, expected 2 as in the first row",
        "5: 3 values found, expected 2 as in the first row",
        f"6: {no_number('x')}",
    ]


def test_unlabelled_rows(fastsvm, models, tmp_path):
    (tmp_path / "bare").write_text("1:0.5 2:-1\n\nfoo\n1:1\n")
    done = fastsvm("predict", "--unlabelled", "--on-bad-row", "nan", "bare", models / "rings.approx")
    # A blank line of unlabelled data is the zero vector.
    assert [line == "nan" for line in done.out.splitlines()] == [False, False, True, False]
    assert "Accuracy" not in done.err and "Bad rows: 1 of 4 lines, each a line of nan.\n" in done.err


@pytest.mark.full(few=1)
@pytest.mark.parametrize("threads", [1, 2])
def test_precomputed_rows_without_their_serials_are_bad_rows(fastsvm, tmp_path, threads):
    good = ["1 0:1 1:0.5 2:0.25 3:0.125\n", "-1 0:2 1:0.1 2:0.2 3:0.9\n"]
    missing = "1 0:3 1:0.5\n"
    (tmp_path / "model").write_text(PRECOMPUTED)
    rng = random.Random(threads)
    text, where = spoil(good * 400, rng, (missing, "foo"))
    text = text.replace(missing + "\n", missing)
    (tmp_path / "good").write_text("".join(good * 400)), (tmp_path / "bad").write_text(text)
    expected = fastsvm("predict", "good", "model").out.splitlines()
    done = fastsvm("predict", "--threads", threads, "--on-bad-row", "nan", "bad", "model")
    bad = {number for number, _ in where}
    assert [line for at, line in enumerate(done.out.splitlines(), 1) if at not in bad] == expected
    assert [line for at, line in enumerate(done.out.splitlines(), 1) if at in bad] == ["nan"] * len(bad)
    says = {
        missing: "a row without the serials 0 to 3 found, expected every one of them: the kernel is precomputed",
        "foo": BAD["foo"],
    }
    named = [line for line in done.err.splitlines() if line.startswith("Warning: ")]
    assert named == [f"Warning: bad:{number}: {says[line]}" for number, line in where[:NAMED]]
    assert f"Bad rows: {len(bad)} of {len(bad) + 800} lines, each a line of nan." in done.err
    assert fastsvm("predict", "--on-bad-row", "skip", "bad", "model").out.splitlines() == expected
    stop = fastsvm("predict", "bad", "model", code=1).err.splitlines()[-1]
    assert stop == f"Error: bad:{where[0][0]}: {says[where[0][1]]}{SKIPPED}"
