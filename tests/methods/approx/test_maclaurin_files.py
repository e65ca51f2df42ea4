"""Files of Maclaurin models: written, read back, and refused in one line if invalid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import parse_model
from support.checksums import with_checksum
from support.evaluation import ROWS, error_of
from support.expanding import compiled, gaussian
from support.messages import model_changes
from support.model_files import REGRESSION, changed, compiled_text, hand, values_of
from support.oracles import SVM_TYPES
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
CASES = [("rbf", way) for way in WAYS]
CASES += [(kernel, way) for kernel in ("linear", "polynomial") for way in ({}, {"single": True}, {"certify": True})]


@pytest.mark.parametrize("kernel, options", CASES, ids=str)
def test_a_compiled_model_is_written_back_byte_for_byte(kernel, options):
    for seed, svm_type in enumerate((*SVM_TYPES, "c_svc")):
        machine, _ = gaussian(
            np.random.default_rng(seed), svm_type, n=20, d=4, nr_class=2 + seed // 3, probability=bool(seed % 2)
        )
        machine.kernel, machine.degree, machine.coef0 = kernel, 3, 1.0
        model = compiled(machine, **options)
        text = model.to_text()
        again = parse_model(text, "again")
        assert again.to_text() == text and again.kind == "maclaurin"
        assert again.header.lines() == model.header.lines() and again.fingerprint == "0" * 32
        assert (again.degree, again.single) == (model.degree, model.single)
        assert list(again.features) == list(model.features) == machine.features
        assert again.highest_norm == model.highest_norm and again.certified == options.get("certify", False)
        assert not again.certified or again.longest_vector == model.longest_vector
        for a, b in zip(again.expansions, model.expansions, strict=True):
            assert (a.pair, a.center, a.rank) == (b.pair, b.center, b.rank)
            assert (a.certificate is None) == (b.certificate is None) != again.certified
            for key in ("truncation", "error", "weight", "count") if a.certificate else ():
                assert getattr(a.certificate, key) == getattr(b.certificate, key)
            if model.single:  # costs nothing that is stored
                np.testing.assert_array_equal(np.float32(a.coefficients), np.float32(b.coefficients))
        assert np.array_equal(values_of(again, [ROWS]), values_of(model, [ROWS]))


CERTIFIED = {"degree": 2, "certify": True, "rank": 2}
FAULTS = [({}, *change) for change in model_changes("maclaurin").items()]
FAULTS += [(CERTIFIED, *change) for change in model_changes("certified").items()]
FAULTS += [(CERTIFIED, "a rank of thousands of digits", ("", "", (b"rank 2", b"rank " + b"2" * 5000)))]


@pytest.mark.parametrize("options, fault", [pytest.param(way, fault, id=name) for way, name, fault in FAULTS])
def test_an_invalid_model_is_refused_in_one_clear_line(options, fault):
    message, _, (old, new) = fault
    text = compiled_text(**options)
    assert parse_model(text, "m").to_text() == text
    found = error_of(changed(old, new, text=text))
    assert found == message if message.startswith("m:") else message in found


def test_numbers_that_no_compiler_writes_are_refused():
    for before, number, message in (
        (b"expansion 0 0", b"1e39", "'1e39' found among 21 numbers"),  # in a model of single precision
        (b"center", b"-5", "-5 found, expected a squared norm"),
    ):
        lines = compiled_text().split(b"\n")
        lines[lines.index(before) + 1] = number
        assert message in error_of(with_checksum(b"\n".join(lines)))
    exact = b"svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 1\ntotal_sv 0\nrho\nlabel 3\nnr_sv 0\nSV\n"
    text = compile_maclaurin(parse_model(exact, "m"), fingerprint="f").to_text()
    error_of(changed(b"nr_expansions 0", b"nr_expansions -1", text=text))


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


@calm(300)
@given(st.sets(st.one_of(st.integers(0, 40), st.integers(0, 2**31 - 1))))
def test_features_are_written_as_ranges_and_read_back(features):
    features = sorted(features)
    exact = parse_model(REGRESSION.replace(b" 1:1", b"".join(b" %d:1" % index for index in features)), "m")
    text = compile_maclaurin(exact, fingerprint="f").to_text()
    assert list(parse_model(text, "m").features) == features
    ranges = next(line for line in text.decode().splitlines() if line.startswith("features")).split()[1:]
    assert all(int(a.split(":")[-1]) + 1 < int(b.split(":")[0]) for a, b in zip(ranges, ranges[1:]))
