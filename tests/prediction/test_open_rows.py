"""--open-rows and --outside-rows: the rows that a fast model does not prove, or that are outside its bound, as LIBSVM
data with their line numbers. Which rows these are is told by the models' radii and, for the bound, by its own
formula."""

import gzip
import json
import os
import random
import re
import struct
import subprocess

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_predict, svm_read_problem, svm_save_model, svm_train

from fastsvm_cli import _native
from fastsvm_cli.models import load_model
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.text import data
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.data import read_chunks
from support import oracles
from support.bad_rows import spoil
from support.evaluation import decide
from support.places import DATA, FASTSVM
from support.processes import PATIENCE, peak_memory

#: How a model is trained, compiled and asked; the tolerance of a regression model.
CASES = {
    "two": ("rings", "-g 0.2 -c 10 -b 1", "approx --certify", []),
    "three": ("colors", "-g 0.02 -c 1 -b 1", "approx --certify", []),
    "one": ("rings", "-s 2 -n 0.3 -g 0.5", "approx --certify --degree 1", []),
    "regression": ("waves", "-s 3 -g 0.05 -c 5", "approx --certify --degree 1", ["--tolerance", "0.05"]),
    "reduced": ("colors", "-g 0.02 -c 1", "reduce --ratio 0.8 --no-finish", []),
    "steps": ("rings", "-g 0.2 -c 10", "order", ["--steps", "9"]),
}
UNKNOWN = 2_000_000_000  # an index no support vector has


@pytest.fixture(scope="module")
def folder(tmp_path_factory, serial_libsvm):
    """A folder with a model of each case: NAME.model, NAME.fast, and NAME.rows, whose numbers are hard to write."""
    folder = tmp_path_factory.mktemp("open")
    for name, (source, training, compiling, _) in CASES.items():
        y, x = svm_read_problem(str(DATA / f"{source}.train"))
        svm_save_model(str(folder / f"{name}.model"), svm_train(y[:300], x[:300], f"-q {training}"))
        command, *options = compiling.split()
        done = subprocess.run(
            [FASTSVM, command, "-q", *options, f"{name}.model", f"{name}.fast"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        (folder / f"{name}.rows").write_text("".join(awkward(random.Random(name), y[300:500], x[300:500])))
    subprocess.run([FASTSVM, "approx", "-q", "two.model", "plain"], cwd=folder, check=True)
    return folder


def awkward(rng, labels, rows):
    """Lines of rows that need all their digits; among them zero vectors, negative zeros, tiny numbers, unknown indices
    and comments."""
    for at, (label, row) in enumerate(zip(labels, rows)):
        row = {index: value * (1 + rng.uniform(-1e-9, 1e-9)) for index, value in row.items()}
        if at % 7 == 1:
            row[UNKNOWN] = 10 ** rng.uniform(-3, 0.5)
        if at % 11 == 3:
            row[2] = -0.0
        if at % 13 == 5:
            row[3] = 5e-324
        if at % 17 == 6:
            row = {}
        if at % 19 == 8:
            label = rng.choice([0.1, 1e-7, 1e300, -0.0, 123456789.123])
        yield oracles.row_text(label, row) + rng.choice(["", "", " # a comment: 17", " "]) + "\n"


def bits(value):
    return struct.pack(">d", value)


def parsed(line):
    """(label, {index: value}, line number or None), numbers as their 64 bits."""
    words, _, comment = line.partition("#")
    label, *entries = words.split()
    pairs = (entry.split(":") for entry in entries)
    number = int(comment) if re.fullmatch(r" \d+\n?", comment) else None
    return bits(float(label)), {int(index): bits(float(value)) for index, value in pairs}, number


def open_by_radii(case, values, radii):
    """Which rows are not proven, by the definition: (rows) bool."""
    if case == "regression":
        return radii[:, 0] > float(CASES[case][3][1])
    if values.shape[1] == 1:
        return np.abs(values[:, 0]) <= radii[:, 0]
    classes = int((1 + (1 + 8 * values.shape[1]) ** 0.5) / 2)
    out = []
    for value, radius in zip(values, radii):
        low, high, pair = np.zeros(classes, int), np.zeros(classes, int), 0
        for i in range(classes):
            for j in range(i + 1, classes):
                if abs(value[pair]) > radius[pair]:
                    winner = i if value[pair] > 0 else j
                    low[winner] += 1
                    high[winner] += 1
                else:
                    high[[i, j]] += 1
                pair += 1
        settled = [
            all(low[w] > high[c] or (low[w] == high[c] and w < c) for c in range(classes) if c != w)
            for w in range(classes)
        ]
        out.append(not any(settled))
    return np.array(out)


def expected_open(folder, case, path):
    """Line numbers of the open rows of a file."""
    model = load_model(str(folder / f"{case}.fast"))
    if case == "steps":
        model.stop_after(9)
    found = []
    for chunk in read_chunks(str(path)):
        is_open = open_by_radii(case, *decide(model, chunk))
        found += (np.flatnonzero(is_open) + chunk.first_line).tolist()
    return found


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["radii", "exact", "values"])
def test_open_rows_are_those_the_radii_leave_open(fastsvm, folder, tmp_path, case, way):
    rows, options = folder / f"{case}.rows", [*CASES[case][3], *["--values"] * (way == "values")]
    lines = rows.read_text().splitlines(keepends=True)
    wanted = expected_open(folder, case, rows)
    assert 3 < len(wanted) < len(lines) - 3  # or the test proves nothing
    exact = ["--exact", folder / f"{case}.model"] if way == "exact" else []
    given = [*options, *exact, rows, folder / f"{case}.fast"]
    if case != "regression" or exact:
        plain = fastsvm("predict", *given, "plain")
    done = fastsvm("predict", "--open-rows", "open", *given, "out")
    if case != "regression" or exact:
        assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes() and done.out == plain.out
    written = (tmp_path / "open").read_text().splitlines(keepends=True)
    assert [parsed(line)[2] for line in written] == wanted
    assert [parsed(line)[:2] for line in written] == [parsed(lines[number - 1])[:2] for number in wanted]

    answering = options if exact or case != "regression" else options[2:]  # without --tolerance
    again = fastsvm("predict", *answering, *exact, "open", folder / f"{case}.fast", "again")
    answers = (tmp_path / "out").read_text().splitlines()
    assert (tmp_path / "again").read_text().splitlines() == [answers[number - 1] for number in wanted], str(again)

    summary = json.loads(fastsvm("predict", "--json", "--open-rows", "open", *given, "out").out)
    assert summary["rows_open"] == len(wanted)
    if exact:
        assert summary["rows_evaluated"] == len(wanted)
    elif case == "steps":
        assert summary["rows_decided"] == len(lines) - len(wanted)
    else:
        assert f"Proven: {len(lines) - len(wanted)} of {len(lines)} rows" in done.err and "left open" in done.err


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("source", ["gzip", "-", "dense", "unlabelled", "dense unlabelled", "crlf"])
def test_whatever_the_data_comes_as(fastsvm, folder, tmp_path, source, threads):
    plain = folder / "two.rows"
    text = re.sub(r" #.*| +$", "", plain.read_text(), flags=re.M)
    options, given, label = [], None, None
    if "dense" in source:
        y, x = svm_read_problem(str(DATA / "rings.train"))
        width = max(max(row) for row in x)
        columns = [[row.get(index, 0.0) for index in range(1, width + 1)] for row in x[300:500]]
        text = "".join(
            " ".join([str(label), *(f"{at}:{value!r}" for at, value in enumerate(row, 1))]) + "\n"
            for label, row in zip(y[300:500], columns)
        )
        leading = [[]] * 200 if "unlabelled" in source else [[label] for label in y[300:500]]
        data = "".join(";".join(map(repr, [*first, *row])) + "\n" for first, row in zip(leading, columns))
        options = ["--dense", "--delim", ";"]
    elif source == "unlabelled":
        data = "".join(line.partition(" ")[2] + "\n" for line in text.splitlines())
    else:
        data = text.replace("\n", "\r\n") if source == "crlf" else text
    (tmp_path / "plain").write_text(text)
    options += ["--unlabelled"] * ("unlabelled" in source)
    data = gzip.compress(data.encode()) if source == "gzip" else data.encode()
    (tmp_path / "data").write_bytes(data)
    model = folder / "two.fast"
    given = dict(input=data) if source == "-" else {}
    done = fastsvm(
        "predict",
        "--threads",
        threads,
        "--open-rows",
        "open",
        *options,
        "-" if given else "data",
        model,
        "out",
        **given,
    )
    assert done.code == 0
    wanted = expected_open(folder, "two", tmp_path / "plain")
    assert len(wanted) > 3
    lines = text.splitlines()
    written = [parsed(line) for line in (tmp_path / "open").read_text().splitlines()]
    assert [line[2] for line in written] == wanted
    for (label, row, number), line in zip(written, [lines[number - 1] for number in wanted]):
        assert row == parsed(line)[1], number
        assert label == (bits(0.0) if "unlabelled" in source else parsed(line)[0])
    fastsvm("predict", "-q", "open", model, "again")
    answers = (tmp_path / "out").read_text().splitlines()
    assert (tmp_path / "again").read_text().splitlines() == [answers[number - 1] for number in wanted]


@pytest.mark.parametrize("how", ["skip", "nan"])
@pytest.mark.parametrize("seed", range(6))
def test_line_numbers_count_the_lines_that_are_no_rows(fastsvm, folder, tmp_path, how, seed):
    lines = (folder / "three.rows").read_text().splitlines(keepends=True)
    text, where = spoil(lines, random.Random(seed))
    (tmp_path / "bad").write_text(text)
    bad = {number for number, _ in where}
    places = [number for number in range(1, len(text.splitlines()) + 1) if number not in bad]  # of the good rows
    wanted = [places[number - 1] for number in expected_open(folder, "three", folder / "three.rows")]
    fastsvm("predict", "--on-bad-row", how, "--open-rows", "open", "bad", folder / "three.fast", "out")
    written = [parsed(line) for line in (tmp_path / "open").read_text().splitlines()]
    assert [line[2] for line in written] == wanted and bad
    assert [line[:2] for line in written] == [parsed(text.splitlines()[number - 1])[:2] for number in wanted]


def test_lines_of_rows_that_cannot_be_evaluated_are_counted_too():
    """BadRows.lines between `drop` and `fill`, over pieces of a chunk, against a list of what became of every line."""
    rng = random.Random(3)
    for _ in range(300):
        fates = rng.choices(["good", "unreadable", "dropped"], [5, 2, 1], k=rng.randint(0, 40))
        gaps, rows = {}, 0
        for fate in fates:
            if fate == "unreadable":
                gaps[rows] = gaps.get(rows, 0) + 1
            else:
                rows += 1
        bad_rows = BadRows("data")
        bad_rows.begin(101, sorted(gaps.items()), [])
        read = [(101 + at, fate) for at, fate in enumerate(fates) if fate != "unreadable"]
        found = []
        while read:
            piece, read = read[: (cut := rng.randint(1, 9))], read[cut:]
            bad_rows.drop([(at, "why") for at, (_, fate) in enumerate(piece) if fate == "dropped"])
            good = [line for line, fate in piece if fate == "good"]
            chosen = [at for at in range(len(good)) if rng.random() < 0.7]
            found += list(zip(bad_rows.lines(chosen), [good[at] for at in chosen]))
            list(bad_rows.fill(b"x\n" * len(good), len(good)))
        assert all(given == true for given, true in found)


@pytest.mark.parametrize("center", ["mean", "origin", "pair"])
@pytest.mark.parametrize("certify", [[], ["--certify"]])
def test_outside_rows_are_those_beyond_eq_3_11(fastsvm, folder, tmp_path, center, certify):
    fastsvm("approx", "-q", *certify, "--center", center, folder / "three.model", "fast")
    machine = oracles.Machine.read((folder / "three.model").read_bytes())
    rng = random.Random(center)
    features = machine.features
    rows = [
        {index: size * rng.gauss(0, 1) for index in features}
        for size in (10 ** rng.uniform(-2, 2.5) for _ in range(300))
    ]
    (tmp_path / "rows").write_bytes(oracles.data_text(rows))
    fast = load_model(str(tmp_path / "fast"))
    first = np.cumsum([0, *machine.nr_sv])
    outside, near = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    for i, j in machine.pairs:
        used = (
            [*range(first[i], first[i + 1]), *range(first[j], first[j + 1])] if center == "pair" else range(first[-1])
        )
        vectors = oracles.dense(machine.vectors, features)[used]
        point = {} if center == "origin" else dict(zip(features, vectors.mean(axis=0).astype(float)))
        ratio = oracles.bound_ratio(machine, rows, point, list(used))
        outside |= ratio >= 1
        near |= np.abs(ratio - 1) < 1e-3  # the center is stored in single precision
    assert fast.bounded and 10 < outside.sum() < 290
    done = fastsvm("predict", "--json", "--outside-rows", "outside", "rows", "fast", "out")
    written = [parsed(line) for line in (tmp_path / "outside").read_text().splitlines()]
    assert json.loads(done.out)["rows_outside_bound"] == len(written)
    found = np.isin(np.arange(1, 301), [line[2] for line in written])
    assert (found == outside)[~near].all()
    lines = (tmp_path / "rows").read_text().splitlines()
    assert [line[:2] for line in written] == [parsed(lines[line[2] - 1])[:2] for line in written]


def test_decisions_mark_the_rows_outside(folder):
    model = load_model(str(folder / "plain"))
    near, far = " ".join(f"{i}:0.5" for i in range(1, 9)), " ".join(f"{i}:50" for i in range(1, 9))
    chunk = _native.parse("".join(f"1 {far if at in (0, 3, 200, 299) else near}\n" for at in range(300)).encode())[0]
    decisions = _native.Decisions(model.pairs)
    model.decision_values(chunk, decisions)
    assert decisions.outside_rows == [0, 3, 200, 299] and decisions.outside == 4
    load_model(str(folder / "two.model")).decision_values(chunk, decisions)
    assert decisions.outside_rows == [] and decisions.outside == 0


def test_both_files_and_a_pipeline(fastsvm, folder, tmp_path):
    """The rows that are open go through a pipe to another program, here svm-predict's, and come back as its labels."""
    rows, model = folder / "two.rows", folder / "two.fast"
    fastsvm("predict", "-q", "--open-rows", "open", "--outside-rows", "outside", rows, model, "out")
    piped = fastsvm("predict", "--open-rows", "-", "--outside-rows", "outside2", rows, model, "out2")
    assert piped.out == (tmp_path / "open").read_text() and "Accuracy" in piped.err
    assert (tmp_path / "outside2").read_bytes() == (tmp_path / "outside").read_bytes()
    assert (tmp_path / "out2").read_bytes() == (tmp_path / "out").read_bytes()
    command = (
        f"'{FASTSVM}' predict -q --open-rows - '{rows}' '{model}' out3 | '{FASTSVM}' predict -q - '{folder}/two.model'"
    )
    labels = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    ).stdout.split()
    numbers = [parsed(line)[2] for line in piped.out.splitlines()]
    fastsvm("predict", "-q", "--exact", folder / "two.model", rows, model, "exact")
    merged = (tmp_path / "out").read_text().split()
    for number, label in zip(numbers, labels, strict=True):
        merged[number - 1] = label
    assert merged == (tmp_path / "exact").read_text().split()


def test_other_readers(fastsvm, folder, tmp_path, svm_predict):
    """svm-predict, scikit-learn and, with the comments cut off by sed, LIBSVM's Python package."""
    from sklearn.datasets import load_svmlight_file

    def theirs(test, model):
        subprocess.run([svm_predict, test, model, "theirs"], cwd=tmp_path, check=True, capture_output=True)
        return (tmp_path / "theirs").read_text().splitlines()

    for name in ("three", "two"):
        lines = (folder / f"{name}.rows").read_text().splitlines(keepends=True)
        lines = [line for line in lines if "e-324" not in line and ": 17" not in line]  # LIBSVM refuses these
        text = "".join(
            line.replace(f"{UNKNOWN}:", "100:") for line in lines
        )  # which no reader of matrices has room for
        (tmp_path / "rows").write_text(text)
        exact = folder / f"{name}.model"
        options = ["-b", 1] if name == "three" else ["--exact", exact]  # of three classes no probability is proven
        fastsvm("predict", "-q", "--open-rows", "open", *options, "rows", folder / f"{name}.fast", "out")
        written = (tmp_path / "open").read_text().splitlines()
        assert len(written) > 3 and (name == "two" or any(parsed(line)[1] == {} for line in written))
        answers = theirs("rows", exact)
        expected = [answers[parsed(line)[2] - 1] for line in written]
        assert theirs("open", exact) == expected

    x, y = load_svmlight_file(str(tmp_path / "open"), zero_based=False)
    for r, line in enumerate(written):
        label, row, _ = parsed(line)
        assert bits(y[r]) == label
        stored = {int(index) + 1: bits(value) for index, value in zip(x[r].indices, x[r].data)}
        assert stored == row

    stripped = subprocess.run(
        "sed 's/ *#.*//' open", shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    (tmp_path / "stripped").write_text(stripped)
    y, x = svm_read_problem(str(tmp_path / "stripped"))
    found, _, _ = predict_quietly(y, x, folder / "two.model")
    assert [str(int(label)) for label in found] == expected


def predict_quietly(y, x, path):
    return svm_predict(y, x, svm_load_model(str(path)), "-q")


@pytest.mark.parametrize("exact", [False, True])
def test_probabilities_that_the_radii_leave_open(fastsvm, folder, tmp_path, exact):
    """Two classes: with -b 1 a row is proven where both ends of its interval print alike; of more, none is."""

    def more(name):
        return ["--exact", folder / f"{name}.model"] if exact else []

    for name in ("two", "three"):
        summary = json.loads(
            fastsvm(
                "predict",
                "--json",
                "-b",
                1,
                "--open-rows",
                "open",
                *more(name),
                folder / f"{name}.rows",
                folder / f"{name}.fast",
                "out",
            ).out
        )
        count = len((tmp_path / "open").read_text().splitlines())
        assert summary["rows_open"] == count > 3
        assert name == "two" or count == 200
    if not exact:
        values, radii = [], []
        model = load_model(str(folder / "two.fast"))
        for chunk in read_chunks(str(folder / "two.rows")):
            value, radius = decide(model, chunk)
            values, radii = [*values, *value[:, 0]], [*radii, *radius[:, 0]]
        a, b = model.header.probA[0], model.header.probB[0]

        def odds(f):
            return "%g" % min(max(1 / (1 + np.exp(a * f + b)), 1e-7), 1 - 1e-7)

        wanted = [at for at, (f, r) in enumerate(zip(values, radii), 1) if odds(f - r) != odds(f + r)]
        fastsvm("predict", "-b", 1, "--open-rows", "open", folder / "two.rows", folder / "two.fast", "out")
        found = {parsed(line)[2] for line in (tmp_path / "open").read_text().splitlines()}
        assert set(wanted) <= found and len(wanted) > 3 and len(found) < 200


@pytest.mark.parametrize(
    "options, model, message",
    [
        (
            ["--open-rows", "o"],
            "plain",
            (
                "Error: {0}: the model has no certificates: fastsvm approx --certify and fastsvm reduce make models"
                " that do"
            ),
        ),
        (["--open-rows", "o"], "two.model", "Error: {0}: a LIBSVM model found, whose labels are exact already"),
        (["--open-rows", "o"], "steps.fast", "Error: {0}: its labels are exact already"),
        (
            ["--outside-rows", "o"],
            "two.model",
            "Error: {0}: the model has no bound (eq. 3.11): only RBF expansions, from fastsvm approx, have one",
        ),
        (
            ["--outside-rows", "o"],
            "reduced.fast",
            "Error: {0}: the model has no bound (eq. 3.11): only RBF expansions, from fastsvm approx, have one",
        ),
        (
            ["--open-rows", "o"],
            "regression.fast",
            "Error: --open-rows needs --tolerance for a regression model: the largest radius a value may keep.",
        ),
        (
            ["--open-rows", "o", "--tolerance", "1"],
            "two.fast",
            "Error: --tolerance is for regression models; a label is proven or it is not.",
        ),
        (
            ["--open-rows", "o", "--resume"],
            "two.fast",
            "Error: --resume keeps the lines of OUTPUT_FILE alone: it does not go with --open-rows.",
        ),
        (
            ["--outside-rows", "o", "--resume"],
            "two.fast",
            "Error: --resume keeps the lines of OUTPUT_FILE alone: it does not go with --outside-rows.",
        ),
        (
            ["--open-rows", "out"],
            "two.fast",
            "Error: out: two outputs would be written to it; name another file for one of them",
        ),
        (
            ["--open-rows", "link"],
            "two.fast",
            "Error: link: two outputs would be written to it (it is out too); name another file for one of them",
        ),
        (
            ["--open-rows", "hard"],
            "two.fast",
            "Error: hard: two outputs would be written to it (it is out too); name another file for one of them",
        ),
        (
            ["--open-rows", "new", "--outside-rows", "./new"],
            "two.fast",
            "Error: ./new: two outputs would be written to it (it is new too); name another file for one of them",
        ),
        (
            ["--open-rows", "rows"],
            "two.fast",
            "Error: rows: the output would replace the input; name another output file",
        ),
        (
            ["--outside-rows", "rows"],
            "two.fast",
            "Error: rows: the output would replace the input; name another output file",
        ),
        (["--open-rows", "nowhere/o"], "two.fast", "Error: nowhere/o: No such file or directory"),
    ],
)
def test_refused_in_one_line_before_any_work(fastsvm, folder, tmp_path, options, model, message):
    (tmp_path / "rows").write_text("this is no row\n")  # had it been read, it would be said
    (tmp_path / "out").write_text("before")
    os.symlink("out", tmp_path / "link")
    os.link(tmp_path / "out", tmp_path / "hard")
    done = fastsvm("predict", *options, "rows", folder / model, "out", code=None)
    assert done.code in (1, 2) and done.err.splitlines()[-1] == message.format(folder / model)
    assert (
        sorted(os.listdir(tmp_path)) == ["hard", "link", "out", "rows"] and (tmp_path / "out").read_text() == "before"
    )


def test_rows_and_answers_cannot_both_be_standard_output(fastsvm, folder, tmp_path):
    done = fastsvm("predict", "--open-rows", "-", folder / "two.rows", folder / "two.fast", code=1)
    assert done.out == "" and "two outputs would be written to it" in done.err
    fastsvm(
        "predict",
        "-q",
        "--open-rows",
        "/dev/null",
        "--outside-rows",
        "/dev/null",
        folder / "two.rows",
        folder / "two.fast",
        "/dev/null",
    )


def test_a_reduced_sets_probabilities_need_the_exact_model(fastsvm, folder):
    fastsvm("reduce", "-q", "--ratio", 0.2, "--no-finish", folder / "two.model", "small")
    done = fastsvm("predict", "-b", 1, "--open-rows", "o", folder / "two.rows", "small", "out", code=2)
    assert "--open-rows with -b 1 needs --exact" in done.err
    fastsvm(
        "predict",
        "-q",
        "-b",
        1,
        "--open-rows",
        "o",
        "--exact",
        folder / "two.model",
        folder / "two.rows",
        "small",
        "out",
    )


def test_a_run_that_fails_leaves_every_file_as_it_was(fastsvm, folder, tmp_path):
    for name in ("out", "open", "outside"):
        (tmp_path / name).write_text(f"{name} of before")
    rows = (folder / "two.rows").read_text()
    (tmp_path / "bad").write_text(rows + "foo\n")
    fastsvm("predict", "--open-rows", "open", "--outside-rows", "outside", "bad", folder / "two.fast", "out", code=1)
    fastsvm(
        "predict", "--open-rows", "open", "--exact", folder / "three.model", "bad", folder / "two.fast", "out", code=1
    )
    for name in ("out", "open", "outside"):
        assert (tmp_path / name).read_text() == f"{name} of before"
    assert sorted(os.listdir(tmp_path)) == ["bad", "open", "out", "outside"]


def test_nothing_goes_down_a_pipe_before_the_exact_model_is_known(fastsvm, folder):
    done = fastsvm(
        "predict",
        "--open-rows",
        "-",
        "--exact",
        folder / "three.model",
        folder / "two.rows",
        folder / "two.fast",
        "out",
        code=1,
    )
    assert done.out == "" and "fingerprints differ" in done.err


def test_no_rows_are_open(fastsvm, folder, tmp_path):
    (tmp_path / "none").write_text("")
    fastsvm("predict", "-q", "--open-rows", "open", "--outside-rows", "outside", "none", folder / "two.fast", "out")
    assert (
        (tmp_path / "open").read_bytes()
        == (tmp_path / "outside").read_bytes()
        == (tmp_path / "out").read_bytes()
        == b""
    )


def test_memory_does_not_grow_with_the_rows(folder, tmp_path):
    text = (folder / "two.rows").read_text()
    (tmp_path / "short").write_text(text * 100)
    (tmp_path / "long").write_text(text * 1000)
    options = ["-q", "--threads", 1, "--open-rows", "open", "--outside-rows", "outside"]
    short, long = (
        peak_memory(FASTSVM, "predict", *options, name, folder / "two.fast", "out", cwd=tmp_path)
        for name in ("short", "long")
    )
    assert (tmp_path / "open").stat().st_size > 1e6 and long < short + 6e6, (short, long)


@pytest.mark.parametrize("skipping", [False, True])
def test_line_numbers_of_rows_that_are_evaluated_a_few_at_a_time(folder, monkeypatch, skipping):
    """As those of models with many pairs of classes are."""
    monkeypatch.setattr(data, "MOST_VALUES", 3 * 7)  # three pairs: seven rows at a time
    text = (folder / "three.rows").read_bytes()
    options = {}
    if skipping:
        lines = text.splitlines(keepends=True)
        text = b"".join(b"foo\n" * (at % 5 == 0) + line for at, line in enumerate(lines))
        options["bad_rows"] = BadRows("bad")
    path = folder / f"apart-{skipping}"
    path.write_bytes(text)
    wanted = expected_open(folder, "three", folder / "three.rows")
    if skipping:
        wanted = [number + (number - 1) // 5 + 1 for number in wanted]
    written = []
    chunks = read_chunks(str(path), size=1000, **options)
    model = load_model(str(folder / "three.fast"))
    predict(model, chunks, lambda lines: None, path="rows", write_open=written.append, **options)
    assert [parsed(line)[2] for line in b"".join(written).decode().splitlines()] == wanted
