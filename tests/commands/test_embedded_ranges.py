"""Models that embed their range file answer raw rows as predict --scale does."""

import json
import os
import re

import numpy as np
import pytest

import fastsvm_cli
from support import forked
from support.compiling import compile_all
from support.messages import SKIPPED
from support.paths import DATA
from support.scaling import raw_rows, scaled_folder, scaled_text
from support.training import train


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    folder = scaled_folder(tmp_path_factory.mktemp("scaled"))
    compile_all(folder, "approx --certify model fast", "approx --certify --scale range model carried")
    return folder


def run(folder, *words, code=0, env=None):
    done = forked.fastsvm(words, cwd=folder, text=True, env=env)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "command",
    [
        "order --carry RANGE MODEL",
        "approx --certify --degree 3 --scale RANGE MODEL",
        "border --samples 20 --scale RANGE MODEL",
        "border --samples 20 --data ROWS --scale RANGE MODEL",
        "border --bandwidth 0.5 --samples 20 --scale RANGE ROWS",
        "border --bandwidth adaptive -W 9 --density --scale RANGE ROWS",
        "order --method triangle --carry RANGE MODEL",
        "order --fold ROWS --scale RANGE --carry RANGE MODEL",
    ],
)
def test_a_model_of_raw_rows_answers_as_that_of_scaled_ones(scaled, tmp_path, command):
    """Outputs are equal byte for byte. The plain model is made from scaled rows and answers scaled rows."""
    names = {"ROWS": scaled / "rows", "RANGE": scaled / "range", "MODEL": scaled / "model"}
    done = run(tmp_path, *(names.get(word, word) for word in command.split()), "carried")
    assert f"{scaled / 'range'} is embedded: the model takes raw rows\n" in done.stdout
    names["ROWS"] = scaled / "scaled"
    for option in ("--scale RANGE", "--carry RANGE"):
        command = command.replace(f"{option} ", "")
    run(tmp_path, *(names.get(word, word) for word in command.split()), "-q", "plain")
    ours = run(tmp_path, "predict", "--values", scaled / "rows", "carried")
    theirs = run(tmp_path, "predict", "--values", scaled / "scaled", "plain")
    assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr)
    # The models differ only by the range.
    body, plain = (tmp_path / "carried").read_text().split("\n", 1)[1], (tmp_path / "plain").read_text().split("\n", 1)
    assert body.startswith(plain[1][: plain[1].rindex("checksum")]) or "--bandwidth" in command


@pytest.mark.full
@pytest.mark.parametrize(
    "options", ["--exact model", "--exact model --values", "--threads 1", "--open-rows -", "--outside-rows -", "--json"]
)
def test_every_option_answers_as_with_scale(scaled, tmp_path, options):
    """--open-rows and --outside-rows write scaled rows."""
    options = [str(scaled / word) if word == "model" else word for word in options.split()]
    ours = run(tmp_path, "predict", *options, scaled / "rows", scaled / "carried", "ours")
    theirs = run(tmp_path, "predict", *options, "--scale", scaled / "range", scaled / "rows", scaled / "fast", "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    if "--json" in options:
        found, expected = (json.loads(done.stdout) for done in (ours, theirs))
        assert found.pop("model_fingerprint") != expected.pop("model_fingerprint")
        assert {**found, "seconds": 0, "rows_per_second": 0} == {**expected, "seconds": 0, "rows_per_second": 0}
    else:
        assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr)


def test_what_svm_scale_warns_of_is_said(scaled, tmp_path):
    (tmp_path / "rows").write_text("1 1:0.5 2:1 99:4\n-1 1:3 99:5\n")
    done = run(tmp_path, "predict", "rows", scaled / "carried", "out")
    where = f"the range in {scaled / 'carried'}"
    assert f"Warning: 2 values left out, of features that {where} does not hold (the first: 99), as svm" in done.stderr


def test_bad_rows_are_named(scaled, tmp_path):
    (tmp_path / "rows").write_text("1 1:0.5\n1 0:1 1:2\n1 1:x\n")
    why = "index 0 found, which the range file does not hold, expected indices from 1"
    assert (
        run(tmp_path, "predict", "rows", scaled / "carried", "o", code=1).stderr == f"Error: rows:2: {why}{SKIPPED}\n"
    )
    printed = run(tmp_path, "predict", "--on-bad-row", "skip", "rows", scaled / "carried", "o").stderr
    assert printed.startswith(f"Warning: rows:2: {why}\nWarning: rows:3: '1:x' found, expected index:value\n")


@pytest.mark.full
def test_a_stopped_run_goes_on_with_the_same_model_alone(scaled, tmp_path):
    import os
    import signal

    from support.resuming import Disk, forked

    for name in ("rows", "model", "carried"):
        (tmp_path / name).write_bytes((scaled / name).read_bytes())
    (tmp_path / "other").write_text((scaled / "range").read_text().replace("0 1\n", "-1 1\n", 1))
    words = ["predict", "--resume", "--exact", "model", "rows", "carried", "out"]
    forked(tmp_path, *words, prepare=lambda: Disk(30, death=lambda: os.kill(os.getpid(), signal.SIGTERM)), code=143)
    run(tmp_path, "approx", "-q", "--certify", "--scale", "other", "model", "else")
    words[-2] = "else"
    assert "begun with model '" in forked(tmp_path, *words, code=1).err
    words[-2] = "carried"
    forked(tmp_path, *words)
    run(tmp_path, "predict", "-q", scaled / "scaled", "model", "theirs")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_file_is_predicted_from_python(scaled, tmp_path):
    files = scaled / "rows", scaled / "carried", tmp_path / "ours"
    reported = fastsvm_cli.predict_file(*files, exact=scaled / "model", values=True)
    run(
        tmp_path, "predict", "-q", "--values", "--exact", scaled / "model", scaled / "scaled", scaled / "fast", "theirs"
    )
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes() and reported["rows"] == 300
    (tmp_path / "rows").write_text("1 1:0.5 99:4\n")
    with pytest.warns(
        fastsvm_cli.FastsvmWarning, match="1 value left out, of features that the range in .*carried does"
    ):
        fastsvm_cli.predict_file(tmp_path / "rows", scaled / "carried", tmp_path / "ours")


def test_lines_of_a_bag_are_scaled(scaled):
    import dask.bag

    import fastsvm_cli.dask

    lines = (scaled / "rows").read_text().splitlines()
    bag = dask.bag.from_sequence(lines, npartitions=3)
    found = fastsvm_cli.dask.predict(bag, str(scaled / "carried"), exact=str(scaled / "model"))
    expected = forked.fastsvm(["predict", "-q", "scaled", "model"], cwd=scaled, text=True).stdout.split()
    assert list(map(str, found.compute(scheduler="sync"))) == expected


@pytest.mark.full
@pytest.mark.parametrize("options", ["", "--dense"])
def test_workers_of_a_cluster_scale_rows(scaled, tmp_path, options):
    pytest.importorskip("distributed")
    if options:
        rows = [line.split() for line in (scaled / "rows").read_text().splitlines()]
        cells = [{int(pair.split(":")[0]): pair.split(":")[1] for pair in words[1:]} for words in rows]
        width = max(max(row) for row in cells)
        lines = [",".join([w[0], *(row.get(i + 1, "0") for i in range(width))]) for w, row in zip(rows, cells)]
        (tmp_path / "rows").write_text("\n".join(lines) + "\n")
    else:
        (tmp_path / "rows").write_bytes((scaled / "rows").read_bytes())
    words = ["predict", "-q", *options.split(), "--exact", scaled / "model"]
    run(tmp_path, *words, "--dask", "local:1", "--block", "0.005", "rows", scaled / "carried", "parts")
    parts = sorted((tmp_path / "parts").glob("part-*"))
    run(tmp_path, "predict", "-q", scaled / "scaled", scaled / "model", "theirs")
    assert len(parts) > 1 and b"".join(part.read_bytes() for part in parts) == (tmp_path / "theirs").read_bytes()


@pytest.mark.full
def test_bench_gives_it_raw_rows(scaled, tmp_path):
    words = ["bench", "--json", "--runs", "1", "--budget", "100%", "--scale", scaled / "range", scaled / "rows"]
    # Without svm-predict, which may be the fastest, one of these models is advised.
    without = {**os.environ, "PATH": str(tmp_path)}
    done = run(tmp_path, *words, scaled / "model", scaled / "fast", scaled / "carried", env=without)
    cases = {case["name"]: case for case in json.loads(done.stdout)["cases"]}
    for name in ("", ", predict --exact"):
        plain, embedded_scaling = cases[f"fast{name}"], cases[f"carried{name}"]
        assert not embedded_scaling["failed"]
        for key in ("labels_that_differ", "accuracy", "largest_difference", "rows_proven"):
            assert embedded_scaling[key] == plain[key]
    lines = [line for line in done.stderr.splitlines() if re.match(" +(fastsvm|svm-scale)", line)]
    words = {word for line in lines for word in line.split()}
    assert lines and ("svm-scale" in words or "--scale" in words) == (str(scaled / "carried") not in words)


@pytest.mark.full
def test_bound_measures_scaled_rows(scaled, tmp_path):
    def report(*words):
        found = json.loads(run(tmp_path, "bound", "--json", *words).stdout)
        return [
            {key: value for key, value in each.items() if key not in ("file", "data", "model", "next")}
            for each in found["pairs"]
        ]

    assert report(scaled / "carried", scaled / "rows") == report(scaled / "fast", scaled / "scaled")
    assert len(report(scaled / "carried", scaled / "carried", scaled / "rows")) == 2  # both embed the same range
    run(tmp_path, "bound", "--plot", "p.svg", scaled / "carried", scaled / "rows")


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    """Raw rows and labels, and a range file that maps y from -3..5 to -1..1."""
    folder = tmp_path_factory.mktemp("regression")
    text = raw_rows(DATA / "waves.train", 200, seed=4)
    ranges = "y\n-1 1\n-3 5\nx\n0 1\n" + "".join(f"{i} {-i} {2 * i + 3}\n" for i in range(1, 30))
    for name, content in (("raw", text), ("range", ranges), ("scaled", scaled_text(ranges, text))):
        (folder / name).write_text(content)
    rows = [line.split() for line in (folder / "scaled").read_text().splitlines()]
    x = [{int(pair.split(":")[0]): float(pair.split(":")[1]) for pair in words[1:]} for words in rows]
    train(folder / "model", x, [float(words[0]) for words in rows], "-s 3 -g 0.1 -b 1")
    run(folder, "predict", "-q", "scaled", "model", "expected")
    return folder


def numbers(path, column=0):
    return np.array([float(line.split()[column]) for line in path.read_text().splitlines()])


@pytest.mark.full
@pytest.mark.parametrize("command", ["approx --certify --degree 3 --scale", "order --carry"])
def test_a_regression_model_predicts_raw_labels(regression, tmp_path, command):
    """Error, tolerance and radius are in the unit of raw labels."""
    truth = -3 + (numbers(regression / "expected") + 1) * 4
    for name in ("raw", "range", "model"):
        (tmp_path / name).write_bytes((regression / name).read_bytes())
    done = run(tmp_path, *command.split(), "range", "model", "carried")
    assert "range is embedded: the model takes raw rows and predicts raw labels\n" in done.stdout
    exact = ["--exact", "model"] if "approx" in command else []
    reported = json.loads(
        run(tmp_path, "predict", "--json", "--tolerance", "0", *exact, "raw", "carried", "ours").stdout
    )
    assert numbers(tmp_path / "ours") == pytest.approx(truth, rel=1e-11, abs=1e-11)
    labels = numbers(tmp_path / "raw")
    assert reported["mean_squared_error"] == pytest.approx(((labels - truth) ** 2).mean(), rel=1e-9)
    run(tmp_path, "predict", "-q", "--tolerance", "0.02", *exact, "raw", "carried", "ours")
    apart = abs(numbers(tmp_path / "ours") - truth)
    assert 0 < apart.max() <= 0.02
    if exact:
        run(tmp_path, "predict", "-q", "--values", "raw", "carried", "ours")
        value, radius = numbers(tmp_path / "ours", 1), numbers(tmp_path / "ours", 2)
        assert np.all(value == numbers(tmp_path / "ours")) and np.all(abs(value - truth) <= radius)
        reported = json.loads(run(tmp_path, "bound", "--json", "carried", "raw").stdout)["pairs"][0]
        assert reported["radius_largest"] == pytest.approx(radius.max(), rel=1e-2)  # printed in three digits
    # So is the probability model's error.
    plain = run(tmp_path, "predict", "-b", "1", regression / "scaled", "model", "o").stdout
    ours = run(tmp_path, "predict", "-b", "1", "raw", "carried", "o").stdout
    assert float(ours.split("sigma=")[1].split()[0]) == pytest.approx(
        4 * float(plain.split("sigma=")[1].split()[0]), 1e-5
    )


@pytest.mark.full
def test_objects_answer_in_the_unit_of_raw_labels(regression, tmp_path):
    truth = -3 + (numbers(regression / "expected") + 1) * 4
    run(tmp_path, *"approx -q --certify --degree 3 --scale".split(), regression / "range", regression / "model", "a")
    run(tmp_path, "order", "-q", "--carry", regression / "range", regression / "model", "o")
    rows = [line.split() for line in (regression / "raw").read_text().splitlines()]
    X = np.zeros((len(rows), 29))
    for row, words in enumerate(rows):
        for pair in words[1:]:
            X[row, int(pair.split(":")[0]) - 1] = float(pair.split(":")[1])
    fast = fastsvm_cli.load(tmp_path / "a")
    assert np.all(abs(fast.predict(X) - truth) <= fast.radius(X)) and fast.n_features_in_ == 29
    near = fastsvm_cli.load(tmp_path / "a", exact=regression / "model", tolerance=0.01)
    assert abs(near.predict(X) - truth).max() <= 0.01
    assert abs(fastsvm_cli.load(tmp_path / "o", tolerance=0.01).predict(X) - truth).max() <= 0.01
    assert fastsvm_cli.load(tmp_path / "o").predict(X) == pytest.approx(truth, rel=1e-11, abs=1e-11)


@pytest.mark.full
def test_bench_compares_a_regression_model_in_the_exact_models_unit(regression, tmp_path):
    run(tmp_path, "approx", "-q", "--certify", "--scale", regression / "range", regression / "model", "carried")
    run(tmp_path, "approx", "-q", "--certify", regression / "model", "plain")
    words = ["bench", "-q", "--json", "--runs", "1", "--scale", regression / "range", regression / "raw"]
    done = run(tmp_path, *words, regression / "model", "plain", "carried")
    plain, embedded_scaling = (
        case for case in json.loads(done.stdout)["cases"] if case["name"] in ("plain", "carried")
    )
    assert embedded_scaling["largest_difference"] == plain["largest_difference"] and not embedded_scaling["failed"]


@pytest.mark.full
def test_an_ordered_models_own_vectors_are_checked(tmp_path):
    """The vectors come with a precomputed kernel."""
    (tmp_path / "model").write_text(
        "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\n"
        "SV\n1 0:1\n-1 0:2\n"
    )
    (tmp_path / "vectors").write_text("1 1:1 2:2\n-1 1:2 2:1\n")
    (tmp_path / "raw").write_text("1 1:2 2:4\n-1 1:4 2:2\n")
    words = ["order", "-q", "--kernel", "exponential", "-g", "0.5", "--vectors", "vectors"]
    (tmp_path / "range").write_text("x\n0 1\n1 0 1\n")
    done = run(tmp_path, *words, "--carry", "range", "model", "o", code=1)
    assert done.stderr == (
        "Error: model: support vectors with feature 2 found, which range does not hold: expected the file that its"
        " training rows were scaled with\n"
    )
    (tmp_path / "range").write_text("x\n0 1\n1 0 2\n2 0 2\n")
    run(tmp_path, *words, "--carry", "range", "model", "o")
    run(tmp_path, *words, "model", "plain")
    ours, theirs = (
        run(tmp_path, "predict", "-q", "--values", *each).stdout for each in (("raw", "o"), ("vectors", "plain"))
    )
    assert ours == theirs
