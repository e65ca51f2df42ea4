"""Models that embed a range file. Golden files: tests/golden/version3, those of version2 with a range; `data` there is
golden/data once scaled."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastsvm_cli
from fastsvm_cli import Chunk, _native
from fastsvm_cli.errors import RowError
from fastsvm_cli.models import Precision, load_model, parse_model
from fastsvm_cli.text.read_rows import read_chunks
from fastsvm_cli.text.scaling import EmbeddedScaling, parse_scaling, with_labels
from support.checksums import embedding
from support.evaluation import decisions_of, error_of
from support.in_process import written_lines
from support.model_files import exact_name, golden_values
from support.paths import GOLDEN
from support.profiles import calm
from support.scaling import contents

VERSION_3 = GOLDEN / "version3"
RANGE, WITH_Y = ((VERSION_3 / name).read_bytes() for name in ("range", "range-y"))
VALUES = {".border": "values-border", ".density": "values-density"}
NAMES = sorted(path.name for path in VERSION_3.iterdir() if not path.name.startswith(("range", "data")))
SOUND = b"x\n0 1\n" + b"".join(b"%d -4 4\n" % feature for feature in (1, 2, 4, 7, 8))
ORDERED = (GOLDEN / "version2" / "epsilon_svr-triangle.order").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_golden_models_answer_raw_rows_with_the_values_computed_once(name):
    """For rows whose numbers fit into six digits."""
    path = VERSION_3 / name
    model, plain, text = load_model(str(path)), GOLDEN / "version2" / name, path.read_bytes()
    with_y = name.startswith("epsilon_svr")
    assert text == embedding(plain.read_bytes(), WITH_Y if with_y else RANGE)
    assert model.to_text() == text and model.max_index == 2000000000
    expected = golden_values(
        exact_name(name) if path.suffix in (".order", ".cascade") else name, VALUES.get(path.suffix, "values")
    )
    chunk = Chunk.concatenate(read_chunks(str(VERSION_3 / "data"), scaling=model.row_scaling()))
    out = _native.Decisions(model.pairs)
    model.decision_values(chunk, out, Precision.values())
    assert np.asarray(out.value)[:11] == pytest.approx(expected[:11], abs=1e-11, rel=1e-11)
    lines = written_lines(model, [chunk])[0]
    if with_y:
        labels = [float(word) for word in lines.split()]
        assert labels[:11] == pytest.approx(4 * (expected[:11, 0] + 1) - 3, rel=1e-11)
    else:
        assert lines == written_lines(load_model(str(plain)), [chunk])[0]


def test_a_range_of_y_that_cannot_be_undone_is_refused():
    for ends in (b"2 2", b"-1e308 1e308"):
        text = embedding(ORDERED, b"y\n0 1\n" + ends + b"\n" + RANGE)
        assert "the range of y has equal ends, or ends too far apart, and cannot be undone" in error_of(text)


def test_other_line_ends_are_read():
    text = (VERSION_3 / "c_svc.border").read_bytes()
    assert parse_model(text.replace(b"\n", b"\r\n"), "m").to_text() == text
    scaling = parse_scaling(RANGE.replace(b"\n", b"\r\n")[:-2], "range")
    embedded_scaling = EmbeddedScaling(scaling, "m")
    assert embedded_scaling.texts == (RANGE,) and embedded_scaling.same_as(parse_scaling(RANGE, "r"))


def test_the_scale_files_of_e1071_are_embedded_both():
    scaling = parse_scaling(b"".join(b"%d 2\n" % i for i in range(8)), "scale")
    embedded_scaling = EmbeddedScaling(with_labels(scaling, b"10 4\n", "yscale"), "m")
    model = parse_model(embedding(ORDERED, *embedded_scaling.texts), "m")
    assert model.embedded_scaling.texts == embedded_scaling.texts and model.embedded_scaling.labels_back == (0, 4, 10)
    chunk = _native.parse(b"1 1:3 2:5\n")[0]
    assert contents([model.embedded_scaling.rows(chunk)]) == contents([embedded_scaling.rows(chunk)])
    scaled = embedded_scaling.rows(chunk)
    assert scaled.values.tolist()[:2] == [1.5, 2.0] and scaled.leading.tolist() == [[1.0]]


def test_a_feature_that_a_scale_file_does_not_hold_is_named():
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
    one, two = decisions_of(np.array([[value]]), np.array([[radius]])), decisions_of(np.array([[other]]))
    for decisions in (one, two):
        decisions.map_values(from_, scale, to)
    apart = abs(Fraction(one.value[0, 0]) - Fraction(two.value[0, 0]))
    assert apart <= Fraction(one.radius[0, 0])
    assert one.value[0, 0] == to + (value - from_) * scale
    if not radius:
        assert one.radius[0, 0] == 0


def test_an_object_that_answers_arrays_scales_them(tmp_path):
    """Also once pickled or saved. The fingerprint covers the range."""
    X = np.random.default_rng(1).uniform(-4, 4, (300, 9)).round(3)
    golden = GOLDEN / "version2" / "c_svc-certified.approx"
    (tmp_path / "m").write_bytes(embedding(golden.read_bytes(), SOUND))
    fast, plain = (fastsvm_cli.load(path, n_features_in=9) for path in (tmp_path / "m", golden))
    scaled = np.zeros_like(X)
    for j in (1, 2, 4, 7, 8):
        scaled[:, j - 1] = [float(f"{(x + 4) / 8:g}") for x in X[:, j - 1]]
    expected = plain.decision_function(scaled)
    fast.save(tmp_path / "saved")
    for each in (fast, pickle.loads(pickle.dumps(fast)), fastsvm_cli.load(tmp_path / "saved", n_features_in=9)):
        for array in (X, X.tolist()):
            assert np.array_equal(each.decision_function(array), expected)
        for method in ("radius", "proven"):
            assert np.array_equal(getattr(each, method)(X), getattr(plain, method)(scaled))
    assert (tmp_path / "saved").read_bytes() == (tmp_path / "m").read_bytes()
    assert fast.own_fingerprint != plain.own_fingerprint and fast.n_features_in_ == 9
    assert fastsvm_cli.load(tmp_path / "m").n_features_in_ == 8
    (tmp_path / "m").write_bytes(embedding(golden.read_bytes(), SOUND.replace(b"1 -4 4", b"1 -1e-9 1e-9")))
    X[1, 0] = 1.7e308
    with pytest.raises(ValueError, match="row 1: a value found, too large for a double once it is scaled"):
        fastsvm_cli.load(tmp_path / "m", n_features_in=9).predict(X)
