"""--open-rows and --outside-rows: rows that a fast model does not prove, or outside its bound, with line numbers. The
expected rows follow from the models' radii and the bound's formula."""

import gzip
import json
import random
import re
import subprocess

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem
from libsvm.svmutil import svm_predict as libsvm_predict

from fastsvm_cli.models import load_model
from fastsvm_cli.text.line_blocks import BadRows
from fastsvm_cli.text.read_rows import read_chunks
from support import oracles
from support.bad_rows import spoil
from support.evaluation import decide
from support.open_rows import CASES, UNKNOWN, bits, expected_open, parsed
from support.paths import DATA, FASTSVM
from support.processes import outcome

pytestmark = pytest.mark.usefixtures("serial_libsvm")


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["radii", "exact", "values"])
def test_open_rows_are_those_the_radii_leave_open(fastsvm, folder, tmp_path, case, way):
    rows, options = folder / f"{case}.rows", [*CASES[case][3], *["--values"] * (way == "values")]
    lines = rows.read_text().splitlines(keepends=True)
    requested = expected_open(folder, case, rows)
    assert 3 < len(requested) < len(lines) - 3  # otherwise nothing is tested
    exact = ["--exact", folder / f"{case}.model"] if way == "exact" else []
    given = [*options, *exact, rows, folder / f"{case}.fast"]
    if case != "regression" or exact:
        plain = fastsvm("predict", *given, "plain")
    done = fastsvm("predict", "--open-rows", "open", *given, "out")
    if case != "regression" or exact:
        assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes() and done.out == plain.out
    written = (tmp_path / "open").read_text().splitlines(keepends=True)
    assert [parsed(line)[2] for line in written] == requested
    assert [parsed(line)[:2] for line in written] == [parsed(lines[number - 1])[:2] for number in requested]

    answering = options if exact or case != "regression" else options[2:]  # without --tolerance
    again = fastsvm("predict", *answering, *exact, "open", folder / f"{case}.fast", "again")
    answers = (tmp_path / "out").read_text().splitlines()
    assert (tmp_path / "again").read_text().splitlines() == [answers[number - 1] for number in requested], str(again)

    summary = json.loads(fastsvm("predict", "--json", "--open-rows", "open", *given, "out").out)
    assert summary["rows_open"] == len(requested)
    if exact:
        assert summary["rows_evaluated"] == len(requested)
    elif case == "steps":
        assert summary["rows_decided"] == len(lines) - len(requested)
    else:
        assert f"Proven: {len(lines) - len(requested)} of {len(lines)} rows" in done.err and "undecided" in done.err


@pytest.mark.full(few=1)
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
    requested = expected_open(folder, "two", tmp_path / "plain")
    assert len(requested) > 3
    lines = text.splitlines()
    written = [parsed(line) for line in (tmp_path / "open").read_text().splitlines()]
    assert [line[2] for line in written] == requested
    for (label, row, number), line in zip(written, [lines[number - 1] for number in requested]):
        assert row == parsed(line)[1], number
        assert label == (bits(0.0) if "unlabelled" in source else parsed(line)[0])
    fastsvm("predict", "-q", "open", model, "again")
    answers = (tmp_path / "out").read_text().splitlines()
    assert (tmp_path / "again").read_text().splitlines() == [answers[number - 1] for number in requested]


@pytest.mark.full(few=4)
@pytest.mark.parametrize("how", ["skip", "nan"])
@pytest.mark.parametrize("seed", range(6))
def test_line_numbers_count_the_lines_that_are_no_rows(fastsvm, folder, tmp_path, how, seed):
    lines = (folder / "three.rows").read_text().splitlines(keepends=True)
    text, where = spoil(lines, random.Random(seed))
    (tmp_path / "bad").write_text(text)
    bad = {number for number, _ in where}
    positions = [number for number in range(1, len(text.splitlines()) + 1) if number not in bad]  # of the good rows
    requested = [positions[number - 1] for number in expected_open(folder, "three", folder / "three.rows")]
    fastsvm("predict", "--on-bad-row", how, "--open-rows", "open", "bad", folder / "three.fast", "out")
    written = [parsed(line) for line in (tmp_path / "open").read_text().splitlines()]
    assert [line[2] for line in written] == requested and bad
    assert [line[:2] for line in written] == [parsed(text.splitlines()[number - 1])[:2] for number in requested]


def test_lines_of_rows_that_cannot_be_evaluated_are_counted_too():
    """BadRows.lines between `drop` and `fill`, over pieces of a chunk, against a list of the lines' fates."""
    rng = random.Random(3)
    for _ in range(300):
        fates = rng.choices(["good", "unreadable", "dropped", "comment"], [5, 2, 1, 1], k=rng.randint(0, 40))
        gaps, rows = {}, 0
        for fate in fates:
            if fate in ("unreadable", "comment"):
                lines, bad = gaps.get(rows, (0, 0))
                gaps[rows] = lines + 1, bad + (fate == "unreadable")
            else:
                rows += 1
        bad_rows = BadRows("data")
        bad_rows.begin(101, [(row, *gap) for row, gap in sorted(gaps.items())], [])
        read = [(101 + at, fate) for at, fate in enumerate(fates) if fate in ("good", "dropped")]
        found = []
        while read:
            buffer, read = read[: (cut := rng.randint(1, 9))], read[cut:]
            bad_rows.drop([(at, "why") for at, (_, fate) in enumerate(buffer) if fate == "dropped"])
            good = [line for line, fate in buffer if fate == "good"]
            chosen = [at for at in range(len(good)) if rng.random() < 0.7]
            found += list(zip(bad_rows.lines(chosen), [good[at] for at in chosen]))
            list(bad_rows.fill(b"x\n" * len(good), len(good)))
        assert all(given == true for given, true in found)
        assert bad_rows.count == sum(fate in ("unreadable", "dropped") for fate in fates)


@pytest.mark.full
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


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "source, options, ending",
    [
        ("two", ["--degree", 2], " fastsvm bench tells how many labels differ."),
        ("regression", ["--degree", 2], " fastsvm bench tells how far they are."),
        ("two", ["--certify"], None),
        ("regression", ["--certify"], None),
        *(("two", ["--degree", degree], None) for degree in (1, 3, 4)),
    ],
)
def test_nothing_is_known_only_where_nothing_is(fastsvm, folder, tmp_path, source, options, ending):
    """Certified models have radii; eq. (3.11) is for degree 2 only."""
    fastsvm("approx", "-q", *options, folder / f"{source}.model", "fast")
    (tmp_path / "far").write_text("1 1:50 2:50\n" * 3)
    done = fastsvm("predict", "far", "fast", "out")
    note = (
        "Note: 3 of 3 rows (100 %) are outside the bound of the expansion (Claesen et al., eq. 3.11): nothing is known"
        f" of how near their values are to the exact model's.{ending}\n"
    )
    assert done.err == ("" if ending is None else note)


def test_both_files_and_a_pipeline(fastsvm, folder, tmp_path):
    """Open rows go through a pipe to the exact model, and return as labels."""
    rows, model = folder / "two.rows", folder / "two.fast"
    fastsvm("predict", "-q", "--open-rows", "open", "--outside-rows", "outside", rows, model, "out")
    piped = fastsvm("predict", "--open-rows", "-", "--outside-rows", "outside2", rows, model, "out2")
    assert piped.out == (tmp_path / "open").read_text() and "Accuracy" in piped.err
    assert (tmp_path / "outside2").read_bytes() == (tmp_path / "outside").read_bytes()
    assert (tmp_path / "out2").read_bytes() == (tmp_path / "out").read_bytes()
    command = (
        f"'{FASTSVM}' predict -q --open-rows - '{rows}' '{model}' out3 | '{FASTSVM}' predict -q - '{folder}/two.model'"
    )
    labels = outcome(command, shell=True, cwd=tmp_path).stdout.split()
    numbers = [parsed(line)[2] for line in piped.out.splitlines()]
    fastsvm("predict", "-q", "--exact", folder / "two.model", rows, model, "exact")
    merged = (tmp_path / "out").read_text().split()
    for number, label in zip(numbers, labels, strict=True):
        merged[number - 1] = label
    assert merged == (tmp_path / "exact").read_text().split()


def test_other_readers(fastsvm, folder, tmp_path, svm_predict):
    """svm-predict, scikit-learn, and LIBSVM's Python package, once sed has removed the comments."""
    from sklearn.datasets import load_svmlight_file

    def theirs(test, model):
        subprocess.run([svm_predict, test, model, "theirs"], cwd=tmp_path, check=True, capture_output=True)
        return (tmp_path / "theirs").read_text().splitlines()

    for name in ("three", "two"):
        lines = (folder / f"{name}.rows").read_text().splitlines(keepends=True)
        lines = [line for line in lines if "e-324" not in line and ": 17" not in line]  # LIBSVM refuses these
        # UNKNOWN is too large for readers of matrices.
        text = "".join(line.replace(f"{UNKNOWN}:", "100:") for line in lines)
        (tmp_path / "rows").write_text(text)
        exact = folder / f"{name}.model"
        options = ["-b", 1] if name == "three" else ["--exact", exact]  # with three classes no probability is proven
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

    stripped = outcome("sed 's/ *#.*//' open", shell=True, cwd=tmp_path, check=True).stdout
    (tmp_path / "stripped").write_text(stripped)
    y, x = svm_read_problem(str(tmp_path / "stripped"))
    found, _, _ = libsvm_predict(y, x, svm_load_model(str(folder / "two.model")), "-q")
    assert [str(int(label)) for label in found] == expected


@pytest.mark.full(few=1)
@pytest.mark.parametrize("exact", [False, True])
def test_probabilities_that_the_radii_leave_open(fastsvm, folder, tmp_path, exact):
    """-b 1 proves a row of two classes if both ends of its interval print alike; a row of more never."""

    def more(name):
        return ["--exact", folder / f"{name}.model"] if exact else []

    for name in ("two", "three"):
        summary = json.loads(
            fastsvm(
                *"predict --json -b 1 --open-rows open".split(),
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

        requested = [at for at, (f, r) in enumerate(zip(values, radii), 1) if odds(f - r) != odds(f + r)]
        fastsvm("predict", "-b", 1, "--open-rows", "open", folder / "two.rows", folder / "two.fast", "out")
        found = {parsed(line)[2] for line in (tmp_path / "open").read_text().splitlines()}
        assert set(requested) <= found and len(requested) > 3 and len(found) < 200
