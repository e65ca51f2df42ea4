"""The reader, rule by rule: valid lines of LIBSVM data, and messages for invalid ones."""

import sys

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.text.read_rows import read_chunks
from support.messages import (
    NUL,
    SKIPPED,
    falling,
    no_label,
    no_pair,
    not_finite,
    reported,
    several_labels,
    too_far,
    too_large,
    too_small,
)
from support.reading import bits, parse, read, rows_in


def good(text, **options):
    rows, error = parse(text, **options)
    assert error is None, error
    return rows


def test_a_row_is_a_label_and_its_entries():
    chunk, error, _, consumed = _native.parse(b"-1 1:0.5 7:-2e1\n2.5 3:4\n")
    assert error is None and consumed == 24
    assert rows_in(chunk) == [(-1.0, [(1, 0.5), (7, -20.0)]), (2.5, [(3, 4.0)])]
    assert chunk.rows == len(chunk) == 2 and chunk.leading_count == 1 and chunk.max_index == 7 and chunk.first_line == 1
    assert chunk.squared_norms.tolist() == [0.25 + 400, 16.0]


READ = {
    "1 1:2\r\n-1 3:4\r\n": [(1.0, [(1, 2.0)]), (-1.0, [(3, 4.0)])],
    " 1 1:2 3:4 \n\t1\t1:2\t \t3:4\t\n1  1:2  3:4 \t \r\n": [(1.0, [(1, 2.0), (3, 4.0)])] * 3,
    "1 1:2 # 3:4 # x:y nan\n-1 # all zero\n1 5:6 #\n": [(1.0, [(1, 2.0)]), (-1.0, []), (1.0, [(5, 6.0)])],
    "1 1:1 #c\r\n1\r\n": [(1.0, [(1, 1.0)]), (1.0, [])],
    "1 1:1e-310 2:5e-324 3:3e-324\n": [(1.0, [(1, 1e-310), (2, 5e-324), (3, 5e-324)])],
    "1 4:-4.9406564584124654e-324 5:0x1p-1074\n": [(1.0, [(4, -5e-324), (5, 5e-324)])],
    "1 1:1.7976931348623157e308\n": [(1.0, [(1, sys.float_info.max)])],
    "1 2:-179769313486231570e291\n": [(1.0, [(2, -sys.float_info.max)])],
}


@pytest.mark.parametrize("text", READ, ids=ascii)
def test_line_ends_blanks_comments_and_extreme_numbers_are_read(text):
    assert good(text) == READ[text]


def test_a_last_line_without_its_line_end_is_a_row(file):
    assert read(file("1 1:2\n-1 3:4")) == ([(1.0, [(1, 2.0)]), (-1.0, [(3, 4.0)])], None)
    assert read(file("1")) == ([(1.0, [])], None)
    with pytest.raises(ValueError, match="newline"):  # the core needs a final line end
        _native.parse(b"1 1:2")


def test_an_empty_file_has_no_rows(file):
    assert read(file("")) == ([], None)


def test_a_label_and_a_carriage_return_alone_are_the_zero_vector(file):
    assert read(file("1\r\n-1\r")) == ([(1.0, []), (-1.0, [])], None)


@pytest.mark.parametrize("line, token", [("1 1:2#c", "'1:2#c'"), ("1#c", "'1#c'"), ("# c", "'#'"), ("#1 1:2", "'#1'")])
def test_a_comment_begins_after_a_label_and_a_blank(line, token):
    rows, error = parse(f"1 1:1\n{line}\n")
    assert rows == [(1.0, [(1, 1.0)])] and error[0] == 2 and error[1].startswith(f"{token} found")


def test_a_label_alone_is_the_zero_vector():
    chunk, error, _, _ = _native.parse(b"3\n-2 \n")
    assert error is None and rows_in(chunk) == [(3.0, []), (-2.0, [])]
    assert chunk.squared_norms.tolist() == [0.0, 0.0] and chunk.max_index == 0


def test_index_0_is_allowed_and_counts_in_the_norm():
    chunk, _, _, _ = _native.parse(b"1 0:3 1:4\n")
    assert rows_in(chunk) == [(1.0, [(0, 3.0), (1, 4.0)])] and chunk.squared_norms.tolist() == [25.0]


@pytest.mark.parametrize("blank", ["", " ", "\t ", "\r", " \r"])
def test_a_blank_line_is_an_error_with_its_number(file, blank):
    path = file(f"1 1:1\n1 2:2\n{blank}\n1 3:3\n")
    assert read(path) == ([(1.0, [(1, 1.0)]), (1.0, [(2, 2.0)])], f"{path}:3: a blank line found, expected a label")


def test_a_blank_last_line_is_an_error_too(file):
    path = file("1 1:1\n\n")
    assert read(path) == ([(1.0, [(1, 1.0)])], f"{path}:2: a blank line found, expected a label")


ERRORS = {
    **reported(
        no_pair,
        "1 {foo}|1 {3:x}|1 {3:}|1 {3:} 2:4|1 {3} :2|1 {:2}|1 {1:2:3}|1 {1:2,2:3}|1 {1:2x}|1 {1:1e}|"
        "1 {1:1_000}|1 {1:1,5}|1 {1:.}|1 {1:-}|1 {1:--2}|1 {1:+-2}|1 {1:0x}|1 {1:0x-1}|1 {1:0x+1}|1 {1:0x1p}|"
        "1 1:2 {2}|1 {1.0:2}|1 {1e1:2}|1 {0x1:2}|1 {-1:2}|1 {-0:2}|1 {++1:2}|1 {qid:3.5} 1:2|1 {qid:3:4} 1:2|"
        "1 qid:3 {qid:4} 1:2|1 1:2 {qid:3}|1 {sid:3} 1:2",
    ),
    **reported(too_far, "1 {2147483648:1}|1 {4294967297:1}|1 {18446744073709551617:1}"),
    **reported(not_finite, "1 {3:nan}|1 {3:-NaN}|1 {3:nan(1)}|1 {3:inf}|1 {3:-Infinity}|{nan} 1:1|{inf} 1:1"),
    **reported(
        too_large, "1 {3:1e309}|1 {3:-1e309}|1 {3:0.1e400}|1 {3:00012e+400}|1 {3:0x1p1024}|1 {3:0x0.1p2000}|{1e999} 1:1"
    ),
    **reported(too_small, "1 {3:1e-400}|1 {3:2e-324}|1 {3:1000e-400}|1 {3:0.01e-350}|1 {3:0x1p-1080}"),
    **reported(no_label, "{foo} 1:1|{+} 1:1|{1,2}|{1,2} 3|{1,2,} 1:1|{1,x} 1:1"),
    **reported(several_labels, "{1,2} 1:1|{-1,+2.5,3} qid:4"),
    "1 3:1 2:1": falling(2, 3),
    "1 3:1 3:1": falling(3, 3),
    "1 0:1 0:1": falling(0, 0),
    "1:2 3:4": f"{no_label('1:2')} (is the data unlabelled?)",
    "\ufeff1 1:1": no_label("???1"),
    "1 é:1": no_pair("??:1"),
    "1 1:\x0012": no_pair("1:?12"),
    "1 1:12\x00": no_pair("1:12?"),
    "1\x00 1:12": no_label("1?"),
    "\x00": no_label("?"),
    "1 1:1 \x1b[31m": no_pair("?[31m"),
    "1 " + "x" * 1000: "'" + "x" * 40 + "...' found, expected index:value",
}


@pytest.mark.full(few=67)
@pytest.mark.parametrize("line", ERRORS, ids=lambda line: ascii(line[:30]))
def test_an_invalid_line_is_named_in_one_line_after_the_rows_before_it(file, line):
    for end in ("\n", "\r\n"):
        path = file(f"1 1:1{end}{line}{end}1 2:2{end}")
        rows, message = read(path)
        assert rows == [(1.0, [(1, 1.0)])]
        assert message == f"{path}:2: {ERRORS[line]}" and len(message.splitlines()) == 1 and message.isprintable()


def test_errors_of_standard_input_name_it(fastsvm, tmp_path):
    (tmp_path / "model").write_text(
        "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"
    )
    done = fastsvm("predict", "-q", "-", "model", input="1 1:1\n\n", code=1)
    assert done.out == "1\n" and done.err == f"Error: standard input:2: a blank line found, expected a label{SKIPPED}\n"


def test_another_name_may_stand_in_messages(file):
    assert read(file("x\n"), name="shown") == ([], f"shown:1: {no_label('x')}")


def test_the_error_embeds_path_line_and_words(file):
    path = file("1\nx\n")
    with pytest.raises(DataFormatError) as caught:
        list(read_chunks(str(path)))
    assert (caught.value.path, caught.value.line, caught.value.why) == (str(path), 2, no_label("x"))


def test_zeros_of_any_spelling_are_not_underflow():
    ((label, entries),) = good("-0 1:0 2:0.000 3:0e-999 4:0e999 5:0x0p99999 6:.0 7:-0.0\n")
    assert bits([label]) == bits([-0.0]) and bits(v for _, v in entries) == bits([0, 0, 0, 0, 0, 0, -0.0])


def test_the_largest_index_and_leading_zeros_and_plus_signs_are_read():
    chunk, error, _, _ = _native.parse(b"+1 +1:+2 0000000000000003:4 2147483647:5\n")
    assert error is None
    assert rows_in(chunk) == [(1.0, [(1, 2.0), (3, 4.0), (2147483647, 5.0)])] and chunk.max_index == 2147483647


def test_hexadecimal_numbers_are_read_as_strtod_reads_them():
    texts = ["0x1p-3", "0X1P3", "-0x1.8p+1", "0x.8", "0xff", "+0x10", "0x1.", "0xAbC.dEfp-7"]
    ((label, entries),) = good("0x10 " + " ".join(f"{i}:{t}" for i, t in enumerate(texts)) + "\n")
    assert label == 16.0 and [v for _, v in entries] == [float.fromhex(t) for t in texts]


def test_a_nul_byte_in_a_comment_is_an_error():
    """svm-predict loses the row after it."""
    chunk, error, _, _ = _native.parse(b"1 1:2\n1 1:2 # \x00\n1 1:3\n")
    assert chunk.rows == 1 and error == (2, NUL)


def test_unlabelled_rows_have_entries_only(file):
    assert read(file("1:2 3:4\n5:6 # c\r\n"), labelled=False) == (
        [(None, [(1, 2.0), (3, 4.0)]), (None, [(5, 6.0)])],
        None,
    )
    path = file("1:2\n1 1:2\n")
    assert read(path, labelled=False) == ([(None, [(1, 2.0)])], f"{path}:2: '1' found, expected index:value")


def test_an_empty_line_of_unlabelled_data_is_the_zero_vector(file):
    assert read(file("\n1:2\n\r\n"), labelled=False) == ([(None, []), (None, [(1, 2.0)]), (None, [])], None)


def test_several_numbers_may_lead_a_row_as_in_a_model():
    chunk, error, _, _ = _native.parse(b"1 -0.5 2e1 3:4\n0 0 0\n1 2 3:4\n", leading_count=3)
    assert chunk.leading.tolist() == [[1.0, -0.5, 20.0], [0.0, 0.0, 0.0]] and chunk.leading_count == 3
    assert error[0] == 3 and error[1].startswith("'3:4' found, expected ")
    assert _native.parse(b"1 2\n", leading_count=3, leading_name="a coefficient")[1] == (
        1,
        "the end of the line found, expected a coefficient",
    )
    assert _native.parse(b"\n", leading_count=3, leading_name="a coefficient")[1] == (
        1,
        "a blank line found, expected a coefficient",
    )


def test_parsing_starts_at_an_offset_and_stops_after_the_rows_requested():
    text = b"header\n1 1:2\n3 4:5\nrest 9\n"
    chunk, error, _, consumed = _native.parse(text, offset=7, max_rows=2, first_line=2)
    assert error is None and rows_in(chunk) == [(1.0, [(1, 2.0)]), (3.0, [(4, 5.0)])]
    assert text[consumed:] == b"rest 9\n" and chunk.first_line == 2
    chunk, error, _, consumed = _native.parse(text, offset=7, max_rows=0, first_line=2)
    assert error is None and chunk.rows == 0 and consumed == 7
    assert _native.parse(text, offset=7, first_line=2)[1] == (4, no_label("rest"))
    with pytest.raises(ValueError):
        _native.parse(text, offset=len(text) + 1)


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
