"""Prediction by the nearest border samples."""

import numpy as np
import pytest

from fastsvm_cli.models import parse_model
from support import oracles
from support.bordering import compiled
from support.evaluation import parse, values
from support.in_process import written_lines
from support.oracles import EXTENDED, BorderFile, border_values, random_machine, random_rows

HEAD = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho 0\nlabel 1 -1\nnr_sv 0 0\n"


def values_of(border, rows):
    return values(parse_model(border.text(HEAD), "m"), parse(rows))


def random_border(rng, n, d, local=1):
    features = sorted(rng.choice(np.arange(0, 40), d, replace=False).tolist())
    samples = rng.standard_normal((n, 2, d)).astype(EXTENDED)
    return BorderFile({}, features, [float(rng.normal(0, 0.3))], local, [samples])


def rows_for(rng, border):
    rows = random_rows(rng, 12, border.features) + random_rows(rng, 8, border.features, density=0.4)
    rows += [*random_rows(rng, 5, [*border.features, 50, 2000000000], density=0.7), {}, {50: 2.0}]
    return rows + [dict(zip(border.features, sample[0].tolist())) for sample in border.samples[0][:1]]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("local", [1, 2, 5, 32, 64])
def test_a_row_gets_the_value_of_its_nearest_samples(instruction_set, local):
    rng = np.random.default_rng([10, local])
    near_ties = total = 0
    for n in (0, 1, 2, 5, 7, 31, 32, 33, 40, 100):
        for d in (1, 2, 7, 13):
            border = random_border(rng, n, d, local)
            rows = rows_for(rng, border)
            expected, gaps = border_values(border, rows)
            clear = gaps[:, 0] > 1e-12  # at equal distances either sample may be first
            found = values_of(border, rows)[clear, 0]
            np.testing.assert_allclose(
                found, expected[clear, 0].astype(float), rtol=1e-9, atol=1e-9, err_msg=f"{n} {d}"
            )
            near_ties, total = near_ties + np.sum(~clear), total + len(clear)
    assert near_ties < 0.05 * total


def test_of_samples_at_the_same_distance_the_first_answers():
    samples = np.array([[[5, 5], [9, 9]], *[[[1, 0], [0, k]] for k in range(1, 40)]], EXTENDED)
    border = BorderFile({}, [1, 2], [0.25], 1, [samples])
    assert values_of(border, [{2: 1.0}, {1: 1.0}, {1: 2.0, 2: -1.0}]).ravel().tolist() == [1.25, 0.25, -0.75]
    border.local = 2  # the next sample is as far: neither has weight
    assert values_of(border, [{2: 1.0}]).tolist() == [[1.25]]


@pytest.mark.parametrize("size", [1e150, 1e160, 1e200])
@pytest.mark.parametrize("local", [1, 3])
def test_huge_rows_get_a_value_of_the_samples_planes(size, local):
    rng = np.random.default_rng(11)
    for n, d in ((1, 1), (5, 2), (40, 5)):
        border = random_border(rng, n, d, local)
        rows = [{i: size * v for i, v in row.items()} for row in random_rows(rng, 12, border.features)]
        rows += [{50: size}, {50: size, border.features[0]: 1.0}]
        found = values_of(border, rows)[:, 0]
        assert np.all(np.isfinite(found))
        points, normals = border.samples[0][:, 0], border.samples[0][:, 1]
        for row, value in zip(rows, found):
            z = np.array([row.get(i, 0.0) for i in border.features], EXTENDED)
            nearest = np.argsort((points**2).sum(axis=1) / 2 - points @ z, kind="stable")[:local]
            planes = (border.levels[0] + ((z - points[nearest]) * normals[nearest]).sum(axis=1)).astype(float)
            layer = 1e-9 * (1 + np.abs(planes).max())
            assert planes.min() - layer <= value <= planes.max() + layer


@pytest.mark.full(few=1)
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_a_model_are_libsvms_sigmoid_of_the_border_decision(classes):
    rng = np.random.default_rng(14)
    vectors, rows = random_rows(rng, 60, [1, 2, 3]), random_rows(rng, 50, [1, 2, 3, 4])
    machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=classes, probability=True, gamma=0.5)
    model = compiled(machine).model
    decisions, gaps = border_values(BorderFile.read(model.to_text()), rows)
    head, *lines = written_lines(model, [parse(rows)], probability=True)[0].decode().splitlines()
    assert head == "labels " + " ".join(map(str, machine.label))
    found, clear = np.array([line.split() for line in lines], float), (gaps > 1e-12).all(axis=1)
    expected = oracles.probabilities(machine, decisions)
    assert found[clear, 1:] == pytest.approx(expected[clear], abs=2e-6)
    assert np.all(found[clear, 0] == np.array(machine.label)[expected[clear].argmax(axis=1)])
