"""Prediction by the nearest border samples."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from support import oracles
from support.bordering import values_of
from support.evaluation import parse
from support.oracles import EXTENDED, BorderFile, border_values, data_text, random_machine, random_rows

HEADS = {
    2: "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho 0\nlabel 1 -1\nnr_sv 0 0\n",
    3: "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 0\nrho 0 0 0\nlabel 4 -1 7\nnr_sv 0 0 0\n",
}


def random_border(rng, counts, d, local=1):
    features = sorted(rng.choice(np.arange(0, 40), d, replace=False).tolist())
    levels = rng.normal(0, 0.3, len(counts)).tolist()
    border = BorderFile({}, features, levels, local, [rng.standard_normal((n, 2, d)).astype(EXTENDED) for n in counts])
    return border, parse_model(border.text(HEADS[2 if len(counts) == 1 else 3]), "m")


def rows_for(rng, border):
    samples = next((s for s in border.samples if len(s)), None)
    rows = (
        random_rows(rng, 12, border.features)
        + random_rows(rng, 8, border.features, density=0.4)
        + random_rows(rng, 5, [*border.features, 50, 2000000000], density=0.7)
    )
    return [
        *rows,
        {},
        {50: 2.0},
        *([dict(zip(border.features, samples[0, 0].tolist()))] if samples is not None else []),
    ]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("local", [1, 2, 5, 32, 64])
def test_a_row_gets_the_value_of_its_nearest_samples(instruction_set, local):
    rng = np.random.default_rng([10, local])
    near_ties = total = 0
    for n in (0, 1, 2, 5, 7, 31, 32, 33, 40, 100):
        for d in (1, 2, 5, 7, 13):
            border, model = random_border(rng, [n], d, local)
            rows = rows_for(rng, border)
            expected, gaps = border_values(border, rows)
            clear = gaps[:, 0] > 1e-12  # at equal distances either sample may be first
            np.testing.assert_allclose(
                values_of(model, rows)[clear, 0],
                expected[clear, 0].astype(float),
                rtol=1e-9,
                atol=1e-9,
                err_msg=f"{n} {d}",
            )
            near_ties, total = near_ties + np.sum(~clear), total + len(clear)
    assert near_ties < 0.05 * total


def test_of_samples_at_the_same_distance_the_first_answers():
    samples = np.array([[[5, 5], [9, 9]], *[[[1, 0], [0, k]] for k in range(1, 40)]], EXTENDED)
    border = BorderFile({}, [1, 2], [0.25], 1, [samples])
    assert values_of(
        parse_model(border.text(HEADS[2]), "m"), [{2: 1.0}, {1: 1.0}, {1: 2.0, 2: -1.0}]
    ).ravel().tolist() == [1.25, 0.25, -0.75]
    border.local = 2  # the next sample is as far: neither has weight
    assert values_of(parse_model(border.text(HEADS[2]), "m"), [{2: 1.0}]).tolist() == [[1.25]]


@pytest.mark.parametrize("size", [1e150, 1e160, 1e200])
@pytest.mark.parametrize("local", [1, 3])
def test_huge_rows_get_a_value_of_the_samples_planes(size, local):
    rng = np.random.default_rng(11)
    for n, d in ((1, 1), (5, 2), (40, 5)):
        border, model = random_border(rng, [n], d, local)
        rows = [{i: size * float(v) for i, v in row.items()} for row in random_rows(rng, 12, border.features)] + [
            {50: size},
            {50: size, border.features[0]: 1.0},
        ]
        found = values_of(model, rows)[:, 0]
        assert np.all(np.isfinite(found))
        for row, value in zip(rows, found):
            z = np.array([row.get(i, 0.0) for i in border.features], EXTENDED)
            order = np.argsort(
                (border.samples[0][:, 0] ** 2).sum(axis=1) / 2 - border.samples[0][:, 0] @ z, kind="stable"
            )[:local]
            planes = (
                border.levels[0] + ((z - border.samples[0][order, 0]) * border.samples[0][order, 1]).sum(axis=1)
            ).astype(float)
            layer = 1e-9 * (1 + np.abs(planes).max())
            assert planes.min() - layer <= value <= planes.max() + layer


def test_values_depend_neither_on_threads_nor_on_chunks_nor_on_other_rows(best_instruction_set):
    rng = np.random.default_rng(12)
    for local in (1, 4):
        border, model = random_border(rng, [40, 0, 100], 5, local)
        rows = [row for _ in range(12) for row in rows_for(rng, border)]
        chunk, seen = parse(rows), set()
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            for size in (len(rows), 65, 64, 1):
                out, parts = _native.Decisions(3), []
                for at in range(0, len(rows), size):
                    model.decision_values(chunk.select(list(range(at, min(at + size, len(rows))))), out)
                    parts.append(np.array(out.value))
                seen.add(np.concatenate(parts).tobytes())
        assert len(seen) == 1


@pytest.mark.full
def test_probabilities_of_a_model_are_libsvms_sigmoid_of_the_border_decision(fastsvm, tmp_path):
    rng = np.random.default_rng(14)
    for classes in (2, 3):
        vectors = random_rows(rng, 60, [1, 2, 3])
        machine = random_machine(rng, "c_svc", "rbf", vectors, nr_class=classes, probability=True, gamma=0.5)
        (tmp_path / "m").write_bytes(machine.text())
        fastsvm("border", "-q", "m", "b")
        rows = random_rows(rng, 50, [1, 2, 3, 4])
        border = BorderFile.read((tmp_path / "b").read_bytes())
        values, gaps = border_values(border, rows)
        done = fastsvm("predict", "-q", "-b", 1, "-", "b", input=data_text(rows)).out.splitlines()
        assert done[0] == "labels " + " ".join(map(str, machine.label))
        found, clear = np.array([line.split() for line in done[1:]], float), (gaps > 1e-12).all(axis=1)
        expected = oracles.probabilities(machine, values)
        assert found[clear, 1:] == pytest.approx(expected[clear], abs=2e-6)
        assert np.all(found[clear, 0] == np.array(machine.label)[expected[clear].argmax(axis=1)])
