"""Delimited numbers, one row per line; arbitrary text."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.text.read_rows import read_chunks
from support.messages import BLANK, no_label, no_number, not_finite, too_large, too_small
from support.profiles import calm
from support.reading import SIZES, UNLIMITED, read

DELIMITERS = [
    (",", ","),
    (",", " , "),
    (";", ";"),
    (";", "\t; "),
    (" ", " "),
    (" ", "   "),
    (" ", "\t"),
    ("\t", "\t"),
    ("|", "|"),
]


@pytest.mark.parametrize("delimiter, between", DELIMITERS)
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_dense_values_are_features_1_2_3(file, delimiter, between, end):
    text = "".join(
        between.join(row) + end
        for row in (["1", "0.5", "0", "-2e1"], ["-1", "0", "0", "0"], ["+3", "0", "0x1p-1", ".25"])
    )
    expected = [(1.0, [(1, 0.5), (3, -20.0)]), (-1.0, []), (3.0, [(2, 0.5), (3, 0.25)])]
    assert read(file(text), dense=True, delimiter=delimiter) == (expected, None)
    assert read(file(text.rstrip()), dense=True, delimiter=delimiter) == (expected, None)
    bare = [(None, [(1, label), *((i + 1, v) for i, v in entries)]) for label, entries in expected]
    assert read(file(text), dense=True, delimiter=delimiter, labelled=False) == (bare, None)


@pytest.mark.parametrize("delimiter", ["", "ab", "1", "e", "-", ".", "\n", "\r", "é"])
def test_what_can_be_part_of_a_number_delimits_nothing(file, delimiter):
    with pytest.raises(ValueError, match="found, expected one character that cannot be part of a number"):
        list(read_chunks(file(b"1,2\n"), dense=True, delimiter=delimiter))


def test_dense_chunks_know_their_width_and_norms():
    chunk, error, fields, _ = _native.parse(b"1,3,4,0\n", dense=True)
    assert error is None and fields == 3 and chunk.max_index == 3 and chunk.squared_norms.tolist() == [25.0]


DENSE_FAULTS = {
    "1,2": "1 values found, expected 2 as in the first row",
    "1,2,3,4": "3 values found, expected 2 as in the first row",
    "1": "0 values found, expected 2 as in the first row",
    "1,,3": "an empty field found, expected a number",
    "1,2,": "an empty field found, expected a number",
    "1, ,3": "an empty field found, expected a number",
    ",2,3": "an empty field found, expected a label",
    ",": "an empty field found, expected a label",
    "": BLANK,
    " \t": BLANK,
    "y,2,3": no_label("y"),
    "1,x,3": no_number("x"),
    "1,2,3x": no_number("3x"),
    '1,"2",3': "'\"2\"' found, expected a number",
    "1,NA,3": no_number("NA"),
    "1,nan,3": not_finite("nan"),
    "1,2,-inf": not_finite("-inf"),
    "1,1e999,3": too_large("1e999"),
    "1,2,1e-999": too_small("1e-999"),
    "1;2;3": no_label("1;2;3"),
    "1 1:2 2:3": no_label("1"),
    "1,2,3 # c": no_number("3"),
    "1,2\x00,3": no_number("2?"),
}


@pytest.mark.parametrize("line", DENSE_FAULTS, ids=ascii)
def test_an_invalid_dense_line_is_named_in_one_line_after_the_rows_before_it(file, line):
    path = file(f"1,2,3\n{line}\n1,2,3\n")
    for size in SIZES:
        assert read(path, dense=True, size=size) == ([(1.0, [(1, 2.0), (2, 3.0)])], f"{path}:2: {DENSE_FAULTS[line]}")


def test_a_header_line_is_an_error_of_line_1(file):
    path = file("label,height,width\n1,2,3\n")
    assert read(path, dense=True) == ([], f"{path}:1: 'label' found, expected a label")
    path = file("height,width\n2,3\n")
    assert read(path, dense=True, labelled=False) == ([], f"{path}:1: 'height' found, expected a number")


def test_a_first_dense_row_of_a_label_alone_decides_the_width_too(file):
    path = file("1\n1,2\n")
    rows, message = read(path, dense=True)
    assert rows == [(1.0, [])] and message == f"{path}:2: 1 values found, expected 0 as in the first row"


def test_an_empty_field_between_tabs_does_not_shift_its_neighbours(file):
    path = file("1\t\t3\t4\n1\t2\t\t4\n")
    rows, message = read(path, dense=True, delimiter="\t")
    assert rows == [] and message == f"{path}:1: an empty field found, expected a number"


@pytest.mark.full
def test_dense_rows_do_not_depend_on_chunk_size_or_threads(file):
    rng = random.Random(7)
    lines = []
    for _ in range(12_000):
        fields = [rng.choice(["0", "0", f"{rng.gauss(0, 1):.6g}", "-0.0", " 1 "]) for _ in range(20)]
        lines.append(",".join(fields) + rng.choice(["\n", "\r\n"]))
    path = file("".join(lines))
    expected = [
        (float(f[0]), [(i, float(v)) for i, v in enumerate(f[1:], 1) if float(v)])
        for f in (line.split(",") for line in lines)
    ]
    lines.insert(9_000, "1,2\n")
    broken = file("".join(lines))
    for size, threads in [(4096, 2), (UNLIMITED, 1), (1 << 20, 2), (1 << 20, 5)]:
        _native.set_threads(threads)
        assert read(path, dense=True, size=size) == (expected, None)
        assert read(broken, dense=True, size=size) == (
            expected[:9_000],
            f"{broken}:9001: 1 values found, expected 19 as in the first row",
        )


@calm(200)
@given(
    st.lists(st.text("0123456789.,;e-+ \t\rx#:\x00", max_size=12), max_size=8),
    st.sampled_from(",; \t"),
    st.booleans(),
    st.booleans(),
)
def test_any_text_at_all_is_rows_or_one_error_at_every_chunk_size(file, lines, delimiter, dense, labelled):
    path = file("\n".join(lines))
    found = [read(path, dense=dense, delimiter=delimiter, labelled=labelled, size=size) for size in SIZES]
    assert all(other == found[0] for other in found)
    rows, message = found[0]
    if message is not None:
        line = int(message.removeprefix(f"{path}:").partition(": ")[0])
        comments = 0 if dense else sum(each.lstrip(" \t").startswith("#") for each in lines[: line - 1])
        assert message.isprintable() and line == len(rows) + comments + 1
    path.unlink()
