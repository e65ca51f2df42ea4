"""Delimited numbers, one row per line; arbitrary text."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.text.read_rows import read_chunks
from support.profiles import calm
from support.reading import SIZES, UNLIMITED, read


@pytest.mark.parametrize(
    "delimiter, between, end",
    [
        (",", ",", "\n"),
        (",", " , ", "\r\n"),
        (";", "\t; ", " \n"),
        (" ", " ", "\n"),
        (" ", "   ", "\r\n"),
        (" ", "\t", " \n"),
        ("\t", "\t", "\r\n"),
        ("|", "|", " \n"),
        ("\v", "\v", "\n"),
    ],
)
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


def test_what_can_be_part_of_a_number_delimits_nothing(file):
    for delimiter in ("", "ab", "1", "e", "-", ".", "\n", "\r", "é"):
        with pytest.raises(ValueError, match="found, expected one character that cannot be part of a number"):
            list(read_chunks(file(b"1,2\n"), dense=True, delimiter=delimiter))


def test_dense_chunks_know_their_width_and_norms():
    chunk, error, fields, _ = _native.parse(b"1,3,4,0\n", dense=True)
    assert error is None and fields == 3 and chunk.max_index == 3 and chunk.squared_norms.tolist() == [25.0]


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
