"""predict --exact with a Maclaurin model; which rows radii decide."""

from itertools import combinations, product

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction import Fallback
from support import in_process
from support.bordering import two_sided
from support.evaluation import classification, decide, decisions_of, parse, printed_for, reference
from support.expanding import certified, gaussian
from support.model_files import compiled_text

# ---- --exact


def test_regression_within_a_tolerance_needs_no_exact_model_where_radii_are_smaller():
    rng = np.random.default_rng(31)
    machine, rows = gaussian(rng, "epsilon_svr", n=60, d=5, gamma=0.002)
    exact, model = certified(machine, degree=4, single=False)
    chunk, radii = parse(rows), decide(model, parse(rows))[1]
    tolerance = float(np.median(radii))
    text, counts = in_process.written_lines(model, [chunk], exact=Fallback(lambda: exact, tolerance))
    assert np.all(np.abs(np.array(text.split(), float) - reference(exact, chunk)[:, 0]) <= tolerance)
    assert counts.evaluated == np.sum(radii > tolerance) and 0 < counts.evaluated < len(rows)


def test_the_exact_model_is_made_only_when_a_row_needs_it():
    exact, model = certified(two_sided([{1: 1.0}, {1: -1.0}], 1.0, 0.1))
    requested = []
    for rows in ([{1: 1.0}, {1: -0.7}], [{1: 1.0}, {2: 1.0}]):
        fallback = Fallback(lambda rows=rows: requested.append(rows) or exact)
        text, _ = in_process.written_lines(model, [parse(rows)], exact=fallback)
        assert text == b"1\n-1\n"
    assert requested == [rows]


def test_radii_asked_of_a_model_without_certificates_are_an_error_and_no_crash():
    with pytest.raises(ValueError, match="radii requested from a model without certificates"):
        decide(parse_model(compiled_text(), "m"), parse([{1: 1.0}]))


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
    open_rows = set(_native.undecided_rows(classification(range(classes)), decisions_of(value, radius)))
    agree = 0
    for row in range(rows):
        possible = [[True] if v > r else [False] if v <= -r else [True, False] for v, r in zip(value[row], radius[row])]
        winners = {winner(signs, classes) for signs in product(*possible)}
        assert row in open_rows or len(winners) == 1
        agree += (row in open_rows) == (len(winners) > 1)
    assert agree == rows if classes == 2 else agree > 0.8 * rows


def test_two_classes_probabilities_are_decided_only_where_no_value_in_the_interval_prints_otherwise():
    rng = np.random.default_rng(14)
    a, b, rows = -1.7, 0.2, 4000
    value = rng.uniform(-12, 12, (rows, 1))
    value[:500] = -b / a + rng.choice([-1, 1], (500, 1)) * 10 ** rng.uniform(-17, -3, (500, 1))
    radius = 10 ** rng.uniform(-16, -4, (rows, 1))
    task = classification([7, 9], [a], [b])
    open_rows = set(_native.undecided_rows(task, decisions_of(value, radius), True, 0.0))
    assert 0.05 * rows < len(open_rows) < 0.9 * rows
    middle = printed_for(task, value)
    for share in np.linspace(-1, 1, 21):
        for row, (here, there) in enumerate(zip(middle, printed_for(task, value + share * radius))):
            assert row in open_rows or here == there, (value[row], radius[row], here, there)
