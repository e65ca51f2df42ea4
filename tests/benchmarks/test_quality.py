"""fastsvm bench: differences between two models."""

import json

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem
from libsvm.svmutil import svm_predict as libsvm_predict

from fastsvm_cli.benchmarks.quality import Answers, quality, upper_95
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.benching import by_name, wilson
from support.paths import FASTSVM
from support.processes import outcome


@pytest.mark.parametrize(
    "name, rows, exact",
    [
        ("rings.cert", "rows", "rings.model"),
        ("rings.border", "rows", "rings.model"),
        ("sharp.approx", "colors.rows", "sharp.model"),
        ("colors.cert", "colors.rows", "colors.model"),
    ],
)
def test_quality_is_what_the_printed_values_say(fastsvm, directory, name, rows, exact):
    found = quality(
        load_model(str(directory / name)),
        Answers(load_model(str(directory / exact)), list(read_chunks(str(directory / rows)))),
    )
    y, x = svm_read_problem(str(directory / rows))
    labels, _, values = libsvm_predict(y, x, svm_load_model(str(directory / exact)), "-q")
    lines = np.array(
        [
            [float(word) for word in line.split()]
            for line in fastsvm("predict", "-q", "--values", directory / rows, directory / name).out.splitlines()
        ]
    )
    values, ours = np.array(values), lines[:, 1 : 1 + len(values[0])]
    different = int(np.sum(lines[:, 0] != labels))
    assert (found.rows, found.changed.different, found.changed.share) == (len(y), different, different / len(y))
    assert found.largest == pytest.approx(np.abs(ours - values).max(), abs=1e-8)
    assert found.mean == pytest.approx(np.abs(ours - values).mean(), abs=1e-8)
    assert upper_95(found.changed.different, found.rows) == pytest.approx(wilson(different, len(y)), rel=1e-4)
    assert found.score.correct == np.sum(lines[:, 0] == y)
    if name.endswith("cert"):
        printed = json.loads(
            fastsvm("predict", "--json", "--exact", directory / exact, directory / rows, directory / name, "out").out
        )
        assert found.proven == printed["rows_proven"] and 0 < found.proven
    else:
        assert found.proven is None
        assert different > 0


def test_quality_is_the_same_where_values_are_too_many_to_be_kept(directory, monkeypatch):
    def found():
        chunks = list(read_chunks(str(directory / "colors.rows")))
        exact = Answers(load_model(str(directory / "colors.model")), chunks)
        return len(exact.chunks), quality(load_model(str(directory / "colors.cert")), exact)

    _, stored = found()
    monkeypatch.setattr("fastsvm_cli.text.read_rows.MOST_VALUES", 60)
    monkeypatch.setattr("fastsvm_cli.benchmarks.quality.STORED_VALUES", 100)
    parts, again = found()
    assert parts > 2 and stored.largest > 0
    assert (again.rows, again.changed.different, again.largest, again.proven) == (
        stored.rows,
        stored.changed.different,
        stored.largest,
        stored.proven,
    )
    assert again.mean == pytest.approx(stored.mean, rel=1e-12)


@pytest.mark.full
def test_regression_has_errors_and_no_labels(bench, directory):
    document = json.loads(
        bench("--json", directory / "waves.rows", directory / "waves.model", directory / "waves.approx").out
    )
    y, x = svm_read_problem(str(directory / "waves.rows"))
    exact, _, _ = libsvm_predict(y, x, svm_load_model(str(directory / "waves.model")), "-q")
    ours = [
        float(line)
        for line in outcome(
            [FASTSVM, "predict", "-q", directory / "waves.rows", directory / "waves.approx"]
        ).stdout.split()
    ]
    records = by_name(document)
    for name, values in (("exact model", exact), ("waves.approx", ours)):
        record = records[name]
        assert record["disagreement"] is None and record["labels_that_differ"] is None and record["failed"] is None
        assert record["mean_squared_error"] == pytest.approx(np.mean(np.subtract(values, y) ** 2), rel=1e-4)
        assert record["squared_correlation"] == pytest.approx(np.corrcoef(values, y)[0, 1] ** 2, rel=1e-4)
    assert records["waves.approx"]["largest_difference"] == pytest.approx(
        np.abs(np.subtract(exact, ours)).max(), abs=2e-5
    )
    assert "MSE" in bench(directory / "waves.rows", directory / "waves.model", directory / "waves.approx").out


@pytest.mark.full
def test_a_regression_cannot_pass_the_gate_in_silence(bench, directory):
    done = bench(
        "--max-disagreement",
        0,
        directory / "waves.rows",
        directory / "waves.model",
        directory / "waves.approx",
        code=None,
    )
    assert done.code != 0 or "--max-disagreement" in done.err, "exit 0 for a model that differs in every row"
