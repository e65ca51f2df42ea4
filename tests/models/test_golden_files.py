"""Golden files: small models of every kind and version, and decision values of golden/data by an independent formula in
extended precision. They are never edited: a new version of the format adds a folder. *.precomputed are the exact models
of ordered ones with fastsvm's own kernels."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import Precision, load_model
from fastsvm_cli.text.read_rows import read_chunks
from support import oracles
from support.checksums import fingerprint, line_with_checksum, with_checksum
from support.damage import COMPILED_KINDS
from support.evaluation import decide as decided
from support.in_process import Libsvm, written_lines
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
    values_of,
)
from support.oracles import Machine
from support.ordering import decide
from support.paths import GOLDEN

#: One of every kind at least.
KINDS_OF_OURS = COMPILED + ORDERED + BORDERS + DENSITIES + CASCADES
#: LIBSVM models, whose last line is fastsvm's.
WITH_A_LINE = [*REDUCED, "version2/epsilon_svr.folded"]


def test_there_is_a_golden_model_of_every_svm_type_and_a_compiled_one_of_every_kind():
    """A new kind adds its own."""
    headers = [load_model(str(GOLDEN / name)).header for name in EXACT + COMPILED + ORDERED]
    assert {header.svm_type for header in headers[: len(EXACT)]} == set(oracles.SVM_TYPES)
    assert {header.kernel_type for header in headers[len(EXACT) :]} == {"rbf", "linear", "polynomial", "precomputed"}
    first_lines = {(GOLDEN / name).read_text().split("\n")[0] for name in KINDS_OF_OURS}
    assert first_lines == {f"fastsvm_model {kind} 2" for kind in COMPILED_KINDS} and len(REDUCED) == 3


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


@pytest.mark.parametrize("name", REDUCED + [name for name in COMPILED if "certified" in name])
def test_golden_radii_cover_the_distance_to_the_exact_model(name):
    model = load_model(str(GOLDEN / name))
    distances = np.abs(golden_values(name, VALUES[name][0]) - golden_values(exact_name(name)))
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    radii = decided(model, chunk)[1]
    assert np.all(distances <= radii) and np.all(np.isfinite(radii))
    assert np.all(radii < 1) if name in REDUCED else np.median(radii) < 0.05  # informative


@pytest.mark.parametrize("name", CASCADES)
def test_golden_cascades_give_the_margins_computed_once_and_the_exact_values(name):
    model, expected = load_model(str(GOLDEN / name)), golden_values(name, "values-cascade")
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    margins = np.array([model.cascade().margins(chunk, stage)[1] for stage in range(len(model.stages))]).T
    assert margins == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert values_of(model, [chunk]) == pytest.approx(golden_values(exact_name(name)), abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("name", ORDERED)
def test_golden_ordered_models_give_the_decision_values_computed_once(name):
    """Radii of any precision cover them; labels are those of all pairs' values."""
    model, exact = load_model(str(GOLDEN / name)), exact_name(name)
    expected = golden_values(exact) if exact in EXACT else golden_values(name, "values-own-kernels")
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    out = _native.Decisions(model.pairs, True)
    model.decision_values(chunk, out, Precision.values())
    assert model.ordered and np.asarray(out.value) == pytest.approx(expected, abs=1e-12, rel=1e-12)
    decide(model, chunk, out)
    assert np.all(np.abs(np.asarray(out.value) - expected) <= np.asarray(out.radius))
    found = [float(line) for line in written_lines(model, [chunk])[0].split()]
    machine = Machine.read(load_model(str(GOLDEN / exact)).to_text())
    assert found == pytest.approx(oracles.labels(machine, expected), abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_golden_values_are_those_of_libsvm(name):
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    assert Libsvm(GOLDEN / name).values(libsvm_rows(chunk)) == pytest.approx(golden_values(name), abs=1e-12)


@pytest.mark.parametrize("name", EXACT + KINDS_OF_OURS + WITH_A_LINE)
def test_golden_models_are_written_back_byte_for_byte(name):
    """They keep the header of their exact model. A model takes about as many bytes as its numbers."""
    text, model = (GOLDEN / name).read_bytes(), load_model(str(GOLDEN / name))
    assert len(text) / 20 < model.nbytes < 8 * len(text)  # 1 to 20 characters per number
    if name in EXACT:
        return
    assert model.to_text() == text == (line_with_checksum if name in WITH_A_LINE else with_checksum)(text)
    if name not in DENSITIES:
        exact = GOLDEN / exact_name(name)
        assert name in WITH_A_LINE or load_model(str(exact)).header.lines() == model.header.lines()
        assert model.fingerprint == fingerprint(exact.read_bytes())
