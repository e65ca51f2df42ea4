"""Sums of a regression that do not depend on how rows were cut, and are rounded once."""

import json
from fractions import Fraction
from math import inf, isnan, nan

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.models import load_model
from fastsvm_cli.prediction.answers import Answerer, Request
from fastsvm_cli.prediction.exact_sums import PartTally, Totals
from fastsvm_cli.text.data import read_chunks
from support.profiles import calm
from support.training import train_on

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def answerer(tmp_path_factory):
    """Of a regression with one support vector, whose value is known for every row."""
    path = tmp_path_factory.mktemp("sums") / "model"
    path.write_text("svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n")
    return Answerer(Request(load_model(str(path))))


def tallies(answerer, folder, pairs, cuts):
    """Of rows whose labels and predictions these pairs are (nearly), cut into parts."""
    path = folder / "rows"
    path.write_text("".join(f"{label!r} 1:{value!r}\n" for label, value in pairs))
    (chunk,) = list(read_chunks(str(path))) if pairs else ([],)
    edges, out, seen = sorted({0, len(pairs), *(cut % (len(pairs) + 1) for cut in cuts)}), [], []
    for first, last in zip(edges, edges[1:]):
        tally = PartTally(True, True)
        answer = answerer.answer(chunk.slice(first, last))
        tally.add(answer)
        seen += zip(answer.predictions.label, (label for (label,) in answer.chunk.leading.tolist()))
        out.append(json.loads(json.dumps(tally.values())))
    return out, [(float(p), float(t)) for p, t in seen]


@calm()
@given(pairs=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12), cuts=st.lists(st.integers(0, 12), max_size=4))
@example(pairs=[(1e308, -1e308)], cuts=[])
@example(pairs=[(5e-324, 1.0), (2.5e-308, 1e-200)], cuts=[1])
@example(pairs=[(0.1, 0.1)] * 3, cuts=[1])
def test_sums_are_exact_whatever_the_parts(pairs, cuts, answerer, tmp_path_factory):
    values, seen = tallies(answerer, tmp_path_factory.mktemp("rows"), pairs, cuts)
    totals = Totals(True)
    for each in values:
        totals.add_values(each)
    error, correlation = totals.score.regression()
    n = totals.score.total
    assert n == totals.rows == len(pairs)
    squares = [(p - t) * (p - t) for p, t in seen]
    if not n:
        assert isnan(error) and isnan(correlation)
        return
    products = [product for p, t in seen for product in (p * p, t * t, p * t)]
    if any(square == inf for square in squares) or any(abs(product) == inf for product in products):
        assert error == inf or error == _rounded(sum(map(Fraction, squares)) / n)
        return
    assert error == _rounded(sum(map(Fraction, squares)) / n)
    if any(a and b and abs(a * b) < 1e-290 for pair in seen for a in pair for b in pair):
        return  # the second half of such a product is below the least double
    p, t = [Fraction(p) for p, _ in seen], [Fraction(t) for _, t in seen]
    covariance = n * sum(a * b for a, b in zip(p, t)) - sum(p) * sum(t)
    spread = (n * sum(a * a for a in p) - sum(p) ** 2) * (n * sum(b * b for b in t) - sum(t) ** 2)
    if spread:
        assert correlation == _rounded(covariance**2 / spread)
    else:
        assert isnan(correlation)


def _rounded(value):
    try:
        return float(value)
    except OverflowError:
        return inf


def test_what_is_not_finite_is_told(answerer, tmp_path):
    values, _ = tallies(answerer, tmp_path, [(1e200, -1e200), (1.0, 2.0)], [])
    totals = Totals(True)
    totals.add_values(values[0])
    assert values[0]["not_finite"]["error"] == "inf" and totals.score.regression()[0] == inf


def test_one_run_prints_the_same_digits(tmp_path):
    """svm-predict's own sums, in its order, on real regressions: six digits of each are the same."""
    from fastsvm_cli.prediction.pipeline import Tally, predict
    from fastsvm_cli.prediction.scores import summary_lines
    from support.places import DATA

    for options in ("-s 3 -g 0.5", "-s 4 -g 2", "-s 3 -t 0", "-s 3 -t 1 -d 3", "-s 3 -t 3 -g 0.01"):
        model = load_model(str(train_on(tmp_path / "model", "waves.train", options, 200)))
        part, serial = PartTally(True, True), Tally(True)
        for tally in (part, serial):
            path = str(DATA / "waves.train")
            predict(model, read_chunks(path), lambda text: None, path=path, tally=tally)
        totals = Totals(True)
        totals.add_values(part.values())
        assert summary_lines(model.header, totals.score) == summary_lines(model.header, serial.score)


def test_the_core_adds_without_rounding():
    sums = _native.RegressionSums()
    assert [int.from_bytes(each, "little", signed=True) for each in sums.digits()] == [0] * 6
    assert sums.special() == [0.0] * 6 and nan not in sums.special()
