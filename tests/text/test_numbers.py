"""Numbers as text: read as the nearest double, written as the shortest text that reads back."""

import math
import re
from array import array
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from support.profiles import calm
from support.reading import bits, parse

DECIMAL = st.from_regex(r"\A[+-]?(0{0,4}[0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?\Z")

FORMATS = st.sampled_from(["", ".17g", ".25g", ".3e", ".16e", ".17e", ".30e", ".6f", ".20f"])


def assert_read_as_float(text):
    expected = float(text)
    rows, error = parse(f"1 1:{text}\n")
    if math.isinf(expected):
        assert error == (1, f"'1:{text[:38]}{'...' if len(text) > 38 else ''}' found, too large for a double")
    elif expected == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        assert error == (1, f"'1:{text[:38]}{'...' if len(text) > 38 else ''}' found, too small for a double")
    else:
        assert error is None and bits([rows[0][1][0][1]]) == bits([expected]), (text, rows[0][1][0][1], expected)


@calm(800)
@given(DECIMAL | st.builds(format, st.floats(allow_nan=False, allow_infinity=False), FORMATS))
def test_every_text_of_a_number_is_read_as_the_nearest_double(text):
    assert_read_as_float(text)


@calm(300)
@given(st.floats(min_value=0, max_value=1e308), st.integers(-1, 1))
def test_texts_beside_the_middle_of_two_doubles_are_rounded_the_right_way(value, side):
    exact = Context(prec=1200)
    middle = exact.divide(exact.add(Decimal(value), Decimal(math.nextafter(value, math.inf))), Decimal(2))
    far_digit = Decimal((0, (1,), middle.as_tuple().exponent - 20))
    assert_read_as_float(format(exact.add(middle, side * far_digit), "e"))


@pytest.mark.parametrize(
    "text",
    [
        *"9007199254740992 9007199254740993 9007199254740995 18446744073709551615".split(),
        *"18446744073709551616 99999999999999999999".split(),
        "0" * 30 + "7",
        "0." + "0" * 25 + "7",
        *"9007199254740993e-22 9007199254740991e22 1e22 1e23 8.5e-23 2.2250738585072011e-308".split(),
        *"2.2250738585072014e-308 1.7976931348623158e308 1.7976931348623159e308".split(),
        *"179769313486231580793728971405301e276 0.1".split(),
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
def test_a_list_of_numbers_with_an_error_is_refused(text):
    with pytest.raises(ValueError, match="found"):
        _native.parse_numbers(text.encode(), 0, 3)


def test_a_list_of_numbers_may_span_lines_and_ends_with_one():
    assert _native.parse_numbers(b"xx1 2\r\n 3 \nrest\n", 2, 3)[0].tolist() == [1.0, 2.0, 3.0]
    assert _native.parse_numbers(b"xx1 2\r\n 3 \nrest\n", 2, 3)[1] == 11
    for count in (-1, 1 << 40, 2**63 - 1):  # more than the text can hold: refused before memory is taken
        with pytest.raises(ValueError):
            _native.parse_numbers(b"1 2\n", 0, count)
    for offset in (-1, 5, 1 << 40):
        with pytest.raises(ValueError):
            _native.parse_numbers(b"1 2\n", offset, 1)


def scientific(value):
    return np.format_float_scientific(value, trim="-", exp_digits=2)


@calm(500)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=5),
)
def test_doubles_and_singles_are_written_as_the_shortest_text_that_reads_back(values, singles):
    text = _native.format_numbers(array("d", values)).decode()
    assert text.endswith("\n") and "\n" not in text[:-1] and [*map(float, text.split())] == values
    for word, value in zip(text.split(), values, strict=True):
        assert len(word) <= min(len(repr(value)), len(scientific(np.float64(value))))
    assert _native.parse_numbers(text.encode(), 0, len(values))[0].tolist() == values
    words = _native.format_numbers(array("f", singles)).decode().split()
    assert array("f", map(float, words)).tolist() == singles
    assert all(len(word) <= len(scientific(np.float32(value))) for word, value in zip(words, singles, strict=True))


def test_no_numbers_are_an_empty_line():
    assert _native.format_numbers(array("d")) == b"\n" and _native.parse_numbers(b"\n", 0, 0)[1] == 1


def test_rows_are_written_as_they_are_read():
    text = b"1 1:0.5 7:-20\n-2.5\n0.1 0:1e-310 2147483647:1e+300\n"
    assert _native.format_rows(_native.parse(text)[0]) == text
    assert _native.format_rows(_native.parse(b"1:2 3:4\n\n", leading_count=0)[0]) == b"1:2 3:4\n\n"
    assert _native.format_rows(_native.parse(b"1 -2 3:4\n5 6\n", leading_count=2)[0]) == b"1 -2 3:4\n5 6\n"
