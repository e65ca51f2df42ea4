"""Maclaurin models in memory: sparse and dense rows, single precision, sizes, builds of the hot loops."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.approx import CENTERS
from fastsvm_cli.methods.approx.expansion import TooLargeError
from fastsvm_cli.models import parse_model
from support.evaluation import parse
from support.expanding import assert_expands, compiled, decide, expanded, gaussian
from support.oracles import Machine, random_rows

#: (features, density of the vectors, offset). With 600, single precision stays single in memory, with its own loops.
SHAPES = [(1, 1.0, 0.0), (7, 0.3, 0.0), (40, 1.0, 0.0), (40, 0.1, 0.0), (40, 1.0, 1e5)]
SHAPES += [(400, 0.5, 0.0), (600, 0.4, 0.0), (600, 1.0, 1e3)]


@pytest.mark.full
@pytest.mark.parametrize("center, single", [("mean", True), ("origin", True), ("pair", False)])
def test_a_row_written_sparse_or_dense_or_alone_has_the_same_value(instruction_set, center, single):
    for d, density, offset in SHAPES:
        if offset and center == "origin":
            continue
        rng, wide = np.random.default_rng([d, int(offset)]), d > 100
        machine, rows = gaussian(rng, n=20, d=d, density=density, nr_class=3 - wide, offset=offset, gamma=0.2 / d)
        rows = rows[:: 1 + 5 * wide]
        for filled in (0.02, 0.1, 0.39, 0.41, 0.9) if offset == 0 else ():
            rows += random_rows(rng, 3, machine.features, density=filled)
        model = compiled(machine, center=center, single=single)
        assert_expands(model, machine, rows, relative=1e-11 if offset else 1e-12)
        (values, outside), dense = decide(model, rows), [dict.fromkeys(machine.features, 0.0) | row for row in rows]
        np.testing.assert_array_equal(values, np.vstack([decide(model, [row])[0] for row in rows]))
        again, outside_again = decide(model, dense)
        np.testing.assert_allclose(again, values, rtol=1e-12, atol=1e-12 * np.abs(machine.coef).sum())
        assert outside_again == outside


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_certified_model_of_one_class_needs_no_centre(kernel):
    """No compiler writes such a file."""
    machine = Machine("c_svc", kernel, [], np.empty((0, 0)), [], gamma=0.5, label=[7], nr_sv=[0])
    model = compiled(machine, certify=True, degree=1)
    model.centers, model.expansions = [], []
    model = parse_model(model.to_text(), "a.approx")
    out = _native.Decisions(model.pairs, with_radius=True)
    model.decision_values(parse([{1: 1.0}, {}]), out)
    assert model.certified and out.rows == 2 and np.asarray(out.radius).shape == (2, 0)


@pytest.mark.parametrize("length", [1e3, 1e100, 1e160, 1e307])
def test_a_row_beyond_everything_has_the_value_minus_rho(length):
    """The weight vanishes faster than the polynomial grows; 0 times infinity would be nan."""
    rng = np.random.default_rng(19)
    for offset in (0.0, 1e6):
        machine, _ = gaussian(rng, nr_class=3, n=20, d=4, offset=offset, gamma=0.1)
        for center in CENTERS:
            model = compiled(machine, center=center)
            beyond, far = length + 1e9 * bool(offset), [{2147483647: length}]
            for signs in ([1, 1, 1, 1], [1, -1, 1, -1], [-1], [0, 1]):
                far.append({i: sign * beyond for i, sign in zip(machine.features, signs)})
            values, outside = decide(model, far)
            np.testing.assert_array_equal(values, -np.array([machine.rho] * len(far)))
            assert outside == len(far)


def test_a_model_larger_than_the_limit_is_refused():
    rng = np.random.default_rng(20)
    for single in (True, False):
        machine, _ = gaussian(rng, nr_class=3, n=30, d=60)
        size = len(compiled(machine, single=single).to_text())
        assert len(compiled(machine, single=single, max_bytes=1.5 * size).to_text()) == size
        with pytest.raises(TooLargeError, match=r"^a\.model: .*3 decision functions .*60 features.*--max-size"):
            compiled(machine, single=single, max_bytes=size / 1.5)


@pytest.mark.parametrize("d", [2, 600])
def test_a_coefficient_whose_double_is_beyond_single_precision_is_kept(d):
    """M holds entries off its diagonal twice; with many features in single precision, in memory too."""
    coefficients = np.zeros(1 + d + d * (d + 1) // 2)
    coefficients[1 + d + 1] = largest = float(np.finfo(np.float32).max)
    expansions = [_native.Expansion(0, 0, coefficients)]
    model = expanded([(np.zeros(d), 1.0)], expansions, single=True, kernel="polynomial")
    rows = [{1: 0.5, 2: 0.25}, {1: 1.0}, {1: 2.0, 2: -1.0}, {**dict.fromkeys(range(1, d + 1), 1.0), 2: 3.0}]
    out = _native.Decisions(1)
    model.decision_values(parse(rows), out)
    np.testing.assert_array_equal(np.array(out.value)[:, 0], largest * np.array([0.25, 0, -4, 6]))
