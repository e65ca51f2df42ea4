"""Files of Maclaurin models: written, read back, and refused in one line if invalid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import parse_model
from support.evaluation import ROWS
from support.expanding import compiled, gaussian
from support.model_files import REGRESSION, values_of
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


@pytest.mark.full(few=8)
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
        assert again.to_text() == text and list(again.features) == machine.features
        assert again.certified == options.get("certify", False)
        for a, b in zip(again.expansions, model.expansions, strict=True):
            if model.single:  # costs nothing that is stored
                np.testing.assert_array_equal(np.float32(a.coefficients), np.float32(b.coefficients))
        assert np.array_equal(values_of(again, [ROWS]), values_of(model, [ROWS]))


@calm(300)
@given(st.sets(st.one_of(st.integers(0, 40), st.integers(0, 2**31 - 1))))
def test_features_are_written_as_ranges_and_read_back(features):
    features = sorted(features)
    exact = parse_model(REGRESSION.replace(b" 1:1", b"".join(b" %d:1" % index for index in features)), "m")
    text = compile_maclaurin(exact, fingerprint="f").to_text()
    assert list(parse_model(text, "m").features) == features
    ranges = next(line for line in text.decode().splitlines() if line.startswith("features")).split()[1:]
    assert all(int(a.split(":")[-1]) + 1 < int(b.split(":")[0]) for a, b in zip(ranges, ranges[1:]))
