"""The installed command: files, pipes, wrong usage, full disks."""

import json
import re
import subprocess
import sys

import pytest
from libsvm.svmutil import svm_predict as libsvm_predict
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from support.messages import DATA_FILE
from support.paths import DATA, FASTSVM
from support.processes import PATIENCE, outcome


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Models of data/: rings (two classes, probabilities), colors (four), waves (regression)."""
    folder = tmp_path_factory.mktemp("trained")
    for name, options in (("rings", "-g 0.2 -c 10 -b 1"), ("colors", "-g 0.02 -c 1"), ("waves", "-s 3 -g 0.05 -c 5")):
        svm_save_model(
            str(folder / f"{name}.model"), svm_train(*svm_read_problem(str(DATA / f"{name}.train")), f"-q {options}")
        )
    return folder


@pytest.fixture
def rings(trained, fastsvm):
    fastsvm("approx", "-q", trained / "rings.model", trained / "rings.approx")
    return trained / "rings.approx"


def test_train_compile_predict(fastsvm, trained, tmp_path):
    done = fastsvm("approx", trained / "rings.model")
    assert re.fullmatch(
        r"\d+ support vectors -> 1 decision function of degree 2 in 8 features\n"
        r"[\d.]+ KB -> [\d.]+ (bytes|KB): rings.model.approx\n"
        r"labels that differ on (?:a sample of )?support vectors: (\d+) of 1000"
        r" \([\d.]+ %\)\n",
        done.out,
    ), str(done)
    differ = int(re.search(r"(\d+) of 1000", done.out)[1])
    warning = (
        f"Warning: {differ / 10:.3g} % of these labels are not the exact model's; try a higher --degree, more"
        " --centers, fastsvm reduce, fastsvm cascade --data ROWS, or the exact model as it is (fastsvm bench --try"
        " measures them all).\n"
    )
    assert done.err == (warning if differ > 10 else ""), str(done)
    exact = fastsvm("predict", DATA / "rings.test", trained / "rings.model", "exact")
    fast = fastsvm("predict", DATA / "rings.test", "rings.model.approx", "fast")
    assert re.fullmatch(
        r"Model supports probability estimates, but disabled in prediction.\n"
        r"Accuracy = [\d.]+% \(\d+/6000\) \(classification\)\n",
        fast.out,
    ), str(fast)
    labels = [(tmp_path / name).read_text().split() for name in ("exact", "fast")]
    differ = sum(a != b for a, b in zip(*labels, strict=True))
    assert 0 < differ <= 120  # the labels differ, but only a few
    assert exact.err == ""
    reference, _, _ = libsvm_predict(
        *svm_read_problem(str(DATA / "rings.test")), _libsvm(trained / "rings.model"), "-q"
    )
    assert labels[0] == [f"{label:g}" for label in reference]


def _libsvm(path):
    from libsvm.svmutil import svm_load_model

    return svm_load_model(str(path))


@pytest.mark.full
def test_rows_go_to_standard_output_and_the_summary_to_standard_error(fastsvm, rings, tmp_path):
    fastsvm("predict", DATA / "rings.test", rings, "file")
    for output in ([], ["-"], ["/dev/stdout"]):
        done = fastsvm("predict", DATA / "rings.test", rings, *output)
        assert done.out == (tmp_path / "file").read_text()
        assert "Accuracy" in done.err


def test_models_may_come_through_standard_input(fastsvm, trained, tmp_path):
    done = fastsvm("approx", "-", input=(trained / "rings.model").read_bytes())
    assert done.out.startswith("fastsvm_model maclaurin 2\n") and done.out.endswith("\nend\n")
    assert "support vectors ->" in done.err
    (tmp_path / "m").write_text(done.out)
    assert (
        fastsvm("predict", DATA / "rings.test", "-", input=done.out).out
        == fastsvm("predict", DATA / "rings.test", "m").out
    )


def test_regression(fastsvm, trained):
    done = fastsvm("predict", DATA / "waves.train", trained / "waves.model", "out")
    assert re.fullmatch(
        r"Mean squared error = \S+ \(regression\)\nSquared correlation coefficient = \S+ \(regression\)\n", done.out
    ), str(done)


def test_certified_models_are_named(fastsvm, trained):
    for words, certified in ((), False), (("--certify",), True):
        done = fastsvm("approx", *words, trained / "rings.model", "made")
        assert ("features, certified\n" in done.out) == certified
        assert ("every row gets an error bound" in fastsvm("bound", "made").out) == certified


@pytest.mark.full
def test_json_summary(fastsvm, trained, rings):
    summary = json.loads(fastsvm("predict", "--json", DATA / "rings.test", rings, "out").out)
    assert summary["rows"] == 6000
    assert summary["correct"] == round(6000 * summary["accuracy"]) and 0 <= summary["rows_outside_bound"] <= 6000
    assert (
        json.loads(fastsvm("predict", "--json", DATA / "waves.train", trained / "waves.model").err)[
            "mean_squared_error"
        ]
        < 1
    )
    empty = json.loads(fastsvm("predict", "-q", "--json", "-", rings, "out", input="").out)
    measured = ("fastsvm", "model_kind", "model_fingerprint", "exact_fingerprint", "seconds", "rows_per_second")
    assert {key: value for key, value in empty.items() if key not in measured} == {
        "rows": 0,
        "accuracy": None,
        "correct": 0,
        "rows_outside_bound": 0,
    }


def test_rows_outside_the_bound_are_counted_once(fastsvm, rings):
    done = fastsvm("predict", DATA / "rings.test", rings, "out")
    count = json.loads(fastsvm("predict", "--json", DATA / "rings.test", rings, "out").out)["rows_outside_bound"]
    assert count > 0 and done.err.count("\n") == 1 and f"Note: {count} of 6000 rows" in done.err


@pytest.mark.full
def test_dense_and_unlabelled_data_give_the_same_rows(fastsvm, trained, rings, tmp_path):
    rows = [line.split() for line in (DATA / "rings.test").read_text().splitlines()]
    dense = [
        [row[0], *(dict(pair.split(":") for pair in row[1:]).get(str(i + 1), "0") for i in range(8))] for row in rows
    ]
    (tmp_path / "dense.csv").write_text("".join(",".join(row) + "\n" for row in dense))
    (tmp_path / "dense.tsv").write_text("".join("\t".join(row[1:]) + "\n" for row in dense))
    (tmp_path / "bare").write_text("".join(" ".join(row[1:]) + "\n" for row in rows))
    plain = fastsvm("predict", DATA / "rings.test", rings).out
    assert fastsvm("predict", "--dense", "dense.csv", rings).out == plain
    done = fastsvm("predict", "--dense", "--delim", "\\t", "--unlabelled", "dense.tsv", rings)
    assert done.out == plain and "Accuracy" not in done.err
    assert fastsvm("predict", "--unlabelled", "bare", rings).out == plain


def test_a_slow_pipe_gets_each_answer_at_once(rings):
    process = subprocess.Popen(
        [FASTSVM, "predict", "-q", "-", str(rings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for _ in range(3):
        process.stdin.write(b"1 1:0.5\n")
        process.stdin.flush()
        assert process.stdout.readline() in (b"1\n", b"-1\n")  # blocks for ever if rows are collected
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nowhere", "MODEL", "out"], "nowhere: No such file or directory"),
        ([".", "MODEL", "out"], ".: Is a directory; --dask predicts every file of a pattern, as './*', into a folder"),
        (["DATA", "nowhere", "out"], "nowhere: No such file or directory"),
        (["DATA", ".", "out"], ".: Is a directory"),
        (["DATA", "DATA", "out"], f"DATA:1: {DATA_FILE}"),
        (["DATA", "MODEL", "/dev/full"], "/dev/full: No space left on device"),
        (["DATA", "MODEL", "nowhere/out"], "nowhere/out: No such file or directory: the output's directory must exist"),
        (["DATA", "MODEL", "."], ".: Is a directory"),
    ],
)
def test_bad_files_are_one_line(fastsvm, rings, arguments, message):
    positions = {"MODEL": str(rings), "DATA": str(DATA / "rings.test")}
    done = fastsvm("predict", "-q", *(positions.get(a, a) for a in arguments), code=1)
    assert done.err == f"Error: {message.replace('DATA', positions['DATA'])}\n" and done.out == ""


def test_a_full_disk_behind_standard_output(rings):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [FASTSVM, "predict", "-q", str(DATA / "rings.test"), str(rings)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1 and done.stderr == "Error: standard output: No space left on device\n"
    with open("/dev/full", "wb") as full:
        done = subprocess.run([FASTSVM, "--version"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "No space left on device" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.full(few=4)
@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "Usage"),
        (["predit"], "Did you mean 'predict'?"),
        (["predict", "a"], "Missing argument 'MODEL_FILE'"),
        (["predict", "-b", "2", "a", "b"], "'2' found, expected 0 or 1"),
        (["predict", "-", "-"], "cannot both be standard input"),
        (["predict", "--delim", "1", "a", "b"], "one character"),
        (["approx", "--center", "median", "m"], "median"),
    ],
)
def test_wrong_usage_is_exit_code_2(fastsvm, arguments, words):
    done = fastsvm(*arguments, code=2)
    assert words in done.err + done.out


@pytest.mark.full
def test_what_a_model_cannot_do_is_said(fastsvm, trained, tmp_path):
    assert (
        "no probability estimates"
        in fastsvm("predict", "-b", 1, DATA / "colors.test", trained / "colors.model", code=1).err
    )
    fastsvm("approx", trained / "colors.model", "c")
    assert "a compiled model found" in fastsvm("approx", "c", code=1).err
    svm_save_model(str(tmp_path / "sigmoid"), svm_train(*svm_read_problem(str(DATA / "waves.train")), "-q -s 3 -t 3"))
    assert (
        fastsvm("approx", "sigmoid", code=1).err
        == "Error: sigmoid: a sigmoid kernel found; approx compiles rbf, linear and polynomial kernels of degree up"
        " to 4\n"
    )
    assert "--max-size" in fastsvm("approx", "--max-size", "0.001", trained / "colors.model", code=1).err
    assert (
        "--max-size"
        in fastsvm(
            "approx", "--tolerance", "1e-9", "--max-size", "0.001", trained / "colors.model", "large", code=1
        ).err
    )
    assert not (tmp_path / "large").exists()
    svm_save_model(str(tmp_path / "linear"), svm_train(*svm_read_problem(str(DATA / "waves.train")), "-q -s 3 -t 0"))
    assert "--center is for RBF" in fastsvm("approx", "--center", "mean", "linear", code=2).err


@pytest.mark.full
def test_bound_for_data_a_model_and_both(fastsvm, trained, rings):
    report = json.loads(fastsvm("bound", "--json", DATA / "rings.test", trained / "rings.model", rings).out)
    (data,), (exact, compiled), (on_exact, on_compiled) = report["data"], report["models"], report["pairs"]
    norms = [
        sum(float(p.split(":")[1]) ** 2 for p in line.split()[1:])
        for line in (DATA / "rings.test").read_text().splitlines()
    ]
    assert data["rows"] == 6000 and data["largest_norm_origin"] == pytest.approx(max(norms) ** 0.5)
    assert data["gamma_max_origin"] == pytest.approx(1 / (4 * max(norms)))
    assert data["gamma_max_mean"] > data["gamma_max_origin"]
    assert exact["gamma"] == 0.2 and not exact["compiled"] and compiled["compiled"]
    outside = json.loads(fastsvm("predict", "--json", DATA / "rings.test", rings, "out").out)["rows_outside_bound"]
    assert on_compiled["rows_inside_own"] == on_exact["rows_inside_mean"] == 6000 - outside
    assert on_exact["rows_inside_origin"] == sum(
        n < 1 / (16 * 0.2**2 * exact["largest_norm_origin"] ** 2) for n in norms
    )
    piped = json.loads(fastsvm("bound", "--json", "-", input=(DATA / "rings.test").read_bytes()).out)["data"][0]
    assert piped.pop("next") and piped == {**data, "file": "-"}
    table = fastsvm("bound", DATA / "rings.test", trained / "rings.model").out
    assert "gamma_MAX, mean" in table and f"{on_exact['gamma_max_mean']:.6g} (gamma is " in table


def test_bound_of_norms_that_overflow(fastsvm, tmp_path):
    rows = "1 1:1e200 2:3e180\n-1 1:-1e200\n"
    (tmp_path / "rows").write_text(rows)
    (tmp_path / "m").write_text(
        "svm_type c_svc\nkernel_type rbf\ngamma 0.1\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n" + rows
    )
    done = fastsvm("bound", "--json", "rows", "m")
    report = json.loads(done.out, parse_constant=pytest.fail)  # JSON has no Infinity
    assert done.err == "" and report["data"][0]["largest_norm_mean"] is None
    for found in (report["data"][0], report["models"][0]):
        assert found["gamma_max_origin"] == found["gamma_max_mean"] == 0
    assert report["pairs"][0]["rows_inside_mean"] == 0


@pytest.mark.full
def test_help_names_every_command_and_every_command_has_help(fastsvm):
    listing = fastsvm("--help").out
    for name in ("approx", "bound", "predict"):
        assert name in listing
        assert fastsvm(name, "-h").out.startswith(f"Usage: fastsvm {name}")
    assert outcome([sys.executable, "-m", "fastsvm_cli", "--version"]).stdout == fastsvm("--version").out
