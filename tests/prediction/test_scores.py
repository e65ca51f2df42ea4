"""Numbers of svm-predict's summary that are not ordinary quotients."""

from support.processes import outcome


def test_a_correlation_over_minus_zero_is_svm_predicts(svm_predict, fastsvm, tmp_path):
    """Equal predictions and equal labels: rounding makes their variances negative and 0."""
    (tmp_path / "model").write_text(
        "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho -0.5926409106271656\nSV\n0 1:1\n"
    )
    (tmp_path / "rows").write_text("0.13042279608514273 1:1\n" * 3)
    theirs = outcome([svm_predict, "rows", "model", "out"], cwd=tmp_path).stdout
    assert fastsvm("predict", "rows", "model", "out").out == theirs
    assert "coefficient = -inf (regression)" in theirs
