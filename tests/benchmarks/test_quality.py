"""fastsvm bench: differences between two models."""

import json

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem
from libsvm.svmutil import svm_predict as libsvm_predict

from fastsvm_cli.benchmarks.quality import Answers, quality
from fastsvm_cli.comparisons import interval_95
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.benching import by_name, wilson
from support.messages import cases


def libsvm(directory, rows, model):
    """(labels of the rows, predictions, decision values)"""
    y, x = svm_read_problem(str(directory / rows))
    labels, _, values = libsvm_predict(y, x, svm_load_model(str(directory / model)), "-q")
    return np.array(y), np.array(labels), np.array(values)


def found_by(directory, rows, model, exact):
    exact = Answers(load_model(str(directory / exact)), list(read_chunks(str(directory / rows))))
    return quality(load_model(str(directory / model)), exact), len(exact.chunks)


@pytest.mark.parametrize("name, rows, exact", cases("qualities"))
def test_quality_is_what_the_printed_values_say(fastsvm, directory, name, rows, exact):
    found, _ = found_by(directory, rows, name, exact)
    y, labels, values = libsvm(directory, rows, exact)
    lines = fastsvm("predict", "-q", "--values", rows, name).out.splitlines()
    lines = np.array([line.split() for line in lines], float)
    ours = lines[:, 1 : 1 + values.shape[1]]
    different = int(np.sum(lines[:, 0] != labels))
    assert (found.rows, found.changed.different, found.changed.share) == (len(y), different, different / len(y))
    assert found.largest == pytest.approx(np.abs(ours - values).max(), abs=1e-8)
    assert found.mean == pytest.approx(np.abs(ours - values).mean(), abs=1e-8)
    assert interval_95(found.changed.different, found.rows)[1] == pytest.approx(wilson(different, len(y)), rel=1e-4)
    assert found.score.correct == np.sum(lines[:, 0] == y)
    if name.endswith("cert"):
        printed = json.loads(fastsvm("predict", "--json", "--exact", exact, rows, name, "out").out)
        assert found.proven == printed["rows_proven"] > 0
    else:
        assert found.proven is None and different > 0


def test_quality_is_the_same_where_values_are_too_many_to_be_kept(directory, monkeypatch):
    files = directory, "colors.rows", "colors.cert", "colors.model"
    stored, _ = found_by(*files)
    monkeypatch.setattr("fastsvm_cli.text.read_rows.MOST_VALUES", 60)
    monkeypatch.setattr("fastsvm_cli.benchmarks.quality.STORED_VALUES", 100)
    again, parts = found_by(*files)
    assert parts > 2 and stored.largest > 0 and again.mean == pytest.approx(stored.mean, rel=1e-12)
    assert (again.rows, again.changed.different) == (stored.rows, stored.changed.different)
    assert (again.largest, again.proven) == (stored.largest, stored.proven)


@pytest.mark.full
def test_regression_has_errors_and_no_labels(bench, fastsvm, directory):
    records = by_name(json.loads(bench("--json waves.rows waves.model waves.approx").out))
    y, exact, _ = libsvm(directory, "waves.rows", "waves.model")
    ours = np.array(fastsvm("predict", "-q", "waves.rows", "waves.approx").out.split(), float)
    for name, values in (("exact model", exact), ("waves.approx", ours)):
        record = records[name]
        assert record["disagreement"] is None and record["labels_that_differ"] is None and record["failed"] is None
        assert record["mean_squared_error"] == pytest.approx(np.mean((values - y) ** 2), rel=1e-4)
        assert record["squared_correlation"] == pytest.approx(np.corrcoef(values, y)[0, 1] ** 2, rel=1e-4)
    assert records["waves.approx"]["largest_difference"] == pytest.approx(np.abs(exact - ours).max(), abs=2e-5)
