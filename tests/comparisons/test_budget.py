"""The rule of a budget, against scipy's beta distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from fastsvm_cli.comparisons import CLASS_TIMES, CONFIDENCE, Budget, Changed, bound
from support.profiles import calm


def changed(*classes):
    """classes: (rows, rows that differ)."""
    labels = np.repeat(np.arange(len(classes)), [rows for rows, _ in classes])
    differ = np.concatenate([np.arange(rows) < wrong for rows, wrong in classes])
    return Changed(labels, differ)


def upper(k, n, confidence=CONFIDENCE):
    return 1.0 if k >= n else beta.ppf(confidence, k + 1, n - k)


def lower(k, n, confidence):
    return 0.0 if not k else beta.ppf(1 - confidence, k, n - k + 1)


@calm(200)
@given(st.lists(st.tuples(st.integers(1, 3000), st.integers(0, 60)), min_size=1, max_size=5), st.floats(0, 0.2))
def test_the_rule_is_clopper_and_pearsons(classes, share):
    classes = [(rows, min(rows, wrong)) for rows, wrong in classes]
    found = changed(*classes)
    rows, wrong = (sum(each[at] for each in classes) for at in (0, 1))
    assert bound(wrong, rows) == pytest.approx(upper(wrong, rows), rel=1e-6)
    each_confidence = 1 - (1 - CONFIDENCE) / len(classes)
    of_all = not wrong or upper(wrong, rows) <= share
    no_class = all(lower(k, n, each_confidence) <= CLASS_TIMES * share for n, k in classes)
    assert Budget(share).permits(found) == (of_all and no_class)
    every = all(not k or upper(k, n) <= share for n, k in classes)
    assert Budget(share, each_class=True).permits(found) == (of_all and every)
    assert Budget(share).surely_exceeded(found) == (wrong > 0 and lower(wrong, rows, 0.999) > share)


def test_few_rows_permit_no_changed_label():
    assert Budget(0.005).permits(changed((100, 0))) and not Budget(0.005).permits(changed((100, 1)))
    assert Budget(0.0).permits(changed((9, 0))) and not Budget(0.0).permits(changed((10**6, 1)))
    assert not Budget(0.005).surely_exceeded(changed((300, 1))) and Budget(0.0).surely_exceeded(changed((300, 1)))


def test_a_class_counts_where_the_rows_show_it():
    small = changed((9000, 3), (86, 1))  # 1.2 % of a class
    assert Budget(0.005).permits(small) and Budget(0.005).class_over(small) is None
    assert Budget(0.005, each_class=True).class_over(small).label == 1
    large = changed((99000, 3), (1000, 50))  # 5 % of a class, 0.053 % of all
    assert not Budget(0.005).permits(large) and Budget(0.005).class_over(large).different == 50
    assert Budget(0.05).permits(large)
