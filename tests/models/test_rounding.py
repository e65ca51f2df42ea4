"""svm-predict's own rounding: one bound of it (B5 of bounds.py) for all that is proven about its numbers."""

import pytest

from fastsvm_cli import _native
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.reduced_set import Origin, ReducedModel

HEAD = "svm_type epsilon_svr\nkernel_type rbf\ngamma 0\nnr_class 2\ntotal_sv {}\nrho -4503599627370496\nSV\n"


def test_radii_of_reduced_sets_cover_the_subtraction_of_a_large_rho():
    """Where |rho| is 2^52, sums of 1/2 and of a little more give whole numbers that are 1 apart."""
    exact = ExactModel.parse((HEAD.format(2) + "0.5 1:1\n5e-17 1:1\n").encode(), "m")
    less = ExactModel.parse((HEAD.format(1) + "0.5000000000000001 1:1\n").encode(), "r")
    origin = Origin("0" * 64, [1e-16], [0.6], count=2, longest=1)
    reduced = ReducedModel(less.header, less.vectors, "r", origin)
    chunk = _native.parse(b"0 1:1\n")[0]
    ours, theirs = _native.Decisions(1, True), _native.Decisions(1)
    reduced.reference_values(chunk, ours)
    exact.reference_values(chunk, theirs)
    difference = abs(ours.value[0, 0] - theirs.value[0, 0])
    assert difference == 1
    assert difference <= ours.radius[0, 0] < 10


def test_a_kernel_that_no_number_bounds_has_no_radius():
    """With gamma below 0 a kernel value may be anything: nothing is proven, whatever a model's file says."""
    out = _native.Decisions(1, True)
    out.resize(1)
    _native.widen(out, _native.parse(b"0 1:1\n")[0], -0.5, [0.0], [1.0], [0.0], 1, 1)
    assert out.radius[0, 0] == float("inf")


@pytest.mark.parametrize("kernel", [-1, 7])
def test_rounding_is_that_of_a_known_kernel(kernel):
    with pytest.raises(ValueError, match="no such kernel"):
        _native.Maclaurin([1], True, 1.0, 2, [0.0]).set_rounding(kernel, 1.0, 0.0, 3, 1)
