"""predict --exact with a Maclaurin model; which rows radii decide."""

from itertools import combinations, product

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction.pipeline import Fallback, predict
from fastsvm_cli.text.read_rows import read_chunks
from support import in_process
from support.evaluation import decide, parse, reference
from support.expanding import certified, gaussian
from support.hostile import hostile_machine, hostile_options, hostile_rows
from support.oracles import Machine, data_text, random_machine, random_rows

pytestmark = pytest.mark.usefixtures("serial_libsvm")


# ---- --exact


def values_within(allowed, machine, rows, **options):
    """Run counts. Asserts that values of a regression are within `allowed` of svm-predict's."""
    exact, model = certified(machine, **options)
    text, run_counts = in_process.written_lines(model, [parse(rows)], exact=Fallback(lambda: exact, allowed))
    assert np.all(np.abs(np.array(text.split(), float) - reference(exact, parse(rows))[:, 0]) <= allowed)
    return run_counts


@pytest.mark.full(few=1)
@pytest.mark.parametrize("tolerance", [1.0, 0.0, 1e-12])
def test_exact_regression_values_are_within_the_tolerance(tolerance):
    rng = np.random.default_rng(18)
    for _ in range(25):
        machine, x = hostile_machine(rng)
        machine = Machine("nu_svr", "rbf", machine.vectors, machine.coef[:, :1], machine.rho[:1], gamma=machine.gamma)
        values_within(tolerance, machine, hostile_rows(rng, x), **hostile_options(rng))


def test_regression_within_a_tolerance_needs_no_exact_model_where_radii_are_smaller():
    rng = np.random.default_rng(31)
    machine, rows = gaussian(rng, "epsilon_svr", n=60, d=5, gamma=0.002)
    options = {"degree": 4, "single": False}
    radii = decide(certified(machine, **options)[1], parse(rows))[1]
    tolerance = float(np.median(radii))
    run_counts = values_within(tolerance, machine, rows, **options)
    assert run_counts.evaluated == np.sum(radii > tolerance) and 0 < run_counts.evaluated < len(rows)


@pytest.mark.full
def test_the_exact_model_is_made_only_when_a_row_needs_it_and_its_file_is_the_right_one_all_the_same(fastsvm, tmp_path):
    machine = Machine(
        "c_svc", "rbf", [{1: 1.0}, {1: -1.0}], np.array([[1.0], [-1.0]]), [0.0], gamma=0.1, label=[3, -4], nr_sv=[1, 1]
    )
    (tmp_path / "a.model").write_bytes(machine.text())
    (tmp_path / "clear").write_bytes(data_text([{1: 1.0}, {1: -0.7}]))
    (tmp_path / "open").write_bytes(data_text([{1: 1.0}, {2: 1.0}]))
    fastsvm("approx", "--certify", "a.model", "certified")
    certified = load_model(str(tmp_path / "certified"))
    lines, requested = [], []
    for rows in ("clear", "open"):
        exact = Fallback(lambda: requested.append(rows) or load_model(str(tmp_path / "a.model")))
        predict(certified, read_chunks(str(tmp_path / rows)), lines.append, path=rows, exact=exact)
    assert b"".join(lines).startswith(b"3\n-4\n3\n") and requested == ["open"]
    (tmp_path / "a.model").write_bytes(b"\0 not a model")
    for rows in ("clear", "open"):
        assert fastsvm("predict", "-q", "--exact", "a.model", rows, "certified", code=1).out == ""


def test_radii_asked_of_a_model_without_certificates_are_an_error_and_no_crash():
    machine = random_machine(
        np.random.default_rng(0), "c_svc", "rbf", random_rows(np.random.default_rng(1), 5, [1, 2]), gamma=0.5
    )
    model = compile_maclaurin(parse_model(machine.text(), "m"), fingerprint="f")
    with pytest.raises(ValueError, match="radii requested from a model without certificates"):
        model.decision_values(_native.parse(b"1 1:1\n")[0], _native.Decisions(1, True))


# ---- decided rows


def winner(signs, classes):
    votes = [0] * classes
    for (i, j), first in zip(combinations(range(classes), 2), signs):
        votes[i if first else j] += 1
    return votes.index(max(votes))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_a_row_is_decided_only_where_every_consistent_sign_pattern_has_one_winner(classes):
    rng = np.random.default_rng(13)
    pairs, rows = classes * (classes - 1) // 2, 600
    value = rng.standard_normal((rows, pairs))
    radius = rng.exponential(rng.choice([0.05, 0.5], (rows, 1)), (rows, pairs))
    value[:, 0][::7], radius[:, 0][::7] = -0.5, 0.5  # exactly -radius: f <= 0 is proven
    value[:, 0][1::7], radius[:, 0][1::7] = 0.5, 0.5  # exactly radius: f > 0 is not proven
    value[2::7, 0], radius[2::7, 0] = 0.0, 0.0  # f = 0 gives the second class
    value[3::7, 0], radius[3::7, 0] = 1.0, np.inf
    out = _native.Decisions(pairs, True)
    out.resize(rows)
    np.asarray(out.value)[:], np.asarray(out.radius)[:] = value, radius
    open_rows = set(_native.undecided_rows(_native.Task(0, list(range(classes)), [], [], []), out))
    agree = 0
    for row in range(rows):
        possible = [[True] if v > r else [False] if v <= -r else [True, False] for v, r in zip(value[row], radius[row])]
        winners = {winner(signs, classes) for signs in product(*possible)}
        if row not in open_rows:
            assert len(winners) == 1
        # Rule: the wins proven for one class against the wins still possible for the others.
        low, high = np.zeros(classes, int), np.zeros(classes, int)
        for (i, j), p in zip(combinations(range(classes), 2), possible):
            low[i], low[j] = low[i] + (p == [True]), low[j] + (p == [False])
            high[i], high[j] = high[i] + (True in p), high[j] + (False in p)
        rule = any(
            all(low[w] > high[c] or (low[w] == high[c] and w < c) for c in range(classes) if c != w)
            for w in range(classes)
        )
        assert (row not in open_rows) == rule
        agree += rule == (len(winners) == 1)
    assert agree == rows if classes == 2 else agree > 0.8 * rows


def test_two_classes_probabilities_are_decided_only_where_no_value_in_the_interval_prints_otherwise():
    rng = np.random.default_rng(14)
    a, b, rows = -1.7, 0.2, 4000
    value = rng.uniform(-12, 12, rows)
    value[:500] = -b / a + rng.choice([-1, 1], 500) * 10 ** rng.uniform(-17, -3, 500)
    radius = 10 ** rng.uniform(-16, -4, rows)
    out = _native.Decisions(1, True)
    out.resize(rows)
    np.asarray(out.value)[:, 0], np.asarray(out.radius)[:, 0] = value, radius
    task = _native.Task(0, [7, 9], [a], [b], [])
    open_rows = set(_native.undecided_rows(task, out, True, 0.0))
    assert 0.05 * rows < len(open_rows) < 0.9 * rows

    def lines(values):
        points, predictions = _native.Decisions(1), _native.Predictions()
        points.resize(rows)
        np.asarray(points.value)[:, 0] = values
        _native.predict(task, points, True, predictions)
        return _native.format_lines(task, predictions, None).splitlines()

    middle = lines(value)
    for share in np.linspace(-1, 1, 21):
        for row, (here, there) in enumerate(zip(middle, lines(value + share * radius))):
            assert row in open_rows or here == there, (value[row], radius[row], here, there)
