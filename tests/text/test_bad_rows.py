"""Malformed lines: each one's message at every interface, and, with --on-bad-row skip or nan, the good rows' lines,
which are those of the file without them."""

import json
import random
import re

import pytest

import fastsvm_cli
from fastsvm_cli._native import MOST_NAMED
from fastsvm_cli.errors import DataFormatError
from support import forked
from support.bad_rows import BAD, PRECOMPUTED, RANGE, SPARSE, TABLE, options_of_reader, spoil
from support.messages import SKIPPED, cases
from support.outputs import timeless
from support.paths import PROGRAM
from support.processes import outcome
from support.reading import SIZES, read
from support.scaling import read_scaling
from zoo.traits import specimen

# ---- messages


def reader(folder, model, options, reading):
    if "--scale" in options:
        reading = {"scaling": read_scaling(folder / "range")}
    found = [read(folder / "data", name="data", size=size, **reading) for size in SIZES]
    assert all(each == found[0] for each in found) and len(found[0][0]) == 1
    return found[0][1]


def program(folder, model, options, reading):
    done = outcome([PROGRAM, "-q", "data", model, "-"], cwd=folder)
    return said(done)


def command(folder, model, options, reading):
    return said(forked.fastsvm(["predict", "-q", *options, "data", model, "-"], cwd=folder, text=True))


def said(done):
    assert done.returncode == 1 and done.stdout.count("\n") == 1 and done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("Error: ").removesuffix("\n")


def predict_file(folder, model, options, reading):
    words = {name: value for name, value in reading.items() if name != "labelled"}
    words["unlabelled"] = "labelled" in reading
    with pytest.raises(DataFormatError) as caught:
        fastsvm_cli.predict_file(folder / "data", model, folder / "out", **words)
    assert not (folder / "out").exists()
    return str(caught.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    "ask, group",
    [
        *((reader, group) for group in TABLE),
        *((command, group) for group in TABLE),
        (program, "sparse"),
        *((predict_file, group) for group in TABLE if group != "scaled"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_an_invalid_line_is_named_in_one_line_after_the_rows_before_it(tmp_path, model, ask, group):
    good, options, lines = TABLE[group]
    reading = options_of_reader(options)
    (tmp_path / "range").write_text(RANGE)
    # A few of the command and of predict_file, which call the core as the program does.
    for line, message in list(lines.items())[:: 1 if ask in (reader, program) else 13]:
        for end in ("\n", "\r\n")[: 1 + (ask is reader)]:
            (tmp_path / "data").write_bytes(f"{good}{end}{line}{end}{good}{end}".encode())
            found = ask(tmp_path, model(), options, reading)
            expected = f"data:2: {message}"
            assert found.isprintable() and (found == expected or (ask is command and found.startswith(expected))), line


# ---- skip and nan


@pytest.mark.full(few=1)
@pytest.mark.parametrize("trait, kind, options", cases("good rows among bad ones"))
def test_the_good_rows_are_those_of_the_file_without_the_bad_ones(fastsvm, model, tmp_path, trait, kind, options):
    words = [model(trait, "exact") if word == "EXACT" else word for word in options.split()]
    fast, lines = model(trait, kind), specimen(trait).data.decode().splitlines(keepends=True) * 2
    text, where = spoil(lines, random.Random(trait + options))
    (tmp_path / "good").write_text("".join(lines)), (tmp_path / "bad").write_text(text)
    whole = fastsvm("predict", *words, "good", fast, "expected")
    without = fastsvm("predict", "--on-bad-row", "skip", *words, "good", fast, "expected")
    assert (without.out, without.err) == (whole.out, whole.err)
    summary = json.loads(timeless(fastsvm("predict", "--json", *words, "good", fast, "expected").out))
    assert "bad_rows" not in summary
    expected = (tmp_path / "expected").read_text().splitlines()

    done = fastsvm("predict", "--on-bad-row", "skip", *words, "bad", fast, "out")
    assert (tmp_path / "out").read_text().splitlines() == expected and done.out == whole.out
    named = [line for line in done.err.splitlines() if line.startswith("Warning: ")]
    assert named == [f"Warning: bad:{number}: {BAD[line]}" for number, line in where[:MOST_NAMED]]
    rest = [line for line in done.err.splitlines() if line not in named]
    assert sorted(rest) == sorted(
        [f"Bad rows: {len(where)} of {len(lines) + len(where)} lines, left out.", *whole.err.splitlines()]
    )

    done = fastsvm("predict", "--on-bad-row", "nan", "--json", *words, "bad", fast, "out")
    assert json.loads(timeless(done.out)) == {**summary, "bad_rows": len(where)}
    found = (tmp_path / "out").read_text().splitlines()
    head = len(expected) - len(lines)  # first line of -b 1
    bad = {number for number, _ in where}
    assert [line for at, line in enumerate(found, 1 - head) if at not in bad] == expected
    columns = len(expected[-1].split())
    assert {line for at, line in enumerate(found, 1 - head) if at in bad} == {" ".join(["nan"] * columns)}


@pytest.mark.parametrize("text", ["", "foo", "\n\n\n", pytest.param("x\n" * 100_000, marks=pytest.mark.full)], ids=len)
def test_a_file_of_bad_rows_alone_is_read_to_its_end(fastsvm, model, tmp_path, text):
    (tmp_path / "bad").write_text(text)
    lines = len(text.splitlines())
    for mode, expected in (("skip", ""), ("nan", "nan\n" * lines)):
        done = fastsvm("predict", "--on-bad-row", mode, "--json", "bad", model(), "out")
        assert (tmp_path / "out").read_text() == expected
        found = json.loads(done.out)
        assert [found[name] for name in ("rows", "bad_rows", "accuracy", "correct")] == [0, lines, None, 0]
        assert done.err.count("Warning: bad:") == min(lines, MOST_NAMED)
    done = fastsvm("predict", "--on-bad-row", "nan", "-b", 1, "bad", model("two_classes", "exact"))
    assert re.fullmatch(r"labels -?\d+ -?\d+\n" + "(nan nan nan\n){%d}" % lines, done.out)


@pytest.mark.parametrize("threads", [1, 2])
def test_precomputed_rows_without_their_serials_are_bad_rows(fastsvm, tmp_path, threads):
    good = ["1 0:1 1:0.5 2:0.25 3:0.125\n", "# c\n", "-1 0:2 1:0.1 2:0.2 3:0.9\n"]
    missing = "1 qid:2 0:3 1:0.5"
    (tmp_path / "model").write_text(PRECOMPUTED)
    text, where = spoil(good * 400, random.Random(threads), (missing, "foo 1:1"))
    (tmp_path / "good").write_text("".join(good * 400)), (tmp_path / "bad").write_text(text)
    expected = fastsvm("predict", "good", "model").out.splitlines()
    done = fastsvm("predict", "--threads", threads, "--on-bad-row", "nan", "bad", "model")
    assert len(expected) == 800 and [line for line in done.out.splitlines() if line != "nan"] == expected
    rows = [at for at, line in enumerate(text.splitlines(), 1) if line != "# c"]
    assert [rows[at] for at, line in enumerate(done.out.splitlines()) if line == "nan"] == [at for at, _ in where]
    says = {
        missing: "a row without the serials 0 to 3 found, expected every one of them: the kernel is precomputed",
        "foo 1:1": SPARSE["foo 1:1"],
    }
    named = [line for line in done.err.splitlines() if line.startswith("Warning: ")]
    assert named == [f"Warning: bad:{number}: {says[line]}" for number, line in where[:MOST_NAMED]]
    assert f"Bad rows: {len(where)} of {len(where) + 800} lines, each a line of nan." in done.err
    assert fastsvm("predict", "--on-bad-row", "skip", "bad", "model").out.splitlines() == expected
    stop = fastsvm("predict", "bad", "model", code=1).err.splitlines()[-1]
    assert stop == f"Error: bad:{where[0][0]}: {says[where[0][1]]}{SKIPPED}"
