"""Rows scaled while they are read: bit for bit those of svm-scale."""

import gzip
import math
import random
import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, FileError
from fastsvm_cli.text.read_rows import read_chunks
from fastsvm_cli.text.scaling import EmbeddedScaling, parse_scaling, with_labels
from support.bad_rows import RANGE as BAD_ROWS_RANGE
from support.bad_rows import SCALED, bad_rows_seen
from support.messages import table, unescaped
from support.profiles import calm
from support.reading import bits
from support.scaling import contents, read_plain, read_scaled, read_scaling, run_svm_scale, scaled_text, to_six_digits

# ---- six digits


#: It scales a value to itself, rounded.
IDENTITY = _native.read_scaling(b"x\n0 1\n1 0 1\n")


def check_six_digits(value):
    chunk = _native.Chunk.from_columns(array("q", [0, 1]), array("i", [0]), array("d", [value]), 1)
    assert bits(IDENTITY.rows(chunk).values) == bits([to_six_digits(value)] * (value != 0)), value.hex()


@calm(500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_six_digits_are_printfs(value):
    check_six_digits(value)


@calm(500)
@given(st.integers(-(10**8), 10**8), st.integers(0, 30), st.sampled_from([-math.inf, 0, math.inf]))
def test_six_digits_near_the_middle_are_printfs(digits, shift, to):
    """Numbers of seven and eight digits, often with a last 5, and their neighbours."""
    value = digits / 10**shift
    check_six_digits(math.nextafter(value, to) if to else value)


def test_six_digits_at_the_powers_of_ten():
    for exponent in range(-323, 309):
        bits_of = struct.unpack("<q", struct.pack("<d", float(f"1e{exponent}")))[0]
        for near in range(max(bits_of - 3, 0), bits_of + 4):
            check_six_digits(struct.unpack("<d", struct.pack("<q", near))[0])
        for head in (9.999995, 9.9999949999, 9.99999500001, 1.0000005, 1.000015):
            value = float(f"{head}e{exponent}")
            if math.isfinite(value):
                check_six_digits(value)
                check_six_digits(-value)


# ---- rows

NUMBERS = st.one_of(
    st.sampled_from([0.0, -1.0, 1.0, 0.5, 3.0, 1e-7, 123456.5, -0.0]),
    st.integers(-20, 20).map(lambda n: n / 8),
    st.floats(-1e6, 1e6, allow_nan=False),
)
#: Ends of a range: equal, or so far apart that scaled values are finite.
ENDS = st.lists(NUMBERS, min_size=2, max_size=2).map(sorted).filter(lambda ends: not 0 < ends[1] - ends[0] < 1e-6)
ROW = st.tuples(NUMBERS, st.dictionaries(st.integers(1, 12), NUMBERS, max_size=8))


def row_text(rows):
    return "".join(
        " ".join([repr(label), *(f"{index}:{value!r}" for index, value in sorted(row.items()))]) + "\n"
        for label, row in rows
    )


@st.composite
def ranges(draw):
    """A range file's text: features at either end, constant ones, with and without y."""
    out = []
    if draw(st.booleans()):
        lower, upper = draw(st.sampled_from([(-1, 1), (0, 1), (-0.1, 12.5)]))
        least, largest = draw(ENDS.filter(lambda ends: ends[0] != ends[1]))
        out += ["y", f"{lower} {upper}", f"{least!r} {largest!r}"]
    out += ["x", "{} {}".format(*draw(st.sampled_from([(-1, 1), (0, 1), (-2.5, 0), (0.1, 3.7), (1e-9, 2e-9)])))]
    for index in sorted(draw(st.sets(st.integers(1, 14), max_size=10))):
        least, largest = draw(ENDS)
        out.append(f"{index} {least!r} {largest!r}")
    return "\n".join(out) + "\n"


@calm(200)
@given(ranges(), st.lists(ROW, min_size=1, max_size=12), st.sampled_from([1, 64, 1 << 20]), st.sampled_from(["", " "]))
def test_rows_are_those_of_svm_scale(svm_scale, tmp_path, ranges, rows, size, blank):
    """Of the program and of its formulas."""
    text = row_text(rows)
    (tmp_path / "range").write_text(ranges)
    (tmp_path / "data").write_text(text.replace(":", f":{blank}"))
    scaled, printed = run_svm_scale(svm_scale, tmp_path, "-r", "range", "data")
    (tmp_path / "scaled").write_text(scaled)
    (tmp_path / "formulas").write_text(scaled_text(ranges, text))
    found, scaling = read_scaled(tmp_path / "data", tmp_path / "range", size=size)
    assert found == read_plain(tmp_path / "scaled") == read_plain(tmp_path / "formulas")
    denser = any("denser" in line for line in scaling.warnings())
    assert denser == ("new      #nonzeros" in printed)
    dense = [
        ",".join(repr(value) for value in [label, *(row.get(i, 0.0) for i in range(1, 13))]) for label, row in rows
    ]
    (tmp_path / "dense").write_text("\n".join(dense))
    assert read_scaled(tmp_path / "dense", tmp_path / "range", dense=True)[0] == found
    assert scaling.entries.counts[0] == sum(len(row) for _, row in rows)
    assert scaling.entries.counts[1] == sum(len(row[1]) for row in found)


@calm(100)
@given(ranges().map(lambda text: text[text.index("x") :]), st.lists(ROW, max_size=40))
def test_a_models_range_scales_rows_as_they_are_scaled_while_they_are_read(ranges, rows):
    """Bit for bit."""
    scaling, text = parse_scaling(ranges.encode(), "range"), row_text(rows).encode()
    read = _native.parse(text, scaling=scaling.native)[0]
    made = EmbeddedScaling(scaling, "m").rows(_native.parse(text)[0])
    assert contents([made]) == contents([read]) and made.max_index == read.max_index
    assert made.scaling_counts == read.scaling_counts


RANGE = "x\n-1 1\n1 0 4\n2 -1 1\n3 5 5\n4 0 10\n"
DATA = "1 1:1 2:0.5 3:7 4:2.5\n-1 2:1\n1\n"


@pytest.fixture
def files(tmp_path):
    """files(name=text, ...) writes them and returns their paths."""

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return [tmp_path / name for name in texts]

    return write


@pytest.mark.parametrize("end", ["\r\n", " \n", "  # 1:2 a comment\n", "\t#\n"])
def test_line_ends_and_comments_are_none_of_svm_scales_business(files, end):
    data, range_file, plain = files(data=DATA.replace("\n", end), range=RANGE, scaled=scaled_text(RANGE, DATA))
    assert read_scaled(data, range_file)[0] == read_plain(plain)
    data.write_bytes(gzip.compress(data.read_bytes()))
    range_file.write_bytes(RANGE.replace("\n", "\r\n").encode() + b"\n \n")
    assert read_scaled(data, range_file)[0] == read_plain(plain)


def test_absent_features_get_what_their_zero_becomes_and_others_are_left_out(files):
    data, range_file = files(data="1\n2 2:-1\n", range=RANGE)
    found, scaling = read_scaled(data, range_file)
    assert [row[1] for row in found] == [[1, 4], [1, 2, 4]]  # 0 of feature 2 stays 0
    assert scaling.warnings() == [
        "Warning: scaling made the rows denser, 5 values that are not 0 instead of 1: if features are not negative and"
        " sparse, svm-scale -l 0 keeps them sparse."
    ]
    data, range_file = files(data="1 1:1 3:7 5:2 9:1\n1 1:1 4:1 5:0 7:1\n", range="x\n0 1\n1 0 4\n3 1 1\n4 0 9\n")
    found, scaling = read_scaled(data, range_file)
    assert [row[1] for row in found] == [[1], [1, 4]]
    assert scaling.entries.counts[2] == 3  # feature 3 is constant; zeros do not count
    assert scaling.warnings()[0].startswith("Warning: 3 values left out, of features that ")
    assert "(the first: 5)" in scaling.warnings()[0]


def test_index_0_is_scaled_where_it_stands_and_nowhere_else(files, svm_scale, tmp_path):
    """svm-scale adds missing features from index 1 on."""
    data, range_file = files(data="1\n2 0:3\n3 0:3 1:1\n4 1:1\n", range="x\n-1 1\n0 1 4\n1 0 4\n")
    found, _ = read_scaled(data, range_file)
    assert [row[1] for row in found] == [[1], [0, 1], [0, 1], [1]]
    scaled, _ = run_svm_scale(svm_scale, tmp_path, "-r", range_file, data)
    (tmp_path / "scaled").write_text(scaled)
    assert found == read_plain(tmp_path / "scaled")


def test_chunks_behind_each_other_add_up_what_was_left_out():
    scaling = _native.read_scaling(b"x\n0 1\n1 0 4\n")
    parts = [_native.parse(text, scaling=scaling)[0] for text in (b"1 1:1 5:2\n", b"2\n", b"1 3:1 9:1\n")]
    assert [part.scaling_counts for part in parts] == [(2, 1, 5), (0, 0, -1), (2, 2, 3)]
    assert _native.Chunk.concatenate(parts).scaling_counts == (4, 3, 3)


@pytest.mark.full
def test_many_features_far_apart(files):
    """No table of all indices, and as many blocks as needed."""
    indices = sorted({1, 2, 2**31 - 1, *(random.Random(1).sample(range(3, 2**31 - 1), 600))})
    ranges = "x\n-1 1\n" + "".join(f"{index} {-(index % 2)} 1\n" for index in indices)
    text = "".join(f"1 {index}:0.25\n" for index in indices[::5]) + "1 3:1\n"
    data, range_file, plain = files(data=text, range=ranges, scaled=scaled_text(ranges, text))
    assert read_scaled(data, range_file)[0] == read_plain(plain)


def test_labels_of_unlabelled_rows_are_not_scaled(files):
    data, range_file = files(data="1:1\n1:2\n", range="y\n0 1\n5 9\nx\n0 1\n1 0 4\n")
    found, _ = read_scaled(data, range_file, labelled=False)
    assert found == [([], [1], [(0.25).hex()], (0.0625).hex()), ([], [1], [(0.5).hex()], (0.25).hex())]


# ---- errors


def test_entries_of_rows_that_cannot_be_scaled_are_not_counted(files):
    """bad_rows.py has their messages."""
    for line in SCALED:
        data, range_file = files(data=f"1 1:1\n{line}\n", range=BAD_ROWS_RANGE)
        around, scaling = bad_rows_seen(), read_scaling(range_file)
        good = contents(read_chunks(str(data), scaling=scaling, bad_rows=around))
        assert len(good) == 1 == around.count == scaling.entries.counts[0]
    data, range_file = files(data="1,2,1\n1,1,1e308\n", range="x\n-100 100\n1 0 4\n2 0 1\n")
    with pytest.raises(DataFormatError, match=r"data:2: '1e308' found, too large for a double once it is scaled"):
        read_scaled(data, range_file, dense=True)


def test_an_invalid_range_file_is_named_with_its_line(files):
    for text, why in table("messages.txt", "range files"):
        (path,) = files(range=unescaped(text).encode("latin-1"))
        if why == "valid":
            read_scaling(path)
            continue
        with pytest.raises(DataFormatError) as error:
            read_scaling(path)
        assert str(error.value).startswith(f"{path}:{why}") and "\n" not in str(error.value)


@calm(500)
@given(st.one_of(st.binary(max_size=60), st.text("xy \n-+.012e", max_size=60).map(str.encode)))
def test_any_text_is_a_scaling_or_one_clear_line(tmp_path, text):
    (tmp_path / "range").write_bytes(text)
    try:
        read_scaling(tmp_path / "range")
    except DataFormatError as failure:
        assert failure.line >= 1 and " found, expected " in failure.why and "\n" not in str(failure)
    except FileError as failure:  # begins like a compressed file, but is not one
        assert "\n" not in str(failure)


# ---- R's e1071


def test_centers_and_scales_of_write_svm(files):
    """R: write.table(data.frame(center, scale), col.names = FALSE, row.names = FALSE), one line per column."""
    data, range_file = files(data="1 1:3 2:0.1\n2 2:5\n3 1:1 2:0 3:0.7\n", range="1 2\n0.3 0.1\n0 3\n")
    found, scaling = read_scaled(data, range_file)
    first, second, third = ([(i, float.fromhex(v)) for i, v in zip(row[1], row[2])] for row in found)
    assert first == [(1, 1.0), (2, (0.1 - 0.3) / 0.1)]
    assert second == [(1, -0.5), (2, (5 - 0.3) / 0.1)]
    assert third == [(2, (0 - 0.3) / 0.1), (3, 0.7 / 3)]
    assert [row[0] for row in found] == [[(1.0).hex()], [(2.0).hex()], [(3.0).hex()]]
    assert scaling.warnings() == []


def test_a_feature_that_write_svm_did_not_write_is_an_error(files):
    data, range_file = files(data="1 1:3\n1 1:2 4:0.1\n", range="1 2\n0.3 0.1\n")
    with pytest.raises(DataFormatError) as error:
        read_scaled(data, range_file)
    assert str(error.value) == f"{data}:2: feature 4 found, expected one of the 2 that the scale file holds"


def test_labels_are_scaled_by_the_y_scale_file(files):
    data, range_file = files(data="1 1:3\n2 1:5\n", range="1 2\n")
    scaling = with_labels(read_scaling(range_file), b"0.7 0.3\n", "y")
    found = contents(read_chunks(str(data), scaling=scaling))
    assert [row[0] for row in found] == [[((1 - 0.7) / 0.3).hex()], [((2 - 0.7) / 0.3).hex()]]
    assert scaling.digest != with_labels(read_scaling(range_file), b"0.7 0.4\n", "y").digest


def test_an_invalid_y_scale_file_is_named_with_its_line(files):
    range_file, of_svm_scale = files(range="1 2\n", ours=RANGE)
    for text, why in table("messages.txt", "scale files of y"):
        with pytest.raises(DataFormatError) as error:
            with_labels(read_scaling(range_file), unescaped(text).encode(), "y")
        assert why in str(error.value)
    with pytest.raises(DataFormatError, match="1: a range file of svm-scale found, expected"):  # which holds y itself
        with_labels(read_scaling(of_svm_scale), b"1 2\n", "y")
