"""Kernel evaluations per row of an ordered model: predict --evaluations and the summary."""

import json

import numpy as np
import pytest

from fastsvm_cli.text.fingerprint import fingerprint
from support.oracles import random_machine, random_rows
from support.ordering import COMPILERS, exact_model, spread
from support.outputs import timeless

pytestmark = pytest.mark.usefixtures("serial_libsvm")


@pytest.fixture
def ordered_file(tmp_path):
    def write(method, classes=2, probability=False, svm_type="c_svc"):
        rng = np.random.default_rng(72)
        machine = spread(rng, 120, "rbf", d=3, classes=classes)
        machine = random_machine(
            rng, svm_type, "rbf", machine.vectors, nr_class=classes, gamma=0.5, probability=probability
        )
        (tmp_path / "exact").write_bytes(machine.text())
        compiled = COMPILERS[method](exact_model(machine), fingerprint=fingerprint(machine.text()))
        (tmp_path / "ordered").write_bytes(compiled.to_text())
        rows = random_rows(rng, 70, [1, 2, 3], scale=2)
        (tmp_path / "rows").write_text(
            "".join("1 " + " ".join(f"{i}:{v!r}" for i, v in sorted(row.items())) + "\n" for row in rows)
        )
        return machine, rows

    return write


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method", COMPILERS)
@pytest.mark.parametrize("options", [[], ["--values"], ["-b", 1]], ids=str)
def test_evaluations_of_every_row_end_its_line(fastsvm, ordered_file, method, options):
    ordered_file(method, probability=True)
    plain = fastsvm("predict", *options, "rows", "ordered")
    counted = fastsvm("predict", *options, "--evaluations", "rows", "ordered")
    assert counted.err == plain.err
    head = options[:1] == ["-b"]  # line of label names
    words = [line.rsplit(" ", 1) for line in counted.out.splitlines()[head:]]
    assert [line for line, _ in words] == plain.out.splitlines()[head:]
    evaluations = [int(count) for _, count in words]
    assert f"Kernel evaluations: {sum(evaluations)} of {70 * 120} " in plain.err
    assert len(set(evaluations)) > 2 if not options else min(evaluations) >= 120


def test_evaluations_with_steps_and_an_exact_model(fastsvm, ordered_file, tmp_path):
    ordered_file("geometry")
    done = fastsvm("predict", "--steps", 9, "--values", "--evaluations", "rows", "ordered")
    words = [line.split() for line in done.out.splitlines()]
    assert all(len(row) == 5 and row[4] == "9" for row in words)
    fastsvm("predict", "-q", "--steps", 9, "--exact", "exact", "--evaluations", "rows", "ordered", "out")
    summary = json.loads(
        fastsvm("predict", "--json", "--steps", 9, "--exact", "exact", "rows", "ordered", "labels").out
    )
    assert summary["kernel_evaluations"] == 9 * 70 + 120 * summary["rows_evaluated"]
    assert 0 < summary["rows_evaluated"] < 70
    counts = [line.split()[1] for line in (tmp_path / "out").read_text().splitlines()]
    assert set(counts) == {"9", "129"} and counts.count("129") == summary["rows_evaluated"]


def test_json_tells_evaluations_per_row(fastsvm, ordered_file):
    for method in COMPILERS:
        ordered_file(method)
        summary = json.loads(fastsvm("predict", "--json", "rows", "ordered", "out").out)
        assert summary["kernel_evaluations_per_row"] == summary["kernel_evaluations"] / 70 > 0
    assert (
        json.loads(fastsvm("predict", "--json", "-", "ordered", "out", input="").out)["kernel_evaluations_per_row"]
        is None
    )


def test_evaluations_of_a_tolerance(fastsvm, ordered_file):
    ordered_file("geometry", svm_type="epsilon_svr")
    loose, tight = (
        [
            int(line.split()[1])
            for line in fastsvm(
                "predict", "-q", "--tolerance", tolerance, "--evaluations", "rows", "ordered"
            ).out.splitlines()
        ]
        for tolerance in (3, 1e-9)
    )
    assert max(loose) < 120 <= min(tight)


def test_evaluations_of_several_classes_with_an_exact_model(fastsvm, ordered_file, tmp_path):
    """For open rows the exact model gives no values, but its evaluations count."""
    ordered_file("geometry", classes=4)
    options = ("--steps", 9, "--exact", "exact", "rows", "ordered")
    summary = json.loads(fastsvm("predict", "--json", *options, "labels").out)
    assert 0 < summary["rows_evaluated"] and summary["rows_by_reference_sum"] == 0
    assert summary["kernel_evaluations"] == 9 * 70 + 120 * summary["rows_evaluated"]
    fastsvm("predict", "-q", "--evaluations", *options, "out")
    words = [line.split() for line in (tmp_path / "out").read_text().splitlines()]
    assert [row[0] for row in words] == (tmp_path / "labels").read_text().split()
    assert sum(int(count) for _, count in words) == summary["kernel_evaluations"]
    fastsvm("predict", "-q", "--evaluations", "--values", *options, "out")
    assert [line.split()[-1] for line in (tmp_path / "out").read_text().splitlines()] == [count for _, count in words]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("method", COMPILERS)
def test_a_bad_row_is_a_line_of_nan_with_one_for_its_evaluations(fastsvm, ordered_file, tmp_path, method):
    ordered_file(method)
    good = (tmp_path / "rows").read_text().splitlines(keepends=True)
    (tmp_path / "damaged").write_text("".join([*good[:5], "1 no row\n", *good[5:]]))
    for options, width in ((["--evaluations"], 2), (["--evaluations", "--values"], 3)):
        expected = fastsvm("predict", "-q", *options, "rows", "ordered").out.splitlines()
        done = fastsvm("predict", "--on-bad-row", "nan", *options, "damaged", "ordered")
        assert done.out.splitlines() == [*expected[:5], " ".join(["nan"] * width), *expected[5:]]
        assert f"Kernel evaluations: {sum(int(line.split()[-1]) for line in expected)} of {70 * 120} " in done.err


@pytest.mark.full
def test_a_resumed_run_counts_the_evaluations_of_the_rows_before(fastsvm, ordered_file, tmp_path):
    ordered_file("geometry")
    good = (tmp_path / "rows").read_text()
    whole = fastsvm("predict", "--json", "--evaluations", "rows", "ordered", "whole")
    (tmp_path / "rows").write_text(good + "1 no row\n")
    fastsvm("predict", "-q", "--resume", "--evaluations", "rows", "ordered", "out", code=1)
    assert not (tmp_path / "out").exists()
    other = fastsvm("predict", "--resume", "--on-bad-row", "skip", "rows", "ordered", "out", code=1)
    assert "begun with --evaluations on, and this command has off" in other.err
    done = fastsvm("predict", "--json", "--resume", "--on-bad-row", "skip", "--evaluations", "rows", "ordered", "out")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert {**json.loads(timeless(whole.out)), "bad_rows": 1} == json.loads(timeless(done.out))
