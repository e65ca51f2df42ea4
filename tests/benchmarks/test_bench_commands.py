"""fastsvm bench as a user meets it."""

import csv
import gzip
import itertools
import json
import os
import re
import shutil
import signal
import subprocess

import numpy as np
import pytest
from libsvm.svmutil import svm_predict as libsvm_predict
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli.benchmarks import cases as bench_cases
from fastsvm_cli.text.data import read_chunks
from support.benching import (
    ONE_THREAD,
    ROWS,
    by_name,
    first_rows,
    markdown_tables,
    ratio_and_error,
    run,
    terminal_tables,
    train,
)
from support.places import DATA, FASTSVM
from support.processes import PATIENCE, default_signals, wait_until

# ---- models side by side


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
    times, answers = markdown_tables(bench("--markdown", place / "rows", place / "rings.model", "missing", code=1).out)
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
    times, answers = markdown_tables(done.out)
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
    import fcntl
    import pty
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 60, 0, 0))
    env = {
        **{key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")},
        **ONE_THREAD,
        "TERM": "xterm",
    }
    process = subprocess.Popen(
        [FASTSVM, "bench", "-q", "--runs", "1", "rows", "rings.model", "rings.cert", "rings.border"],
        cwd=place,
        stdin=slave,
        stdout=slave,
        stderr=subprocess.PIPE,
        env=env,
    )
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:  # how a pty ends
        pass
    os.close(master)
    assert process.wait(PATIENCE) == 0, process.stderr.read()
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).splitlines()
    assert max(map(len, lines)) <= 60
    first = "".join("".join(re.split("[│┃]", line)[0].split()) for line in lines if "│" in line or "┃" in line)
    for name in (
        "svm-predict,emptyfile",
        "libsvm,inprocess",
        "exactmodel",
        "rings.cert,predict--exact",
        "rings.border",
    ):
        assert first.count(name) >= 1, first


# ---- files that are written


def test_raw_timings_are_written_as_they_are_measured_and_an_interrupt_keeps_them(place, tmp_path):
    (tmp_path / "temp").mkdir()
    env = {**os.environ, **ONE_THREAD, "TMPDIR": str(tmp_path / "temp")}
    process = subprocess.Popen(
        [
            FASTSVM,
            "bench",
            "--runs",
            "1000000",
            "--max-seconds",
            "1e9",
            "--json",
            "--csv",
            "raw.csv",
            place / "rows",
            place / "rings.model",
            place / "rings.red",
        ],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=default_signals,
    )
    try:
        raw = tmp_path / "raw.csv"
        wait_until(lambda: process.poll() is not None or (raw.exists() and raw.read_text().count("\n") > 20))
        assert (
            process.poll() is None
            and (tmp_path / "raw.csv").read_text().count("\n") > 20
            and os.listdir(tmp_path / "temp")
        )
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130 and b"Traceback" not in err, err.decode()
    assert os.listdir(tmp_path / "temp") == []
    lines, records = list(csv.DictReader(open(tmp_path / "raw.csv"))), by_name(json.loads(out))
    assert records["exact model"]["scoring"] is None
    for name in ("exact model", "rings.red", "fastsvm, empty file"):
        runs = records[name]["end_to_end"]["runs"]
        assert len(runs) >= 2 and runs == [
            float(line["seconds"]) for line in lines if line["case"] == name and line["run"] != "warm-up"
        ]
    assert records["rings.red"]["failed"] is None and records["rings.red"]["disagreement"] is not None


@pytest.mark.parametrize("options, reader", [((), "head -1"), ((), "true"), (("--json",), "true")])
def test_a_closed_pipe_is_not_a_crash(place, tmp_path, options, reader):
    command = (
        f"set -o pipefail; {FASTSVM} bench -q --runs 1 {' '.join(options)} {place}/rows {place}/rings.model 2>err |"
        f" {reader}"
    )
    done = subprocess.run(
        command, shell=True, executable="/bin/bash", cwd=tmp_path, capture_output=True, env={**os.environ, **ONE_THREAD}
    )
    assert (tmp_path / "err").read_text() == "" and done.returncode == 0


def test_plot_is_svg_or_png_and_names_every_model(bench, place, tmp_path):
    pytest.importorskip("matplotlib")
    bench(
        "-q",
        "--plot",
        "p.svg",
        place / "rows",
        place / "rings.model",
        place / "rings.cert",
        place / "rings.red",
        place / "rings.border",
    )
    svg = (tmp_path / "p.svg").read_text()
    assert "<svg" in svg and svg.rstrip().endswith("</svg>")
    for name in ("exact model", "rings.cert", "rings.red", "rings.border", "Pareto front", "labels that differ"):
        assert name in svg or name.replace("-", "&#45;") in svg, name
    bench("-q", "--plot", "p.png", place / "rows", place / "rings.model", place / "rings.cert")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_plot_of_a_name_that_looks_like_a_formula(bench, place, tmp_path):
    pytest.importorskip("matplotlib")
    shutil.copy(place / "rings.red", tmp_path / r"a$\frac$b")
    assert "exact model" in bench("-q", "--plot", "p.svg", place / "rows", place / "rings.model", r"a$\frac$b").out


def test_plot_of_a_regression_is_refused(bench, place):
    pytest.importorskip("matplotlib")
    done = bench("-q", "--plot", "p.svg", place / "waves.rows", place / "waves.model", place / "waves.approx", code=2)
    assert "a regression model has values" in done.err


@pytest.mark.parametrize("how", ["absent", "broken"])
def test_plot_without_matplotlib_is_one_line(bench, place, tmp_path, how):
    (tmp_path / "block").mkdir()
    if how == "absent":
        (tmp_path / "block" / "sitecustomize.py").write_text(
            "import importlib.machinery as m\nfind = m.PathFinder.find_spec\nm.PathFinder.find_spec ="
            " classmethod(lambda cls, name, *a, **k: None if name.split('.')[0] == 'matplotlib' else find(name, *a,"
            " **k))\n"
        )
    else:
        (tmp_path / "block" / "matplotlib").mkdir()
        (tmp_path / "block" / "matplotlib" / "__init__.py").write_text(
            "raise ImportError('numpy.core.multiarray failed to import')\n"
        )
    done = bench(
        "-q",
        "--plot",
        "p.svg",
        place / "rows",
        place / "rings.model",
        place / "rings.red",
        env={"PYTHONPATH": str(tmp_path / "block")},
        code=1,
    )
    assert len(done.err.splitlines()) == 1 and "matplotlib" in done.err and not (tmp_path / "p.svg").exists(), str(done)


# ---- gates, budgets, wrong words


def test_max_disagreement_is_a_gate(bench, place):
    models = place / "rows", place / "rings.model", place / "rings.border", place / "rings.order"
    done = bench("--json", "--max-disagreement", "0.5%", *models, code=3)
    records = by_name(json.loads(done.out))
    share = records["rings.border"]["disagreement"]
    assert share > 0.005 and records["rings.order"]["disagreement"] == 0
    assert (
        done.err
        == f"Error: rings.border: {100 * share:.3g} % of the labels differ, more than 0.5 % (--max-disagreement)\n"
    )
    assert bench("--max-disagreement", share, *models).err == ""  # at most, not less than
    bench("--max-disagreement", 0, *models, "nowhere", code=3)


@pytest.mark.parametrize("word, expected", [("0.5%", "Fastest within 0.5 %"), ("0.005", "Fastest within 0.5 %")])
def test_shares(bench, place, word, expected):
    done = bench("-q", "--budget", word, place / "rows", place / "rings.model")
    assert f"{expected}: exact model, " in done.out and done.out.endswith(
        f"predict {place / 'rows'} {place / 'rings.model'} out\n"
    ), str(done)


def test_shares_in_memory():
    from fastsvm_cli.commands.bench import Share

    assert [Share().convert(word, None, None) for word in ("0", "1", "100%", "0%", "5e-3", "0.5%")] == [
        0,
        1,
        1,
        0,
        0.005,
        0.005,
    ]


USAGE = [
    (["rows"], "MODEL_FILES"),
    ([], "TEST_FILE"),
    (["--budget", "1.5", "rows", "rings.model"], "'1.5' is not a share"),
    (["--budget", "101%", "rows", "rings.model"], "'101%' is not a share"),
    (["--budget", "-1%", "rows", "rings.model"], "is not a share"),
    (["--max-disagreement", "%", "rows", "rings.model", "x"], "'%' is not a share"),
    (["--budget", "nan", "rows", "rings.model"], "'nan' is not a share"),
    (["--budget", "half", "rows", "rings.model"], "'half' is not a share"),
    (["--keep", "k", "rows", "rings.model"], "--keep goes with"),
    (["--keep", "k", "--try", "rows", "rings.model"], "--keep goes with"),
    (["--max-disagreement", "0", "rows", "rings.model"], "named models"),
    (["--json", "--markdown", "rows", "rings.model"], "do not go together"),
    (["--plot", "p.gif", "rows", "rings.model"], "none of them"),
    (["-g", "1", "rows", "rings.model"], "-g goes with"),
    (["-c", "1", "rows", "rings.model"], "-c goes with"),
    (["--runs", "0", "rows", "rings.model"], "--runs"),
    (["--cross-validate", "1", "rows"], "--cross-validate"),
    (["--cross-validate", "3", "rows", "rings.model"], "takes a data file alone"),
    (["--cross-validate", "3", "--try", "rows"], "takes a data file alone"),
    (["--cross-validate", "3", "--csv", "raw.csv", "rows"], "--csv"),
]


@pytest.mark.parametrize("arguments, words", USAGE)
def test_wrong_usage_is_exit_code_2(fastsvm, place, arguments, words):
    done = fastsvm("bench", *(place / each if each in ("rows", "rings.model") else each for each in arguments), code=2)
    assert words in done.err and done.out == "", str(done)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nowhere", "rings.model"], "nowhere: No such file or directory"),
        (["rows", "nowhere"], "nowhere: No such file or directory"),
        (["empty", "rings.model"], "empty: no rows found"),
        (["rows", "rows"], "rows:1: this looks like a data file"),
        (["rows", "rings.approx"], "rings.approx: a compiled model found"),
        (["rows", "rings.red"], "rings.red: a compiled model found"),
        (["rows", "rings.order"], "rings.order: a compiled model found"),
        (["bad", "rings.model"], "bad:2: "),
        (["--csv", "no/raw.csv", "rows", "rings.model"], "no/raw.csv: No such file or directory"),
        (["-", "rings.model"], ""),
        (["rows", "-"], ""),
    ],
)
def test_bad_files_are_one_line(bench, place, tmp_path, arguments, message):
    (tmp_path / "empty").write_text("")
    (tmp_path / "bad").write_text("1 1:1\n1 x\n")
    source = place / ("rows" if arguments[0] == "-" else "rings.model")
    done = bench(
        "-q",
        *(place / each if (place / each).exists() else each for each in arguments),
        code=None,
        input=source.read_bytes() if "-" in arguments else None,
    )
    assert done.code in ((1, 2) if "-" in arguments else (1,)) and done.out == "", (
        f"measured all the same (processes that are started anew cannot read a pipe again): {done}"
    )
    assert "-" in arguments or (
        len(done.err.splitlines()) == 1 and done.err.startswith("Error: ") and message in done.err
    ), str(done)


# ---- --try, --control, --cross-validate


def test_try_keeps_a_model_inside_the_budget_and_its_commands_work(fastsvm, bench, place, tmp_path):
    model = train(
        tmp_path, "my model", "rings.train", "-t 1 -d 2 -g 0.5 -r 1 -c 0.01", 1200
    )  # slow enough to be beaten
    shutil.copy(DATA / "rings.test", tmp_path / "my rows")
    done = bench("--try", "--budget", "10%", "--keep", "fast model", "my rows", "my model")
    # On a busy machine any of them may win, the exact model too.
    said = re.search(
        r"Fastest within 10 %: (.+), ([\d.e+-]+) \+- [\d.e+-]+ times as fast as .+; ([\d.]+) % of the labels differ\.\n"
        r"(?:No compiled model is faster; .*\n)?(?:  (fastsvm .+)\n)?  (fastsvm predict .+ out)\n",
        done.out,
    )
    made = (
        None
        if said and said[1] == "exact model"
        else f"fastsvm {said[1].removesuffix(', predict --exact')} 'my model' 'fast model'"
    )
    assert said and said[4] == made, str(done)
    kept = (tmp_path / "fast model").read_bytes()
    exact = fastsvm("predict", "-q", "my rows", model).out.split()
    labels = fastsvm("predict", "-q", "my rows", "fast model").out.split()
    if "--exact" not in said[5]:
        assert (
            100 * sum(a != b for a, b in zip(exact, labels, strict=True)) / 6000
            == pytest.approx(float(said[3]), abs=0.01)
            and float(said[3]) <= 10
        )
    if made is not None:
        (tmp_path / "fast model").unlink()
    env = {**os.environ, **ONE_THREAD, "PATH": os.path.dirname(FASTSVM) + os.pathsep + os.environ["PATH"]}
    for command in filter(None, (said[4], said[5])):
        subprocess.run(command, shell=True, cwd=tmp_path, env=env, check=True, capture_output=True)
    assert (tmp_path / "fast model").read_bytes() == kept
    assert 100 * sum(a != b for a, b in zip(exact, (tmp_path / "out").read_text().split(), strict=True)) / 6000 <= 10
    times, _ = terminal_tables(done.out)
    names = [row[0] for row in times]
    assert {
        "approx --certify",
        "approx --certify, predict --exact",
        "border --samples 30",
        "border --samples 1000",
        "order --method geometry",
    } <= set(names)
    assert all(row[2].endswith(" s") for row in times if row[0].startswith(("approx", "border", "order"))), times


def precomputed(folder):
    y, x = svm_read_problem(str(DATA / "rings.train"))
    rows = np.array([[row.get(i, 0.0) for i in range(1, 9)] for row in x[:60]])
    lines = [
        "".join([f"{label:g} 0:{at}", *(f" {to}:{value:.6g}" for to, value in enumerate(row @ rows[:40].T, 1))]) + "\n"
        for at, (label, row) in enumerate(zip(y, rows), 1)
    ]
    (folder / "pre.train").write_text("".join(lines[:40])), (folder / "pre.rows").write_text("".join(lines))
    svm_save_model(str(folder / "m"), svm_train(*svm_read_problem(str(folder / "pre.train")), "-q -t 4 -c 1"))
    return folder / "pre.rows"


KINDS = [
    ("linear", "rings", "-t 0"),
    ("polynomial", "rings", "-t 1 -d 2 -g 0.5 -r 1 -c 5"),
    ("sigmoid", "rings", "-t 3 -g 0.01"),
    ("precomputed", None, None),
    ("regression", "waves", "-s 3 -g 0.1"),
    ("one-class", "rings", "-s 2 -n 0.3 -g 0.5"),
    ("three classes", "colors", "-g 0.05"),
]


@pytest.mark.parametrize("kind, source, options", KINDS, ids=[kind for kind, _, _ in KINDS])
def test_try_with_no_budget_changes_no_label_whatever_the_model(bench, place, tmp_path, kind, source, options):
    if source is None:
        rows = precomputed(tmp_path)
    else:
        y, x = svm_read_problem(str(DATA / f"{source}.train"))
        few = [at for at, label in enumerate(y) if kind != "three classes" or label in (1, 2, 3)][:50]
        svm_save_model(str(tmp_path / "m"), svm_train([y[at] for at in few], [x[at] for at in few], f"-q {options}"))
        rows = place / ("rows" if source == "rings" else f"{source}.rows")
    picking = [] if kind == "regression" else ["--budget", 0, "--keep", "kept"]
    done = bench(
        "--json", "--try", "--max-size", 0.0006 if kind in ("linear", "polynomial") else 0.00005, *picking, rows, "m"
    )
    document = json.loads(done.out)
    records = by_name(document)
    tried = [name for name, record in records.items() if record["role"] == "compiled"]
    expected = {
        "linear": "approx --certify",
        "polynomial": "approx --certify",
        "sigmoid": "border --samples 30",
        "regression": "order --method geometry",
        "one-class": "order --method geometry",
        "three classes": "border --samples 30",
    }
    assert (expected[kind] in tried) if kind in expected else all(name.startswith("order") for name in tried), tried
    assert all(record["failed"] is None for record in records.values()), [
        (name, record["failed"]) for name, record in records.items() if record["failed"]
    ]
    assert (kind in ("regression", "one-class", "three classes")) == bool(
        re.search(r"^Skipped: .*approx --degree 4 \(", done.err, re.M)
    )
    if kind == "regression":
        assert document["picked"] is None and all(record["disagreement"] is None for record in records.values())
        return
    picked = records[document["picked"]]
    assert picked["labels_that_differ"] == 0
    # The fastest in memory of those that the end-to-end clock cannot tell from its fastest.
    fit = {
        name: record
        for name, record in records.items()
        if record["role"] in ("exact", "compiled") and record["labels_that_differ"] == 0
    }
    best = min((record["end_to_end"] for record in fit.values()), key=lambda clock: clock["median"])
    level = {
        name: record["scoring"]["median"]
        for name, record in fit.items()
        if record["end_to_end"]["median"] - best["median"] <= record["end_to_end"]["spread"] + best["spread"]
    }
    assert document["picked"] == min(level, key=level.get)
    assert (
        "Fastest within 0 %: " + document["picked"] in done.err and (tmp_path / "kept").stat().st_size == picked["size"]
    )


def test_a_budget_says_nothing_of_a_regression(bench, place, tmp_path):
    """No label differs where there are no labels: any rough model would be inside any budget."""
    run("approx", "-q", "--degree", 1, "waves.model", tmp_path / "rough", cwd=place)
    done = bench("-q", "--budget", 0, place / "waves.rows", place / "waves.model", "rough", code=None)
    assert "rough, " not in done.out and "0 % of the labels differ" not in done.out, str(done)


def test_impatience_is_a_row(bench, place, tmp_path):
    model = train(tmp_path, "m", "rings.train", "-g 0.5 -c 1", 250)
    records = by_name(json.loads(bench("--json", "--try", "--patience", 1e-6, place / "rows", model).out))
    whys = [record["failed"] for record in records.values() if record["role"] == "compiled"]
    assert (
        len(whys) > 8
        and all(why.startswith(("given up after 1e-06 s", "not tried: reduce --ratio ")) for why in whys)
        and {why[:3] for why in whys} == {"giv", "not"}
    ), whys
    assert records["exact model"]["end_to_end"]["median"] > 0


def test_the_control_is_a_smaller_machine_as_true_as_the_rival(bench, place):
    first_rows(place, "control.train", "rings.train", 300)
    document = json.loads(
        bench(
            "--json",
            "--control",
            place / "control.train",
            place / "rows",
            place / "other.model",
            place / "other.approx",
        ).out
    )
    target = by_name(document)["other.approx"]["disagreement"]
    controls = [case for case in document["cases"] if case["role"] == "control"]
    assert [case["name"].rpartition(", ")[2] for case in controls] == ["fastsvm", "svm-predict"][
        : 1 + bool(document["machine"]["svm_predict"])
    ]
    for case in controls:
        rows, of = map(int, re.match(r"control, (\d+) of (\d+) rows, ", case["name"]).groups())
        assert rows < of == 300 and case["disagreement"] <= target and case["end_to_end"]["median"] > 0
    assert target > 0


@pytest.mark.parametrize(
    "train_file, rows, model, compiled",
    [("nowhere", "rows", "rings.model", "rings.red"), ("waves.rows", "rows", "rings.model", "rings.red")],
)
def test_a_control_that_cannot_be_trained_is_one_line_and_loses_nothing(
    bench, place, tmp_path, train_file, rows, model, compiled
):
    done = bench(
        "-q",
        "--csv",
        "raw.csv",
        "--control",
        place / train_file,
        place / rows,
        place / model,
        place / compiled,
        code=None,
    )
    assert len(done.err.splitlines()) <= 1, str(done)
    measured = (tmp_path / "raw.csv").exists() and "end to end" in (tmp_path / "raw.csv").read_text()
    assert compiled in done.out or not measured, f"all was measured, and nothing is shown: {done}"


def test_control_of_a_model_with_its_labels_the_other_way_round(bench, place, tmp_path):
    """As LIBSVM before 3.17 wrote them."""
    (tmp_path / "old.model").write_text((place / "rings.model").read_text().replace("label 1 -1", "label -1 1"))
    run("approx", "-q", "--degree", 1, "old.model", "old.approx", cwd=tmp_path)
    assert "old.approx" in bench("--control", DATA / "rings.train", place / "rows", "old.model", "old.approx").out


def test_folds_are_disjoint_and_stratified_and_as_accurate_as_libsvm(tmp_path, monkeypatch):
    from libsvm import svmutil

    from fastsvm_cli.benchmarks.cross_validation import cross_validate

    path = first_rows(tmp_path, "train", "colors.train", 203)
    y, x = svm_read_problem(str(path))
    keys = [tuple(sorted(row.items())) for row in x]
    place_of = {key: at for at, key in enumerate(keys)}
    trained = []
    monkeypatch.setattr(
        svmutil,
        "svm_train",
        lambda labels, rows, options: trained.append((labels, rows, options)) or svm_train(labels, rows, options),
    )
    folds = cross_validate(
        list(read_chunks(str(path))), str(path), 4, cost=2.0, gamma=0.05, degree=2, folder=str(tmp_path), seed=3
    )
    assert len(folds) == len(trained) == 4
    if len(place_of) < len(keys):
        pytest.fail("rows of the test data are not unique")
    held_out, correct = [], []
    for fold, (labels, rows, _) in zip(folds, trained):
        taken = [place_of[tuple(sorted(row.items()))] for row in rows]
        assert labels == [y[at] for at in taken] and len(set(taken)) == len(taken)
        mine = sorted(set(range(len(y))) - set(taken))
        held_out.append(mine)
        machine = svm_train(labels, rows, "-q -g 0.05 -c 2")
        predicted, _, _ = libsvm_predict([y[at] for at in mine], [x[at] for at in mine], machine, "-q")
        correct.append(sum(a == y[at] for a, at in zip(predicted, mine)))
        assert (
            fold.rows == len(mine)
            and fold.exact == pytest.approx(correct[-1] / len(mine))
            and fold.vectors == machine.get_nr_sv()
        )
    assert sorted(itertools.chain(*held_out)) == list(range(len(y)))
    for label in set(y):
        counts = [sum(y[at] == label for at in mine) for mine in held_out]
        assert max(counts) - min(counts) <= 1, (label, counts)
    assert [fold.rows for fold in folds] != [0] and held_out[0] != list(range(len(held_out[0])))


def test_cross_validation_at_the_console(fastsvm, tmp_path):
    def cross(*args, **more):
        return fastsvm("bench", "--cross-validate", *args, env=ONE_THREAD, **more)

    path = first_rows(tmp_path, "train", "rings.train", 240)
    said = json.loads(cross(3, "--json", "-c", 5, path).out)
    assert (
        said["gamma"] == 1 / 8
        and said["cost"] == 5
        and said["degree"] == 2
        and len(said["folds"]) == 3
        and sum(fold["rows"] for fold in said["folds"]) == 240
    )
    for key in ("exact", "compiled", "disagreement"):
        assert said[key] == pytest.approx(sum(fold[key] * fold["rows"] for fold in said["folds"]) / 240)
    again = json.loads(cross(3, "--json", "-c", 5, "-g", 0.125, "--seed", 0, path).out)
    other = json.loads(cross(3, "--json", "-c", 5, "--seed", 1, path).out)
    assert again == said and other["folds"] != said["folds"]
    table = cross(3, "-c", 5, path).out
    assert (
        all(f"{100 * fold['exact']:.2f} %" in line for fold, line in zip(said["folds"], table.splitlines()[2:]))
        and len(table.splitlines()) == 6
    )
    done = cross(3, DATA / "waves.train", code=1)
    assert len(done.err.splitlines()) == 1 and "classes" in done.err
    assert "or more, one for each fold" in cross(200, path, code=1).err


# ---- another clock


def test_a_time_is_of_one_process_or_of_one_prediction_in_memory(place, monkeypatch):
    """Of a clock that goes by one each time it is read, and whenever a process or a prediction in memory begins or
    ends: what lies between two readings is counted, on any machine."""
    from click.testing import CliRunner

    from fastsvm_cli.benchmarks import machine, process
    from fastsvm_cli.benchmarks.timing import interleave
    from fastsvm_cli.commands.bench import command

    clock = itertools.count().__next__
    ended = []

    def between_ticks(work):
        def ticking(*arguments, **options):
            clock()
            done = work(*arguments, **options)
            clock()
            ended.append(arguments)
            return done

        return ticking

    monkeypatch.setenv("PATH", str(place / "path"))
    monkeypatch.setattr(machine, "fastsvm_command", lambda: [FASTSVM])
    monkeypatch.setattr(process, "run", between_ticks(process.run))
    monkeypatch.setattr(bench_cases, "predict", between_ticks(bench_cases.predict))
    monkeypatch.setattr(bench_cases, "interleave", lambda *arguments: interleave(*arguments, clock=clock))
    rows = str(place / "rows")
    models = [str(place / "rings.model"), str(place / "rings.approx")]
    done = CliRunner().invoke(command, ["-q", "--json", "--runs", "3", rows, *models])
    assert done.exit_code == 0, (done.output, done.exception)
    records = by_name(json.loads(done.stdout))
    for name in ("exact model", "rings.approx"):
        end_to_end, scoring = records[name]["end_to_end"], records[name]["scoring"]
        assert end_to_end["runs"] == [3, 3, 3] and end_to_end["rows_per_second"] == ROWS / 3
        assert scoring["runs"] == pytest.approx([3 / ROWS] * 3)
        assert scoring["rows_per_second"] == pytest.approx(ROWS / 3)
    start_up = records["fastsvm, empty file"]["end_to_end"]
    assert start_up["runs"] == [3, 3, 3] and start_up["rows_per_second"] is None
    models = [os.path.basename(words[0][-2]) for words in ended if isinstance(words[0], list)]
    # A warm-up and three runs, each of which begins with the empty file.
    assert models == ["rings.model", "rings.model", "rings.approx"] * 4
