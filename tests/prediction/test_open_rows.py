"""--open-rows and --outside-rows: rows that a fast model does not prove, or outside its bound, with line numbers. The
expected rows follow from the models' radii and the bound's formula."""

import json
import os
import random

import numpy as np
import pytest

from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support import oracles
from support.evaluation import decide
from support.in_process import answered
from support.messages import cases, table
from support.open_rows import CASES, bits, expected_open, is_row, parsed
from support.outputs import timeless
from support.paths import FASTSVM
from support.processes import outcome, peak_memory


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "case, way",
    [(case, way) for way in ("radii", "exact") for case in CASES if (case, way) != ("steps", "exact")]
    + [("four", "values"), ("steps", "values")],
)
def test_open_rows_are_those_the_radii_leave_open(fastsvm, models, tmp_path, case, way):
    fast, options = CASES[case]
    fast = models / fast
    rows = fast.with_suffix(".awkward")
    options = [*options, *["--values"] * (way == "values")]
    lines = rows.read_text().splitlines(keepends=True)
    requested = expected_open(models, case, rows)
    assert 3 < len(requested) < len(lines) - 3  # otherwise nothing is tested
    exact = ["--exact", fast.with_suffix(".model")] if way == "exact" else []
    given = [*options, *exact, rows, fast]
    done = fastsvm("predict", "--json", "--open-rows", "open", *given, "out")
    if case != "regression" or exact:
        plain = fastsvm("predict", "--json", *given, "plain")
        assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes()
        plain, with_open = (json.loads(timeless(each.out)) for each in (plain, done))
        assert all(with_open[key] == plain[key] for key in plain if not key.startswith("rows_"))
    written = (tmp_path / "open").read_text().splitlines(keepends=True)
    assert [parsed(line)[2] for line in written] == requested
    assert [parsed(line)[:2] for line in written] == [parsed(lines[number - 1])[:2] for number in requested]

    answering = options if exact or case != "regression" else options[2:]  # without --tolerance
    again = fastsvm("predict", *answering, *exact, "open", fast, "again")
    answers = (tmp_path / "out").read_text().splitlines()
    assert (tmp_path / "again").read_text().splitlines() == [answers[number - 1] for number in requested], str(again)

    summary = json.loads(done.out)
    assert summary["rows_open"] == len(requested)
    if exact:
        assert summary["rows_evaluated"] == len(requested)
    elif case == "steps":
        assert summary["rows_decided"] == len(lines) - len(requested)
    else:
        text = fastsvm("predict", "--open-rows", "open", *given, "out").err
        assert f"Proven: {len(lines) - len(requested)} of {len(lines)} rows" in text and "undecided" in text


@pytest.mark.full(few=1)
@pytest.mark.parametrize("threads, end, options", cases("open rows of data"))
def test_whatever_the_data_comes_as(fastsvm, models, tmp_path, threads, end, options):
    plain, fast = models / "four.rows", models / "four.cert"
    source, given = (tmp_path / "data", {}) if end in ("-", "crlf") else (models / f"four.{end}", {})
    (tmp_path / "data").write_bytes(plain.read_bytes().replace(b"\n", b"\r\n"))
    if end == "-":
        source, given = "-", {"input": plain.read_bytes()}
    fastsvm("predict", "--threads", threads, "--open-rows", "open", *options.split(), source, fast, "out", **given)
    lines = plain.read_text().splitlines()
    numbers = range(1 + (end == "csv"), len(lines) + 1 + (end == "csv"))  # a line of names
    if end in ("bad", "dressed"):
        numbers = [at for at, line in enumerate(source.read_text().splitlines(), 1) if is_row(line)]
    requested = expected_open(models, "four", plain)
    written = [parsed(line) for line in (tmp_path / "open").read_text().splitlines()]
    assert [line[2] for line in written] == [numbers[number - 1] for number in requested] and len(requested) > 3
    for (label, row, _), number in zip(written, requested):
        expected = parsed(lines[number - 1])
        if end == "csv":
            row, expected = list(row), (expected[0], list(expected[1]))
        assert row == expected[1] and label == (bits(0.0) if end == "bare" else expected[0])
    if end not in ("bad", "csv"):
        fastsvm("predict", "-q", "open", fast, "again")
        answers = (tmp_path / "out").read_text().splitlines()
        assert (tmp_path / "again").read_text().splitlines() == [answers[number - 1] for number in requested]


@pytest.mark.full
def test_outside_rows_are_those_that_are_counted(fastsvm, models, tmp_path):
    """methods/approx/test_expansion.py compares the counts with eq. (3.11)."""
    rng = random.Random(2)
    sizes = (10 ** rng.uniform(-2, 2.5) for _ in range(300))
    text = oracles.data_text([{index: size * rng.gauss(0, 1) for index in range(1, 6)} for size in sizes])
    (tmp_path / "rows").write_bytes(text)
    lines = text.decode().splitlines(keepends=True)
    words = ["predict", "--json", "--outside-rows"]
    fastsvm(*words, "outside", "rows", models / "two.approx", "out")
    written = [parsed(line) for line in (tmp_path / "outside").read_text().splitlines()]
    assert [line[:2] for line in written] == [parsed(lines[line[2] - 1])[:2] for line in written]
    outside = {line[2] for line in written}
    (tmp_path / "inside").write_text("".join(line for at, line in enumerate(lines, 1) if at not in outside))
    assert 10 < len(outside) < 290
    for name, count in (("rows", len(outside)), ("outside", len(outside)), ("inside", 0)):
        done = fastsvm(*words, "o", name, models / "two.approx", "out")
        assert json.loads(done.out)["rows_outside_bound"] == count


@pytest.mark.full
def test_nothing_is_known_only_where_nothing_is(fastsvm, models, tmp_path):
    """Certified models have radii; eq. (3.11) is for degree 2 only."""
    (tmp_path / "far").write_text("100 1:50 2:50\n" * 3)
    for source, options, ending in (
        ("two", ["--degree", 2], "bench tells how many labels differ."),
        ("regression", ["--degree", 2], "bench tells how far they are."),
        ("two", ["--certify"], None),
        *(("two", ["--degree", degree], None) for degree in (1, 3, 4)),
    ):
        fastsvm("approx", "-q", *options, models / f"{source}.model", "fast")
        note = (
            "Note: 3 of 3 rows (100 %) are outside the bound of the expansion (Claesen et al., eq. 3.11): nothing is"
            f" known of how near their values are to the exact model's. fastsvm {ending}\n"
        )
        assert fastsvm("predict", "far", "fast", "out").err == ("" if ending is None else note)


def test_both_files_and_a_pipeline(fastsvm, models, tmp_path):
    """Open rows go through a pipe to the exact model, and return as labels."""
    rows, model = models / "two.awkward", models / "two.cert"
    fastsvm("predict", "-q", "--open-rows", "open", "--outside-rows", "outside", rows, model, "out")
    piped = fastsvm("predict", "--open-rows", "-", "--outside-rows", "outside2", rows, model, "out2")
    assert piped.out == (tmp_path / "open").read_text() and "Accuracy" in piped.err
    for name in ("outside", "out"):
        assert (tmp_path / f"{name}2").read_bytes() == (tmp_path / name).read_bytes()
    labels = fastsvm("predict", "-q", "-", models / "two.model", input=piped.out).out.split()
    fastsvm("predict", "-q", "--exact", models / "two.model", rows, model, "exact")
    merged = (tmp_path / "out").read_text().split()
    for line, label in zip(piped.out.splitlines(), labels, strict=True):
        merged[parsed(line)[2] - 1] = label
    assert merged == (tmp_path / "exact").read_text().split()


def test_svm_predict_reads_open_rows(fastsvm, models, tmp_path, svm_predict):
    lines = (models / "two.awkward").read_text().splitlines(keepends=True)
    lines = [line for line in lines if "e-324" not in line and ": 17" not in line]  # LIBSVM refuses these
    (tmp_path / "rows").write_text("".join(lines))
    fastsvm("predict", "-q", "--open-rows", "open", "rows", models / "two.cert", "out")
    for test in ("rows", "open"):
        outcome([svm_predict, test, models / "two.model", f"{test}.out"], cwd=tmp_path, check=True)
    answers, again = ((tmp_path / f"{test}.out").read_text().splitlines() for test in ("rows", "open"))
    written = [parsed(line)[2] for line in (tmp_path / "open").read_text().splitlines()]
    assert len(written) > 3 and again == [answers[line - 1] for line in written]


@pytest.mark.full
def test_probabilities_that_the_radii_leave_open(fastsvm, models, tmp_path):
    """-b 1 proves a row of two classes if both ends of its interval print alike; a row of more never."""
    for name, options in (("four", []), ("two", ["--exact", models / "two.model"]), ("two", [])):
        words = ["predict", "--json", "-b", 1, "--open-rows", "open", *options, models / f"{name}.awkward"]
        summary = json.loads(fastsvm(*words, models / f"{name}.cert", "out").out)
        found = {parsed(line)[2] for line in (tmp_path / "open").read_text().splitlines()}
        assert summary["rows_open"] == len(found) > 3 and (name == "two" or len(found) == 200)
    model = load_model(str(models / "two.cert"))
    (chunk,) = read_chunks(str(models / "two.awkward"))
    values, radii = (each[:, 0] for each in decide(model, chunk))
    ends = [
        ["%g" % p for p in 1 / (1 + np.exp(model.header.probA[0] * each + model.header.probB[0]))]
        for each in (values - radii, values + radii)
    ]
    requested = {at for at, (low, high) in enumerate(zip(*ends), 1) if low != high}
    assert requested <= found and len(requested) > 3


# ---- reasons, failing runs, memory


@pytest.mark.full
def test_refused_in_one_line_before_any_work(fastsvm, models, tmp_path):
    (tmp_path / "rows").write_text("this is no row\n")  # would be reported if read
    (tmp_path / "out").write_text("before")
    os.symlink("out", tmp_path / "link")
    os.link(tmp_path / "out", tmp_path / "hard")
    for options, model, message in table("messages.txt", "open rows"):
        output = [] if options == "--open-rows -" else ["out"]
        done = fastsvm("predict", *options.split(), "rows", models / model, *output, code=None)
        assert done.code in (1, 2) and done.err.splitlines()[-1] == message.format(models / model)
        assert sorted(os.listdir(tmp_path)) == ["hard", "link", "out", "rows"]
        assert (tmp_path / "out").read_text() == "before"


def test_nothing_goes_down_a_pipe_before_the_exact_model_is_known(fastsvm, models):
    given = [models / "two.rows", models / "two.cert"]
    done = fastsvm("predict", "--open-rows", "-", "--exact", models / "four.model", *given, "out", code=1)
    assert done.out == "" and "fingerprints differ" in done.err
    fastsvm(*"predict -q --open-rows /dev/null --outside-rows /dev/null".split(), *given, "/dev/null")
    # A reduced set's probabilities need the exact model.
    given = ["predict", "-q", "-b", 1, "--open-rows", "o", models / "two.rows", models / "two.red", "out"]
    assert "--open-rows with -b 1 needs --exact" in fastsvm(*given, code=2).err
    fastsvm(*given[:1], "--exact", models / "two.model", *given[1:])


def test_a_run_that_fails_leaves_every_file_as_it_was(fastsvm, models, tmp_path):
    names = ["open", "out", "outside"]
    for name in names:
        (tmp_path / name).write_text(f"{name} of before")
    (tmp_path / "bad").write_text((models / "two.rows").read_text() + "foo\n")
    words = ["predict", "--open-rows", "open", "--outside-rows", "outside"]
    fastsvm(*words, "bad", models / "two.cert", "out", code=1)
    fastsvm(*words, "--exact", models / "four.model", "bad", models / "two.cert", "out", code=1)
    assert sorted(os.listdir(tmp_path)) == ["bad", *names]
    assert all((tmp_path / name).read_text() == f"{name} of before" for name in names)
    (tmp_path / "none").write_text("")
    fastsvm(*words, "none", models / "two.cert", "out")
    assert all((tmp_path / name).read_bytes() == b"" for name in names)


@pytest.mark.full
def test_memory_does_not_grow_with_the_rows(models, tmp_path):
    text = (models / "two.awkward").read_text()
    (tmp_path / "short").write_text(text * 100)
    (tmp_path / "long").write_text(text * 600)
    options = ["-q", "--threads", 1, "--open-rows", "open", "--outside-rows", "outside"]
    short, long = (
        peak_memory(FASTSVM, "predict", *options, name, models / "two.cert", "out", cwd=tmp_path)
        for name in ("short", "long")
    )
    assert (tmp_path / "open").stat().st_size > 1e6 and long < short + 6e6, (short, long)


@pytest.mark.parametrize("skipping", [False, True])
def test_line_numbers_of_rows_that_are_evaluated_a_few_at_a_time(models, tmp_path, skipping):
    lines = (models / "four.rows").read_bytes().splitlines(keepends=True)
    (tmp_path / "rows").write_bytes(
        b"".join(b"foo\n" * (skipping and at % 5 == 0) + line for at, line in enumerate(lines))
    )
    requested = expected_open(models, "four", models / "four.rows")
    if skipping:
        requested = [number + (number - 1) // 5 + 1 for number in requested]
    how = {"open_file": "open", "on_bad_row": "skip" if skipping else "stop"}
    _, _, written, _, _ = answered(load_model(str(models / "four.cert")), tmp_path / "rows", size=300, **how)
    assert [parsed(line)[2] for line in written.decode().splitlines()] == requested
