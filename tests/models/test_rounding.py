"""svm-predict's rounding: one bound (B5 of PROOFS.md) for all proofs about its numbers."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.base import ExactModel, Precision

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


def one_pair(rng, n, d, gamma, size):
    """Two classes of n vectors in all, with nearly cancelling coefficients of about `size`; 40 rows."""
    half = n // 2
    weights = size * rng.random(n) ** rng.integers(1, 4)
    weights[half:] *= -weights[:half].sum() / weights[half:].sum()
    vectors = rng.normal(size=(n, d)) * rng.choice([1, 1e-3, 30], size=d) + rng.choice([0, 3])
    rows = vectors[rng.integers(n, size=40)] + rng.normal(size=(40, d)) * rng.choice([0, 1e-9, 0.1, 3])
    text = f"svm_type c_svc\nkernel_type rbf\ngamma {gamma!r}\nnr_class 2\ntotal_sv {n}\nrho 0\nlabel 1 -1\n"
    text += f"nr_sv {half} {n - half}\nSV\n"
    entries = [" ".join(f"{j}:{x!r}" for j, x in enumerate(v.tolist(), 1)) for v in [*vectors, *rows]]
    text += "".join(f"{a!r} {v}\n" for a, v in zip(weights.tolist(), entries))
    return parse_model(text.encode(), "m"), _native.parse("".join(f"0 {v}\n" for v in entries[n:]).encode())[0]


@pytest.mark.full
def test_values_of_cancelling_coefficients_are_within_their_radius():
    """B37: a radius by all coefficients would leave rows open."""
    rng = np.random.default_rng(37)
    decided = 0
    for _ in range(150):
        n, d = int(rng.choice([2, 3, 33, 64, 200, 700])), int(rng.integers(1, 25))
        model, chunk = one_pair(rng, n, d, float(10 ** rng.uniform(-6, 1)), float(10 ** rng.uniform(-2, 9)))
        ours, theirs = _native.Decisions(1, True), _native.Decisions(1)
        model.decision_values(chunk, ours, Precision.values())
        model.reference_values(chunk, theirs)
        value, radius = np.asarray(ours.value)[:, 0], np.asarray(ours.radius)[:, 0]
        assert (abs(value - np.asarray(theirs.value)[:, 0]) <= radius).all()
        by_coefficients = 2.1 * n * 2.0**-53 * abs(np.asarray(model.vectors.leading)).sum()
        decided += ((radius > 0) & (radius < by_coefficients / 3)).sum()
    assert decided > 300
