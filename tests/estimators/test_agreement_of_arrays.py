"""Labels that a compiled model changes, and the choice of a model that changes few."""

import pickle

import numpy as np
import pytest

import fastsvm_cli
from fastsvm_cli.benchmarks import timing
from fastsvm_cli.benchmarks.quality import Agreement
from fastsvm_cli.comparisons import Budget, interval_95
from support.fitting import fitted, rows


def test_labels_that_differ(svc):
    X, _ = rows(seed=5, n=300)
    fast = fastsvm_cli.compile(svc, "approx", degree=1, certify=True)
    expected = int(np.sum(fast.predict(X) != svc.predict(X)))
    for seen in (fast.agreement(X), fast.agreement(X, svc)):
        assert (seen.rows, seen.different, seen.share) == (300, expected, expected / 300) and expected
        assert seen.interval == interval_95(expected, 300)
        assert seen.proven == fast.proven(X).sum()
        assert str(expected) in repr(seen) and "proven" in repr(seen)
    # a proven label never differs
    assert not np.any(fast.proven(X) & (fast.predict(X) != svc.predict(X)))
    assert fastsvm_cli.compile(svc, "approx").agreement(X).proven is None


def test_values_that_are_all_equal_differ_by_a_share_of_their_size():
    """Rounding of a constant is not a disagreement."""
    same, off = np.full(5, 3.0), np.full(5, 3.0 + 4e-16)
    assert Agreement(same, same, True, None).share == 0
    assert 0 < Agreement(off, same, True, None).share < 1e-9
    assert Agreement(same + 1.0, same, True, None).share > 1e5
    assert Agreement(same, np.zeros(5), True, None).share == np.inf


def test_the_interval_is_wilsons():
    for different, n in ((0, 10), (3, 10), (10, 10), (7, 300), (0, 11), (0, 8000), (37, 37)):
        low, high = interval_95(different, n)
        assert (low == 0) == (different == 0) and (high == 1) == (different == n)
        assert 0 <= low <= different / n <= high <= 1 + 1e-12
        # At both ends the normal test just accepts the observation.
        for end in (low, high):
            if 0 < end < 1:
                assert abs(different / n - end) == pytest.approx(1.96 * np.sqrt(end * (1 - end) / n), rel=1e-9)
    assert interval_95(0, 0) == (0, 1)


def test_values_of_a_regression():
    X, y = rows()
    svr = fitted("SVR", X, y, gamma=0.05)
    fast = fastsvm_cli.compile(svr, "approx", degree=2)
    seen = fast.agreement(X)
    change = fast.predict(X) - svr.predict(X)
    assert seen.difference == pytest.approx(np.sqrt(np.mean(change**2)), rel=1e-6)
    assert seen.share == pytest.approx(seen.difference / np.std(svr.predict(X)))
    assert seen.largest == pytest.approx(np.max(abs(change)), rel=1e-6)
    assert seen.largest_share == pytest.approx(seen.largest / seen.deviation) and seen.share < seen.largest_share
    assert seen.interval is None and seen.proven is None
    assert f"at most {seen.largest:.3g}, {seen.largest_share:.3g} standard deviations" in repr(seen)


def test_what_was_pickled_agrees_with_a_given_estimator(svc):
    X, _ = rows()
    seen = pickle.loads(pickle.dumps(fastsvm_cli.compile(svc, "order"))).agreement(X, svc)
    assert (seen.rows, seen.different, seen.proven) == (len(X), 0, len(X))


@pytest.fixture
def costs(monkeypatch):
    """Set seconds a row: costs(of), of an Entrant."""
    return lambda of: monkeypatch.setattr(timing, "run_once", lambda runner, *given: of(runner))


def degree_of(entrant):
    return 9 if entrant.attempt is None else entrant.attempt.options.get("degree", 8)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("budget, degree", [(0.0, 3), (0.02, 3), (1.0, 2)])
def test_the_fastest_within_the_budget_is_taken(svc, costs, budget, degree):
    X, _ = rows(n=300)
    costs(lambda entrant: 1e-3 * 2.0 ** degree_of(entrant))
    fast = fastsvm_cli.compile(svc, "auto", X=X, budget=budget)
    tried, inside = fast.attempts_, [each for each in fast.attempts_ if each["within"]]
    assert Budget(budget).permits(fast.agreement(X, svc).changed) and fast.options["degree"] == degree
    assert inside[0]["times_exact"] == max(each["times_exact"] for each in inside if each["times_exact"])
    assert f"degree={degree}" in inside[0]["name"]
    assert (fastsvm_cli.compile(svc, **fast.options).predict(X) == fast.predict(X)).all()
    # The attempts are a table with a reason.
    lines = repr(tried).splitlines()
    assert lines[0] == tried.reason and lines[0].startswith("Fastest of ") and len(lines) == 2 + len(tried)
    assert f"approx, degree={degree}: {2 ** (9 - degree)} times" in lines[0]
    assert "exact" in [each["name"] for each in tried]
    assert tried.not_tried == [] and "time_limit" not in repr(tried)


def test_the_exact_model_is_kept_where_nothing_is_faster(svc, costs):
    X, _ = rows()
    for slower in (1.0, 3.0):
        costs(lambda entrant: 1e-3 * (slower if entrant.attempt else 1.0))
        fast = fastsvm_cli.compile(svc, "auto", X=X, budget=1.0)
        assert fast.options == {"method": "exact"} and fast.attempts_.reason.startswith("Keep the exact model: of ")


def test_attempts_without_time_are_named(svc, costs):
    X, _ = rows()
    costs(lambda entrant: 1e-9)  # ten times a million rows are 0.01 s
    tried = fastsvm_cli.compile(svc, "auto", X=X, budget=1.0).attempts_
    assert "order, method='triangle'" not in tried.not_tried and "triangle" in tried.not_tried
    assert f"Not tried, for lack of time (time_limit): {', '.join(tried.not_tried)}" in repr(tried)


def test_a_regression_is_chosen_by_its_values(costs):
    X, y = rows()
    svr = fitted("SVR", X, y, gamma=0.05)
    costs(lambda entrant: 1e-3 * 2.0 ** degree_of(entrant))
    fast = fastsvm_cli.compile(svr, "auto", X=X, budget=0.01)
    assert fast.agreement(X, svr).share <= 0.01
    tried = {each["name"]: each for each in fast.attempts_}
    assert tried["approx, degree=2"]["upper"] is None and "its values differ by" in fast.attempts_.reason
