"""Blocks of kernel values: every kernel, dense and sparse, by every path of the core."""

import sys

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.feature_space import KernelMatrix
from support.oracles import Machine, kernel_matrix
from support.processes import outcome

pytestmark = pytest.mark.usefixtures("best_instruction_set")

KERNELS = {
    "linear": Kernel("linear"),
    "polynomial": Kernel("polynomial", 0.5, 1.0, 3),
    "rbf": Kernel("rbf", 0.3),
    "sigmoid": Kernel("sigmoid", 0.2, -0.1),
    "exponential": Kernel("exponential", 0.7),
    "normalized_polynomial": Kernel("normalized_polynomial", 0.5, 1.0, 2),
}


def rows(rng, n, d, density):
    x = rng.standard_normal((n, d)) * (rng.random((n, d)) < density)
    if n > 2:
        x[n // 2] = 0.0
    return x


def oracle(kernel, z, x):
    """(K(z, x), the size of its terms), (m, n) each, in extended precision."""

    def of(z, x):
        machine = Machine("c_svc", kernel.type, [], None, [], kernel.gamma, kernel.coef0, kernel.degree)
        return kernel_matrix(machine, *([dict(enumerate(row)) for row in each.tolist()] for each in (z, x)))

    if kernel.type in ("linear", "polynomial"):
        return of(z, x), of(np.abs(z), np.abs(x))
    squares = (z**2).sum(axis=1)[:, None] + (x**2).sum(axis=1)
    return of(z, x), 1 + squares * (kernel.type in ("rbf", "sigmoid"))


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name", KERNELS)
def test_values_are_the_kernels_whatever_is_dense_or_sparse(name, instruction_set):
    kernel, rng = KERNELS[name], np.random.default_rng(61)
    for n, d, density in [(1, 1, 1.0), (33, 7, 1.0), (70, 100, 0.8), (70, 100, 0.1), (65, 150, 0.02)]:
        x = rows(rng, n, d, density)
        for m, filled in [(1, 1.0), (3, 0.1), (40, 1.0), (101, 0.02)]:
            z = rows(rng, m, d, filled)
            true, size = oracle(kernel, z, x)
            # Distances of sparse vectors come from inner products, and the root loses half of the digits.
            allowed = 1e-7 if name == "exponential" else 4e-15 * (d + 8) * size
            values = []
            for of_x in (x, scipy.sparse.csr_matrix(x)):
                matrix = KernelMatrix(kernel, of_x)
                for of_z in (z, scipy.sparse.csr_matrix(z)):
                    values.append(matrix(of_z))
                    assert values[-1].shape == (m, n)
                    assert np.all(np.abs(values[-1] - true) <= allowed)
            assert all(np.array_equal(values[0], each) for each in values)  # explicit zeros do not count
            weights = rng.standard_normal((n, 40))
            sums, sizes = true @ weights, (np.abs(true) + allowed) @ np.abs(weights)
            some = np.max(allowed)
            assert np.all(
                np.abs(KernelMatrix(kernel, x).times(z, weights) - sums)
                <= some * np.abs(weights).sum(axis=0) + 1e-14 * (n + 8) * sizes
            )


def test_values_with_vectors_of_its_own_and_with_themselves():
    rng = np.random.default_rng(62)
    for n, d, density in [(50, 6, 1.0), (50, 200, 0.02)]:
        for name, kernel in KERNELS.items():
            x = rows(rng, n, d, density)
            matrix, which = KernelMatrix(kernel, scipy.sparse.csr_matrix(x)), [3, 0, 3, 49]
            np.testing.assert_array_equal(matrix.of_vectors(which), matrix(x[which]))
            if name != "sigmoid":  # not semidefinite: it has no self kernel
                true = np.diag(oracle(kernel, x, x)[0]).astype(float)
                np.testing.assert_allclose(matrix.diagonal, true, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("density, filled", [(1.0, 1.0), (0.1, 1.0), (0.02, 0.02)])
def test_values_are_the_same_whatever_the_number_of_threads(density, filled):
    rng = np.random.default_rng(63)
    x, z, weights = rows(rng, 3000, 120, density), rows(rng, 200, 120, filled), rng.standard_normal((3000, 35))
    found = []
    for threads in (1, 2, 5):
        _native.set_threads(threads)
        matrix = KernelMatrix(KERNELS["rbf"], x)
        found.append((matrix(z), matrix.times(z, weights)))
    for values, sums in found[1:]:
        np.testing.assert_array_equal(values, found[0][0])
        np.testing.assert_array_equal(sums, found[0][1])


@pytest.mark.full
def test_products_with_weights_keep_no_matrix_of_sparse_rows_either():
    """3000 rows and 20,000 vectors: a matrix of 480 MB."""
    code = (
        "import resource\n"
        "import numpy as np, scipy.sparse\n"
        "from fastsvm_cli import _native\n"
        "from fastsvm_cli.methods.feature_space import KernelMatrix\n"
        "from fastsvm_cli._native import Kernel\n"
        "x = scipy.sparse.random(20_000, 300, 0.01, format='csr', random_state=1)\n"
        "z = np.zeros((3000, 300))\n"
        "z[np.arange(3000), np.arange(3000) % 300] = 1\n"
        "_native.set_threads(2)\n"
        "matrix = KernelMatrix(Kernel('rbf', 0.5), x)\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))\n"
        "sums = matrix.times(z, np.ones((20_000, 1)))\n"
        "print(np.abs(sums[:7] - matrix(z[:7]).sum(axis=1, keepdims=True)).max() < 1e-9)\n"
    )
    done = outcome([sys.executable, "-I", "-c", code])
    assert done.stdout == "True\n", done.stderr


def test_nothing_and_what_is_no_number():
    x = np.array([[0.0, 1.0], [2.0, 0.0]])
    empty = KernelMatrix(KERNELS["rbf"], np.zeros((0, 2)))
    assert empty(x).shape == (2, 0) and empty.times(np.zeros((9, 2)), np.zeros((0, 3))).tolist() == 9 * [3 * [0.0]]
    assert KernelMatrix(KERNELS["rbf"], x)(np.zeros((0, 2))).shape == (0, 2)
    assert KernelMatrix(KERNELS["rbf"], np.zeros((2, 0)))(np.zeros((1, 0))).tolist() == [[1.0, 1.0]]
    # An overflow appears in the values of its own row only.
    values = KernelMatrix(KERNELS["linear"], x)(np.array([[1.0, 1.0], [np.inf, 1.0], [np.nan, 1.0]]))
    assert values[0].tolist() == [1.0, 2.0] and not np.any(np.isfinite(values[1:, 1]))
    with pytest.raises(ValueError, match="precomputed"):
        KernelMatrix(Kernel("precomputed"), x)
    matrix = _native.KernelMatrix(Kernel("rbf", 0.5), x)
    for wrong in (np.empty((2, 3)), np.empty((1, 2))):
        with pytest.raises(ValueError, match="wrong shape"):
            matrix.values(x, wrong)
        with pytest.raises(ValueError, match="wrong shape"):
            matrix.times(x, np.empty((3, 1)), wrong)
    with pytest.raises(IndexError):
        matrix.own_values([2], np.empty((1, 2)))
