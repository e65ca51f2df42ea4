"""Numbers of svm-predict's summary that are not ordinary quotients."""

import subprocess
from math import inf, isnan, nan

import pytest

from fastsvm_cli.prediction.scores import quotient

TINY = 5e-324


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1.0, 4.0, 0.25),
        (-1.0, 4.0, -0.25),
        (0.0, 5.0, 0.0),
        (0.0, 0.0, nan),
        (-0.0, 0.0, nan),
        (0.0, -0.0, nan),
        (nan, 0.0, nan),
        (TINY, 0.0, inf),
        (-TINY, 0.0, -inf),
        (1.0, -0.0, -inf),
        (-1.0, -0.0, inf),
        (inf, 0.0, inf),
        (inf, inf, nan),
        (1, 0, inf),
        (0, 0, nan),
    ],
)
def test_quotients_are_cs(a, b, expected):
    found = quotient(a, b)
    assert isnan(found) if isnan(expected) else found == expected


def test_a_correlation_over_minus_zero_is_svm_predicts(svm_predict, fastsvm, tmp_path):
    """Equal predictions and equal labels: rounding makes their variances negative and 0."""
    (tmp_path / "model").write_text(
        "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho -0.5926409106271656\nSV\n0 1:1\n"
    )
    (tmp_path / "rows").write_text("0.13042279608514273 1:1\n" * 3)
    theirs = subprocess.run([svm_predict, "rows", "model", "out"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert fastsvm("predict", "rows", "model", "out").out == theirs
    assert "coefficient = -inf (regression)" in theirs
