"""Names of kernels stand for their formulas."""

import numpy as np
import pytest

from fastsvm_cli import _native


@pytest.mark.parametrize("kernel", [name for name in _native.KERNELS if name != "precomputed"])
def test_each_name_stands_for_its_formula(kernel):
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
    model = _native.SvmModel(_native.Kernel(kernel, 0.5, 1.0, 3), regression=False, nr_sv=[0], rho=[], vectors=chunk)
    values = model.kernel_row(chunk, 0, chunk)
    assert values[1] == pytest.approx(expected[kernel], rel=1e-14)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="no such kernel"):
        _native.Kernel("gaussian")
