"""LIBSVM's own order of operations, in doubles."""

from dataclasses import replace
from math import exp, sqrt

import numpy as np

from support.oracles.machine import Machine


def libsvm_kernel(machine: Machine, x: dict, z: dict) -> float:
    """Kernel::k_function of svm.cpp; for OWN_KERNELS, as scripts/precompute_kernel.py."""

    def dot(a, b):
        total = 0.0
        for index in sorted(a.keys() & b.keys()):
            total += a[index] * b[index]
        return total

    def squared_distance(a, b):
        total = 0.0
        for index in sorted(a.keys() | b.keys()):
            difference = a.get(index, 0.0) - b.get(index, 0.0)
            total += difference * difference
        return total

    def power(base, times):
        result = 1.0
        while times > 0:
            if times % 2:
                result *= base
            base, times = base * base, times // 2
        return result

    def polynomial(a, b):
        return power(machine.gamma * dot(a, b) + machine.coef0, machine.degree)

    if machine.kernel == "linear":
        return dot(x, z)
    if machine.kernel == "polynomial":
        return polynomial(x, z)
    if machine.kernel == "rbf":
        return exp(-machine.gamma * squared_distance(x, z))
    if machine.kernel == "exponential":
        return exp(-machine.gamma * sqrt(squared_distance(x, z)))
    assert machine.kernel == "normalized_polynomial"
    return float(
        np.float64(polynomial(x, z)) / np.sqrt(np.float64(polynomial(x, x) * polynomial(z, z)))
    )  # numpy: x / 0 raises no exception


def libsvm_values(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """svm_predict_values of svm.cpp: (rows, pairs)"""
    out = np.empty((len(rows), len(machine.pairs)))
    starts = np.cumsum([0, *machine.nr_sv]).tolist()
    coef = machine.coef.tolist()
    for r, row in enumerate(rows):
        k = [libsvm_kernel(machine, row, x) for x in machine.vectors]
        for p, (i, j) in enumerate(machine.pairs):
            total = 0.0
            if not machine.classification:
                for a, value in zip(coef, k):
                    total += a[0] * value
            else:
                for s in range(starts[i], starts[i + 1]):
                    total += coef[s][j - 1] * k[s]
                for s in range(starts[j], starts[j + 1]):
                    total += coef[s][i] * k[s]
            out[r, p] = total - machine.rho[p]
    return out


def behind_serials(machine: Machine) -> Machine:
    """LIBSVM's model of a kernel it does not know: serial numbers 1, 2, ... for vectors."""
    return replace(
        machine, kernel="precomputed", vectors=[{0: serial} for serial in range(1, len(machine.vectors) + 1)]
    )


def precomputed_rows(machine: Machine, rows: "list[dict]") -> "list[dict]":
    """The rows for such a model: 0:serial 1:K(z, x_1) 2:K(z, x_2) ..."""
    return [
        {0: serial, **{at: libsvm_kernel(machine, row, x) for at, x in enumerate(machine.vectors, 1)}}
        for serial, row in enumerate(rows, 1)
    ]
