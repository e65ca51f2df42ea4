"""--scale gives the bytes of svm-scale -r and svm-predict, in every command that reads rows."""

import json
import re

import pytest

from support import forked
from support.compiling import compile_all
from support.messages import SKIPPED, sentences
from support.paths import DATA, GOLDEN
from support.processes import outcome
from support.scaling import raw_rows, run_svm_scale, scaled_folder
from support.training import train

LIMITS = {"-1 to 1": "-l -1 -u 1", "0 to 1": "-l 0 -u 1", "odd": "-l 0.1 -u 3.7"}
#: (data, training options, limits of x, scaling of y)
OWN = [
    *(("rings.train", "-g 0.5 -c 10", limits, "") for limits in LIMITS),
    *(("rings.train", "-g 0.5 -c 10 -b 1", limits, "") for limits in ("0 to 1",)),
    *(("colors.train", "-g 0.05", limits, "") for limits in LIMITS),
    *(("waves.train", "-s 3 -g 0.1", limits, y) for limits in LIMITS for y in ("", "-y -1 1", "-y 0 7.25")),
    ("rings.train", "-s 2 -n 0.3 -g 0.5", "-1 to 1", ""),
    ("colors.train", "-t 0", "0 to 1", ""),
    ("waves.train", "-s 4 -t 1 -g 0.1", "0 to 1", "-y -1 1"),
]
SHARED = [
    *("a9a.t", "banana_scale", "fourclass_scale", "haberman_scale", "heart_scale", "ijcnn1.t", "letter.scale"),
    *("mnist1.t", "optdigits_scale", "satimage.scale", "segment_scale", "sonar_scale", "spambase_scale", "u20.t"),
]


def make(folder, svm_scale, source, training, limits, y, rows=200):
    """Write train, test, range, model, scaled; return svm-scale's messages about scaled."""
    (folder / "train").write_text(raw_rows(source, rows, seed=1))
    (folder / "test").write_text(raw_rows(source, rows, seed=2))
    scaled, _ = run_svm_scale(svm_scale, folder, *limits.split(), *y.split(), "-s", "range", "train")
    labels, x = [], []
    for line in scaled.splitlines():
        label, *pairs = line.split()
        labels.append(float(label))
        x.append({int(index): float(value) for index, value in (pair.split(":") for pair in pairs)})
    train(folder / "model", x, labels, training)
    scaled, printed = run_svm_scale(svm_scale, folder, "-r", "range", "test")
    (folder / "scaled").write_text(scaled)
    return printed


def check(folder, svm_predict, fastsvm, printed, training):
    probability = ["-b", "1"] if "-b 1" in training else []
    done = fastsvm("predict", *probability, "--scale", "range", "test", "model", "ours")
    plain = fastsvm("predict", *probability, "scaled", "model", "plain")
    assert (folder / "ours").read_bytes() == (folder / "plain").read_bytes()
    assert done.out == plain.out
    assert ("denser" in done.err) == ("new      #nonzeros" in printed)
    assert ("left out" in done.err) == ("was not seen" in printed)
    if probability or training.startswith(("-s 3", "-s 4")):
        return  # last digits depend on the build of svm-predict
    theirs = outcome([svm_predict, "scaled", "model", "theirs"], cwd=folder)
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()
    assert done.out == theirs.stdout
    # The same for models that embed the range.
    for command, exact in (("approx -q --certify --scale", ["--exact", "model"]), ("order -q --carry", [])):
        fastsvm(*command.split(), "range", "model", "carrying")
        embedded_scaling = fastsvm("predict", *exact, "test", "carrying", "carried")
        assert (folder / "carried").read_bytes() == (
            folder / "theirs"
        ).read_bytes() and embedded_scaling.out == theirs.stdout


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name, training, limits, y", OWN)
def test_the_bytes_are_those_of_svm_scale_and_svm_predict(
    svm_scale, svm_predict, fastsvm, tmp_path, name, training, limits, y
):
    printed = make(tmp_path, svm_scale, DATA / name, training, LIMITS[limits], y)
    check(tmp_path, svm_predict, fastsvm, printed, training)


@pytest.mark.full
@pytest.mark.parametrize("name", SHARED)
def test_the_bytes_are_the_same_on_public_data(shared, svm_scale, svm_predict, fastsvm, tmp_path, name):
    for limits in LIMITS.values():
        printed = make(tmp_path, svm_scale, shared / "data" / name, "-g 0.05", limits, "", rows=120)
        check(tmp_path, svm_predict, fastsvm, printed, "-g 0.05")


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    folder = scaled_folder(tmp_path_factory.mktemp("scaled"))
    compile_all(folder, "approx --certify model fast", "approx --certify --scale range model carried")
    return folder


def run(folder, *words, code=0, text=None):
    done = forked.fastsvm(words, cwd=folder, text=True, input=text)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.full
@pytest.mark.parametrize(
    "options", ["", "--values", "--exact model", "--exact model --values", "--threads 1", "--json", "--open-rows -"]
)
def test_predict_answers_as_for_scaled_rows(scaled, tmp_path, options):
    model = scaled / "fast"
    options = [str(scaled / word) if word == "model" else word for word in options.split()]
    ours = run(tmp_path, "predict", *options, "--scale", scaled / "range", scaled / "rows", model, "ours")
    theirs = run(tmp_path, "predict", *options, scaled / "scaled", model, "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    clock = re.compile(r'"(seconds|rows_per_second)": [^,}]+')
    assert clock.sub("", ours.stdout) == clock.sub("", theirs.stdout) and ours.stderr == theirs.stderr


@pytest.mark.full
def test_rows_and_ranges_come_through_pipes(scaled, tmp_path):
    expected = run(tmp_path, "predict", "-q", scaled / "scaled", scaled / "model").stdout
    rows, ranges = (scaled / "rows").read_text(), (scaled / "range").read_text()
    words = ["predict", "-q", "--scale", scaled / "range", "-", scaled / "model"]
    assert run(tmp_path, *words, text=rows).stdout == expected
    words = ["predict", "-q", "--scale", "-", scaled / "rows", scaled / "model"]
    assert run(tmp_path, *words, text=ranges).stdout == expected


@pytest.mark.full
def test_bad_rows_keep_their_lines(scaled, tmp_path):
    lines = (scaled / "rows").read_text().splitlines(keepends=True)
    (tmp_path / "rows").write_text("".join([*lines[:7], "1 0:1 1:2\n", "1 1:x\n", *lines[7:]]))
    words = ["predict", "--scale", scaled / "range"]
    done = run(tmp_path, *words, "rows", scaled / "model", "out", code=1)
    why = "index 0 found, which the range file does not hold, expected indices from 1"
    assert done.stderr == f"Error: rows:8: {why}{SKIPPED}\n"
    assert not (tmp_path / "out").exists()
    done = run(tmp_path, *words, "--on-bad-row", "skip", "rows", scaled / "model", "out")
    assert done.stderr.startswith(f"Warning: rows:8: {why}\nWarning: rows:9: '1:x' found, expected index:value\n")
    run(tmp_path, "predict", "-q", scaled / "scaled", scaled / "model", "theirs")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_run_is_resumed_with_the_same_ranges_alone(scaled, tmp_path):
    """The checkpoint holds the content of the range file, not its name."""
    from support.resuming import Disk, forked

    for name in ("rows", "range", "model"):
        (tmp_path / name).write_bytes((scaled / name).read_bytes())
    words = ["predict", "--resume", "--scale", "range", "rows", "model", "out"]

    def stop():
        import os
        import signal

        return Disk(30, death=lambda: os.kill(os.getpid(), signal.SIGTERM))

    forked(tmp_path, *words, prepare=stop, code=143)
    (tmp_path / "range").rename(tmp_path / "same")
    (tmp_path / "range").write_text((tmp_path / "same").read_text().replace("0 1\n", "-1 1\n", 1))
    stored = (tmp_path / "out.partial").read_bytes()
    done = forked(tmp_path, *words, code=1)
    assert "begun with --scale 'a file of SHA-256 " in done.err and "remove out.partial to start" in done.err
    done = forked(tmp_path, "predict", "--resume", "rows", "model", "out", code=1)
    assert "and this command has unset" in done.err
    assert (tmp_path / "out.partial").read_bytes() == stored
    forked(tmp_path, "predict", "--resume", "--scale", "same", "rows", "model", "out")
    run(tmp_path, "predict", "-q", scaled / "scaled", "model", "theirs")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.full
def test_bound_measures_scaled_rows(scaled, tmp_path):
    """It warns once, although it reads the rows twice."""

    def report(*words):
        done = run(tmp_path, "bound", "--json", *words)
        found = json.loads(done.stdout)
        del found["seconds"]
        for each in (*found["data"], *found["pairs"]):
            for key in ("file", "data", "next"):  # next: with --scale for raw rows
                each.pop(key, None)
        return found, done.stderr

    ours, _ = report("--scale", scaled / "range", scaled / "fast", scaled / "rows")
    theirs, _ = report(scaled / "fast", scaled / "scaled")
    assert ours == theirs
    (tmp_path / "few").write_text("x\n0 1\n1 -4 4\n")
    entries = sum(line.count(":") - 1 for line in (scaled / "rows").read_text().splitlines())
    _, printed = report("--scale", "few", scaled / "rows")
    assert f"Warning: {entries} values left out, of features that few does not hold (the first: 2)" in printed


@pytest.mark.full
def test_order_scales_the_rows_it_is_given(scaled, tmp_path):
    command = "order --fold ROWS MODEL"
    for rows, scale, out in (("rows", ["--scale", scaled / "range"], "ours"), ("scaled", [], "theirs")):
        words = [{"ROWS": scaled / rows, "MODEL": scaled / "model"}.get(word, word) for word in command.split()]
        run(tmp_path, words[0], "-q", *scale, *words[1:], out)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.full
def test_bench_gives_every_program_scaled_rows(scaled, tmp_path):
    words = ["bench", "-q", "--json", "--runs", "1", "--scale", scaled / "range", "--budget", "100%"]
    done = run(tmp_path, *words, scaled / "rows", scaled / "model", scaled / "fast")
    cases = {case["name"]: case for case in json.loads(done.stdout)["cases"]}
    assert cases["exact model"]["labels_that_differ"] == 0 and not cases["exact model"]["failed"]
    assert cases["fast, predict --exact"]["labels_that_differ"] == 0
    plain = run(tmp_path, "predict", "--json", scaled / "scaled", scaled / "fast", "out")
    assert cases["fast"]["accuracy"] == json.loads(plain.stdout)["accuracy"]
    by_program = f"svm-scale -r {scaled / 'range'} "  # fastsvm-predict scales no rows
    assert f"fastsvm predict --scale {scaled / 'range'} " in done.stderr or by_program in done.stderr


@pytest.mark.full
def test_reduce_says_what_rows_must_not_have(scaled, tmp_path):
    text = (scaled / "scaled").read_text()
    rows = [line.split() for line in text.splitlines()]
    x = [{int(pair.split(":")[0]): float(pair.split(":")[1]) for pair in words[1:]} for words in rows]
    train(tmp_path / "model", x, [float(words[0]) for words in rows], "-g 0.5 -c 10")
    count = max(max(row, default=0) for row in x)
    (tmp_path / "range").write_text("x\n-1 1\n" + "".join(f"{i} -4 4\n" for i in [*range(1, count + 1), count + 2]))
    words = ["reduce", "--vectors", "9", "--scale", "range"]
    hole = "Features that range does not hold must not be in the rows: a LIBSVM model counts them.\n"
    assert hole in run(tmp_path, *words, "model", "out").stdout
    (tmp_path / "raw").write_text(f"1 1:1 {count + 1}:5\n-1 1:1\n")
    printed = run(tmp_path, *words, "--data", "raw", "model", "out").stderr
    assert f"Warning: the rows have feature {count + 1}, which range does not hold: svm-scale leaves it out" in printed
    run(tmp_path, "reduce", "-q", "--lossless", "--scale", "range", "model", "folded")
    done = run(tmp_path, "order", "--scale", "range", "--fold", "raw", "folded", "o", code=2)
    assert "folded takes raw rows, because --scale is folded into it: give it no --scale." in done.stderr


@pytest.mark.full(few=2)
@pytest.mark.parametrize("words, code, why", sentences("ranges"))
def test_what_does_not_go_with_a_range_file_is_said_in_a_line(scaled, tmp_path, words, code, why):
    from support.bad_rows import PRECOMPUTED

    for name in ("rows", "range", "model"):
        (tmp_path / name).write_bytes((scaled / name).read_bytes())
    (tmp_path / "precomputed").write_text(PRECOMPUTED)
    (tmp_path / "r").write_text("0 2\n1 0.5\n")
    (tmp_path / "bad").write_text("1 -2\n")
    (tmp_path / "carried").write_bytes((scaled / "carried").read_bytes())
    (tmp_path / "folded").write_bytes((GOLDEN / "raw-rows" / "c_svc.approx").read_bytes())
    (tmp_path / "raw").write_bytes((GOLDEN / "version2" / "epsilon_svr.folded").read_bytes())
    (tmp_path / "classes").write_bytes((GOLDEN / "raw-rows" / "c_svc.folded").read_bytes())
    (tmp_path / "r2").write_text("x\n0 1\n1 0 1\n")
    (tmp_path / "far").write_text("x\n0 1\n1 1e12 1000000000010\n" + "".join(f"{i} 0 1\n" for i in range(2, 99)))
    (tmp_path / "y2").write_text("y\n0 1\n-1 1\n" + (scaled / "range").read_text())
    (tmp_path / "serials").write_text("1 0:1 1:0.5 2:0.25 3:0.125\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(tmp_path, *words.split(), code=int(code), text="")
    last = done.stderr.splitlines()[-1]
    assert why in last and "--dense" not in last
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.full
def test_a_regression_model_of_write_svm(scaled, tmp_path):
    """Same predictions and error as for rows and labels scaled before."""
    rows = [line.split() for line in (DATA / "waves.train").read_text().splitlines()[:200]]
    count = max(int(pair.split(":")[0]) for words in rows for pair in words[1:])
    center, scale = [0.25 * i - 0.3 for i in range(count)], [0.5 + 0.1 * i for i in range(count)]
    x, y = [], []
    for label, *pairs in rows:
        row = {int(pair.split(":")[0]): float(pair.split(":")[1]) for pair in pairs}
        x.append({i + 1: (row.get(i + 1, 0.0) - center[i]) / scale[i] for i in range(count)})
        y.append((float(label) - 0.125) / 0.7)
    train(tmp_path / "model", x, y, "-s 3 -g 0.1")
    (tmp_path / "raw").write_text("".join(" ".join(words) + "\n" for words in rows))
    (tmp_path / "done").write_text(
        "".join(
            f"{label!r} " + " ".join(f"{i}:{value!r}" for i, value in row.items() if value) + "\n"
            for label, row in zip(y, x)
        )
    )
    (tmp_path / "Rdata.scale").write_text("".join(f"{c!r} {s!r}\n" for c, s in zip(center, scale)))
    (tmp_path / "Rdata.yscale").write_text("0.125 0.7\n")
    ours = run(tmp_path, "predict", "--scale", "Rdata.scale", "--y-scale", "Rdata.yscale", "raw", "model", "ours")
    theirs = run(tmp_path, "predict", "done", "model", "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert ours.stdout == theirs.stdout and not ours.stderr
    # An expansion that embeds the range predicts in R's original unit.
    scale = ["--scale", "Rdata.scale", "--y-scale", "Rdata.yscale"]
    run(tmp_path, "approx", "-q", "--degree", "4", "--precision", "double", *scale, "model", "carried")
    run(tmp_path, "approx", "-q", "--degree", "4", "--precision", "double", "model", "plain")
    run(tmp_path, "predict", "-q", "raw", "carried", "ours")
    run(tmp_path, "predict", "-q", *scale, "raw", "plain", "theirs")
    found, expected = ([float(word) for word in (tmp_path / name).read_text().split()] for name in ("ours", "theirs"))
    assert found == [0.125 + value * 0.7 for value in expected]
