"""Golden files: small models of every kind and version, and decision values of golden/data by an independent formula in
extended precision. They are never edited: a new version of the format adds a folder. *.precomputed are the exact models
of ordered ones with fastsvm's own kernels."""

import itertools
from hashlib import sha256

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model

from fastsvm_cli import _native
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.models.base import Precision
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.text.read_rows import read_chunks
from support.checksums import line_with_checksum, with_checksum
from support.model_files import (
    BORDERS,
    CASCADES,
    COMPILED,
    DENSITIES,
    EXACT,
    ORDERED,
    REDUCED,
    exact_name,
    golden_values,
    libsvm_rows,
    libsvm_values,
    values_of,
)
from support.ordering import decide
from support.paths import GOLDEN

#: One of every kind at least.
KINDS_OF_OURS = COMPILED + ORDERED + BORDERS + DENSITIES + CASCADES


def test_there_is_a_golden_model_of_every_svm_type_and_a_compiled_one_of_every_kind():
    assert {load_model(str(GOLDEN / name)).header.svm_type for name in EXACT} == {
        "c_svc",
        "nu_svc",
        "one_class",
        "epsilon_svr",
        "nu_svr",
    }
    assert {load_model(str(GOLDEN / name)).header.kernel_type for name in COMPILED} == {"rbf", "linear", "polynomial"}
    first_lines = {(GOLDEN / name).read_text().split("\n")[0] for name in KINDS_OF_OURS}
    # A new kind adds its own.
    assert first_lines == {f"fastsvm_model {kind} 2" for kind in _native.COMPILED_KINDS} and len(REDUCED) == 3


#: Name -> (file of its values, how near to them it must be).
VALUES = {
    **dict.fromkeys(EXACT + COMPILED, ("values", 1e-12)),
    **dict.fromkeys(BORDERS, ("values-border", 1e-12)),
    **dict.fromkeys(DENSITIES, ("values-density", 1e-11)),
    **dict.fromkeys(REDUCED, ("values-reduced", 1e-12)),
    "version2/epsilon_svr.folded": ("values", 1e-10),
}


@pytest.mark.parametrize("name", VALUES)
def test_golden_models_give_the_decision_values_computed_once(name):
    model, (file, near) = load_model(str(GOLDEN / name)), VALUES[name]
    for size in (1, 1 << 20):
        found = values_of(model, read_chunks(str(GOLDEN / "data"), size=size))
        assert found == pytest.approx(golden_values(name, file), abs=near, rel=near)


@pytest.mark.parametrize("name", REDUCED)
def test_radii_of_golden_reduced_sets_cover_the_distance_to_the_exact_model(name):
    model = load_model(str(GOLDEN / name))
    out, exact = _native.Decisions(model.pairs, True), golden_values(exact_name(name))
    for chunk in read_chunks(str(GOLDEN / "data")):
        model.decision_values(chunk, out)
        assert np.all(np.abs(golden_values(name, "values-reduced") - exact) <= np.asarray(out.radius))
        assert np.all(np.asarray(out.radius) < 1)


def test_a_golden_libsvm_model_of_raw_rows_says_so():
    name = "version2/epsilon_svr.folded"
    model, text = load_model(str(GOLDEN / name)), (GOLDEN / name).read_bytes()
    assert model.fingerprint == sha256((GOLDEN / "epsilon_svr.model").read_bytes()).hexdigest()[:32]
    assert model.folded is not None and model.to_text() == text == line_with_checksum(text)


@pytest.mark.parametrize("name", CASCADES)
def test_golden_cascades_give_the_margins_computed_once_and_the_exact_values(name):
    model, expected = load_model(str(GOLDEN / name)), golden_values(name, "values-cascade")
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    margins = np.array([model.cascade().margins(chunk, stage)[1] for stage in range(len(model.stages))]).T
    assert margins == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert values_of(model, [chunk]) == pytest.approx(golden_values(exact_name(name)), abs=1e-12, rel=1e-12)


def values_behind(name):
    exact = exact_name(name)
    return golden_values(exact) if exact in EXACT else golden_values(name, "values-own-kernels")


@pytest.mark.parametrize("name", ORDERED)
def test_golden_ordered_models_give_the_decision_values_computed_once(name):
    model, expected = load_model(str(GOLDEN / name)), values_behind(name)
    assert model.ordered
    out, written, first = _native.Decisions(model.pairs, True), [], 0
    for chunk in read_chunks(str(GOLDEN / "data"), size=60):
        truth = expected[first : first + chunk.rows]
        model.decision_values(chunk, out, Precision.values())
        assert np.asarray(out.value) == pytest.approx(truth, abs=1e-12, rel=1e-12)
        decide(model, chunk, out)
        assert np.all(np.abs(np.asarray(out.value) - truth) <= np.asarray(out.radius))
        predict(model, [chunk], written.append, path="data")
        first += chunk.rows
    assert first == 12
    labels = np.array(b"".join(written).split(), float)
    if model.header.regression:
        assert labels == pytest.approx(expected[:, 0], abs=1e-12, rel=1e-12)
    elif model.header.svm_type == "one_class":
        assert labels.tolist() == [1 if value > 0 else -1 for value in expected[:, 0]]
    else:
        classes = range(model.header.nr_class)
        votes = [
            [pair[int(value <= 0)] for pair, value in zip(itertools.combinations(classes, 2), row)] for row in expected
        ]
        assert labels.tolist() == [
            model.header.label[max(classes, key=lambda c: (vote.count(c), -c))] for vote in votes
        ]


def test_golden_ordered_models_are_of_every_kind_and_kernel():
    models = [load_model(str(GOLDEN / name)) for name in ORDERED]
    assert {(model.kind, model.exact.kernel.type) for model in models} >= {
        ("geometry", "rbf"),
        ("geometry", "polynomial"),
        ("geometry", "normalized_polynomial"),
        ("triangle", "rbf"),
        ("triangle", "exponential"),
    }
    assert any("2 of them folded" in model.ordered_by for model in models)
    assert any("sgma" in model.ordered_by for model in models)


@pytest.mark.parametrize("name", EXACT)
def test_golden_values_are_those_of_libsvm(name):
    model = svm_load_model(str(GOLDEN / name))
    expected = golden_values(name)
    for chunk in read_chunks(str(GOLDEN / "data")):
        for row, values in zip(libsvm_rows(chunk), expected, strict=True):
            assert libsvm_values(model, row, expected.shape[1]) == pytest.approx(values, abs=1e-12)


@pytest.mark.parametrize("name", KINDS_OF_OURS + REDUCED)
def test_golden_compiled_models_are_written_back_byte_for_byte(name):
    text = (GOLDEN / name).read_bytes()
    assert parse_model(text, name).to_text() == text == (line_with_checksum if name in REDUCED else with_checksum)(text)


@pytest.mark.parametrize("name", COMPILED + ORDERED + BORDERS + REDUCED + CASCADES)
def test_golden_compiled_models_keep_the_header_of_their_exact_model(name):
    exact, compiled = (load_model(str(GOLDEN / file)) for file in (exact_name(name), name))
    assert name in REDUCED or exact.header.lines() == compiled.header.lines()
    assert compiled.fingerprint == sha256((GOLDEN / exact_name(name)).read_bytes()).hexdigest()[:32]


@pytest.mark.parametrize("name", [name for name in COMPILED if "certified" in name])
def test_golden_radii_cover_the_distance_to_the_exact_model(name):
    model = load_model(str(GOLDEN / name))
    out, distances = _native.Decisions(model.pairs, True), np.abs(golden_values(name) - golden_values(exact_name(name)))
    for chunk in read_chunks(str(GOLDEN / "data")):
        model.decision_values(chunk, out)
        assert np.all(np.asarray(out.radius) >= distances) and np.all(np.isfinite(out.radius))
        assert np.median(np.asarray(out.radius)) < 0.05  # informative


@pytest.mark.parametrize("name", EXACT + KINDS_OF_OURS + REDUCED)
def test_a_models_bytes_are_about_those_of_its_numbers(name):
    model, text = load_model(str(GOLDEN / name)), (GOLDEN / name).read_bytes()
    assert len(text) / 20 < model.nbytes < 8 * len(text)  # 1 to 20 characters per number


def test_golden_headers_are_read_key_by_key():
    header = load_model(str(GOLDEN / "version2" / "c_svc.approx")).header
    assert (header.svm_type, header.kernel_type, header.gamma, header.nr_class, header.total_sv) == (
        "c_svc",
        "rbf",
        0.15,
        2,
        23,
    )
    assert header.rho == [-0.2058785201651603] and header.label == [1, -1] and header.nr_sv == [12, 11]
    assert header.probA == [-0.9154496239128165] and header.probB == [-0.10354980289291016] and header.has_probability
    header = load_model(str(GOLDEN / "nu_svc.model")).header
    assert (header.kernel_type, header.degree, header.gamma, header.coef0) == ("polynomial", 2, 0.5, 0.75)
    assert header.label == [2, -3, 5] and not header.has_probability
    header = load_model(str(GOLDEN / "one_class.model")).header
    assert len(header.prob_density_marks) == 10 and header.prob_density_marks[4] == -5.2404185463483799e-05
    assert header.label is None and header.has_probability
    header = load_model(str(GOLDEN / "nu_svr.model")).header
    assert header.regression and not header.classification
    assert header.probA == [0.26152831865568121] and header.probB is None and header.has_probability
