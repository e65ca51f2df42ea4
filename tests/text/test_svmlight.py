"""Data of SVMlight's writers: comment lines, `qid:N` after the label, lines of several labels. Rows are those of the
file without them, line numbers those of the file with them."""

import io
import random

import pytest

from fastsvm_cli import _native
from support.messages import cases, no_label
from support.outputs import timeless
from support.paths import DATA
from support.reading import SIZES, dressed, read, rows_in


def test_what_scikit_learn_writes_is_read(file):
    datasets = pytest.importorskip("sklearn.datasets")
    x, y, queries = [[0.5, 0, -1], [0, 0, 0], [2, 3, 0]], [1, -1, 1], [3, 3, 8]
    text = io.BytesIO()
    datasets.dump_svmlight_file(x, y, text, zero_based=False, comment="two\nlines: 1:2", query_id=queries)
    written = text.getvalue().decode()
    assert written.startswith("#") and "qid:8" in written
    assert read(file(written)) == ([(1.0, [(1, 0.5), (3, -1.0)]), (-1.0, []), (1.0, [(1, 2.0), (2, 3.0)])], None)


def test_an_error_has_the_line_of_the_file(file):
    text, _ = dressed(["1 1:1\n"] * 40, random.Random(1))
    lines = text.splitlines(keepends=True)
    for at in (0, 1, 7, len(lines)):
        path = file("".join([*lines[:at], "1,3 5:0.2\n", *lines[at:]]))
        message = f"{path}:{at + 1}: a multi-label line ('1,3') found, expected one label"
        for size in SIZES:
            assert read(path, size=size) == (read(file("".join(lines[:at])))[0], message)


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


# ---- the commands


@pytest.mark.full(few=1)
@pytest.mark.parametrize("words", cases("rows of SVMlight"))
def test_training_files_and_rows_beside_a_model(fastsvm, tmp_path, model, words):
    lines = (DATA / "rings.train").read_text().splitlines(keepends=True)[:80]
    printed = []
    for text in ("".join(lines), dressed(lines, random.Random(8))[0]):
        (tmp_path / "data").write_text(text)
        done = fastsvm(*(model("two_classes", "exact") if word == "MODEL" else word for word in words.split()))
        made = (tmp_path / "out").read_bytes() if "out" in words.split() else b""
        printed.append((timeless(done.out), made))
    assert printed[0] == printed[1]


# ---- hints after comments


def test_hints(fastsvm, model, tmp_path):
    (tmp_path / "MODEL").write_bytes(model("two_classes", "exact").read_bytes())
    for text, words, message in (
        ("# c\n1,2,3\n", "predict data MODEL", f"data:2: {no_label('1,2,3')}; if these are delimited numbers"),
        ("# c\n#\n1:2\n", "predict data MODEL", f"data:3: {no_label('1:2')} (is the data unlabelled?); if"),
    ):
        (tmp_path / "data").write_text(text)
        assert message in fastsvm(*words.split(), code=1).err
