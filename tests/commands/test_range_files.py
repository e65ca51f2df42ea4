"""Range files: --scale in every command that reads rows; a model that embeds its range file answers raw rows as --scale
does. Those rows are svm-scale's (tests/text), and the lines svm-predict's (repository/test_pipelines_page.py)."""

import json
import os
import re

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem

import fastsvm_cli
from fastsvm_cli.errors import FastsvmWarning
from support import dasking
from support.compiling import compile_all, linked
from support.forked import fastsvm
from support.messages import cases
from support.oracles import data_text
from support.outputs import timeless
from support.paths import DATA
from support.scaling import raw_rows, scaled_folder, scaled_text
from support.training import train_on


def run(folder, *words, code=0, text=None, env=None):
    done = fastsvm(words, cwd=folder, text=True, input=text, env=env)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    """rows and their range, scaled rows, a model of these, fast; carried embeds the range."""
    folder = scaled_folder(tmp_path_factory.mktemp("scaled"))
    compile_all(folder, "approx --certify model fast", "approx --certify --scale range model carried")
    return folder


@pytest.fixture
def files(scaled, tmp_path):
    """A folder of links to them."""
    return linked(scaled, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    ["--values", "--exact model", "--exact model --values --threads 1", "--json", "--open-rows -", "--outside-rows -"],
)
def test_options_answer_as_for_scaled_rows(files, options):
    """The range file of --scale, and that in a model. --open-rows and --outside-rows write scaled rows."""
    found = []
    for words in (["scaled", "fast"], ["--scale", "range", "rows", "fast"], ["rows", "carried"]):
        done = run(files, "predict", *options.split(), *words, "out")
        printed = re.sub(r'("model_fingerprint": )"\w+"', r"\1...", timeless(done.stdout))
        found.append((printed, done.stderr, (files / "out").read_bytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("command", cases("commands with ranges"))
def test_a_model_of_raw_rows_answers_as_that_of_scaled_ones(files, command):
    """The plain model is made from scaled rows and answers scaled rows."""
    done = run(files, *command.split(), "made")
    plain = command.replace("--scale range ", "").replace("--carry range ", "").replace(" rows", " scaled")
    run(files, *plain.split(), "-q", "plain")
    if command == "order --fold rows --scale range model":
        assert (files / "made").read_bytes() == (files / "plain").read_bytes()
        return
    assert "range is embedded: the model takes raw rows\n" in done.stdout
    ours, theirs = (run(files, "predict", "--values", *each) for each in (("rows", "made"), ("scaled", "plain")))
    assert ours.stdout == theirs.stdout
    # The models differ only by the range.
    body, plain = ((files / name).read_text().split("\n", 1)[1] for name in ("made", "plain"))
    assert body.startswith(plain[: plain.rindex("checksum")]) or "--bandwidth" in command


@pytest.mark.full
def test_rows_and_ranges_come_through_pipes(files):
    expected = run(files, "predict", "-q", "scaled", "model").stdout
    for words, name in (("range - model", "rows"), ("- rows model", "range")):
        done = run(files, "predict", "-q", "--scale", *words.split(), text=(files / name).read_text())
        assert done.stdout == expected


def test_what_svm_scale_warns_of_is_said(files):
    (files / "few").write_text("1 1:0.5 2:1 99:4\n-1 1:3 99:5\n")
    said = "Warning: 2 values left out, of features that {} does not hold (the first: 99), as svm"
    assert said.format("the range in carried") in run(files, "predict", "few", "carried", "out").stderr
    assert said.format("range") in run(files, "predict", "--scale", "range", "few", "model", "out").stderr
    assert said.format("range") in run(files, "order", "--carry", "range", "--data", "few", "model", "out").stderr
    with pytest.warns(FastsvmWarning, match="2 values left out") as warned:
        fastsvm_cli.compile(str(files / "model"), "geometry", fold=str(files / "few"), scale=str(files / "range"))
    assert {each.filename for each in warned} == {__file__}


@pytest.mark.full(few=1)
@pytest.mark.parametrize("words, other, why", cases("resumed with other ranges"))
def test_a_run_is_resumed_with_the_same_ranges_alone(files, words, other, why):
    """A checkpoint has the content of the range file, not its name."""
    (files / "else").write_text((files / "range").read_text().replace("0 1\n", "-1 1\n", 1))
    (files / "same").write_text((files / "range").read_text())
    run(files, "approx", "-q", "--certify", "--scale", "else", "model", "else.fast")

    (files / "ended").write_text((files / "rows").read_text() + "x\n")
    words, other = (each.replace("rows", "ended").split() for each in (words, other))
    run(files, "predict", "--resume", *words, "out", code=1)
    stored = (files / "out.partial").read_bytes()
    assert why in run(files, "predict", "--resume", *other, "out", code=1).stderr
    assert (files / "out.partial").read_bytes() == stored
    words = ["same" if word == "range" else word for word in words]
    run(files, "predict", "--resume", "--on-bad-row", "skip", *words, "out")
    assert (files / "out").read_text() == run(files, "predict", "-q", "scaled", "model").stdout


@pytest.mark.filterwarnings("ignore:scaling made the rows denser")
def test_other_interfaces_scale_rows(files):
    """predict_file, Dask's bags and the workers of a cluster."""
    import dask.bag

    import fastsvm_cli.dask

    expected = run(files, "predict", "-q", "scaled", "model").stdout
    reported = fastsvm_cli.predict_file(files / "rows", files / "carried", files / "out", exact=files / "model")
    assert (files / "out").read_text() == expected and reported["rows"] == 300
    (files / "few").write_text("1 1:0.5 99:4\n")
    with pytest.warns(fastsvm_cli.FastsvmWarning, match="1 value left out, of features that the range in .*carried d"):
        fastsvm_cli.predict_file(files / "few", files / "carried", files / "out")
    bag = dask.bag.from_sequence((files / "rows").read_text().splitlines(), npartitions=3)
    found = fastsvm_cli.dask.predict(bag, str(files / "carried"), exact=str(files / "model"))
    assert list(map(str, found.compute(scheduler="sync"))) == expected.split()
    where = ("--dask", "local", "--block", "0.005")
    dasking.predict("-q", *where, "--exact", files / "model", files / "rows", files / "carried", files / "parts")
    assert dasking.parts(files / "parts").decode() == expected


@pytest.mark.full
def test_bound_measures_scaled_rows(files):
    """It warns once, although it reads the rows twice."""

    def report(*words):
        done = run(files, "bound", "--json", *words)
        pairs = json.loads(done.stdout)["pairs"]
        return [{k: v for k, v in each.items() if k not in ("data", "model", "next")} for each in pairs], done.stderr

    plain, _ = report("fast", "scaled")
    assert report("--scale", "range", "fast", "rows")[0] == report("carried", "rows")[0] == plain
    assert report("carried", "carried", "rows")[0] == plain * 2  # both embed the same range
    (files / "few").write_text("x\n0 1\n1 -4 4\n")
    entries = sum(line.count(":") - 1 for line in (files / "rows").read_text().splitlines())
    warning = f"Warning: {entries} values left out, of features that few does not hold (the first: 2)"
    assert report("--scale", "few", "rows")[1].count(warning) == 1


@pytest.mark.full
def test_bench_gives_every_program_its_rows(files):
    words = ["bench", "--json", "--runs", "1", "--budget", "100%", "--scale", "range", "rows", "model"]
    # Without svm-predict, which may be the fastest, one of these models is advised.
    done = run(files, *words, "fast", "carried", env={**os.environ, "PATH": str(files)})
    cases = {case["name"]: case for case in json.loads(done.stdout)["cases"]}
    assert cases["exact model"]["labels_that_differ"] == cases["fast, predict --exact"]["labels_that_differ"] == 0
    plain = json.loads(run(files, "predict", "--json", "scaled", "fast", "out").stdout)
    assert cases["fast"]["accuracy"] == plain["accuracy"]
    for name in ("", ", predict --exact"):
        assert not cases[f"carried{name}"]["failed"]
        for key in ("labels_that_differ", "accuracy", "largest_difference", "rows_proven"):
            assert cases[f"carried{name}"][key] == cases[f"fast{name}"][key]
    advised = " ".join(line for line in done.stderr.splitlines() if re.match(" +(fastsvm|svm-scale)", line)).split()
    assert advised and ("svm-scale" in advised or "--scale" in advised) == ("carried" not in advised)


# ---- regression


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    """raw rows and labels, a range file that maps y from -3..5 to -1..1, and models."""
    folder = tmp_path_factory.mktemp("regression")
    text = raw_rows(DATA / "waves.train", 200, seed=4)
    ranges = "y\n-1 1\n-3 5\nx\n0 1\n" + "".join(f"{i} {-i} {2 * i + 3}\n" for i in range(1, 30))
    for name, content in (("raw", text), ("range", ranges), ("scaled", scaled_text(ranges, text))):
        (folder / name).write_text(content)
    train_on(folder / "model", folder / "scaled", "-s 3 -g 0.1 -b 1")
    run(folder, "predict", "-q", "scaled", "model", "expected")
    for words in ("approx --certify --degree 3 --scale range model a", "order --carry range model o"):
        done = run(folder, *words.split())
        assert "range is embedded: the model takes raw rows and predicts raw labels\n" in done.stdout
    return folder


def numbers(path, column=0):
    return np.array([float(line.split()[column]) for line in path.read_text().splitlines()])


@pytest.mark.full
@pytest.mark.parametrize("model, exact", [("a", ["--exact", "model"]), ("o", [])])
def test_a_regression_model_predicts_raw_labels(regression, tmp_path, model, exact):
    """Error, tolerance, radius and the probability model's sigma are in the unit of raw labels."""
    truth = -3 + (numbers(regression / "expected") + 1) * 4
    out = tmp_path / "out"
    done = run(regression, "predict", "--json", "--tolerance", "0", *exact, "raw", model, out)
    assert numbers(out) == pytest.approx(truth, rel=1e-11, abs=1e-11)
    error = ((numbers(regression / "raw") - truth) ** 2).mean()
    assert json.loads(done.stdout)["mean_squared_error"] == pytest.approx(error, rel=1e-9)
    run(regression, "predict", "-q", "--tolerance", "0.02", *exact, "raw", model, out)
    assert 0 < abs(numbers(out) - truth).max() <= 0.02
    _, rows = svm_read_problem(str(regression / "raw"))
    X = np.array([[row.get(i, 0.0) for i in range(1, 30)] for row in rows])
    options = {"exact": regression / "model"} if exact else {}
    near = fastsvm_cli.load(regression / model, tolerance=0.02, **options)
    np.testing.assert_allclose(near.predict(X), numbers(out), rtol=1e-11, atol=1e-11)
    if exact:
        run(regression, "predict", "-q", "--values", "raw", model, out)
        value, radius = numbers(out, 1), numbers(out, 2)
        assert np.all(value == numbers(out)) and np.all(abs(value - truth) <= radius)
        np.testing.assert_allclose(fastsvm_cli.load(regression / model).radius(X), radius, rtol=0.02)
        reported = json.loads(run(regression, "bound", "--json", model, "raw").stdout)["pairs"][0]
        assert reported["radius_largest"] == pytest.approx(radius.max(), rel=1e-2)  # printed in three digits
    sigma, plain = (
        float(run(regression, "predict", "-b", "1", *words, out).stdout.split("sigma=")[1].split()[0])
        for words in (["raw", model], ["scaled", "model"])
    )
    assert sigma == pytest.approx(4 * plain, 1e-5)


@pytest.mark.full
def test_bench_compares_in_the_exact_models_unit(regression, tmp_path):
    plain = tmp_path / "plain"
    run(regression, "approx", "-q", "--certify", "--degree", "3", "model", plain)
    done = run(regression, *"bench -q --json --runs 1 --scale range raw model".split(), plain, "a")
    plain, embedded = (case for case in json.loads(done.stdout)["cases"] if case["name"] in ("plain", "a"))
    assert embedded["largest_difference"] == plain["largest_difference"] and not embedded["failed"]


@pytest.mark.full
def test_the_files_of_write_svm(regression, tmp_path):
    """Same predictions and error as for rows and labels scaled before; embedded, in R's original unit."""
    indices = range(1, 30)
    center, scale = ({i: f(i - 1) for i in indices} for f in (lambda i: 0.25 * i - 0.3, lambda i: 0.5 + 0.1 * i))
    x, y = [], []
    for label, row in zip(*svm_read_problem(str(regression / "raw"))):
        x.append({i: (row.get(i, 0.0) - center[i]) / scale[i] for i in indices})
        y.append((label - 0.125) / 0.7)
    (tmp_path / "done").write_bytes(data_text(x, y))
    (tmp_path / "Rdata.scale").write_text("".join(f"{center[i]!r} {scale[i]!r}\n" for i in indices))
    (tmp_path / "Rdata.yscale").write_text("0.125 0.7\n")
    options = ["--scale", "Rdata.scale", "--y-scale", "Rdata.yscale"]
    raw, model = regression / "raw", regression / "model"
    ours, theirs = run(tmp_path, "predict", *options, raw, model, "o"), run(tmp_path, "predict", "done", model, "t")
    assert (tmp_path / "o").read_bytes() == (tmp_path / "t").read_bytes()
    assert ours.stdout == theirs.stdout and not ours.stderr
    approx = ["approx", "-q", "--precision", "double"]
    run(tmp_path, *approx, *options, model, "carried"), run(tmp_path, *approx, model, "plain")
    found = run(tmp_path, "predict", "-q", raw, "carried").stdout.split()
    expected = run(tmp_path, "predict", "-q", *options, raw, "plain").stdout.split()
    assert list(map(float, found)) == [0.125 + float(value) * 0.7 for value in expected]
