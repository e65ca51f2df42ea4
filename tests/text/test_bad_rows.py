"""Lines that are no rows: with --on-bad-row skip or nan the run goes on behind them, the good rows' lines are those of
the file without them, and what was wrong is named and counted."""

import gzip
import json
import random
import re
import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError, FileError, RowError
from fastsvm_cli.models import load_model
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.text import data
from fastsvm_cli.text.bad_rows import NAMED, BadRows
from fastsvm_cli.text.data import Place, read_chunks
from support.bad_rows import BAD, PRECOMPUTED, spoil
from support.places import DATA, FASTSVM
from support.processes import PATIENCE, peak_memory
from support.reading import COMPRESS, rows_in


@pytest.fixture(autouse=True)
def all_threads_again():
    yield
    _native.set_threads(0)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a model of each kind that a line of output depends on, and `rows`, 60 of each data set."""
    folder = tmp_path_factory.mktemp("models")
    for name, source, options in (
        ("rings", "rings.train", "-g 0.2 -c 10 -b 1"),
        ("colors", "colors.train", "-g 0.02 -c 1 -b 1"),
        ("waves", "waves.train", "-s 3 -g 0.05 -c 5 -b 1"),
        ("one", "rings.train", "-s 2 -n 0.3 -g 0.5 -b 1"),
    ):
        y, x = svm_read_problem(str(DATA / source))
        svm_save_model(str(folder / f"{name}.model"), svm_train(y[:400], x[:400], f"-q {options}"))
        (folder / f"{name}.rows").write_text("".join((DATA / source).read_text().splitlines(keepends=True)[400:460]))
    for words in (
        "approx --certify rings.model rings.cert",
        "approx rings.model rings.approx",
        "approx --certify colors.model colors.cert",
        "order rings.model rings.order",
        "order colors.model colors.order",
        "reduce --ratio 0.1 colors.model colors.red",
    ):
        command, *rest = words.split()
        subprocess.run([FASTSVM, command, "-q", *rest], cwd=folder, check=True)
    return folder


# ---- the command


@pytest.mark.parametrize(
    "model, options",
    [
        ("rings.model", ""),
        ("rings.model", "-b 1"),
        ("rings.model", "--values"),
        ("rings.model", "-b 1 --values"),
        ("rings.approx", "--values"),
        ("rings.cert", "--values"),
        ("rings.cert", "-b 1 --values"),
        ("rings.cert", "--exact rings.model"),
        ("rings.cert", "--exact rings.model --values -b 1"),
        ("colors.model", "-b 1"),
        ("colors.model", "--values"),
        ("colors.cert", "-b 1 --values --exact colors.model"),
        ("colors.red", "--values"),
        ("colors.red", "-b 1 --exact colors.model"),
        ("waves.model", ""),
        ("waves.model", "-b 1 --values"),
        ("one.model", "-b 1 --values"),
        ("one.model", ""),
        ("rings.order", "--values"),
        ("rings.order", "--steps 3 --values"),
        ("colors.order", "--steps 3 --values"),
        ("colors.order", "-b 1"),
    ],
)
def test_the_good_rows_are_those_of_the_file_without_the_bad_ones(fastsvm, models, tmp_path, model, options):
    name = model.split(".")[0]
    options = [str(models / word) if word.endswith(".model") else word for word in options.split()]
    lines = (models / f"{name}.rows").read_text().splitlines(keepends=True)
    text, where = spoil(lines, random.Random(model + str(options)))
    (tmp_path / "good").write_text("".join(lines)), (tmp_path / "bad").write_text(text)
    whole = fastsvm("predict", *options, "good", models / model, "expected")
    summary = json.loads(fastsvm("predict", "--json", *options, "good", models / model, "expected").out)
    expected = (tmp_path / "expected").read_text().splitlines()

    done = fastsvm("predict", "--on-bad-row", "skip", *options, "bad", models / model, "out")
    assert (tmp_path / "out").read_text().splitlines() == expected and done.out == whole.out
    named = [line for line in done.err.splitlines() if line.startswith("Warning: ")]
    assert named == [f"Warning: bad:{number}: {BAD[line]}" for number, line in where[:NAMED]]
    rest = [line for line in done.err.splitlines() if line not in named]
    assert sorted(rest) == sorted(
        [f"Bad rows: {len(where)} of {len(lines) + len(where)} lines, left out.", *whole.err.splitlines()]
    )

    done = fastsvm("predict", "--on-bad-row", "nan", "--json", *options, "bad", models / model, "out")
    assert json.loads(done.out) == {**summary, "bad_rows": len(where)}
    found = (tmp_path / "out").read_text().splitlines()
    head = len(expected) - len(lines)  # what -b 1 writes first
    bad = {number for number, _ in where}
    assert len(found) == head + len(lines) + len(where)
    assert [line for at, line in enumerate(found, 1 - head) if at not in bad] == expected
    columns = len(expected[-1].split())
    assert {line for at, line in enumerate(found, 1 - head) if at in bad} == {" ".join(["nan"] * columns)}


def test_a_bad_row_ends_the_run_unless_it_is_said(fastsvm, models, tmp_path):
    (tmp_path / "bad").write_text("1 1:1\nfoo\n1 1:1\n")
    (tmp_path / "out").write_text("before\n")
    for options in ([], ["--on-bad-row", "stop"]):
        done = fastsvm("predict", *options, "bad", models / "rings.approx", "out", code=1)
        assert (
            done.err.splitlines()[-1] == "Error: bad:2: 'foo' found, expected a label"
            and (tmp_path / "out").read_text() == "before\n"
        )
    assert (
        json.loads(fastsvm("predict", "--json", "bad", models / "rings.approx", "out", code=1, input="").out or "{}")
        == {}
    )
    assert "bad_rows" not in json.loads(
        fastsvm("predict", "--json", models / "rings.rows", models / "rings.approx", "out").out
    )


def test_quiet_names_nothing(fastsvm, models, tmp_path):
    (tmp_path / "bad").write_text("1 1:1\nfoo\n1 1:1\n")
    done = fastsvm("predict", "-q", "--on-bad-row", "nan", "bad", models / "rings.approx")
    assert done.err == "" and re.fullmatch(r"-?1\nnan\n-?1\n", done.out)


def test_without_bad_rows_nothing_is_said_of_them(fastsvm, models):
    plain = fastsvm("predict", models / "rings.rows", models / "rings.approx", "out")
    done = fastsvm("predict", "--on-bad-row", "skip", models / "rings.rows", models / "rings.approx", "out")
    assert (done.out, done.err) == (plain.out, plain.err)


@pytest.mark.parametrize("text", ["", "foo", "foo\n", "\n\n\n", "foo\nbar", "x\n" * 100_000])
def test_a_file_of_bad_rows_alone_is_read_to_its_end(fastsvm, models, tmp_path, text):
    (tmp_path / "bad").write_text(text)
    lines = len(text.splitlines())
    for mode, expected in (("skip", ""), ("nan", "nan\n" * lines)):
        done = fastsvm("predict", "--on-bad-row", mode, "--json", "bad", models / "rings.approx", "out")
        assert (tmp_path / "out").read_text() == expected
        assert json.loads(done.out) == {
            "rows": 0,
            "bad_rows": lines,
            "accuracy": None,
            "correct": 0,
            "rows_outside_bound": 0,
        }
        assert done.err.count("Warning: bad:") == min(lines, NAMED)
    assert (
        fastsvm("predict", "--on-bad-row", "nan", "-b", 1, "bad", models / "rings.model").out
        == "labels 1 -1\n" + "nan nan nan\n" * lines
    )


def test_a_slow_pipe_gets_an_answer_for_a_bad_row_at_once(models):
    process = subprocess.Popen(
        [FASTSVM, "predict", "-q", "--on-bad-row", "nan", "-", str(models / "rings.approx")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for line, answers in (
        (b"1 1:0.5\n", (b"1\n", b"-1\n")),
        (b"foo\n", (b"nan\n",)),
        (b"\n", (b"nan\n",)),
        (b"-1 2:1\n", (b"1\n", b"-1\n")),
    ):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() in answers  # would wait for ever if rows were gathered
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("kind", [None, *COMPRESS])
def test_bad_rows_of_compressed_files(fastsvm, models, tmp_path, kind):
    text, where = spoil((models / "rings.rows").read_text().splitlines(keepends=True) * 50, random.Random(1))
    (tmp_path / "bad").write_bytes(COMPRESS[kind](text.encode()) if kind else text.encode())
    done = fastsvm("predict", "--on-bad-row", "nan", "bad", models / "rings.approx")
    assert [at for at, line in enumerate(done.out.splitlines(), 1) if line == "nan"] == [number for number, _ in where]


@pytest.mark.parametrize("mode", ["skip", "nan"])
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_compressed_file_that_is_cut_off_is_no_bad_row(fastsvm, models, tmp_path, kind, mode):
    (tmp_path / "cut").write_bytes(COMPRESS[kind]((models / "rings.rows").read_bytes() * 20)[:-9])
    (tmp_path / "out").write_text("before\n")
    done = fastsvm("predict", "--on-bad-row", mode, "cut", models / "rings.approx", "out", code=1)
    assert (
        done.err.splitlines()[-1] == f"Error: cut: the {kind} data ends too early"
        and (tmp_path / "out").read_text() == "before\n"
    )


def test_dense_rows_are_as_long_as_the_first_good_one(fastsvm, models, tmp_path):
    (tmp_path / "dense.csv").write_text("label,a,b\n\n1,0.5,-1\n1,2\n-1,0.5,1,7\n-1,x,1\n-1,0,0.25\n")
    (tmp_path / "same").write_text("1 1:0.5 2:-1\n-1 2:0.25\n")
    done = fastsvm("predict", "--dense", "--on-bad-row", "nan", "dense.csv", models / "rings.approx")
    first, second = fastsvm("predict", "same", models / "rings.approx").out.splitlines()
    assert done.out.splitlines() == ["nan", "nan", first, "nan", "nan", "nan", second]
    assert [
        line.removeprefix("Warning: dense.csv:") for line in done.err.splitlines() if line.startswith("Warning: ")
    ] == [
        "1: 'label' found, expected a label",
        "2: a blank line found, expected a label",
        "4: 1 values found, expected 2 as in the first row",
        "5: 3 values found, expected 2 as in the first row",
        "6: 'x' found, expected a number",
    ]


def test_unlabelled_rows(fastsvm, models, tmp_path):
    (tmp_path / "bare").write_text("1:0.5 2:-1\n\nfoo\n1:1\n")
    done = fastsvm("predict", "--unlabelled", "--on-bad-row", "nan", "bare", models / "rings.approx")
    assert [line == "nan" for line in done.out.splitlines()] == [
        False,
        False,
        True,
        False,
    ]  # a blank line is the zero vector there
    assert "Accuracy" not in done.err and "Bad rows: 1 of 4 lines, each a line of nan.\n" in done.err


@pytest.mark.parametrize("threads", [1, 2])
def test_precomputed_rows_without_their_serials_are_bad_rows(fastsvm, tmp_path, threads):
    good = ["1 0:1 1:0.5 2:0.25 3:0.125\n", "-1 0:2 1:0.1 2:0.2 3:0.9\n"]
    missing = "1 0:3 1:0.5\n"
    (tmp_path / "model").write_text(PRECOMPUTED)
    rng = random.Random(threads)
    text, where = spoil(good * 400, rng, (missing, "foo"))
    text = text.replace(missing + "\n", missing)
    (tmp_path / "good").write_text("".join(good * 400)), (tmp_path / "bad").write_text(text)
    expected = fastsvm("predict", "good", "model").out.splitlines()
    done = fastsvm("predict", "--threads", threads, "--on-bad-row", "nan", "bad", "model")
    bad = {number for number, _ in where}
    assert [line for at, line in enumerate(done.out.splitlines(), 1) if at not in bad] == expected
    assert [line for at, line in enumerate(done.out.splitlines(), 1) if at in bad] == ["nan"] * len(bad)
    says = {
        missing: "a row without the serials 0 to 3 found, expected every one of them: the kernel is precomputed",
        "foo": BAD["foo"],
    }
    named = [line for line in done.err.splitlines() if line.startswith("Warning: ")]
    assert named == [f"Warning: bad:{number}: {says[line]}" for number, line in where[:NAMED]]
    assert f"Bad rows: {len(bad)} of {len(bad) + 800} lines, each a line of nan." in done.err
    assert fastsvm("predict", "--on-bad-row", "skip", "bad", "model").out.splitlines() == expected
    stop = fastsvm("predict", "bad", "model", code=1).err.splitlines()[-1]
    assert stop == f"Error: bad:{where[0][0]}: {says[where[0][1]]}"


# ---- the reader


calm = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
LINES = st.one_of(
    st.sampled_from(["1 1:1", "-1", "2.5 3:4 7:-1 # c", "1 2:0.125\r", "0 1:1 2:2 3:3 4:4"]),
    st.sampled_from(list(BAD)),
    st.text("01:. #\tx", max_size=8),
)
DENSE_LINES = st.one_of(
    st.sampled_from(["1,2,3", "1,0,0", "-1,2,3\r"]),
    st.sampled_from(["", "x,1,2", "1,2", "1,2,3,4", "1,,2"]),
    st.text("01,.x ", max_size=8),
)


def one_by_one(lines, dense):
    """(the rows, the numbers of the bad lines, what is wrong with them): each line read by itself."""
    rows, bad, why, fields = [], [], [], -1
    for number, line in enumerate(lines, 1):
        chunk, fault, width, _ = _native.parse(line.encode() + b"\n", dense=dense, fields=fields)
        rows += rows_in(chunk)
        if fault is None:
            fields = width
        else:
            bad.append(number)
            why.append((number, fault[1]))
    return rows, bad, why


class Found(BadRows):
    """Remembers where the bad lines stood."""

    def __init__(self):
        super().__init__("data")
        self.lines = []

    def begin(self, first_line, gaps, faults):
        super().begin(first_line, gaps, faults)
        if hasattr(self, "lines"):
            left_out = 0
            for row, count in gaps:
                self.lines += range(first_line + row + left_out, first_line + row + left_out + count)
                left_out += count


def read_around(path, **options):
    """(rows, numbers of the bad lines, what was said of the first ones); the place must be right behind every chunk."""
    found, place, rows = Found(), Place(), []
    for chunk in read_chunks(str(path), bad_rows=found, place=place, **options):
        rows += rows_in(chunk)
        list(found.fill(b"1\n" * chunk.rows, chunk.rows))
        assert place.lines == len(rows) + found.count
    content = path.read_bytes()
    assert place.offset == len(content) and found.count == len(found.lines)
    return rows, found.lines, found.named


@settings(calm, max_examples=300)
@given(st.lists(LINES, max_size=30), st.booleans(), st.sampled_from([1, 7, 64, 1 << 20]))
def test_every_line_is_a_row_or_a_bad_one_by_itself(tmp_path, lines, last, size):
    (tmp_path / "data").write_bytes("\n".join(lines).encode() + b"\n" * (last and bool(lines)))
    if not last and lines and not lines[-1]:
        lines = lines[:-1]  # nothing stands behind the last line end
    rows, bad, why = one_by_one(lines, False)
    assert read_around(tmp_path / "data", size=size) == (rows, bad, why[:NAMED])


@settings(calm, max_examples=300)
@given(st.lists(DENSE_LINES, max_size=30), st.sampled_from([1, 7, 64, 1 << 20]))
def test_every_dense_line_is_a_row_or_a_bad_one_beside_the_first_good_one(tmp_path, lines, size):
    (tmp_path / "data").write_bytes("".join(line + "\n" for line in lines).encode())
    rows, bad, why = one_by_one(lines, True)
    assert read_around(tmp_path / "data", size=size, dense=True) == (rows, bad, why[:NAMED])


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("share", [0.0001, 0.01, 0.5, 0.99])
def test_bad_rows_do_not_depend_on_threads_or_chunks(tmp_path, threads, share):
    """Text enough for several pieces of a chunk, each with a thread of its own."""
    rng = random.Random(f"{share}")
    lines = [
        (
            rng.choice(list(BAD))
            if rng.random() < share
            else (
                f"{rng.choice((1, -1))} {rng.randint(1, 9)}:{rng.random():.6f} {rng.randint(10, 99)}:{rng.random():.3f}"
            )
        )
        for _ in range(60_000)
    ]
    (tmp_path / "data").write_text("".join(line + "\n" for line in lines))
    rows, bad, why = one_by_one(lines, False)
    assert len(bad) > 0
    _native.set_threads(threads)
    for size in (1 << 22, 1 << 20, 10_000):
        assert read_around(tmp_path / "data", size=size) == (rows, bad, why[:NAMED])


def test_a_text_of_bad_rows_alone_is_passed_over_in_one_go():
    """Five million of them: a reader that began anew behind each would never come to the end."""
    chunk, gaps, faults, _ = _native.parse_around(b"x\n" * 5_000_000, keep=3)
    assert chunk.rows == 0 and gaps == [(0, 5_000_000)] and [line for line, _ in faults] == [1, 2, 3]
    chunk, gaps, faults, fields = _native.parse_around(b"1,2\nx\n" * 500_000, keep=0, dense=True)
    assert chunk.rows == 500_000 and gaps == [(row, 1) for row in range(1, 500_001)] and faults == [] and fields == 1


class Fussy:
    """A model for which some rows are bad, and which counts the rows it is given."""

    proves = certified = bounded = ordered = reduced = labels_alone = False
    pairs = 1

    def __init__(self, model, bad):
        self.header, self._model, self._bad, self.given = model.header, model, bad, 0

    def decision_values(self, chunk, out, until=None):
        self.given += chunk.rows
        for row, (_, entries) in enumerate(rows_in(chunk)):
            if self._bad(entries):
                raise RowError(row, "odd")
        self._model.decision_values(chunk, out, until)


@pytest.mark.parametrize(
    "bad",
    [lambda e: True, lambda e: False, lambda e: e[0][1] % 2, lambda e: e[0][1] == 300, lambda e: 100 < e[0][1] < 200],
)
def test_rows_that_a_model_refuses_cost_little_however_many_they_are(models, tmp_path, bad):
    (tmp_path / "data").write_text("".join(f"1 1:{at}\n" for at in range(600)))
    model = Fussy(load_model(str(models / "rings.approx")), bad)
    said, lines = [], []
    rows = BadRows("data", b"nan\n", said.append)
    tally = predict(model, read_chunks(str(tmp_path / "data"), bad_rows=rows), lines.append, path="data", bad_rows=rows)
    expected = [at for at in range(600) if bad([(1, float(at))])]
    assert [at for at, line in enumerate(b"".join(lines).splitlines()) if line == b"nan"] == expected
    assert (
        tally.rows == 600 - len(expected)
        and rows.count == len(expected)
        and said == [f"data:{at + 1}: odd" for at in expected[:NAMED]]
    )
    assert model.given <= 10 * 600


def test_lines_of_nan_come_in_pieces_however_long_they_are():
    rows = BadRows("data", b"nan " * 250_000 + b"\n")
    rows.begin(1, [(0, 3), (1, 40), (2, 1)], [])
    pieces = list(rows.fill(b"a\nb\n", 2))
    assert b"".join(pieces) == rows.filler * 3 + b"a\n" + rows.filler * 40 + b"b\n" + rows.filler
    assert max(map(len, pieces)) < 3 * len(rows.filler)


def test_the_lines_of_a_chunk_may_be_filled_up_in_parts():
    gaps = [(0, 1), (2, 2), (5, 1), (6, 3)]
    whole = BadRows("data", b"-\n")
    whole.begin(1, list(gaps), [])
    expected = b"".join(whole.fill(b"abcdef".replace(b"", b"\n")[1:], 6))
    for cut in range(7):
        rows = BadRows("data", b"-\n")
        rows.begin(1, list(gaps), [])
        letters = [b"%c\n" % letter for letter in b"abcdef"]
        assert (
            b"".join([*rows.fill(b"".join(letters[:cut]), cut), *rows.fill(b"".join(letters[cut:]), 6 - cut)])
            == expected
        )


# ---- lines that are too long


@pytest.mark.parametrize("kind", [None, *COMPRESS])
@pytest.mark.parametrize("size", [1, 7, 100, 4096, 1 << 20])
def test_a_line_that_is_too_long_is_named_after_the_rows_before_it(tmp_path, kind, size):
    good = "1 1:1 2:2\n" * 30
    for longest in (20, 100, 5000):
        for extra, end in ((1, "\n"), (1, ""), (3 * longest, "\n"), (60_000, ""), (0, "\n")):
            long = "1 " + "1" * (longest + extra - 2)
            text = (good + long + end + (good if end else "")).encode()
            (tmp_path / "data").write_bytes(COMPRESS[kind](text) if kind else text)
            rows = 0
            message = None
            place = Place()
            try:
                for chunk in read_chunks(str(tmp_path / "data"), max_line=longest, size=size, place=place):
                    rows += chunk.rows
            except Exception as fault:
                message = str(fault)
            if extra:
                assert (rows, message) == (
                    30,
                    (
                        f"{tmp_path / 'data'}:31: a line of more than {longest / 1e6:g} MB found, expected a row "
                        "(predict --max-line allows longer ones)"
                    ),
                )
                assert (place.offset, place.lines) == (len(good), 30)
            else:
                assert message.startswith(
                    f"{tmp_path / 'data'}:31: '1111"
                )  # long, but not too long: no row for another reason


@settings(calm, max_examples=200)
@given(
    st.lists(st.integers(0, 60), max_size=12),
    st.booleans(),
    st.sampled_from([1, 3, 16, 64, 4096]),
    st.sampled_from([1, 7, 30]),
)
def test_lines_that_are_too_long_are_passed_over_wherever_they_are(tmp_path, lengths, last, size, longest):
    lines = ["1 1:" + "1" * length if length % 2 else "x" * length for length in lengths]
    (tmp_path / "data").write_bytes("\n".join(lines).encode() + b"\n" * (last and bool(lines)))
    if not last and lines and not lines[-1]:
        lines = lines[:-1]
    said = f"a line of more than {longest / 1e6:g} MB found, expected a row (predict --max-line allows longer ones)"
    rows, bad, why = one_by_one(["!" if len(line) > longest else line for line in lines], False)
    why = [(number, said if len(lines[number - 1]) > longest else words) for number, words in why]
    assert read_around(tmp_path / "data", size=size, max_line=longest) == (rows, bad, why[:NAMED])


def test_a_line_without_end_takes_no_memory(fastsvm, models, tmp_path):
    """A few hundred kilobytes of gzip hold 600 MB of one line."""
    packer = zlib.compressobj(9, wbits=31)
    with open(tmp_path / "endless.gz", "wb") as file:
        file.write(packer.compress(b"1 1:1\n"))
        for _ in range(600):
            file.write(packer.compress(b"1" * 1_000_000))
        file.write(packer.flush())
    (tmp_path / "short").write_text("1 1:1\n")
    done = fastsvm("predict", "-q", "--max-line", 20, "endless.gz", models / "rings.approx", "out", code=1)
    assert (
        done.err == "Error: endless.gz:2: a line of more than 20 MB found, expected a row "
        "(predict --max-line allows longer ones)\n"
    )
    done = fastsvm("predict", "-q", "endless.gz", models / "rings.approx", "out", code=1)
    assert done.err.startswith("Error: endless.gz:2: a line of more than 256 MB found")
    small, passed = (
        peak_memory(
            FASTSVM,
            "predict",
            "-q",
            "--on-bad-row",
            "skip",
            "--max-line",
            20,
            name,
            models / "rings.approx",
            cwd=tmp_path,
        )
        for name in ("short", "endless.gz")
    )
    assert passed < small + (80 << 20)
    assert fastsvm(
        "predict", "--on-bad-row", "nan", "--max-line", 20, "endless.gz", models / "rings.approx"
    ).out.splitlines()[1:] == ["nan"]


def test_wide_rows_are_read_up_to_the_longest_line_and_bound_reads_them_too(fastsvm, models, tmp_path):
    wide = "1 " + " ".join(f"{index}:1" for index in range(1, 200_000)) + "\n"
    (tmp_path / "wide").write_text(wide)
    assert fastsvm("predict", "-q", "--max-line", 3, "wide", models / "rings.approx").out in ("1\n", "-1\n")
    assert fastsvm("bound", "--max-line", 3, "wide").code == 0
    for command in (["predict", "--max-line", 1, "wide", models / "rings.approx"], ["bound", "--max-line", 1, "wide"]):
        assert "Error: wide:1: a line of more than 1 MB found" in fastsvm(*command, code=1).err


def test_what_begins_as_no_model_is_refused_before_it_is_read(fastsvm, models, tmp_path):
    (tmp_path / "m.gz").write_bytes(gzip.compress(bytes(50_000_000), 1))
    done = fastsvm("predict", "-q", models / "rings.rows", "m.gz", "out", code=1)
    assert re.fullmatch(
        r"Error: m.gz:1: '\?+' found, expected a LIBSVM model \('svm_type ...'\) or "
        r"a fastsvm model \('fastsvm_model ...'\)\n",
        done.err,
    ), str(done)


def test_a_line_of_a_model_has_an_end_too(models, tmp_path, monkeypatch):
    """LIBSVM's own buffer for a line ends at 2^30 bytes."""
    assert data._MAX_MODEL_LINE == 1 << 30
    monkeypatch.setattr(data, "_MAX_MODEL_LINE", 3 << 20)
    for lines, message in (
        ([2 << 20, 3 << 20, 1 << 20], None),
        ([100, 100, (3 << 20) + 1], ":3: a line of more than 3 MiB found, expected a model"),
    ):
        (tmp_path / "m").write_bytes(b"\n".join(b"x" * length for length in lines))
        if message is None:
            assert data.read_bytes(str(tmp_path / "m")) == (tmp_path / "m").read_bytes()
        else:
            with pytest.raises(FastsvmError, match=message):
                data.read_bytes(str(tmp_path / "m"))


def test_a_model_that_is_data_is_known_by_its_first_line(fastsvm, models, tmp_path):
    """Of two terabytes that no disk holds, and that would be read in vain."""
    with open(tmp_path / "rows", "wb") as file:
        file.write((models / "rings.rows").read_bytes())
        file.truncate(1 << 41)
    hint = "; svm-train rows makes a model of it"
    for command, more in (
        (["predict", models / "rings.rows", "rows"], ""),
        (["approx", "rows"], hint),
        (["predict", "--exact", "rows", models / "rings.rows", models / "rings.cert", "out"], ""),
    ):
        assert (
            fastsvm(*command, code=1).err
            == f"Error: rows:1: this looks like a data file, expected a LIBSVM or fastsvm model{more}\n"
        )


# ---- what cannot be read


FOREIGN = {
    "lz4": (b"\x04\x22\x4d\x18rest", "lz4 -dc"),
    "zip": (b"PK\x03\x04rest", "unzip -p"),
    "compress (.Z)": (b"\x1f\x9d\x90rest", "zcat"),
    "7-Zip": (b"7z\xbc\xaf\x27\x1crest", "7z x -so"),
    "lzip": (b"LZIP\x01rest", "lzip -dc"),
    "lzop": (b"\x89LZO\x00\rrest", "lzop -dc"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_compressors_are_named_with_what_to_type(fastsvm, models, tmp_path, name):
    content, tool = FOREIGN[name]
    (tmp_path / "my rows").write_bytes(content)
    done = fastsvm("predict", "my rows", models / "rings.approx", code=1)
    assert (
        done.err.splitlines()[-1] == f"Error: my rows: {name} data found, expected text, or gzip, bzip2, xz or zstd; "
        f"type: {tool} 'my rows' | fastsvm ... -"
    )
    done = fastsvm("predict", "-", models / "rings.approx", input=content, code=1)
    assert (
        done.err.splitlines()[-1]
        == f"Error: standard input: {name} data found, expected text, or gzip, bzip2, xz or zstd; "
        f"type: {tool} | fastsvm ... -"
    )
    assert "data found, expected text" in fastsvm("approx", "my rows", code=1).err


def test_a_label_that_begins_like_another_format_is_a_label(tmp_path):
    (tmp_path / "data").write_text("7\n7 1:1\n")
    assert [rows_in(chunk) for chunk in read_chunks(str(tmp_path / "data"))] == [[(7.0, []), (7.0, [(1, 1.0)])]]


def test_zstd_is_named_where_python_cannot_read_it(tmp_path, monkeypatch):
    (tmp_path / "z").write_bytes(b"\x28\xb5\x2f\xfdrest")
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(
        FileError,
        match=r"zstd data found, which this Python cannot read \(3.14 can, or pip install backports.zstd\); "
        r"type: zstdcat \S+ \| fastsvm \.\.\. -$",
    ):
        list(read_chunks(str(tmp_path / "z")))


def test_zstd_files(tmp_path):
    try:
        from compression import zstd
    except ImportError:
        zstd = pytest.importorskip("backports.zstd")
    sample = "".join(f"{at % 3} {at + 1}:{at}.5\n" for at in range(3000)).encode()
    whole = zstd.compress(sample)
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    for content in (
        whole,
        zstd.compress(sample[:1000]) + zstd.compress(sample[1000:]),
        skippable + whole,
        zstd.compress(b"") + whole,
    ):
        (tmp_path / "z").write_bytes(content)
        assert np.concatenate(
            [np.asarray(chunk.values) for chunk in read_chunks(str(tmp_path / "z"), size=4096)]
        ).tolist() == [at + 0.5 for at in range(3000)]
    for cut in range(5, len(whole), 97):
        (tmp_path / "z").write_bytes(whole[:cut])
        with pytest.raises(FileError, match=r"the zstd data (ends too early|is damaged)"):
            list(read_chunks(str(tmp_path / "z")))
    (tmp_path / "z").write_bytes(zstd.compress(bytes(300_000_000)))  # a few kilobytes
    with pytest.raises(Exception, match=":1: a line of more than 1 MB found"):
        list(read_chunks(str(tmp_path / "z"), max_line=1_000_000))
