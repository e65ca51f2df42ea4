"""Delimited numbers, one row per line; arbitrary text."""

import pytest

from fastsvm_cli import _native
from fastsvm_cli.text.read_rows import read_chunks
from support.reading import read


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
