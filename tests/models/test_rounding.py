"""svm-predict's rounding: one bound (B5 of PROOFS.md) for all proofs about its numbers."""

from fastsvm_cli import _native
from fastsvm_cli.models import ExactModel, parse_model

HEAD = "svm_type epsilon_svr\nkernel_type rbf\ngamma 0\nnr_class 2\ntotal_sv {}\nrho -4503599627370496\nSV\n"


def reduced_set(model, origin):
    return ExactModel(_native.LibsvmFile(model.header, model.vectors, fingerprint="0" * 64, origin=origin))


def test_radii_of_reduced_sets_cover_the_subtraction_of_a_large_rho():
    """With |rho| = 2^52, sums of 1/2 and slightly more give whole numbers 1 apart."""
    exact = parse_model((HEAD.format(2) + "0.5 1:1\n5e-17 1:1\n").encode(), "m")
    less = parse_model((HEAD.format(1) + "0.5000000000000001 1:1\n").encode(), "r")
    reduced = reduced_set(less, _native.Origin([1e-16], [0.6], count=2, longest=1))
    chunk = _native.parse(b"0 1:1\n")[0]
    ours, theirs = _native.Decisions(1, True), _native.Decisions(1)
    reduced.reference_values(chunk, ours)
    exact.reference_values(chunk, theirs)
    difference = abs(ours.value[0, 0] - theirs.value[0, 0])
    assert difference == 1
    assert difference <= ours.radius[0, 0] < 10


def test_a_kernel_that_no_number_bounds_has_no_radius():
    """With gamma below 0 kernel values are unbounded, whatever the file says."""
    model = parse_model((HEAD.format(1) + "0.5 1:1\n").encode().replace(b"gamma 0", b"gamma -0.5"), "r")
    assert model.header.gamma < 0
    reduced = reduced_set(model, _native.Origin([0.0], [1.0], count=1, longest=1))
    out = _native.Decisions(1, True)
    reduced.decision_values(_native.parse(b"0 1:1\n")[0], out)
    assert out.radius[0, 0] == float("inf")
