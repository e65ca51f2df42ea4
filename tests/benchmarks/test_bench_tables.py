"""fastsvm bench: models side by side, in tables and JSON."""

import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from fastsvm_cli.benchmarks import bench_run as bench_cases
from support.benching import ONE_THREAD, ROWS, by_name, terminal_tables
from support.paths import FASTSVM, SCRIPTS
from support.processes import outcome


@pytest.mark.full
def test_a_row_for_every_model_and_reference(measured, svm_predict):
    records = by_name(measured)
    assert list(records) == [
        "svm-predict",
        "libsvm, in process",
        "svm-predict, empty file",
        "fastsvm, empty file",
        "exact model",
        "rings.approx",
        "rings.cert",
        "rings.cert, predict --exact",
        "rings.red",
        "rings.red, predict --exact",
        *"rings.border rings.order other.approx".split(),
        *(name for name in records if name.endswith(", fastsvm-predict")),
    ]
    assert "exact model, fastsvm-predict" in records  # and the fastest
    assert measured["conclusion"] and measured["commands"][-1].endswith(" out")
    assert measured["rows"] == ROWS
    assert measured["picked"] is None and measured["test_file"] == "rows" and measured["exact_model"] == "rings.model"
    assert {"processor", "cores", "threads", "kernels", "python", "fastsvm", "libsvm_official", "svm_predict"} <= set(
        measured["machine"]
    )
    keys = set("name role model size size_ratio".split())
    keys |= set("failed note end_to_end scoring disagreement labels_that_differ".split())
    for name, record in records.items():
        assert keys <= set(record) and record["failed"] is None
        assert (record["end_to_end"] is None) == (name == "libsvm, in process")
        assert (record["scoring"] is None) == (record["role"] in ("start-up", "program") or name == "svm-predict")
        assert record["end_to_end"] is None or len(record["end_to_end"]["runs"]) == 3
    assert (
        records["rings.cert, predict --exact"]["labels_that_differ"]
        == records["exact model"]["labels_that_differ"]
        == records["rings.order"]["labels_that_differ"]
        == 0
    )
    assert 0 < records["rings.cert"]["rows_proven"] == records["rings.cert, predict --exact"]["rows_proven"]
    assert records["rings.border"]["labels_that_differ"] > 0
    assert records["other.approx"]["note"] == "compiled from another model"
    for name in ("svm-predict, empty file", "fastsvm, empty file"):
        assert 0 < records[name]["end_to_end"]["median"] and records[name]["end_to_end"]["rows_per_second"] is None


@pytest.mark.full
def test_the_script_tabulates_the_json(measured, tmp_path):
    (tmp_path / "bench.json").write_text(json.dumps(measured))

    def tabulated(*options):
        words = [sys.executable, SCRIPTS / "tabulate_bench.py", *options, tmp_path / "bench.json"]
        return outcome(words, check=True).stdout.splitlines()

    lines = tabulated()
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 9 for line in lines)
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert [row[0] for row in table] == [case["name"] for case in measured["cases"]]
    for row, case in zip(table, measured["cases"]):
        assert row[2].startswith(f"{case['end_to_end']['median']:.3g} +- ") if case["end_to_end"] else row[2] == ""
        assert row[6].startswith(f"{case['labels_that_differ']} (") if case["disagreement"] is not None else not row[6]
    runs = {}
    for line in csv.DictReader(tabulated("--runs")):
        runs.setdefault((line["clock"], line["case"]), []).append(float(line["seconds"]))
    assert runs == {
        (clock, case["name"]): case[clock]["runs"]
        for case in measured["cases"]
        for clock in ("end_to_end", "scoring")
        if case[clock]
    }


@pytest.mark.full
def test_without_svm_predict_the_exact_model_is_the_reference(bench, directory):
    document = json.loads(
        bench(
            "--json",
            directory / "rows",
            directory / "rings.model",
            directory / "rings.cert",
            env={"PATH": str(directory / "path")},
        ).out
    )
    records = by_name(document)
    assert document["machine"]["svm_predict"] is None and not any(name.startswith("svm-predict") for name in records)
    assert document["references"] == {"end to end": "exact model", "scoring": "libsvm, in process"}
    middle = {name: record["end_to_end"]["median"] for name, record in records.items() if record["end_to_end"]}
    assert records["exact model"]["end_to_end"]["speed_up"] == 1 and records["rings.cert"]["end_to_end"][
        "speed_up"
    ] == pytest.approx(middle["exact model"] / middle["rings.cert"])
    assert records["rings.cert, predict --exact"]["labels_that_differ"] == 0


@pytest.mark.full
def test_a_compressed_model_is_measured_and_the_json_is_json(directory, tmp_path):
    """libsvm cannot read it; its message must not appear in the JSON."""
    (tmp_path / "m.gz").write_bytes(gzip.compress((directory / "rings.model").read_bytes()))
    done = subprocess.run(
        [FASTSVM, "bench", "--json", "--runs", "1", directory / "rows", "m.gz", directory / "rings.red"],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, **ONE_THREAD},
    )
    assert done.returncode == 0 and done.stdout.startswith(b"{"), (done.stdout[:100], done.stderr[:300])
    records = by_name(json.loads(done.stdout))
    assert records["libsvm, in process"]["failed"] and records["exact model"]["end_to_end"]["median"] > 0


@pytest.mark.full
def test_a_model_that_fails_is_a_row_that_says_why(bench, directory, tmp_path):
    (tmp_path / "cut").write_bytes((directory / "rings.approx").read_bytes()[:-40])
    models = ["missing", "cut", directory / "rows", directory / "colors.approx", directory / "rings.red"]
    done = bench("--json", "-q", directory / "rows", directory / "rings.model", *models, code=1)
    records = by_name(json.loads(done.out))
    whys = {
        "missing": "No such file",
        "cut": "cut",
        "rows": "this looks like a data file",
        "colors.approx": "other classes",
    }
    for name, why in whys.items():
        assert why in records[name]["failed"] and records[name]["end_to_end"] is None, records[name]
        assert any(line.startswith("Error: ") and why in line for line in done.err.splitlines()), str(done)
    assert records["rings.red"]["failed"] is None
    assert records["rings.red"]["end_to_end"]["median"] > 0 and records["exact model"]["scoring"]
    assert len(done.err.splitlines()) == len(whys)
    table = bench(directory / "rows", directory / "rings.model", "missing", code=1).out
    assert len(re.findall(r"\bmissing\b.*No such file", table)) == 1
    assert not any(row[0] == "missing" for rows in terminal_tables(table) for row in rows)


@pytest.mark.full
def test_two_models_of_one_name_can_be_told_apart(bench, directory, tmp_path):
    (tmp_path / "b").mkdir()
    shutil.copy(directory / "rings.red", tmp_path / "b" / "rings.approx")
    document = json.loads(
        bench("--json", directory / "rows", directory / "rings.model", directory / "rings.approx", "b/rings.approx").out
    )
    assert len(by_name(document)) == len(document["cases"]), [case["name"] for case in document["cases"]]


def test_every_case_writes_a_file_of_its_own(directory, tmp_path):
    bench = bench_cases.Bench(
        str(directory / "rows"),
        str(directory / "rings.model"),
        folder=str(tmp_path),
        threads=0,
        fastsvm=[FASTSVM],
        svm_predict="/usr/bin/svm-predict",
    )
    bench.add_references(libsvm=True)
    bench.add_model(str(directory / "rings.model"), name="exact model", role="exact")
    bench.add_model(str(directory / "rings.cert"))
    outputs = [case.output for case in bench.cases if case.output is not None]
    assert len(set(outputs)) == len(outputs) == 6, outputs
