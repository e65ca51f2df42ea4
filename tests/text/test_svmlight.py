"""Data of SVMlight's writers: comment lines, `qid:N` after the label, lines of several labels. Rows are those of the
file without them, line numbers those of the file with them."""

import io
import random
import re

import pytest

from fastsvm_cli import _native
from fastsvm_cli.text.read_rows import Position, read_chunks
from support.messages import DATA_FILE, no_coefficient, no_label, no_pair, several_labels
from support.outputs import timeless
from support.paths import DATA
from support.processes import outcome
from support.reading import dressed, read, rows_in


@pytest.fixture(scope="session")
def dressed_models(models):
    """The models' folder, with NAME.dressed beside NAME.rows, and the rows' line numbers there."""
    for name in ("rings", "colors", "waves"):
        lines = (models / f"{name}.rows").read_text().splitlines(keepends=True)
        text, numbers = dressed(lines, random.Random(name))
        (models / f"{name}.dressed").write_text(text)
        (models / f"{name}.numbers").write_text(" ".join(map(str, numbers)))
    return models


def numbers_of(models, name):
    return [int(number) for number in (models / f"{name}.numbers").read_text().split()]


def test_what_scikit_learn_writes_is_read(file):
    datasets = pytest.importorskip("sklearn.datasets")
    x, y, queries = [[0.5, 0, -1], [0, 0, 0], [2, 3, 0]], [1, -1, 1], [3, 3, 8]
    text = io.BytesIO()
    datasets.dump_svmlight_file(x, y, text, zero_based=False, comment="two\nlines: 1:2", query_id=queries)
    written = text.getvalue().decode()
    assert written.startswith("#") and "qid:8" in written
    assert read(file(written)) == ([(1.0, [(1, 0.5), (3, -1.0)]), (-1.0, []), (1.0, [(1, 2.0), (2, 3.0)])], None)


def test_a_line_that_is_a_comment_is_no_row(file):
    rows = [(1.0, [(1, 0.5)]), (-1.0, [])]
    assert read(file("# c\n1 1:0.5\n #\n\t# 2 2:2\n#x\n-1\n# the end")) == (rows, None)
    assert read(file("# c\r\n1 1:0.5 # behind a row\r\n#\r\n-1 # c\r\n#\r\n")) == (rows, None)
    assert read(file("# c\n#\n")) == ([], None)
    assert read(file("# c\n1:0.5\n# d\n\n"), labelled=False) == ([(None, [(1, 0.5)]), (None, [])], None)
    path = file("# c\n# a\0b\n1 1:1\n")
    assert read(path) == ([], f"{path}:2: a NUL byte found, expected text")


def test_a_qid_behind_the_label_is_no_feature(file):
    assert read(file("1 qid:3 1:0.5\n-1\tqid:-4\n+2 qid:+0 # c\n3 qid:99999999999999999999 2:1\r\n")) == (
        [(1.0, [(1, 0.5)]), (-1.0, []), (2.0, []), (3.0, [(2, 1.0)])],
        None,
    )
    assert read(file("qid:3 1:0.5\nqid:4\n"), labelled=False) == ([(None, [(1, 0.5)]), (None, [])], None)


def test_dense_numbers_and_models_have_no_such_lines(file):
    path = file("# c\n1,2\n")
    assert read(path, dense=True) == ([], f"{path}:1: '#' found, expected a label")
    assert _native.parse(b"# c\n", leading_name="a coefficient")[1] == (1, no_coefficient("#"))
    assert _native.parse(b"1 qid:3\n")[1] == (1, no_pair("qid:3"))


@pytest.mark.parametrize("size", [1, 64, 1 << 20])
def test_an_error_has_the_line_of_the_file(file, size):
    text, _ = dressed(["1 1:1\n"] * 40, random.Random(size))
    lines = text.splitlines(keepends=True)
    for at in (0, 1, 7, len(lines)):
        path = file("".join([*lines[:at], "1,3 5:0.2\n", *lines[at:]]))
        message = f"{path}:{at + 1}: a multi-label line ('1,3') found, expected one label"
        assert read(path, size=size) == (read(file("".join(lines[:at])))[0], message)


def test_several_labels_with_blanks_or_none(file):
    for text, labels in (("324, 674, 54 1:1\n", "324, 674, 54"), ("1,\t3 qid:2 1:1\n", "1,?3"), ("1,3\n", None)):
        path = file(text)
        assert read(path)[1] == f"{path}:1: {several_labels(labels) if labels else no_label('1,3')}"
    path = file(" 1:1 2:3\n")
    warning = " (is the data unlabelled, or is this a multi-label line without labels?)"
    assert read(path)[1] == f"{path}:1: {no_label('1:1')}{warning}"


def test_lines_of_slices_and_of_chunks_behind_each_other():
    text = b"# c\n1 1:1\n#\n#\n2 2:2\n3\n#\n"
    whole = _native.parse(text, first_line=11, svmlight=True)[0]
    assert whole.gaps == [(0, 1, 0), (1, 2, 0), (3, 1, 0)] and whole.line_numbers([0, 1, 2]) == [12, 15, 16]
    part = whole.slice(1, 3)
    assert part.first_line == 15 and part.line_numbers([0, 1]) == [15, 16] and part.gaps == []
    assert whole.slice(0, 2).line_numbers([0, 1]) == [12, 15]
    parts = [_native.parse(text[:at], svmlight=True)[0] for at in (4, 12)]
    joined = _native.Chunk.concatenate([*parts, whole])
    assert joined.gaps == [(0, 2, 0), (1, 2, 0), (2, 2, 0), (4, 1, 0)] and rows_in(joined)[1:] == rows_in(whole)


@pytest.mark.full
def test_large_texts_on_several_threads(file):
    rng = random.Random(5)
    lines = [f"{rng.choice((1, -1))} {rng.randint(1, 9)}:{rng.random():.6f} 77:1\n" for _ in range(60_000)]
    text, numbers = dressed(lines, rng)
    expected, path = rows_in(_native.parse("".join(lines).encode())[0]), file(text)
    for threads in (1, 3):
        _native.set_threads(threads)
        for size in (1 << 23, 1 << 20, 50_000):
            rows, found, position = [], [], Position()
            for chunk in read_chunks(str(path), size=size, place=position):
                rows += rows_in(chunk)
                found += chunk.line_numbers(list(range(chunk.rows)))
            assert rows == expected and found == numbers and position.lines == text.count("\n")


# ---- the commands


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "model, options",
    [
        ("rings.model", "-b 1 --values"),
        ("rings.cert", "--exact rings.model"),
        ("rings.order", "--evaluations"),
        ("colors.model", "--json"),
        ("colors.red", "--exact colors.model"),
        ("waves.model", "--on-bad-row nan"),
        ("waves.model", "--on-bad-row skip"),
        ("rings.model", "--resume"),
        ("rings.model", "--scale range"),
        ("rings.model", "--scale range --on-bad-row nan --values"),
    ],
)
def test_predictions_are_those_of_the_rows(fastsvm, dressed_models, tmp_path, model, options):
    (tmp_path / "range").write_text("x\n-1 1\n" + "".join(f"{i} 0 {i}\n" for i in range(1, 9)))
    name = model.split(".")[0]
    words = [dressed_models / word if word.endswith(".model") else word for word in options.split()]
    one = fastsvm("predict", *words, dressed_models / f"{name}.rows", dressed_models / model, "one")
    two = fastsvm("predict", *words, dressed_models / f"{name}.dressed", dressed_models / model, "two")
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes() != b""
    assert timeless(two.out) == timeless(one.out) and two.err == one.err
    piped = fastsvm(
        "predict", *[word for word in words if word != "--resume"], "-", dressed_models / model, "three",
        input=(dressed_models / f"{name}.dressed").read_bytes(),
    )  # fmt: skip
    assert (tmp_path / "three").read_bytes() == (tmp_path / "one").read_bytes() and piped.code == 0


def test_svm_predict_refuses_what_is_read_here_alone(svm_predict, dressed_models, tmp_path):
    for line in ("# c", "#", "1 qid:3 1:0.5", "1,3 5:0.2", ""):
        (tmp_path / "data").write_text(f"1 1:0.5\n{line}\n")
        words = [svm_predict, "data", dressed_models / "rings.model", "out"]
        done = outcome(words, cwd=tmp_path)
        assert done.returncode and "Wrong input format at line 2" in done.stderr


def test_and_svm_scale_loses_what_stands_behind_a_qid_or_a_comma(svm_scale, tmp_path):
    for line, left in (("1 qid:3 1:0.5", "1 "), ("1,3 1:0.5", "1 1:0.5 "), ("# c", None)):
        (tmp_path / "data").write_text(f"1 1:0.25\n{line}\n")
        (tmp_path / "range").write_text("x\n0 1\n1 0 1\n")
        words = [svm_scale, "-r", "range", "data"]
        done = outcome(words, cwd=tmp_path)
        assert done.stdout.splitlines()[1:] == ([] if left is None else [left])
        assert bool(done.returncode) == (left is None)


def test_bad_rows_among_them_have_a_line_each_and_comments_none(fastsvm, dressed_models, tmp_path):
    lines = (dressed_models / "rings.dressed").read_text().splitlines(keepends=True)
    at = [3, 20, 21, len(lines)]
    for row in reversed(at):
        lines.insert(row, "1,3 5:0.2\n")
    (tmp_path / "bad").write_text("".join(lines))
    where = [number for number, line in enumerate(lines, 1) if line.startswith("1,3 ")]
    done = fastsvm("predict", "--on-bad-row", "nan", "bad", dressed_models / "rings.model", "out")
    error = several_labels("1,3")
    assert re.findall(rf"bad:(\d+): {re.escape(error)}", done.err) == list(map(str, where))
    plain = fastsvm("predict", dressed_models / "rings.rows", dressed_models / "rings.model").out.splitlines()
    answers = iter(plain)
    rows = [line for line in lines if not line.lstrip().startswith("#")]
    expected = ["nan" if line.startswith("1,3 ") else next(answers) for line in rows]
    assert (tmp_path / "out").read_text().splitlines() == expected


@pytest.mark.parametrize("options", ["", "--on-bad-row skip"])
def test_open_rows_have_the_lines_of_the_file(fastsvm, dressed_models, tmp_path, options):
    words = [dressed_models / "colors.cert", "out"]
    fastsvm("predict", "--open-rows", "one", dressed_models / "colors.rows", *words)
    fastsvm("predict", *options.split(), "--open-rows", "two", dressed_models / "colors.dressed", *words)
    one, two = ([line.split(" # ") for line in (tmp_path / name).read_text().splitlines()] for name in ("one", "two"))
    numbers = numbers_of(dressed_models, "colors")
    assert one and two == [[row, str(numbers[int(line) - 1])] for row, line in one]


def test_a_row_that_cannot_be_evaluated_has_the_line_of_the_file(fastsvm, tmp_path):
    from support.bad_rows import PRECOMPUTED

    (tmp_path / "model").write_text(PRECOMPUTED)
    (tmp_path / "data").write_text("# c\n1 0:1 1:0.5 2:0.25 3:0.125\n#\n#\n1 qid:2 0:3 1:0.5\n")
    done = fastsvm("predict", "data", "model", "out", code=1)
    assert done.err.startswith("Error: data:5: ")
    done = fastsvm("predict", "--on-bad-row", "nan", "data", "model", "out")
    assert "data:5: " in done.err and (tmp_path / "out").read_text().splitlines()[1:] == ["nan"]


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "words",
    [
        "border -q --bandwidth 0.5 DATA out",
        "border -q --seed 3 --samples 20 --data DATA MODEL out",
        "order -q --fold DATA MODEL out",
        "reduce -q --vectors 5 --data DATA MODEL out",
        "bound --json DATA",
        "bench --cross-validate 3 --json DATA",
    ],
)
def test_training_files_and_rows_beside_a_model(fastsvm, tmp_path, models, words):
    lines = (DATA / "rings.train").read_text().splitlines(keepends=True)[:120]
    printed = []
    for text in ("".join(lines), dressed(lines, random.Random(8))[0]):
        (tmp_path / "data").write_text(text)
        given = [{"DATA": "data", "MODEL": models / "rings.model"}.get(word, word) for word in words.split()]
        done = fastsvm(*given)
        made = (tmp_path / "out").read_bytes() if "out" in given else b""
        printed.append((timeless(done.out), made))
    assert printed[0] == printed[1]


def test_a_run_over_them_is_gone_on_with(fastsvm, dressed_models, tmp_path):
    """After a bad row in the middle; line numbers count over both runs."""
    lines = (dressed_models / "rings.dressed").read_text().splitlines(keepends=True)
    words = ["predict", "--resume", "data", dressed_models / "rings.model", "out"]
    (tmp_path / "data").write_text("".join([*lines, "foo\n", *lines]))
    first = fastsvm(*words, code=1)
    rows = len(numbers_of(dressed_models, "rings"))
    assert f"data:{len(lines) + 1}: " in first.err and f"{rows} rows are kept" in first.err
    again = fastsvm(*words, code=1)
    assert f"Continuing after row {rows}, " in again.err and f"data:{len(lines) + 1}: " in again.err


# ---- hints after comments


@pytest.mark.parametrize(
    "text, words, message",
    [
        ("# c\n1,2,3\n", "predict data MODEL", f"data:2: {no_label('1,2,3')}; if these are delimited numbers"),
        ("# c\n#\n1:2\n", "predict data MODEL", f"data:3: {no_label('1:2')} (is the data unlabelled?); if"),
        ("# c\n1 1:2\n", "predict MODEL data", "the test file comes before the model: fastsvm predict data MODEL"),
        ("# c\n1 1:2\n", "approx data", f"data:1: {DATA_FILE}"),
        ("# c\n1,2\n", "predict --dense data MODEL", f"data:1: {no_label('#')}"),
    ],
)
def test_hints(fastsvm, models, tmp_path, text, words, message):
    (tmp_path / "MODEL").write_bytes((models / "rings.model").read_bytes())
    (tmp_path / "data").write_text(text)
    assert message in fastsvm(*words.split(), code=1).err
