"""Files of Maclaurin models: written, read back, and refused in one line if invalid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from support.checksums import with_checksum
from support.evaluation import ROWS, error_of
from support.messages import model_changes
from support.model_files import COMBINATIONS, REGRESSION, changed, compiled_text, hand, values_of
from support.profiles import calm

WAYS = [
    {},
    {"center": "origin"},
    {"center": "pair"},
    {"single": False},
    {"degree": 1},
    {"degree": 3, "certify": True},
    {"degree": 4, "clusters": 3},
    {"certify": True},
    {"rank": 2},
    {"tolerance": 0.01, "certify": True, "clusters": 2},
    {"center": "pair", "single": False, "certify": True},
]
COMPILABLE = [(t, "rbf", c, way) for t, k, c in COMBINATIONS if k == "rbf" for way in WAYS]
COMPILABLE += [
    (t, k, c, way)
    for t, k, c in COMBINATIONS
    if k in ("linear", "polynomial")
    for way in ({}, {"single": True}, {"certify": True})
]


@pytest.mark.full(few=43)
@pytest.mark.parametrize("svm_type, kernel, classes, options", COMPILABLE, ids=str)
def test_a_compiled_model_is_written_back_byte_for_byte(trained, svm_type, kernel, classes, options):
    for probability in (False, True) if kernel == "rbf" and not options else (False,):
        compiled = compile_maclaurin(
            load_model(str(trained(svm_type, kernel, classes, probability))), fingerprint="f", **options
        )
        text = compiled.to_text()
        again = parse_model(text, "again")
        assert again.to_text() == text
        assert again.header.lines() == compiled.header.lines() and again.fingerprint == "f"
        assert (again.degree, again.single, list(again.features)) == (
            compiled.degree,
            compiled.single,
            list(compiled.features),
        )
        assert again.highest_norm == compiled.highest_norm and again.certified == options.get("certify", False)
        assert not again.certified or again.longest_vector == compiled.longest_vector
        for a, b in zip(again.expansions, compiled.expansions, strict=True):
            assert (a.pair, a.center, a.rank) == (b.pair, b.center, b.rank) and (a.certificate is None) == (
                b.certificate is None
            )
            for key in ("truncation", "error", "weight", "count") if a.certificate else ():
                assert getattr(a.certificate, key) == getattr(b.certificate, key)
        assert np.array_equal(values_of(again, [ROWS]), values_of(compiled, [ROWS]))


def test_a_compiled_model_says_what_it_is():
    model = parse_model(compiled_text(center="pair"), "m")
    assert model.kind == "maclaurin"
    assert (model.degree, model.single, model.fingerprint, list(model.features)) == (
        2,
        True,
        "0123456789abcdef",
        [0, 1, 2, 3, 4],
    )
    assert len(model.centers) == len(model.expansions) == model.pairs == 3
    assert [(e.pair, e.center, len(e.coefficients)) for e in model.expansions] == [(0, 0, 21), (1, 1, 21), (2, 2, 21)]


def test_single_precision_costs_nothing_that_is_stored():
    model = parse_model(compiled_text(), "m")
    written = np.array(model.expansions[0].coefficients)
    again = parse_model(model.to_text(), "m")
    assert np.array_equal(np.float32(written), np.float32(again.expansions[0].coefficients))


COMPILED_FAULTS = model_changes("maclaurin")


@pytest.mark.parametrize("name", COMPILED_FAULTS)
def test_an_invalid_compiled_model_is_refused_in_one_clear_line(name):
    message, _, (old, new) = COMPILED_FAULTS[name]
    found = error_of(changed(old, new))
    assert found == message if message.startswith("m:") else message in found


def certified_text():
    return compiled_text(degree=2, certify=True, rank=2)


CERTIFIED_FAULTS = model_changes("certified")
CERTIFIED_FAULTS["a rank of thousands of digits"] = ("", "", (b"rank 2", b"rank " + b"2" * 5000))


@pytest.mark.parametrize("name", CERTIFIED_FAULTS)
def test_an_invalid_certified_model_is_refused_in_one_clear_line(name):
    message, _, (old, new) = CERTIFIED_FAULTS[name]
    text = certified_text()
    assert parse_model(text, "m").to_text() == text
    found = error_of(changed(old, new, text=text))
    assert found == message if message.startswith("m:") else message in found


def test_a_number_beyond_single_precision_in_a_model_of_single_precision_is_refused():
    lines = compiled_text().split(b"\n")
    lines[lines.index(b"expansion 0 0") + 1] = b"1e39"
    assert "'1e39' found among 21 numbers" in error_of(with_checksum(b"\n".join(lines)))


def test_a_negative_squared_norm_is_refused():
    lines = compiled_text().split(b"\n")
    lines[lines.index(b"center") + 1] = b"-5"
    assert "-5 found, expected a squared norm" in error_of(with_checksum(b"\n".join(lines)))


@pytest.mark.parametrize("certify", [False, True])
def test_an_exact_model_of_negative_gamma_is_compiled_or_refused(certify):
    exact = parse_model(hand(("gamma 0.5", "gamma -0.5")), "m")
    assert np.all(np.isfinite(values_of(exact, [_native.parse(b"1 1:0.5 2:-1\n")[0]])))
    try:
        text = compile_maclaurin(exact, fingerprint="f", certify=certify).to_text()
    except ModelFormatError as error:
        assert "gamma" in str(error)
    else:
        assert parse_model(text, "m").to_text() == text


@pytest.mark.parametrize("kernel", [b"sigmoid\ncoef0 1", b"precomputed", b"polynomial\ndegree 7\ncoef0 1"])
def test_a_compiled_model_of_a_kernel_that_is_not_compiled_is_refused(kernel):
    error_of(changed(b"kernel_type rbf", b"kernel_type " + kernel))


@pytest.mark.parametrize("fingerprint", [b"\xff\xfe", "é".encode(), b"\x80bc"])
def test_a_fingerprint_that_could_not_be_written_back_is_refused(fingerprint):
    error_of(changed(b"fingerprint 0123456789abcdef", b"fingerprint " + fingerprint))


def test_a_negative_count_is_refused_even_where_nothing_is_counted():
    exact = parse_model(
        b"svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 1\ntotal_sv 0\nrho\nlabel 3\nnr_sv 0\nSV\n", "m"
    )
    text = compile_maclaurin(exact, fingerprint="f").to_text()
    error_of(changed(b"nr_expansions 0", b"nr_expansions -1", text=text))


@calm(300)
@given(st.sets(st.one_of(st.integers(0, 40), st.integers(0, 2**31 - 1))))
def test_features_are_written_as_ranges_and_read_back(features):
    features = sorted(features)
    exact = parse_model(REGRESSION.replace(b" 1:1", b"".join(b" %d:1" % index for index in features)), "m")
    text = compile_maclaurin(exact, fingerprint="f").to_text()
    assert list(parse_model(text, "m").features) == features
    ranges = next(line for line in text.decode().splitlines() if line.startswith("features")).split()[1:]
    assert all(int(a.split(":")[-1]) + 1 < int(b.split(":")[0]) for a, b in zip(ranges, ranges[1:]))
