"""Rows that an ordered model leaves undecided: for labels, the exact model computes labels only."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.order.geometry import compile_geometry
from fastsvm_cli.methods.order.triangle import compile_triangle
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.base import Precision
from support.evaluation import parse
from support.oracles import random_machine, random_rows
from support.ordering import decide

METHODS = {
    "geometry": lambda model: compile_geometry(model, fingerprint="f" * 32, points=3),
    "triangle": lambda model: compile_triangle(model, fingerprint="f" * 32),
}


def labels(model, decisions):
    out = _native.Predictions()
    _native.predict(model.header.task(), decisions, False, out)
    return list(out.label)


@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("nu_svc", 5), ("one_class", 2)])
@pytest.mark.parametrize("method", METHODS)
def test_labels_of_rows_left_open_are_the_exact_models(method, svm_type, classes):
    rng = np.random.default_rng(81)
    rows = random_rows(rng, 90, range(1, 7))
    machine = random_machine(rng, svm_type, "rbf", rows, gamma=0.2, nr_class=classes)
    model = parse_model(machine.text(), "m")
    ordered, chunk = METHODS[method](model), parse(random_rows(rng, 150, range(1, 7)))
    left = decide(ordered, chunk, _native.Decisions(model.pairs))
    assert (method != "geometry") or len(left) > 10  # three points decide few rows

    out, whole = _native.Decisions(model.pairs), _native.Decisions(model.pairs)
    ordered.decision_values(chunk, out, Precision.labels())
    ordered.decision_values(chunk, whole, Precision.values())  # leaves nothing of the previous run
    model.reference_values(chunk, whole)
    assert labels(model, out) == labels(model, whole)
    evaluations = np.asarray(out.evaluations)
    assert np.all(evaluations[left] >= model.header.total_sv)
    if model.pairs == 1:  # each value has the sign of its label
        np.testing.assert_array_equal(np.asarray(out.value) > 0, np.asarray(whole.value) > 0)

    precise = _native.Decisions(model.pairs, True)  # with radii, values are wanted
    ordered.decision_values(chunk, precise, Precision.labels())
    assert labels(model, precise) == labels(model, whole)
    np.testing.assert_allclose(np.asarray(precise.value)[left], np.asarray(whole.value)[left], rtol=1e-12, atol=1e-12)


def test_classes_are_put_in_the_place_of_values():
    out, winners = _native.Decisions(1), _native.Decisions(1, False, True)
    out.resize(4)
    winners.resize(2)
    values = np.asarray(out.value)
    values[:, 0] = [1.0, -1.0, 2.0, -2.0]
    with pytest.raises(ValueError, match="labels replace no values"):
        out.elect([0, 1], _native.Decisions(1))
    with pytest.raises(ValueError, match="labels replace no values"):
        winners.elect([0, 1], winners)
    with pytest.raises(ValueError, match="other rows"):
        out.elect([0], winners)
    with pytest.raises(IndexError):
        out.elect([0, 4], winners)
    out.elect([1, 2], winners)  # both of the first class, as a row is at first
    assert (np.asarray(out.value)[:, 0] > 0).tolist() == [True, True, True, False] and values[2, 0] == 2.0
    several = _native.Decisions(3)
    with pytest.raises(ValueError, match="pairs"):
        several.elect([], winners)
