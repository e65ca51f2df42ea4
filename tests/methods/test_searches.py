"""Each method's attempts follow from the results of those before: searches are driven by hand."""

import numpy as np
import pytest

from fastsvm_cli.comparisons import Budget
from fastsvm_cli.methods import methods
from fastsvm_cli.methods.method import FEW_TIMES, Setting
from fastsvm_cli.models import parse_model
from support.oracles import random_machine, random_rows


@pytest.fixture(scope="module")
def models():
    """Two classes of 20 features; three of 2 features; a polynomial kernel; a regression."""
    rng = np.random.default_rng(0)

    def model(d, svm_type="c_svc", kernel="rbf", **more):
        return parse_model(
            random_machine(rng, svm_type, kernel, random_rows(rng, 250, range(1, d + 1)), **more).text(), "m"
        )

    return {
        "wide": model(20, gamma=0.01),
        "flat": model(2, gamma=1.0, nr_class=3),
        "polynomial": model(5, kernel="polynomial", gamma=0.2, coef0=1.0, degree=2),
        "regression": model(5, "epsilon_svr", gamma=0.1),
    }


def attempts(method, model, answer, *, ratio=1.0, rows=10_000, budget=0.005, each_class=False, max_bytes=1e9):
    """Return the attempts' names; answer: their results by name, or one for all."""
    (its,) = (each for each in methods() if each.name == method)
    search = its.search(model, Setting(Budget(budget, each_class), ratio, rows, max_bytes))
    found, result = [], None
    while True:
        try:
            attempt = search.send(result)
        except StopIteration:
            return found
        found.append(attempt)
        result = answer(attempt) if callable(answer) else answer


def names(*given, **more):
    return [each.name for each in attempts(*given, **more)]


def test_a_degree_is_raised_while_it_misses_the_budget(models):
    wide = models["wide"]
    assert names("approx", wide, True) == ["approx --degree 2", "approx --degree 1"]
    third = names("approx", wide, lambda each: each.options.get("degree") == 3)
    assert third == [
        *(f"approx --degree {degree}" for degree in (2, 3)),
        *(f"approx --degree {degree} --certify" for degree in (3, 2)),
    ]
    none = names("approx", wide, False, ratio=100.0)
    centers = [f"approx --centers {k} --degree {p}" for k in (4, 16, 64) for p in (2, 3)]
    assert none == [*(f"approx --degree {degree}" for degree in (2, 3, 4)), *centers]
    assert "approx --center pair" in names("approx", models["flat"], False)
    assert names("approx", models["polynomial"], False) == ["approx"]
    assert not [name for name in names("approx", models["regression"], False) if "certify" in name]


def test_an_attempt_knows_its_limits(models):
    second, _ = attempts("approx", models["wide"], True)
    third = next(each for each in attempts("approx", models["wide"], False) if each.options.get("degree") == 3)
    assert second.gain > third.gain > 1 and third.seconds > second.seconds and second.skipped is None
    large = attempts("approx", models["wide"], False, max_bytes=5000)
    assert {each.options.get("degree"): each.skipped is None for each in large[:3]} == {2: True, 3: False, 4: False}
    far = attempts("approx", models["wide"], False, ratio=FEW_TIMES * 1.01)
    near = attempts("approx", models["wide"], False, ratio=FEW_TIMES)
    assert far[0].rank > near[0].rank
    assert all(each.exact == ("certify" in each.options) for each in near)


@pytest.mark.parametrize(
    "least, share_with", [(0.0, 0.25), (0.04, 0.5), (0.19, 1.0), (0.35, 0.25), (0.35, 1.0), (0.55, 0.5), (2.0, 1.0)]
)
def test_the_smallest_reduced_set_is_bisected_for(models, least, share_with):
    """least: share of the support vectors that is enough without the final descent; share_with: of that, with it."""

    def within(attempt):
        enough = least if "no_finish" in attempt.options else share_with * least
        return attempt.options["ratio"] >= enough

    found = attempts("reduce", models["wide"], within)
    quick = [each for each in found if "no_finish" in each.options]
    finished = [each for each in found if "no_finish" not in each.options]
    assert len(quick) <= 4 and len(finished) <= 4 and found == quick + finished
    passed = [each.options["ratio"] for each in quick if within(each)]
    if least > 0.6:
        assert not passed
    else:
        failed = [each.options["ratio"] for each in quick if not within(each)]
        assert min(passed) <= max(0.03, 1.7 * least) and (not failed or max(failed) < min(passed))
        assert all(each.options["ratio"] < min(passed) for each in finished)
    assert all(each.gain == pytest.approx(1 / each.options["ratio"]) for each in found)


def test_a_set_that_was_too_slow_to_try_leads_to_smaller_ones(models):
    ratios = [each.options["ratio"] for each in attempts("reduce", models["wide"], None)]
    assert ratios[:4] == sorted(ratios[:4], reverse=True) and len(ratios) <= 8


def test_a_cascade_needs_rows_and_a_budget(models):
    wide = models["wide"]
    (attempt,) = attempts("cascade", wide, False)
    assert attempt.calibrated == 0.005 and attempt.options == {"budget": 0.005}
    assert names("cascade", wide, True) == ["cascade --budget 0.005", "cascade --budget 0.003"]
    assert names("cascade", wide, True, rows=900) == ["cascade --budget 0.005"]
    assert attempts("cascade", wide, None, each_class=True)[0].options["each_class"] is True
    assert names("cascade", wide, None, rows=500) == names("cascade", wide, None, budget=0.0) == []
    assert names("cascade", wide, None, budget=1.0) == []


def test_borders_are_for_few_features_and_orders_come_late(models):
    assert names("border", models["wide"], None) == []
    flat = names("border", models["flat"], False)
    assert flat == ["border --samples 30", "border --samples 100"] and names("border", models["flat"], True) == flat[:1]
    orders = attempts("order", models["wide"], True)
    assert [each.name for each in orders] == ["order --method geometry", "order --method triangle"]
    assert orders[0].rank > max(each.rank for each in attempts("cascade", models["wide"], None))
