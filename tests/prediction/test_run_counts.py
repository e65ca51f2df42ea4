"""Counts and sums of a run in parts, or resumed; numbers of the summary that are not ordinary quotients."""

import json
from math import inf, nan, pi

import pytest

from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction import Predictor, RunCounts
from fastsvm_cli.text.read_rows import read_chunks
from support.model_files import REGRESSION
from support.processes import outcome


@pytest.mark.parametrize("labels", [[0.1, 1 / 3, -pi, 1e300, 5e-324], [nan, 1], [inf, -inf], [1e308, 1e308], []])
def test_what_a_run_counts_says_of_itself_makes_it_anew_to_the_last_bit(labels):
    run_counts = RunCounts(True)
    zeros = run_counts.values()
    run_counts.add_values({**zeros, "rows": len(labels), "outside": 3})
    for label in labels:
        run_counts.add_values({**zeros, "error": label, "sump": label, "sumpp": label})
    again = RunCounts(True)
    again.add_values(json.loads(json.dumps(run_counts.values())))
    assert repr(again.values()) == repr(run_counts.values()) and again.rows == len(labels)


def test_parts_add_up_to_the_whole(tmp_path):
    model = parse_model(REGRESSION, "m")
    lines = [f"{label} 1:{label + 0.25}\n" for label in range(20)]  # sums without rounding
    every = RunCounts(True)
    for name, text in (("whole", lines), ("a", lines[:7]), ("b", lines[7:])):
        (tmp_path / name).write_text("".join(text))
        run_counts = Predictor(model).write(read_chunks(tmp_path / name), lambda data: None, name)
        if name == "whole":
            whole = run_counts.values()
        else:
            every.add_values(run_counts.values())
    assert every.values() == whole and whole["total"] == 20 and whole["error"] == 20 / 16


def test_without_labels_there_are_no_sums():
    assert "total" not in RunCounts(False).values() and RunCounts(True).values()["total"] == 0
    with pytest.raises(KeyError):
        RunCounts(True).add_values(RunCounts(False).values())


def test_a_correlation_over_minus_zero_is_svm_predicts(svm_predict, fastsvm, tmp_path):
    """Equal predictions and equal labels: rounding makes their variances negative and 0."""
    (tmp_path / "model").write_text(
        "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho -0.5926409106271656\nSV\n0 1:1\n"
    )
    (tmp_path / "rows").write_text("0.13042279608514273 1:1\n" * 3)
    theirs = outcome([svm_predict, "rows", "model", "out"], cwd=tmp_path).stdout
    assert fastsvm("predict", "rows", "model", "out").out == theirs
    assert "coefficient = -inf (regression)" in theirs
