"""Words read by whole registers: the same rows, errors and bits as word by word."""

import random
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastsvm_cli import _native
from support.profiles import calm
from support.reading import bits, plain_rows, rows_in

pytestmark = pytest.mark.usefixtures("best_instruction_set")

BUILDS = [each for each in _native.instruction_sets() if each != "baseline"]
#: Registers do not read beyond a text, whose last words are read one by one.
MORE_ROWS = b"1 1:1 2:0.5 3:-7\n" * 8


def contents(chunk):
    numbers = [[value for row in chunk.leading.tolist() for value in row], chunk.values.tolist()]
    return (
        *(bits(each) for each in [*numbers, chunk.squared_norms.tolist()]),
        chunk.indptr.tolist(),
        chunk.indices.tolist(),
        chunk.max_index,
    )


def read_by(build, text, **options):
    assert _native.select_instruction_set(build)
    chunk, error, _, consumed = _native.parse(text, **options)
    return contents(chunk), error, consumed


def assert_alike(text, **options):
    expected = read_by("baseline", text, **options)
    for build in BUILDS:
        assert read_by(build, text, **options) == expected, build
    return expected


DIGITS = "0123456789"
NUMBERS = st.one_of(
    st.sampled_from(
        ["0", "1", "-1", "-0", "0.5", ".5", "5.", ".", "-.", "-", "", "+1", "1e5", "-0.0", "1.2.3", "0x1p3"]
    ),
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "-", "+"]),
        st.text(DIGITS, max_size=17),
        st.sampled_from(["", "."]),
        st.text(DIGITS, max_size=17),
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1, 1).map("{:.6g}".format),
    st.text("0123456789.-:e \t\r\v#x\x00\x80", max_size=12),
)
INDICES = st.one_of(
    st.integers(0, 99_999_999).map(str),
    st.sampled_from(
        ["", "0", "007", "00000001", "000000001", "99999999", "100000000", "2147483648", "1.5", "-1", "1-", "a"]
    ),
)
BLANKS = st.sampled_from([" "] * 12 + ["\t", "  ", " \t", "\r", "\v", "\x80", "\xff", "\x00"])


INDEX_SETS = st.sets(st.one_of(st.integers(0, 40), st.integers(0, 20_000_000)), min_size=1, max_size=30).map(sorted)
ORDINARY = st.sampled_from(["1", "0", "0.25", "-0.3333333", "-.5", "12345.678", "123456789012345"])
SEPARATORS = st.sampled_from(["", "::", ";", " :", ": "])
LABELS = st.sampled_from(["1", "-1", "+1", "-0", "17", "2.5", "1 qid:3"])
ENDS = st.sampled_from(["\n", "\n", " \n", "\r\n", "  \n", "\t\n", " #c\n"])


@st.composite
def texts(draw):
    """Rows, often of the same indices, with a few words that are missing, other or invalid."""
    same = draw(st.none() | INDEX_SETS)
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        words = [draw(LABELS) if draw(st.integers(0, 30)) else draw(NUMBERS)]
        for index in same or draw(INDEX_SETS):
            change = draw(st.integers(0, 80))
            number = draw(NUMBERS if change < 3 else ORDINARY)
            name = draw(INDICES) if change == 3 else str(index + (change == 4))
            word = {5: "0", 6: "+"}.get(change, "") + name + (draw(SEPARATORS) if change == 7 else ":") + number
            words += {8: [], 9: [number]}.get(change, [word])
        rows.append(draw(BLANKS).join(words) + draw(ENDS))
    return "".join(rows)


@calm(500)
@given(texts(), st.integers(0, 90), st.booleans())
@example("1 " + " ".join(f"{i}:1" for i in range(1, 60)) + "\n", 0, False)
def test_every_build_reads_the_same(text, bytes_before, svmlight):
    rows_between = MORE_ROWS[len(MORE_ROWS) - bytes_before :].lstrip()
    assert_alike(text.encode("latin-1") + rows_between + MORE_ROWS, svmlight=svmlight)


def assert_as_plain(text):
    """The text is read as by an independent reader, bit for bit."""
    expected, error = plain_rows(text)
    assert error is None
    chunk, error, _, _ = _native.parse(text.encode())
    assert error is None
    for rows in (found := rows_in(chunk), expected):
        rows[:] = [(label, [(i, struct.pack("d", v)) for i, v in row]) for label, row in rows]
    assert found == expected


def test_plain_words_of_every_length_are_what_an_independent_reader_finds(instruction_set):
    """Numbers of one to eighteen bytes, with the point and both signs, at every place of a window."""
    rng = random.Random(5)
    rows, index = [], 0
    for length in range(1, 19):
        for point in range(-1, length):
            for sign in ("", "-"):
                digits = "".join(rng.choices(DIGITS, k=length))
                number = digits if point < 0 else digits[:point] + "." + digits[point + 1 :]
                if number != ".":
                    index += rng.choice([1, 5, 40])
                    rows.append(f"{index}:{sign}{number}")
    assert_as_plain("".join(f"{'0' * offset}1 " + " ".join(rows) + "\n" for offset in range(64)))


@pytest.mark.parametrize("word", [b"5:1", b"1234:-0.123456", b"12345678:1234567.12345678", b"4:0x1", b"x"])
def test_a_row_may_end_anywhere_in_a_window(word):
    """At every distance from the end of the text."""
    for before in range(80):
        row = b"1 1:" + b"0" * before + b"2 " + word + b"\n"
        for length in (0, 1, 15, 16, 17, 31, 63, 64, 79, 80, 81):
            assert_alike(row + (b"2" + b" " * (length - 2) + b"\n" if length > 1 else b""))


def test_models_are_read_the_same(best_instruction_set):
    """With several coefficients or none, and a maximum number of rows."""
    text = b"".join(b"%d.5 -0.25 1:0.5 2:1 3:-0.75 40:1e-3 50:0.1\n" % i for i in range(50))
    for options in ({"leading_count": 2}, {"leading_count": 2, "max_rows": 7}):
        _, error, _ = assert_alike(text, **options)
        assert error is None
    _, error, _ = assert_alike(text.replace(b".5 -0.25 1", b"1:7 222").replace(b"222:", b"222222:"), leading_count=0)
    assert error is not None


@pytest.mark.parametrize("byte", ["\n", ":"])
def test_bytes_are_counted(byte, instruction_set):
    """Only counted bytes: no counter overflows."""
    for size in (0, 1, 15, 16, 31, 32, 33, 254, 255, 256, 255 * 16, 255 * 32 + 1, 20_000):
        text = (byte * size + "\n").encode()
        assert _native.count_lines(text) == text.count(b"\n"), size
