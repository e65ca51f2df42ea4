"""The reader: every rule for LIBSVM and dense data, numbers bit by bit, compressed files, pipes; rows never depend
on how a file is cut up."""

import gzip
import io
import itertools
import math
import os
import random
import re
import sys
import threading
import time
import zlib
from array import array
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, FastsvmError, FileError
from fastsvm_cli.text.data import read_bytes, read_chunks, read_start
from support.places import FASTSVM
from support.processes import PATIENCE, peak_memory, wait_until
from support.reading import COMPRESS, rows_in

UNLIMITED = 1 << 24
SIZES = (1, 7, 4096, UNLIMITED)
THREADS = (1, 2, 5)
calm = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def all_threads_again():
    yield
    _native.set_threads(0)


def parse(text, **options):
    """Rows, and the fault as (line, words) or None."""
    chunk, fault, _, _ = _native.parse(text if isinstance(text, bytes) else text.encode(), **options)
    return rows_in(chunk), fault


def read(path, **options):
    """All rows of a file, and the message that ended them, or None."""
    rows = []
    try:
        for chunk in read_chunks(str(path), **options):
            assert chunk.rows > 0 and chunk.first_line == len(rows) + 1
            rows += rows_in(chunk)
    except FastsvmError as fault:
        return rows, str(fault)
    return rows, None


def good(text, **options):
    rows, fault = parse(text, **options)
    assert fault is None, fault
    return rows


@pytest.fixture
def file(tmp_path):
    """file(content) writes content to a file and returns its path."""
    numbers = itertools.count()

    def write(content):
        path = tmp_path / f"data{next(numbers)}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def bits(numbers):
    return array("d", numbers).tobytes()


# ---- rules, one by one


def test_a_row_is_a_label_and_its_entries():
    chunk, fault, _, consumed = _native.parse(b"-1 1:0.5 7:-2e1\n2.5 3:4\n")
    assert fault is None and consumed == 24
    assert rows_in(chunk) == [(-1.0, [(1, 0.5), (7, -20.0)]), (2.5, [(3, 4.0)])]
    assert chunk.rows == len(chunk) == 2 and chunk.leading_count == 1 and chunk.max_index == 7 and chunk.first_line == 1
    assert chunk.squared_norms.tolist() == [0.25 + 400, 16.0]


def test_a_last_line_without_its_line_end_is_a_row(file):
    assert read(file("1 1:2\n-1 3:4")) == ([(1.0, [(1, 2.0)]), (-1.0, [(3, 4.0)])], None)
    assert read(file("1")) == ([(1.0, [])], None)
    with pytest.raises(ValueError, match="newline"):  # the core itself is told where the text ends
        _native.parse(b"1 1:2")


def test_an_empty_file_has_no_rows(file):
    assert read(file("")) == ([], None)


def test_lines_may_end_in_carriage_return_and_line_feed():
    assert good("1 1:2\r\n-1 3:4\r\n") == good("1 1:2\n-1 3:4\n")


def test_a_label_and_a_carriage_return_alone_are_the_zero_vector(file):
    assert good("1\r\n") == [(1.0, [])]
    assert read(file("1\r\n-1\r")) == ([(1.0, []), (-1.0, [])], None)


def test_blanks_and_tabs_before_between_and_after_words_do_not_matter():
    assert good(" 1 1:2 3:4 \n\t1\t1:2\t \t3:4\t\n1  1:2  3:4 \t \r\n") == [(1.0, [(1, 2.0), (3, 4.0)])] * 3


def test_a_comment_runs_to_the_end_of_its_line():
    assert good("1 1:2 # 3:4 # x:y nan\n-1 # all zero\n1 5:6 #\n1 1:1 #c\r\n") == [
        (1.0, [(1, 2.0)]),
        (-1.0, []),
        (1.0, [(5, 6.0)]),
        (1.0, [(1, 1.0)]),
    ]


@pytest.mark.parametrize("line, token", [("1 1:2#c", "'1:2#c'"), ("1#c", "'1#c'"), ("# c", "'#'"), ("#1 1:2", "'#1'")])
def test_a_comment_begins_after_a_label_and_a_blank(line, token):
    rows, fault = parse(f"1 1:1\n{line}\n")
    assert rows == [(1.0, [(1, 1.0)])] and fault[0] == 2 and fault[1].startswith(f"{token} found")


def test_a_label_alone_is_the_zero_vector():
    chunk, fault, _, _ = _native.parse(b"3\n-2 \n")
    assert (
        fault is None
        and rows_in(chunk) == [(3.0, []), (-2.0, [])]
        and chunk.squared_norms.tolist() == [0.0, 0.0]
        and chunk.max_index == 0
    )


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


FAULTS = {
    "1 foo": "'foo' found, expected index:value",
    "1 3:x": "'3:x' found, expected index:value",
    "1 3:": "'3:' found, expected index:value",
    "1 3: 2": "'3:' found, expected index:value",
    "1 3 :2": "'3' found, expected index:value",
    "1 :2": "':2' found, expected index:value",
    "1 1:2:3": "'1:2:3' found, expected index:value",
    "1 1:2,2:3": "'1:2,2:3' found, expected index:value",
    "1 1:2x": "'1:2x' found, expected index:value",
    "1 1:1e": "'1:1e' found, expected index:value",
    "1 1:1_000": "'1:1_000' found, expected index:value",
    "1 1:1,5": "'1:1,5' found, expected index:value",
    "1 1:.": "'1:.' found, expected index:value",
    "1 1:-": "'1:-' found, expected index:value",
    "1 1:--2": "'1:--2' found, expected index:value",
    "1 1:+-2": "'1:+-2' found, expected index:value",
    "1 1:0x": "'1:0x' found, expected index:value",
    "1 1:0x-1": "'1:0x-1' found, expected index:value",
    "1 1:0x+1": "'1:0x+1' found, expected index:value",
    "1 1:0x1p": "'1:0x1p' found, expected index:value",
    "1 1:2 2": "'2' found, expected index:value",
    "1 1.0:2": "'1.0:2' found, expected index:value",
    "1 1e1:2": "'1e1:2' found, expected index:value",
    "1 0x1:2": "'0x1:2' found, expected index:value",
    "1 -1:2": "'-1:2' found, expected index:value",
    "1 -0:2": "'-0:2' found, expected index:value",
    "1 ++1:2": "'++1:2' found, expected index:value",
    "1 qid:3 1:2": "'qid:3' found, expected index:value",
    "1 3:1 2:1": "index 2 found after index 3, expected increasing indices",
    "1 3:1 3:1": "index 3 found after index 3, expected increasing indices",
    "1 0:1 0:1": "index 0 found after index 0, expected increasing indices",
    "1 2147483648:1": "'2147483648:1' found, expected an index of at most 2147483647",
    "1 4294967297:1": "'4294967297:1' found, expected an index of at most 2147483647",
    "1 18446744073709551617:1": "'18446744073709551617:1' found, expected an index of at most 2147483647",
    "1 3:nan": "'3:nan' found, expected a finite number",
    "1 3:-NaN": "'3:-NaN' found, expected a finite number",
    "1 3:nan(1)": "'3:nan(1)' found, expected a finite number",
    "1 3:inf": "'3:inf' found, expected a finite number",
    "1 3:-Infinity": "'3:-Infinity' found, expected a finite number",
    "1 3:1e309": "'3:1e309' found, too large for a double",
    "1 3:-1e309": "'3:-1e309' found, too large for a double",
    "1 3:0.1e400": "'3:0.1e400' found, too large for a double",
    "1 3:00012e+400": "'3:00012e+400' found, too large for a double",
    "1 3:0x1p1024": "'3:0x1p1024' found, too large for a double",
    "1 3:0x0.1p2000": "'3:0x0.1p2000' found, too large for a double",
    "1 3:1e-400": "'3:1e-400' found, too small for a double",
    "1 3:2e-324": "'3:2e-324' found, too small for a double",
    "1 3:1000e-400": "'3:1000e-400' found, too small for a double",
    "1 3:0.01e-350": "'3:0.01e-350' found, too small for a double",
    "1 3:0x1p-1080": "'3:0x1p-1080' found, too small for a double",
    "foo 1:1": "'foo' found, expected a label",
    "+ 1:1": "'+' found, expected a label",
    "1,2 1:1": "'1,2' found, expected a label",
    "nan 1:1": "'nan' found, expected a finite number",
    "inf 1:1": "'inf' found, expected a finite number",
    "1e999 1:1": "'1e999' found, too large for a double",
    "1:2 3:4": "'1:2' found, expected a label (is the data unlabelled?)",
    "\ufeff1 1:1": "'???1' found, expected a label",
    "1 é:1": "'??:1' found, expected index:value",
    "1 1:\x0012": "'1:?12' found, expected index:value",
    "1 1:12\x00": "'1:12?' found, expected index:value",
    "1\x00 1:12": "'1?' found, expected a label",
    "\x00": "'?' found, expected a label",
    "1 1:1 \x1b[31m": "'?[31m' found, expected index:value",
    "1 " + "x" * 1000: "'" + "x" * 40 + "...' found, expected index:value",
}


@pytest.mark.parametrize("line", FAULTS, ids=lambda line: ascii(line[:30]))
def test_a_faulty_line_is_named_in_one_line_after_the_rows_before_it(file, line):
    for end in ("\n", "\r\n"):
        path = file(f"1 1:1{end}{line}{end}1 2:2{end}")
        rows, message = read(path)
        assert rows == [(1.0, [(1, 1.0)])]
        assert message == f"{path}:2: {FAULTS[line]}" and len(message.splitlines()) == 1 and message.isprintable()


def test_faults_of_standard_input_name_it(fastsvm, tmp_path):
    (tmp_path / "model").write_text(
        "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"
    )
    done = fastsvm("predict", "-q", "-", "model", input="1 1:1\n\n", code=1)
    assert done.out == "1\n" and done.err == "Error: standard input:2: a blank line found, expected a label\n"


def test_another_name_may_stand_in_messages(file):
    assert read(file("x\n"), name="shown") == ([], "shown:1: 'x' found, expected a label")


def test_the_fault_carries_path_line_and_words(file):
    path = file("1\nx\n")
    with pytest.raises(DataFormatError) as caught:
        list(read_chunks(str(path)))
    assert (caught.value.path, caught.value.line, caught.value.why) == (str(path), 2, "'x' found, expected a label")


def test_denormal_values_are_read():
    assert good("1 1:1e-310 2:5e-324 3:3e-324 4:-4.9406564584124654e-324 5:0x1p-1074\n") == [
        (1.0, [(1, 1e-310), (2, 5e-324), (3, 5e-324), (4, -5e-324), (5, 5e-324)])
    ]


def test_zeros_of_any_spelling_are_not_underflow():
    ((label, entries),) = good("-0 1:0 2:0.000 3:0e-999 4:0e999 5:0x0p99999 6:.0 7:-0.0\n")
    assert bits([label]) == bits([-0.0]) and bits(v for _, v in entries) == bits([0, 0, 0, 0, 0, 0, -0.0])


def test_the_largest_index_and_leading_zeros_and_plus_signs_are_read():
    chunk, fault, _, _ = _native.parse(b"+1 +1:+2 0000000000000003:4 2147483647:5\n")
    assert (
        fault is None
        and rows_in(chunk) == [(1.0, [(1, 2.0), (3, 4.0), (2147483647, 5.0)])]
        and chunk.max_index == 2147483647
    )


def test_the_largest_double_is_read():
    assert good("1 1:1.7976931348623157e308 2:-179769313486231570e291\n") == [
        (1.0, [(1, sys.float_info.max), (2, -sys.float_info.max)])
    ]


def test_hexadecimal_numbers_are_read_as_strtod_reads_them():
    texts = ["0x1p-3", "0X1P3", "-0x1.8p+1", "0x.8", "0xff", "+0x10", "0x1.", "0xAbC.dEfp-7"]
    ((label, entries),) = good("0x10 " + " ".join(f"{i}:{t}" for i, t in enumerate(texts)) + "\n")
    assert label == 16.0 and [v for _, v in entries] == [float.fromhex(t) for t in texts]


def test_a_nul_byte_in_a_comment_is_a_fault():
    """svm-predict loses the row after it."""
    chunk, fault, _, _ = _native.parse(b"1 1:2\n1 1:2 # \x00\n1 1:3\n")
    assert chunk.rows == 1 and fault == (2, "a NUL byte found, expected text")


def test_unlabelled_rows_have_entries_only(file):
    assert read(file("1:2 3:4\n5:6 # c\r\n"), labelled=False) == (
        [(None, [(1, 2.0), (3, 4.0)]), (None, [(5, 6.0)])],
        None,
    )
    path = file("1:2\n1 1:2\n")
    assert read(path, labelled=False) == ([(None, [(1, 2.0)])], f"{path}:2: '1' found, expected index:value")


def test_an_empty_line_of_unlabelled_data_is_the_zero_vector(file):
    assert read(file("\n1:2\n\r\n# c\n"), labelled=False) == (
        [(None, []), (None, [(1, 2.0)]), (None, []), (None, [])],
        None,
    )


def test_several_numbers_may_lead_a_row_as_in_a_model():
    chunk, fault, _, _ = _native.parse(b"1 -0.5 2e1 3:4\n0 0 0\n1 2 3:4\n", leading_count=3)
    assert chunk.leading.tolist() == [[1.0, -0.5, 20.0], [0.0, 0.0, 0.0]] and chunk.leading_count == 3
    assert fault[0] == 3 and fault[1].startswith("'3:4' found, expected ")
    assert _native.parse(b"1 2\n", leading_count=3, leading_name="a coefficient")[1] == (
        1,
        "the end of the line found, expected a coefficient",
    )
    assert _native.parse(b"\n", leading_count=3, leading_name="a coefficient")[1] == (
        1,
        "a blank line found, expected a coefficient",
    )


def test_parsing_starts_at_an_offset_and_stops_after_the_rows_wanted():
    text = b"header\n1 1:2\n3 4:5\nrest 9\n"
    chunk, fault, _, consumed = _native.parse(text, offset=7, max_rows=2, first_line=2)
    assert (
        fault is None
        and rows_in(chunk) == [(1.0, [(1, 2.0)]), (3.0, [(4, 5.0)])]
        and text[consumed:] == b"rest 9\n"
        and chunk.first_line == 2
    )
    chunk, fault, _, consumed = _native.parse(text, offset=7, max_rows=0, first_line=2)
    assert fault is None and chunk.rows == 0 and consumed == 7
    assert _native.parse(text, offset=7, first_line=2)[1] == (4, "'rest' found, expected a label")
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


# ---- numbers


DECIMAL = st.from_regex(r"\A[+-]?(0{0,4}[0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?\Z")


def assert_read_as_float(text):
    expected = float(text)
    rows, fault = parse(f"1 1:{text}\n")
    if math.isinf(expected):
        assert fault == (1, f"'1:{text[:38]}{'...' if len(text) > 38 else ''}' found, too large for a double")
    elif expected == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        assert fault == (1, f"'1:{text[:38]}{'...' if len(text) > 38 else ''}' found, too small for a double")
    else:
        assert fault is None and bits([rows[0][1][0][1]]) == bits([expected]), (text, rows[0][1][0][1], expected)


@settings(calm, max_examples=800)
@given(DECIMAL)
def test_every_decimal_text_is_read_as_the_nearest_double(text):
    assert_read_as_float(text)


@settings(calm, max_examples=500)
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["r", ".17g", ".25g", ".3e", ".16e", ".17e", ".30e", ".6f", ".20f"]),
)
def test_every_double_is_read_from_any_of_its_spellings(value, form):
    assert_read_as_float(repr(value) if form == "r" else format(value, form))


@settings(calm, max_examples=300)
@given(st.floats(min_value=0, max_value=1e308), st.integers(-1, 1))
def test_texts_beside_the_middle_of_two_doubles_are_rounded_the_right_way(value, side):
    middle = (Decimal(value) + Decimal(math.nextafter(value, math.inf))) / 2
    digits = len(middle.as_tuple().digits)
    text = format(middle, "e") if digits < 760 else format(Decimal(value), "e")
    if side:  # a far digit that is not zero, or one less
        mantissa, exponent = text.split("e") if "e" in text else (text.split("E") + ["0"])[:2]
        mantissa = (mantissa if "." in mantissa else mantissa + ".") + ("0" * 20 + "1" if side > 0 else "")
        text = f"{mantissa}e{exponent}"
    assert_read_as_float(text)


def test_many_random_numbers_are_read_bit_for_bit():
    rng = random.Random(1)
    texts = []
    for digits in range(1, 26):
        for _ in range(1200):
            whole = "".join(rng.choices("0123456789", k=digits))
            point = rng.randrange(digits + 1)
            text = (
                rng.choice(["", "", "-", "+"])
                + rng.choice(["", "0", "00"])
                + whole[:point]
                + ("." if point else "0.")
                + whole[point:]
            )
            texts.append(text + rng.choice(["", "", f"e{rng.randint(-280, 270)}", f"E{rng.randint(-20, 20):+d}"]))
    numbers, consumed = _native.parse_numbers((" ".join(texts) + "\n").encode(), 0, len(texts))
    assert consumed == sum(map(len, texts)) + len(texts)
    wrong = [t for t, a, b in zip(texts, numbers.tolist(), map(float, texts), strict=True) if bits([a]) != bits([b])]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740992",
        "9007199254740993",
        "9007199254740995",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "0" * 30 + "7",
        "0." + "0" * 25 + "7",
        "9007199254740993e-22",
        "9007199254740991e22",
        "1e22",
        "1e23",
        "8.5e-23",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793728971405301e276",
        "0.1",
        "1" + "0" * 308,
        "1" + "0" * 309,
        "0" * 400 + "1",
        "0." + "0" * 323 + "5",
        "0." + "0" * 400 + "1",
        "0." + "0" * 400 + "1e400",
        "1" + "0" * 400 + "e-400",
        "0" + "1" + "0" * 400,
    ],
    ids=lambda text: text[:30],
)
def test_hard_numbers_are_read_bit_for_bit(text):
    assert_read_as_float(text)
    assert_read_as_float("-" + text)


@pytest.mark.parametrize(
    "text", ["1 2\n", "1 2 3 4\n", "1 x 3\n", "1 2 3x\n", "1 2 nan\n", "1 2 1e999\n", "1 2 3", "", "\n", "1 2\n\n"]
)
def test_a_list_of_numbers_with_a_fault_is_refused(text):
    with pytest.raises(ValueError, match="found"):
        _native.parse_numbers(text.encode(), 0, 3)


def test_a_list_of_numbers_may_span_lines_and_ends_with_one():
    assert _native.parse_numbers(b"xx1 2\r\n 3 \nrest\n", 2, 3)[0].tolist() == [1.0, 2.0, 3.0]
    assert _native.parse_numbers(b"xx1 2\r\n 3 \nrest\n", 2, 3)[1] == 11
    for count in (-1, 1 << 40, 2**63 - 1):  # more than the text can hold: refused before any memory is taken
        with pytest.raises(ValueError):
            _native.parse_numbers(b"1 2\n", 0, count)
    for offset in (-1, 5, 1 << 40):
        with pytest.raises(ValueError):
            _native.parse_numbers(b"1 2\n", offset, 1)


@settings(calm, max_examples=800)
@given(st.floats(allow_nan=False))
def test_format_g_is_printf(value):
    assert _native.format_g(value) == "%.6g" % value
    assert _native.format_g(value, 17) == "%.17g" % value


def test_format_g_is_printf_where_it_changes_its_form():
    values = (
        1e-4,
        1e-5,
        0.00009999995,
        99999.95,
        999999.5,
        999999.4,
        1e6,
        1e16,
        1e17,
        123456789012345678.0,
        0.1,
        1 / 3,
        0.0,
        100.0,
        1e-310,
        2.5,
    )
    for value in values:
        for sign in (1, -1):
            assert _native.format_g(sign * value) == "%.6g" % (sign * value)
            assert _native.format_g(sign * value, 17) == "%.17g" % (sign * value)
    assert [_native.format_g(x) for x in (math.inf, -math.inf, math.nan, -math.nan)] == ["inf", "-inf", "nan", "-nan"]


def scientific(value):
    return np.format_float_scientific(value, trim="-", exp_digits=2)


@settings(calm, max_examples=500)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_doubles_are_written_as_the_shortest_text_that_reads_back(values):
    text = _native.format_numbers(array("d", values)).decode()
    assert text.endswith("\n") and "\n" not in text[:-1]
    words = text.split()
    assert [float(word) for word in words] == values
    assert all(
        len(word) <= min(len(repr(value)), len(scientific(np.float64(value))))
        for word, value in zip(words, values, strict=True)
    )
    assert _native.parse_numbers(text.encode(), 0, len(values))[0].tolist() == values


@settings(calm, max_examples=500)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=5))
def test_singles_are_written_as_the_shortest_text_that_reads_back(values):
    words = _native.format_numbers(array("f", values)).decode().split()
    assert array("f", map(float, words)).tolist() == values
    assert all(len(word) <= len(scientific(np.float32(value))) for word, value in zip(words, values, strict=True))


def test_many_singles_read_back_through_a_double():
    bytes_ = random.Random(2).randbytes(4 * 200_000)
    values = np.frombuffer(bytes_, np.float32)
    values = values[np.isfinite(values)]
    text = _native.format_numbers(values)
    numbers, _ = _native.parse_numbers(text, 0, len(values))
    assert np.array_equal(np.asarray(numbers).astype(np.float32), values)


def test_no_numbers_are_an_empty_line():
    assert _native.format_numbers(array("d")) == b"\n" and _native.parse_numbers(b"\n", 0, 0)[1] == 1


def test_rows_are_written_as_they_are_read():
    text = b"1 1:0.5 7:-20\n-2.5\n0.1 0:1e-310 2147483647:1e+300\n"
    assert _native.format_rows(_native.parse(text)[0]) == text
    assert _native.format_rows(_native.parse(b"1:2 3:4\n\n", leading_count=0)[0]) == b"1:2 3:4\n\n"
    assert _native.format_rows(_native.parse(b"1 -2 3:4\n5 6\n", leading_count=2)[0]) == b"1 -2 3:4\n5 6\n"


# ---- the same rows, however the text is cut up


NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def plain_rows(text):
    """An independent reader: the rows before the first fault, and its line or None."""
    rows, lines = [], text.split("\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, 1):
        words = re.sub(r"(?<=[ \t\r])#.*", "", line, flags=re.DOTALL).split()
        pairs = [re.fullmatch(rf"\+?(\d+):({NUMBER})", word, re.ASCII) for word in words[1:]]
        if not words or not re.fullmatch(NUMBER, words[0], re.ASCII) or not all(pairs):
            return rows, number
        entries = [(int(pair[1]), float(pair[2])) for pair in pairs]
        indices = [index for index, _ in entries]
        if indices != sorted(set(indices)) or max(indices, default=0) >= 2**31:
            return rows, number
        rows.append((float(words[0]), entries))
    return rows, None


NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "-1", "+2.5", "1e-3", ".5", "3."]),
    st.floats(-1e6, 1e6).map(repr),
    st.integers(-999, 999).map(str),
)
COMMENTS = st.sampled_from(["", "", "", " #", " # 3:4", " #a:b:c # d:e ::::", "\t#:"])
ENDS = st.sampled_from(["\n", "\n", "\r\n", " \n", "\t\r\n"])
BROKEN = st.sampled_from(
    ["", "1 2:1 1:1", "1 x", "1 1:2:3", ":1", "1 1:", "# 1:1", "1 5:5 5:5", "\t", "1 3000000000:1"]
)


@st.composite
def lines_of_data(draw):
    indices = sorted(draw(st.sets(st.one_of(st.integers(0, 30), st.integers(0, 2**31 - 1)), max_size=6)))
    blank = draw(st.sampled_from([" ", " ", "  ", "\t"]))
    return blank.join([draw(NUMBERS), *(f"{index}:{draw(NUMBERS)}" for index in indices)]) + draw(COMMENTS) + draw(ENDS)


@st.composite
def texts_of_data(draw):
    lines = draw(st.lists(lines_of_data(), max_size=12))
    if draw(st.integers(0, 2)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(BROKEN) + draw(ENDS))
    text = "".join(lines)
    return text[:-1] if draw(st.booleans()) and text.endswith("\n") else text


@settings(calm, max_examples=150)
@given(texts_of_data())
def test_rows_and_faults_are_those_of_a_plain_reader_at_every_chunk_size(file, text):
    rows, line = plain_rows(text)
    path = file(text)
    found = [read(path, size=size) for size in SIZES]
    assert found[0][0] == rows
    assert (line is None) == (found[0][1] is None) and (line is None or found[0][1].startswith(f"{path}:{line}: "))
    assert all(other == found[0] for other in found)
    path.unlink()


def fingerprint(text, **options):
    chunk, fault, fields, consumed = _native.parse(text, **options)
    views = [bytes(view) for view in (chunk.leading, chunk.indptr, chunk.indices, chunk.values, chunk.squared_norms)]
    return views, chunk.rows, chunk.max_index, fault, fields


@settings(calm, max_examples=25)
@given(st.lists(lines_of_data(), min_size=1, max_size=12).map("".join), st.floats(0, 1), st.one_of(st.none(), BROKEN))
def test_rows_and_faults_do_not_depend_on_the_number_of_threads(text, where, broken):
    text = text.encode()
    copies = (
        1_400_000 // len(text) + 1
    )  # several pieces of a quarter megabyte, so that five threads have something to do
    before = int(where * copies)
    fault = b"" if broken is None else broken.encode() + b"\n"
    text = text * before + fault + text * (copies - before)
    results = []
    for threads in THREADS:
        _native.set_threads(threads)
        results.append(fingerprint(text))
    assert (results[0][3] is None) == (broken is None)
    if broken is not None:
        assert results[0][3][0] == results[0][1] + 1
    lines = text.count(b"\n")
    assert results[0][1] == (lines if broken is None else before * (lines - 1) // copies)
    assert results[1] == results[0] and results[2] == results[0]


def random_text(rng, rows, indices=60, comments=True):
    lines = []
    for _ in range(rows):
        chosen = sorted(rng.sample(range(indices), rng.randint(0, 12)))
        line = " ".join(
            [str(rng.choice([1, -1, 3])), *(f"{i}:{rng.gauss(0, 1):.{rng.randint(1, 17)}g}" for i in chosen)]
        )
        lines.append(line + (rng.choice(["", "", " # 1:2 3:4 :::", "\r"]) if comments else "") + "\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def long_text():
    return random_text(random.Random(3), 20_000)


def test_a_long_file_is_that_of_a_plain_reader_at_every_chunk_size_and_thread_count(file, long_text):
    rows, _ = plain_rows(long_text)
    path = file(long_text)
    assert len(long_text) > 1_000_000
    for size, threads in [(4096, 1), (100_003, 2), (UNLIMITED, 1), (UNLIMITED, 2), (UNLIMITED, 5)]:
        _native.set_threads(threads)
        assert read(path, size=size) == (rows, None)


def test_the_first_of_several_faults_is_reported_whoever_finds_it(file, long_text):
    lines = long_text.splitlines(keepends=True)
    for at, broken in ((19_000, "late\n"), (12_345, "1 2:1 1:1 # fault\n"), (13_000, "\n")):
        lines.insert(at, broken)
    path = file("".join(lines))
    expected = plain_rows(long_text)[0][:12_345]
    for size, threads in itertools.product((4096, UNLIMITED), THREADS):
        _native.set_threads(threads)
        assert read(path, size=size) == (
            expected,
            f"{path}:12346: index 1 found after index 2, expected increasing indices",
        )


def test_rows_are_those_of_sklearn(file):
    text = random_text(random.Random(4), 500, comments=False)
    expected, labels = load_svmlight_file(io.BytesIO(text.encode()), zero_based=True, n_features=60)
    for size in SIZES[1:]:
        at = 0
        for chunk in read_chunks(str(file(text)), size=size):
            part = expected[at : at + chunk.rows]
            assert np.array_equal(np.asarray(chunk.leading)[:, 0], labels[at : at + chunk.rows])
            assert np.array_equal(np.asarray(chunk.indptr), part.indptr) and np.array_equal(
                np.asarray(chunk.indices), part.indices
            )
            assert np.array_equal(np.asarray(chunk.values), part.data)
            at += chunk.rows
        assert at == 500


def test_a_line_longer_than_a_chunk_is_one_row(file):
    entries = [(i, float(i % 7)) for i in range(1, 20_000)]
    text = "1 1:1\n2 " + " ".join(f"{i}:{v:g}" for i, v in entries) + "\n3 1:1\n"
    for size in (7, 4096, 50_000, UNLIMITED):
        assert read(file(text), size=size) == ([(1.0, [(1, 1.0)]), (2.0, entries), (3.0, [(1, 1.0)])], None)


def test_chunks_hold_about_the_bytes_asked_for(file, long_text):
    path = file(long_text)
    sizes = [chunk.rows for chunk in read_chunks(str(path), size=10_000)]
    assert len(sizes) > len(long_text) / 10_000 / 2 and sum(sizes) == 20_000


def test_a_chunk_stays_as_it_is_while_the_next_ones_are_read(file, long_text):
    chunks = list(read_chunks(str(file(long_text)), size=4096))
    assert [row for chunk in chunks for row in rows_in(chunk)] == plain_rows(long_text)[0]


def test_reading_reports_the_bytes_taken(file, long_text):
    for content in (long_text.encode(), gzip.compress(long_text.encode())):
        path, taken = file(content), []
        list(read_chunks(str(path), on_read=taken.append, size=4096))
        assert taken == sorted(taken) and taken[-1] == len(content)


def test_the_whole_content_or_its_start_can_be_had(file, long_text):
    content = long_text.encode() + b"no line end\x00\xff"
    for path in (file(content), *(file(compress(content)) for compress in COMPRESS.values())):
        assert read_bytes(str(path)) == content
        start = read_start(str(path))
        assert content.startswith(start) and len(start) >= 1000
    assert read_bytes(str(file(b""))) == read_start(str(file(b""))) == b""
    assert read_start(str(file(b"no line end"))) == b"no line end"


@pytest.mark.parametrize("compress", [None, *COMPRESS])
def test_files_are_closed_when_they_have_been_read(file, compress):
    content = b"1 1:2\n" * 1000
    path = str(file(COMPRESS[compress](content) if compress else content))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        assert sum(chunk.rows for chunk in read_chunks(path)) == 1000
        read_bytes(path)
        read_start(path)
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) <= before)  # a thread may still be on its way out


@pytest.mark.parametrize("compress", [None, *COMPRESS])
def test_a_reader_that_stops_early_lets_go_of_the_file(file, compress):
    content = b"1 1:2\n" * 2000
    path = str(file((COMPRESS[compress](content) if compress else content) * 500))  # more than decompression runs ahead
    files, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        chunks = read_chunks(path, size=1000)
        assert next(chunks).rows > 0
        chunks.close()
        assert len(read_start(path)) > 0
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) <= files and threading.active_count() <= threads)


@pytest.mark.parametrize(
    "name, words",
    [("no", "No such file or directory"), ("no/where", "No such file or directory"), ("", "Is a directory")],
)
def test_files_that_cannot_be_read_are_named(tmp_path, name, words):
    path = str(tmp_path / name) if name else str(tmp_path)
    for read_it in (lambda: list(read_chunks(path)), lambda: read_bytes(path), lambda: read_start(path)):
        with pytest.raises(FileError) as caught:
            read_it()
        assert str(caught.value) == f"{path}: {words}"


def test_a_path_that_does_not_print_is_shown_in_one_line(tmp_path):
    for name in ("a\nb", "\x1b[31m", "\udcff"):
        with pytest.raises(FileError) as caught:
            list(read_chunks(str(tmp_path / name)))
        assert str(caught.value).isprintable() and str(caught.value).endswith(": No such file or directory")


# ---- memory


RBF = (
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1"
    " 3:0.5\n-1 2:1 {}:0.25\n"
)


@pytest.mark.parametrize("model", ["exact", "compiled"])
def test_a_huge_index_takes_no_memory(fastsvm, tmp_path, model):
    for name, index in (("small", 4), ("huge", 2_000_000_000)):
        (tmp_path / name).write_text("1 1:1\n-1 2:1\n1\n-1 3:0.5\n" + f"1 1:0.5 {index}:0.125\n")
        (tmp_path / f"{name}.exact").write_text(RBF.format(index))
        fastsvm("approx", "-q", f"{name}.exact", f"{name}.compiled")
    combinations = (("small", "small"), ("huge", "small"), ("huge", "huge"))
    peaks = [
        peak_memory(FASTSVM, "predict", "-q", data, f"{support}.{model}", cwd=tmp_path)
        for data, support in combinations
    ]
    assert max(peaks) < peaks[0] + (32 << 20)


@pytest.mark.parametrize("compress", [None, "gzip"])
def test_memory_does_not_grow_with_the_file(tmp_path, compress):
    (tmp_path / "model").write_text(RBF.format(4))
    for name, rows in (("short", 2_000_000), ("long", 9_000_000)):  # the short one fills every buffer already
        content = b"1 1:1\n" * rows
        (tmp_path / name).write_bytes(content if compress is None else gzip.compress(content, 1))
    short, long = (peak_memory(FASTSVM, "predict", "-q", name, "model", cwd=tmp_path) for name in ("short", "long"))
    assert long < short + (24 << 20)


# ---- compressed files


SAMPLE = "1 1:0.5 2:0.25\n-1 3:1 # c\n1\n" + "".join(f"1 {i}:{i}.5\n" for i in range(1, 40))


@pytest.fixture(params=COMPRESS)
def kind(request):
    return request.param


def test_compressed_files_are_known_by_their_content_whatever_their_name(tmp_path, kind):
    for name in ("data", "data.gz", "data.bz2", "data.xz", "data.txt"):
        (tmp_path / name).write_bytes(COMPRESS[kind](SAMPLE.encode()))
        for size in SIZES:
            assert read(tmp_path / name, size=size) == (plain_rows(SAMPLE)[0], None)


def test_a_plain_file_may_be_called_gz(tmp_path):
    (tmp_path / "data.gz").write_text(SAMPLE)
    assert read(tmp_path / "data.gz") == (plain_rows(SAMPLE)[0], None)


def test_compressed_streams_one_after_the_other_are_one_file(file, kind):
    cuts = [0, 10, 10, 11, len(SAMPLE)]  # in the middle of lines, and an empty one
    content = b"".join(COMPRESS[kind](SAMPLE[a:b].encode()) for a, b in zip(cuts, cuts[1:]))
    assert read(file(content)) == (plain_rows(SAMPLE)[0], None)


def test_many_compressed_streams_in_a_row_are_one_file(file, kind):
    assert read(file(COMPRESS[kind](b"1 1:2\n") * 3000)) == ([(1.0, [(1, 2.0)])] * 3000, None)


def test_zeros_between_and_after_streams_are_padding(file):
    for name in ("gzip", "xz"):
        piece = COMPRESS[name](b"1 1:2\n")
        assert read(file(piece + bytes(8) + piece + bytes(512))) == ([(1.0, [(1, 2.0)])] * 2, None)


def test_a_compressed_empty_file_has_no_rows(file, kind):
    assert read(file(COMPRESS[kind](b""))) == ([], None)


def test_a_compressed_last_line_may_lack_its_line_end(file, kind):
    assert read(file(COMPRESS[kind](b"1 1:2"))) == ([(1.0, [(1, 2.0)])], None)


def test_a_fault_in_compressed_text_has_its_line(file, kind):
    path = file(COMPRESS[kind](b"1 1:2\nx\n"))
    assert read(path) == ([(1.0, [(1, 2.0)])], f"{path}:2: 'x' found, expected a label")


def test_a_compressed_file_cut_off_anywhere_is_an_error_of_one_line(file, kind):
    content = COMPRESS[kind](SAMPLE.encode())
    rows, _ = plain_rows(SAMPLE)
    for cut in range(1, len(content), 1 + len(content) // 60):
        path = file(content[:cut])
        found, message = read(path)
        assert message is not None and message.isprintable(), cut
        assert found == rows[: len(found)]
        if cut >= 6:
            assert message == f"{path}: the {kind} data ends too early"


def test_a_damaged_compressed_file_is_an_error_of_one_line(file, kind):
    content = COMPRESS[kind](SAMPLE.encode())
    rows, _ = plain_rows(SAMPLE)
    refused = 0
    for at in range(0, len(content), 1 + len(content) // 60):
        path = file(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        found, message = read(path)
        if message is None:  # a time stamp, say: nothing of the content
            assert found == rows
        else:
            assert message.startswith(str(path)) and message.isprintable()
            refused += 1
    assert refused > 40


@pytest.mark.parametrize("rest", [b"1 1:2\n", b"\x1f\x8b", b"BZh9", b"junk"])
def test_something_else_after_a_compressed_stream_is_an_error(file, kind, rest):
    path = file(COMPRESS[kind](b"1 1:2\n") + rest)
    found, message = read(path)
    assert found in ([], [(1.0, [(1, 2.0)])]) and message in (
        f"{path}: the {kind} data is damaged",
        f"{path}: the {kind} data ends too early",
    )


def test_compressed_standard_input_is_read(fastsvm, tmp_path, kind):
    (tmp_path / "model").write_text(
        "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"
    )
    assert fastsvm("predict", "-q", "-", "model", input=COMPRESS[kind](b"0 1:2\n0 1:3\n")).out == "2\n3\n"
    cut = fastsvm("predict", "-q", "-", "model", input=COMPRESS[kind](b"0 1:2\n0 1:3\n")[:-3], code=1)
    assert cut.err == f"Error: standard input: the {kind} data ends too early\n"


# ---- pipes


@pytest.fixture
def pipe():
    """The path of a pipe's reading end, and its writing end as a file."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb", buffering=0) as file:
        yield f"/dev/fd/{reader}", file


def feed(writer, pieces, pause=0.0):
    def work():
        for piece in pieces:
            writer.write(piece)
            time.sleep(pause)
        writer.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def pieces_of(content, rng, longest):
    at = 0
    while at < len(content):
        step = rng.randint(1, longest)
        yield content[at : at + step]
        at += step


@pytest.mark.parametrize("compress", [None, *COMPRESS])
@pytest.mark.parametrize("longest, pause", [(1, 0.0), (3, 0.0002), (50, 0.001)])
def test_tiny_pieces_written_slowly_into_a_pipe_give_the_same_rows(pipe, compress, longest, pause):
    path, writer = pipe
    content = COMPRESS[compress](SAMPLE.encode()) if compress else SAMPLE.encode()
    thread = feed(writer, pieces_of(content, random.Random(5), longest), pause)
    assert read(path) == (plain_rows(SAMPLE)[0], None)
    thread.join(PATIENCE)


@pytest.mark.parametrize("start", [b"B", b"\x1f", b"\xfd7zX", b"BZ"])
def test_a_pipe_that_begins_like_a_compressed_file_and_ends_is_text(pipe, start):
    path, writer = pipe
    thread = feed(writer, [bytes([byte]) for byte in start], 0.002)
    rows, message = read(path)
    thread.join(PATIENCE)
    assert rows == [] and re.fullmatch(rf"{path}:1: '[ -~]+' found, expected a label", message)


def test_every_line_of_a_slow_pipe_is_yielded_before_the_next_is_written(pipe):
    path, writer = pipe
    writer.write(b"1 1:1\n")
    chunks = read_chunks(path)
    safety = threading.Timer(PATIENCE, writer.close)  # ends a reader that waits for more
    safety.start()
    assert rows_in(next(chunks)) == [(1.0, [(1, 1.0)])]
    writer.write(b"2 1:1\n3 1:")
    assert rows_in(next(chunks)) == [(2.0, [(1, 1.0)])]
    writer.write(b"1\n4 1:1\n")
    assert rows_in(next(chunks)) == [(3.0, [(1, 1.0)]), (4.0, [(1, 1.0)])]
    assert safety.is_alive()
    safety.cancel()
    writer.close()
    assert list(chunks) == []


def test_every_line_of_a_slow_compressed_pipe_is_yielded_before_the_next_is_written(pipe):
    path, writer = pipe
    packer = zlib.compressobj(wbits=31)

    def put(text):
        writer.write(packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))

    put(b"1 1:1\n")
    chunks = read_chunks(path)
    safety = threading.Timer(PATIENCE, writer.close)
    safety.start()
    assert rows_in(next(chunks)) == [(1.0, [(1, 1.0)])]
    put(b"2 1:1\n")
    assert rows_in(next(chunks)) == [(2.0, [(1, 1.0)])]
    assert safety.is_alive()
    safety.cancel()
    writer.write(packer.flush())
    writer.close()
    assert list(chunks) == []


def test_much_through_a_pipe_gives_the_same_rows(pipe, long_text):
    path, writer = pipe
    thread = feed(writer, pieces_of(long_text.encode(), random.Random(6), 100_000))
    assert read(path) == (plain_rows(long_text)[0], None)
    thread.join(PATIENCE)


# ---- dense data


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


def test_dense_chunks_know_their_width_and_norms():
    chunk, fault, fields, _ = _native.parse(b"1,3,4,0\n", dense=True)
    assert fault is None and fields == 3 and chunk.max_index == 3 and chunk.squared_norms.tolist() == [25.0]


DENSE_FAULTS = {
    "1,2": "1 values found, expected 2 as in the first row",
    "1,2,3,4": "3 values found, expected 2 as in the first row",
    "1": "0 values found, expected 2 as in the first row",
    "1,,3": "an empty field found, expected a number",
    "1,2,": "an empty field found, expected a number",
    "1, ,3": "an empty field found, expected a number",
    ",2,3": "an empty field found, expected a label",
    ",": "an empty field found, expected a label",
    "": "a blank line found, expected a label",
    " \t": "a blank line found, expected a label",
    "y,2,3": "'y' found, expected a label",
    "1,x,3": "'x' found, expected a number",
    "1,2,3x": "'3x' found, expected a number",
    '1,"2",3': "'\"2\"' found, expected a number",
    "1,NA,3": "'NA' found, expected a number",
    "1,nan,3": "'nan' found, expected a finite number",
    "1,2,-inf": "'-inf' found, expected a finite number",
    "1,1e999,3": "'1e999' found, too large for a double",
    "1,2,1e-999": "'1e-999' found, too small for a double",
    "1;2;3": "'1;2;3' found, expected a label",
    "1 1:2 2:3": "'1' found, expected a label",
    "1,2,3 # c": "'3' found, expected a number",
    "1,2\x00,3": "'2?' found, expected a number",
}


@pytest.mark.parametrize("line", DENSE_FAULTS, ids=ascii)
def test_a_faulty_dense_line_is_named_in_one_line_after_the_rows_before_it(file, line):
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


@settings(calm, max_examples=200)
@given(
    st.lists(st.text("0123456789.,;e-+ \t\rx#:\x00", max_size=12), max_size=8),
    st.sampled_from(",; \t"),
    st.booleans(),
    st.booleans(),
)
def test_any_text_at_all_is_rows_or_one_fault_at_every_chunk_size(file, lines, delimiter, dense, labelled):
    path = file("\n".join(lines))
    found = [read(path, dense=dense, delimiter=delimiter, labelled=labelled, size=size) for size in SIZES]
    assert all(other == found[0] for other in found)
    assert found[0][1] is None or (
        found[0][1].isprintable() and found[0][1].startswith(f"{path}:{len(found[0][0]) + 1}: ")
    )
    path.unlink()
