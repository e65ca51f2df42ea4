"""The lists of kernels of Python and of the native core agree."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models.kernel import KERNELS, OWN_KERNELS


def test_the_native_cores_kernels_are_pythons():
    assert KERNELS == _native.KERNELS
    assert set(OWN_KERNELS) <= set(KERNELS)


def _model(kernel, vectors):
    return _native.SvmModel(
        kernel=kernel, gamma=0.5, coef0=1.0, degree=3, regression=False, nr_sv=[0], rho=[], vectors=vectors
    )


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])
def test_each_name_stands_for_its_formula(kernel):
    """Another kernel's number in the core would give other values."""
    chunk = _native.parse(b"1 1:0.5 3:-2\n-1 2:1.5 3:0.25\n")[0]
    x, z = np.array([0.5, 0, -2]), np.array([0, 1.5, 0.25])
    dot, square = x @ z, (x - z) @ (x - z)
    expected = {
        "linear": dot,
        "polynomial": (0.5 * dot + 1) ** 3,
        "rbf": np.exp(-0.5 * square),
        "sigmoid": np.tanh(0.5 * dot + 1),
        "exponential": np.exp(-0.5 * np.sqrt(square)),
        "normalized_polynomial": (0.5 * dot + 1) ** 3 / np.sqrt((0.5 * x @ x + 1) ** 3 * (0.5 * z @ z + 1) ** 3),
    }
    values = _model(KERNELS.index(kernel), chunk).kernel_row(chunk, 0, chunk)
    assert values[1] == pytest.approx(expected[kernel], rel=1e-14)


@pytest.mark.parametrize("number", [-1, len(KERNELS)])
def test_a_number_beyond_the_list_is_refused(number):
    with pytest.raises(ValueError, match="no such kernel"):
        _model(number, _native.parse(b"")[0])
