"""The reader, rule by rule: valid lines. bad_rows.txt has invalid ones."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.text.read_rows import read_chunks
from support.messages import SKIPPED, no_label, no_pair, table, unescaped
from support.model_files import REGRESSION
from support.reading import bits, parse, read, rows_in


def good(text, **options):
    rows, error = parse(text, **options)
    assert error is None, error
    return rows


def test_a_row_is_a_label_and_its_entries():
    chunk, error, _, consumed = _native.parse(b"-1 0:0.5 7:-2e1\n2.5 3:4\n3\n")
    assert error is None and consumed == 26
    assert rows_in(chunk) == [(-1.0, [(0, 0.5), (7, -20.0)]), (2.5, [(3, 4.0)]), (3.0, [])]
    assert chunk.rows == len(chunk) == 3 and chunk.leading_count == 1 and chunk.max_index == 7 and chunk.first_line == 1
    assert chunk.squared_norms.tolist() == [0.25 + 400, 16.0, 0.0]


@pytest.mark.parametrize("section", ["valid rows", "valid rows without labels"])
def test_line_ends_blanks_comments_and_extreme_numbers_are_read(file, section):
    for text, rows in table("messages.txt", section):
        expected = read(file(unescaped(rows)), labelled=section == "valid rows")
        assert read(file(unescaped(text)), labelled=section == "valid rows") == expected and expected[1] is None, text


def test_zeros_of_any_spelling_are_not_underflow():
    ((label, entries),) = good("-0 1:0 2:0.000 3:0e-999 4:0e999 5:0x0p99999 6:.0 7:-0.0\n")
    assert bits([label]) == bits([-0.0]) and bits(v for _, v in entries) == bits([0, 0, 0, 0, 0, 0, -0.0])


def test_hexadecimal_numbers_are_read_as_strtod_reads_them():
    texts = ["0x1p-3", "0X1P3", "-0x1.8p+1", "0x.8", "0xff", "+0x10", "0x1.", "0xAbC.dEfp-7"]
    ((label, entries),) = good("0x10 " + " ".join(f"{i}:{t}" for i, t in enumerate(texts)) + "\n")
    assert label == 16.0 and [v for _, v in entries] == [float.fromhex(t) for t in texts]


def test_the_error_embeds_path_line_and_words(fastsvm, file, tmp_path):
    path = file("1\nx\n")
    with pytest.raises(DataFormatError) as caught:
        list(read_chunks(str(path)))
    assert (caught.value.path, caught.value.line, caught.value.why) == (str(path), 2, no_label("x"))
    assert read(path, name="shown") == ([(1.0, [])], f"shown:2: {no_label('x')}")
    (tmp_path / "model").write_bytes(REGRESSION)
    done = fastsvm("predict", "-q", "-", "model", input="1 1:1\nx\n", code=1)
    assert done.out == "1\n" and done.err == f"Error: standard input:2: {no_label('x')}{SKIPPED}\n"


def test_several_numbers_may_lead_a_row_as_in_a_model():
    chunk, error, _, _ = _native.parse(b"1 -0.5 2e1 3:4\n0 0 0\n1 2 3:4\n", leading_count=3)
    assert chunk.leading.tolist() == [[1.0, -0.5, 20.0], [0.0, 0.0, 0.0]] and chunk.leading_count == 3
    assert error[0] == 3 and error[1].startswith("'3:4' found, expected ")
    for line, found in ((b"1 2\n", "the end of the line"), (b"\n", "a blank line"), (b"# c\n", "'#'")):
        error = _native.parse(line, leading_count=3, leading_name="a coefficient")[1]
        assert error == (1, f"{found} found, expected a coefficient")
    assert _native.parse(b"1 qid:3\n")[1] == (1, no_pair("qid:3"))


def test_parsing_starts_at_an_offset_and_stops_after_the_rows_requested():
    text = b"header\n1 1:2\n3 4:5\nrest 9\n"
    chunk, error, _, consumed = _native.parse(text, offset=7, max_rows=2, first_line=2)
    assert error is None and rows_in(chunk) == [(1.0, [(1, 2.0)]), (3.0, [(4, 5.0)])]
    assert text[consumed:] == b"rest 9\n" and chunk.first_line == 2
    chunk, error, _, consumed = _native.parse(text, offset=7, max_rows=0, first_line=2)
    assert error is None and chunk.rows == 0 and consumed == 7
    assert _native.parse(text, offset=7, first_line=2)[1] == (4, no_label("rest"))
    for wrong in (dict(offset=len(text) + 1), dict(text=b"1 1:2")):  # the core needs a final line end
        with pytest.raises(ValueError):
            _native.parse(wrong.pop("text", text), **wrong)


def test_a_selection_of_rows_is_a_chunk_of_them_in_that_order():
    chunk, _, _, _ = _native.parse(b"1 1:2\n2\n3 4:5 6:7\n")
    chosen = chunk.select([2, 0, 2])
    assert rows_in(chosen) == [(3.0, [(4, 5.0), (6, 7.0)]), (1.0, [(1, 2.0)]), (3.0, [(4, 5.0), (6, 7.0)])]
    assert chosen.squared_norms.tolist() == [74.0, 4.0, 74.0]
    assert chunk.select([]).rows == 0
    for wrong in (-1, 3):
        with pytest.raises(IndexError):
            chunk.select([wrong])


def test_the_buffers_of_a_chunk_outlive_it_and_cannot_be_written():
    chunk, _, _, _ = _native.parse(b"1 1:2 3:4\n" * 1000)
    values = chunk.values
    del chunk
    assert values.tolist() == [2.0, 4.0] * 1000
    assert np.asarray(values).flags.writeable is False


# ---- delimited numbers


@pytest.mark.parametrize("words", table("messages.txt", "delimiters"), ids=ascii)
def test_dense_values_are_features_1_2_3(file, words):
    delimiter, between, end = map(unescaped, words)
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
