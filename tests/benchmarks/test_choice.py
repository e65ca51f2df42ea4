"""fastsvm bench: the choice of a model, and changed labels by class."""

import json
import re

import numpy as np
import pytest
from scipy.stats import binomtest

from fastsvm_cli.benchmarks.bench_run import END_TO_END, Bench
from fastsvm_cli.benchmarks.conclusion import Candidate, conclusion, pick, within
from fastsvm_cli.benchmarks.timing import Timings
from fastsvm_cli.comparisons import Budget, Changed, lower_bound
from support.benching import by_name
from support.compiling import linked
from support.messages import cases
from support.oracles import Machine

QUIET, NOISY = (0.99, 1.0, 1.01), (0.8, 1.0, 1.25)


def taken(*rows):
    """rows: relative noise of the runs, then (name, share that changes, medians by each clock or None)."""
    noise, *rows = rows
    return pick(
        [
            Candidate(
                name,
                changed,
                [None if each is None else Timings([each * factor for factor in noise]) for each in medians],
                name == "exact",
            )
            for name, changed, *medians in rows
        ]
    )


EXACT = ("exact", 0.0, 1.0)
CHOICES = cases("choices")


@pytest.mark.parametrize("rows, expected", [each[1:] for each in CHOICES], ids=[each[0] for each in CHOICES])
def test_fewer_labels_win_where_times_do_not_differ(rows, expected):
    assert taken(QUIET, *rows) == expected


def test_noise_is_that_of_the_runs():
    assert taken(QUIET, EXACT, ("a", 0.004, 0.9)) == "a"
    assert taken(NOISY, EXACT, ("a", 0.004, 0.9)) == "exact"
    assert taken(NOISY, EXACT, ("a", 0.004, 0.3)) == "a"
    # Three equal runs among noisy ones are an accident; so is one run.
    lucky = [Candidate("a", 0.004, [Timings([0.9] * 3)], False), Candidate("exact", 0.0, [Timings([1.0] * 3)], True)]
    noisy = [Candidate(name, 0.0, [Timings([4.0, 5.0, 6.5])], False) for name in "bcdef"]
    assert pick(lucky) == "a" and pick([*lucky, *noisy]) == "exact"
    assert taken((1.0,), EXACT, ("a", 0.004, 0.98)) == "exact"


def test_labels_that_differ_by_class():
    labels = np.array([2.0] * 300 + [5.0] * 40 + [9.0])
    differ = np.zeros(341, bool)
    differ[[0, 300, 301]] = True
    found = Changed(labels, differ, [2.0, 5.0, 7.0, 9.0])
    assert [tuple(each) for each in found.classes] == [(2.0, 300, 1), (5.0, 40, 2), (7.0, 0, 0), (9.0, 1, 0)]
    assert (found.rows, found.different, found.share) == (341, 3, 3 / 341)
    assert found.worst.label == 5.0 and found.largest_share == 2 / 40
    assert found.within(0.05) and not found.within(0.0499)
    assert [each.label for each in found.too_small(0.01)] == [5.0, 7.0, 9.0]
    assert [each.label for each in found.too_small(1 / 40)] == [7.0, 9.0] and found.too_small(0.0) == []
    none = Changed(labels, np.zeros(341, bool))
    assert none.worst is None and none.within(0.0)


def above(limit):
    """A model of class 1 above this number, and class -1."""
    return Machine("c_svc", "linear", [{1: 1.0}, {}], np.array([[1.0], [-1.0]]), [limit], label=[1, -1], nr_sv=[1, 1])


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """One class is 3 % of the rows; another model gets a tenth of it wrong."""
    folder = tmp_path_factory.mktemp("rare")
    for name, rows in (("test", 4000), ("small", 1500)):
        (folder / name).write_text("".join(f"1 1:{row / rows:.6g}\n" for row in range(rows)))
    for name, limit in (("model", 0.97), ("rough", 0.973)):
        (folder / name).write_bytes(above(limit - 1e-5).text())
    return folder


@pytest.fixture
def rare_folder(rare, tmp_path):
    linked(rare, tmp_path)


LOST = "12 of the 120 labels of class 1 (10 %)"


@pytest.mark.full
def test_the_gate_holds_for_the_rows_of_each_class(bench, rare_folder):
    done = bench("--json --max-disagreement 1% test model rough", code=3)
    record = by_name(json.loads(done.out))["rough"]
    found = [(each["label"], each["rows"], each["labels_that_differ"]) for each in record["classes"]]
    assert found == [(-1, 3880, 0), (1, 120, 12)] and record["disagreement"] == 12 / 4000
    assert record["largest_class_disagreement"] == record["classes"][1]["disagreement"] == 0.1
    assert done.err == f"Error: rough: {LOST} differ, more than 1 % (--max-disagreement)\n"
    bench("-q --max-disagreement 10% test model rough")


@pytest.mark.full
def test_a_class_that_is_too_small_to_measure_is_named(bench, rare_folder):
    done = bench("--max-disagreement 1% small model model")
    assert done.err.startswith("Note: Too small to measure 1 %: class 1 (") and done.err.count("\n") == 1
    assert "class -1" not in done.err
    assert bench("-q --max-disagreement 1% small model model").err == ""


@pytest.mark.full
def test_the_budget_may_hold_for_the_rows_of_each_class(bench, rare_folder):
    done = bench("-q --all --budget 1% --each-class test model rough")
    assert re.match("Keep (the exact model|svm-predict): (no compiled model|nothing) within 1 % is ", done.out)
    assert "Too small" not in done.out


def test_the_model_that_a_class_spoils_is_named(rare):
    """The rough model is ten times as fast."""
    bench = Bench(str(rare / "test"), str(rare / "model"), folder=str(rare), threads=1, fastsvm=[], svm_predict=None)
    (exact,) = bench.add_model(str(rare / "model"), name="exact model", role="exact")
    (rough,) = bench.add_model(str(rare / "rough"), name="rough")
    exact.timed[END_TO_END].timings.seconds, rough.timed[END_TO_END].timings.seconds = [1.0] * 3, [0.1] * 3
    strict = Budget(0.01, each_class=True)
    assert within(bench, strict) is exact and within(bench, Budget(0.1)) is rough
    assert conclusion(bench, exact, strict).sentences[-1] == f"rough changes 0.3 % of all labels, but {LOST}."
    assert conclusion(bench, rough, Budget(0.1)).sentences[1:] == [f"Most of a class: {LOST}."]
    small = conclusion(bench, exact, Budget(0.001, each_class=True)).sentences[-1]
    assert small.startswith("Too small to measure 0.1 %: class 1 (120 rows). ")


def test_the_lower_bound_is_clopper_and_pearsons():
    assert lower_bound(0, 9, 0.95) == 0
    for k, n in ((1, 9), (3, 500), (500, 500)):
        assert lower_bound(k, n, 0.99) == pytest.approx(binomtest(k, n).proportion_ci(0.98, "exact").low, rel=1e-6)
