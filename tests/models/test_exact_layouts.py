"""Layouts of exact models: panels, column lists, folded and unfolded linear models, rows side by side."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import parse_model
from support import oracles
from support.evaluation import SIZES, decide, parse, reference
from support.in_process import both, written_lines
from support.messages import cases
from support.oracles import Machine, random_machine, random_rows
from zoo.traits import usual


def test_the_fast_exponential_is_right_from_one_to_nothing(instruction_set):
    """K = exp(-t) from t = 0 beyond underflow."""
    distances = np.sqrt(np.concatenate([[0.0], np.geomspace(1e-300, 800, 4000), np.linspace(690, 760, 500)]))
    machine = Machine("epsilon_svr", "rbf", [{1: 0.0}], np.array([[1.0]]), [0.0], gamma=1.0)
    rows = [{1: float(v)} for v in distances]
    exact = oracles.decision_values(machine, rows)[:, 0].astype(float)
    out = _native.Decisions(1)
    parse_model(machine.text(), "a.model").decision_values(parse(rows), out)
    assert out.reference_rows == 0
    # Distance and exponent are rounded as well: 3 u t.
    allowed = (7 + 4 * distances**2) * oracles.UNIT * exact + 4e-308
    assert np.all(np.abs(np.asarray(out.value)[:, 0] - exact) <= allowed)


@pytest.mark.full(few=2)
@pytest.mark.parametrize("kernel, svm_type, classes, density, offset", cases("rows side by side"))
def test_a_row_has_the_same_values_whatever_rows_are_beside_it(
    tmp_path, kernel, svm_type, classes, density, offset, instruction_set
):
    """Counts of rows about a panel and a block; LIBSVM's sums are LIBSVM's bit for bit."""
    rng = np.random.default_rng(13)
    indices = sorted(rng.choice(90, 40, replace=False).tolist())
    found = usual(
        rng, svm_type, kernel, classes=classes, vectors=50, indices=indices, rows=129, density=density, offset=offset
    )
    model, theirs = both(found.machine, tmp_path)
    rows = [*found.rows, {}, {2000000000: 1e-3}]
    chunk, whole = parse(rows), decide(model, parse(rows))
    sums = reference(model, chunk)
    np.testing.assert_array_equal(sums, theirs.values(rows))
    for count in (*SIZES[1:], 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129):
        for part in (slice(0, count), slice(len(rows) - count, None)):
            some = chunk.select(list(range(len(rows)))[part])
            np.testing.assert_array_equal(reference(model, some), sums[part])
            np.testing.assert_array_equal(decide(model, some), [each[part] for each in whole])


@pytest.mark.full
@pytest.mark.parametrize("density", [0.02, 0.2], ids=["column lists", "panels"])
def test_a_linear_model_of_many_pairs_is_not_folded_and_agrees(tmp_path, density):
    """ScalingToFold takes pairs x features numbers, at most 30 million."""
    rng = np.random.default_rng(15)
    classes, d = 300, 700
    vectors = random_rows(rng, classes, list(range(1, d + 1)), density=density)
    vectors[0] = dict.fromkeys(range(1, d + 1), 1.0)
    machine = random_machine(rng, "c_svc", "linear", vectors, nr_class=classes)
    machine.nr_sv = [1] * classes
    assert len(machine.pairs) * d > 3e7
    model, theirs = both(machine, tmp_path)
    rows = random_rows(rng, 8, list(range(1, d + 1)), density=density)
    values, radii = decide(model, parse(rows))
    assert np.all(np.abs(values - theirs.values(rows)) <= radii)
    norms = np.sqrt([sum(v * v for v in row.values()) for row in rows])[:, None]
    assert np.all(radii <= 1e-12 * np.abs(machine.coef).max() * np.sqrt(d) * norms)
    text, run_counts = written_lines(model, [parse(rows)])
    assert [float(line) for line in text.split()] == theirs.labels(rows) and run_counts.reference_rows == 0


def test_labels_alone_are_for_those_who_can_do_with_them():
    found = usual(np.random.default_rng(7), classes=4)
    model, chunk = parse_model(found.model, "m"), parse(found.rows)
    task, compiled = model.header.task(), compile_maclaurin(model, fingerprint="f")
    alone, predictions = _native.Decisions(model.pairs, False, True), _native.Predictions()
    model.decision_values(chunk, alone)
    for refused in (
        lambda: _native.Decisions(model.pairs, True, True),
        lambda: alone.map_values(0, 1, 0),
        lambda: model.fast_values(chunk, alone),
        lambda: model.reference_values(chunk, alone),
        lambda: compiled.decision_values(chunk, alone),
        lambda: _native.predict(task, alone, True, predictions),
    ):
        with pytest.raises(ValueError, match=r"labels alone have no (values|radii|probabilities)"):
            refused()
