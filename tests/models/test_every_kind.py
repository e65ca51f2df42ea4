"""The promises of models/base.py, tested on a golden file of every kind of model.

Other tests: the bytes of files and the values (test_golden_files.py), damage (test_damaged_files.py), embedded ranges
(test_embedded_scaling.py)."""

import re

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import ExactModel, Model, Precision, load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.damage import KINDS, SHORTEST
from support.evaluation import error_of, stopped_after
from support.paths import GOLDEN, ROOT

#: Packages of fastsvm_cli that may import classes of models.
LAYERS = ("models", "methods", "commands")
every_kind = pytest.mark.parametrize("words", KINDS)


def golden(words):
    return load_model(str(GOLDEN / SHORTEST[words]))


def rows():
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    return chunk


def test_the_registry_has_the_kinds_of_the_core():
    printed = error_of("fastsvm_model quadrature 2\nend\n").partition(" found, this fastsvm knows ")[0]
    assert printed == "m:1: a model of kind 'quadrature'"
    with pytest.raises(ValueError, match="no such kernel"):
        _native.Kernel("gaussian")


@every_kind
def test_its_attributes_fit_together(words):
    model = golden(words)
    assert type(model) is (Model if " " in words else ExactModel)
    assert model.kind == model.file.kind == (words.partition(" ")[2] or "LIBSVM")
    assert all(type(flag) is bool for flag in (model.proves, model.certified, model.ordered, model.serials))
    assert (model.fingerprint is None) == (words == "svm_type")
    used = list(model.used_indices)
    assert used == sorted(set(used)) and set(model.features) <= set(used) and model.max_index >= used[-1]
    assert model.first_index == (used[0] > 0) and model.columns == model.max_index + 1 - model.first_index
    assert model.vectors is None or model.vectors.rows == model.header.total_sv
    assert model.bounded == (model.header.kernel_type == "rbf" and model.centers is not None)
    assert model.pairs == len(model.header.rho) and model.nbytes > 0
    assert (model.raw_rows is None) == (model.folded is None and model.embedded_scaling is None)


@every_kind
def test_a_rows_values_do_not_depend_on_other_rows(words):
    model, chunk = golden(words), rows()
    both, one = _native.Decisions(model.pairs, model.certified), _native.Decisions(model.pairs, model.certified)
    model.decision_values(chunk, both, Precision.values())
    for row in range(chunk.rows):
        model.decision_values(chunk.select([row]), one, Precision.values())
        assert np.array_equal(np.asarray(one.value)[0], np.asarray(both.value)[row])
        assert not model.certified or np.array_equal(np.asarray(one.radius)[0], np.asarray(both.radius)[row])


@pytest.mark.full(few=3)
@every_kind
def test_what_it_cannot_do_is_said_in_a_line(fastsvm, words):
    model, path, data = golden(words), GOLDEN / SHORTEST[words], GOLDEN / "data"
    refused = []  # (command, exit code, words of the reason)
    if not model.ordered:
        refused.append((["predict", "--evaluations", data, path, "out"], 2, "--evaluations goes with a model of"))
    if stopped_after(model, 1) is None:
        refused.append((["predict", "--steps", 1, data, path, "out"], 2, "--steps goes with a model of"))
    if not model.bounded:
        why = "no bound (eq. 3.11)"
        refused.append((["predict", "--outside-rows", "x", data, path, "out"], 1, why))
    if not model.certified:
        tolerance = ["--tolerance", 1] if model.header.regression else []
        exact = ["predict", "--exact", GOLDEN / "c_svc.model", *tolerance, data, path, "out"]
        why = "already" if model.proves and model.raw_rows is None else "proves nothing" if model.proves else "no certi"
        refused.append((exact, 1, why))
    if model.kind != "LIBSVM":
        compiled = "a compiled model found, expected the LIBSVM model"
        for method in (["approx"], ["reduce", "--ratio", 0.1], ["border"], ["order"]):
            refused.append(([*method, path, "out"], 1, compiled))
        refused.append((["bench", data, path], 1, compiled))
    if model.vectors is None and model.centers is None:
        refused.append((["bound", data, path], 1, f"{path}: "))
    else:
        fastsvm("bound", data, path)
    for command, code, why in refused:
        done = fastsvm(*command, code=code)
        last = done.err.splitlines()[-1]
        assert last.startswith("Error: ") and why in last and done.out == "", (command, done.err)


@pytest.mark.full
def test_only_methods_and_commands_name_a_class():
    """Compilers and commands know their own kinds; estimators and dask.py check what a Python program passes."""
    for path in (ROOT / "fastsvm_cli").rglob("*.py"):
        layer, text = path.relative_to(ROOT / "fastsvm_cli").parts[0], path.read_text()
        imported = re.findall(r"from fastsvm_cli\.models\S* import (.*)", text) if layer not in LAYERS else []
        checked = re.findall(r"isinstance\([^()]*?, \(?(.*?)\)", text) if layer != "models" else []
        known = {"Model", "ExactModel"} if layer in ("estimators", "dask.py") else set()
        assert set(re.findall(r"\w+Model\b", " ".join(imported))) <= {"Model", "ExactModel"}, path
        assert set(re.findall(r"\w*Model\b", " ".join(checked))) <= known, path
