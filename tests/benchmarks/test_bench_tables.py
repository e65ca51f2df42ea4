"""fastsvm bench: models side by side, in JSON. Numbers: test_statistics.py."""

import csv
import gzip
import json
import re
import subprocess
import sys

import pytest

from fastsvm_cli.benchmarks import bench_run as bench_cases
from support.benching import ROWS, by_name, terminal_tables
from support.paths import FASTSVM, GOLDEN, SCRIPTS
from support.processes import outcome

CASES = [
    *("svm-predict", "libsvm, in process", "svm-predict, empty file", "fastsvm, empty file", "exact model"),
    *("rings.approx", "rings.cert", "rings.cert, predict --exact", "rings.red", "rings.red, predict --exact"),
    *("rings.border", "rings.order", "other.approx"),
]


@pytest.mark.full
def test_a_row_for_every_model_and_reference(measured, svm_predict):
    records = by_name(measured)
    assert list(records)[: len(CASES)] == CASES and "exact model, fastsvm-predict" in records  # and the fastest
    assert all(name.endswith(", fastsvm-predict") for name in list(records)[len(CASES) :])
    assert measured["conclusion"] and measured["commands"][-1].endswith(" out") and measured["rows"] == ROWS
    assert measured["picked"] is None and measured["test_file"] == "rows" and measured["exact_model"] == "rings.model"
    for name, record in records.items():
        assert record["failed"] is None
        assert (record["end_to_end"] is None) == (name == "libsvm, in process")
        assert (record["scoring"] is None) == (record["role"] in ("start-up", "program") or name == "svm-predict")
        assert record["end_to_end"] is None or len(record["end_to_end"]["runs"]) == 3
    for name in ("rings.cert, predict --exact", "exact model", "rings.order"):
        assert records[name]["labels_that_differ"] == 0
    assert 0 < records["rings.cert"]["rows_proven"] == records["rings.cert, predict --exact"]["rows_proven"]
    assert records["rings.border"]["labels_that_differ"] > 0
    assert records["other.approx"]["note"] == "compiled from another model"


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
    clocks = ("end_to_end", "scoring")
    cases = measured["cases"]
    assert runs == {(clock, case["name"]): case[clock]["runs"] for case in cases for clock in clocks if case[clock]}


@pytest.mark.full
def test_without_svm_predict_the_exact_model_is_the_reference(bench, directory):
    document = json.loads(bench("--json rows rings.model rings.cert", env={"PATH": str(directory)}).out)
    records = by_name(document)
    assert document["machine"]["svm_predict"] is None and not any(name.startswith("svm-predict") for name in records)
    assert document["references"] == {"end to end": "exact model", "scoring": "libsvm, in process"}
    exact, cert = (records[name]["end_to_end"] for name in ("exact model", "rings.cert"))
    assert exact["speed_up"] == 1 and cert["speed_up"] == pytest.approx(exact["median"] / cert["median"])


@pytest.mark.full
def test_a_compressed_model_is_measured_and_the_json_is_json(directory):
    """libsvm cannot read it; its message must not appear in the JSON, also from its own descriptor."""
    (directory / "m.gz").write_bytes(gzip.compress((directory / "rings.model").read_bytes()))
    words = [FASTSVM, *"bench --json --runs 1 rows m.gz rings.red".split()]
    done = subprocess.run(words, cwd=directory, capture_output=True)
    assert done.returncode == 0 and done.stdout.startswith(b"{"), (done.stdout[:100], done.stderr[:300])
    records = by_name(json.loads(done.stdout))
    assert records["libsvm, in process"]["failed"] and records["exact model"]["end_to_end"]["median"] > 0


@pytest.mark.full
def test_a_model_that_fails_is_a_row_that_says_why(bench, directory):
    (directory / "cut").write_bytes((directory / "rings.approx").read_bytes()[:-40])
    done = bench("--json -q rows rings.model missing cut rows colors.approx rings.red", code=1)
    records = by_name(json.loads(done.out))
    whys = {"missing": "No such file", "cut": "cut"}
    whys |= {"rows": "this looks like a data file", "colors.approx": "other classes"}
    for name, why in whys.items():
        assert why in records[name]["failed"] and records[name]["end_to_end"] is None, records[name]
        assert any(line.startswith("Error: ") and why in line for line in done.err.splitlines()), str(done)
    assert records["rings.red"]["failed"] is None and records["exact model"]["scoring"]
    assert records["rings.red"]["end_to_end"]["median"] > 0 and len(done.err.splitlines()) == len(whys)
    table = bench("rows rings.model missing", code=1).out
    assert len(re.findall(r"\bmissing\b.*No such file", table)) == 1
    assert not any(row[0] == "missing" for rows in terminal_tables(table) for row in rows)


def test_cases_have_names_and_files_of_their_own(tmp_path):
    rows, exact = tmp_path / "rows", GOLDEN / "c_svc.model"
    rows.write_text("1 1:1\n")
    bench = bench_cases.Bench(
        str(rows), str(exact), folder=str(tmp_path), threads=0, fastsvm=[FASTSVM], svm_predict="/usr/bin/svm-predict"
    )
    bench.add_references(libsvm=True)
    bench.add_model(str(exact), name="exact model", role="exact")
    for version in ("version2", "version3"):
        bench.add_model(str(GOLDEN / version / "c_svc-certified.approx"))
    outputs = [case.output for case in bench.cases if case.output is not None]
    names = [case.name for case in bench.cases]
    assert len(set(outputs)) == len(outputs) >= 6 and len(set(names)) == len(names), (outputs, names)
