"""fastsvm bench: models side by side, in JSON, and the gate of --max-disagreement. Numbers: test_statistics.py."""

import gzip
import json
import subprocess

import pytest

from fastsvm_cli.benchmarks import bench_run as bench_cases
from fastsvm_cli.console.options import Share
from support.benching import ROWS, by_name
from support.paths import FASTSVM, GOLDEN

CASES = [
    *("svm-predict", "libsvm, in process", "svm-predict, empty file", "fastsvm, empty file", "exact model"),
    *("rings.approx", "rings.cert", "rings.cert, predict --exact", "rings.red", "rings.red, predict --exact"),
    *("rings.border", "rings.order", "other.approx"),
]


@pytest.mark.full
def test_a_row_for_every_model_and_reference(bench, directory, svm_predict):
    words = (
        "-q --runs 3 --json rows rings.model rings.approx rings.cert rings.red rings.border rings.order other.approx"
    )
    measured = json.loads(bench(words).out)
    records = by_name(measured)
    assert list(records)[: len(CASES)] == CASES and "exact model, fastsvm-predict" in records  # and the fastest
    assert all(name.endswith(", fastsvm-predict") for name in list(records)[len(CASES) :])
    assert measured["conclusion"] and measured["commands"][-1].endswith(" out") and measured["rows"] == ROWS
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


# ---- --max-disagreement


@pytest.mark.full
def test_max_disagreement_is_a_gate(bench, directory):
    models = "rows rings.model rings.border rings.order"
    done = bench(f"--json --max-disagreement 0.5% {models} nowhere", code=3)
    records = by_name(json.loads(done.out))
    share = records["rings.border"]["disagreement"]
    assert share > 0.005 and records["rings.order"]["disagreement"] == 0
    missing, note, error = done.err.splitlines()
    assert "nowhere" in missing and note.startswith("Note: Too small to measure 0.5 %: class -1 (")
    assert error == (
        f"Error: rings.border: {100 * share:.3g} % of the labels differ, more than 0.5 % (--max-disagreement)"
    )


@pytest.mark.full
def test_a_regression_cannot_pass_the_gate_in_silence(bench, directory):
    done = bench("--max-disagreement 0 waves.rows waves.model waves.approx", code=None)
    assert done.code != 0 or "--max-disagreement" in done.err, "exit 0 for a model that differs in every row"


def test_shares_are_numbers_or_percent():
    words = {"0": 0, "1": 1, "100%": 1, "0%": 0, "5e-3": 0.005, "0.5%": 0.005}
    assert {word: Share().convert(word, None, None) for word in words} == words
