"""fastsvm bench as a user meets it: models side by side, in tables and as JSON."""

import gzip
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from fastsvm_cli.benchmarks import cases as bench_cases
from support.benching import (
    ONE_THREAD,
    ROWS,
    by_name,
    markdown_tables,
    ratio_and_error,
    terminal_tables,
)
from support.places import FASTSVM
from support.processes import on_a_terminal


def test_a_row_for_every_model_and_reference(measured, svm_predict):
    document, _ = measured
    records = by_name(document)
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
        "rings.border",
        "rings.order",
        "other.approx",
    ]
    assert (
        document["rows"] == ROWS
        and document["picked"] is None
        and document["test_file"] == "rows"
        and document["exact_model"] == "rings.model"
    )
    assert {"processor", "cores", "threads", "kernels", "python", "fastsvm", "libsvm_official", "svm_predict"} <= set(
        document["machine"]
    )
    keys = {
        "name",
        "role",
        "model",
        "size",
        "size_ratio",
        "made_by",
        "compile_seconds",
        "failed",
        "note",
        "end_to_end",
        "scoring",
        "disagreement",
        "labels_that_differ",
    }
    for name, record in records.items():
        assert keys <= set(record) and record["failed"] is None
        assert (record["end_to_end"] is None) == (name == "libsvm, in process")
        assert (record["scoring"] is None) == (record["role"] == "start-up" or name == "svm-predict")
        assert record["end_to_end"] is None or len(record["end_to_end"]["runs"]) == 3
    assert (
        records["rings.cert, predict --exact"]["labels_that_differ"]
        == records["exact model"]["labels_that_differ"]
        == records["rings.order"]["labels_that_differ"]
        == 0
    )
    assert 0 < records["rings.cert"]["rows_proven"] == records["rings.cert, predict --exact"]["rows_proven"]
    assert (
        records["rings.border"]["labels_that_differ"] > 0
        and records["other.approx"]["note"] == "compiled from another model"
    )
    for name in ("svm-predict, empty file", "fastsvm, empty file"):
        assert 0 < records[name]["end_to_end"]["median"] and records[name]["end_to_end"]["rows_per_second"] is None


def test_speed_ups_are_of_one_clock(measured):
    document, _ = measured
    records = by_name(document)
    assert document["references"] == {
        "end to end": "svm-predict" if document["machine"]["svm_predict"] else "exact model",
        "scoring": "libsvm, in process",
    }
    for clock, key in (("end to end", "end_to_end"), ("scoring", "scoring")):
        reference = records[document["references"][clock]][key]["runs"]
        for name, record in records.items():
            if record[key] is None or record["role"] == "start-up":
                continue
            ratio, error = ratio_and_error(reference, record[key]["runs"])
            assert record[key]["reference"] == document["references"][clock] and record[key]["unit"] == (
                "seconds" if key == "end_to_end" else "seconds per row"
            )
            assert record[key]["speed_up"] == pytest.approx(ratio, rel=1e-9) and (
                name == document["references"][clock] or record[key]["speed_up_error"] == pytest.approx(error, rel=1e-9)
            )
            assert record[key]["rows_per_second"] == pytest.approx(
                (ROWS if key == "end_to_end" else 1) / np.median(record[key]["runs"])
            )


def test_the_raw_timings_are_those_of_the_json(measured):
    document, lines = measured
    for name, record in by_name(document).items():
        for clock, key in (("end to end", "end_to_end"), ("scoring per row", "scoring")):
            mine = [line for line in lines if (line["clock"], line["case"]) == (clock, name)]
            if record[key] is None:
                assert not mine
                continue
            assert [line["run"] for line in mine] == ["warm-up", "1", "2", "3"] and [
                float(line["seconds"]) for line in mine[1:]
            ] == record[key]["runs"]
    order = [line["case"] for line in lines if line["clock"] == "end to end"]
    assert order == order[: len(order) // 4] * 4  # interleaved


def test_without_svm_predict_the_exact_model_is_the_reference(bench, place):
    document = json.loads(
        bench(
            "--json", place / "rows", place / "rings.model", place / "rings.cert", env={"PATH": str(place / "path")}
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


def test_a_compressed_model_is_measured_and_the_json_is_json(place, tmp_path):
    """libsvm cannot read it, which is a row; what libsvm says of that must not stand among the JSON."""
    (tmp_path / "m.gz").write_bytes(gzip.compress((place / "rings.model").read_bytes()))
    done = subprocess.run(
        [FASTSVM, "bench", "--json", "--runs", "1", place / "rows", "m.gz", place / "rings.red"],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, **ONE_THREAD},
    )
    assert done.returncode == 0 and done.stdout.startswith(b"{"), (done.stdout[:100], done.stderr[:300])
    records = by_name(json.loads(done.stdout))
    assert records["libsvm, in process"]["failed"] and records["exact model"]["end_to_end"]["median"] > 0


def test_a_model_that_fails_is_a_row_that_says_why(bench, place, tmp_path):
    (tmp_path / "cut").write_bytes((place / "rings.approx").read_bytes()[:-40])
    models = ["missing", "cut", place / "rows", place / "colors.approx", place / "rings.red"]
    done = bench("--json", "-q", place / "rows", place / "rings.model", *models, code=1)
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
    assert (
        records["rings.red"]["failed"] is None
        and records["rings.red"]["end_to_end"]["median"] > 0
        and records["exact model"]["scoring"]
    )
    assert len(done.err.splitlines()) == len(whys)
    times, answers, *_ = markdown_tables(
        bench("--markdown", place / "rows", place / "rings.model", "missing", code=1).out
    )
    assert any(row[0] == "missing" and "No such file" in " ".join(row) for row in times) and not any(
        row[0] == "missing" for row in answers
    )


def test_an_error_names_the_model(bench, place):
    done = bench(place / "rows", place / "rings.model", place / "colors.approx", code=1)
    assert "colors.approx" in done.err, str(done)


def test_two_models_of_one_name_can_be_told_apart(bench, place, tmp_path):
    (tmp_path / "b").mkdir()
    shutil.copy(place / "rings.red", tmp_path / "b" / "rings.approx")
    document = json.loads(
        bench(
            "--json",
            "--csv",
            "raw.csv",
            place / "rows",
            place / "rings.model",
            place / "rings.approx",
            "b/rings.approx",
        ).out
    )
    assert len(by_name(document)) == len(document["cases"]), [case["name"] for case in document["cases"]]


def test_every_case_writes_a_file_of_its_own(place, tmp_path):
    bench = bench_cases.Bench(
        str(place / "rows"),
        str(place / "rings.model"),
        folder=str(tmp_path),
        threads=0,
        fastsvm=[FASTSVM],
        svm_predict="/usr/bin/svm-predict",
    )
    (
        bench.add_references(),
        bench.add_model(str(place / "rings.model"), name="exact model", role="exact"),
        bench.add_model(str(place / "rings.cert")),
        bench.add_control(str(place / "other.model"), "control"),
    )
    outputs = [case.output for case in bench.cases if case.output is not None]
    assert len(set(outputs)) == len(outputs) == 8, outputs


def test_markdown_and_the_table_say_the_same(bench, place):
    done = bench("--markdown", place / "rows", place / "rings.model", place / "rings.cert")
    times, answers, *_ = markdown_tables(done.out)
    for line in done.out.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (9, 8), f"not a table any more, by its bars: {line}"
    assert all(len(row) == 8 for row in times) and all(len(row) == 7 for row in answers) and done.err == ""
    assert done.out.splitlines()[1] == "|" + "---|" * 8 and f"{ROWS} rows" in done.out
    table = terminal_tables(bench(place / "rows", place / "rings.model", place / "rings.cert").out)
    assert [row[0] for row in times] == [row[0] for row in table[0]] and [row[:2] for row in answers] == [
        row[:2] for row in table[1]
    ]


def test_a_narrow_terminal_loses_no_name(place):
    command = [FASTSVM, "bench", "-q", "--runs", "1", "rows", "rings.model", "rings.cert", "rings.border"]
    code, said = on_a_terminal(command, 60, cwd=place, env=ONE_THREAD)
    assert code == 0, said
    lines = re.sub(r"\x1b\[[0-9;]*m", "", said.decode()).splitlines()
    assert max(map(len, lines)) <= 60
    for name in (
        "svm-predict, empty file",
        "libsvm, in process",
        "exact model",
        "rings.cert, predict --exact",
        "rings.border",
    ):
        assert any(line.startswith(name) for line in lines), lines
