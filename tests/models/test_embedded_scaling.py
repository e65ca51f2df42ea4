"""Models that embed a range file. Golden files: tests/golden/version3, those of version2 with a range; `data` there is
golden/data once scaled."""

import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastsvm_cli
from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError, RowError
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.models.base import Precision
from fastsvm_cli.models.embedded_scaling import EmbeddedScaling
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.text.read_rows import read_chunks
from fastsvm_cli.text.scaling import parse_scaling, with_labels
from support.checksums import CHANGED, embedding, with_checksum
from support.evaluation import error_of
from support.model_files import exact_name, golden_values, mutations
from support.oracles import data_text
from support.paths import GOLDEN
from support.profiles import calm
from support.scaling import contents

VERSION_3 = GOLDEN / "version3"
RANGE, WITH_Y = ((VERSION_3 / name).read_bytes() for name in ("range", "range-y"))
VALUES = {".border": "values-border", ".density": "values-density"}
NAMES = sorted(path.name for path in VERSION_3.iterdir() if not path.name.startswith(("range", "data")))
BORDER = (GOLDEN / "version2" / "c_svc.border").read_bytes()
ORDERED = (GOLDEN / "version2" / "epsilon_svr-triangle.order").read_bytes()


def test_there_is_a_golden_file_of_every_kind():
    assert {load_model(str(VERSION_3 / name)).kind for name in NAMES} == {
        "maclaurin",
        "border",
        "cascade",
        "density",
        "geometry",
        "triangle",
    }


def in_full(model, chunk):
    out = _native.Decisions(model.pairs)
    model.decision_values(chunk, out, Precision.values())
    return np.array(out.value)


@pytest.mark.parametrize("name", NAMES)
def test_golden_models_answer_raw_rows_with_the_values_computed_once(name):
    """For rows whose numbers fit into six digits."""
    path = VERSION_3 / name
    model, text = load_model(str(path)), path.read_bytes()
    with_y = name.startswith("epsilon_svr")
    assert text == embedding((GOLDEN / "version2" / name).read_bytes(), WITH_Y if with_y else RANGE)
    assert model.to_text() == text and model.max_index == 2000000000
    expected = golden_values(
        exact_name(name) if path.suffix in (".order", ".cascade") else name, VALUES.get(path.suffix, "values")
    )
    chunks = list(read_chunks(str(VERSION_3 / "data"), scaling=model.row_scaling()))
    values = np.concatenate([in_full(model, chunk) for chunk in chunks])
    assert values[:11] == pytest.approx(expected[:11], abs=1e-11, rel=1e-11)
    lines: list[bytes] = []
    predict(model, chunks, lines.append, path="data")
    labels = [float(word) for word in b"".join(lines).split()]
    if with_y:
        assert labels[:11] == pytest.approx(4 * (expected[:11, 0] + 1) - 3, rel=1e-11)
    else:
        plain: list[bytes] = []
        predict(load_model(str(GOLDEN / "version2" / name)), chunks, plain.append, path="data")
        assert plain == lines


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_refused_in_one_sentence(name):
    """Any byte of the range is changed, also with a valid checksum."""
    text = (VERSION_3 / name).read_bytes()
    first = text.rindex(b"\nrange ") + 1
    for at in range(first, len(text), 7):
        changed = text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]
        assert at > text.rindex(b"checksum") or CHANGED in error_of(changed)
        error_of(changed)
    for changed in mutations(text[first : text.rindex(b"checksum")], random.Random(name), 23):
        try:
            parse_model(with_checksum(text[:first] + changed + b"end\n"), "m")
        except ModelFormatError as error:
            assert len(str(error).splitlines()) == 1


Y = b"y\n-1 1\n-3 5\n"
SOUND = b"x\n0 1\n" + b"".join(b"%d -4 4\n" % i for i in (1, 2, 4, 7, 8))


@pytest.mark.parametrize(
    "ranges, at, why",
    [
        ([b"x\n0 1\n1 -4 4\n"], None, "support vectors with feature 2 found, which its range does not hold"),
        ([SOUND.replace(b"2 -4 4", b"2 4 4")], None, "support vectors with feature 2 found, which its range does not"),
        ([SOUND.replace(b"2 -4 4", b"2 -4 inf")], 4, "'2 -4 inf' found, expected an index, its least and its largest"),
        ([SOUND.replace(b"2 -4 4", b"2 nan 4")], 4, "'2 nan 4' found, expected an index, its least and its largest"),
        ([SOUND.replace(b"2 -4 4", b"2 4 -4")], 4, "'2 4 -4' found, expected the least value before the largest"),
        ([SOUND.replace(b"2 -4 4", b"1 -4 4")], 4, "index 1 found after index 1, expected increasing indices"),
        ([SOUND.replace(b"2 -4 4", b"2 -4\x00 4")], 4, "'2 -4? 4' found, expected an index, its least and its largest"),
        ([SOUND.replace(b"0 1", b"1 1")], 2, "'1 1' found, expected a lower limit below the upper one"),
        ([SOUND.replace(b"0 1", b"-1e999 1")], 2, "'-1e999 1' found, expected two numbers, the limits of x"),
        ([b"y\n"], 2, "the end of the file found, expected two numbers, the limits of y"),
        ([b""], 1, "the end of the file found, expected x or y, as svm-scale -s writes, or a center and a scale"),
        ([Y + SOUND], None, "the range file scales y, but this is a classification model: use a range file without y"),
        ([SOUND, b"0 1\n"], 9, "a range file of svm-scale found, expected the scale file of write.svm"),
    ],
)
def test_a_range_that_cannot_be_is_refused_in_one_sentence(ranges, at, why):
    """at: line of the error, counted after the line `range`, or None."""
    text = embedding(BORDER, *ranges)
    before = text[: text.index(b"\nrange ") + 1].count(b"\n") + 1
    assert error_of(text).startswith(("m: " if at is None else f"m:{before + at}: ") + why)


@pytest.mark.parametrize(
    "old, new, why",
    [
        (b"8 -4 4\n", b"\n8 -4 4\n", "'8 -4 4' found, expected 'y_range' and its lines"),
        (b"8 -4 4\n", b"8 -4 4\n\n", "'' found, expected 'y_range' and its lines"),
        (b"range 7\n", b"range 8\n", "'range 8' found, expected 'range' and its lines"),
        (b"range 7\n", b"range 6\n", "'8 -4 4' found, expected 'y_range' and its lines"),
        (b"range 7\n", b"range -1\n", "'range -1' found, expected 'range' and its lines"),
        (b"range 7\n", b"range 99999999999999999999\n", "found, expected 'range' and its lines"),
        (b"range 7\n", b"range  \n", "found, expected 'range' and its lines"),
        (b"range 7\n", b"", "a model of version 3 without a range found, expected one after its body"),
        (b"border 3\n", b"border 4\n", "version 4 of the format found, this fastsvm reads up to 3: a newer fastsvm"),
        (b"border 3\n", b"border 2\n", "found"),
        (
            b"local 1\n",
            b"local 1\nraw_rows a\n",
            "it takes raw rows, because --scale is folded into it: give no --scale",
        ),
    ],
)
def test_a_range_that_is_no_part_of_a_file_is_refused(old, new, why):
    text = embedding(BORDER, SOUND)
    assert text.count(old) == 1
    assert why in error_of(with_checksum(text.replace(old, new)))


def test_a_range_of_y_that_cannot_be_undone_is_refused():
    ranges = (VERSION_3 / "range").read_bytes()
    for ends in (b"2 2", b"-1e308 1e308"):
        text = embedding(ORDERED, b"y\n0 1\n" + ends + b"\n" + ranges)
        assert "the range of y has equal ends, or ends too far apart, and cannot be undone" in error_of(text)


def test_other_line_ends_are_read():
    text = (VERSION_3 / "c_svc.border").read_bytes()
    assert parse_model(text.replace(b"\n", b"\r\n"), "m").to_text() == text
    scaling = parse_scaling(RANGE.replace(b"\n", b"\r\n")[:-2], "range")
    assert EmbeddedScaling(scaling, "m").texts == (RANGE,) and EmbeddedScaling(scaling, "m").same_as(
        parse_scaling(RANGE, "r")
    )


def test_the_scale_files_of_e1071_are_embedded_both():
    scaling = parse_scaling(b"".join(b"%d 2\n" % i for i in range(8)), "scale")
    embedded_scaling = EmbeddedScaling(with_labels(scaling, b"10 4\n", "yscale"), "m")
    model = parse_model(
        embedding((GOLDEN / "version2" / "epsilon_svr-triangle.order").read_bytes(), *embedded_scaling.texts), "m"
    )
    assert model.embedded_scaling.texts == embedded_scaling.texts and model.embedded_scaling.labels_back == (0, 4, 10)
    again = pickle.loads(pickle.dumps(model.embedded_scaling))
    assert again.texts == embedded_scaling.texts and again.labels_back == (0, 4, 10)
    chunk = _native.parse(b"1 1:3 2:5\n")[0]
    assert contents([again.rows(chunk)]) == contents([embedded_scaling.rows(chunk)])
    assert embedded_scaling.rows(chunk).values.tolist()[:2] == [1.5, 2.0] and embedded_scaling.rows(
        chunk
    ).leading.tolist() == [[1.0]]


@calm(100)
@given(st.data())
def test_rows_of_arrays_are_those_that_text_is_scaled_to(data):
    """Bit for bit."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    indices = [1, 2, 5, 9, 2147483647]
    ends = {i: sorted(rng.normal(size=2) * 10.0 ** rng.integers(-3, 4)) for i in indices if rng.random() < 0.8}
    limits = data.draw(st.sampled_from([(-1, 1), (0, 1), (0.1, 3.7)]))
    ranges = f"x\n{limits[0]} {limits[1]}\n" + "".join(
        f"{i} {low!r} {(low if rng.random() < 0.2 else high)!r}\n" for i, (low, high) in ends.items()
    ).replace("np.float64(", "").replace(")", "")
    rows = [
        {
            i: float(rng.choice([0.0, 1.0, rng.normal() * 10, *(ends.get(i, [3.0]))]))
            for i in indices
            if rng.random() < 0.7
        }
        for _ in range(data.draw(st.integers(0, 40)))
    ]
    text = data_text(rows) if rows else b""
    scaling = parse_scaling(ranges.encode(), "range")
    read = _native.parse(text, scaling=scaling.native)[0]
    made = EmbeddedScaling(scaling, "m").rows(_native.parse(text)[0])
    assert contents([made]) == contents([read]) and made.max_index == read.max_index
    assert made.scaling_counts == read.scaling_counts


def test_rows_that_cannot_be_scaled_are_named():
    embedded_scaling = EmbeddedScaling(parse_scaling(b"x\n0 1\n1 0 1e-300\n", "range"), "m")
    with pytest.raises(RowError, match="a value found, too large for a double once it is scaled") as error:
        embedded_scaling.rows(_native.parse(b"1 1:0\n1 1:1e300\n")[0])
    assert error.value.row == 1
    embedded_scaling = EmbeddedScaling(parse_scaling(b"0 1\n", "scale"), "m")
    with pytest.raises(RowError, match="feature 2 found, expected one of the 1 that the scale file holds"):
        embedded_scaling.rows(_native.parse(b"1 2:0.5\n")[0])


@calm(200)
@given(
    st.floats(-1e6, 1e6),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e3),
    st.floats(-1e9, 1e9),
    st.floats(1e-9, 1e9),
    st.floats(-1e9, 1e9),
)
def test_a_radius_covers_what_becomes_of_both_values(value, share, radius, from_, scale, to):
    """svm-predict's value is anywhere within the radius; both values are scaled back with rounding."""
    other = value + radius * (share / 1e6)
    if abs(Fraction(other) - Fraction(value)) > Fraction(radius):
        other = value
    one, two = _native.Decisions(1, True), _native.Decisions(1)
    for decisions, number in ((one, value), (two, other)):
        decisions.resize(1)
        decisions.value[0, 0] = number
    one.radius[0, 0] = radius
    for decisions in (one, two):
        decisions.map_values(from_, scale, to)
    apart = abs(Fraction(one.value[0, 0]) - Fraction(two.value[0, 0]))
    assert apart <= Fraction(one.radius[0, 0])
    assert one.value[0, 0] == to + (value - from_) * scale
    if not radius:
        assert one.radius[0, 0] == 0


def test_labels_alone_are_not_mapped():
    with pytest.raises(ValueError, match="labels alone have no values"):
        _native.Decisions(1, False, True).map_values(0, 1, 0)


def test_an_object_that_answers_arrays_scales_them(tmp_path):
    """Also once pickled or saved. The fingerprint covers the range."""
    X = np.random.default_rng(1).uniform(-4, 4, (300, 9)).round(3)
    (tmp_path / "m").write_bytes(embedding((GOLDEN / "version2" / "c_svc-certified.approx").read_bytes(), SOUND))
    fast = fastsvm_cli.load(tmp_path / "m", n_features_in=9)
    plain = fastsvm_cli.load(GOLDEN / "version2" / "c_svc-certified.approx", n_features_in=9)
    scaled = np.zeros_like(X)
    for j in (1, 2, 4, 7, 8):
        scaled[:, j - 1] = [float(f"{(x + 4) / 8:g}") for x in X[:, j - 1]]
    expected = plain.decision_function(scaled)
    pickled = pickle.loads(pickle.dumps(fast))
    fast.save(tmp_path / "saved")
    for each in (fast, pickled, fastsvm_cli.load(tmp_path / "saved", n_features_in=9)):
        assert np.array_equal(each.decision_function(X), expected)
        assert np.array_equal(each.decision_function(X.tolist()), expected)
        assert np.array_equal(each.radius(X), plain.radius(scaled))
        assert np.array_equal(each.proven(X), plain.proven(scaled))
    assert (tmp_path / "saved").read_bytes() == (tmp_path / "m").read_bytes()
    assert fast.own_fingerprint != plain.own_fingerprint and fast.n_features_in_ == 9
    assert fastsvm_cli.load(tmp_path / "m").n_features_in_ == 8
    with pytest.raises(ValueError, match="row 1: a value found, too large for a double once it is scaled"):
        X[1, 0] = 1.7e308
        (tmp_path / "m").write_bytes(embedding(BORDER, SOUND.replace(b"1 -4 4", b"1 -1e-9 1e-9")))
        fastsvm_cli.load(tmp_path / "m", n_features_in=9).predict(X)
